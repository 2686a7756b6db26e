/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of u64 values in fixed memory: 16 buckets for each power of two,
 * so a percentile is at most 6.25 % above the true value.  Values below 16 are
 * exact.
 */
#ifndef KVIO_HIST_H
#define KVIO_HIST_H

#include "lib/types.h"

#define HIST_BUCKETS (16 + 60 * 16)

struct hist {
	u64 n, sum, min, max;
	u64 bucket[HIST_BUCKETS];
};

static inline unsigned int hist_bucket(u64 v)
{
	unsigned int shift;

	if (v < 16)
		return (unsigned int)v;
	shift = 63 - (unsigned int)__builtin_clzll(v) - 4;
	return 16 + shift * 16 + (unsigned int)((v >> shift) & 15);
}

static inline void hist_add(struct hist *h, u64 v)
{
	if (!h->n || v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->n++;
	h->sum += v;
	h->bucket[hist_bucket(v)]++;
}

/* The upper bound of the bucket that holds the percentile, never above max.  0 when empty. */
static inline u64 hist_percentile(const struct hist *h, double percent)
{
	u64 rank = (u64)(percent / 100 * (double)h->n + 0.9999999), seen = 0;
	unsigned int i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen && seen >= rank) {
			unsigned int shift = i < 16 ? 0 : (i - 16) / 16;
			u64 upper = i < 16 ? i : (((u64)(i - 16) % 16 + 17) << shift) - 1;

			return MIN(upper, h->max);
		}
	}
	return h->max;
}

#endif
