// SPDX-License-Identifier: Apache-2.0
/* The text report: a capture against the first one. */
#include <string.h>

#include "out/report_text.h"

static double change(u64 a, u64 b)
{
	return 100.0 * ((double)b - (double)a) / (double)a;
}

static void row(struct buf *out, const char *name, u64 a, u64 b, bool differs)
{
	buf_printf(out, "%c %-16s %16llu %16llu", differs ? '!' : ' ', name, ULL(a), ULL(b));
	if (a)
		buf_printf(out, " %+9.1f %%\n", change(a, b));
	else
		buf_printf(out, " %11s\n", b ? "new" : "-");
}

static const struct dist *latency(const struct report_arm *a, const char *name)
{
	static const struct dist none;
	u32 i;

	for (i = 0; i < a->x->n_lat; i++)
		if (!strcmp(strpool_get(&a->m->strings, a->x->lat[i].name), name))
			return &a->x->lat[i].lat;
	return &none;
}

/* A time of both; nothing when neither has it. */
static void time_row(struct buf *out, const char *name, const struct dist *a, const struct dist *b)
{
	if (a->n && b->n)
		row(out, name, a->p50, b->p50, false);
	else if (a->n || b->n)
		buf_printf(out, "  %-16s %16s %16s %11s\n", name, a->n ? "measured" : "n/a", b->n ? "measured" : "n/a",
			   "n/a");
}

static const char *const work_words[N_WORKS] = {
	[WORK_OBJECTS] = "objects",
	[WORK_OBJECT_BYTES] = "object bytes",
	[WORK_CMDS] = "device commands",
	[WORK_CMD_BYTES] = "device bytes",
	[WORK_LOADS] = "loads",
	[WORK_STORES] = "stores",
	[WORK_READ_CMDS] = "read commands",
	[WORK_WRITE_CMDS] = "write commands",
	[WORK_READ_BYTES] = "bytes read",
	[WORK_WRITE_BYTES] = "bytes written",
};

/* Equal work or not, and if not, in what it differs. */
static void headline(struct buf *out, const struct measure_ab *x)
{
	struct buf t = {};
	int k, shown = 0;

	if (x->comparable) {
		buf_printf(out, "comparable: the same objects, commands and bytes within %.3g %%\n",
			   100 * x->tolerance);
		return;
	}
	if (x->nothing) {
		buf_lit(out, "NOT COMPARABLE: there is no work in either\n");
		return;
	}
	buf_lit(&t, "NOT COMPARABLE: this is not the same work: ");
	for (k = 0; k < N_WORKS && shown < 4; k++) {
		if (!x->differs[k])
			continue;
		buf_printf(&t, "%s%s ", shown++ ? ", " : "", work_words[k]);
		if (x->work[k][0])
			buf_printf(&t, "%+.1f %%", change(x->work[k][0], x->work[k][1]));
		else
			buf_lit(&t, "only in one");
	}
	if (x->other_objects)
		buf_printf(&t, "%sonly %llu objects are in both", shown ? ", " : "", ULL(x->paired));
	text_wrapped(out, "", "  ", t.p, t.n);
	out->failed |= t.failed;
	buf_free(&t);
}

static void signed_ns(struct buf *out, double ns)
{
	buf_byte(out, ns < 0 ? '-' : '+');
	report_ns(out, (u64)(ns < 0 ? -ns : ns));
}

/* Each object against itself. */
static void pair(struct buf *out, const struct measure_pair *p)
{
	buf_printf(out, "  %-5s of the same object (n %llu): p50 ", p->name, ULL(p->n));
	report_ns(out, (u64)(p->delta_ns.p50 < 0 ? -p->delta_ns.p50 : p->delta_ns.p50));
	buf_printf(out, " %s, x%.3g (%llu faster, %llu slower)\n", p->delta_ns.p50 < 0 ? "less" : "more", p->ratio.p50,
		   ULL(p->faster), ULL(p->slower));
	if (!p->interval_n) {
		buf_printf(out, "        too few for an interval: %d are needed\n", MEDIAN_MIN_N);
		return;
	}
	buf_lit(out, "        95 % interval ");
	signed_ns(out, p->delta_ns.low);
	buf_lit(out, " to ");
	signed_ns(out, p->delta_ns.high);
	buf_printf(out, ", x%.3g to x%.3g\n", p->ratio.low, p->ratio.high);
	if (p->delta_ns.low <= 0 && p->delta_ns.high >= 0)
		buf_lit(out, "        0 is in it: no difference is shown\n");
}

static void ratio(struct buf *out, const struct ab_ratio *r)
{
	double a = r->den[0] > 0 ? r->num[0] / r->den[0] : 0, b = r->den[1] > 0 ? r->num[1] / r->den[1] : 0;
	struct buf t = {};

	if (a <= 0 || b <= 0)
		return;
	buf_printf(&t, "%s: %.3f (%.0f / %.0f) -> %.3f (%.0f / %.0f), x%.3f", r->name, a, r->num[0], r->den[0], b,
		   r->num[1], r->den[1], b / a);
	text_wrapped(out, "  ", "      ", t.p, t.n);
	out->failed |= t.failed;
	buf_free(&t);
}

void text_ab(struct buf *out, const struct report_arm *base, const struct report_arm *arm)
{
	const struct measure_ab *x = arm->ab;
	u32 i;

	buf_lit(out, "\n===== ");
	report_safe(out, arm->label, strlen(arm->label));
	buf_lit(out, " against ");
	report_safe(out, base->label, strlen(base->label));
	buf_lit(out, " =====\n");
	headline(out, x);
	buf_printf(out, "  %-16s %16s %16s %11s\n", "", "base", "this", "change");
	for (i = 0; i < N_WORKS; i++)
		if (x->work[i][0] || x->work[i][1])
			row(out, work_words[i], x->work[i][0], x->work[i][1], x->differs[i]);
	time_row(out, "write p50 ns", latency(base, "write"), latency(arm, "write"));
	time_row(out, "read p50 ns", latency(base, "read"), latency(arm, "read"));
	time_row(out, "load gap p50 ns", &base->x->qd1[DIR_READ].gap, &arm->x->qd1[DIR_READ].gap);
	time_row(out, "store gap p50 ns", &base->x->qd1[DIR_WRITE].gap, &arm->x->qd1[DIR_WRITE].gap);
	row(out, "wall ns", base->x->wall_ns, arm->x->wall_ns, false);
	if (x->only[0] || x->only[1])
		buf_printf(out, "%c %llu objects in both, %llu only in the base, %llu only in this\n",
			   x->other_objects ? '!' : ' ', ULL(x->paired), ULL(x->only[0]), ULL(x->only[1]));
	for (i = 0; i < x->n_pairs; i++)
		pair(out, &x->pair[i]);
	for (i = 0; i < N_AB_RATIOS; i++)
		ratio(out, &x->ratio[i]);
}
