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

/* sql_cmd.c.  Columns without a type hold what may be text above 2^63. */
/* clang-format off */
#define SQL_CMD_COLUMNS(X) \
	X(arm, " TEXT") X(ts_ns, " INTEGER") X(lat_ns, " INTEGER") X(end_ns, " INTEGER") \
	X(op, " TEXT") X(opcode, " INTEGER") X(bytes, " INTEGER") X(slba, "") X(nlb, " INTEGER") X(device, " TEXT") \
	X(device_id, " INTEGER") X(nsid, " INTEGER") X(pid, " INTEGER") X(tid, " INTEGER") X(comm, " TEXT") \
	X(trace_id, "") X(user_data, "") X(state, " TEXT") X(status, " INTEGER") X(status_kind, " TEXT") \
	X(attempts, " INTEGER") X(wait_ns, " INTEGER") X(role, " TEXT") X(header, " INTEGER") X(split, " INTEGER") \
	X(passthrough, " INTEGER") X(multipath, " INTEGER") X(admin, " INTEGER") X(vec, " INTEGER") \
	X(hwq, " INTEGER") X(cid, " INTEGER") X(key, " TEXT") X(flags, " INTEGER") X(op_id, " INTEGER") \
	X(cause, " TEXT") X(call_id, " INTEGER") X(uring_id, " INTEGER") X(fault_id, " INTEGER") \
	X(file, " TEXT") X(file_offset, "") X(file_map, " TEXT")
#define SQL_CMD_ID(name, type)   SQL_CMD_##name,
#define SQL_CMD_DECL(name, type) ", " #name type
enum { SQL_CMD_id, SQL_CMD_COLUMNS(SQL_CMD_ID) SQL_N_CMD };
#define SQL_CMD_TEXT "id INTEGER" SQL_CMD_COLUMNS(SQL_CMD_DECL)
u32 sql_cmd_rows(struct sql *s);
s64 sql_cmd_key(struct sql *s, u32 row, int column);
void sql_cmd_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

/* sql_calls.c */
#define SQL_CALL_COLUMNS(X) \
	X(arm, " TEXT") X(ts_ns, " INTEGER") X(lat_ns, " INTEGER") X(name, " TEXT") X(pid, " INTEGER") X(tid, " INTEGER") \
	X(comm, " TEXT") X(fd, " INTEGER") X(path, " TEXT") X(offset, "") X(address, "") X(size, "") X(ret, " INTEGER") \
	X(error, " TEXT") X(arg, " INTEGER") X(fd2, " INTEGER") X(dev, " INTEGER") X(ino, "") X(flags, " INTEGER")
#define SQL_CALL_ID(name, type)   SQL_CALL_##name,
#define SQL_CALL_DECL(name, type) ", " #name type
enum { SQL_CALL_id, SQL_CALL_COLUMNS(SQL_CALL_ID) };
#define SQL_CALL_TEXT "id INTEGER" SQL_CALL_COLUMNS(SQL_CALL_DECL)
u32 sql_call_rows(struct sql *s);
s64 sql_call_key(struct sql *s, u32 row, int column);
void sql_call_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

#define SQL_URING_COLUMNS(X) \
	X(arm, " TEXT") X(ts_ns, " INTEGER") X(lat_ns, " INTEGER") X(op, " TEXT") X(user_data, "") X(pid, " INTEGER") \
	X(tid, " INTEGER") X(comm, " TEXT") X(ring, " INTEGER") X(fd, " INTEGER") X(path, " TEXT") X(offset, "") X(slba, "") \
	X(size, "") X(res, " INTEGER") X(error, " TEXT") X(sqe_flags, " INTEGER") X(sqpoll, " INTEGER") \
	X(punted, " INTEGER") X(unfinished, " INTEGER") X(size_partial, " INTEGER") X(iovcnt, " INTEGER") X(dev, " INTEGER") X(ino, "") \
	X(call_id, " INTEGER")
#define SQL_URING_ID(name, type)   SQL_URING_##name,
#define SQL_URING_DECL(name, type) ", " #name type
enum { SQL_URING_id, SQL_URING_COLUMNS(SQL_URING_ID) };
#define SQL_URING_TEXT "id INTEGER" SQL_URING_COLUMNS(SQL_URING_DECL)
u32 sql_uring_rows(struct sql *s);
s64 sql_uring_key(struct sql *s, u32 row, int column);
void sql_uring_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

