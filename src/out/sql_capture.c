// SPDX-License-Identifier: Apache-2.0
/* Tables of operations, spans, devices and accounts; the commands are in sql_cmd.c. */
#include "capture/nvme_names.h"
#include "model/measure.h"
#include "out/sql_rows.h"

u32 sql_find_arm(const struct sql *s, u32 (*rows)(const struct model *), u32 *row)
{
	u32 i = 0, n;

	while (i + 1 < s->n_arms && *row >= (n = rows(s->arm[i].m))) {
		*row -= n;
		i++;
	}
	return i;
}

u32 sql_base(const struct sql *s, u32 arm, u32 (*rows)(const struct model *))
{
	u32 n = 0, i;

	for (i = 0; i < arm; i++)
		n += rows(s->arm[i].m);
	return n;
}

u32 sql_sum(const struct sql *s, u32 (*rows)(const struct model *))
{
	return sql_base(s, s->n_arms, rows);
}

void sql_put_row(const struct sql *s, sqlite3_context *ctx, u32 arm, u32 (*rows)(const struct model *), u32 row)
{
	if (row != NONE)
		sqlite3_result_int64(ctx, (s64)sql_base(s, arm, rows) + row);
}

void sql_put_word(sqlite3_context *ctx, const char *word)
{
	sqlite3_result_text(ctx, word, -1, SQLITE_STATIC);
}

static s64 row_key(struct sql *s, u32 row, int column)
{
	(void)s;
	(void)column;
	return row;
}

/* Zero is "not known". */
static void put_known(sqlite3_context *ctx, u64 v)
{
	if (v)
		sql_put_u64(ctx, v);
}

static void put_slice(sqlite3_context *ctx, const char *p, size_t n)
{
	if (p)
		sqlite3_result_text(ctx, p, (int)n, SQLITE_TRANSIENT);
}

/* ---- op ---- */

/* clang-format off */
#define OP_TABLE_COLUMNS(X) \
	X(arm, " TEXT") X(trace_id, "") X(op, " TEXT") X(part, " TEXT") X(key, " TEXT") X(key_hex, " TEXT") X(bytes, "") \
	X(start_ns, " INTEGER") X(end_ns, " INTEGER") X(begin_ns, " INTEGER") X(dur_ns, " INTEGER") X(n_cmds, " INTEGER") \
	X(first_cmd, " INTEGER") X(last_cmd, " INTEGER") X(slot_offset, "") X(error, " TEXT") X(instance, " TEXT") \
	X(pid, " INTEGER") X(occurrence, " INTEGER") X(n_occurrences, " INTEGER") X(fmt, " TEXT") X(rank, " TEXT") \
	X(chunk, " TEXT")
#define OP_ID(name, type)   OP_##name,
#define OP_DECL(name, type) ", " #name type
enum { OP_id, OP_TABLE_COLUMNS(OP_ID) };
/* clang-format on */

static u32 ops_of(const struct model *m)
{
	return m->op.n;
}

static u32 op_rows(struct sql *s)
{
	return sql_sum(s, ops_of);
}

static void put_span(struct sql *s, sqlite3_context *ctx, u32 arm, u32 i, int column)
{
	const struct model *m = s->arm[arm].m;
	struct op_span span;
	u32 cmds = sql_base(s, arm, sql_cmds_of);

	op_span(m, i, &span);
	switch (column) {
	case OP_begin_ns:
		sql_put_u64(ctx, span.instant ? span.end_ns : span.begin_ns);
		break;
	case OP_dur_ns:
		sql_put_u64(ctx, span.instant ? 0 : span.end_ns - span.begin_ns);
		break;
	case OP_n_cmds:
		sqlite3_result_int64(ctx, span.n_cmds);
		break;
	case OP_first_cmd:
		if (span.first_cmd != NONE)
			sqlite3_result_int64(ctx, (s64)cmds + span.first_cmd);
		break;
	case OP_last_cmd:
		if (span.last_cmd != NONE)
			sqlite3_result_int64(ctx, (s64)cmds + span.last_cmd);
		break;
	}
}

static void put_key_part(const struct model *m, sqlite3_context *ctx, u32 i, int column)
{
	u32 id = m->op.key[i];
	struct key_parts k;

	key_parse(&k, strpool_get(&m->strings, id), strpool_len(&m->strings, id));
	if (column == OP_fmt)
		put_slice(ctx, k.fmt, k.fmt_len);
	else if (column == OP_rank)
		put_slice(ctx, k.rank, k.rank_len);
	else
		put_slice(ctx, k.hash, k.hash_len);
}

