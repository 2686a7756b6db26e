// SPDX-License-Identifier: Apache-2.0
/*
 * What time of day it was, and arms of several hosts on one axis.  Anchors tie
 * a host's monotonic clock to its real time; between two of them the tie
 * drifts evenly, unless somebody set the clock.
 */
#include <errno.h>
#include <stdlib.h>

#include "out/perfetto_writer.h"

/* A clock that is disciplined drifts less than this; beyond it was set. */
#define MOST_DRIFT	 1e-3
#define SMALLEST_STEP_NS 1000000.0

struct pf_knot {
	u64 monotonic_ns;
	u64 offset_ns; /* real time - monotonic, modulo 2^64 */
};

/* How far the offset b is from a. */
static double drift(u64 a, u64 b)
{
	return (double)(s64)(b - a);
}

/* By the straight line through two knots. */
static u64 offset_at(const struct pf_knot *a, const struct pf_knot *b, u64 ns)
{
	double part = (double)(s64)(ns - a->monotonic_ns) / (double)(b->monotonic_ns - a->monotonic_ns);

	return a->offset_ns + (u64)(s64)(drift(a->offset_ns, b->offset_ns) * part);
}

static u64 real_time(const struct pf_draw *a, u64 ns)
{
	u32 lo = 0, hi = a->n_knots - 1;

	if (!hi)
		return ns + a->knot->offset_ns;
	/* The last knot before it that has one behind it. */
	while (lo + 1 < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (a->knot[mid].monotonic_ns <= ns)
			lo = mid;
		else
			hi = mid;
	}
	return ns + offset_at(&a->knot[lo], &a->knot[lo + 1], ns);
}

u64 pf_aligned_time(const struct pf_draw *a, u64 ns)
{
	u64 real = real_time(a, ns);

	return real > a->shift_ns ? MIN(real - a->shift_ns, PF_MAX_TIME) : 0;
}

static int by_offset(const void *x, const void *y)
{
	const struct pf_knot *a = x, *b = y;
	s64 d = (s64)(a->offset_ns - b->offset_ns);

	return d < 0 ? -1 : d > 0;
}

/* A clock that was set: the middle of what it showed, for all of the time. */
static void flatten(struct pf_draw *a)
{
	struct pf_knot *k = a->knot;
	u32 n = a->n_knots;
	double low, high;

	qsort(k, n, sizeof(*k), by_offset);
	low = drift(k[0].offset_ns, k[n / 2].offset_ns);
	high = drift(k[n / 2].offset_ns, k[n - 1].offset_ns);
	a->stats->clock_error_ns += (u64)MAX(low, high);
	a->stats->clock_was_set = true;
	k[0] = k[n / 2];
	a->n_knots = 1;
}

/* One knot for each time that an anchor ties. */
static int collect(struct pf_draw *a)
{
	const struct model *m = a->m;
	u64 last = 0;
	u32 n = 0, i;

	if (!m->n_anchors)
		return -ENODATA;
	a->knot = malloc(m->n_anchors * sizeof(*a->knot));
	if (!a->knot)
		return -ENOMEM;
	for (i = 0; i < m->n_anchors; i++) {
		const struct anchor *x = &m->anchor[i];

		a->stats->clock_error_ns = MAX(a->stats->clock_error_ns, x->uncertainty_ns);
		if (n && x->monotonic_ns <= last)
			continue;
		last = x->monotonic_ns;
		a->knot[n++] = (struct pf_knot){ last, x->realtime_ns - last };
	}
	a->n_knots = a->stats->clock_anchors = n;
	return 0;
}

static double size(double x)
{
	return x < 0 ? -x : x;
}

/* Whether somebody set the clock between two knots; *error is how far they are from straight lines. */
static bool was_set(const struct pf_draw *a, double *error)
{
	bool set = false;
	u32 i;

	*error = 0;
	for (i = 1; i < a->n_knots; i++) {
		const struct pf_knot *k = &a->knot[i];
		double step = size(drift(k[-1].offset_ns, k->offset_ns));

		set |= step > SMALLEST_STEP_NS && step > MOST_DRIFT * (double)(k->monotonic_ns - k[-1].monotonic_ns);
		if (i + 1 < a->n_knots)
			*error = MAX(*error, size(drift(offset_at(k - 1, k + 1, k->monotonic_ns), k->offset_ns)));
	}
	return set;
}

/* The knots of an arm. */
static int tie(struct pf_draw *a)
{
	double error;
	int ret = collect(a);

	if (ret)
		return ret;
	if (was_set(a, &error))
		flatten(a);
	else
		a->stats->clock_error_ns += (u64)error;
	return 0;
}

int pf_clock_align(struct pf_draw *arms, u32 n, const struct perfetto_options *o)
{
	u64 first = UINT64_MAX;
	u32 i;
	int ret = 0;

	if (!o->align_realtime)
		return 0;
	for (i = 0; i < n && !ret; i++) {
		ret = tie(&arms[i]);
		if (!ret)
			first = MIN(first, real_time(&arms[i], arms[i].base_ns));
	}
	/* Absolute times are those of the first arm's host. */
	if (!ret && n && o->no_rebase)
		first = real_time(&arms[0], arms[0].base_ns) - arms[0].base_ns;
	for (i = 0; i < n && !ret; i++)
		arms[i].shift_ns = first;
	return ret;
}

/* From the anchor nearest to that time; 0 when the capture has none. */
static u64 wall_time(const struct model *m, u64 ns)
{
	const struct anchor *best = NULL;
	u64 best_d = UINT64_MAX;
	u32 i;

	for (i = 0; i < m->n_anchors; i++) {
		u64 t = m->anchor[i].monotonic_ns, d = t > ns ? t - ns : ns - t;

		if (d < best_d) {
			best_d = d;
			best = &m->anchor[i];
		}
	}
	return best ? best->realtime_ns + (ns - best->monotonic_ns) : 0;
}

u64 pf_wall_time(const struct pf_draw *arms, u32 n, const struct perfetto_options *o, u64 ns)
{
	u64 wall = 0;
	u32 i;

	if (n && o->align_realtime)
		return arms[0].shift_ns + ns;
	for (i = 0; i < n && !wall && o->no_rebase; i++)
		wall = wall_time(arms[i].m, ns);
	return wall;
}
