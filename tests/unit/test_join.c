// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "unit/model_text.h"

#define ID(trace_id, n) ((u64)(trace_id) << 32 | (n))

static void join(struct model *m, u32 lba_bytes)
{
	const struct join_options o = { .lba_bytes = lba_bytes };

	assert_int_equal(model_join(m, &o), 0);
}

/* The rows of an operation are consecutive in cmd_order, in time order, and all its own. */
static void assert_order(const struct model *m)
{
	u32 op, i, sum = 0;

	for (op = 0; op < m->op.n; op++) {
		if (!m->op.n_cmds[op]) {
			assert_int_equal(m->op.first_cmd[op], NONE);
			continue;
		}
		sum += m->op.n_cmds[op];
		for (i = 0; i < m->op.n_cmds[op]; i++) {
			u32 row = m->cmd_order[m->op.first_cmd[op] + i];

			assert_int_equal(m->cmd.op[row], op);
			assert_true(!i || m->cmd_order[m->op.first_cmd[op] + i - 1] < row);
		}
	}
	for (i = 0; i < m->cmd.n; i++)
		sum -= m->cmd.op[i] != NONE && !(m->cmd.flags[i] & CMD_REISSUED);
	assert_int_equal(sum, 0);
}

static void commands_find_their_operation(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	sem_op(&b, 2, "load", 8192, 100, 1000);
	sem_op(&b, 1, "store", 4096, 100, 1000);
	sem_op(&b, 9, "load", 0, 100, 1000);
	um_cmd(&b, 300, ID(2, 1), 2, "read");
	um_cmd(&b, 200, ID(1, 1), 1, "write");
	um_cmd(&b, 400, ID(1, 2), 2, "write");
	um_cmd(&b, 250, 77, 3, "read");
	um_cmd(&b, 260, ID(5, 1), 3, "read");
	model_of(&m, &b);
	join(&m, 0);
	assert_int_equal(m.join, JOIN_TRACE_ID);
	assert_int_equal(m.op.trace_id[0], 1);
	assert_int_equal(m.op.n_cmds[0], 2);
	assert_int_equal(m.op.n_cmds[1], 1);
	assert_int_equal(m.op.n_cmds[2], 0);
	assert_int_equal(m.cmd.op[0], 0);
	assert_int_equal(m.cmd.op[1], NONE); /* no tag */
	assert_int_equal(m.cmd.op[2], NONE); /* nobody's tag */
	assert_int_equal(m.dup_trace_ids, 0);
	assert_int_equal(m.n_instances, 1);
	assert_order(&m);
	model_free(&m);
}

static void ids_are_exact_above_2_to_the_53(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	sem_op(&b, 0xffffffff, "load", 0, 100, 1000);
	sem_op(&b, 0xfffffffe, "load", 0, 100, 1000);
	um_cmd(&b, 200, 0xffffffff00000001ull, 1, "read");
	um_cmd(&b, 210, 0xfffffffeffffffffull, 1, "read");
	model_of(&m, &b);
	join(&m, 0);
	assert_int_equal(m.op.trace_id[m.cmd.op[0]], 0xffffffff);
	assert_int_equal(m.op.trace_id[m.cmd.op[1]], 0xfffffffe);
	model_free(&m);
}

static void the_thread_id_is_never_a_join_id(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	sem_op(&b, 11, "load", 0, 100, 1000); /* the id of the submitting thread */
	sem_op(&b, 3, "load", 0, 100, 1000);
	um_cmd(&b, 200, ID(3, 1), 1, "read");
	model_of(&m, &b);
	join(&m, 0);
	assert_int_equal(m.cmd.tid[0], 11);
	assert_int_equal(m.op.trace_id[m.cmd.op[0]], 3);
	model_free(&m);
}