static void op_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, ops_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct op_table *t = &m->op;

	switch (column) {
	case OP_id:
		sqlite3_result_int64(ctx, row);
		break;
	case OP_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case OP_trace_id:
		sql_put_u64(ctx, t->join_id[i]);
		break;
	case OP_op:
		sql_put_text(ctx, &m->strings, t->name[i]);
		break;
	case OP_part:
		sql_put_text(ctx, &m->strings, t->part[i]);
		break;
	case OP_key:
		sql_put_text(ctx, &m->strings, t->key[i]);
		break;
	case OP_key_hex:
		sql_put_text(ctx, &m->strings, t->key_hex[i]);
		break;
	case OP_bytes:
		sql_put_u64(ctx, t->bytes[i]);
		break;
	case OP_start_ns:
		if (t->flags[i] & OP_HAS_START)
			sql_put_u64(ctx, t->start_ns[i]);
		break;
	case OP_end_ns:
		sql_put_u64(ctx, t->end_ns[i]);
		break;
	case OP_slot_offset:
		if (t->flags[i] & OP_HAS_SLOT)
			sql_put_u64(ctx, t->slot_offset[i]);
		break;
	case OP_error:
		sql_put_text(ctx, &m->strings, t->error[i]);
		break;
	case OP_instance:
		sql_put_text(ctx, &m->strings, t->instance[i]);
		break;
	case OP_pid:
		if (t->flags[i] & OP_HAS_PID)
			sqlite3_result_int64(ctx, t->pid[i]);
		break;
	case OP_occurrence:
		sqlite3_result_int64(ctx, t->occurrence[i]);
		break;
	case OP_n_occurrences:
		sqlite3_result_int64(ctx, t->n_occurrences[i]);
		break;
	case OP_fmt:
	case OP_rank:
	case OP_chunk:
		put_key_part(m, ctx, i, column);
		break;
	default:
		put_span(s, ctx, arm, i, column);
		break;
	}
}

/* ---- span ---- */

enum { SPAN_ID, SPAN_ARM, SPAN_START, SPAN_END, SPAN_DUR, SPAN_NAME, SPAN_TOKENS, SPAN_REQUEST };

static u32 spans_of(const struct model *m)
{
	return m->serving.n;
}

static u32 span_rows(struct sql *s)
{
	return sql_sum(s, spans_of);
}

static void span_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, spans_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct span_table *t = &m->serving;

	switch (column) {
	case SPAN_ID:
		sqlite3_result_int64(ctx, row);
		break;
	case SPAN_ARM:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SPAN_START:
		sql_put_u64(ctx, t->start_ns[i]);
		break;
	case SPAN_END:
		sql_put_u64(ctx, t->end_ns[i]);
		break;
	case SPAN_DUR:
		sql_put_u64(ctx, t->end_ns[i] > t->start_ns[i] ? t->end_ns[i] - t->start_ns[i] : 0);
		break;
	case SPAN_NAME:
		sql_put_text(ctx, &m->strings, t->name[i]);
		break;
	case SPAN_TOKENS:
		if (t->tokens[i] != NO_NUMBER)
			sql_put_u64(ctx, t->tokens[i]);
		break;
	case SPAN_REQUEST:
		sql_put_text(ctx, &m->strings, t->request_id[i]);
		break;
	}
}

/* ---- device ---- */

static void device_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, sql_devices_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct device *d = &m->device[i];

	switch (column) {
	case 0:
		sqlite3_result_int64(ctx, row);
		break;
	case 1:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case 2:
		sql_put_text(ctx, &m->strings, d->name);
		break;
	case 3: /* the kernel's own encoding of a device number */
		if (d->dev)
			sqlite3_result_int64(ctx, d->dev >> 20);
		break;
	case 4:
		if (d->dev)
			sqlite3_result_int64(ctx, d->dev & 0xfffff);
		break;
	case 5:
		put_known(ctx, d->nsid);
		break;
	case 6:
		put_known(ctx, d->lba_bytes);
		break;
	case 7:
		sqlite3_result_int(ctx, d->lba_assumed);
		break;
	case 8:
		sqlite3_result_int64(ctx, d->ms);
		break;
	case 9:
		put_known(ctx, d->max_transfer_bytes);
		break;
	case 10:
		if (d->csi != 0xff)
			sqlite3_result_int(ctx, d->csi);
		break;
	}
}

static u32 device_rows(struct sql *s)
{
	return sql_sum(s, sql_devices_of);
}

/* ---- overflow, cmd_part ---- */

static u32 overflows_of(const struct model *m)
{
	return m->n_overflows;
}

static u32 overflow_rows(struct sql *s)
{
	return sql_sum(s, overflows_of);
}

static void overflow_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, overflows_of, &i);
	const struct overflow *o = &s->arm[arm].m->overflow[i];

	switch (column) {
	case 0:
		sqlite3_result_int64(ctx, row);
		break;
	case 1:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case 2:
		sql_put_u64(ctx, o->ts_ns);
		break;
	case 3:
		sql_put_u64(ctx, o->user_data);
		break;
	case 4:
		sqlite3_result_int(ctx, o->res);
		break;
	}
}