/* sql_faults.c: each fault; the last sums of each file and of each block device. */
#define SQL_FAULT_COLUMNS(X) \
	X(arm, " TEXT") X(ts_ns, " INTEGER") X(lat_ns, " INTEGER") X(major, " INTEGER") X(pid, " INTEGER") X(tid, " INTEGER") \
	X(comm, " TEXT") X(path, " TEXT") X(offset, "") X(address, "") X(retries, " INTEGER") X(filled, " INTEGER") \
	X(mapped, " INTEGER") X(write, " INTEGER") X(exec, " INTEGER") X(kernel, " INTEGER") X(failed, " INTEGER") \
	X(dev, " INTEGER") X(ino, "") X(flags, " INTEGER")
#define SQL_FAULT_ID(name, type)   SQL_FAULT_##name,
#define SQL_FAULT_DECL(name, type) ", " #name type
enum { SQL_FAULT_id, SQL_FAULT_COLUMNS(SQL_FAULT_ID) };
#define SQL_FAULT_TEXT "id INTEGER" SQL_FAULT_COLUMNS(SQL_FAULT_DECL)
u32 sql_fault_rows(struct sql *s);
s64 sql_fault_key(struct sql *s, u32 row, int column);
void sql_fault_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

#define SQL_CACHE_COLUMNS(X) \
	X(arm, " TEXT") X(ts_ns, " INTEGER") X(path, " TEXT") X(pid, " INTEGER") X(faults, " INTEGER") X(minor, " INTEGER") \
	X(major, " INTEGER") X(failed, " INTEGER") X(retries, " INTEGER") X(touched_pages, " INTEGER") \
	X(mapped_pages, " INTEGER") X(fills, " INTEGER") X(fill_pages, " INTEGER") \
	X(written_fills, " INTEGER") X(written_pages, " INTEGER") X(ra_calls, " INTEGER") \
	X(ra_pages, " INTEGER") X(direct_reads, " INTEGER") X(direct_read_bytes, " INTEGER") X(direct_writes, " INTEGER") \
	X(direct_write_bytes, " INTEGER") X(lat_ns, " INTEGER") X(last, " INTEGER") X(dev, " INTEGER") X(ino, "") \
	X(flags, " INTEGER")
#define SQL_CACHE_ID(name, type)   SQL_CACHE_##name,
#define SQL_CACHE_DECL(name, type) ", " #name type
enum { SQL_CACHE_id, SQL_CACHE_COLUMNS(SQL_CACHE_ID) };
#define SQL_CACHE_TEXT "id INTEGER" SQL_CACHE_COLUMNS(SQL_CACHE_DECL)
u32 sql_cache_rows(struct sql *s);
void sql_cache_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

#define SQL_BLOCK_COLUMNS(X) \
	X(arm, " TEXT") X(ts_ns, " INTEGER") X(name, " TEXT") X(write, " INTEGER") X(requests, " INTEGER") X(bytes, " INTEGER") \
	X(min_bytes, " INTEGER") X(max_bytes, " INTEGER") X(iu, " INTEGER") X(iu_bytes, " INTEGER") X(sub_iu, " INTEGER") \
	X(optimal_bytes, " INTEGER") X(max_request_bytes, " INTEGER") X(lba_bytes, " INTEGER") X(last, " INTEGER") \
	X(dev, " INTEGER")
#define SQL_BLOCK_ID(name, type)   SQL_BLOCK_##name,
#define SQL_BLOCK_DECL(name, type) ", " #name type
enum { SQL_BLOCK_id, SQL_BLOCK_COLUMNS(SQL_BLOCK_ID) };
#define SQL_BLOCK_TEXT "id INTEGER" SQL_BLOCK_COLUMNS(SQL_BLOCK_DECL)
u32 sql_block_rows(struct sql *s);
void sql_block_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

/* sql_files.c */
#define SQL_TASK_COLUMNS(X) \
	X(arm, " TEXT") X(tid, " INTEGER") X(pid, " INTEGER") X(ns_pid, " INTEGER") X(comm, " TEXT") X(since_ns, " INTEGER") \
	X(cgroup, "") X(cgroup_path, " TEXT")
