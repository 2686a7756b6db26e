// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/csv.h"

#define CMD                                                                                                        \
	"{\"event_type\":\"nvme_cmd\",\"pid\":42,\"tid\":43,\"user_data\":18446744073709551615,\"nvme_opcode\":2," \
	"\"op_name\":\"read\",\"nsid\":1,\"slba\":262144,\"nlb\":32,\"bytes\":131072,\"data_len\":131072,"         \
	"\"multipath\":0,\"cmd_op\":\"0xc0484e80\",\"rdev\":257949696,\"comm\":\"fio\",\"ts\":812345678992334,"    \
	"\"disk\":\"nvme0n1\",\"dev\":271581185,\"hwq\":1,\"cid\":4224,\"attempts\":3,\"wait_ns\":40000}"
#define CMP                                                                                                     \
	"{\"event_type\":\"nvme_cmp\",\"user_data\":18446744073709551615,\"err\":0,\"lat_ns\":28135,\"hwq\":1," \
	"\"cid\":4224,\"ts\":812345679020469,\"dev\":271581185,\"status\":0}"

static struct buf csv;
static struct csv_reader *reader;
static u64 lost, spare;

static struct slice slice(const char *s)
{
	return (struct slice){ s, strlen(s) };
}

static void assert_line(struct slice s, const char *wanted)
{
	assert_int_equal(s.n, strlen(wanted));
	assert_memory_equal(s.p, wanted, s.n);
}

static int tear_down(void **state)
{
	(void)state;
	buf_free(&csv);
	csv_free(reader);
	reader = NULL;
	lost = spare = 0;
	return 0;
}

static const char *text(void)
{
	buf_byte(&csv, 0);
	csv.n--;
	return csv.p;
}

/* Feeds all lines of the CSV behind its header: how many rows came, the last one in cmd and cmp. */
static u32 read_back(struct slice *cmd, struct slice *cmp)
{
	const char *p = text(), *end = p + csv.n;
	struct slice line;
	u32 rows = 0;
	int ret;

	assert_true(ndjson_line(&p, end, &line));
	csv_free(reader);
	assert_int_equal(csv_open(&reader, line, &spare), 0);
	while (ndjson_line(&p, end, &line)) {
		ret = csv_put(reader, line, cmd, cmp);
		assert_true(ret >= 0);
		rows += ret > 0;
	}
	return rows;
}

static void a_command_is_a_row_and_comes_back(void **state)
{
	struct slice cmd, cmp;

	(void)state;
	csv_header(&csv, false);
	assert_memory_equal(csv.p, "ts_ns,lat_ns,op_name,nvme_opcode,", 33);
	assert_int_equal(csv_row(&csv, slice(CMD), slice(CMP), NULL, &lost), 0);
	assert_non_null(strstr(text(), "\n812345678992334,28135,\"read\",2,1,262144,32,131072,131072,"
				       "18446744073709551615,0,0,42,43,\"fio\",\"nvme0n1\","));
	assert_int_equal(lost, 0);
	assert_int_equal(read_back(&cmd, &cmp), 1);
	assert_int_equal(spare, 0);
	assert_line(cmd, CMD);
	assert_line(cmp, CMP);
}

static void what_a_line_does_not_have_is_an_empty_cell(void **state)
{
	struct slice cmd, cmp;
	const char *line =
		"{\"event_type\":\"nvme_cmd\",\"nvme_opcode\":2,\"ts\":5,\"refused\":true,\"in_flight\":false}";

	(void)state;
	csv_header(&csv, false);
	assert_int_equal(csv_row(&csv, slice(line), (struct slice){}, NULL, &lost), 0);
	assert_non_null(strstr(text(), "\n5,,,2,,"));
	assert_int_equal(read_back(&cmd, &cmp), 1);
	assert_int_equal(cmp.n, 0);
	assert_line(cmd, line);
}

static void every_byte_of_a_name_survives(void **state)
{
	struct slice cmd, cmp;
	struct buf line = {};
	char name[4];
	int i;

	(void)state;
	for (i = 1; i < 256; i++) {
		buf_reset(&csv);
		buf_reset(&line);
		name[0] = '=';
		name[1] = (char)i;
		name[2] = '"';
		name[3] = (char)i;
		csv_header(&csv, false);
		buf_lit(&line, "{\"event_type\":\"nvme_cmd\",\"comm\":");
		buf_json(&line, name, sizeof(name));
		buf_lit(&line, ",\"ts\":5}");
		assert_int_equal(csv_row(&csv, (struct slice){ line.p, line.n }, (struct slice){}, NULL, &lost), 0);
		/* Data first: nothing is put in front of it. */
		assert_non_null(memmem(csv.p, csv.n, "\"=", 2));
		assert_int_equal(read_back(&cmd, &cmp), 1);
		assert_int_equal(cmd.n, line.n);
		assert_memory_equal(cmd.p, line.p, line.n);
	}
	buf_free(&line);
}

