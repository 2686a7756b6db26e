/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands in flight by their end, for a sweep over submissions and
 * completions: taken in a block at a time, for which one sort of the ends that
 * come within the block costs less than a heap of all.
 *
 *	while (i < n)
 *		for (last = flights_block(&h, i, n); i < last; i++)
 *			flights_add(&h, ...);
 *		flights_settle(&h, time of submission of the last one, UINT64_MAX after all);
 *		v[n_carried] to v[n - 1] are new; flights_next() are those that end, h.at++ takes one.
 */
#ifndef KVIO_FLIGHTS_H
#define KVIO_FLIGHTS_H

#include "lib/types.h"

struct flight {
	u64 end;
	u32 cmd;
	u32 thread; /* for the caller */
};

/* All zero is empty. */
struct flights {
	struct flight *v; /* in the order they came: those of earlier blocks, then those of this one */
	size_t n, cap, n_carried;
	u64 *due; /* those that end within the block, by end and then as they came: index in v, in the lower bits */
	u64 *room;
	size_t n_due, cap_due, at;
	u64 until; /* the end of the block */
	u32 index_bits;
};

/* Begins the block at command `first` of n, when all that were due have been taken; where it ends (exclusive). */
u32 flights_block(struct flights *h, u32 first, u32 n);

/* One more of the block, later than all before it; 0 or -ENOMEM. */
int flights_add(struct flights *h, struct flight f);

/* The block is complete: those that end until then (inclusive) will be next; 0 or -ENOMEM. */
int flights_settle(struct flights *h, u64 until);

/* The one that ends next, of those that end within the block; NULL when there is none left. */
static inline const struct flight *flights_next(const struct flights *h)
{
	return h->at < h->n_due ? &h->v[h->due[h->at] & ((1ull << h->index_bits) - 1)] : NULL;
}

void flights_free(struct flights *h);

#endif
