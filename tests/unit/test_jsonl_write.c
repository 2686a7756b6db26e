// SPDX-License-Identifier: Apache-2.0
/* Every line is valid JSON for a strict parser, and says what the record says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "capture/jsonl_write.h"

static struct names names;
static struct buf out;

static int set_up(void **state)
{
	struct ev_task t = { .kind = EV_TASK, .tid = 43, .pid = 42, .comm = "worker" };
	struct ev_disk d = { .kind = EV_DISK, .dev = 259 << 20 | 1, .nsid = 1, .lba_bytes = 4096, .name = "nvme0n1" };

	(void)state;
	assert_int_equal(names_learn(&names, &t), 0);
	assert_int_equal(names_learn(&names, &d), 0);
	names.disk[0].rdev = 246 << 20;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	names_free(&names);
	buf_free(&out);
	return 0;
}

static struct ev_nvme read_command(void)
{
	return (struct ev_nvme){ .kind = EV_NVME,
				 .flags = NVME_PASSTHROUGH | NVME_ENTRY,
				 .opcode = 2,
				 .attempts = 3,
				 .hwq = 1,
				 .cid = 4224,
				 .ts_ns = 812345678992334,
				 .lat_ns = 28135,
				 .user_data = UINT64_MAX,
				 .slba = 262144,
				 .bytes = 131072,
				 .nlb = 31,
				 .wait_ns = 40000,
				 .dev = 259 << 20 | 1,
				 .nsid = 1,
				 .tid = 43 };
}

/* The n lines of a record, parsed strictly. */
static void lines_of(const void *record, json_t **line, size_t want)
{
	size_t n = 0;
	char *at, *end;

	buf_reset(&out);
	jsonl_event(&out, record, &names);
	assert_false(out.failed);
	for (at = out.p; at < out.p + out.n; at = end + 1) {
		json_error_t e;

		end = memchr(at, '\n', (size_t)(out.p + out.n - at));
		assert_non_null(end);
		assert_true(n < want);
		/* 2^64 - 1 does not fit a jansson integer: such numbers are compared as text. */
		line[n] = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &e);
		if (!line[n])
			fail_msg("%s in %.*s", e.text, (int)(end - at), at);
		n++;
	}
	assert_int_equal(n, want);
}

static bool says(const char *text)
{
	buf_byte(&out, 0);
	out.n--;
	return strstr(out.p, text);
}

static void command_and_completion(void **state)
{
	struct ev_nvme c = read_command();
	json_t *l[2];

	(void)state;
	lines_of(&c, l, 2);
	assert_string_equal(json_string_value(json_object_get(l[0], "event_type")), "nvme_cmd");
	assert_string_equal(json_string_value(json_object_get(l[0], "op_name")), "read");
	assert_string_equal(json_string_value(json_object_get(l[0], "comm")), "worker");
	assert_string_equal(json_string_value(json_object_get(l[0], "disk")), "nvme0n1");
	assert_string_equal(json_string_value(json_object_get(l[0], "cmd_op")), "0xc0484e80");
	assert_true(says("\"pid\":42,\"tid\":43,\"user_data\":18446744073709551615,"));
	assert_true(says("\"slba\":262144,\"nlb\":32,\"bytes\":131072,\"data_len\":131072,"));
	assert_true(says("\"rdev\":257949696,"));
	assert_true(says("\"attempts\":3,\"wait_ns\":40000}"));
	assert_string_equal(json_string_value(json_object_get(l[1], "event_type")), "nvme_cmp");
	assert_true(says("\"err\":0,\"lat_ns\":28135,\"hwq\":1,\"cid\":4224,\"ts\":812345679020469,"));
	json_decref(l[0]);
	json_decref(l[1]);
}

static void status_and_its_block_status(void **state)
{
	static const struct {
		u16 status;
		const char *text;
	} cases[] = {
		{ 16512, "\"err\":5," },
		{ 16403, "\"err\":10," },
		{ 16385, "\"err\":1," },
		{ 0x281, "\"err\":7," },
	};
	struct ev_nvme c = read_command();
	json_t *l[2];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		c.status = cases[i].status;
		lines_of(&c, l, 2);
		assert_true(says(cases[i].text));
		json_decref(l[0]);
		json_decref(l[1]);
	}
}

static void commands_without_an_lba_have_none(void **state)
{
	struct ev_nvme c = read_command();
	json_t *l[2];

	(void)state;
	c.opcode = 0; /* flush */
	c.bytes = 0;
	lines_of(&c, l, 2);
	assert_null(json_object_get(l[0], "slba"));
	assert_null(json_object_get(l[0], "nlb"));
	assert_true(says("\"bytes\":0,"));
	json_decref(l[0]);
	json_decref(l[1]);
	c.opcode = 9; /* dataset management */
	c.bytes = 16;
	lines_of(&c, l, 2);
	assert_null(json_object_get(l[0], "slba"));
	assert_string_equal(json_string_value(json_object_get(l[0], "op_name")), "dsm");
	json_decref(l[0]);
	json_decref(l[1]);
}

static void refused_has_a_failed_completion(void **state)
{
	struct ev_nvme c = read_command();
	json_t *l[2];

	(void)state;
	c.flags |= NVME_REFUSED;
	c.status = 22;
	lines_of(&c, l, 2);
	assert_true(json_is_true(json_object_get(l[0], "refused")));
	assert_true(json_is_true(json_object_get(l[1], "refused")));
	assert_true(says("\"err\":10,"));
	assert_true(says("\"status\":22,"));
	json_decref(l[0]);
	json_decref(l[1]);
}

