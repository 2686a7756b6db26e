/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Records of a CPU on their way to the ring: one reservation for many costs a
 * fraction of one for each.  They are put into the ring when there are BATCH_MAX of
 * them, when one must be seen at once, and when user space finds that nothing
 * has moved since it looked last; what is left at the end it reads here.
 */
#ifndef KVIO_BATCH_SHARED_H
#define KVIO_BATCH_SHARED_H

#ifndef __bpf__
#include "lib/types.h"
#endif

#define BATCH_MAX  16u
#define BATCH_CPUS 256u /* CPUs beyond have none */

/* In front of the records, which are of one size: a tracer's struct batch is this and BATCH_MAX of them. */
struct batch_head {
	u32 n;
	u32 taken; /* how often it was emptied */
	u32 busy;  /* a program is at work on it: one that interrupts it leaves it alone */
	u32 pad[13];
};

#endif
