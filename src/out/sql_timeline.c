// SPDX-License-Identifier: Apache-2.0
/* The tables of Perfetto's trace_processor over a trace in columns. */
#include <stdio.h>
#include <string.h>

#include "out/sql_work.h"

/* Sets of args count from 1 there: 0 is none. */
static void put_set(sqlite3_context *ctx, u32 set)
{
	if (set != NONE)
		sqlite3_result_int64(ctx, set + 1ll);
}

static void put_word(sqlite3_context *ctx, const char *word)
{
	sqlite3_result_text(ctx, word, -1, SQLITE_STATIC);
}

static void put_name(struct sql *s, sqlite3_context *ctx, u32 id)
{
	sql_put_text(ctx, &s->t->strings, id);
}

/* ---- slice ---- */

enum {
	SLICE_ID,
	SLICE_TYPE,
	SLICE_TS,
	SLICE_DUR,
	SLICE_TRACK,
	SLICE_CATEGORY,
	SLICE_NAME,
	SLICE_DEPTH,
	SLICE_PARENT,
	SLICE_ARGS,
	SLICE_CAT = SLICE_ARGS + 5,
	SLICE_SLICE_ID,
};

static u32 slice_rows(struct sql *s)
{
	return s->t->slice.n;
}

static s64 slice_key(struct sql *s, u32 row, int column)
{
	return column == SLICE_TS ? s->t->slice.ts[row] : column == SLICE_TRACK ? s->t->slice.track[row] : row;
}

static u32 track_groups(struct sql *s)
{
	return s->t->n_tracks;
}

static void slice_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	const struct pf_slices *t = &s->t->slice;

	switch (column) {
	case SLICE_ID:
	case SLICE_SLICE_ID:
		sqlite3_result_int64(ctx, row);
		break;
	case SLICE_TYPE:
		put_word(ctx, "internal_slice");
		break;
	case SLICE_TS:
		sqlite3_result_int64(ctx, t->ts[row]);
		break;
	case SLICE_DUR:
		sqlite3_result_int64(ctx, t->dur[row]);
		break;
	case SLICE_TRACK:
		sqlite3_result_int64(ctx, t->track[row]);
		break;
	case SLICE_CATEGORY:
	case SLICE_CAT:
		put_name(s, ctx, t->category[row]);
		break;
	case SLICE_NAME:
		put_name(s, ctx, t->name[row]);
		break;
	case SLICE_DEPTH:
		sqlite3_result_int64(ctx, t->depth[row]);
		break;
	case SLICE_PARENT:
		sql_put_id(ctx, t->parent[row]);
		break;
	case SLICE_ARGS:
		put_set(ctx, t->args[row]);
		break;
	}
}

/* ---- tracks ---- */

enum { TRACK_ID, TRACK_NAME, TRACK_TYPE, TRACK_PARENT, TRACK_ARGS, TRACK_MORE, TRACK_DESCRIPTION, TRACK_OWNER };

static const char *track_type(const struct pf_track *t)
{
	bool thread = t->utid != NONE, process = t->upid != NONE;

	if (t->counter)
		return thread ? "thread_counter_track" : process ? "process_counter_track" : "counter_track";
	return thread ? "thread_track" : process ? "process_track" : "track";
}

static s64 tracks_key(struct sql *s, enum sql_tracks kind, u32 row)
{
	return s->track_of[kind][row];
}

static void tracks_column(struct sql *s, sqlite3_context *ctx, enum sql_tracks kind, u32 row, int column)
{
	u32 id = s->track_of[kind][row];
	const struct pf_track *t = &s->t->track[id];
	bool counter = kind >= TRACKS_COUNTER;

	switch (column) {
	case TRACK_ID:
		sqlite3_result_int64(ctx, id);
		return;
	case TRACK_NAME:
		put_name(s, ctx, t->name);
		return;
	case TRACK_TYPE:
		put_word(ctx, track_type(t));
		return;
	case TRACK_PARENT:
		sql_put_id(ctx, t->parent);
		return;
	case TRACK_ARGS:
		put_set(ctx, t->args);
		return;
	case TRACK_DESCRIPTION:
		return;
	}
	if (column == TRACK_MORE && counter)
		put_name(s, ctx, t->unit);
	else
		sql_put_id(ctx, kind == TRACKS_THREAD || kind == TRACKS_THREAD_COUNTER ? t->utid : t->upid);
}

