/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of slots and commands, for tests of the joins.  Included behind cmocka.h. */
#ifndef KVIO_TEST_JOIN_TEXT_H
#define KVIO_TEST_JOIN_TEXT_H

#include "unit/model_text.h"

#define KIB    1024ull
#define MIB    (1024 * KIB)
#define US     1000ull
#define MS     1000000ull
#define ULL(x) ((unsigned long long)(x))

/* What the semantic trace says of its writer. */
static inline void meta(struct buf *b, u64 header_bytes, const char *device)
{
	buf_printf(b,
		   "{\"event_type\":\"kvio_meta\",\"kvio_schema\":2,\"block_align\":4096,\"header_bytes\":%llu,"
		   "\"device_path\":\"%s\"}\n",
		   ULL(header_bytes), device);
}

static inline void seconds(struct buf *b, const char *name, u64 ns)
{
	buf_printf(b, ",\"%s\":%llu.%09llu", name, ULL(ns / NSEC_PER_SEC), ULL(ns % NSEC_PER_SEC));
}

/* An operation on a slot; times in ns. */
static inline void slot_op(struct buf *b, u64 id, const char *op, u64 slot, u64 bytes, u64 start, u64 end)
{
	buf_printf(b, "{\"trace_id\":%llu,\"op\":\"%s\",\"bytes\":%llu,\"slot_offset\":%llu", ULL(id), op, ULL(bytes),
		   ULL(slot));
	seconds(b, "ts_start", start);
	seconds(b, "ts", end);
	buf_lit(b, "}\n");
}

/* A command on blocks of 512 bytes: op is read, write or another name. */
static inline void io(struct buf *b, u64 ts, u64 user_data, const char *op, u64 offset, u64 bytes)
{
	buf_printf(b,
		   "{\"event_type\":\"nvme_cmd\",\"user_data\":%llu,\"nvme_opcode\":%d,\"op_name\":\"%s\",\"nsid\":1,"
		   "\"slba\":%llu,\"nlb\":%llu,\"data_len\":%llu,\"rdev\":1,\"ts\":%llu}\n",
		   ULL(user_data),
		   !strcmp(op, "read")	  ? 2
		   : !strcmp(op, "write") ? 1
					  : 8,
		   op, ULL(offset / 512), ULL(bytes / 512), ULL(bytes), ULL(ts));
}

static inline void join_as(struct model *m, struct buf *b, enum join_kind kind)
{
	const struct join_options o = { .kind = kind };

	model_of(m, b);
	assert_int_equal(model_join(m, &o), 0);
}

/* The trace id of the operation that a command went to, 0 = none. */
static inline u64 went_to(const struct model *m, u32 cmd)
{
	return m->cmd.op[cmd] == NONE ? 0 : m->op.trace_id[m->cmd.op[cmd]];
}

/* Bytes of a command that went to the operations of an id. */
static inline u64 bytes_of(const struct model *m, u32 cmd, u64 id)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < m->op.n; i++)
		if (m->op.trace_id[i] == id)
			n += cmd_op_bytes(m, cmd, i);
	return n;
}

/* All commands are in one class and all bytes in one sum; parts and cmd_order say the same as the account. */
static inline void assert_closed(const struct model *m)
{
	const struct offset_account *a = &m->offset;
	u64 cmds = 0, bytes = 0, inside = 0, ties = 0;
	u32 i, k;

	for (i = 0; i < m->cmd.n; i++) {
		u32 first, n = cmd_parts(m, i, &first), most = n ? cmd_op_bytes(m, i, m->cmd.op[i]) : 0;

		assert_int_equal(n > 0, (m->cmd.flags[i] & CMD_SPLIT) != 0);
		for (k = first; k < first + n; k++) {
			assert_int_equal(m->part.cmd[k], i);
			assert_true(k == first || m->part.op[k] > m->part.op[k - 1]);
			assert_true(m->part.bytes[k] <= most);
		}
		if (m->cmd.flags[i] & CMD_REISSUED)
			continue;
		ties += n ? n : m->cmd.op[i] != NONE;
		if (m->cmd.flags[i] & NVME_REFUSED)
			continue;
		cmds++;
		bytes += m->cmd.bytes[i];
		inside += n || m->cmd.op[i] == NONE ? 0 : m->cmd.bytes[i];
		for (k = first; k < first + n; k++)
			inside += m->part.bytes[k];
	}
	assert_int_equal(a->unique + a->cross + a->gap_spill + a->unmatched + a->no_place, cmds);
	assert_int_equal(a->unique_bytes + a->cross_bytes + a->gap_spill_bytes + a->unmatched_bytes + a->no_place_bytes,
			 bytes);
	assert_int_equal(a->unique_bytes + a->cross_bytes, inside);
	assert_int_equal(a->cookie_cmds + a->without_cookie, a->unique);
	for (i = 0; i < m->op.n; i++) {
		ties -= m->op.n_cmds[i];
		for (k = 0; k < m->op.n_cmds[i]; k++) {
			u32 cmd = m->cmd_order[m->op.first_cmd[i] + k];

			assert_true(!k || m->cmd_order[m->op.first_cmd[i] + k - 1] < cmd);
			assert_true(m->cmd.op[cmd] == i || cmd_op_bytes(m, cmd, i) || !m->cmd.bytes[cmd]);
		}
	}
	assert_int_equal(ties, 0);
}

#endif
