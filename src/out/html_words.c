// SPDX-License-Identifier: Apache-2.0
/* The page's verdict in plain words: what is wrong, what it costs, what would help. */
#include <string.h>

#include "out/html_work.h"

/* What a direction does, to be read behind "Loads" or "Loads and stores". */
static const char *const does[N_QD_CLASSES] = {
	[QD_WITHIN] = "send one command at a time",
	[QD_ACROSS] = "move one object at a time",
	[QD_DRAINS] = "let the queue run empty between batches",
	[QD_TURNS] = "take turns: several threads, one command at a time",
	[QD_DEVICE] = "are limited by the drive",
	[QD_PIPELINED] = "keep the queue filled",
};

static const char *const helps[N_QD_CLASSES] = {
	[QD_WITHIN] = "Submitting the next commands of an object before the last one is back would win this time.",
	[QD_ACROSS] = "Beginning the next object before the last one is complete would win this time.",
	[QD_DRAINS] = "Submitting the next batch before the last one has come back would win this time.",
	[QD_TURNS] = "The threads wait for one another, as at a lock; letting them submit at once would win this time.",
	[QD_DEVICE] = "A deeper queue would not help: the drive already takes longer the more it is given.",
};

static const char *noun(const struct model *m, int dir)
{
	static const char *const words[2][N_DIRS] = { { "Reads", "Writes" }, { "Loads", "Stores" } };

	return words[m->op.n > 0][dir];
}

/* A sentence: the first letter is large, a full stop ends it. */
static void sentence(struct buf *out, const struct buf *text)
{
	size_t at = out->n;

	buf_add(out, text->p, text->n);
	if (!out->failed && out->n > at && out->p[at] >= 'a' && out->p[at] <= 'z')
		out->p[at] = (char)(out->p[at] - 'a' + 'A');
	buf_byte(out, '.');
	out->failed |= text->failed;
}

static void headline(struct buf *out, const struct report_arm *a)
{
	enum qd_class c[N_DIRS] = { a->x->qd1[DIR_READ].class, a->x->qd1[DIR_WRITE].class };
	struct buf t = {};
	int d, shown = 0;

	if (c[DIR_READ] == c[DIR_WRITE] && does[c[DIR_READ]]) {
		buf_printf(out, "%s and %s %s", noun(a->m, DIR_READ), a->m->op.n ? "stores" : "writes",
			   does[c[DIR_READ]]);
		return;
	}
	for (d = 0; d < N_DIRS; d++)
		if (does[c[d]])
			buf_printf(out, "%s%s %s", shown++ ? ". " : "", noun(a->m, d), does[c[d]]);
	if (shown)
		return;
	report_verdict(&t, a->m, a->x);
	sentence(out, &t);
	buf_free(&t);
}

static void why(struct json *j, const struct report_arm *a, int dir)
{
	const struct measure_qd1 *q = &a->x->qd1[dir];
	struct buf evidence = {}, cost = {}, t = {};

	if (q->class == QD_UNKNOWN)
		return;
	buf_printf(&t, "%s: ", noun(a->m, dir));
	if (q->verdict != QD1_UNKNOWN && q->class != QD_PIPELINED)
		buf_printf(&t, "%s, ", report_qd1_word(q->verdict));
	buf_printf(&t, "%s. ", report_class_word(q->class));
	report_class_why(&evidence, q);
	sentence(&t, &evidence);
	jw_item(j);
	jw_open(j, '{');
	member_buf(j, "text", &t);
	if (report_cost(&cost, q)) {
		sentence(&t, &cost);
		member_buf(j, "cost", &t);
	}
	if (helps[q->class])
		jw_string(j, "help", helps[q->class]);
	jw_close(j, '}');
	buf_free(&evidence);
	buf_free(&cost);
}

/* A bar of the time with work: what the device works, and what nothing does. */
static void time_bar(struct json *j, const struct report_arm *a, int dir)
{
	const struct measure_qd1 *q = &a->x->qd1[dir];
	const struct measure_flow *f = &q->flow;
	bool gaps = q->class == QD_WITHIN || q->class == QD_TURNS;
	u64 idle = gaps ? q->waited_ns : f->pause_within_ns + f->pause_between_ns;
	/* Of the gaps the rest of the time of the objects, so that the share is that of the sentence. */
	u64 busy = gaps ? q->span_ns - MIN(q->waited_ns, q->span_ns) : f->busy_ns;

	if (q->class == QD_UNKNOWN || !busy)
		return;
	jw_item(j);
	jw_open(j, '{');
	jw_string(j, "name", noun(a->m, dir));
	jw_number(j, "dir", (u64)dir);
	jw_number(j, "busy", busy);
	jw_number(j, "idle", idle);
	jw_close(j, '}');
}

