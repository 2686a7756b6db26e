// SPDX-License-Identifier: Apache-2.0
/* The tables of threads, of where files are, and of the files that were mapped. */
#include <linux/fiemap.h>
#include <stdio.h>
#include <string.h>

#include "out/sql_rows.h"

static u32 tasks_of(const struct model *m)
{
	return m->n_tasks;
}

u32 sql_task_rows(struct sql *s)
{
	return sql_sum(s, tasks_of);
}

static void put_number(sqlite3_context *ctx, u32 n)
{
	if (n)
		sqlite3_result_int64(ctx, n);
}

void sql_task_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, tasks_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct task *t = &m->task[i];

	switch (column) {
	case SQL_TASK_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_TASK_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_TASK_tid:
		sqlite3_result_int64(ctx, t->tid);
		break;
	case SQL_TASK_pid:
		put_number(ctx, t->pid);
		break;
	case SQL_TASK_ns_pid:
		put_number(ctx, t->ns_pid);
		break;
	case SQL_TASK_comm:
		sql_put_text(ctx, &m->strings, t->comm);
		break;
	case SQL_TASK_since_ns:
		sql_put_u64(ctx, t->since_ns);
		break;
	case SQL_TASK_cgroup:
		if (t->cgroup)
			sql_put_u64(ctx, t->cgroup);
		break;
	default:
		sql_put_text(ctx, &m->strings, t->cgroup_path);
	}
}

/* ---- where files are ---- */

static u32 extents_of(const struct model *m)
{
	return m->extent.n;
}

static u32 mapped_of(const struct model *m)
{
	return m->mapped.n;
}

u32 sql_extent_rows(struct sql *s)
{
	return sql_sum(s, extents_of);
}

u32 sql_mapped_rows(struct sql *s)
{
	return sql_sum(s, mapped_of);
}

static const struct device *disk_of(const struct model *m, u32 disk)
{
	u32 i;

	for (i = 0; i < m->n_devices; i++)
		if (m->device[i].dev == disk)
			return &m->device[i];
	return NULL;
}

static void put_disk(sqlite3_context *ctx, const struct model *m, u32 disk)
{
	const struct device *d = disk_of(m, disk);
	char number[32];

	if (d && d->name) {
		sql_put_text(ctx, &m->strings, d->name);
		return;
	}
	snprintf(number, sizeof(number), "%u:%u", disk >> 20, disk & 0xfffff);
	sqlite3_result_text(ctx, number, -1, SQLITE_TRANSIENT);
}

#define NO_PLACE (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL)

static void put_place(sqlite3_context *ctx, const struct model *m, const struct ev_extent *e, int column)
{
	const struct device *d = disk_of(m, e->disk);

	if (e->map_flags & NO_PLACE)
		return;
	if (column == SQL_EXTENT_physical)
		sql_put_u64(ctx, e->physical);
	else if (d && d->lba_bytes)
		sql_put_u64(ctx, e->physical / d->lba_bytes);
}

static void put_flags(sqlite3_context *ctx, u32 flags)
{
	static const struct {
		u32 bit;
		const char *name;
	} known[] = {
		{ FIEMAP_EXTENT_UNKNOWN, "unknown" },	      { FIEMAP_EXTENT_DELALLOC, "delalloc" },
		{ FIEMAP_EXTENT_ENCODED, "encoded" },	      { FIEMAP_EXTENT_DATA_ENCRYPTED, "encrypted" },
		{ FIEMAP_EXTENT_NOT_ALIGNED, "not_aligned" }, { FIEMAP_EXTENT_DATA_INLINE, "inline" },
		{ FIEMAP_EXTENT_DATA_TAIL, "tail" },	      { FIEMAP_EXTENT_UNWRITTEN, "unwritten" },
		{ FIEMAP_EXTENT_MERGED, "merged" },	      { FIEMAP_EXTENT_SHARED, "shared" },
	};
	struct buf b = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (flags & known[i].bit)
			buf_printf(&b, "%s%s", b.n ? "," : "", known[i].name);
	sqlite3_result_text(ctx, b.n ? b.p : "", (int)b.n, SQLITE_TRANSIENT);
	buf_free(&b);
}

