// SPDX-License-Identifier: Apache-2.0
/* Filters, and the accounts that they change. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/account.h"
#include "capture/select.h"
#include "capture/stream.h"

static struct select *sel;
static struct account account;
static u32 kept[N_ITEM_KINDS], completions;

static int set_up(void **state)
{
	(void)state;
	sel = select_new();
	account = (struct account){};
	memset(kept, 0, sizeof(kept));
	completions = 0;
	return sel ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	select_free(sel);
	account_free(&account);
	return 0;
}

struct bytes {
	const char *p;
	size_t n;
};

static ssize_t read_bytes(void *arg, void *buf, size_t n)
{
	struct bytes *in = arg;

	n = MIN(n, in->n);
	memcpy(buf, in->p, n);
	in->p += n;
	in->n -= n;
	return (ssize_t)n;
}

static void feed(const char *text, enum fold_mode fold, int (*take)(const struct item *))
{
	struct strpool disks = {};
	const struct stream_options o = { .fold = fold, .disks = &disks };
	struct bytes in = { text, strlen(text) };
	struct stream *s;
	struct item it;
	int ret;

	assert_int_equal(stream_open_bytes(&s, read_bytes, &in, &o), 0);
	while ((ret = stream_next(s, &it)) > 0)
		assert_int_equal(take(&it), 0);
	assert_int_equal(ret, 0);
	stream_close(s);
	strpool_free(&disks);
}

static int judge(const struct item *it)
{
	int keep = select_item(sel, it);

	assert_true(keep >= 0);
	assert_int_equal(account_take(&account, it, !keep), 0);
	kept[it->kind] += keep && !it->is_completion;
	completions += keep && it->is_completion;
	return 0;
}

static int learn(const struct item *it)
{
	return select_learn(sel, it);
}

#define CMD(ud, pid, op, disk, ts)                                                                              \
	"{\"event_type\":\"nvme_cmd\",\"pid\":" pid ",\"tid\":" pid ",\"user_data\":" ud ",\"nvme_opcode\":" op \
	",\"nsid\":1,\"slba\":0,\"nlb\":1,\"data_len\":4096,\"ts\":" ts ",\"disk\":\"" disk "\",\"dev\":5}\n"
#define CMP(ud, ts) "{\"event_type\":\"nvme_cmp\",\"user_data\":" ud ",\"err\":0,\"lat_ns\":10,\"ts\":" ts "}\n"

static const char two[] =
	CMD("4294967297", "7", "2", "nvme0n1", "1000") CMD("8589934593", "8", "1", "nvme1c0n1", "1500")
		CMP("4294967297", "1010") CMP("8589934593", "1510") "{\"event_type\":\"drops\",\"dropped\":3}\n";

static void values_are_checked(void **state)
{
	(void)state;
	assert_int_equal(select_kind(sel, "nvme,semantic"), 0);
	assert_int_equal(select_kind(sel, "nvme,"), -EINVAL);
	assert_int_equal(select_kind(sel, "nvmes"), -EINVAL);
	assert_int_equal(select_from(sel, "1.5s"), 0);
	assert_int_equal(select_to(sel, "@18446744073709551615"), 0);
	assert_int_equal(select_to(sel, "@"), -EINVAL);
	assert_int_equal(select_to(sel, "10 apples"), -EINVAL);
	assert_int_equal(select_pid(sel, "4294967296"), -EINVAL);
	assert_int_equal(select_pid(sel, "x"), -EINVAL);
	assert_int_equal(select_op(sel, "256"), -ERANGE);
	assert_int_equal(select_device(sel, "259:1"), 0);
	assert_int_equal(select_device(sel, "5000:1"), -ERANGE);
	assert_int_equal(select_device(sel, "/dev/"), 0);
	assert_int_equal(select_object(sel, ""), -EINVAL);
}

static void without_filters_all_passes(void **state)
{
	(void)state;
	assert_false(select_any(sel));
	feed(two, FOLD_NOT, judge);
	assert_int_equal(kept[ITEM_NVME], 2);
	assert_int_equal(completions, 2);
}

/* What one filter leaves of two commands: the account adds up each time. */
static void expect_one(enum fold_mode fold)
{
	struct numbers n;

	feed(two, fold, judge);
	assert_int_equal(kept[ITEM_NVME], 1);
	assert_int_equal(completions, fold == FOLD_NOT);
	n = account_numbers(&account);
	assert_int_equal(n.seen, 5);
	assert_int_equal(n.stored, 1);
	assert_int_equal(n.filtered, 1);
	assert_int_equal(n.ring_full, 3);
	assert_int_equal(n.seen, n.stored + n.in_flight + n.ring_full + n.map_full + n.filtered);
}

