/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: slices of one track must nest, so slices that overlap, or only touch,
 * go to tracks of their own.  First fit: a slice takes the lowest lane whose
 * last slice ended before it begins.  O(log lanes) a slice, memory for the
 * lanes only.
 *
 * Slices are given in order of their begin (equal begins: in order of end);
 * before each, what ended before it is taken off with lanes_pop() and its lane
 * given back with lanes_idle().
 */
#ifndef KVIO_PERFETTO_LANES_H
#define KVIO_PERFETTO_LANES_H

#include "lib/types.h"

struct lane_slice {
	u64 end_ns;
	u32 lane;
	bool silent; /* its end is not written (again) */
};

#define LANE_LEVELS 3

struct lanes {
	struct lane_slice *busy; /* heap of four children, earliest end first */
	/* A bit for each idle lane; above it one for each word that has any, and so on. */
	u64 *idle[LANE_LEVELS];
	u32 n_busy, n_idle;
	u32 n; /* lanes used so far */
	u32 cap;
};

/* Puts a slice on a lane; its number, or -ENOMEM. */
s64 lanes_take(struct lanes *l, u64 end_ns, bool silent);

/* The slice that ends next; NULL when none is open.  Valid until the next call. */
static inline const struct lane_slice *lanes_next(const struct lanes *l)
{
	return l->n_busy ? l->busy : NULL;
}

/* Takes off the slice that ends next.  There must be one. */
struct lane_slice lanes_pop(struct lanes *l);
/* The lane may be used again. */
void lanes_idle(struct lanes *l, u32 lane);
/* Gives back the lanes of all slices that ended before `now`. */
static inline void lanes_advance(struct lanes *l, u64 now)
{
	while (l->n_busy && l->busy->end_ns < now)
		lanes_idle(l, lanes_pop(l).lane);
}

/* All lanes unused; keeps the memory. */
void lanes_reset(struct lanes *l);
void lanes_free(struct lanes *l);

#endif
