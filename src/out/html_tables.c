// SPDX-License-Identifier: Apache-2.0
/* The tables of the page: behind pictures, of two captures, and of what was recorded. */
#include <string.h>

#include "out/html_work.h"

static const struct html_col dist_cols[] = { { "n", "n" },    { "min", "ns" }, { "p50", "ns" },
					     { "p95", "ns" }, { "p99", "ns" }, { "max", "ns" } };

static void dist_items(struct json *j, const struct dist *d)
{
	item_u64(j, d->n);
	item_of(j, d->min, d->n);
	item_of(j, d->p50, d->n);
	item_of(j, d->p95, d->n);
	item_of(j, d->p99, d->n);
	item_of(j, d->max, d->n);
}

static void latency_table(struct json *j, const struct report_arm *a)
{
	static const struct html_col cols[] = { { "", "text" },
						{ "n", "n" },
						{ "min", "ns" },
						{ "p50", "ns" },
						{ "p95", "ns" },
						{ "p99", "ns" },
						{ "max", "ns" },
						{ "failed", "lost" },
						{ "in flight at the end", "lost" },
						{ "no completion", "lost" } };
	u32 i;

	jw_key(j, "latency");
	table_begin(j, "Device latency of commands that completed without an error", cols, ARRAY_SIZE(cols));
	for (i = 0; i < MIN(a->x->n_lat, (u32)HTML_MAX_NAMES); i++) {
		const struct measure_lat *l = &a->x->lat[i];

		row_begin(j);
		item_pooled(j, &a->m->strings, l->name);
		dist_items(j, &l->lat);
		item_u64(j, l->failed);
		item_u64(j, l->in_flight);
		item_u64(j, l->unpaired);
		row_end(j);
	}
	table_end(j);
}

static void object_table(struct json *j, const struct report_arm *a)
{
	static const struct html_col cols[] = {
		{ "", "text" },		{ "n", "n" },
		{ "failed", "lost" },	{ "size p50", "bytes" },
		{ "commands", "n" },	{ "took p50", "ns" },
		{ "took p99", "ns" },	{ "before first command p50", "ns" },
		{ "device p50", "ns" }, { "host p50", "ns" },
		{ "rate p50", "rate" },
	};
	u32 i;

	jw_key(j, "objects");
	table_begin(j, "Operations without an error, by kind", cols, ARRAY_SIZE(cols));
	for (i = 0; i < MIN(a->x->n_obj, (u32)HTML_MAX_NAMES); i++) {
		const struct measure_objects *o = &a->x->obj[i];

		row_begin(j);
		item_pooled(j, &a->m->strings, o->name);
		item_u64(j, o->n + o->instants);
		item_u64(j, o->failed);
		item_of(j, o->size.p50, o->size.n);
		item_u64(j, o->commands);
		item_of(j, o->span.p50, o->span.n);
		item_of(j, o->span.p99, o->span.n);
		item_of(j, o->presubmit.p50, o->presubmit.n);
		item_of(j, o->device.p50, o->device.n);
		item_of(j, o->host.p50, o->host.n);
		if (o->eff_n)
			item_real(j, o->eff_mbs_p50 * 1e6);
		else
			item_null(j);
		row_end(j);
	}
	table_end(j);
}

static void depth_table(struct json *j, const struct report_arm *a)
{
	static const struct html_col cols[] = { { "", "text" }, { "", "text" } };
	static const struct {
		const char *title, *kind;
	} rows[] = { { "average", "x" },
		     { "average while busy", "x" },
		     { "at most", "n" },
		     { "busy: at least one in flight", "share" },
		     { "at most one in flight", "share" },
		     { "commands", "n" } };
	const struct measure_depth *d = &a->x->depth;
	const double v[] = { d->mean,	     d->busy_mean,
			     (double)d->max, d->span_ns ? (double)d->busy_ns / (double)d->span_ns : 0,
			     d->le1_share,   (double)d->n };
	size_t i;

	jw_key(j, "depth");
	table_begin(j, "Commands in flight", cols, ARRAY_SIZE(cols));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		row_begin(j);
		item_str(j, rows[i].title);
		item_real(j, v[i]);
		item_str(j, rows[i].kind);
		row_end(j);
	}
	table_end(j);
}

