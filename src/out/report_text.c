// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "out/report.h"

#define ULL(x)	   ((unsigned long long)(x))
#define WIDTH	   79
/* Names longer than this are cut in tables. */
#define NAME_WIDTH 10

/* Text broken at blanks to the width, with its following lines indented. */
static void wrapped(struct buf *out, const char *first, const char *indent, const char *s, size_t n)
{
	size_t room = WIDTH - strlen(indent), at = 0;

	buf_str(out, first);
	while (n - at > room) {
		size_t cut = room;

		while (cut && s[at + cut] != ' ')
			cut--;
		if (!cut)
			break;
		buf_add(out, s + at, cut);
		buf_byte(out, '\n');
		buf_str(out, indent);
		at += cut + 1;
	}
	buf_add(out, s + at, n - at);
	buf_byte(out, '\n');
}

static void warnings(struct buf *out, const struct report_arm *a)
{
	struct report_warnings w;
	const char *s;
	u32 i;

	report_warnings(&w, a->m, &a->x->health);
	for (i = 0, s = w.text.p; i < w.n && !w.text.failed; i++, s += strlen(s) + 1)
		wrapped(out, "!! ", "   ", s, strlen(s));
	if (w.n)
		buf_byte(out, '\n');
	out->failed |= w.text.failed;
	buf_free(&w.text);
}

/* A number with its unit in a column of 9. */
static void ns_column(struct buf *out, u64 ns)
{
	struct buf t = {};

	report_ns(&t, ns);
	buf_printf(out, " %9.*s", (int)t.n, t.p);
	buf_free(&t);
}

static void bytes_column(struct buf *out, u64 bytes)
{
	struct buf t = {};

	report_bytes(&t, bytes);
	buf_printf(out, " %9.*s", (int)t.n, t.p);
	buf_free(&t);
}

static void name_column(struct buf *out, const struct strpool *s, u32 id)
{
	struct buf t = {};

	report_safe(&t, id ? strpool_get(s, id) : "other", id ? strpool_len(s, id) : 5);
	buf_printf(out, "  %-*.*s", NAME_WIDTH, (int)MIN(t.n, (size_t)NAME_WIDTH), t.n ? t.p : "");
	buf_free(&t);
}

static void qd1(struct buf *out, const char *name, const struct measure_qd1 *q)
{
	if (q->verdict == QD1_UNKNOWN)
		return;
	buf_printf(out, "  %-7s %s\n          submission gap p50 ", name, report_qd1_word(q->verdict));
	report_ns(out, q->gap.p50);
	buf_lit(out, ", p95 ");
	report_ns(out, q->gap.p95);
	buf_printf(out, " (n %llu, %llu object%s)\n", ULL(q->gap.n), ULL(q->ops), q->ops == 1 ? "" : "s");
	if (!q->service.n)
		return;
	buf_lit(out, "          device needs ");
	report_ns(out, q->service.p25);
	buf_printf(out, " (p25, n %llu), %.1f %% of gaps >= half of it\n", ULL(q->service.n),
		   100.0 * (double)q->long_gaps / (double)q->gap.n);
	buf_printf(out, "          in flight of one object: %.2f on average, %.2f while busy\n", q->in_flight,
		   q->busy_in_flight);
	buf_printf(out, "          %.1f %% of submissions are followed by one of the same object\n",
		   q->followed ? 100.0 * (double)q->followed_by_own / (double)q->followed : 0);
	if (q->verdict != QD1_SERIAL || !q->gap_ns)
		return;
	buf_lit(out, "          time lost by waiting: ");
	report_ns(out, q->waited_ns);
	buf_printf(out, ", %.1f %% of the time that they submit\n", 100.0 * (double)q->waited_ns / (double)q->gap_ns);
}

static void verdict(struct buf *out, const struct report_arm *a)
{
	struct buf t = {};

	buf_str(out, "verdict: ");
	report_verdict(&t, a->m, a->x);
	wrapped(out, "", "         ", t.p, t.n);
	out->failed |= t.failed;
	buf_free(&t);
	qd1(out, "loads", &a->x->qd1[DIR_READ]);
	qd1(out, "stores", &a->x->qd1[DIR_WRITE]);
}

