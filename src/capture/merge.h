/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items of several captures in the order of their times.
 *
 * Captures are almost sorted: a tracer writes a command when it completes, and
 * drains one ring behind the other.  So items wait in memory of a fixed size,
 * and the earliest one comes out when it is full.  What is further out of order
 * than that comes late: it is delivered and counted.  Items without a time stay
 * with the one in front of them.
 */
#ifndef KVIO_MERGE_H
#define KVIO_MERGE_H

#include "capture/item.h"

/* The next item of a source: 1, 0 at its end, -errno. */
typedef int (*merge_next_fn)(void *arg, u32 source, struct item *it);

struct merge_info {
	u64 late;	  /* items that came out behind a later one */
	u64 late_by_ns;	  /* the most that one was late by */
	u32 first_source; /* of the first that was late */
};

struct merge;

/* Holds up to some `max_bytes`.  NULL = no memory. */
struct merge *merge_new(u32 n, merge_next_fn next, void *arg, size_t max_bytes);
void merge_free(struct merge *m);
/* The next item, without its `rec`, and its source: 1, 0 at the end of all, -errno. */
int merge_next(struct merge *m, struct item *it, u32 *source);
const struct merge_info *merge_info(const struct merge *m);

#endif
