/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A read workload with a known pattern, through NVMe passthrough.
 *
 * `count` commands of `len` bytes make objects of `per_object` commands (the
 * last one may be shorter).  Command n belongs to object n / per_object and
 * carries user_data = (trace_base + object) << 32 | n.  An object is one
 * contiguous place of the device; places follow each other from `offset` on
 * and wrap before the end, or are chosen by a seeded hash.
 */
#ifndef KVIO_READLOAD_H
#define KVIO_READLOAD_H

#include <signal.h>

#include "io/ring.h"
#include "lib/types.h"

enum readload_fault {
	FAULT_NONE,
	FAULT_PAST_END,	   /* reads behind the last block */
	FAULT_BAD_OPCODE,  /* an opcode that no command set has */
	FAULT_BAD_LENGTH,  /* more blocks than the buffer holds and the drive takes (mdts_bytes) */
	FAULT_CQ_OVERFLOW, /* qd entries of completion queue, not emptied before the end */
};

struct readload_plan {
	int fd; /* char node, borrowed */
	u32 nsid, lba_bytes;
	u64 capacity; /* bytes of the namespace */
	u64 count, len, per_object;
	u32 qd, trace_base;
	u64 offset; /* bytes, a multiple of lba_bytes */
	bool random;
	u64 seed;
	u64 timeout_ns; /* of one command */
	u64 pause_ns;	/* not 0: await each object and wait this long before the next */
	enum readload_fault fault;
	u64 mdts_bytes; /* for FAULT_BAD_LENGTH, not 0 */
};

struct readload_object {
	u64 start_ns, end_ns; /* CLOCK_MONOTONIC: before its first submission, after its last completion; 0 = never */
	u32 done, failed;
	s32 first_error; /* as struct ring_done's res */
};

struct readload_error {
	s32 res;
	u64 n;
};

struct readload {
	struct readload_plan plan;
	u64 n_objects, object_bytes;
	u64 n_places; /* whole objects that fit between offset and the end of the device; 0 = not even one */

	/* Results. */
	u64 issued, completed, ok;
	u64 refused;	       /* by the kernel, before the device */
	u64 failed;	       /* by the device */
	u64 first_ns, last_ns; /* first submission, last completion */
	struct readload_object *object;
	u64 *latency_ns; /* of the ok ones: n of them after the run, in no order */
	/* By code; the last entry also counts the codes that found no place. */
	struct readload_error error[16];
	u32 n_errors;
	bool overflowed;    /* FAULT_CQ_OVERFLOW: the kernel had completions that did not fit */
	u64 wedged_command; /* after -ETIME: the oldest one that is not done */

	/* In use during the run only. */
	struct ring ring;
	bool ring_opened;
	u32 n_slots;
	u8 *buffers;
	size_t stride;
	u32 *free_slot; /* FIFO, so that a buffer rests as long as it can */
	u64 free_head, free_tail;
	u64 *slot_command; /* which command has the buffer */
	u32 *command_slot;
};

#define READLOAD_MAX_COUNT (1u << 22)
#define READLOAD_MAX_QD	   4096u

/*
 * Works out the objects of *plan (copied).  Needs no device; count, len,
 * per_object and qd are not 0 and within the limits.  Then check n_places.
 */
void readload_plan(struct readload *l, const struct readload_plan *plan);
/* Where object i begins on the device, and how many commands it has. */
u64 readload_offset(const struct readload *l, u64 i);
u64 readload_commands(const struct readload *l, u64 i);

/* Allocates buffers and opens the ring: 0, -ENOMEM, or what ring_open() returns. */
int readload_open(struct readload *l);
/*
 * Runs until all is done or *stop is set (then it awaits what is in flight).
 * Failed commands are results, not errors.  Returns 0, -ETIME when a command
 * is not done after timeout_ns (what was done until then is in the results),
 * or -errno of io_uring.
 */
int readload_run(struct readload *l, const volatile sig_atomic_t *stop);
/* Buffers of commands in flight stay mapped, for the device may still write to them. */
void readload_close(struct readload *l);

#endif
