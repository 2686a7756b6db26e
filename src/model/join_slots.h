/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operation fits a byte at a time best.  The ends of all slots cut the
 * device into segments, over which a segment tree keeps the operations: each
 * in the few nodes that cover its slot, in each node in order of their starts.
 * A question looks into the nodes above its segment.  Questions come in order
 * of time, so that each node is walked through once, and neither many uses of
 * one slot nor slots that were cut anew make it slow.
 */
#ifndef KVIO_JOIN_SLOTS_H
#define KVIO_JOIN_SLOTS_H

#include "model/join.h"

/* How well an operation fits; less is better. */
enum fit {
	FIT_FRESH, /* it runs, and has not had the byte yet */
	FIT_AGAIN, /* it runs */
	FIT_NEAR,  /* it ran, or will, within the slack */
	FIT_OTHER, /* added when the direction differs */
	FIT_NONE = 2 * FIT_OTHER
};

struct candidate {
	u32 op; /* NONE when there is none */
	u32 fit;
	u64 distance_ns;
	u32 list, at; /* where it stands */
};

/* The operations of one node that go one way, and how far time has come. */
struct slot_list {
	u64 next_ns;  /* when the next of them begins */
	u64 until_ns; /* how long the first that is not over runs */
	u32 begun;    /* how many have begun */
	u32 open;     /* the first that is not over */
	u32 last;     /* of those that have begun, the one that runs longest */
	bool concurrent;
};

struct slots {
	const struct model *m;
	struct ways ways;
	u64 header_bytes, align;
	u64 *edge;  /* where segments begin and end, sorted, distinct */
	bool *base; /* of each segment: a slot begins there */
	size_t n_segments;
	u32 *up;		/* of each node: itself or the next above with operations, 0 = none */
	u32 *first;		/* of each list in `row`, and the end of the last */
	u32 *row;		/* operations */
	struct slot_list *list; /* at `first` of each */
	u64 *until;		/* of concurrent lists, at twice `first`: maximum tree of the ends */
	struct map64 had;	/* hash of (list, offset) -> first operation of the list that has not had the byte */
};

/* 0 or -ENOMEM; slots_free() in both cases. */
int slots_make(struct slots *x, const struct model *m, const bool *use);
void slots_free(struct slots *x);
u64 slot_end(const struct slots *x, u32 op);
/* The last segment that begins at or before the offset, the first when none does; there must be segments. */
size_t segment_at(const struct slots *x, u64 offset);
/* Any operation has the segment in its slot. */
bool slots_cover(const struct slots *x, size_t segment);
/* The best operation for the bytes of a segment from `offset` on, at a time not before that of the last question. */
void slots_ask(struct slots *x, size_t segment, u64 offset, u64 ts, enum dir dir, struct candidate *best);
/* Remembers, where it matters, that the operation had the bytes from `offset` on.  0 or -ENOMEM. */
int slots_take(struct slots *x, const struct candidate *c, u64 offset);

#endif