static void by(int (*add)(struct select *, const char *), const char *value)
{
	enum fold_mode fold;

	for (fold = FOLD_NOT; fold <= FOLD_RECORDS; fold++) {
		tear_down(NULL);
		set_up(NULL);
		assert_int_equal(add(sel, value), 0);
		assert_true(select_any(sel));
		expect_one(fold);
	}
}

static void each_filter_leaves_one_command_with_its_completion(void **state)
{
	(void)state;
	by(select_pid, "7");
	by(select_op, "read");
	by(select_op, "0x1");
	by(select_object, "2");
	by(select_device, "nvme0n1");
	by(select_device, "/dev/ng1n1");
	by(select_device, "nvme1n1");
	by(select_from, "@1001");
	by(select_to, "@1001");
	by(select_from, "500ns");
	by(select_to, "500ns");
}

static void a_completion_alone_is_judged_by_what_it_says(void **state)
{
	(void)state;
	select_object(sel, "1");
	feed(CMP("4294967297", "10") CMP("8589934593", "20"), FOLD_NOT, judge);
	assert_int_equal(completions, 1);
	tear_down(NULL);
	set_up(NULL);
	select_pid(sel, "7");
	feed(CMP("4294967297", "10"), FOLD_NOT, judge);
	assert_int_equal(completions, 0);
}

static void an_object_goes_by_id_or_by_a_part_of_its_key(void **state)
{
	static const char sem[] = "{\"trace_id\":1,\"op\":\"store\",\"key\":\"m@f@0@0@abcdef\",\"ts\":1.0}\n"
				  "{\"trace_id\":2,\"op\":\"store\",\"key\":\"m@f@0@0@123456\",\"ts\":1.0}\n";

	(void)state;
	select_object(sel, "cdef");
	assert_true(select_needs_keys(sel));
	feed(sem, FOLD_NOT, learn);
	assert_int_equal(select_found(sel), 1);
	feed(two, FOLD_NOT, judge);
	feed(sem, FOLD_NOT, judge);
	assert_int_equal(kept[ITEM_NVME], 1);
	assert_int_equal(kept[ITEM_SEMANTIC], 1);
}

static void kinds_keep_the_names_that_they_need(void **state)
{
	static const char text[] = "{\"event_type\":\"capture_meta\"}\n"
				   "{\"event_type\":\"kvio_meta\"}\n"
				   "{\"event_type\":\"task\",\"tid\":7,\"pid\":7,\"ts\":1,\"comm\":\"x\"}\n"
				   "{\"event_type\":\"clock_anchor\",\"monotonic_ns\":1,\"realtime_ns\":2}\n"
				   "{\"trace_id\":1,\"op\":\"store\",\"key\":\"k\",\"ts\":1.0}\n"
				   "{\"event_type\":\"drops\",\"dropped\":0}\n";

	(void)state;
	select_kind(sel, "nvme");
	feed(text, FOLD_NOT, judge);
	assert_int_equal(kept[ITEM_META], 1);
	assert_int_equal(kept[ITEM_TASK], 1);
	assert_int_equal(kept[ITEM_FOOTER], 1);
	assert_int_equal(kept[ITEM_KVIO_META] + kept[ITEM_CLOCK] + kept[ITEM_SEMANTIC], 0);
	tear_down(NULL);
	set_up(NULL);
	select_kind(sel, "semantic");
	feed(text, FOLD_NOT, judge);
	assert_int_equal(kept[ITEM_KVIO_META], 1);
	assert_int_equal(kept[ITEM_SEMANTIC], 1);
	assert_int_equal(kept[ITEM_TASK], 0);
}

