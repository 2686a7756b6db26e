// SPDX-License-Identifier: Apache-2.0
/* The page's comparison of captures with the first one. */
#include <string.h>

#include "out/html_work.h"

/* ---- the same figure of all ---- */

enum what { TOOK, RATE, DEPTH, LAT_READ, LAT_WRITE, GAP_LOAD, GAP_STORE, SPAN_LOAD, SPAN_STORE, LOST_LOAD, LOST_STORE };

static const struct figure {
	enum what what;
	const char *title, *kind;
	int better; /* -1: less is better */
} figures[] = {
	{ TOOK, "first submission to last completion", "ns", -1 },
	{ RATE, "throughput", "rate", 1 },
	{ DEPTH, "in flight while busy", "x", 1 },
	{ LAT_READ, "read latency, median", "ns", -1 },
	{ LAT_WRITE, "write latency, median", "ns", -1 },
	{ GAP_LOAD, "between submissions of a load, median", "ns", -1 },
	{ GAP_STORE, "between submissions of a store, median", "ns", -1 },
	{ SPAN_LOAD, "a load, median", "ns", -1 },
	{ SPAN_STORE, "a store, median", "ns", -1 },
	{ LOST_LOAD, "time that loads lose by waiting", "ns", -1 },
	{ LOST_STORE, "time that stores lose by waiting", "ns", -1 },
};

/* The median latency of commands of one of two names; false when none was measured. */
static bool latency(const struct report_arm *a, const char *name, const char *other, double *v)
{
	u32 i;

	for (i = 0; i < a->x->n_lat; i++) {
		const char *s = strpool_get(&a->m->strings, a->x->lat[i].name);

		*v = (double)a->x->lat[i].lat.p50;
		if (a->x->lat[i].lat.n && (!strcmp(s, name) || !strcmp(s, other)))
			return true;
	}
	return false;
}

static bool object_span(const struct report_arm *a, const char *name, double *v)
{
	u32 i;

	for (i = 0; i < a->x->n_obj; i++) {
		*v = (double)a->x->obj[i].span.p50;
		if (a->x->obj[i].span.n && !strcmp(strpool_get(&a->m->strings, a->x->obj[i].name), name))
			return true;
	}
	return false;
}

static bool value(const struct report_arm *a, enum what what, double *v)
{
	const struct measure *x = a->x;
	const struct measure_qd1 *q = &x->qd1[what == GAP_STORE || what == LOST_STORE ? DIR_WRITE : DIR_READ];

	switch (what) {
	case TOOK:
		*v = (double)x->wall_ns;
		return x->wall_ns;
	case RATE:
		*v = x->throughput_gbs * 1e9;
		return x->wall_ns && x->pool_ok_bytes;
	case DEPTH:
		*v = x->depth.busy_mean;
		return x->depth.n;
	case LAT_READ:
		return latency(a, "read", "retrieve", v);
	case LAT_WRITE:
		return latency(a, "write", "store", v);
	case GAP_LOAD:
	case GAP_STORE:
		*v = (double)q->gap.p50;
		return q->gap.n;
	case SPAN_LOAD:
		return object_span(a, "load", v);
	case SPAN_STORE:
		return object_span(a, "store", v);
	case LOST_LOAD:
	case LOST_STORE:
		*v = (double)q->lost_ns;
		return q->class != QD_UNKNOWN && q->gap.n;
	}
	return false;
}