#define TRACK_TABLE(name, kind)                                                             \
	static u32 name##_rows(struct sql *s)                                               \
	{                                                                                   \
		return s->n_track_of[kind];                                                 \
	}                                                                                   \
	static s64 name##_key(struct sql *s, u32 row, int column)                           \
	{                                                                                   \
		(void)column;                                                               \
		return tracks_key(s, kind, row);                                            \
	}                                                                                   \
	static void name##_column(struct sql *s, sqlite3_context *ctx, u32 row, int column) \
	{                                                                                   \
		tracks_column(s, ctx, kind, row, column);                                   \
	}
TRACK_TABLE(track, TRACKS_ALL)
TRACK_TABLE(process_track, TRACKS_PROCESS)
TRACK_TABLE(thread_track, TRACKS_THREAD)
TRACK_TABLE(counter_track, TRACKS_COUNTER)
TRACK_TABLE(process_counter_track, TRACKS_PROCESS_COUNTER)
TRACK_TABLE(thread_counter_track, TRACKS_THREAD_COUNTER)

#define TRACK_COLUMNS	"id INTEGER, name TEXT, type TEXT, parent_id INTEGER, source_arg_set_id INTEGER"
#define COUNTER_COLUMNS TRACK_COLUMNS ", unit TEXT, description TEXT"

/* ---- counter ---- */

enum { COUNTER_ID, COUNTER_TYPE, COUNTER_TS, COUNTER_TRACK, COUNTER_VALUE };

static u32 counter_rows(struct sql *s)
{
	return s->t->counter.n;
}

static s64 counter_key(struct sql *s, u32 row, int column)
{
	return column == COUNTER_TS ? s->t->counter.ts[row] : column == COUNTER_TRACK ? s->t->counter.track[row] : row;
}

static void counter_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	const struct pf_counters *c = &s->t->counter;

	switch (column) {
	case COUNTER_ID:
		sqlite3_result_int64(ctx, row);
		break;
	case COUNTER_TYPE:
		put_word(ctx, "counter");
		break;
	case COUNTER_TS:
		sqlite3_result_int64(ctx, c->ts[row]);
		break;
	case COUNTER_TRACK:
		sqlite3_result_int64(ctx, c->track[row]);
		break;
	case COUNTER_VALUE:
		sqlite3_result_double(ctx, c->value[row]);
		break;
	}
}

/* ---- process, thread ---- */

static u32 process_rows(struct sql *s)
{
	return s->t->n_processes;
}

static s64 row_key(struct sql *s, u32 row, int column)
{
	(void)s;
	(void)column;
	return row;
}

static void process_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	switch (column) {
	case 0: /* id, upid */
	case 2:
		sqlite3_result_int64(ctx, row);
		break;
	case 1:
		put_word(ctx, "process");
		break;
	case 3:
		sqlite3_result_int64(ctx, s->t->process[row].pid);
		break;
	case 4:
		put_name(s, ctx, s->t->process[row].name);
		break;
	}
}

static u32 thread_rows(struct sql *s)
{
	return s->t->n_threads;
}

static void thread_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	const struct pf_thread *t = &s->t->thread[row];

	switch (column) {
	case 0: /* id, utid */
	case 2:
		sqlite3_result_int64(ctx, row);
		break;
	case 1:
		put_word(ctx, "thread");
		break;
	case 3:
		sqlite3_result_int64(ctx, t->tid);
		break;
	case 4:
		put_name(s, ctx, t->name);
		break;
	case 5:
		sql_put_id(ctx, t->upid);
		break;
	case 6:
		if (t->upid != NONE)
			sqlite3_result_int(ctx, s->t->process[t->upid].main == row);
		break;
	}
}

/* ---- flow ---- */

static u32 flow_rows(struct sql *s)
{
	return s->t->flow.n;
}

static void flow_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	const struct pf_flows *f = &s->t->flow;

	switch (column) {
	case 0:
		sqlite3_result_int64(ctx, row);
		break;
	case 1:
		put_word(ctx, "flow");
		break;
	case 2:
		sqlite3_result_int64(ctx, f->out[row]);
		break;
	case 3:
		sqlite3_result_int64(ctx, f->in[row]);
		break;
	case 4:
		sqlite3_result_int64(ctx, (s64)f->id[row]);
		break;
	}
}

/* ---- args ---- */

enum { ARG_ID, ARG_TYPE, ARG_SET, ARG_FLAT_KEY, ARG_KEY, ARG_INT, ARG_STRING, ARG_REAL, ARG_VALUE_TYPE, ARG_DISPLAY };

static u32 arg_rows(struct sql *s)
{
	return s->t->arg.n;
}

