// SPDX-License-Identifier: Apache-2.0
/* Which join runs, and trace ids of several producers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/join_text.h"

#define ID(trace_id, n) ((u64)(trace_id) << 32 | (n))

static void chosen(struct buf *b, enum join_kind kind, const char *why)
{
	struct model m;

	join_as(&m, b, JOIN_AUTO);
	assert_int_equal(m.join, kind);
	if (!strstr(m.join_why, why))
		fail_msg("'%s' is not in '%s'", why, m.join_why);
	model_free(&m);
}

static void a_side_that_is_missing_is_said(void **state)
{
	struct buf b = {};

	(void)state;
	io(&b, 100, ID(1, 1), "read", 0, 4096);
	chosen(&b, JOIN_NONE, "no semantic trace");
	slot_op(&b, 1, "load", 0, 4096, 100, 200);
	chosen(&b, JOIN_NONE, "no commands");
	chosen(&b, JOIN_NONE, "no semantic trace");
}

static void trace_ids_come_before_places(void **state)
{
	struct buf b = {};

	(void)state;
	slot_op(&b, 1, "load", 0, 4096, 100, 200);
	io(&b, 150, ID(1, 1), "read", 4096, 4096);
	io(&b, 151, 5, "read", 0, 4096);
	chosen(&b, JOIN_TRACE_ID, "trace ids of operations in user_data");
}

static void places_serve_when_nothing_is_tagged(void **state)
{
	struct buf b = {};

	(void)state;
	slot_op(&b, 1, "load", 0, 4096, 100, 200);
	io(&b, 150, 1, "read", 0, 4096);	/* a counter from 1 on */
	io(&b, 160, ID(9, 1), "read", 0, 4096); /* a tag of nobody */
	chosen(&b, JOIN_OFFSET, "places and times fit");
	slot_op(&b, 1, "load", 0, 4096, 100, 200);
	io(&b, 150, 1, "read", 1 * MIB, 4096);
	chosen(&b, JOIN_NONE, "lies in its slot and time");
	/* A read inside a store proves nothing. */
	slot_op(&b, 1, "store", 0, 4096, 100, 200);
	io(&b, 150, 1, "read", 0, 4096);
	chosen(&b, JOIN_NONE, "lies in its slot and time");
}

static void keys_come_first_but_only_when_they_are_known(void **state)
{
	static const char *const cmd = "{\"event_type\":\"nvme_cmd\",\"op_name\":\"retrieve\",\"nvme_opcode\":2,"
				       "\"user_data\":4294967297,\"key_hex\":\"%s\",\"data_len\":1,\"ts\":150}\n";
	struct buf b = {};

	(void)state;
	buf_lit(&b, "{\"trace_id\":1,\"op\":\"load\",\"key\":\"k\",\"ts_start\":0.0000001,\"ts\":0.0000002}\n");
	buf_printf(&b, cmd, "6b");
	chosen(&b, JOIN_KEY, "keys");
	buf_lit(&b, "{\"trace_id\":1,\"op\":\"load\",\"key\":\"k\",\"ts_start\":0.0000001,\"ts\":0.0000002}\n");
	buf_printf(&b, cmd, "99");
	chosen(&b, JOIN_TRACE_ID, "user_data");
}

/* An io_uring user that puts pointers into user_data tags commands by accident. */
static void ids_that_name_other_times_are_no_ids(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	slot_op(&b, 0x7f12, "load", 1 * MIB, 4096, 100 * MS, 101 * MS);
	for (i = 0; i < 10; i++) {
		slot_op(&b, i + 1, "load", i * 4096, 4096, (200 + 20 * i) * MS, (205 + 20 * i) * MS);
		io(&b, (201 + 20 * i) * MS, 0x7f1212340000ull + i * 64, "read", i * 4096, 4096);
	}
	model_of(&m, &b);
	assert_int_equal(model_join(&m, &(struct join_options){}), 0);
	assert_int_equal(m.join, JOIN_OFFSET);
	assert_non_null(strstr(m.join_why, "other times"));
	for (i = 0; i < 10; i++)
		assert_int_equal(went_to(&m, i), i + 1);
	assert_int_equal(model_join(&m, &(struct join_options){ .kind = JOIN_TRACE_ID }), 0);
	assert_int_equal(went_to(&m, 5), 0x7f12);
	assert_string_equal(m.join_why, "it was asked for");
	model_free(&m);
}

static void names_of_joins_are_read_back(void **state)
{
	enum join_kind kinds[] = { JOIN_AUTO, JOIN_NONE, JOIN_TRACE_ID, JOIN_KEY, JOIN_OFFSET }, kind;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		assert_int_equal(join_parse(&kind, join_name(kinds[i])), 0);
		assert_int_equal(kind, kinds[i]);
	}
	assert_int_equal(join_parse(&kind, "trace-id"), 0);
	assert_int_equal(kind, JOIN_TRACE_ID);
	assert_int_equal(join_parse(&kind, "offse"), -EINVAL);
}

/* ---- several producers ---- */

static void pid_op(struct buf *b, u64 id, u32 pid, const char *more, u64 start, u64 end)
{
	buf_printf(b, "{\"trace_id\":%llu,\"op\":\"load\",\"bytes\":4096,\"pid\":%u%s", ULL(id), pid, more);
	seconds(b, "ts_start", start);
	seconds(b, "ts", end);
	buf_lit(b, "}\n");
}

