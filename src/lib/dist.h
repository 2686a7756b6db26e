/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics of unsigned numbers: the only place where a percentile is taken. */
#ifndef KVIO_DIST_H
#define KVIO_DIST_H

#include "lib/types.h"

/* How a percentile is taken; it is always one of the elements. */
enum percentile_method {
	/* The smallest element that at least q of the n do not exceed: number ceil(q * n). */
	PERCENTILE_NEAREST,
	/* Number floor(q * n) + 1: what older reports print; one element too high where q * n is whole. */
	PERCENTILE_FLOOR,
};

/* The names of the methods, for outputs that say so. */
#define PERCENTILE_METHOD "nearest-rank"
const char *percentile_name(enum percentile_method method);

struct dist {
	u64 n; /* 0: all other members are 0 and mean nothing */
	u64 min, p25, p50, p95, p99, max;
	u64 sum; /* saturated */
};

/* Sorts v ascending.  Takes n * 8 bytes for the time of the call; -ENOMEM. */
int u64_sort(u64 *v, size_t n);
/* The same with room for n elements at tmp. */
void u64_sort_in(u64 *v, size_t n, u64 *tmp);
/* The same by the bits from `low` on only; those that are equal by them stay in their order. */
void u64_sort_from(u64 *v, size_t n, u64 *tmp, u32 low);

/* The nearest-rank percentile; 0 when n is 0. */
u64 u64_percentile(const u64 *sorted, size_t n, u32 percent);

/* Takes the figures of v and reorders it.  -ENOMEM. */
int dist_take(struct dist *d, u64 *v, size_t n);
int dist_take_by(struct dist *d, u64 *v, size_t n, enum percentile_method method);

/*
 * The 95 % interval of the median of n paired differences: numbers (from 0) of
 * the sorted elements between which it lies.  It is what a percentile
 * bootstrap comes to with ever more resamples, computed and not drawn, so the
 * same input gives the same interval.  False for less than MEDIAN_MIN_N
 * elements, which cannot carry one.
 */
#define MEDIAN_MIN_N 6
bool median_interval(size_t n, size_t *low, size_t *high);

#endif
