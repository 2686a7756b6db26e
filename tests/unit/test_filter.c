// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/filter.h"
#include "unit/join_text.h"

#define ID(trace_id, n) ((u64)(trace_id) << 32 | (n))

/* What is left and what was cut are what there was. */
static void cut(struct model *m, const struct filter *f)
{
	u64 cmds = m->cmd.n + m->cut.cmds, bytes = count_bytes(m) + m->cut.cmd_bytes, ops = m->op.n + m->cut.ops;
	u64 spans = m->serving.n + m->cut.spans, overflows = m->n_overflows + m->cut.overflows;
	u32 i, k, ties = 0;

	assert_int_equal(model_cut(m, f), 0);
	assert_int_equal(m->cmd.n + m->cut.cmds, cmds);
	assert_int_equal(count_bytes(m) + m->cut.cmd_bytes, bytes);
	assert_int_equal(m->op.n + m->cut.ops, ops);
	assert_int_equal(m->serving.n + m->cut.spans, spans);
	assert_int_equal(m->n_overflows + m->cut.overflows, overflows);
	for (i = 0; i < m->op.n; i++)
		for (k = 0; k < m->op.n_cmds[i]; k++, ties++)
			assert_true(cmd_op_bytes(m, m->cmd_order[m->op.first_cmd[i] + k], i) > 0);
	for (i = 0; i < m->cmd.n; i++) {
		u32 first, parts = cmd_parts(m, i, &first);

		assert_true(m->cmd.op[i] == NONE || m->cmd.op[i] < m->op.n);
		ties -= parts ? parts : m->cmd.op[i] != NONE && !(m->cmd.flags[i] & CMD_REISSUED);
	}
	assert_int_equal(ties, 0);
}

static void options_are_read(void **state)
{
	struct filter f = {};

	(void)state;
	assert_false(filter_any(&f));
	assert_int_equal(filter_ids(&f, "7"), 0);
	assert_true(f.has_ids && f.first_id == 7 && f.last_id == 7);
	assert_int_equal(filter_ids(&f, "0-18446744073709551615"), 0);
	assert_true(f.first_id == 0 && f.last_id == UINT64_MAX);
	assert_int_equal(filter_ids(&f, "5-3"), -ERANGE);
	assert_int_equal(filter_ids(&f, "5-"), -EINVAL);
	assert_int_equal(filter_ids(&f, "-5"), -EINVAL);
	assert_int_equal(filter_ids(&f, "x"), -EINVAL);
	assert_int_equal(filter_window(&f, "0.004,0.009"), 0);
	assert_true(f.has_window && f.from_ns == 4 * MS && f.to_ns == 9 * MS);
	assert_int_equal(filter_window(&f, "4ms,2s"), 0);
	assert_true(f.from_ns == 4 * MS && f.to_ns == 2000 * MS);
	assert_int_equal(filter_window(&f, "2,1"), -ERANGE);
	assert_int_equal(filter_window(&f, "1"), -EINVAL);
	assert_int_equal(filter_window(&f, ",1"), -EINVAL);
	assert_int_equal(filter_window(&f, "1,"), -EINVAL);
	assert_int_equal(filter_window(&f, "-1,1"), -EINVAL);
	assert_true(filter_any(&f));
}

/* golden/perfetto/qd1/tid3-5 */
static void trace_ids_cut_commands_and_operations(void **state)
{
	struct filter f = {};
	struct model m;
	u32 i;

	(void)state;
	model_of_case(&m, "qd1/sem.jsonl", "qd1/ebpf.jsonl");
	assert_int_equal(filter_ids(&f, "3-5"), 0);
	cut(&m, &f);
	assert_int_equal(m.op.n, 3);
	assert_int_equal(m.cmd.n, 27);
	assert_int_equal(count_bytes(&m), 3158016);
	assert_int_equal(m.n_stores, 3);
	assert_int_equal(m.n_header_cmds, 3);
	/* The older converter left out the start of the first object, and began with its first command. */
	assert_int_equal(m.cmd.ts_ns[0], 812345681081151);
	assert_int_equal(model_base_ns(&m), m.op.start_ns[0]);
	assert_true(model_base_ns(&m) < m.cmd.ts_ns[0]);
	assert_int_equal(m.cut.ops, 15);
	assert_int_equal(m.cut.cmds, 126);
	assert_int_equal(m.sem_in.semantic, 18); /* what was read stays what was read */
	for (i = 0; i < 3; i++)
		assert_int_equal(m.op.n_cmds[i], 9);
	model_free(&m);
}