static void an_id_used_again_is_cut_by_the_ends(void **state)
{
	static const u64 at[] = { 50, 1000, 1001, 2000, 2500, 3000, 9000 };
	static const u32 want[] = { 0, 0, 1, 1, 2, 2, 2 };
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	sem_op(&b, 1, "load", 0, 1500, 2000);
	sem_op(&b, 1, "store", 0, 100, 1000);
	sem_op(&b, 1, "load", 0, 2500, 3000);
	for (i = 0; i < ARRAY_SIZE(at); i++)
		um_cmd(&b, at[i], ID(1, i), i, "read");
	model_of(&m, &b);
	join(&m, 0);
	for (i = 0; i < ARRAY_SIZE(at); i++)
		assert_int_equal(m.cmd.op[i], want[i]);
	assert_int_equal(m.op.occurrence[0], 0);
	assert_int_equal(m.op.occurrence[1], 1);
	assert_int_equal(m.op.occurrence[2], 2);
	assert_int_equal(m.op.n_occurrences[1], 3);
	assert_int_equal(m.dup_trace_ids, 2);
	assert_int_equal(m.clock_anomalies, 1); /* the one at 9000 */
	assert_true(m.op.flags[2] & OP_LATE_CMD);
	assert_order(&m);
	model_free(&m);
}

static void id_zero_is_no_tag(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	sem_op(&b, 0, "load", 0, 100, 1000);
	um_cmd(&b, 200, 5, 1, "read");
	model_of(&m, &b);
	join(&m, 0);
	assert_int_equal(m.cmd.op[0], NONE);
	assert_int_equal(m.join, JOIN_NONE);
	assert_int_equal(cmd_role(&m, 0), ROLE_UNTAGGED);
	model_free(&m);
}

static void producers_are_told_apart(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	buf_lit(&b,
		"{\"trace_id\":5,\"op\":\"load\",\"ts\":1,\"pid\":10}\n{\"trace_id\":5,\"op\":\"load\",\"ts\":2,\"pid\":11}\n"
		"{\"trace_id\":6,\"op\":\"load\",\"ts\":2}\n");
	model_of(&m, &b);
	join(&m, 0);
	assert_int_equal(m.n_instances, 2);
	assert_int_equal(m.dup_trace_ids, 1);
	model_free(&m);
	model_of_case(&m, "dup-trace-id/sem.jsonl", "dup-trace-id/ebpf.jsonl");
	assert_int_equal(m.n_instances, 2);
	assert_int_equal(m.dup_trace_ids, 8);
	assert_int_equal(m.op.n, 16);
	assert_order(&m);
	model_free(&m);
}

/* Stores whose header is at the slot under an LBA of 512 bytes. */
static void store_with_header(struct buf *b, u64 id, u64 slot, u64 ts)
{
	sem_op(b, id, "store", slot, ts, ts + 1000);
	um_cmd(b, ts + 10, ID(id, 1), slot / 512, "write");
	um_cmd(b, ts + 20, ID(id, 2), slot / 512 + 8, "write");
}

static void headers_are_where_the_slot_begins(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	store_with_header(&b, 1, 1 << 20, 1000);
	sem_op(&b, 2, "load", 1 << 20, 5000, 6000);
	um_cmd(&b, 5500, ID(2, 1), (1 << 20) / 512, "read");
	model_of(&m, &b);
	join(&m, 512);
	assert_int_equal(m.n_stores, 1);
	assert_int_equal(m.n_header_cmds, 1); /* the load has none */
	assert_true(m.cmd.flags[0] & CMD_HEADER);
	assert_false(m.cmd.flags[1] & CMD_HEADER);
	assert_false(m.cmd.flags[2] & CMD_HEADER);
	assert_int_equal(m.lba_bytes, 512);
	assert_false(m.lba_inferred);
	model_free(&m);
}

