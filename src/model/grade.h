/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture held against what its semantic records make one expect: for each
 * operation the commands that were to come, and those that came.
 *
 * What counts as measured are commands that reached the device and belong to
 * the operation by the join of the model; sizes are measured lengths.  An
 * operation is exact when the number, the bytes and the sizes of its commands
 * are those projected, all go its way, and, where the capture tells places,
 * they cover its slot without hole or overlap and nothing else.
 */
#ifndef KVIO_GRADE_H
#define KVIO_GRADE_H

#include "kv/sizes.h"
#include "kv/split.h"
#include "model/measure.h"
#include "model/semantic.h"

struct grade_options {
	u64 header_bytes, xfer, align;
	bool assume_complete; /* a capture without a count of losses lost none */
};

enum grade_flags {
	GRADE_COUNT = 1 << 0,  /* as many commands */
	GRADE_BYTES = 1 << 1,  /* as many bytes */
	GRADE_SIZES = 1 << 2,  /* of the same sizes */
	GRADE_WAY = 1 << 3,    /* all of the direction of the operation, none failed */
	GRADE_PLACED = 1 << 4, /* places are known ... */
	GRADE_PLACE = 1 << 5,  /* ... and right: in the slot, no hole, no overlap */
	GRADE_ORDER = 1 << 6,  /* ... and submitted in the order of the projection; counts for nothing */
	GRADE_EXACT = 1 << 7,
};

/* One operation that is scored: a store or a load without an error. */
struct grade_op {
	u32 op; /* row of the model */
	u32 flags;
	u64 projected_cmds, measured_cmds, projected_bytes, measured_bytes;
	u64 wrong_way, failed;
	u64 hole_bytes, overlap_bytes, outside_bytes; /* with GRADE_PLACED */
};

/* What the bytes on the wire were; only of operations whose places are known. */
enum grade_part {
	PART_HEADER,	   /* of the slot */
	PART_CODEC_HEADER, /* what the components leave of the payload, at its begin */
	PART_K,
	PART_V,
	PART_SCALES,
	PART_KV,      /* payload that is not told apart */
	PART_PADDING, /* behind the payload, to the alignment */
	PART_OUTSIDE, /* of the operation's range */
	N_GRADE_PARTS
};
const char *grade_part_name(enum grade_part part);

struct grade_bucket {
	u32 op, part; /* strings of the model; part 0 is "kv" */
	struct kv_sizes sizes;
	struct kv_size_distance distance;
};

struct grade {
	struct grade_op *op;
	u32 n;
	u64 exact, exact_count, exact_bytes, exact_sizes, right_way, placed, right_place, in_order;
	/* exact_match as the older tool has it: count and bytes only. */
	u64 exact_count_and_bytes;
	u64 projected_cmds, measured_cmds, projected_bytes, measured_bytes;
	u64 abs_error_bytes;		/* sum of |measured - projected| */
	u64 missing_bytes, extra_bytes; /* its two halves */
	u64 missing_cmds, extra_cmds;	/* by operation, as the bytes are */
	struct kv_sizes sizes;
	struct kv_size_distance distance;
	struct grade_bucket *bucket;
	u32 n_buckets;
	u64 part_bytes[N_KV_OPS][N_GRADE_PARTS];
	/* What is in no operation that is scored. */
	u64 untagged_cmds, untagged_bytes;
	u64 orphan_cmds, orphan_bytes;	 /* tagged, but no record claims the tag; with other joins: in no object */
	u64 unscored_ops, unscored_cmds; /* failed operations and deletes, and their commands */
	u64 refused_cmds;
	u64 duplicate_ids;  /* operations that share a trace id with another one of their instance */
	u64 ambiguous_cmds; /* that could not be told apart by process or place */
	struct health health;
	bool no_data;	 /* no operation to score, or no command at all */
	bool incomplete; /* the capture, or what is known of it */
	/* Deviations that no loss of records explains, and all of them. */
	bool contradicted, deviates;
};

/* Of a joined model; `s` may be NULL: then components are not known.  0 or -ENOMEM; grade_free() in both cases. */
int grade_take(struct grade *g, const struct model *m, const struct semantic *s, const struct grade_options *o);
void grade_free(struct grade *g);

#endif