static void id_zero_is_what_is_untagged(void **state)
{
	struct filter f = {};
	struct model m;

	(void)state;
	model_of_case(&m, "untagged/sem.jsonl", "untagged/ebpf.jsonl");
	assert_int_equal(filter_ids(&f, "0"), 0);
	cut(&m, &f);
	assert_int_equal(m.cmd.n, 70);
	assert_int_equal(m.op.n, 0);
	model_free(&m);
}

/*
 * golden/perfetto/qd1/window: what is not fully outside stays, and time zero
 * does not move.  The older converter's zero is that of the first command.
 */
static void a_window_keeps_what_reaches_into_it(void **state)
{
	struct filter f = {};
	struct model m;
	u64 base, from, to;
	u32 i;

	(void)state;
	model_of_case(&m, "qd1/sem.jsonl", "qd1/ebpf.jsonl");
	base = model_base_ns(&m);
	assert_int_equal(filter_window(&f, "0.004,0.009"), 0);
	f.from_ns += m.cmd.ts_ns[0] - base;
	f.to_ns += m.cmd.ts_ns[0] - base;
	from = base + f.from_ns;
	to = base + f.to_ns;
	cut(&m, &f);
	assert_int_equal(model_base_ns(&m), base);
	assert_true(m.cut.window);
	for (i = 0; i < m.cmd.n; i++)
		assert_true(m.cmd.ts_ns[i] <= to && m.cmd.ts_ns[i] + m.cmd.lat_ns[i] >= from);
	for (i = 0; i < m.op.n; i++)
		assert_true(m.op.start_ns[i] <= to && m.op.end_ns[i] >= from);
	assert_int_equal(m.op.n, 5);
	assert_int_equal(m.cmd.n, 45);
	model_free(&m);
}

static void windows_touch(void **state)
{
	struct filter f = { .has_window = true, .from_ns = 100, .to_ns = 200 };
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "load", 0, 4096, 0, 99);
	slot_op(&b, 2, "load", 0, 4096, 0, 100);
	slot_op(&b, 3, "load", 0, 4096, 200, 300);
	slot_op(&b, 4, "load", 0, 4096, 201, 300);
	buf_lit(&b, "{\"trace_id\":5,\"op\":\"delete\",\"ts\":0.000000150}\n");
	buf_lit(&b, "{\"op\":\"prefill\",\"ts_start\":0.00000001,\"ts\":0.0000001}\n");
	buf_lit(&b, "{\"op\":\"prefill\",\"ts_start\":0.00000001,\"ts\":0.00000009}\n");
	buf_lit(&b, "{\"event_type\":\"cq_overflow\",\"user_data\":5,\"res\":-5,\"ts\":150}\n");
	buf_lit(&b, "{\"event_type\":\"cq_overflow\",\"user_data\":5,\"res\":-5,\"ts\":250}\n");
	join_as(&m, &b, JOIN_AUTO);
	assert_int_equal(model_base_ns(&m), 0);
	cut(&m, &f);
	assert_int_equal(m.op.n, 3);
	assert_int_equal(m.op.trace_id[0], 2);
	assert_int_equal(m.op.trace_id[1], 5);
	assert_int_equal(m.op.trace_id[2], 3);
	assert_int_equal(m.n_overflows, 1);
	assert_int_equal(m.cut.overflows, 1);
	model_free(&m);
}

static void pid_cmd(struct buf *b, u64 ts, u64 user_data, u32 pid, const char *disk, u32 opcode)
{
	buf_printf(
		b,
		"{\"event_type\":\"nvme_cmd\",\"user_data\":%llu,\"op_name\":\"%s\",\"nvme_opcode\":%u,\"slba\":0,\"nlb\":1,"
		"\"data_len\":4096,\"pid\":%u,\"tid\":%u,\"comm\":\"x\",\"disk\":\"%s\",\"dev\":%u,\"ts\":%llu}\n",
		ULL(user_data), opcode == 1 ? "write" : "read", opcode, pid, pid, disk, disk[4], ULL(ts));
}