static void pid_cmd(struct buf *b, u64 ts, u64 user_data, u32 pid, u64 offset)
{
	buf_printf(
		b,
		"{\"event_type\":\"nvme_cmd\",\"user_data\":%llu,\"op_name\":\"read\",\"nvme_opcode\":2,\"slba\":%llu,"
		"\"nlb\":8,\"data_len\":4096,\"pid\":%u,\"tid\":%u,\"comm\":\"x\",\"ts\":%llu}\n",
		ULL(user_data), ULL(offset / 512), pid, pid, ULL(ts));
}

static void the_process_tells_equal_ids_apart(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	pid_op(&b, 5, 10, "", 100, 500);
	pid_op(&b, 5, 11, "", 200, 400);
	pid_cmd(&b, 250, ID(5, 1), 10, 0);
	pid_cmd(&b, 260, ID(5, 1), 11, 0);
	pid_cmd(&b, 450, ID(5, 2), 11, 0); /* late, but its own */
	join_as(&m, &b, JOIN_AUTO);
	assert_int_equal(m.join, JOIN_TRACE_ID);
	assert_int_equal(m.op.pid[m.cmd.op[0]], 10);
	assert_int_equal(m.op.pid[m.cmd.op[1]], 11);
	assert_int_equal(m.op.pid[m.cmd.op[2]], 11);
	assert_int_equal(m.n_instances, 2);
	assert_int_equal(m.dup_trace_ids, 1);
	assert_int_equal(m.collisions.ids, 1);
	assert_int_equal(m.collisions.cmds, 3);
	assert_int_equal(m.collisions.by_pid, 3);
	assert_non_null(strstr(m.join_why, "several producers"));
	model_free(&m);
}

/* In a container a process has another number than in the capture. */
static void the_place_tells_apart_what_the_process_cannot(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 8; i++) {
		pid_op(&b, 5 + i, 1, ",\"instance\":\"a\",\"slot_offset\":0", 100 * MS, 500 * MS);
		pid_op(&b, 5 + i, 1, ",\"instance\":\"b\",\"slot_offset\":1048576", 100 * MS, 400 * MS);
		pid_cmd(&b, 250 * MS + i, ID(5 + i, 1), 4711, 0);
		pid_cmd(&b, 260 * MS + i, ID(5 + i, 1), 4712, 1 * MIB);
	}
	join_as(&m, &b, JOIN_AUTO);
	assert_int_equal(m.collisions.ids, 8);
	assert_int_equal(m.collisions.cmds, 16);
	assert_int_equal(m.collisions.by_pid, 0);
	for (i = 0; i < m.cmd.n; i++) {
		u32 op = m.cmd.op[i];

		assert_int_equal(m.op.trace_id[op], cmd_trace_id(&m, i));
		assert_int_equal(m.op.slot_offset[op], i < 8 ? 0 : 1 * MIB);
	}
	assert_int_equal(m.collisions.by_place + m.collisions.by_end, 16);
	model_free(&m);
}

static void without_a_place_the_ends_decide_and_that_is_said(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	pid_op(&b, 5, 1, "", 100, 500);
	pid_op(&b, 5, 1, "", 200, 400);
	pid_op(&b, 6, 1, "", 600, 700);
	pid_cmd(&b, 250, ID(5, 1), 9, 0);
	pid_cmd(&b, 450, ID(5, 2), 9, 0);
	pid_cmd(&b, 650, ID(6, 1), 9, 0);
	join_as(&m, &b, JOIN_AUTO);
	assert_int_equal(m.op.end_ns[m.cmd.op[0]], 400);
	assert_int_equal(m.op.end_ns[m.cmd.op[1]], 500);
	assert_int_equal(m.collisions.ids, 1);
	assert_int_equal(m.collisions.cmds, 2);
	assert_int_equal(m.collisions.by_end, 2);
	model_free(&m);
}

static void producers_one_after_the_other_do_not_collide(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	pid_op(&b, 5, 1, "", 100, 200);
	pid_op(&b, 5, 1, "", 200, 300);
	pid_cmd(&b, 150, ID(5, 1), 9, 0);
	join_as(&m, &b, JOIN_AUTO);
	assert_int_equal(m.dup_trace_ids, 1);
	assert_int_equal(m.collisions.ids, 0);
	model_free(&m);
	model_of_case(&m, "dup-trace-id/sem.jsonl", "dup-trace-id/ebpf.jsonl");
	assert_int_equal(m.n_instances, 2);
	assert_int_equal(m.collisions.ids, 0);
	assert_int_equal(m.collisions.cmds, 0);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_side_that_is_missing_is_said),
		cmocka_unit_test(trace_ids_come_before_places),
		cmocka_unit_test(places_serve_when_nothing_is_tagged),
		cmocka_unit_test(keys_come_first_but_only_when_they_are_known),
		cmocka_unit_test(ids_that_name_other_times_are_no_ids),
		cmocka_unit_test(names_of_joins_are_read_back),
		cmocka_unit_test(the_process_tells_equal_ids_apart),
		cmocka_unit_test(the_place_tells_apart_what_the_process_cannot),
		cmocka_unit_test(without_a_place_the_ends_decide_and_that_is_said),
		cmocka_unit_test(producers_one_after_the_other_do_not_collide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
