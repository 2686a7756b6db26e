/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a load path: how the commands of objects follow each other.
 * Commands that reached the device, of one direction, that belong to an object
 * (an operation, or a trace id without a record).
 */
#ifndef KVIO_LOADPATH_H
#define KVIO_LOADPATH_H

#include "model/measure.h"
#include "model/semantic.h"

struct loadpath_count {
	u64 value, n;
};

#define LOADPATH_NO_RANK UINT64_MAX

struct loadpath {
	u64 cmds, other_way; /* of objects, of this direction and of the other */
	u64 untagged;	     /* of this direction, in no object */
	u64 objects, bytes;
	struct loadpath_count *size; /* objects by their bytes, ascending */
	u32 n_sizes;
	struct loadpath_count *rank; /* objects by rank, ascending; LOADPATH_NO_RANK last */
	u32 n_ranks;
	u64 processes, threads;
	u64 first_pid; /* the lowest one */
	/* Submissions in the order of time: followed by one of the same object, or of another. */
	u64 same, different;
	struct dist gap;     /* between submissions of one object */
	struct dist any_gap; /* between submissions */
	struct dist service; /* latencies */
	/* Objects and commands at once: from submission to completion; from first to last submission. */
	bool completions; /* the capture has them */
	u64 max_objects, max_commands;
	u64 max_objects_submitting;
	double mean_objects, mean_commands; /* over the whole span; 0 when it is 0 */
	u64 submit_span_ns;		    /* first to last submission */
	u64 span_ns;			    /* first submission to last completion */
};

/* `s` may be NULL: ranks are then those of keys.  0 or -ENOMEM; loadpath_free() in both cases. */
int loadpath_take(struct loadpath *p, const struct model *m, const struct semantic *s, enum dir way);
void loadpath_free(struct loadpath *p);

#endif
