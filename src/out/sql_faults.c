// SPDX-License-Identifier: Apache-2.0
/* The tables of page faults, of what files had in the page cache, and of block devices. */
#include <string.h>

#include "out/sql_rows.h"

u32 sql_fault_rows(struct sql *s)
{
	return sql_sum(s, sql_faults_of);
}

s64 sql_fault_key(struct sql *s, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, sql_faults_of, &i);

	if (column != SQL_FAULT_ts_ns)
		return row;
	return (s64)MIN(s->arm[arm].m->fault.row[i].ev.ts_ns, (u64)INT64_MAX);
}

static void put_flag(sqlite3_context *ctx, u32 flags, u32 flag)
{
	sqlite3_result_int(ctx, !!(flags & flag));
}

static void put_who(sqlite3_context *ctx, const struct model *m, u32 task, int column)
{
	if (task == NONE)
		return;
	if (column == SQL_FAULT_comm)
		sql_put_text(ctx, &m->strings, m->task[task].comm);
	else if (m->task[task].pid)
		sqlite3_result_int64(ctx, m->task[task].pid);
}

void sql_fault_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, sql_faults_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct fault_row *r = &m->fault.row[i];
	const struct ev_fault *e = &r->ev;

	switch (column) {
	case SQL_FAULT_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_FAULT_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_FAULT_ts_ns:
		sql_put_u64(ctx, e->ts_ns);
		break;
	case SQL_FAULT_lat_ns:
		if (!(e->flags & (FAULT_NO_TIME | FAULT_UNFINISHED)))
			sql_put_u64(ctx, e->lat_ns);
		break;
	case SQL_FAULT_major:
		put_flag(ctx, e->flags, FAULT_MAJOR);
		break;
	case SQL_FAULT_pid:
	case SQL_FAULT_comm:
		put_who(ctx, m, r->task, column);
		break;
	case SQL_FAULT_tid:
		sqlite3_result_int64(ctx, e->tid);
		break;
	case SQL_FAULT_path:
		sql_put_text(ctx, &m->strings, r->path);
		break;
	case SQL_FAULT_offset:
		sql_put_u64(ctx, e->offset);
		break;
	case SQL_FAULT_address:
		sql_put_u64(ctx, e->address);
		break;
	case SQL_FAULT_retries:
		sqlite3_result_int(ctx, e->retries);
		break;
	case SQL_FAULT_filled:
		sqlite3_result_int(ctx, e->filled);
		break;
	case SQL_FAULT_mapped:
		if (!(e->flags & (FAULT_BOUND | FAULT_WIDE)))
			sqlite3_result_int(ctx, __builtin_popcountll(e->mapped));
		break;
	case SQL_FAULT_write:
		put_flag(ctx, e->flags, FAULT_WRITE);
		break;
	case SQL_FAULT_exec:
		put_flag(ctx, e->flags, FAULT_EXEC);
		break;
	case SQL_FAULT_kernel:
		put_flag(ctx, e->flags, FAULT_KERNEL);
		break;
	case SQL_FAULT_failed:
		put_flag(ctx, e->flags, FAULT_FAILED);
		break;
	case SQL_FAULT_dev:
		sqlite3_result_int64(ctx, e->dev);
		break;
	case SQL_FAULT_ino:
		sql_put_u64(ctx, e->ino);
		break;
	default:
		sqlite3_result_int(ctx, e->flags);
	}
}

/* ---- sums ---- */

static u32 caches_of(const struct model *m)
{
	return m->cache.n;
}

u32 sql_cache_rows(struct sql *s)
{
	return sql_sum(s, caches_of);
}

static void put_known(sqlite3_context *ctx, u64 v, bool known)
{
	if (known)
		sql_put_u64(ctx, v);
}

