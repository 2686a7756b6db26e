/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the tables of captures: numbered on through all arms. */
#ifndef KVIO_SQL_ROWS_H
#define KVIO_SQL_ROWS_H

#include "out/sql_work.h"

/* The arm that has the row; *row becomes its row there. */
u32 sql_find_arm(const struct sql *s, u32 (*rows)(const struct model *), u32 *row);
/* The number of an arm's first row. */
u32 sql_base(const struct sql *s, u32 arm, u32 (*rows)(const struct model *));
u32 sql_sum(const struct sql *s, u32 (*rows)(const struct model *));
void sql_put_word(sqlite3_context *ctx, const char *word);
/* The id of an arm's operation, -1 for NONE. */
s64 sql_op_id(const struct sql *s, u32 arm, u32 op);

static inline u32 sql_cmds_of(const struct model *m)
{
	return m->cmd.n;
}
static inline u32 sql_devices_of(const struct model *m)
{
	return m->n_devices;
}

static inline u32 sql_calls_of(const struct model *m)
{
	return m->call.n;
}
static inline u32 sql_requests_of(const struct model *m)
{
	return m->uring.n;
}
static inline u32 sql_faults_of(const struct model *m)
{
	return m->fault.n;
}
/* The id of a row of that table, or nothing for NONE. */
void sql_put_row(const struct sql *s, sqlite3_context *ctx, u32 arm, u32 (*rows)(const struct model *), u32 row);

/*
 * A table whose columns SQL_T_COLUMNS lists, behind the id: their numbers (SQL_T_id, ...), how many rows there are,
 * and what stands in one.  SQL_TABLE_TEXT: the columns as SQL.  Those without a type hold what may be text above 2^63.
 */