static void capture(struct buf *out, const struct model *m)
{
	bool *used = calloc(m->n_devices + 1ul, sizeof(*used));
	struct buf t = {};
	u32 i, shown = 0;

	if (m->sem_meta.present) {
		report_safe(&t, strpool_get(&m->strings, m->sem_meta.hostname),
			    strpool_len(&m->strings, m->sem_meta.hostname));
		buf_lit(&t, ", ");
		report_safe(&t, strpool_get(&m->strings, m->sem_meta.device_path),
			    strpool_len(&m->strings, m->sem_meta.device_path));
		buf_printf(&t, ", schema %llu, ", ULL(m->sem_meta.kvio_schema));
	}
	for (i = 0; used && i < m->cmd.n; i++)
		if (m->cmd.dev[i] < m->n_devices)
			used[m->cmd.dev[i]] = true;
	for (i = 0; used && i < m->n_devices; i++) {
		if (!used[i] || !m->device[i].name || shown++ >= 4)
			continue;
		report_safe(&t, strpool_get(&m->strings, m->device[i].name),
			    strpool_len(&m->strings, m->device[i].name));
		buf_lit(&t, ", ");
	}
	free(used);
	if (shown > 4)
		buf_printf(&t, "and %u devices more, ", shown - 4);
	buf_printf(&t, "LBA %u B, ", m->lba_bytes);
	buf_str(&t, !m->op.n ? "no semantic trace" : m->join == JOIN_TRACE_ID ? "joined by trace id" : "not joined");
	buf_lit(out, "\ncapture: ");
	wrapped(out, "", "         ", t.p, t.n);
	buf_printf(out, "         read %llu semantic records; %llu commands, %llu completions\n",
		   ULL(m->sem_in.semantic), ULL(m->dev_in.commands), ULL(m->dev_in.completions));
	out->failed |= t.failed;
	buf_free(&t);
}

static void count(struct buf *out, u64 n, const char *what)
{
	if (n)
		buf_printf(out, ", %llu %s", ULL(n), what);
}

static void commands(struct buf *out, const struct measure *x)
{
	const struct measure_cmds *c = &x->cmd;
	u64 wall = c->last_ns - c->first_ns;

	buf_printf(out, "commands: %llu (%llu tagged, %llu untagged), ", ULL(c->n), ULL(c->tagged), ULL(c->untagged));
	report_bytes(out, c->bytes);
	buf_lit(out, " in ");
	report_ns(out, wall);
	buf_printf(out, "\n          %llu completed", ULL(c->state[STATE_OK]));
	count(out, c->state[STATE_FAILED], "failed");
	count(out, c->state[STATE_IN_FLIGHT], "in flight");
	count(out, c->state[STATE_UNPAIRED], "unpaired");
	count(out, c->state[STATE_BACKWARDS], "backwards");
	buf_printf(out, "\n          latency known for %.1f %%\n", 100 * c->coverage);
	if (c->state[STATE_REFUSED] || c->state[STATE_REISSUED])
		buf_printf(out, "          besides: %llu refused before the device, %llu attempts re-issued\n",
			   ULL(c->state[STATE_REFUSED]), ULL(c->state[STATE_REISSUED]));
	if (wall) {
		buf_printf(out, "          %.3f GB/s", (double)x->pool_ok_bytes / (double)wall);
		buf_printf(out, " of %s data, failed commands left out\n", x->pool_tagged ? "tagged" : "all");
	}
}

static void latencies(struct buf *out, const struct model *m, const struct measure *x)
{
	u32 i;

	if (!x->n_lat)
		return;
	buf_printf(out, "\ndevice latency of %s commands (%s percentiles)\n", x->pool_tagged ? "tagged" : "all",
		   PERCENTILE_METHOD);
	buf_printf(out, "  %-*s %9s %9s %9s %9s %9s %7s %7s\n", NAME_WIDTH, "", "n", "p50", "p95", "p99", "max",
		   "failed", "no cmp");
	for (i = 0; i < x->n_lat; i++) {
		const struct measure_lat *l = &x->lat[i];

		name_column(out, &m->strings, l->name);
		buf_printf(out, " %9llu", ULL(l->lat.n));
		if (l->lat.n) {
			ns_column(out, l->lat.p50);
			ns_column(out, l->lat.p95);
			ns_column(out, l->lat.p99);
			ns_column(out, l->lat.max);
		} else {
			buf_printf(out, " %9s %9s %9s %9s", "-", "-", "-", "-");
		}
		buf_printf(out, " %7llu %6.1f%%\n", ULL(l->failed),
			   l->n ? 100.0 * (double)l->unpaired / (double)l->n : 0);
	}
}