static void an_lba_size_without_headers_gives_way(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	store_with_header(&b, 1, 1 << 20, 1000);
	store_with_header(&b, 2, 2 << 20, 3000);
	model_of(&m, &b);
	assert_int_equal(m.device[0].lba_bytes, 4096); /* by bytes / nlb, which repeats what the user typed */
	assert_true(m.device[0].lba_assumed);
	join(&m, 0);
	assert_int_equal(m.lba_bytes, 512);
	assert_true(m.lba_inferred);
	assert_int_equal(m.n_header_cmds, 2);
	join(&m, 4096);
	assert_int_equal(m.lba_bytes, 512);
	assert_true(m.lba_inferred);
	join(&m, 512);
	assert_false(m.lba_inferred);
	assert_int_equal(m.n_header_cmds, 2);
	model_free(&m);
}

static void no_header_anywhere_changes_nothing(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	sem_op(&b, 1, "store", 7 << 20, 100, 1000);
	um_cmd(&b, 200, ID(1, 1), 3, "write");
	model_of(&m, &b);
	join(&m, 1024);
	assert_int_equal(m.lba_bytes, 1024);
	assert_false(m.lba_inferred);
	assert_int_equal(m.n_header_cmds, 0);
	assert_int_equal(m.n_stores, 1);
	model_free(&m);
}

static void an_offset_that_overflows_is_no_header(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	sem_op(&b, 1, "store", 0, 100, 1000);
	um_cmd(&b, 200, ID(1, 1), 1ull << 52, "write"); /* times 4096 is 2^64 */
	model_of(&m, &b);
	join(&m, 4096);
	assert_int_equal(m.n_header_cmds, 0);
	model_free(&m);
}

static void first_attempts_belong_but_do_not_count(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	sem_op(&b, 1, "store", 4096, 0, 100000);
	um_cmd(&b, 100, ID(1, 1), 1, "write");
	um_cmd(&b, 40000, ID(1, 1), 1, "write");
	um_cmp(&b, 60000, ID(1, 1), 20000);
	model_of(&m, &b);
	join(&m, 0);
	assert_int_equal(m.cmd.op[0], 0);
	assert_int_equal(m.op.n_cmds[0], 1);
	assert_int_equal(m.cmd_order[0], 1);
	assert_int_equal(m.n_header_cmds, 1);
	assert_order(&m);
	model_free(&m);
}

static void roles_follow_the_name_and_the_tag(void **state)
{
	static const struct {
		const char *op;
		enum role role;
	} cases[] = {
		{ "write", ROLE_WRITES },   { "store", ROLE_WRITES }, { "read", ROLE_READS },
		{ "retrieve", ROLE_READS }, { "flush", ROLE_OTHER },  { "delete", ROLE_OTHER },
	};
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		um_cmd(&b, i, ID(1, i), 1, cases[i].op);
	um_cmd(&b, i, 1, 1, "write");
	buf_lit(&b,
		"{\"event_type\":\"nvme_cmd\",\"ts\":100,\"op_name\":\"store\",\"key_hex\":\"6b\",\"user_data\":1}\n");
	buf_lit(&b,
		"{\"event_type\":\"nvme_cmd\",\"ts\":101,\"op_name\":\"store\",\"key_hex\":\"\",\"user_data\":1}\n");
	model_of(&m, &b);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(cmd_role(&m, i), cases[i].role);
	assert_int_equal(cmd_role(&m, i++), ROLE_UNTAGGED);
	assert_int_equal(cmd_role(&m, i++), ROLE_WRITES); /* known by its key */
	assert_int_equal(cmd_role(&m, i), ROLE_UNTAGGED);
	model_free(&m);
}

static void one_side_alone_joins_nothing(void **state)
{
	struct model m;

	(void)state;
	model_of_case(&m, "truncated/sem.jsonl", "");
	assert_int_equal(m.join, JOIN_NONE);
	assert_int_equal(m.n_stores, 5);
	assert_int_equal(m.op.n, 10);
	model_free(&m);
	model_of_case(&m, "", "untagged/ebpf.jsonl");
	assert_int_equal(m.join, JOIN_NONE);
	assert_int_equal(m.cmd.n, 155);
	model_free(&m);
	model_init(&m);
	assert_int_equal(model_finish(&m), 0);
	join(&m, 0);
	model_free(&m);
}

