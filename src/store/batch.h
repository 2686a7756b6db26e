/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of objects, issued and awaited.  How many objects and how many
 * commands of each are under way at a time is what makes a load path:
 *
 *   serial      objects 1, window 1   one command at a time: QD~1
 *   parallel N  objects N, window 1   as N threads that each do that
 *   batched     no limit              all of them, as deep as the queue
 */
#ifndef KVIO_STORE_BATCH_H
#define KVIO_STORE_BATCH_H

#include <signal.h>
#include <stdatomic.h>

#include "io/engine.h"
#include "kv/split.h"
#include "lib/hist.h"

/* An object to be written or read: a header, then the payload, together at `mem` as at `offset`. */
struct batch_op {
	u8 op;		  /* enum kv_op: KV_STORE writes both, KV_LOAD reads the payload */
	bool with_header; /* of a load: reads the header, too */
	u32 trace_id;	  /* 0 = untagged */
	u32 key;	  /* the caller's own */
	u64 offset;	  /* of the header */
	u64 header_bytes, payload_bytes;
	u8 *mem; /* header_bytes, then the payload rounded up to the alignment */

	/* Results. */
	u64 start_ns, end_ns; /* 0 = never began */
	/* 0 = all done.  Negative an errno, positive an NVMe status, of the first command that failed. */
	s32 res;
	u32 failed; /* commands */

	/* While it runs. */
	struct kv_plan plan;
	u64 issued, done;
};

struct batch_how {
	u64 xfer, align;      /* bytes of a command, and what the last one is rounded up to */
	u32 objects, window;  /* 0 = no limit */
	bool header_last;     /* a header goes when its payload is on the device */
	u64 timeout_ns;	      /* of a command; 0 = wait for ever */
	_Atomic u64 *counter; /* low half of user_data; shared by all queues */
};

#define BATCH_ERRORS 16

/* Sums over batches. */
struct batch_sums {
	struct {
		u64 commands, bytes; /* that succeeded */
		struct hist lat_ns;  /* of those */
	} of[N_KV_OPS];
	u64 failed, refused; /* at the device, and before it */
	struct batch_error {
		s32 res;
		u64 n;
	} error[BATCH_ERRORS]; /* by code; the last one takes all that do not fit */
	u32 n_errors;
	u32 most_in_flight;
};
void batch_sums_add(struct batch_sums *to, const struct batch_sums *from);

/*
 * Runs ops[first], ops[first + step], ... of n.  Once *stop is set no object is
 * begun, and no further command of those begun; they end with -ECANCELED.
 * Failed commands are results.  0; -ETIME when a command is older than
 * timeout_ns (it and others are in flight still: io_queue_each() tells which,
 * and their memory must stay); -ERANGE when the tags are used up; -errno of
 * the queue.
 */
int batch_run(struct io_queue *q, struct batch_op *ops, u32 n, u32 first, u32 step, const struct batch_how *how,
	      struct batch_sums *sums, const volatile sig_atomic_t *stop);

#endif