static void depth(struct buf *out, const struct measure *x)
{
	const struct measure_depth *d = &x->depth;

	if (d->n)
		buf_printf(out,
			   "\nqueue depth: mean %.2f, %.2f while busy (%.1f %% of the time), max %llu\n"
			   "             at most 1 in flight for %.1f %% of the time (n %llu)\n",
			   d->mean, d->busy_mean, d->span_ns ? 100.0 * (double)d->busy_ns / (double)d->span_ns : 0,
			   ULL(d->max), d->span_ns ? 100.0 * (double)d->le1_ns / (double)d->span_ns : 0, ULL(d->n));
	if (!x->batch.n)
		return;
	buf_printf(out, "batches: %llu (split where nothing is submitted for ", ULL(x->batch.n));
	report_ns(out, x->batch.gap_ns);
	buf_printf(out, "),\n         size p50 %llu, p95 %llu, max %llu\n", ULL(x->batch.size.p50),
		   ULL(x->batch.size.p95), ULL(x->batch.size.max));
}

/* One line of sizes and rates, one of where the time of an object goes. */
static void one_object(struct buf *out, const struct model *m, const struct measure_objects *o)
{
	name_column(out, &m->strings, o->name);
	buf_printf(out, " %7llu", ULL(o->n));
	bytes_column(out, o->size.p50);
	buf_printf(out, " %7.1f", o->with_cmds ? (double)o->commands / (double)o->with_cmds : 0);
	if (o->span.n) {
		ns_column(out, o->span.p50);
		ns_column(out, o->span.p99);
	} else {
		buf_printf(out, " %9s %9s", "-", "-");
	}
	if (o->eff_n)
		buf_printf(out, o->eff_mbs_p50 < 1e8 ? " %8.0f" : " %8.1e", o->eff_mbs_p50);
	else
		buf_printf(out, " %8s", "-");
	buf_printf(out, " %7llu\n", ULL(o->failed));
	if (!o->device.n && !o->presubmit.n)
		return;
	buf_printf(out, "  %-*s   p50:", NAME_WIDTH, "");
	if (o->presubmit.n) {
		buf_lit(out, " before first command ");
		report_ns(out, o->presubmit.p50);
	}
	if (o->device.n) {
		buf_str(out, o->presubmit.n ? "; device " : " device ");
		report_ns(out, o->device.p50);
		buf_lit(out, ", host ");
		report_ns(out, o->host.p50);
	}
	buf_byte(out, '\n');
}

static void objects(struct buf *out, const struct model *m, const struct measure *x)
{
	u32 i;

	if (!x->n_obj)
		return;
	buf_printf(out, "\nobjects (without failed ones; at most %llu in flight)\n", ULL(x->max_objects_in_flight));
	buf_printf(out, "  %-*s %7s %9s %7s %9s %9s %8s %7s\n", NAME_WIDTH, "", "n", "size p50", "cmds/op", "span p50",
		   "p99", "MB/s p50", "failed");
	for (i = 0; i < x->n_obj; i++)
		one_object(out, m, &x->obj[i]);
	for (i = 0; i < x->n_errors && i < 5; i++) {
		buf_lit(out, "  error: ");
		report_safe(out, strpool_get(&m->strings, x->error[i]),
			    MIN(strpool_len(&m->strings, x->error[i]), (size_t)WIDTH - 9));
		buf_byte(out, '\n');
	}
	if (x->n_errors > 5)
		buf_printf(out, "  and %u other error texts\n", x->n_errors - 5);
	if (x->barrier.shards > 1 && x->barrier.n) {
		buf_printf(out, "  last of %llu shards is ready ", ULL(x->barrier.shards));
		report_ns(out, x->barrier.gap.p50);
		buf_lit(out, " after the first (p50), p99 ");
		report_ns(out, x->barrier.gap.p99);
		buf_printf(out, " (n %llu)\n", ULL(x->barrier.n));
	}
}

