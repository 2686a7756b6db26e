// SPDX-License-Identifier: Apache-2.0
/* The table of commands. */
#include "model/cause.h"
#include <stdio.h>

#include "model/extents.h"
#include "model/measure.h"
#include "out/sql_rows.h"

u32 sql_cmd_rows(struct sql *s)
{
	return sql_sum(s, sql_cmds_of);
}

s64 sql_cmd_key(struct sql *s, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, sql_cmds_of, &i);
	const struct cmd_table *t = &s->arm[arm].m->cmd;

	if (column == SQL_CMD_op_id)
		return sql_op_id(s, arm, t->op[i]);
	return column == SQL_CMD_ts_ns ? (s64)MIN(t->ts_ns[i], (u64)INT64_MAX) : row;
}

/* Measured: the age of a command in flight and the zero of a refused one are no latencies. */
static bool has_latency(const struct model *m, u32 i)
{
	enum cmd_state state = cmd_state(m, i);

	return state == STATE_OK || state == STATE_FAILED || (state == STATE_REFUSED && m->cmd.lat_ns[i]);
}

static void put_time(const struct model *m, sqlite3_context *ctx, u32 i, int column)
{
	if (column == SQL_CMD_ts_ns)
		sqlite3_result_int64(ctx, (s64)MIN(m->cmd.ts_ns[i], (u64)INT64_MAX));
	else if (!has_latency(m, i) || m->cmd.lat_ns[i] == NO_LAT)
		return;
	else if (column == SQL_CMD_lat_ns)
		sql_put_u64(ctx, m->cmd.lat_ns[i]);
	else
		sql_put_u64(ctx, cmd_end(m, i));
}

static void put_task(const struct model *m, sqlite3_context *ctx, u32 i, int column)
{
	const struct task *t = m->cmd.task[i] == NONE ? NULL : &m->task[m->cmd.task[i]];

	if (column == SQL_CMD_tid) {
		if (m->cmd.tid[i])
			sqlite3_result_int64(ctx, m->cmd.tid[i]);
	} else if (!t) {
		return;
	} else if (column == SQL_CMD_comm) {
		sql_put_text(ctx, &m->strings, t->comm);
	} else if (t->pid) {
		sqlite3_result_int64(ctx, t->pid);
	}
}

static const char *state_word(enum cmd_state s)
{
	static const char *const words[N_CMD_STATES] = {
		[STATE_OK] = "ok",
		[STATE_FAILED] = "failed",
		[STATE_IN_FLIGHT] = "in_flight",
		[STATE_UNPAIRED] = "unpaired",
		[STATE_BACKWARDS] = "backwards",
		[STATE_REFUSED] = "refused",
		[STATE_REISSUED] = "reissued",
	};

	return words[s];
}

static void put_outcome(const struct model *m, sqlite3_context *ctx, u32 i, int column)
{
	u32 flags = m->cmd.flags[i];
	enum cmd_state state = cmd_state(m, i);

	if (column == SQL_CMD_state)
		sql_put_word(ctx, state_word(state));
	else if (state != STATE_OK && state != STATE_FAILED && state != STATE_REFUSED && state != STATE_BACKWARDS)
		return;
	else if (column == SQL_CMD_status)
		sqlite3_result_int(ctx, m->cmd.status[i]);
	else
		sql_put_word(ctx, flags & NVME_REFUSED ? "errno" : flags & CMD_BLK_STATUS ? "blk" : "nvme");
}

static void put_flag(const struct model *m, sqlite3_context *ctx, u32 i, int column)
{
	static const u32 bits[] = {
		[SQL_CMD_header - SQL_CMD_header] = CMD_HEADER,
		[SQL_CMD_split - SQL_CMD_header] = CMD_SPLIT,
		[SQL_CMD_passthrough - SQL_CMD_header] = NVME_PASSTHROUGH,
		[SQL_CMD_multipath - SQL_CMD_header] = NVME_MULTIPATH,
		[SQL_CMD_admin - SQL_CMD_header] = NVME_ADMIN,
		[SQL_CMD_vec - SQL_CMD_header] = NVME_VEC,
	};

	sqlite3_result_int(ctx, !!(m->cmd.flags[i] & bits[column - SQL_CMD_header]));
}

static const char *role_word(enum role r)
{
	static const char *const words[N_ROLES] = {
		[ROLE_WRITES] = "writes",
		[ROLE_READS] = "reads",
		[ROLE_OTHER] = "other",
		[ROLE_UNTAGGED] = "untagged",
	};

	return words[r];
}

static void put_place(const struct model *m, sqlite3_context *ctx, u32 i, int column)
{
	const struct cmd_table *t = &m->cmd;

	if (column == SQL_CMD_slba && t->flags[i] & CMD_HAS_SLBA)
		sql_put_u64(ctx, t->slba[i]);
	else if (column == SQL_CMD_nlb && t->nlb[i])
		sqlite3_result_int64(ctx, t->nlb[i]);
	else if (column == SQL_CMD_device && t->dev[i] < m->n_devices)
		sql_put_text(ctx, &m->strings, m->device[t->dev[i]].name);
	else if (column == SQL_CMD_hwq && t->flags[i] & CMD_HAS_QUEUE)
		sqlite3_result_int(ctx, t->hwq[i]);
	else if (column == SQL_CMD_cid && t->flags[i] & CMD_HAS_QUEUE)
		sqlite3_result_int(ctx, t->cid[i]);
}