static void gap_table(struct json *j, const struct report_arm *a)
{
	static const char *const words[N_DIRS] = { "loads", "stores" };
	struct html_col cols[ARRAY_SIZE(dist_cols) + 1] = { { "", "text" } };
	int d;

	memcpy(cols + 1, dist_cols, sizeof(dist_cols));
	jw_key(j, "gaps");
	table_begin(j, "Between submissions of one object, and what a command needs", cols, ARRAY_SIZE(cols));
	for (d = 0; d < N_DIRS; d++) {
		const struct measure_qd1 *q = &a->x->qd1[d];
		struct buf t = {};

		if (!q->gap.n)
			continue;
		buf_printf(&t, "%s: gap", words[d]);
		row_begin(j);
		item_text(j, t.p, t.n, HTML_MAX_TEXT);
		dist_items(j, &q->gap);
		row_end(j);
		buf_reset(&t);
		buf_printf(&t, "%s: latency", words[d]);
		row_begin(j);
		item_text(j, t.p, t.n, HTML_MAX_TEXT);
		dist_items(j, &q->service);
		row_end(j);
		buf_free(&t);
	}
	table_end(j);
}

static void failure_table(struct json *j, const struct report_arm *a)
{
	static const struct html_col cols[] = { { "status", "text" }, { "code", "text" }, { "commands", "lost" } };
	char code[32];
	u32 i;

	jw_key(j, "failures");
	table_begin(j, "Failed commands, by status", cols, ARRAY_SIZE(cols));
	for (i = 0; i < MIN(a->x->n_failures, (u32)HTML_MAX_NAMES); i++) {
		const struct measure_status *s = &a->x->failure[i];

		report_status_code(code, sizeof(code), s);
		row_begin(j);
		item_str(j, report_status_name(s));
		item_str(j, code);
		item_u64(j, s->n);
		row_end(j);
	}
	table_end(j);
}

void html_arm_tables(struct json *j, const struct report_arm *a)
{
	u32 i;

	jw_object(j, "tables");
	if (a->x->n_lat)
		latency_table(j, a);
	if (a->x->n_obj)
		object_table(j, a);
	if (a->x->n_failures)
		failure_table(j, a);
	if (a->x->depth.n)
		depth_table(j, a);
	if (a->x->qd1[DIR_READ].gap.n || a->x->qd1[DIR_WRITE].gap.n)
		gap_table(j, a);
	jw_close(j, '}');
	jw_array(j, "errors");
	for (i = 0; i < MIN(a->x->n_errors, (u32)HTML_MAX_NAMES); i++)
		item_text(j, strpool_get(&a->m->strings, a->x->error[i]), strpool_len(&a->m->strings, a->x->error[i]),
			  HTML_MAX_TEXT);
	jw_close(j, ']');
	jw_number(j, "errors_left", a->x->n_errors - MIN(a->x->n_errors, (u32)HTML_MAX_NAMES));
}

/* ---- what was recorded, and what was lost ---- */

struct line {
	const char *title, *kind;
	bool known;
	u64 v;
};

#define MAX_LINES 40

static u32 account_lines(struct line *l, const struct report_arm *a)
{
	const struct account *c = &a->m->account;
	const struct health *h = &a->x->health;
	const struct input_counts *s = &a->m->sem_in, *d = &a->m->dev_in;
	const struct measure_cmds *m = &a->x->cmd;
	u32 n = 0;

#define LINE(title, kind, known, v) l[n++] = (struct line){ title, kind, known, v }
	LINE("events that the tracer saw", "n", c->present, c->seen);
	LINE("stored", "n", c->present, c->stored);
	LINE("still in flight when the recording ended", "n", c->present, c->in_flight);
	LINE("filtered out, as asked for", "n", c->present, c->filtered);
	LINE("dropped: ring full", "lost", c->present, c->ring_full);
	LINE("dropped: map full", "lost", c->present, c->map_full);
	LINE("left unread in the kernel", "lost", c->present, c->unread);
	LINE("runs of the tracer that the kernel skipped", "lost", c->present, c->hook_missed);
	LINE("commands without a completion", "lost", true, h->unpaired);
	LINE("completions without a command", "lost", true, h->orphans);
	LINE("completions earlier than their command", "lost", true, h->negative);
	LINE("lines or records that could not be read", "lost", true, h->malformed);
	LINE("inputs cut at their end", "lost", true, h->tail_cut);
	LINE("completions that did not fit the ring (CQ overflow)", "lost", true, h->overflows);
	LINE("commands that reached the device", "n", true, m->n);
	LINE("of these completed", "n", true, m->state[STATE_OK]);
	LINE("of these failed", "lost", true, m->state[STATE_FAILED]);
	LINE("of these in flight at the end", "n", true, m->state[STATE_IN_FLIGHT]);
	LINE("of these with a trace id", "n", true, m->tagged);
	LINE("refused before the device", "lost", true, m->state[STATE_REFUSED]);
	LINE("first attempts that were issued again", "n", true, m->state[STATE_REISSUED]);
	LINE("operations of the application", "n", true, a->m->op.n);
	LINE("requests of the serving engine", "n", true, a->m->serving.n);
	LINE("records of a kind that is not read here", "n", true, s->unknown + d->unknown);
#undef LINE
	return n;
}