static void space(struct buf *out, const struct measure *x)
{
	const struct measure_space *s = &x->space;
	const struct measure_cmds *c = &x->cmd;

	if (!s->writes)
		return;
	buf_printf(out, "\nspace: %llu writes, %.1f %% follow the one before\n", ULL(s->writes),
		   s->writes > 1 ? 100.0 * (double)s->sequential / (double)(s->writes - 1) : 0);
	buf_printf(out, "       %llu of them go to an LBA written before\n", ULL(s->reused));
	if (c->headers)
		buf_printf(out, "       %llu of them are headers: %.2f %% of the bytes written\n", ULL(c->headers),
			   c->store_bytes ? 100.0 * (double)c->header_bytes / (double)c->store_bytes : 0);
}

static void ab_row(struct buf *out, const char *name, u64 a, u64 b)
{
	buf_printf(out, "  %-16s %16llu %16llu", name, ULL(a), ULL(b));
	if (a)
		buf_printf(out, " %+9.1f %%\n", 100.0 * ((double)b - (double)a) / (double)a);
	else
		buf_printf(out, " %11s\n", b ? "new" : "-");
}

static u64 latency_p50(const struct report_arm *a, const char *name)
{
	u32 i;

	for (i = 0; i < a->x->n_lat; i++)
		if (!strcmp(strpool_get(&a->m->strings, a->x->lat[i].name), name))
			return a->x->lat[i].lat.p50;
	return 0;
}

static void ab(struct buf *out, const struct report_arm *base, const struct report_arm *arm)
{
	const struct measure_ab *x = arm->ab;
	u32 i;

	buf_lit(out, "\n===== ");
	report_safe(out, arm->label, strlen(arm->label));
	buf_lit(out, " against ");
	report_safe(out, base->label, strlen(base->label));
	buf_printf(out, " =====\n%s\n",
		   x->comparable ? "comparable: the same objects, and the same bytes within 1 %"
				 : "NOT COMPARABLE: this is not the same work");
	buf_printf(out, "  %-16s %16s %16s %11s\n", "", "base", "this", "change");
	ab_row(out, "objects", x->objects[0], x->objects[1]);
	ab_row(out, "object bytes", x->object_bytes[0], x->object_bytes[1]);
	ab_row(out, "device commands", x->device_cmds[0], x->device_cmds[1]);
	ab_row(out, "device bytes", x->device_bytes[0], x->device_bytes[1]);
	ab_row(out, "write p50 ns", latency_p50(base, "write"), latency_p50(arm, "write"));
	ab_row(out, "read p50 ns", latency_p50(base, "read"), latency_p50(arm, "read"));
	ab_row(out, "load gap p50 ns", base->x->qd1[DIR_READ].gap.p50, arm->x->qd1[DIR_READ].gap.p50);
	ab_row(out, "store gap p50 ns", base->x->qd1[DIR_WRITE].gap.p50, arm->x->qd1[DIR_WRITE].gap.p50);
	ab_row(out, "wall ns", base->x->cmd.last_ns - base->x->cmd.first_ns,
	       arm->x->cmd.last_ns - arm->x->cmd.first_ns);
	if (x->only[0] || x->only[1])
		buf_printf(out, "  %llu objects in both, %llu only in the base, %llu only in this\n", ULL(x->paired),
			   ULL(x->only[0]), ULL(x->only[1]));
	for (i = 0; i < x->n_pairs; i++) {
		const struct measure_pair *p = &x->pair[i];

		buf_printf(out, "  %-5s of the same object: p50 ", p->name);
		report_ns(out, p->delta_p50_ns < 0 ? 0 - (u64)p->delta_p50_ns : (u64)p->delta_p50_ns);
		buf_printf(out, " %s (%llu faster, %llu slower)\n", p->delta_p50_ns < 0 ? "less" : "more",
			   ULL(p->faster), ULL(p->slower));
	}
}

void report_text(struct buf *out, const struct report_arm *arms, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		const struct report_arm *a = &arms[i];

		if (i)
			buf_byte(out, '\n');
		buf_lit(out, "===== ");
		report_safe(out, a->label, strlen(a->label));
		buf_lit(out, " =====\n");
		warnings(out, a);
		verdict(out, a);
		capture(out, a->m);
		commands(out, a->x);
		latencies(out, a->m, a->x);
		depth(out, a->x);
		objects(out, a->m, a->x);
		space(out, a->x);
	}
	for (i = 1; i < n; i++)
		ab(out, &arms[0], &arms[i]);
}
