// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "unit/join_text.h"

/* An operation on a key; either text may be NULL: no such member. */
static void key_op(struct buf *b, u64 id, const char *op, const char *key, const char *hex, u64 start, u64 end)
{
	buf_printf(b, "{\"trace_id\":%llu,\"op\":\"%s\",\"bytes\":4096", ULL(id), op);
	if (key)
		buf_printf(b, ",\"key\":\"%s\"", key);
	if (hex)
		buf_printf(b, ",\"key_hex\":\"%s\"", hex);
	seconds(b, "ts_start", start);
	seconds(b, "ts", end);
	buf_lit(b, "}\n");
}

static void key_cmd(struct buf *b, u64 ts, const char *op, const char *hex)
{
	buf_printf(
		b,
		"{\"event_type\":\"nvme_cmd\",\"user_data\":7000,\"nvme_opcode\":%d,\"op_name\":\"%s\",\"nsid\":1,%s%s%s"
		"\"data_len\":4096,\"ts\":%llu}\n",
		*op == 's' ? 1 : 2, op, hex ? "\"key_hex\":\"" : "", hex ? hex : "", hex ? "\",\"key_len\":2," : "",
		ULL(ts));
}

static void store_and_load_of_a_key_are_two_occurrences(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	key_op(&b, 9, "store", "k0", NULL, 100, 200);
	key_op(&b, 9, "load", "k0", NULL, 300, 400);
	key_op(&b, 3, "store", "k1", "6B31", 500, 600);
	key_cmd(&b, 150, "store", "6b30");
	key_cmd(&b, 350, "retrieve", "6B30");
	key_cmd(&b, 550, "store", "6b31");
	key_cmd(&b, 700, "store", "6b32"); /* nobody's */
	join_as(&m, &b, JOIN_AUTO);
	assert_int_equal(m.join, JOIN_KEY);
	assert_int_equal(m.cmd.op[0], 0);
	assert_int_equal(m.cmd.op[1], 1);
	assert_int_equal(m.cmd.op[2], 2);
	assert_int_equal(m.cmd.op[3], NONE);
	assert_int_equal(m.op.join_id[0], 1);
	assert_int_equal(m.op.join_id[1], 1);
	assert_int_equal(m.op.join_id[2], 2);
	assert_int_equal(m.op.occurrence[1], 1);
	assert_int_equal(m.op.n_occurrences[0], 2);
	assert_int_equal(m.op.n_occurrences[2], 1);
	assert_int_equal(m.dup_trace_ids, 1);
	assert_int_equal(cmd_join_id(&m, 1), 1);
	assert_int_equal(cmd_join_id(&m, 3), 0);
	assert_int_equal(cmd_role(&m, 3), ROLE_WRITES); /* its key is a tag, too */
	assert_int_equal(m.lba_bytes, 4096);
	assert_int_equal(m.n_header_cmds, 0);
	model_free(&m);
}

/* Defect 10: an empty key matched commands that have none. */
static void an_empty_key_matches_nothing(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	key_op(&b, 1, "store", "", NULL, 100, 200);
	key_op(&b, 2, "store", NULL, NULL, 100, 200);
	key_op(&b, 3, "store", "", "", 100, 200);
	key_op(&b, 4, "store", "k", "", 100, 200); /* an empty key_hex is none */
	key_cmd(&b, 150, "store", NULL);
	key_cmd(&b, 151, "store", "");
	key_cmd(&b, 152, "store", "6b");
	join_as(&m, &b, JOIN_KEY);
	assert_int_equal(m.cmd.op[0], NONE);
	assert_int_equal(m.cmd.op[1], NONE);
	assert_int_equal(m.cmd.op[2], 3);
	for (i = 0; i < 4; i++)
		assert_int_equal(m.op.n_occurrences[i], 1);
	assert_int_equal(m.dup_trace_ids, 0);
	model_free(&m);
}

/* Defect 10: a command carries 16 bytes of key, so that a longer one is found by its key_hex only. */
static void a_long_key_is_found_by_what_went_on_the_wire(void **state)
{
	static const char *const wire = "000102030405060708090a0b0c0d0e0f";
	struct buf b = {};
	struct model m;

	(void)state;
	key_op(&b, 1, "store", "a key of seventeen", NULL, 100, 200);
	key_op(&b, 2, "store", "another key, hashed", wire, 300, 400);
	key_op(&b, 3, "store", "sixteen bytes ok", NULL, 500, 600);
	key_cmd(&b, 150, "store", "61206b6579206f662073657665");
	key_cmd(&b, 350, "store", wire);
	key_cmd(&b, 550, "store", "7369787465656e206279746573206f6b");
	join_as(&m, &b, JOIN_AUTO);
	assert_int_equal(m.cmd.op[0], NONE);
	assert_int_equal(m.cmd.op[1], 1);
	assert_int_equal(m.cmd.op[2], 2);
	assert_int_equal(m.long_keys, 1);
	model_free(&m);
}

static void store_and_load_at_one_time_are_told_apart_by_direction(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	key_op(&b, 1, "store", "k", NULL, 100, 1000);
	key_op(&b, 2, "load", "k", NULL, 400, 500);
	key_op(&b, 3, "delete", "k", NULL, 2000, 2100);
	key_cmd(&b, 150, "store", "6b");
	key_cmd(&b, 450, "retrieve", "6b");
	key_cmd(&b, 460, "store", "6b");
	key_cmd(&b, 470, "exist", "6b");
	key_cmd(&b, 2050, "delete", "6b");
	join_as(&m, &b, JOIN_AUTO);
	assert_int_equal(went_to(&m, 0), 1);
	assert_int_equal(went_to(&m, 1), 2);
	assert_int_equal(went_to(&m, 2), 1);
	assert_int_equal(went_to(&m, 3), 3); /* neither direction: the operation that has none */
	assert_int_equal(went_to(&m, 4), 3);
	model_free(&m);
}

/* Defect 13: for every use of a key all commands were looked at again. */
static void a_hot_key_costs_no_more(void **state)
{
	const u32 n = 20000;
	struct buf b = {};
	struct model m;
	clock_t since;
	u32 i, k;

	(void)state;
	for (i = 0; i < n; i++) {
		key_op(&b, 1, "load", "k", NULL, 1000 * i, 1000 * i + 900);
		for (k = 0; k < 4; k++)
			key_cmd(&b, 1000 * i + 100 + k, "retrieve", "6b");
	}
	model_of(&m, &b);
	since = clock();
	assert_int_equal(model_join(&m, &(struct join_options){}), 0);
	assert_true(clock() - since < CLOCKS_PER_SEC);
	for (i = 0; i < n; i++)
		assert_int_equal(m.op.n_cmds[i], 4);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_and_load_of_a_key_are_two_occurrences),
		cmocka_unit_test(an_empty_key_matches_nothing),
		cmocka_unit_test(a_long_key_is_found_by_what_went_on_the_wire),
		cmocka_unit_test(store_and_load_at_one_time_are_told_apart_by_direction),
		cmocka_unit_test(a_hot_key_costs_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
