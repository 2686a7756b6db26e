/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What iouring.bpf.c and iouring.c tell each other. */
#ifndef KVIO_IOURING_SHARED_H
#define KVIO_IOURING_SHARED_H

#ifndef __bpf__
#include "lib/types.h"
#endif

#include "capture/event.h"
#include "trace/batch_shared.h"

#define URING_SLOTS  65536 /* a power of two: requests under way at once */
#define URING_PROBES 8	   /* slots that a request may have: their keys are one line of the cache */
#define NO_SLOT	     0xffffffffu

/* Requests under way; key 0 = free. */
struct uring_table {
	u64 key[URING_SLOTS] __attribute__((aligned(64)));
	struct ev_uring ev[URING_SLOTS];
};

/* Requests of a CPU on their way to the ring. */
struct batch {
	struct batch_head head;
	struct ev_uring ev[BATCH_MAX];
};

/* Read-only data of the programs, set before load. */
struct iouring_config {
	u64 opcode[4];		  /* bit n: keep opcode n */
	u64 min_bytes, max_bytes; /* keep requests of such a size */
};

#endif
