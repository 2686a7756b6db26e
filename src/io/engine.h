/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes in flight on a device or file, by one of three engines
 * behind one interface.  One thread a queue: the one that opened it.
 *
 * What is in flight is accounted for here, command by command, not read off
 * the kernel's rings: never more than `depth`, each one found by its
 * user_data, each one's age known.
 */
#ifndef KVIO_ENGINE_H
#define KVIO_ENGINE_H

#include <sys/uio.h>

#include "lib/types.h"

enum io_kind {
	IO_POSIX,     /* pread and pwrite, one after the other */
	IO_URING,     /* io_uring read and write */
	IO_URING_CMD, /* NVMe commands through io_uring on a char node */
	N_IO_KINDS,
};
#define IO_KINDS "posix|io_uring|uring_cmd"
const char *io_kind_name(enum io_kind kind);
/* -EINVAL when there is no such engine. */
int io_kind_parse(enum io_kind *kind, const char *name);

/* Where to; the fd is borrowed. */
struct io_target {
	int fd;
	u32 nsid;      /* IO_URING_CMD */
	u32 lba_bytes; /* offsets, lengths and buffers are multiples of it */
	u64 capacity;
};

struct io_command {
	/* Unique among those in flight; with uring_cmd tracers see it as it is. */
	u64 user_data;
	u64 offset;
	u32 bytes;
	bool write;
	u32 owner; /* the caller's own, given back with the result */
	void *buf; /* stays as it is until the command is reaped */
};

struct io_done {
	struct io_command cmd;
	/*
	 * 0 = all bytes moved.  Negative: an errno, of the kernel or of the file.
	 * Positive: the device's NVMe status, see ring_status_*().
	 */
	s32 res;
	u64 lat_ns; /* from its submission; of a failed one it says nothing about speed */
};

struct io_options {
	enum io_kind kind;
	u32 depth; /* most commands in flight, 1 to IO_MAX_DEPTH */
	/*
	 * Buffers to register with io_uring, or none.  A command whose buffer lies
	 * in one of them uses it (with uring_cmd only when both end together);
	 * a kernel or limit that refuses them costs speed only, see io_state.
	 */
	const struct iovec *buffer;
	u32 n_buffers;
	bool no_fixed_file;
};
#define IO_MAX_DEPTH 4096

struct io_queue;

/* 0; -ENOSYS, -EPERM, -EINVAL, -ENOMEM as ring_open(). */
int io_queue_open(struct io_queue **q, const struct io_target *t, const struct io_options *o);
/*
 * Frees the queue.  With commands in flight their memory must stay as it is:
 * the device may still write to it.
 */
void io_queue_close(struct io_queue *q);

/*
 * Takes a command in; it goes to the kernel with the next io_submit() or
 * io_reap().  -EBUSY: `depth` of them are there; -EINVAL: no multiple of
 * the block, empty, or more than 65536 blocks; -ENXIO: beyond the end;
 * -EEXIST: its user_data is in flight.  No such command is ever waited for.
 */
int io_push(struct io_queue *q, const struct io_command *c);
/*
 * Hands over what was pushed.  What the kernel cannot take now stays and goes
 * with the next call.  0 or -errno of the ring itself.
 */
int io_submit(struct io_queue *q);
/*
 * Submits, waits until a command is done, at most timeout_ns, and takes up to
 * max of those that are.  A transfer that was cut short goes on by itself.
 * Returns how many; 0 when none is in flight; -ETIME when none finished in
 * time, -EINTR after a signal, -EPROTO for a completion of no command of ours.
 */
int io_reap(struct io_queue *q, struct io_done *done, u32 max, u64 timeout_ns);

struct io_state {
	u32 in_flight;	 /* pushed, not reaped */
	u64 oldest_ns;	 /* CLOCK_MONOTONIC of the submission that waits longest; 0 when none */
	u64 resubmitted; /* cut short, interrupted, or told to try again */
	bool fixed_file, fixed_buffers;
};
/* Looks at each of them; the two below do not. */
struct io_state io_queue_state(const struct io_queue *q);
u32 io_queue_in_flight(const struct io_queue *q);
/* True when io_push() would say -EBUSY. */
bool io_queue_full(const struct io_queue *q);
/* Calls fn for each command in flight, e.g. to say what hangs. */
void io_queue_each(const struct io_queue *q, void (*fn)(void *arg, const struct io_command *c, u64 start_ns),
		   void *arg);

/*
 * Memory for buffers, page-aligned, written once so that no page is missing
 * later.  On huge pages when `huge` and there are enough: *huge tells.  NULL =
 * no memory; io_buffer_free() with the same size.
 */
void *io_buffer_alloc(size_t bytes, bool *huge);
void io_buffer_free(void *p, size_t bytes);
#define IO_HUGE_BYTES (2u << 20)

#endif