/* The set that the row is in. */
static u32 set_of(const struct pf_args *a, u32 row)
{
	u32 lo = 0, hi = a->n_sets;

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (a->start[mid] <= row)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static s64 arg_key(struct sql *s, u32 row, int column)
{
	return column == ARG_SET ? set_of(&s->t->arg, row) + 1ll : row;
}

static double as_real(u64 bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void put_display(struct sql *s, sqlite3_context *ctx, enum pf_arg_type type, u64 v)
{
	char text[40];

	switch (type) {
	case PF_INT:
	case PF_UINT:
		snprintf(text, sizeof(text), "%lld", (long long)v);
		break;
	case PF_BOOL:
		put_word(ctx, v ? "true" : "false");
		return;
	case PF_REAL:
		sqlite3_snprintf(sizeof(text), text, "%!.15g", as_real(v));
		break;
	case PF_POINTER:
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)v);
		break;
	default:
		put_name(s, ctx, (u32)v);
		return;
	}
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static void arg_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	static const char *const types[] = { "int", "uint", "bool", "real", "string", "pointer", "json" };
	const struct pf_args *a = &s->t->arg;
	enum pf_arg_type type = PF_TYPE(a->key[row]);
	bool text = type == PF_STRING || type == PF_JSON;

	switch (column) {
	case ARG_ID:
		sqlite3_result_int64(ctx, row);
		break;
	case ARG_TYPE:
		put_word(ctx, "args");
		break;
	case ARG_SET:
		sqlite3_result_int64(ctx, set_of(a, row) + 1ll);
		break;
	case ARG_FLAT_KEY:
		put_name(s, ctx, s->t->key[PF_KEY(a->key[row])].flat);
		break;
	case ARG_KEY:
		put_name(s, ctx, s->t->key[PF_KEY(a->key[row])].key);
		break;
	case ARG_INT:
		if (!text && type != PF_REAL)
			sqlite3_result_int64(ctx, (s64)a->value[row]);
		break;
	case ARG_STRING:
		if (text)
			put_name(s, ctx, (u32)a->value[row]);
		break;
	case ARG_REAL:
		if (type == PF_REAL)
			sqlite3_result_double(ctx, as_real(a->value[row]));
		break;
	case ARG_VALUE_TYPE:
		put_word(ctx, types[type]);
		break;
	case ARG_DISPLAY:
		put_display(s, ctx, type, a->value[row]);
		break;
	}
}

/* ---- stats, trace_bounds ---- */

static const struct {
	const char *name;
	size_t at;
} stats[] = {
	{ "packets", offsetof(struct pf_counts, packets) },
	{ "events", offsetof(struct pf_counts, events) },
	{ "malformed", offsetof(struct pf_counts, malformed) },
	{ "foreign_events", offsetof(struct pf_counts, foreign) },
	{ "packets_without_state", offsetof(struct pf_counts, no_state) },
	{ "unknown_interned_ids", offsetof(struct pf_counts, no_name) },
	{ "times_of_unknown_clocks", offsetof(struct pf_counts, no_clock) },
	{ "events_before_zero", offsetof(struct pf_counts, before_zero) },
	{ "events_without_track", offsetof(struct pf_counts, no_track) },
	{ "events_on_wrong_track", offsetof(struct pf_counts, wrong_track) },
	{ "ends_without_begin", offsetof(struct pf_counts, stray_ends) },
	{ "slices_too_deep", offsetof(struct pf_counts, too_deep) },
};

static u32 stats_rows(struct sql *s)
{
	(void)s;
	return ARRAY_SIZE(stats) + 1;
}

static void stats_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u64 v;

	if (row == ARRAY_SIZE(stats)) {
		if (column == 0)
			put_word(ctx, "cut");
		else
			sqlite3_result_int(ctx, s->t->count.cut);
		return;
	}
	if (column == 0) {
		put_word(ctx, stats[row].name);
		return;
	}
	memcpy(&v, (const char *)&s->t->count + stats[row].at, sizeof(v));
	sql_put_u64(ctx, v);
}

static u32 bounds_rows(struct sql *s)
{
	(void)s;
	return 1;
}

static void bounds_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	const struct pf_slices *t = &s->t->slice;
	const struct pf_counters *c = &s->t->counter;
	s64 first = INT64_MAX, last = 0;
	u32 i;

	(void)row;
	if (t->n)
		first = t->ts[0];
	if (c->n) {
		first = MIN(first, c->ts[0]);
		last = c->ts[c->n - 1];
	}
	for (i = 0; column && i < t->n; i++)
		last = MAX(last, t->ts[i] + MAX(t->dur[i], (s64)0));
	sqlite3_result_int64(ctx, column ? last : first == INT64_MAX ? 0 : first);
}

#define BIT(n) (1u << (n))

