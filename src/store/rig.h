/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that a command needs to issue KV IO: a guarded target, a store on it,
 * buffers, and one or more queues.  Opened in the order in which things can be
 * wrong, so that nothing is written before all of it is right.
 */
#ifndef KVIO_STORE_RIG_H
#define KVIO_STORE_RIG_H

#include <pthread.h>

#include "io/guard.h"
#include "store/store.h"

enum load_path {
	PATH_SERIAL,	 /* one command at a time */
	PATH_BATCHED,	 /* all commands of all objects of a call */
	PATH_PARALLEL,	 /* n objects at a time, each serial */
	PATH_MULTI_RING, /* batched, on n rings with a thread each */
};
/* "serial", "batched", "parallel:N", "multi-ring:N".  -EINVAL. */
int load_path_parse(const char *word, enum load_path *path, u32 *n);
#define LOAD_PATH_MAX 256u

struct rig_options {
	struct guard_request target;
	enum io_kind engine;
	/* The layout; 0 = as below.  slot_bytes: what payload_bytes needs, in whole MiB. */
	u64 capacity_bytes; /* the whole target; of a new file 8 GiB */
	u64 meta_bytes, header_bytes, block_align, slot_bytes;
	u64 payload_bytes; /* of the largest object */
	/* Of a command: 0 = what device and kernel take (uring_cmd), 128 KiB (others). */
	u64 max_xfer;
	bool over_limit; /* max_xfer even above what they take */

	enum load_path path;
	u32 path_n;
	u32 depth;	  /* of each ring */
	u32 batch;	  /* most objects of a call */
	u64 memory_bytes; /* at most, for buffers; but always for one object */
	bool huge_pages, no_fixed_buffers;

	bool header_last, payload_sum, check_header;
	u64 timeout_ns;
};

struct rig_worker {
	struct rig *rig;
	u32 number;
	pthread_t thread;
	bool started;
	struct io_queue *q;
	struct batch_sums sums;
	int ret;
};

struct rig {
	struct rig_options o;
	struct guard guard;
	struct store store;
	u64 xfer, limit;   /* bytes of a command; what device and kernel take, 0 = unknown or no such limit */
	const char *bound; /* what sets xfer: "MDTS", "max_segments", "max_xfer", ... */
	u32 n_buffers;	   /* objects in memory, at most o.batch */
	u64 stride;
	u8 *arena;
	bool huge;
	struct rig_worker *worker; /* the first one is the thread that opened the rig */
	u32 n_workers;
	pthread_barrier_t begin, end;
	bool barriers, quit;
	/* The batch that runs. */
	struct batch_op *ops;
	u32 n_ops;
	struct batch_how how;
	const volatile sig_atomic_t *stop;
	bool wedged; /* a command hangs: its memory stays */
	bool used;   /* something was issued */
};

/* 0, or -errno and why[GUARD_WHY].  Close in any case. */
int rig_open(struct rig *r, const struct rig_options *o, const struct device_roots *roots, char *why);
void rig_close(struct rig *r);

/* The memory of object i of a batch: header, then payload. */
static inline u8 *rig_mem(const struct rig *r, u32 i)
{
	return r->arena + i * r->stride;
}
/*
 * Runs a batch of at most n_buffers operations, all of them stores or all
 * loads, and takes the results into the store.  As batch_run().
 */
int rig_run(struct rig *r, struct batch_op *ops, u32 n, const volatile sig_atomic_t *stop);
/* Sums over all queues; *s is zeroed first. */
void rig_sums(const struct rig *r, struct batch_sums *s);
/* The states of all queues together: resubmitted and in_flight are sums, the rest holds if for all. */
struct io_state rig_state(const struct rig *r);

#endif