static void account_numbers(struct json *j, const struct report_arm *arms, u32 n)
{
	struct line l[HTML_MAX_ARMS][MAX_LINES];
	u32 i, k, lines = 0;

	for (i = 0; i < n; i++)
		lines = account_lines(l[i], &arms[i]);
	jw_array(j, "numbers");
	for (k = 0; k < lines; k++) {
		jw_item(j);
		jw_open(j, '{');
		jw_string(j, "title", l[0][k].title);
		jw_string(j, "kind", l[0][k].kind);
		jw_array(j, "values");
		for (i = 0; i < n; i++)
			item_of(j, l[i][k].v, l[i][k].known);
		jw_close(j, ']');
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void word_row(struct json *j, const char *title, const struct report_arm *arms, u32 n,
		     void (*text)(struct buf *out, const struct report_arm *a))
{
	u32 i;

	row_begin(j);
	item_str(j, title);
	for (i = 0; i < n; i++) {
		struct buf t = {};

		text(&t, &arms[i]);
		if (t.n)
			item_text(j, t.p, t.n, HTML_MAX_TEXT);
		else
			item_null(j);
		j->b->failed |= t.failed;
		buf_free(&t);
	}
	row_end(j);
}

static void pooled(struct buf *out, const struct model *m, u32 id)
{
	report_safe(out, strpool_get(&m->strings, id), MIN(strpool_len(&m->strings, id), (size_t)HTML_MAX_TEXT));
}

static void host(struct buf *out, const struct report_arm *a)
{
	pooled(out, a->m, a->m->sem_meta.hostname);
}

static void device(struct buf *out, const struct report_arm *a)
{
	u32 i;

	for (i = 0; i < a->m->n_devices && out->n < HTML_MAX_TEXT; i++) {
		const struct device *d = &a->m->device[i];

		if (!strpool_len(&a->m->strings, d->name))
			continue;
		buf_str(out, out->n ? ", " : "");
		pooled(out, a->m, d->name);
		if (d->lba_bytes)
			buf_printf(out, " (LBA of %u B%s)", d->lba_bytes, d->lba_assumed ? ", inferred" : "");
	}
	if (!out->n)
		pooled(out, a->m, a->m->sem_meta.device_path);
}

static void engine(struct buf *out, const struct report_arm *a)
{
	pooled(out, a->m, a->m->sem_meta.io_engine);
}

static void joined(struct buf *out, const struct report_arm *a)
{
	if (!a->m->op.n) {
		buf_lit(out, "no semantic trace");
		return;
	}
	buf_str(out, a->m->join == JOIN_NONE ? "not joined" : report_join_name(a->m));
	if (a->m->join_why)
		buf_printf(out, ": %s", a->m->join_why);
}

static void pool(struct buf *out, const struct report_arm *a)
{
	if (a->x->pool_n)
		buf_printf(out, "%llu %s commands", ULL(a->x->pool_n), a->x->pool_tagged ? "tagged" : "");
}

static void whole(struct buf *out, const struct report_arm *a)
{
	const struct account *c = &a->m->account;

	if (!c->present)
		buf_lit(out, "the capture has no account of its events");
	else if (c->seen == c->stored + c->in_flight + c->ring_full + c->map_full + c->unread + c->filtered)
		buf_lit(out, "yes: seen = stored + in flight + dropped + unread + filtered");
	else
		buf_lit(out, "no: seen is not stored + in flight + dropped + unread + filtered");
}

void html_account(struct json *j, const struct report_arm *arms, u32 n)
{
	jw_object(j, "account");
	jw_array(j, "words");
	word_row(j, "host", arms, n, host);
	word_row(j, "devices", arms, n, device);
	word_row(j, "IO engine", arms, n, engine);
	word_row(j, "commands joined to operations by", arms, n, joined);
	word_row(j, "figures are of", arms, n, pool);
	word_row(j, "does the account add up", arms, n, whole);
	jw_close(j, ']');
	account_numbers(j, arms, n);
	jw_close(j, '}');
}