static void members_without_a_column_are_counted(void **state)
{
	(void)state;
	assert_int_equal(csv_row(&csv, slice("{\"event_type\":\"nvme_cmd\",\"ts\":5,\"x\":1,\"y\":[2]}"),
				 slice("{\"event_type\":\"nvme_cmp\",\"ts\":6,\"z\":null}"), NULL, &lost),
			 0);
	assert_int_equal(lost, 3);
	assert_int_equal(csv_row(&csv, slice("no json"), (struct slice){}, NULL, &lost), -EBADMSG);
}

static void rows_of_several_captures_name_theirs(void **state)
{
	struct slice cmd, cmp;

	(void)state;
	csv_header(&csv, true);
	assert_memory_equal(csv.p, "source,ts_ns,", 13);
	csv_row(&csv, slice("{\"event_type\":\"nvme_cmd\",\"ts\":5}"), (struct slice){}, "a \"b\".kvt", &lost);
	assert_non_null(strstr(text(), "\n\"a \"\"b\"\".kvt\",5,"));
	assert_int_equal(read_back(&cmd, &cmp), 1);
	assert_int_equal(spare, 1);
	assert_line(cmd, "{\"event_type\":\"nvme_cmd\",\"ts\":5}");
}

static void columns_may_be_in_any_order_and_number(void **state)
{
	struct slice cmd, cmp;

	(void)state;
	assert_int_equal(csv_open(&reader, slice("note,\"lat_ns\",ts_ns,comm\r"), &spare), 0);
	assert_int_equal(spare, 1);
	assert_int_equal(csv_put(reader, slice("hello,7,100,\"a,b\"\r"), &cmd, &cmp), 1);
	assert_line(cmd, "{\"event_type\":\"nvme_cmd\",\"comm\":\"a,b\",\"ts\":100}");
	assert_line(cmp, "{\"event_type\":\"nvme_cmp\",\"lat_ns\":7,\"ts\":107}");
	/* What is no number stays what it is, for the reader of lines to judge. */
	assert_int_equal(csv_put(reader, slice(",,1.5E+03,"), &cmd, &cmp), 1);
	assert_line(cmd, "{\"event_type\":\"nvme_cmd\",\"ts\":\"1.5E+03\"}");
}

static void a_cell_goes_on_over_lines(void **state)
{
	struct slice cmd, cmp;

	(void)state;
	assert_int_equal(csv_open(&reader, slice("ts_ns,comm"), &spare), 0);
	assert_int_equal(csv_put(reader, slice("1,\"a\r"), &cmd, &cmp), 0);
	assert_true(csv_inside(reader));
	assert_int_equal(csv_put(reader, slice(""), &cmd, &cmp), 0);
	assert_int_equal(csv_put(reader, slice("b\"\"c\"\r"), &cmd, &cmp), 1);
	assert_false(csv_inside(reader));
	assert_line(cmd, "{\"event_type\":\"nvme_cmd\",\"comm\":\"a\\u000d\\u000a\\u000ab\\\"c\",\"ts\":1}");
}

static void damaged_rows_are_refused(void **state)
{
	static const char *const rows[] = { "1", "1,2,3", "1,\"a\"b\"\"", "\"1\"x,2" };
	struct slice cmd, cmp;
	size_t i;

	(void)state;
	assert_int_equal(csv_open(&reader, slice("a,b"), &spare), -EINVAL);
	assert_int_equal(csv_open(&reader, slice("no header"), &spare), -EINVAL);
	assert_int_equal(csv_open(&reader, slice(""), &spare), -EINVAL);
	assert_int_equal(csv_open(&reader, slice("ts_ns,comm"), &spare), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(csv_put(reader, slice(rows[i]), &cmd, &cmp), -EBADMSG);
	assert_int_equal(csv_put(reader, slice("1,x"), &cmd, &cmp), 1);
	assert_int_equal(csv_put(reader, slice(""), &cmd, &cmp), 0);
}

#define TEST(f) cmocka_unit_test_teardown(f, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_command_is_a_row_and_comes_back),
		TEST(what_a_line_does_not_have_is_an_empty_cell),
		TEST(every_byte_of_a_name_survives),
		TEST(members_without_a_column_are_counted),
		TEST(rows_of_several_captures_name_theirs),
		TEST(columns_may_be_in_any_order_and_number),
		TEST(a_cell_goes_on_over_lines),
		TEST(damaged_rows_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