static void what_has_no_device_is_not_cut_by_one(void **state)
{
	(void)state;
	select_device(sel, "nvme0n1");
	feed("{\"trace_id\":1,\"op\":\"store\",\"key\":\"k\",\"ts\":1.0}\n{\"event_type\":\"x\",\"pid\":3}\n", FOLD_NOT,
	     judge);
	assert_int_equal(kept[ITEM_SEMANTIC], 1);
	assert_int_equal(kept[ITEM_OTHER], 1);
	select_pid(sel, "4");
	feed("{\"event_type\":\"x\",\"pid\":3}\n", FOLD_NOT, judge);
	assert_int_equal(kept[ITEM_OTHER], 1);
}

/* A command in flight at the end is in no `stored`, however often it was told of. */
static void commands_in_flight_are_cut_once(void **state)
{
#define IN_FLIGHT(age)                                                                                 \
	"{\"event_type\":\"nvme_cmd\",\"pid\":7,\"tid\":7,\"user_data\":1,\"nvme_opcode\":2,\"ts\":5," \
	"\"in_flight\":true,\"age_ns\":" age "}\n"
	struct numbers n;

	(void)state;
	select_pid(sel, "1");
	feed(IN_FLIGHT("10") IN_FLIGHT("20") CMD("1", "7", "2", "", "9") CMP(
		     "1",
		     "19") "{\"event_type\":\"footer\",\"complete\":true,\"seen\":2,\"stored\":1,\"in_flight\":1}\n",
	     FOLD_NOT, judge);
	n = account_numbers(&account);
	assert_int_equal(n.seen, 2);
	assert_int_equal(n.stored, 0);
	assert_int_equal(n.in_flight, 0);
	assert_int_equal(n.filtered, 2);
}

static void a_running_account_is_as_of_then(void **state)
{
	struct ev_loss e = { .kind = EV_LOSS, .seen = 10, .stored = 9, .ring_full = 1 };

	(void)state;
	select_pid(sel, "7");
	feed(two, FOLD_NOT, judge);
	account_adjust(&account, &e);
	assert_int_equal(e.stored, 8);
	assert_int_equal(e.filtered, 1);
	e.stored = 0;
	account_adjust(&account, &e);
	assert_int_equal(e.filtered, 1);
}

static void accounts_are_added_and_parts_taken_away(void **state)
{
	struct account a[2] = { { .device = true,
				  .closed = true,
				  .footer = true,
				  .complete = true,
				  .end = { .seen = 10, .stored = 8, .ring_full = 2 } },
				{ .device = true,
				  .closed = true,
				  .footer = true,
				  .complete = false,
				  .end = { .seen = 5, .stored = 4, .in_flight = 1 } } };
	const struct numbers none = {}, part = { .seen = 3, .stored = 3 };
	json_t *f = account_footer(a, 2, false, &none, 0, NULL), *g = account_footer(a, 1, false, &part, 2, NULL);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(f, "seen")), 15);
	assert_int_equal(json_integer_value(json_object_get(f, "ring_full")), 2);
	assert_false(json_is_true(json_object_get(f, "complete")));
	assert_int_equal(json_integer_value(json_object_get(g, "seen")), 7);
	assert_int_equal(json_integer_value(json_object_get(g, "stored")), 5);
	assert_int_equal(json_integer_value(json_object_get(g, "part")), 2);
	assert_true(json_is_true(json_object_get(g, "complete")));
	json_decref(f);
	json_decref(g);
}

static void a_capture_without_an_end_gets_none(void **state)
{
	const struct numbers none = {};

	(void)state;
	feed(CMD("1", "7", "2", "", "9"), FOLD_NOT, judge);
	assert_false(account_whole(&account));
	assert_null(account_footer(&account, 1, true, &none, 0, NULL));
	tear_down(NULL);
	set_up(NULL);
	feed("{\"trace_id\":1,\"op\":\"store\",\"key\":\"k\",\"ts\":1.0}\n", FOLD_NOT, judge);
	assert_true(account_whole(&account));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_are_checked),
		TEST(without_filters_all_passes),
		TEST(each_filter_leaves_one_command_with_its_completion),
		TEST(a_completion_alone_is_judged_by_what_it_says),
		TEST(an_object_goes_by_id_or_by_a_part_of_its_key),
		TEST(kinds_keep_the_names_that_they_need),
		TEST(what_has_no_device_is_not_cut_by_one),
		TEST(commands_in_flight_are_cut_once),
		TEST(a_running_account_is_as_of_then),
		TEST(accounts_are_added_and_parts_taken_away),
		TEST(a_capture_without_an_end_gets_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
