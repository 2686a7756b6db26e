/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL over captures and Perfetto traces: SQLite in memory, whose tables are
 * views of our columns (virtual tables), so nothing is copied and nothing can
 * be changed.
 *
 * The tables of the timeline have the names, columns, row numbers and answers
 * of Perfetto's trace_processor: slice, track, process_track, thread_track,
 * counter, counter_track, process_counter_track, thread_counter_track,
 * process, thread, flow, args, stats, trace_bounds, and the function
 * extract_arg(arg_set_id, key).  Differences: see docs/sql-cookbook.md.
 *
 * The tables of the capture are ours: cmd, op, span, device, loss, meta,
 * overflow, cmd_part.  Whole numbers above 2^63 - 1, which SQLite cannot hold,
 * are decimal text in them.
 *
 * Either side is made from the other when a query first asks for it: the
 * timeline by drawing it (out/perfetto.h), the captures of a trace by
 * pftrace_to_model().
 */
#ifndef KVIO_SQL_H
#define KVIO_SQL_H

#include <signal.h>

#include "lib/buf.h"
#include "model/pftrace.h"
#include "out/perfetto.h"

struct sql;

/*
 * Opens captures, or when `trace` is not NULL a trace; all of it is used until
 * sql_close().  max_bytes is a limit for SQLite and for a timeline that is
 * read back, 0 = none.  0 or -ENOMEM.
 */
int sql_open(struct sql **out, const struct perfetto_arm *arms, u32 n, const struct pftrace *trace, u64 max_bytes);
void sql_close(struct sql *s);

/* A running query ends with -EINTR soon after *stop is no longer zero. */
void sql_set_stop(struct sql *s, const volatile sig_atomic_t *stop);

enum sql_format {
	SQL_TABLE, /* aligned; text without control characters */
	SQL_CSV,   /* RFC 4180 with a head; NULL is nothing, empty text is "" */
	SQL_JSON,  /* {"schema_version":1,"columns":[...],"rows":[[...],...]} a statement */
};

/* Takes the n bytes of a result; 0 or -errno, which ends the query. */
typedef int (*sql_write_fn)(void *arg, const char *p, size_t n);

/*
 * Runs all statements of the text, reading only: what would change, attach or
 * load anything is refused.  0; -EINVAL with sql_error(); -EINTR; -ENOMEM; or
 * the error of `write`.
 */
int sql_run(struct sql *s, const char *text, enum sql_format format, sql_write_fn write, void *arg);
/* SQLite's message and where in the text it points; until the next call. */
const char *sql_error(const struct sql *s);
/* True when the text ends in a whole statement. */
bool sql_complete(const char *text);

/* The names of the tables, a line each; the declaration of one, or of all when name is NULL.  -ENOENT. */
void sql_tables(struct buf *out);
int sql_schema(struct buf *out, const char *name);

/*
 * Copies all tables into a new SQLite file of that name (mode 0600; written
 * beside it first, so a failure leaves what was there).  0, -errno, or -EINVAL
 * with sql_error().
 */
int sql_export(struct sql *s, const char *path);

#endif