void sql_extent_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, extents_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct extent_row *r = &m->extent.row[i];
	const struct ev_extent *e = &r->ev;

	switch (column) {
	case SQL_EXTENT_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_EXTENT_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_EXTENT_path:
		sql_put_text(ctx, &m->strings, r->path);
		break;
	case SQL_EXTENT_taken:
		sql_put_word(ctx, e->flags & EXTENT_AT_END ? "end" : "begin");
		break;
	case SQL_EXTENT_file_offset:
		sql_put_u64(ctx, e->offset);
		break;
	case SQL_EXTENT_bytes:
		sql_put_u64(ctx, e->bytes);
		break;
	case SQL_EXTENT_disk:
		put_disk(ctx, m, e->disk);
		break;
	case SQL_EXTENT_physical:
	case SQL_EXTENT_slba:
		put_place(ctx, m, e, column);
		break;
	case SQL_EXTENT_flags:
		put_flags(ctx, e->map_flags);
		break;
	case SQL_EXTENT_moved:
		sqlite3_result_int(ctx, !!(e->flags & EXTENT_MOVED));
		break;
	case SQL_EXTENT_ts_ns:
		sql_put_u64(ctx, e->ts_ns);
		break;
	case SQL_EXTENT_dev:
		sqlite3_result_int64(ctx, e->dev);
		break;
	default:
		sql_put_u64(ctx, e->ino);
	}
}

void sql_mapped_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, mapped_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct extent_row *r = &m->mapped.row[i];
	const struct ev_extent *e = &r->ev;

	switch (column) {
	case SQL_MAPPED_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_MAPPED_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_MAPPED_path:
		sql_put_text(ctx, &m->strings, r->path);
		break;
	case SQL_MAPPED_taken:
		sql_put_word(ctx, e->flags & EXTENT_AT_END ? "end" : "begin");
		break;
	case SQL_MAPPED_size:
		sql_put_u64(ctx, e->offset);
		break;
	case SQL_MAPPED_extents:
		sql_put_u64(ctx, e->physical);
		break;
	case SQL_MAPPED_error:
		if (e->error)
			sql_put_word(ctx, strerrorname_np(e->error) ?: "unknown");
		break;
	case SQL_MAPPED_moved:
		sqlite3_result_int(ctx, !!(e->flags & EXTENT_MOVED));
		break;
	case SQL_MAPPED_ts_ns:
		sql_put_u64(ctx, e->ts_ns);
		break;
	case SQL_MAPPED_dev:
		sqlite3_result_int64(ctx, e->dev);
		break;
	default:
		sql_put_u64(ctx, e->ino);
	}
}

/* ---- ranges of DSM commands ---- */

static u32 ranges_of(const struct model *m)
{
	return m->range.n;
}

u32 sql_range_rows(struct sql *s)
{
	return sql_sum(s, ranges_of);
}

/* The command of a range, NONE when it is not in the capture. */
static u32 cmd_of(const struct model *m, const struct ev_range *e)
{
	u32 lo = 0, hi = m->cmd.n;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (m->cmd.ts_ns[mid] < e->ts_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < m->cmd.n && m->cmd.ts_ns[lo] == e->ts_ns; lo++)
		if (m->cmd.cid[lo] == e->cid && m->device[cmd_dev(m, lo)].dev == e->dev)
			return lo;
	return NONE;
}

void sql_range_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, ranges_of, &i), cmd;
	const struct model *m = s->arm[arm].m;
	const struct ev_range *e = &m->range.row[i];
	const struct device *d;

	switch (column) {
	case SQL_RANGE_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_RANGE_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_RANGE_cmd_id:
		cmd = cmd_of(m, e);
		if (cmd != NONE)
			sqlite3_result_int64(ctx, (s64)sql_base(s, arm, sql_cmds_of) + cmd);
		break;
	case SQL_RANGE_ts_ns:
		sql_put_u64(ctx, e->ts_ns);
		break;
	case SQL_RANGE_device:
		put_disk(ctx, m, e->dev);
		break;
	case SQL_RANGE_ranges:
		sqlite3_result_int(ctx, e->n + 1);
		break;
	case SQL_RANGE_number:
		sqlite3_result_int(ctx, e->index);
		break;
	case SQL_RANGE_slba:
		sql_put_u64(ctx, e->slba);
		break;
	case SQL_RANGE_nlb:
		sqlite3_result_int64(ctx, e->nlb);
		break;
	case SQL_RANGE_bytes:
		d = disk_of(m, e->dev);
		if (d && d->lba_bytes)
			sql_put_u64(ctx, (u64)e->nlb * d->lba_bytes);
		break;
	default:
		sqlite3_result_int64(ctx, e->attributes);
	}
}
