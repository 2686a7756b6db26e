// SPDX-License-Identifier: Apache-2.0
/*
 * Level of detail: a browser stops at some million slices, so when a timeline
 * would have more than its budget, things that are alike and close in time are
 * drawn as one, with their number and bytes.
 */
#include "out/perfetto_detail.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/dist.h"
#include "out/perfetto_programs.h"

/* More samples of a counter than any screen has columns. */
#define LEAN_SAMPLES 16384

s64 number_of(struct numbers *x, u64 value)
{
	bool is_new;
	u32 *at = map64_put(&x->at, value, &is_new);

	if (!at)
		return -ENOMEM;
	if (is_new)
		*at = x->n++;
	return *at;
}

static int by_value(const void *x, const void *y)
{
	return pf_compare(*(const u64 *)x, *(const u64 *)y);
}

/* Puts the values of each group side by side; median.n counts them, start is where each group ends then. */
static u64 *collect(struct median *m, u32 n_groups, u32 n, median_value value, const void *arg, u32 *start)
{
	u32 sum = 0, group, i;
	u64 *v, x;

	for (i = 0; i < n; i++)
		if (value(arg, i, &group, &x))
			m[group].n++;
	for (i = 0; i < n_groups; i++) {
		start[i] = sum;
		sum += m[i].n;
	}
	v = malloc((sum + 1ul) * sizeof(*v));
	for (i = 0; v && i < n; i++)
		if (value(arg, i, &group, &x))
			v[start[group]++] = x;
	return v;
}

int medians_take(struct median **out, u32 n_groups, u32 n, median_value value, const void *arg)
{
	struct median *m = calloc(n_groups + 1ul, sizeof(*m));
	u32 *end = malloc((n_groups + 1ul) * sizeof(*end)), i;
	u64 *v = m && end ? collect(m, n_groups, n, value, arg, end) : NULL;

	*out = m;
	for (i = 0; v && i < n_groups; i++) {
		u64 *first = v + end[i] - m[i].n;

		if (!m[i].n)
			continue;
		qsort(first, m[i].n, sizeof(*first), by_value);
		m[i].p50 = u64_percentile(first, m[i].n, 50);
		m[i].max = first[m[i].n - 1];
	}
	i = !v;
	free(end);
	free(v);
	return i ? -ENOMEM : 0;
}

/* ---- spans ---- */

struct span_value {
	const struct pf_span *span;
	const u32 *group_of;
};

static bool duration(const void *arg, u32 i, u32 *group, u64 *value)
{
	const struct span_value *x = arg;

	*group = x->group_of[i];
	*value = x->span[i].end_ns - x->span[i].begin_ns;
	return true;
}

/* The class of each span into class_of, and how many groups there are for every width. */
static int count_bins(const struct pf_draw *a, const struct pf_spans *s, struct numbers *class, struct bins *bins,
		      u32 *class_of, u64 **last)
{
	u32 i;

	*last = malloc((s->n + 1ul) * sizeof(**last));
	if (!*last)
		return -ENOMEM;
	for (i = 0; i < s->n; i++) {
		u64 now = pf_time(a, s->span[i].begin_ns);
		u32 known = class->n;
		s64 k = number_of(class, s->class(a, &s->span[i]));

		if (k < 0)
			return -ENOMEM;
		if ((u32)k == known)
			bins->n_keys++;
		else
			bins_step(bins, (*last)[k], now);
		(*last)[k] = now;
		class_of[i] = (u32)k;
	}
	return 0;
}

