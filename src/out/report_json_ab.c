// SPDX-License-Identifier: Apache-2.0
/* The JSON report: a capture against the first one. */
#include <string.h>

#include "out/report_json.h"

/* A number of both captures, and how much it changed; null where that is not known. */
static void both(struct json *j, const char *name, u64 a, bool has_a, u64 b, bool has_b)
{
	jw_object(j, name);
	jw_number_of(j, "base", a, has_a);
	jw_number_of(j, "this", b, has_b);
	jw_real_of(j, "change", a ? (double)b / (double)a - 1 : 0, a && has_b);
	jw_close(j, '}');
}

static void both_p50(struct json *j, const char *name, const struct dist *a, const struct dist *b)
{
	both(j, name, a->p50, a->n, b->p50, b->n);
}

static void median(struct json *j, const char *name, const struct ab_median *v, u64 interval_n)
{
	jw_object(j, name);
	jw_real(j, "p50", v->p50);
	jw_real_of(j, "low", v->low, interval_n);
	jw_real_of(j, "high", v->high, interval_n);
	jw_close(j, '}');
}

static void pair(struct json *j, const struct measure_pair *p)
{
	jw_object(j, p->name);
	jw_number(j, "n", p->n);
	jw_real(j, "delta_p50", p->delta_ns.p50);
	jw_number(j, "faster", p->faster);
	jw_number(j, "slower", p->slower);
	median(j, "delta_ns", &p->delta_ns, p->interval_n);
	median(j, "ratio", &p->ratio, p->interval_n);
	jw_close(j, '}');
}

/* A ratio of each capture with both its parts, and the ratio of the two. */
static void ratio(struct json *j, const struct ab_ratio *r)
{
	static const char *const arm[2] = { "base", "this" };
	double v[2] = { 0, 0 };
	int i;

	jw_object(j, r->name);
	for (i = 0; i < 2; i++) {
		v[i] = r->den[i] > 0 ? r->num[i] / r->den[i] : 0;
		jw_object(j, arm[i]);
		jw_real(j, r->num_name, r->num[i]);
		jw_real(j, r->den_name, r->den[i]);
		jw_real_of(j, "ratio", v[i], r->den[i] > 0);
		jw_close(j, '}');
	}
	jw_real_of(j, "this_by_base", v[0] > 0 ? v[1] / v[0] : 0, v[0] > 0 && r->den[1] > 0);
	jw_close(j, '}');
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

void jw_ab(struct json *j, const struct report_arm *base, const struct report_arm *arm)
{
	const struct measure_ab *x = arm->ab;
	u32 i;

	jw_object(j, "ab");
	jw_string(j, "base", base->label);
	jw_bool(j, "comparable", x->comparable);
	jw_real(j, "tolerance", x->tolerance);
	jw_array(j, "differs");
	for (i = 0; i < N_WORKS; i++)
		if (x->differs[i]) {
			jw_item(j);
			buf_json(j->b, report_work_name(i), strlen(report_work_name(i)));
		}
	jw_close(j, ']');
	jw_number(j, "paired", x->paired);
	jw_number(j, "only_base", x->only[0]);
	jw_number(j, "only_this", x->only[1]);
	jw_object(j, "work");
	for (i = 0; i < N_WORKS; i++)
		both(j, report_work_name(i), x->work[i][0], true, x->work[i][1], true);
	jw_close(j, '}');
	jw_object(j, "pairs");
	for (i = 0; i < x->n_pairs; i++)
		pair(j, &x->pair[i]);
	jw_close(j, '}');
	jw_object(j, "times");
	both(j, "wall_ns", base->x->wall_ns, base->x->cmd.n, arm->x->wall_ns, arm->x->cmd.n);
	both_p50(j, "read_latency_p50", latency(base, "read"), latency(arm, "read"));
	both_p50(j, "write_latency_p50", latency(base, "write"), latency(arm, "write"));
	both_p50(j, "load_gap_p50", &base->x->qd1[DIR_READ].gap, &arm->x->qd1[DIR_READ].gap);
	both_p50(j, "store_gap_p50", &base->x->qd1[DIR_WRITE].gap, &arm->x->qd1[DIR_WRITE].gap);
	jw_close(j, '}');
	jw_object(j, "ratios");
	for (i = 0; i < N_AB_RATIOS; i++)
		ratio(j, &x->ratio[i]);
	jw_close(j, '}');
	jw_close(j, '}');
}