static void snapshot_has_no_completion(void **state)
{
	struct ev_nvme c = read_command();
	json_t *l[1];

	(void)state;
	c.flags |= NVME_IN_FLIGHT;
	lines_of(&c, l, 1);
	assert_true(json_is_true(json_object_get(l[0], "in_flight")));
	assert_true(says("\"age_ns\":28135}"));
	json_decref(l[0]);
}

static void key_value_commands_have_keys_and_no_lba(void **state)
{
	struct ev_nvme_kv kv = { .cmd = read_command(), .key = "kvsmoke0001" };
	json_t *l[2];

	(void)state;
	kv.cmd.kind = EV_NVME_KV;
	kv.cmd.opcode = 1;
	kv.cmd.slba = 11ull << 32 | 4096;
	lines_of(&kv, l, 2);
	assert_string_equal(json_string_value(json_object_get(l[0], "op_name")), "store");
	assert_string_equal(json_string_value(json_object_get(l[0], "key_hex")), "6b76736d6f6b6530303031");
	assert_true(says("\"key_len\":11,\"value_len\":4096,"));
	assert_null(json_object_get(l[0], "slba"));
	json_decref(l[0]);
	json_decref(l[1]);
	/* A key length above 16 is a lie: no byte behind the key is read. */
	kv.cmd.slba = 255ull << 32;
	lines_of(&kv, l, 2);
	assert_int_equal(json_string_length(json_object_get(l[0], "key_hex")), 32);
	json_decref(l[0]);
	json_decref(l[1]);
}

static void any_thread_name_is_escaped(void **state)
{
	struct ev_nvme c = read_command();
	int i;

	(void)state;
	for (i = 1; i < 256; i++) {
		struct ev_task t = { .kind = EV_TASK, .tid = 43, .pid = 42 };
		json_t *l[2];

		memset(t.comm, i, sizeof(t.comm)); /* and no NUL at its end */
		assert_int_equal(names_learn(&names, &t), 0);
		lines_of(&c, l, 2);
		assert_non_null(json_object_get(l[0], "comm"));
		json_decref(l[0]);
		json_decref(l[1]);
	}
	{
		struct ev_task t = { .kind = EV_TASK, .tid = 43, .pid = 42, .comm = "a\"b\\c\n\x01" };
		json_t *l[2];

		names_learn(&names, &t);
		lines_of(&c, l, 2);
		assert_string_equal(json_string_value(json_object_get(l[0], "comm")), "a\"b\\c\n\x01");
		json_decref(l[0]);
		json_decref(l[1]);
	}
}

static void the_longest_line_fits(void **state)
{
	struct ev_nvme_kv kv;
	struct ev_task t = { .kind = EV_TASK, .tid = UINT32_MAX, .pid = UINT32_MAX };
	struct ev_disk d = { .kind = EV_DISK, .dev = UINT32_MAX };
	struct ev_loss loss;
	json_t *l[2];

	(void)state;
	memset(t.comm, 1, sizeof(t.comm));
	memset(d.name, 1, sizeof(d.name));
	names_learn(&names, &t);
	names_learn(&names, &d);
	memset(&kv, 0xff, sizeof(kv));
	kv.cmd.kind = EV_NVME_KV;
	kv.cmd.flags = NVME_PASSTHROUGH | NVME_ENTRY | NVME_REFUSED;
	lines_of(&kv, l, 2);
	assert_true(out.n < 2 * 2048);
	json_decref(l[0]);
	json_decref(l[1]);
	memset(&loss, 0xff, sizeof(loss));
	loss.kind = EV_LOSS;
	lines_of(&loss, l, 1);
	assert_true(says(",\"unread\":18446744073709551615,\"filtered\":"));
	json_decref(l[0]);
	loss.unread = 0;
	lines_of(&loss, l, 1);
	assert_false(says("unread"));
	json_decref(l[0]);
}

static void overflow_and_anchor(void **state)
{
	struct ev_cq_overflow o = { .kind = EV_CQ_OVERFLOW, .res = -5, .ts_ns = 7, .user_data = 9, .tid = 43 };
	struct ev_clock a = { .kind = EV_CLOCK, .monotonic_ns = 1, .realtime_ns = 2, .uncertainty_ns = 3 };
	struct ev_task t = { .kind = EV_TASK };
	json_t *l[1];

	(void)state;
	lines_of(&o, l, 1);
	assert_true(says("{\"event_type\":\"cq_overflow\",\"user_data\":9,\"res\":-5,\"ts\":7,"));
	json_decref(l[0]);
	lines_of(&a, l, 1);
	assert_true(says("\"monotonic_ns\":1,\"realtime_ns\":2,\"uncertainty_ns\":3}"));
	json_decref(l[0]);
	lines_of(&t, l, 0);
}

static void unknown_thread_and_disk(void **state)
{
	struct ev_nvme c = read_command();
	json_t *l[2];

	(void)state;
	c.tid = 99;
	c.dev = 0;
	lines_of(&c, l, 2);
	assert_true(says("\"pid\":0,\"tid\":99,"));
	assert_true(says("\"comm\":\"\","));
	assert_true(says("\"disk\":\"\","));
	json_decref(l[0]);
	json_decref(l[1]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(command_and_completion),
		TEST(status_and_its_block_status),
		TEST(commands_without_an_lba_have_none),
		TEST(refused_has_a_failed_completion),
		TEST(snapshot_has_no_completion),
		TEST(key_value_commands_have_keys_and_no_lba),
		TEST(any_thread_name_is_escaped),
		TEST(the_longest_line_fits),
		TEST(overflow_and_anchor),
		TEST(unknown_thread_and_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