static void figure_rows(struct json *j, const struct report_arm *arms, u32 n)
{
	double v[HTML_MAX_ARMS];
	bool known[HTML_MAX_ARMS], any;
	u32 i;
	size_t k;

	jw_array(j, "figures");
	for (k = 0; k < ARRAY_SIZE(figures); k++) {
		for (i = 0, any = false; i < n; i++) {
			known[i] = value(&arms[i], figures[k].what, &v[i]);
			any |= known[i] && v[i] > 0;
		}
		if (!any)
			continue;
		jw_item(j);
		jw_open(j, '{');
		jw_string(j, "title", figures[k].title);
		jw_string(j, "kind", figures[k].kind);
		jw_signed(j, "better", figures[k].better);
		jw_array(j, "values");
		for (i = 0; i < n; i++) {
			if (known[i])
				item_real(j, v[i]);
			else
				item_null(j);
		}
		jw_close(j, ']');
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

/* ---- one against the first ---- */

static const struct {
	const char *title, *kind;
} works[N_WORKS] = {
	[WORK_OBJECTS] = { "objects", "n" },
	[WORK_OBJECT_BYTES] = { "bytes of objects", "bytes" },
	[WORK_CMDS] = { "device commands", "n" },
	[WORK_CMD_BYTES] = { "bytes of device commands", "bytes" },
	[WORK_LOADS] = { "loads", "n" },
	[WORK_STORES] = { "stores", "n" },
	[WORK_READ_CMDS] = { "read commands", "n" },
	[WORK_WRITE_CMDS] = { "write commands", "n" },
	[WORK_READ_BYTES] = { "bytes read", "bytes" },
	[WORK_WRITE_BYTES] = { "bytes written", "bytes" },
};

static void headline(struct json *j, const struct measure_ab *x)
{
	struct buf t = {};
	int k, shown = 0;

	if (x->comparable) {
		buf_printf(&t, "The same objects, commands and bytes within %.3g %%: times can be compared.",
			   100 * x->tolerance);
	} else if (x->nothing) {
		buf_lit(&t, "There is no work in either: nothing can be compared.");
	} else {
		buf_lit(&t, "This is not the same work, so times do not mean much: ");
		for (k = 0; k < N_WORKS && shown < 4; k++) {
			if (!x->differs[k])
				continue;
			buf_printf(&t, "%s%s ", shown++ ? ", " : "", works[k].title);
			if (x->work[k][0])
				buf_printf(&t, "%+.1f %%", 100 * ((double)x->work[k][1] / (double)x->work[k][0] - 1));
			else
				buf_lit(&t, "only here");
		}
		if (x->other_objects)
			buf_printf(&t, "%sonly %llu objects are in both", shown ? ", " : "", ULL(x->paired));
		buf_byte(&t, '.');
	}
	member_buf(j, "text", &t);
}

static void median(struct json *j, const char *name, const struct ab_median *d, bool interval)
{
	jw_array(j, name);
	item_real(j, d->p50);
	if (interval) {
		item_real(j, d->low);
		item_real(j, d->high);
	} else {
		item_null(j);
		item_null(j);
	}
	jw_close(j, ']');
}

static void works_of(struct json *j, const struct measure_ab *x)
{
	u32 i;

	jw_array(j, "work");
	for (i = 0; i < N_WORKS; i++) {
		if (!x->work[i][0] && !x->work[i][1])
			continue;
		jw_item(j);
		jw_open(j, '{');
		jw_string(j, "title", works[i].title);
		jw_string(j, "kind", works[i].kind);
		jw_array(j, "values");
		item_u64(j, x->work[i][0]);
		item_u64(j, x->work[i][1]);
		jw_close(j, ']');
		jw_bool(j, "differs", x->differs[i]);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void pairs_of(struct json *j, const struct measure_ab *x)
{
	u32 i;

	jw_array(j, "pairs");
	for (i = 0; i < x->n_pairs; i++) {
		const struct measure_pair *p = &x->pair[i];

		jw_item(j);
		jw_open(j, '{');
		jw_string(j, "op", p->name);
		jw_number(j, "n", p->n);
		jw_number(j, "faster", p->faster);
		jw_number(j, "slower", p->slower);
		median(j, "delta", &p->delta_ns, p->interval_n);
		median(j, "ratio", &p->ratio, p->interval_n);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void ratios_of(struct json *j, const struct measure_ab *x)
{
	struct buf t = {};
	u32 i, k;

	jw_array(j, "ratios");
	for (i = 0; i < N_AB_RATIOS; i++) {
		const struct ab_ratio *r = &x->ratio[i];

		if (!r->name || r->den[0] <= 0 || r->den[1] <= 0)
			continue;
		jw_item(j);
		jw_open(j, '{');
		jw_string(j, "name", r->name);
		buf_printf(&t, "%s / %s", r->num_name, r->den_name);
		member_buf(j, "parts", &t);
		jw_array(j, "values");
		for (k = 0; k < 2; k++) {
			row_begin(j);
			item_real(j, r->num[k]);
			item_real(j, r->den[k]);
			row_end(j);
		}
		jw_close(j, ']');
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void against(struct json *j, u32 arm, const struct measure_ab *x)
{
	jw_item(j);
	jw_open(j, '{');
	jw_number(j, "arm", arm);
	jw_bool(j, "comparable", x->comparable);
	headline(j, x);
	works_of(j, x);
	pairs_of(j, x);
	ratios_of(j, x);
	jw_close(j, '}');
}

void html_compare(struct json *j, const struct report_arm *arms, u32 n)
{
	u32 i;

	jw_object(j, "compare");
	figure_rows(j, arms, n);
	jw_array(j, "against");
	for (i = 1; i < n; i++)
		if (arms[i].ab)
			against(j, i, arms[i].ab);
	jw_close(j, ']');
	jw_close(j, '}');
}
