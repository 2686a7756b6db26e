/* SPDX-License-Identifier: Apache-2.0 */
/* The rings between BPF programs and user space: one for each group of CPUs. */
#ifndef KVIO_RING_H
#define KVIO_RING_H

#include "lib/types.h"

struct rings;

/* How many rings this machine has. */
u32 rings_count(void);
/* Rounded up to what a ring can have: a power of two of at least a page. */
u64 ring_size(u64 bytes);

/*
 * Makes the rings, puts them into the array-of-maps map_fd, which is the ring
 * itself where there is one, and reads them into fn(arg, record, size).
 * 0 or -errno.
 */
int rings_open(struct rings **out, int map_fd, u64 bytes_each, int (*fn)(void *arg, const void *record, size_t size),
	       void *arg);
/*
 * Has the program (touch_ring of tasks.bpf.c) write to every page, before there
 * are records: where a hypervisor gives memory at the first touch, a traced
 * program would wait for it.  What cannot be touched stays as it is.
 */
void rings_touch(struct rings *r, int prog_fd);
/*
 * Delivers what is there, waiting for it up to timeout_ms (0: not at all), at
 * most `budget` records.  Returns 1 when the budget was used up, 0, or -errno.
 */
int rings_consume(struct rings *r, int timeout_ms, u32 budget);
void rings_close(struct rings *r);

#endif