/* Folds the spans of one class and bin into the first of them; class_of becomes the group of each span. */
static int fold(const struct pf_draw *a, struct pf_spans *s, u32 shift, u32 n_classes, u32 *class_of, u64 *last)
{
	struct span_value value = { .span = s->span, .group_of = class_of };
	struct pf_span *group = malloc((s->n + 1ul) * sizeof(*group));
	u32 *open = malloc((n_classes + 1ul) * sizeof(*open)), n = 0, i;
	int ret = -ENOMEM;

	for (i = 0; open && i < n_classes; i++)
		open[i] = NONE;
	for (i = 0; open && group && i < s->n; i++) {
		const struct pf_span *p = &s->span[i];
		u64 now = pf_time(a, p->begin_ns);
		u32 k = class_of[i];

		if (open[k] == NONE || bin_of(last[k], shift) != bin_of(now, shift)) {
			open[k] = n;
			group[n++] = *p;
		} else {
			group[open[k]].end_ns = MAX(group[open[k]].end_ns, p->end_ns);
			group[open[k]].n += p->n;
			group[open[k]].amount += p->amount;
		}
		last[k] = now;
		class_of[i] = open[k];
	}
	if (open && group)
		ret = medians_take(&s->durations, n, s->n, duration, &value);
	free(open);
	if (ret) {
		free(group);
		return ret;
	}
	free(s->span);
	s->span = group;
	s->n = n;
	return 0;
}

/* Draws the spans as at most `most`; *group_of, to be freed, tells where each went. */
static int group_spans(const struct pf_draw *a, struct pf_spans *s, u64 most, u32 **group_of)
{
	struct numbers class = {};
	struct bins bins = {};
	u64 *last = NULL;
	int ret = -ENOMEM;

	*group_of = malloc((s->n + 1ul) * sizeof(**group_of));
	if (*group_of)
		ret = count_bins(a, s, &class, &bins, *group_of, &last);
	if (!ret)
		ret = fold(a, s, bins_choose(&bins, most), class.n, *group_of, last);
	numbers_free(&class);
	free(last);
	if (ret) {
		free(*group_of);
		*group_of = NULL;
	}
	return ret;
}

/* The objects of each group become one. */
static int group_objects(struct pf_draw *a, u64 most)
{
	struct pf_spans *s = &a->objects;
	struct pf_object *object;
	u32 *group_of, n = s->n, i;
	int ret = pf_spans_copy(&a->every_object, s);

	if (!ret)
		ret = group_spans(a, s, most, &group_of);
	if (ret)
		return ret;
	object = calloc(s->n + 1ul, sizeof(*object));
	for (i = 0; object && i < n; i++) {
		const struct pf_object *from = &a->object[i];
		struct pf_object *to = &object[group_of[i]];

		if (!to->n++)
			*to = (struct pf_object){ .op = from->op, .n = 1, .first_cmd = NONE, .last_cmd = NONE };
		if (from->n_cmds) {
			to->first_cmd = MIN(to->first_cmd, from->first_cmd);
			to->last_cmd = to->n_cmds ? MAX(to->last_cmd, from->last_cmd) : from->last_cmd;
		}
		to->n_cmds += from->n_cmds;
	}
	for (i = 0; i < a->m->op.n; i++)
		if (a->object_of[i] != NONE)
			a->object_of[i] = group_of[a->object_of[i]];
	for (i = 0; i < s->n; i++)
		s->span[i].item = i;
	free(group_of);
	free(a->object);
	a->object = object;
	/* The objects in flight are counted one by one all the same. */
	a->every_object.open = s->open;
	s->open = NULL;
	return object ? 0 : -ENOMEM;
}

static int group_plain(struct pf_draw *a, struct pf_spans *s, u64 most)
{
	u32 *group_of;
	int ret = group_spans(a, s, most, &group_of);

	free(group_of);
	return ret;
}

/* ---- the budget ---- */

/* Slices and instants other than commands. */
static u64 other_slices(const struct pf_draw *a)
{
	u64 n = a->objects.n + a->serving.n + a->losses.n + a->info.n;
	u32 i;

	for (i = 0; i < a->n_units; i++)
		n += a->unit[i].anomalies.n;
	return n;
}

static u64 commands(const struct pf_draw *a)
{
	return a->m->cmd.n - a->stats->reissued;
}

/* Calls and requests, as they are drawn. */
static int add_spans(struct pf_draw *a, struct pf_spans *s, void *n)
{
	(void)a;
	*(u64 *)n += s->n;
	return 0;
}

static u64 program_slices(struct pf_draw *a)
{
	u64 n = 0;

	pf_programs_each(a, add_spans, &n);
	return n;
}