static void three_operations(struct model *m)
{
	struct buf b = {};

	buf_lit(&b,
		"{\"trace_id\":1,\"op\":\"store\",\"bytes\":10,\"key\":\"model@f@0@aaaa\",\"pid\":10,\"ts_start\":0.1,"
		"\"ts\":0.2}\n"
		"{\"trace_id\":2,\"op\":\"load\",\"bytes\":20,\"key\":\"model@f@0@bbbb\",\"ts_start\":0.3,\"ts\":0.4}\n"
		"{\"trace_id\":3,\"op\":\"load\",\"bytes\":40,\"key\":\"model@f@0@cccc\",\"key_hex\":\"c0ffee\",\"pid\":10,"
		"\"ts_start\":0.5,\"ts\":0.6}\n");
	pid_cmd(&b, 150 * MS, ID(1, 1), 10, "nvme0n1", 1);
	pid_cmd(&b, 350 * MS, ID(2, 1), 11, "nvme1n1", 2);
	pid_cmd(&b, 360 * MS, ID(2, 2), 11, "nvme0n1", 2);
	pid_cmd(&b, 700 * MS, 5, 12, "nvme1c2n1", 2);
	join_as(m, &b, JOIN_AUTO);
	assert_int_equal(m->join, JOIN_TRACE_ID);
}

static void assert_left(const struct filter *f, u32 cmds, const char *ids)
{
	char left[16] = "";
	struct model m;
	u32 i;

	three_operations(&m);
	cut(&m, f);
	assert_int_equal(m.cmd.n, cmds);
	for (i = 0; i < m.op.n; i++)
		left[i] = (char)('0' + m.op.trace_id[i]);
	assert_string_equal(left, ids);
	model_free(&m);
}

static void every_filter_has_its_own_rule(void **state)
{
	(void)state;
	assert_left(&(struct filter){}, 4, "123");
	assert_left(&(struct filter){ .has_opcode = true, .opcode = 1 }, 1, "1");
	assert_left(&(struct filter){ .has_opcode = true, .opcode = 9 }, 0, "");
	assert_left(&(struct filter){ .device = "nvme0n1" }, 2, "12");
	assert_left(&(struct filter){ .device = "/dev/ng1n1" }, 2, "2"); /* nvme1c2n1 is a path of it */
	assert_left(&(struct filter){ .device = "nvme9n1" }, 0, "");
	assert_left(&(struct filter){ .has_pid = true, .pid = 10 }, 1, "13"); /* 3 says so itself */
	assert_left(&(struct filter){ .has_pid = true, .pid = 11 }, 2, "2");
	assert_left(&(struct filter){ .key = "bbb" }, 2, "2");
	assert_left(&(struct filter){ .key = "c0ffee" }, 0, "3");
	assert_left(&(struct filter){ .key = "model@" }, 3, "123");
	assert_left(&(struct filter){ .key = "model@", .has_pid = true, .pid = 11, .device = "nvme1n1" }, 1, "2");
}

static void keys_of_commands_count_too(void **state)
{
	static const struct filter f = { .key = "6b32" };
	struct buf b = {};
	struct model m;

	(void)state;
	buf_lit(&b,
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"store\",\"key_hex\":\"6b31\",\"data_len\":1,\"ts\":1}\n"
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"store\",\"key_hex\":\"6b32\",\"data_len\":2,\"ts\":2}\n");
	join_as(&m, &b, JOIN_AUTO);
	cut(&m, &f);
	assert_int_equal(m.cmd.n, 1);
	assert_int_equal(m.cmd.bytes[0], 2);
	model_free(&m);
}

