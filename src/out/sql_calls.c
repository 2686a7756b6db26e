// SPDX-License-Identifier: Apache-2.0
/* The tables of system calls and io_uring requests. */
#include <string.h>

#include "capture/calls.h"
#include "capture/uring_names.h"
#include "model/calls.h"
#include "out/sql_rows.h"

u32 sql_call_rows(struct sql *s)
{
	return sql_sum(s, sql_calls_of);
}

s64 sql_call_key(struct sql *s, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, sql_calls_of, &i);

	if (column != SQL_CALL_ts_ns)
		return row;
	return (s64)MIN(s->arm[arm].m->call.row[i].ev.ts_ns, (u64)INT64_MAX);
}

static void put_comm(sqlite3_context *ctx, const struct model *m, u32 task)
{
	if (task != NONE)
		sql_put_text(ctx, &m->strings, m->task[task].comm);
}

static void put_pid(sqlite3_context *ctx, const struct model *m, u32 task)
{
	if (task != NONE && m->task[task].pid)
		sqlite3_result_int64(ctx, m->task[task].pid);
}

/* The name of a negated errno. */
static void put_error(sqlite3_context *ctx, s64 ret)
{
	if (call_error(ret))
		sql_put_word(ctx, call_error(ret));
}

static void put_file(sqlite3_context *ctx, const struct ev_syscall *e, int column)
{
	if (!(e->flags & SYSCALL_FILE) || e->dev == EV_DEV_NO_FILE)
		return;
	if (column == SQL_CALL_dev)
		sqlite3_result_int64(ctx, e->dev);
	else
		sql_put_u64(ctx, e->ino);
}

static void put_place(sqlite3_context *ctx, const struct ev_syscall *e, int column)
{
	if ((e->flags & SYSCALL_OFFSET) && call_has_address(e->call) == (column == SQL_CALL_address))
		sql_put_u64(ctx, e->offset);
}

void sql_call_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, sql_calls_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct call_row *c = &m->call.row[i];
	const struct ev_syscall *e = &c->ev;

	switch (column) {
	case SQL_CALL_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_CALL_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_CALL_ts_ns:
		sql_put_u64(ctx, e->ts_ns);
		break;
	case SQL_CALL_lat_ns:
		if (!(e->flags & SYSCALL_NO_ENTER))
			sql_put_u64(ctx, e->lat_ns);
		break;
	case SQL_CALL_name:
		sql_put_word(ctx, call_name(e->call));
		break;
	case SQL_CALL_pid:
		put_pid(ctx, m, c->task);
		break;
	case SQL_CALL_comm:
		put_comm(ctx, m, c->task);
		break;
	case SQL_CALL_tid:
		sqlite3_result_int64(ctx, e->tid);
		break;
	case SQL_CALL_fd:
		if (e->fd != -1)
			sqlite3_result_int(ctx, e->fd);
		break;
	case SQL_CALL_path:
		sql_put_text(ctx, &m->strings, c->path);
		break;
	case SQL_CALL_offset:
	case SQL_CALL_address:
		put_place(ctx, e, column);
		break;
	case SQL_CALL_size:
		if (e->size < CALL_NO_LIMIT)
			sql_put_u64(ctx, e->size);
		break;
	case SQL_CALL_ret:
		sqlite3_result_int64(ctx, e->ret);
		break;
	case SQL_CALL_error:
		put_error(ctx, e->ret);
		break;
	case SQL_CALL_arg:
		sqlite3_result_int64(ctx, e->arg);
		break;
	case SQL_CALL_fd2:
		sqlite3_result_int(ctx, e->fd2);
		break;
	case SQL_CALL_dev:
	case SQL_CALL_ino:
		put_file(ctx, e, column);
		break;
	case SQL_CALL_flags:
		sqlite3_result_int(ctx, e->flags);
		break;
	}
}

/* ---- io_uring ---- */

u32 sql_uring_rows(struct sql *s)
{
	return sql_sum(s, sql_requests_of);
}

s64 sql_uring_key(struct sql *s, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, sql_requests_of, &i);

	if (column != SQL_URING_ts_ns)
		return row;
	return (s64)MIN(s->arm[arm].m->uring.row[i].ev.ts_ns, (u64)INT64_MAX);
}

static void put_result(sqlite3_context *ctx, const struct ev_uring *e, int column)
{
	if (e->flags & URING_UNFINISHED)
		return;
	if (column == SQL_URING_lat_ns)
		sql_put_u64(ctx, e->lat_ns);
	else if (column == SQL_URING_res)
		sqlite3_result_int(ctx, e->res);
	else
		put_error(ctx, e->res);
}

static void put_flag(sqlite3_context *ctx, const struct ev_uring *e, u32 flag)
{
	sqlite3_result_int(ctx, !!(e->flags & flag));
}

static void put_uring_file(sqlite3_context *ctx, const struct model *m, const struct uring_row *r, int column)
{
	const struct ev_uring *e = &r->ev;

	if (column == SQL_URING_path)
		sql_put_text(ctx, &m->strings, r->path);
	else if (!(e->flags & URING_FILE))
		return;
	else if (column == SQL_URING_dev)
		sqlite3_result_int64(ctx, e->dev);
	else
		sql_put_u64(ctx, e->ino);
}

void sql_uring_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, sql_requests_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct uring_row *r = &m->uring.row[i];
	const struct ev_uring *e = &r->ev;

	switch (column) {
	case SQL_URING_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_URING_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_URING_ts_ns:
		sql_put_u64(ctx, e->ts_ns);
		break;
	case SQL_URING_lat_ns:
	case SQL_URING_res:
	case SQL_URING_error:
		put_result(ctx, e, column);
		break;
	case SQL_URING_op:
		sql_put_word(ctx, uring_op_name(e->opcode));
		break;
	case SQL_URING_user_data:
		sql_put_u64(ctx, e->user_data);
		break;
	case SQL_URING_pid:
		put_pid(ctx, m, r->task);
		break;
	case SQL_URING_comm:
		put_comm(ctx, m, r->task);
		break;
	case SQL_URING_tid:
		sqlite3_result_int64(ctx, e->tid);
		break;
	case SQL_URING_ring:
		sqlite3_result_int64(ctx, e->ring);
		break;
	case SQL_URING_fd:
		sqlite3_result_int(ctx, e->fd);
		break;
	case SQL_URING_offset:
		if (e->flags & URING_OFFSET)
			sql_put_u64(ctx, e->offset);
		break;
	case SQL_URING_slba:
		if (uring_is_passthrough(e->opcode))
			sql_put_u64(ctx, e->offset);
		break;
	case SQL_URING_size:
		sql_put_u64(ctx, e->size);
		break;
	case SQL_URING_sqe_flags:
		sqlite3_result_int(ctx, e->sqe_flags);
		break;
	case SQL_URING_sqpoll:
		put_flag(ctx, e, URING_SQPOLL);
		break;
	case SQL_URING_punted:
		put_flag(ctx, e, URING_PUNTED);
		break;
	case SQL_URING_unfinished:
		put_flag(ctx, e, URING_UNFINISHED);
		break;
	case SQL_URING_size_partial:
		put_flag(ctx, e, URING_PARTIAL);
		break;
	case SQL_URING_iovcnt:
		if (uring_is_vector(e->opcode) && e->sub)
			sqlite3_result_int64(ctx, e->sub);
		break;
	case SQL_URING_call_id:
		if (m->cause.enter)
			sql_put_row(s, ctx, arm, sql_calls_of, m->cause.enter[i]);
		break;
	default:
		put_uring_file(ctx, m, r, column);
	}
}