static u32 parts_of(const struct model *m)
{
	return m->part.n;
}

static u32 part_rows(struct sql *s)
{
	return sql_sum(s, parts_of);
}

static s64 part_key(struct sql *s, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, parts_of, &i);

	(void)column;
	return (s64)sql_base(s, arm, sql_cmds_of) + s->arm[arm].m->part.cmd[i];
}

static void part_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, parts_of, &i);
	const struct part_table *t = &s->arm[arm].m->part;

	if (column == 0)
		sqlite3_result_int64(ctx, part_key(s, row, 0));
	else if (column == 1)
		sqlite3_result_int64(ctx, (s64)sql_base(s, arm, ops_of) + t->op[i]);
	else
		sqlite3_result_int64(ctx, t->bytes[i]);
}

/* ---- for sql_cmd.c ---- */

s64 sql_op_id(const struct sql *s, u32 arm, u32 op)
{
	return op == NONE ? -1 : (s64)sql_base(s, arm, ops_of) + op;
}

/* A table of sql_rows.h; whose rows are in the order of their ids; of each arm in that of time, too. */
#define TABLE(T, t)   .columns = SQL_TABLE_TEXT(T), .n_rows = sql_##t##_rows, .column = sql_##t##_column
#define BY_ROW(T)     .sorted = 1u << SQL_##T##_id, .key = row_key
#define BY_TIME(T, t) .sorted = 1u << SQL_##T##_id, .sorted_in_arm = 1u << SQL_##T##_ts_ns, .key = sql_##t##_key

const struct sql_table sql_capture_tables[] = {
	{ .name = "cmd", TABLE(CMD, cmd), BY_TIME(CMD, cmd), .group = SQL_CMD_op_id, .n_groups = op_rows },
	{ .name = "cmd_part",
	  .columns = "cmd_id INTEGER, op_id INTEGER, bytes INTEGER",
	  .sorted = 1,
	  .n_rows = part_rows,
	  .key = part_key,
	  .column = part_column },
	{ .name = "device",
	  .columns = "id INTEGER, arm TEXT, name TEXT, major INTEGER, minor INTEGER, nsid INTEGER, lba_bytes INTEGER, "
		     "lba_assumed INTEGER, metadata_bytes INTEGER, max_transfer_bytes INTEGER, csi INTEGER",
	  .sorted = 1,
	  .n_rows = device_rows,
	  .key = row_key,
	  .column = device_column },
	{ .name = "extent", TABLE(EXTENT, extent), BY_ROW(EXTENT) },
	{ .name = "loss", .columns = SQL_LOSS_TEXT, .n_rows = sql_loss_rows, .column = sql_loss_column },
	{ .name = "mapped_file", TABLE(MAPPED, mapped), BY_ROW(MAPPED) },
	{ .name = "marker", TABLE(MARKER, marker), BY_TIME(MARKER, marker) },
	{ .name = "meta", .columns = "arm TEXT, key TEXT, value", .n_rows = sql_meta_rows, .column = sql_meta_column },
	{ .name = "op",
	  .columns = "id INTEGER" OP_TABLE_COLUMNS(OP_DECL),
	  .sorted = 1u << OP_id,
	  .n_rows = op_rows,
	  .key = row_key,
	  .column = op_column },
	{ .name = "overflow",
	  .columns = "id INTEGER, arm TEXT, ts_ns INTEGER, user_data, res INTEGER",
	  .sorted = 1,
	  .n_rows = overflow_rows,
	  .key = row_key,
	  .column = overflow_column },
	{ .name = "dsm_range", TABLE(RANGE, range), BY_ROW(RANGE) },
	{ .name = "span",
	  .columns = "id INTEGER, arm TEXT, start_ns INTEGER, end_ns INTEGER, dur_ns INTEGER, name TEXT, tokens, "
		     "request_id TEXT",
	  .sorted = 1,
	  .n_rows = span_rows,
	  .key = row_key,
	  .column = span_column },
	{ .name = "syscall", TABLE(CALL, call), BY_TIME(CALL, call) },
	{ .name = "task", TABLE(TASK, task), BY_ROW(TASK) },
	{ .name = "uring", TABLE(URING, uring), BY_TIME(URING, uring) },
	{ .name = "fault", TABLE(FAULT, fault), BY_TIME(FAULT, fault) },
	{ .name = "cache", TABLE(CACHE, cache) },
	{ .name = "block", TABLE(BLOCK, block) },
};
const u32 n_sql_capture_tables = ARRAY_SIZE(sql_capture_tables);