static void parts_are_cut_with_their_operation(void **state)
{
	struct filter f = {};
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "store", 0, 32 * KIB, 100 * MS, 200 * MS);
	slot_op(&b, 2, "store", 32 * KIB, 32 * KIB, 100 * MS, 200 * MS);
	slot_op(&b, 3, "store", 64 * KIB, 32 * KIB, 100 * MS, 200 * MS);
	io(&b, 150 * MS, 0, "write", 16 * KIB, 64 * KIB); /* most of it in 2 */
	io(&b, 160 * MS, 0, "write", 0, 4 * KIB);
	join_as(&m, &b, JOIN_OFFSET);
	assert_int_equal(m.part.n, 3);
	filter_ids(&f, "2-3");
	cut(&m, &f);
	assert_int_equal(m.cmd.n, 1);
	assert_int_equal(m.op.n, 2);
	assert_int_equal(m.part.n, 2);
	assert_int_equal(went_to(&m, 0), 2);
	assert_int_equal(cmd_op_bytes(&m, 0, 0), 32 * KIB);
	assert_int_equal(cmd_op_bytes(&m, 0, 1), 16 * KIB);
	assert_int_equal(m.op.n_cmds[1], 1);
	assert_int_equal(m.offset.cross, 1); /* the account is that of the join */
	model_free(&m);
}

static void cuts_add_up(void **state)
{
	struct filter f = {}, g = {};
	struct model m;
	u64 base;

	(void)state;
	model_of_case(&m, "qd1/sem.jsonl", "qd1/ebpf.jsonl");
	base = model_base_ns(&m);
	filter_window(&f, "0.004,0.009");
	filter_ids(&g, "7");
	cut(&m, &f);
	cut(&m, &g);
	assert_int_equal(m.op.n, 1);
	assert_int_equal(m.op.n + m.cut.ops, 18);
	assert_int_equal(m.cmd.n + m.cut.cmds, 153);
	assert_int_equal(model_base_ns(&m), base);
	model_free(&m);
}

static void names_of_a_device(void **state)
{
	static const struct {
		const char *own, *name;
		bool is;
	} cases[] = {
		{ "nvme0n1", "nvme0n1", true },	   { "nvme0n1", "/dev/nvme0n1", true },
		{ "nvme0n1", "/dev/ng0n1", true }, { "nvme0n1", "ng0n1", true },
		{ "nvme0c3n1", "nvme0n1", true },  { "nvme0n1", "nvme0c3n1", true },
		{ "nvme0n1", "nvme0n2", false },   { "nvme0n1", "nvme1n1", false },
		{ "nvme0n1", "nvme0n1p1", false }, { "nvme0n1", "nvme0", false },
		{ "nvme0n1", "", false },	   { "nvme0n1", "/dev/", false },
		{ "nvme10n1", "nvme1n1", false },  { "sda", "/dev/sda", true },
		{ "sda", "sdb", false },	   { "", "", false },
		{ "nvme0n1", "nvme0n", false },	   { "nvme0n1", "nvmen1", false },
	};
	struct device d = {};
	struct model m;
	size_t i;

	(void)state;
	model_init(&m);
	m.device = &d;
	m.n_devices = 1;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		d.name = *cases[i].own ? strpool_add(&m.strings, cases[i].own, strlen(cases[i].own)) : 0;
		assert_int_equal(device_is_named(&m, 0, cases[i].name), cases[i].is);
	}
	strpool_free(&m.strings);
}

static void nothing_can_be_cut(void **state)
{
	struct filter f = { .has_window = true, .to_ns = UINT64_MAX, .key = "x" };
	struct model m;

	(void)state;
	model_init(&m);
	assert_int_equal(model_finish(&m), 0);
	assert_int_equal(model_join(&m, &(struct join_options){}), 0);
	assert_int_equal(model_base_ns(&m), 0);
	cut(&m, &f);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_read),
		cmocka_unit_test(trace_ids_cut_commands_and_operations),
		cmocka_unit_test(id_zero_is_what_is_untagged),
		cmocka_unit_test(a_window_keeps_what_reaches_into_it),
		cmocka_unit_test(windows_touch),
		cmocka_unit_test(every_filter_has_its_own_rule),
		cmocka_unit_test(keys_of_commands_count_too),
		cmocka_unit_test(parts_are_cut_with_their_operation),
		cmocka_unit_test(cuts_add_up),
		cmocka_unit_test(names_of_a_device),
		cmocka_unit_test(nothing_can_be_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