const struct sql_table sql_timeline_tables[] = {
	{ .name = "args",
	  .columns = "id INTEGER, type TEXT, arg_set_id INTEGER, flat_key TEXT, key TEXT, int_value INTEGER, "
		     "string_value TEXT, real_value REAL, value_type TEXT, display_value TEXT",
	  .sorted = BIT(ARG_ID) | BIT(ARG_SET),
	  .n_rows = arg_rows,
	  .key = arg_key,
	  .column = arg_column },
	{ .name = "counter",
	  .columns = "id INTEGER, type TEXT, ts INTEGER, track_id INTEGER, value REAL, arg_set_id INTEGER",
	  .sorted = BIT(COUNTER_ID) | BIT(COUNTER_TS),
	  .group = COUNTER_TRACK,
	  .n_rows = counter_rows,
	  .n_groups = track_groups,
	  .key = counter_key,
	  .column = counter_column },
	{ .name = "counter_track",
	  .columns = COUNTER_COLUMNS,
	  .sorted = BIT(TRACK_ID),
	  .n_rows = counter_track_rows,
	  .key = counter_track_key,
	  .column = counter_track_column },
	{ .name = "flow",
	  .columns = "id INTEGER, type TEXT, slice_out INTEGER, slice_in INTEGER, trace_id INTEGER, arg_set_id INTEGER",
	  .sorted = BIT(0),
	  .n_rows = flow_rows,
	  .key = row_key,
	  .column = flow_column },
	{ .name = "process",
	  .columns = "id INTEGER, type TEXT, upid INTEGER, pid INTEGER, name TEXT, start_ts INTEGER, end_ts INTEGER, "
		     "parent_upid INTEGER, uid INTEGER, cmdline TEXT, arg_set_id INTEGER",
	  .sorted = BIT(0) | BIT(2),
	  .n_rows = process_rows,
	  .key = row_key,
	  .column = process_column },
	{ .name = "process_counter_track",
	  .columns = COUNTER_COLUMNS ", upid INTEGER",
	  .sorted = BIT(TRACK_ID),
	  .n_rows = process_counter_track_rows,
	  .key = process_counter_track_key,
	  .column = process_counter_track_column },
	{ .name = "process_track",
	  .columns = TRACK_COLUMNS ", upid INTEGER",
	  .sorted = BIT(TRACK_ID),
	  .n_rows = process_track_rows,
	  .key = process_track_key,
	  .column = process_track_column },
	{ .name = "slice",
	  .columns = "id INTEGER, type TEXT, ts INTEGER, dur INTEGER, track_id INTEGER, category TEXT, name TEXT, "
		     "depth INTEGER, parent_id INTEGER, arg_set_id INTEGER, thread_ts INTEGER, thread_dur INTEGER, "
		     "thread_instruction_count INTEGER, thread_instruction_delta INTEGER, cat TEXT, slice_id INTEGER",
	  .sorted = BIT(SLICE_ID) | BIT(SLICE_TS) | BIT(SLICE_SLICE_ID),
	  .group = SLICE_TRACK,
	  .n_rows = slice_rows,
	  .n_groups = track_groups,
	  .key = slice_key,
	  .column = slice_column },
	{ .name = "stats", .columns = "name TEXT, value INTEGER", .n_rows = stats_rows, .column = stats_column },
	{ .name = "thread",
	  .columns = "id INTEGER, type TEXT, utid INTEGER, tid INTEGER, name TEXT, upid INTEGER, "
		     "is_main_thread INTEGER",
	  .sorted = BIT(0) | BIT(2),
	  .n_rows = thread_rows,
	  .key = row_key,
	  .column = thread_column },
	{ .name = "thread_counter_track",
	  .columns = COUNTER_COLUMNS ", utid INTEGER",
	  .sorted = BIT(TRACK_ID),
	  .n_rows = thread_counter_track_rows,
	  .key = thread_counter_track_key,
	  .column = thread_counter_track_column },
	{ .name = "thread_track",
	  .columns = TRACK_COLUMNS ", utid INTEGER",
	  .sorted = BIT(TRACK_ID),
	  .n_rows = thread_track_rows,
	  .key = thread_track_key,
	  .column = thread_track_column },
	{ .name = "trace_bounds",
	  .columns = "start_ts INTEGER, end_ts INTEGER",
	  .n_rows = bounds_rows,
	  .column = bounds_column },
	{ .name = "track",
	  .columns = TRACK_COLUMNS,
	  .sorted = BIT(TRACK_ID),
	  .n_rows = track_rows,
	  .key = track_key,
	  .column = track_column },
};
const u32 n_sql_timeline_tables = ARRAY_SIZE(sql_timeline_tables);