/* Absent numbers are zero in these. */
static void put_known(sqlite3_context *ctx, u64 v)
{
	if (v)
		sql_put_u64(ctx, v);
}

static void put_cause(const struct sql *s, sqlite3_context *ctx, u32 arm, u32 i, int column)
{
	const struct cause_table *t = &s->arm[arm].m->cause;

	if (!t->on)
		return;
	if (column == SQL_CMD_call_id)
		sql_put_row(s, ctx, arm, sql_calls_of, t->call[i]);
	else if (column == SQL_CMD_uring_id)
		sql_put_row(s, ctx, arm, sql_requests_of, t->uring[i]);
	else if (column == SQL_CMD_fault_id)
		sql_put_row(s, ctx, arm, sql_faults_of, t->fault ? t->fault[i] : NONE);
	else if (cause_name(t->how[i]))
		sql_put_word(ctx, cause_name(t->how[i]));
}

static void put_file(const struct model *m, sqlite3_context *ctx, u32 i, int column)
{
	struct cmd_file f;
	enum file_place place = cmd_file(m, i, &f);
	char numbers[48];

	if (column == SQL_CMD_file_map) {
		if (place != PLACE_NO_MAP)
			sql_put_word(ctx, file_place_name(place));
	} else if (place < PLACE_BEGIN) {
		return;
	} else if (column == SQL_CMD_file_offset) {
		if (f.has_offset)
			sql_put_u64(ctx, f.offset);
	} else if (f.path) {
		sql_put_text(ctx, &m->strings, f.path);
	} else {
		snprintf(numbers, sizeof(numbers), "%u:%u inode %llu", f.dev >> 20, f.dev & 0xfffff, ULL(f.ino));
		sqlite3_result_text(ctx, numbers, -1, SQLITE_TRANSIENT);
	}
}

void sql_cmd_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, sql_cmds_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct cmd_table *t = &m->cmd;
	s64 op;

	switch (column) {
	case SQL_CMD_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_CMD_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_CMD_ts_ns:
	case SQL_CMD_lat_ns:
	case SQL_CMD_end_ns:
		put_time(m, ctx, i, column);
		break;
	case SQL_CMD_file:
	case SQL_CMD_file_offset:
	case SQL_CMD_file_map:
		put_file(m, ctx, i, column);
		break;
	case SQL_CMD_op:
		sql_put_text(ctx, &m->strings, t->name[i]);
		break;
	case SQL_CMD_opcode:
		sqlite3_result_int(ctx, t->opcode[i]);
		break;
	case SQL_CMD_bytes:
		sqlite3_result_int64(ctx, t->bytes[i]);
		break;
	case SQL_CMD_device_id:
		sqlite3_result_int64(ctx, (s64)sql_base(s, arm, sql_devices_of) + t->dev[i]);
		break;
	case SQL_CMD_nsid:
		put_known(ctx, t->dev[i] < m->n_devices ? m->device[t->dev[i]].nsid : 0);
		break;
	case SQL_CMD_pid:
	case SQL_CMD_tid:
	case SQL_CMD_comm:
		put_task(m, ctx, i, column);
		break;
	case SQL_CMD_trace_id:
		put_known(ctx, cmd_join_id(m, i));
		break;
	case SQL_CMD_user_data:
		sql_put_u64(ctx, t->user_data[i]);
		break;
	case SQL_CMD_state:
	case SQL_CMD_status:
	case SQL_CMD_status_kind:
		put_outcome(m, ctx, i, column);
		break;
	case SQL_CMD_attempts:
		sqlite3_result_int(ctx, MAX(t->attempts[i], 1));
		break;
	case SQL_CMD_wait_ns:
		put_known(ctx, t->wait_ns[i]);
		break;
	case SQL_CMD_role:
		sql_put_word(ctx, role_word(cmd_role(m, i)));
		break;
	case SQL_CMD_header:
	case SQL_CMD_split:
	case SQL_CMD_passthrough:
	case SQL_CMD_multipath:
	case SQL_CMD_admin:
	case SQL_CMD_vec:
		put_flag(m, ctx, i, column);
		break;
	case SQL_CMD_key:
		sql_put_text(ctx, &m->strings, t->key[i]);
		break;
	case SQL_CMD_flags:
		sqlite3_result_int64(ctx, t->flags[i]);
		break;
	case SQL_CMD_op_id:
		op = sql_op_id(s, arm, t->op[i]);
		if (op >= 0)
			sqlite3_result_int64(ctx, op);
		break;
	case SQL_CMD_cause:
	case SQL_CMD_call_id:
	case SQL_CMD_uring_id:
	case SQL_CMD_fault_id:
		put_cause(s, ctx, arm, i, column);
		break;
	default:
		put_place(m, ctx, i, column);
		break;
	}
}
