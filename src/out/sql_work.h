/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the SQL side share: the tables and their source. */
#ifndef KVIO_SQL_WORK_H
#define KVIO_SQL_WORK_H

#include <sqlite3.h>

#include "out/sql.h"

/* Which tracks a table of tracks has. */
enum sql_tracks {
	TRACKS_ALL,
	TRACKS_PROCESS,
	TRACKS_THREAD,
	TRACKS_COUNTER,
	TRACKS_PROCESS_COUNTER,
	TRACKS_THREAD_COUNTER,
	N_TRACK_TABLES
};

/* Rows of a table by one of its columns that has small numbers. */
struct sql_index {
	u32 *start, *row;
	u32 n; /* values 0..n-1 */
};

#define SQL_MAX_TABLES 40

struct sql {
	sqlite3 *db;
	u64 max_bytes;
	const volatile sig_atomic_t *stop;
	struct buf error;
	bool declaring; /* a table, which is ours */

	/* Captures.  Their rows are numbered on through all arms. */
	const struct perfetto_arm *arm;
	u32 n_arms;
	bool have_arms;
	struct perfetto_arm *own_arm; /* of a trace */
	struct pf_arm *drawn;
	u32 n_drawn;

	/* The timeline */
	const struct pftrace *t;
	struct pftrace own_trace;
	u32 *track_of[N_TRACK_TABLES]; /* track ids of each table of tracks; NULL for all */
	u32 n_track_of[N_TRACK_TABLES];

	struct sql_index index[SQL_MAX_TABLES];
};

/*
 * One table.  Column 0 is often the id, which is the row; `sorted` has a bit
 * for each column whose values do not fall from row to row.
 */
struct sql_table {
	const char *name;
	const char *columns; /* as in CREATE TABLE */
	u32 sorted;
	u32 sorted_in_arm; /* the same where there is one arm only */
	int group;	   /* column of small numbers that has an index, 0 = none */
	u32 (*n_rows)(struct sql *s);
	u32 (*n_groups)(struct sql *s);
	/* The number in a sorted column or in `group` (-1 for NULL there). */
	s64 (*key)(struct sql *s, u32 row, int column);
	void (*column)(struct sql *s, sqlite3_context *ctx, u32 row, int column);
};

extern const struct sql_table sql_timeline_tables[], sql_capture_tables[];
extern const u32 n_sql_timeline_tables, n_sql_capture_tables;
/* All of them by number, NULL behind the last. */
const struct sql_table *sql_table_at(u32 i);

/* sql_source.c: make the side when it is not there yet.  0 or -errno. */
int sql_need_timeline(struct sql *s);
int sql_need_captures(struct sql *s);
void sql_source_free(struct sql *s);

/* sql.c: from here on the data can only be read. */
void sql_protect(struct sql *s);
/* sql_table.c: registers all tables.  A SQLite code. */
int sql_register_tables(struct sql *s);
/* sql_func.c: registers the functions. */
int sql_register_functions(struct sql *s);

/* sql_format.c */
struct sql_output;
struct sql_output *sql_output_new(enum sql_format format, sql_write_fn write, void *arg);
/* Prints all rows of a statement that stands on its first (`code` is what its step gave).  The last code of its steps. */
int sql_output_rows(struct sql_output *o, sqlite3_stmt *stmt, int code);
/* Writes what is left.  The first error of the output. */
int sql_output_end(struct sql_output *o);

/* Results of columns. */
static inline void sql_put_text(sqlite3_context *ctx, const struct strpool *s, u32 id)
{
	if (id)
		sqlite3_result_text(ctx, strpool_get(s, id), (int)strpool_len(s, id), SQLITE_STATIC);
}
void sql_put_u64(sqlite3_context *ctx, u64 v);
static inline void sql_put_id(sqlite3_context *ctx, u32 id)
{
	if (id != NONE)
		sqlite3_result_int64(ctx, id);
}

#endif