void sql_cache_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, caches_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct ev_cache *e = &m->cache.row[i].ev;
	bool faults = !(e->flags & CACHE_NO_FAULTS), fills = !(e->flags & CACHE_NO_FILLS);
	bool written = fills && !(e->flags & CACHE_NO_WRITTEN);
	bool ra = !(e->flags & CACHE_NO_RA), direct = !(e->flags & CACHE_NO_DIRECT);
	const struct {
		int column;
		u64 v;
		bool known;
	} numbers[] = {
		{ SQL_CACHE_faults, e->faults, faults },
		{ SQL_CACHE_minor, e->minor, faults },
		{ SQL_CACHE_major, e->major, faults },
		{ SQL_CACHE_failed, e->failed, faults },
		{ SQL_CACHE_retries, e->retries, faults },
		{ SQL_CACHE_touched_pages, e->touched_pages, true },
		{ SQL_CACHE_mapped_pages, e->mapped_pages, !(e->flags & CACHE_TOUCHED_ONLY) },
		{ SQL_CACHE_fills, e->fills, fills },
		{ SQL_CACHE_fill_pages, e->fill_pages, fills },
		{ SQL_CACHE_written_fills, e->written_fills, written },
		{ SQL_CACHE_written_pages, e->written_pages, written },
		{ SQL_CACHE_ra_calls, e->ra_calls, ra },
		{ SQL_CACHE_ra_pages, e->ra_pages, ra },
		{ SQL_CACHE_direct_reads, e->direct_reads, direct },
		{ SQL_CACHE_direct_read_bytes, e->direct_read_bytes, direct },
		{ SQL_CACHE_direct_writes, e->direct_writes, direct },
		{ SQL_CACHE_direct_write_bytes, e->direct_write_bytes, direct },
		{ SQL_CACHE_lat_ns, e->lat_ns, faults },
		{ SQL_CACHE_ts_ns, e->ts_ns, true },
		{ SQL_CACHE_pid, e->pid, e->pid && !(e->flags & CACHE_MORE_PIDS) },
		{ SQL_CACHE_dev, e->dev, true },
		{ SQL_CACHE_ino, e->ino, true },
		{ SQL_CACHE_flags, e->flags, true },
		{ SQL_CACHE_id, row, true },
	};
	size_t k;

	if (column == SQL_CACHE_arm)
		sql_put_word(ctx, s->arm[arm].label);
	else if (column == SQL_CACHE_path)
		sql_put_text(ctx, &m->strings, m->cache.row[i].path);
	else if (column == SQL_CACHE_last)
		sqlite3_result_int(ctx, m->cache.row[i].last);
	for (k = 0; k < ARRAY_SIZE(numbers); k++)
		if (numbers[k].column == column)
			put_known(ctx, numbers[k].v, numbers[k].known);
}

static u32 blocks_of(const struct model *m)
{
	return m->block.n;
}

u32 sql_block_rows(struct sql *s)
{
	return sql_sum(s, blocks_of);
}

void sql_block_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, blocks_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct ev_block *e = &m->block.row[i].ev;
	const struct {
		int column;
		u64 v;
		bool known;
	} numbers[] = {
		{ SQL_BLOCK_id, row, true },
		{ SQL_BLOCK_ts_ns, e->ts_ns, true },
		{ SQL_BLOCK_write, e->write, true },
		{ SQL_BLOCK_requests, e->requests, true },
		{ SQL_BLOCK_bytes, e->bytes, true },
		{ SQL_BLOCK_min_bytes, e->min_bytes, e->requests },
		{ SQL_BLOCK_max_bytes, e->max_bytes, e->requests },
		{ SQL_BLOCK_iu, e->iu_bytes_each, e->iu_bytes_each },
		{ SQL_BLOCK_iu_bytes, e->iu_bytes, e->iu_bytes_each },
		{ SQL_BLOCK_sub_iu, e->sub_iu, e->iu_bytes_each },
		{ SQL_BLOCK_optimal_bytes, e->optimal_bytes, e->optimal_bytes },
		{ SQL_BLOCK_max_request_bytes, e->max_request_bytes, e->max_request_bytes },
		{ SQL_BLOCK_lba_bytes, e->lba_bytes, e->lba_bytes },
		{ SQL_BLOCK_dev, e->dev, true },
	};
	size_t k;

	if (column == SQL_BLOCK_arm)
		sql_put_word(ctx, s->arm[arm].label);
	else if (column == SQL_BLOCK_name)
		sqlite3_result_text(ctx, e->name, (int)strnlen(e->name, sizeof(e->name)), SQLITE_TRANSIENT);
	else if (column == SQL_BLOCK_last)
		sqlite3_result_int(ctx, m->block.row[i].last);
	for (k = 0; k < ARRAY_SIZE(numbers); k++)
		if (numbers[k].column == column)
			put_known(ctx, numbers[k].v, numbers[k].known);
}
