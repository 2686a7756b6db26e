/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics of unsigned numbers: the only place where a percentile is taken. */
#ifndef KVIO_DIST_H
#define KVIO_DIST_H

#include "lib/types.h"

/* How every percentile of the program is taken, for outputs that say so. */
#define PERCENTILE_METHOD "nearest-rank"

struct dist {
	u64 n; /* 0: all other members are 0 and mean nothing */
	u64 min, p25, p50, p95, p99, max;
	u64 sum; /* saturated */
};

/* Sorts v ascending.  Takes n * 8 bytes for the time of the call; -ENOMEM. */
int u64_sort(u64 *v, size_t n);

/*
 * The nearest-rank percentile: the smallest element that at least percent
 * per cent of the n elements do not exceed.  It is always one of the elements.
 * 0 when n is 0.
 */
u64 u64_percentile(const u64 *sorted, size_t n, u32 percent);

/* Sorts v and takes its figures.  -ENOMEM. */
int dist_take(struct dist *d, u64 *v, size_t n);

#endif