/* Its part of a budget, rounded up so that nothing is left without a slice. */
static u64 share(u64 budget, u64 part, u64 whole)
{
	return (u64)((double)budget * (double)part / (double)MAX(whole, 1)) + 1;
}

struct part {
	u64 most, of; /* slices for all, and how many there are */
};

static int group_part(struct pf_draw *a, struct pf_spans *s, void *arg)
{
	const struct part *p = arg;

	return s->n ? group_plain(a, s, share(p->most, s->n, p->of)) : 0;
}

/* Calls and requests share with the commands what the rest leaves them; *budget becomes what they leave. */
static int reduce_programs(struct pf_draw *a, u64 *budget)
{
	u64 n = program_slices(a), others = other_slices(a), cmds = commands(a);
	struct part p = { share(*budget - MIN(others, *budget / 4), n, n + cmds), n };
	int ret = 0;

	if (n && n + others + cmds > *budget) {
		a->aggregated = true;
		ret = n > p.most ? pf_programs_each(a, group_part, &p) : 0;
		n = program_slices(a);
	}
	*budget -= MIN(n, *budget - 1);
	return ret;
}

/* Objects and requests give way only where they are many: they are what the commands are explained by. */
static int reduce(struct pf_draw *a, u64 budget, const struct perfetto_options *o)
{
	int ret = reduce_programs(a, &budget);
	u64 others = other_slices(a), n = commands(a), most = budget / 4;

	if (n < budget - most)
		most = budget - n;
	a->aggregated |= others > most || n + others > budget;
	if (!ret && others > most) {
		u32 i;

		if (a->objects.n)
			ret = group_objects(a, share(most, a->objects.n, others));
		if (!ret && a->serving.n)
			ret = group_plain(a, &a->serving, share(most, a->serving.n, others));
		if (!ret && a->losses.n)
			ret = group_plain(a, &a->losses, share(most, a->losses.n, others));
		if (!ret)
			ret = pf_instants_group(a, &a->info, share(most, a->info.n, others));
		for (i = 0; i < a->n_units && !ret; i++)
			ret = pf_instants_group(a, &a->unit[i].anomalies, share(most, a->unit[i].anomalies.n, others));
		others = other_slices(a);
	}
	if (!ret && n + others > budget)
		ret = pf_groups_make(a, others < budget ? budget - others : 1, o);
	return ret;
}

/* The narrowest bins of which there are not too many for a counter. */
static u32 sample_shift(const struct pf_unit *u)
{
	const struct pf_draw *a = u->arm;
	u64 first = pf_time(a, a->m->cmd.ts_ns[pf_row(u, 0)]);
	u64 last = pf_time(a, a->m->cmd.ts_ns[pf_row(u, u->n_rows - 1)]);
	u32 shift = 0;

	while ((last - first) >> shift > LEAN_SAMPLES)
		shift++;
	return shift;
}

static void make_lean(struct pf_draw *a)
{
	u32 i;

	a->lean = a->stats->lean = true;
	for (i = 0; i < a->n_units; i++) {
		struct pf_unit *u = &a->unit[i];

		u->sample_shift = u->n_rows ? sample_shift(u) : 0;
		a->stats->sample_bin_ns = MAX(a->stats->sample_bin_ns, bin_width(u->sample_shift));
	}
}

static u64 all_slices(struct pf_draw *a)
{
	return commands(a) + other_slices(a) + program_slices(a);
}

int pf_detail(struct pf_draw *arms, u32 n, const struct perfetto_options *o)
{
	u64 total = 0, cmds = 0;
	int ret = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		cmds += commands(&arms[i]);
		total += all_slices(&arms[i]);
	}
	if (o->detail == DETAIL_LEAN || (o->detail == DETAIL_AUTO && cmds > PF_LEAN_COMMANDS))
		for (i = 0; i < n; i++)
			make_lean(&arms[i]);
	if (!o->slice_budget || total <= o->slice_budget)
		return 0;
	for (i = 0; i < n && !ret; i++)
		ret = reduce(&arms[i], share(o->slice_budget, all_slices(&arms[i]), total), o);
	return ret;
}