#define SQL_TASK_ID(name, type)   SQL_TASK_##name,
#define SQL_TASK_DECL(name, type) ", " #name type
enum { SQL_TASK_id, SQL_TASK_COLUMNS(SQL_TASK_ID) };
#define SQL_TASK_TEXT "id INTEGER" SQL_TASK_COLUMNS(SQL_TASK_DECL)
u32 sql_task_rows(struct sql *s);
void sql_task_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

#define SQL_EXTENT_COLUMNS(X) \
	X(arm, " TEXT") X(path, " TEXT") X(taken, " TEXT") X(file_offset, "") X(bytes, "") X(disk, " TEXT") \
	X(physical, "") X(slba, "") X(flags, " TEXT") X(moved, " INTEGER") X(ts_ns, " INTEGER") X(dev, " INTEGER") X(ino, "")
#define SQL_EXTENT_ID(name, type)   SQL_EXTENT_##name,
#define SQL_EXTENT_DECL(name, type) ", " #name type
enum { SQL_EXTENT_id, SQL_EXTENT_COLUMNS(SQL_EXTENT_ID) };
#define SQL_EXTENT_TEXT "id INTEGER" SQL_EXTENT_COLUMNS(SQL_EXTENT_DECL)
u32 sql_extent_rows(struct sql *s);
void sql_extent_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);
#define SQL_MAPPED_COLUMNS(X) \
	X(arm, " TEXT") X(path, " TEXT") X(taken, " TEXT") X(size, "") X(extents, " INTEGER") X(error, " TEXT") \
	X(moved, " INTEGER") X(ts_ns, " INTEGER") X(dev, " INTEGER") X(ino, "")
#define SQL_MAPPED_ID(name, type)   SQL_MAPPED_##name,
#define SQL_MAPPED_DECL(name, type) ", " #name type
enum { SQL_MAPPED_id, SQL_MAPPED_COLUMNS(SQL_MAPPED_ID) };
#define SQL_MAPPED_TEXT "id INTEGER" SQL_MAPPED_COLUMNS(SQL_MAPPED_DECL)
u32 sql_mapped_rows(struct sql *s);
void sql_mapped_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

#define SQL_RANGE_COLUMNS(X) \
	X(arm, " TEXT") X(cmd_id, " INTEGER") X(ts_ns, " INTEGER") X(device, " TEXT") X(ranges, " INTEGER") \
	X(number, " INTEGER") X(slba, "") X(nlb, " INTEGER") X(bytes, "") X(attributes, " INTEGER")
#define SQL_RANGE_ID(name, type)   SQL_RANGE_##name,
#define SQL_RANGE_DECL(name, type) ", " #name type
enum { SQL_RANGE_id, SQL_RANGE_COLUMNS(SQL_RANGE_ID) };
#define SQL_RANGE_TEXT "id INTEGER" SQL_RANGE_COLUMNS(SQL_RANGE_DECL)
u32 sql_range_rows(struct sql *s);
void sql_range_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

/* sql_markers.c: what the application itself says. */
#define SQL_MARKER_COLUMNS(X) \
	X(arm, " TEXT") X(ts_ns, " INTEGER") X(pid, " INTEGER") X(tid, " INTEGER") X(name, " TEXT") X(useful_bytes, "") \
	X(line, " TEXT")
#define SQL_MARKER_ID(name, type)   SQL_MARKER_##name,
#define SQL_MARKER_DECL(name, type) ", " #name type
enum { SQL_MARKER_id, SQL_MARKER_COLUMNS(SQL_MARKER_ID) };
#define SQL_MARKER_TEXT "id INTEGER" SQL_MARKER_COLUMNS(SQL_MARKER_DECL)
u32 sql_marker_rows(struct sql *s);
s64 sql_marker_key(struct sql *s, u32 row, int column);
void sql_marker_column(struct sql *s, sqlite3_context *ctx, u32 row, int column);

/* sql_about.c: one row an arm; one row a fact. */
#define SQL_LOSS_COLUMNS(X) \
	X(complete) X(has_account) X(seen) X(stored) X(ring_full) X(map_full) X(hook_missed) X(filtered) X(in_flight) \
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