/* clang-format off */
#define SQL_COLUMN_ID(T, name, type)   SQL_##T##_##name,
#define SQL_COLUMN_DECL(T, name, type) ", " #name type
#define SQL_TABLE(T, t) \
	enum { SQL_##T##_id, SQL_##T##_COLUMNS(SQL_COLUMN_ID, T) }; \
	u32 sql_##t##_rows(struct sql *s); \
	void sql_##t##_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);
#define SQL_TABLE_TEXT(T) "id INTEGER" SQL_##T##_COLUMNS(SQL_COLUMN_DECL, T)

/* sql_cmd.c */
#define SQL_CMD_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, ts_ns, " INTEGER") X(T, lat_ns, " INTEGER") X(T, end_ns, " INTEGER") \
	X(T, op, " TEXT") X(T, opcode, " INTEGER") X(T, bytes, " INTEGER") X(T, slba, "") X(T, nlb, " INTEGER") X(T, device, " TEXT") \
	X(T, device_id, " INTEGER") X(T, nsid, " INTEGER") X(T, pid, " INTEGER") X(T, tid, " INTEGER") X(T, comm, " TEXT") \
	X(T, trace_id, "") X(T, user_data, "") X(T, state, " TEXT") X(T, status, " INTEGER") X(T, status_kind, " TEXT") \
	X(T, attempts, " INTEGER") X(T, wait_ns, " INTEGER") X(T, role, " TEXT") X(T, header, " INTEGER") X(T, split, " INTEGER") \
	X(T, passthrough, " INTEGER") X(T, multipath, " INTEGER") X(T, admin, " INTEGER") X(T, vec, " INTEGER") \
	X(T, hwq, " INTEGER") X(T, cid, " INTEGER") X(T, key, " TEXT") X(T, flags, " INTEGER") X(T, op_id, " INTEGER") \
	X(T, cause, " TEXT") X(T, call_id, " INTEGER") X(T, uring_id, " INTEGER") X(T, fault_id, " INTEGER") \
	X(T, file, " TEXT") X(T, file_offset, "") X(T, file_map, " TEXT")
SQL_TABLE(CMD, cmd)
s64 sql_cmd_key(struct sql *s, u32 row, int column);

/* sql_calls.c */
#define SQL_CALL_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, ts_ns, " INTEGER") X(T, lat_ns, " INTEGER") X(T, name, " TEXT") X(T, pid, " INTEGER") X(T, tid, " INTEGER") \
	X(T, comm, " TEXT") X(T, fd, " INTEGER") X(T, path, " TEXT") X(T, offset, "") X(T, address, "") X(T, size, "") X(T, ret, " INTEGER") \
	X(T, error, " TEXT") X(T, arg, " INTEGER") X(T, fd2, " INTEGER") X(T, dev, " INTEGER") X(T, ino, "") X(T, flags, " INTEGER")
SQL_TABLE(CALL, call)
s64 sql_call_key(struct sql *s, u32 row, int column);

#define SQL_URING_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, ts_ns, " INTEGER") X(T, lat_ns, " INTEGER") X(T, op, " TEXT") X(T, user_data, "") X(T, pid, " INTEGER") \
	X(T, tid, " INTEGER") X(T, comm, " TEXT") X(T, ring, " INTEGER") X(T, fd, " INTEGER") X(T, path, " TEXT") X(T, offset, "") X(T, slba, "") \
	X(T, size, "") X(T, res, " INTEGER") X(T, error, " TEXT") X(T, sqe_flags, " INTEGER") X(T, sqpoll, " INTEGER") \
	X(T, punted, " INTEGER") X(T, unfinished, " INTEGER") X(T, size_partial, " INTEGER") X(T, iovcnt, " INTEGER") X(T, dev, " INTEGER") X(T, ino, "") \
	X(T, call_id, " INTEGER")
SQL_TABLE(URING, uring)
s64 sql_uring_key(struct sql *s, u32 row, int column);

/* sql_faults.c: each fault; the last sums of each file and of each block device. */
#define SQL_FAULT_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, ts_ns, " INTEGER") X(T, lat_ns, " INTEGER") X(T, major, " INTEGER") X(T, pid, " INTEGER") X(T, tid, " INTEGER") \
	X(T, comm, " TEXT") X(T, path, " TEXT") X(T, offset, "") X(T, address, "") X(T, retries, " INTEGER") X(T, filled, " INTEGER") \
	X(T, mapped, " INTEGER") X(T, write, " INTEGER") X(T, exec, " INTEGER") X(T, kernel, " INTEGER") X(T, failed, " INTEGER") \
	X(T, dev, " INTEGER") X(T, ino, "") X(T, flags, " INTEGER")
SQL_TABLE(FAULT, fault)
s64 sql_fault_key(struct sql *s, u32 row, int column);

#define SQL_CACHE_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, ts_ns, " INTEGER") X(T, path, " TEXT") X(T, pid, " INTEGER") X(T, faults, " INTEGER") X(T, minor, " INTEGER") \
	X(T, major, " INTEGER") X(T, failed, " INTEGER") X(T, retries, " INTEGER") X(T, touched_pages, " INTEGER") \
	X(T, mapped_pages, " INTEGER") X(T, fills, " INTEGER") X(T, fill_pages, " INTEGER") \
	X(T, written_fills, " INTEGER") X(T, written_pages, " INTEGER") X(T, ra_calls, " INTEGER") \
	X(T, ra_pages, " INTEGER") X(T, direct_reads, " INTEGER") X(T, direct_read_bytes, " INTEGER") X(T, direct_writes, " INTEGER") \
	X(T, direct_write_bytes, " INTEGER") X(T, lat_ns, " INTEGER") X(T, last, " INTEGER") X(T, dev, " INTEGER") X(T, ino, "") \
	X(T, flags, " INTEGER")
SQL_TABLE(CACHE, cache)

#define SQL_BLOCK_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, ts_ns, " INTEGER") X(T, name, " TEXT") X(T, write, " INTEGER") X(T, requests, " INTEGER") X(T, bytes, " INTEGER") \
	X(T, min_bytes, " INTEGER") X(T, max_bytes, " INTEGER") X(T, iu, " INTEGER") X(T, iu_bytes, " INTEGER") X(T, sub_iu, " INTEGER") \
	X(T, optimal_bytes, " INTEGER") X(T, max_request_bytes, " INTEGER") X(T, lba_bytes, " INTEGER") X(T, last, " INTEGER") \
	X(T, dev, " INTEGER")
SQL_TABLE(BLOCK, block)

/* sql_files.c */
#define SQL_TASK_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, tid, " INTEGER") X(T, pid, " INTEGER") X(T, ns_pid, " INTEGER") X(T, comm, " TEXT") X(T, since_ns, " INTEGER") \
	X(T, cgroup, "") X(T, cgroup_path, " TEXT")
SQL_TABLE(TASK, task)

#define SQL_EXTENT_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, path, " TEXT") X(T, taken, " TEXT") X(T, file_offset, "") X(T, bytes, "") X(T, disk, " TEXT") \
	X(T, physical, "") X(T, slba, "") X(T, flags, " TEXT") X(T, moved, " INTEGER") X(T, ts_ns, " INTEGER") X(T, dev, " INTEGER") X(T, ino, "")
SQL_TABLE(EXTENT, extent)
#define SQL_MAPPED_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, path, " TEXT") X(T, taken, " TEXT") X(T, size, "") X(T, extents, " INTEGER") X(T, error, " TEXT") \
	X(T, moved, " INTEGER") X(T, ts_ns, " INTEGER") X(T, dev, " INTEGER") X(T, ino, "")
SQL_TABLE(MAPPED, mapped)

#define SQL_RANGE_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, cmd_id, " INTEGER") X(T, ts_ns, " INTEGER") X(T, device, " TEXT") X(T, ranges, " INTEGER") \
	X(T, number, " INTEGER") X(T, slba, "") X(T, nlb, " INTEGER") X(T, bytes, "") X(T, attributes, " INTEGER")
SQL_TABLE(RANGE, range)

/* sql_markers.c: what the application itself says. */
#define SQL_MARKER_COLUMNS(X, T) \
	X(T, arm, " TEXT") X(T, ts_ns, " INTEGER") X(T, pid, " INTEGER") X(T, tid, " INTEGER") X(T, name, " TEXT") X(T, useful_bytes, "") \
	X(T, line, " TEXT")
SQL_TABLE(MARKER, marker)
s64 sql_marker_key(struct sql *s, u32 row, int column);

/* sql_about.c: one row an arm; one row a fact. */
#define SQL_LOSS_COLUMNS(X) \
	X(complete) X(has_account) X(seen) X(stored) X(ring_full) X(map_full) X(hook_missed) X(unread) X(filtered) X(in_flight) \
	X(commands) X(completions) X(unpaired) X(orphans) X(negative_latency) X(cq_overflows) X(semantic) X(serving) \
	X(malformed) X(first_bad_line) X(tail_cut) X(unknown) X(cut_commands) X(cut_operations) X(grouped) X(lossy) X(incomplete) \
	X(defect)
#define SQL_LOSS_ID(name)   LOSS_##name,
#define SQL_LOSS_DECL(name) ", " #name
enum { LOSS_arm, SQL_LOSS_COLUMNS(SQL_LOSS_ID) SQL_N_LOSS };
#define SQL_LOSS_TEXT "arm TEXT" SQL_LOSS_COLUMNS(SQL_LOSS_DECL)
/* clang-format on */
u32 sql_loss_rows(struct sql *s);
void sql_loss_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);
u32 sql_meta_rows(struct sql *s);
void sql_meta_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

#endif