static void a_hot_id_costs_no_more(void **state)
{
	const u32 n = 20000;
	clock_t began = clock();
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < n; i++) {
		sem_op(&b, 1, "load", 0, 1000 * i, 1000 * i + 900);
		um_cmd(&b, 1000 * i + 100, ID(1, i), i, "read");
		um_cmd(&b, 1000 * i + 200, ID(1, i), i, "read");
	}
	model_of(&m, &b);
	join(&m, 0);
	for (i = 0; i < n; i++)
		assert_int_equal(m.op.n_cmds[i], 2);
	assert_order(&m);
	assert_true(clock() - began < 20 * CLOCKS_PER_SEC);
	model_free(&m);
}

static void golden_captures(void **state)
{
	static const struct {
		const char *sem, *ebpf;
		u32 ops, cmds, tagged, headers, lba;
		u64 tagged_bytes;
	} cases[] = {
		/* The members "tid" hold thread ids in all of them. */
		{ "qd1/sem.jsonl", "qd1/ebpf.jsonl", 18, 153, 153, 9, 4096, 18911232 },
		{ "cq-overflow/sem.jsonl", "cq-overflow/ebpf.jsonl", 12, 71, 71, 4, 4096, 8798208 },
		{ "dup-trace-id/sem.jsonl", "dup-trace-id/ebpf.jsonl", 16, 72, 72, 8, 4096, 8421376 },
		{ "header-lba512/sem.jsonl", "header-lba512/ebpf.jsonl", 12, 102, 102, 6, 512, 13369344 },
		{ "truncated/sem.jsonl", "truncated/ebpf.jsonl", 10, 45, 45, 5, 4096, 5263360 },
		{ "untagged/sem.jsonl", "untagged/ebpf.jsonl", 10, 155, 85, 5, 4096, 10506240 },
		{ "missing-cmp/sem.jsonl", "missing-cmp/ebpf.jsonl", 12, 102, 102, 6, 4096, 12607488 },
	};
	struct model m;
	size_t c;

	(void)state;
	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		u32 tagged = 0, i;
		u64 bytes = 0;

		model_of_case(&m, cases[c].sem, cases[c].ebpf);
		for (i = 0; i < m.cmd.n; i++) {
			tagged += m.cmd.op[i] != NONE;
			bytes += m.cmd.op[i] != NONE ? m.cmd.bytes[i] : 0;
		}
		assert_int_equal(m.op.n, cases[c].ops);
		assert_int_equal(m.cmd.n, cases[c].cmds);
		assert_int_equal(tagged, cases[c].tagged);
		assert_int_equal(bytes, cases[c].tagged_bytes);
		assert_int_equal(m.n_header_cmds, cases[c].headers);
		assert_int_equal(m.lba_bytes, cases[c].lba);
		assert_int_equal(m.clock_anomalies, 0);
		assert_order(&m);
		model_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_find_their_operation),
		cmocka_unit_test(ids_are_exact_above_2_to_the_53),
		cmocka_unit_test(the_thread_id_is_never_a_join_id),
		cmocka_unit_test(an_id_used_again_is_cut_by_the_ends),
		cmocka_unit_test(id_zero_is_no_tag),
		cmocka_unit_test(producers_are_told_apart),
		cmocka_unit_test(headers_are_where_the_slot_begins),
		cmocka_unit_test(an_lba_size_without_headers_gives_way),
		cmocka_unit_test(no_header_anywhere_changes_nothing),
		cmocka_unit_test(an_offset_that_overflows_is_no_header),
		cmocka_unit_test(first_attempts_belong_but_do_not_count),
		cmocka_unit_test(roles_follow_the_name_and_the_tag),
		cmocka_unit_test(one_side_alone_joins_nothing),
		cmocka_unit_test(a_hot_id_costs_no_more),
		cmocka_unit_test(golden_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
