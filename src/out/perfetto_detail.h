/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Less detail: what is needed to draw many things as one.
 *
 * Bins of time have a width that is a power of two, so that the number of bins
 * of every width is known after one pass: two times are in different bins of
 * width 2^k when they differ in a bit above the lowest k.
 */
#ifndef KVIO_PERFETTO_DETAIL_H
#define KVIO_PERFETTO_DETAIL_H

#include "lib/hash.h"

struct bins {
	u64 n_keys;	/* each has one bin at least */
	u64 change[65]; /* steps from one time of a key to its next, by the highest bit that changes */
};

/* A step from one time of a key to the next, which is not earlier. */
static inline void bins_step(struct bins *b, u64 from, u64 to)
{
	b->change[from == to ? 0 : 64 - __builtin_clzll(from ^ to)]++;
}

/* The narrowest bins, as a shift, of which there are at most `most`; 64 when even one a key is too many. */
static inline u32 bins_choose(const struct bins *b, u64 most)
{
	u64 n = b->n_keys;
	u32 k = 64;

	/* One more bin for every step that the narrower width tells apart. */
	while (k > 0 && n + b->change[k] <= most)
		n += b->change[k--];
	return k;
}

static inline u64 bin_of(u64 ns, u32 shift)
{
	return shift < 64 ? ns >> shift : 0;
}

/* The width as outputs say it; UINT64_MAX = all of the time is one bin. */
static inline u64 bin_width(u32 shift)
{
	return shift < 64 ? 1ull << shift : UINT64_MAX;
}

/* Different values are numbered from 0 in order of first appearance. */
struct numbers {
	struct map64 at;
	u32 n;
};
s64 number_of(struct numbers *x, u64 value); /* -ENOMEM */
static inline void numbers_free(struct numbers *x)
{
	map64_free(&x->at);
	x->n = 0;
}

/* Of the values of each group. */
struct median {
	u64 p50, max; /* 0 without values */
	u32 n;
};
/*
 * Asks for the value of each of n items and takes the medians of n_groups
 * groups into *out, to be freed.  value() says false for an item that has
 * none.  0 or -ENOMEM.
 */
typedef bool (*median_value)(const void *arg, u32 item, u32 *group, u64 *value);
int medians_take(struct median **out, u32 n_groups, u32 n, median_value value, const void *arg);

#endif