static const char *level(const struct measure *x)
{
	const char *l = "unsure";
	int d;

	for (d = 0; d < N_DIRS; d++) {
		enum qd_class c = x->qd1[d].class;

		if (c != QD_UNKNOWN && c != QD_DEVICE && c != QD_PIPELINED)
			return "bad";
		if (x->qd1[d].class != QD_UNKNOWN)
			l = "good";
	}
	return l;
}

void html_verdict(struct json *j, const struct report_arm *a)
{
	struct report_warnings w;
	struct buf t = {};
	const char *s;
	int d;
	u32 i;

	headline(&t, a);
	member_buf(j, "verdict", &t);
	jw_string(j, "level", level(a->x));
	jw_array(j, "why");
	for (d = 0; d < N_DIRS; d++)
		why(j, a, d);
	jw_close(j, ']');
	jw_array(j, "bars");
	for (d = 0; d < N_DIRS; d++)
		time_bar(j, a, d);
	jw_close(j, ']');
	jw_array(j, "warnings");
	report_warnings(&w, a->m, &a->x->health);
	for (i = 0, s = w.text.p; i < w.n && !w.text.failed; i++, s += strlen(s) + 1)
		item_text(j, s, strlen(s), HTML_MAX_TEXT);
	jw_close(j, ']');
	j->b->failed |= w.text.failed;
	buf_free(&w.text);
}

/* ---- figures beside it ---- */

static void tile(struct json *j, const char *title, const char *kind, u64 v, struct buf *note)
{
	row_begin(j);
	item_str(j, title);
	item_u64(j, v);
	item_str(j, kind);
	if (note->n)
		item_text(j, note->p, note->n, HTML_MAX_TEXT);
	row_end(j);
	j->b->failed |= note->failed;
	buf_free(note);
}

static void latency_tile(struct json *j, const struct report_arm *a, const struct measure_lat *l)
{
	struct buf title = {}, note = {};

	if (!l->lat.n)
		return;
	report_safe(&title, strpool_get(&a->m->strings, l->name),
		    MIN(strpool_len(&a->m->strings, l->name), (size_t)16));
	buf_lit(&title, " latency, median");
	buf_byte(&title, '\0');
	buf_lit(&note, "p99 ");
	report_ns(&note, l->lat.p99);
	if (!title.failed)
		tile(j, title.p, "ns", l->lat.p50, &note);
	else
		buf_free(&note);
	j->b->failed |= title.failed;
	buf_free(&title);
}

void html_tiles(struct json *j, const struct report_arm *a)
{
	const struct measure *x = a->x;
	struct buf note = {};
	u32 i;
	int d;

	jw_array(j, "tiles");
	for (d = 0; d < N_DIRS; d++) {
		const struct measure_qd1 *q = &x->qd1[d];

		if (!report_cost_share(&note, q))
			continue;
		tile(j,
		     d == DIR_READ ? (a->m->op.n ? "loads lose" : "reads lose")
				   : (a->m->op.n ? "stores lose" : "writes lose"),
		     "ns", q->lost_ns, &note);
	}
	if (x->cmd.n) {
		report_bytes(&note, x->cmd.bytes);
		if (x->cmd.state[STATE_FAILED])
			buf_printf(&note, ", %llu failed", ULL(x->cmd.state[STATE_FAILED]));
		tile(j, "commands", "n", x->cmd.n, &note);
		buf_lit(&note, "first submission to last completion");
		tile(j, "took", "ns", x->wall_ns, &note);
	}
	if (x->wall_ns && x->pool_ok_bytes) {
		buf_printf(&note, "failed commands%s left out", x->pool_unmoved_bytes ? ", discards and zeroes" : "");
		tile(j, "throughput", "rate", (u64)(x->throughput_gbs * 1e9), &note);
	}
	for (i = 0; i < MIN(x->n_lat, 2u); i++)
		latency_tile(j, a, &x->lat[i]);
	if (x->depth.n) {
		row_begin(j);
		item_str(j, "in flight while busy");
		item_real(j, x->depth.busy_mean);
		item_str(j, "x");
		buf_printf(&note, "at most %llu", ULL(x->depth.max));
		item_text(j, note.p, note.n, HTML_MAX_TEXT);
		row_end(j);
		j->b->failed |= note.failed;
		buf_free(&note);
	}
	if (x->objects_ok + x->objects_failed) {
		if (x->objects_failed)
			buf_printf(&note, "%llu failed", ULL(x->objects_failed));
		else
			buf_lit(&note, "none failed");
		tile(j, "objects", "n", x->objects_ok + x->objects_failed, &note);
	}
	jw_close(j, ']');
}
