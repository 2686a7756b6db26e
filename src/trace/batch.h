/* SPDX-License-Identifier: Apache-2.0 */
/* The user side of records that go into the ring together, see batch_shared.h. */
#ifndef KVIO_BATCH_H
#define KVIO_BATCH_H

#include <stddef.h>

#include "trace/batch_shared.h"

struct bpf_program;

/* The batches of a tracer, where its programs have them; all zero of one that has none. */
struct batches {
	const void *first;	   /* struct batch of CPU 0, in the memory of the programs */
	size_t bytes;		   /* of a struct batch */
	size_t record_bytes;	   /* of a record */
	struct bpf_program *empty; /* empty_batch */
	u32 taken[BATCH_CPUS];	   /* how often each was emptied when it was looked at last */
};

/* Records that are in no ring yet. */
u64 batches_waiting(const struct batches *b);
/* Has those emptied where nothing moved since the last call: to be called several times a second. */
void batches_push(struct batches *b);
/*
 * Gives fn(arg, records, bytes) what is left, a batch at a time; they still
 * count as waiting.  For when no program can be at work.  0, or what fn returned
 * that is not 0.
 */
int batches_rest(const struct batches *b, int (*fn)(void *arg, const void *records, size_t bytes), void *arg);

#endif
