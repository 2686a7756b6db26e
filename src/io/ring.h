/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe passthrough through one io_uring (IORING_OP_URING_CMD on a char node).
 * One thread a ring.  The caller keeps each command's buffer alive until that
 * command is reaped.
 */
#ifndef KVIO_IO_RING_H
#define KVIO_IO_RING_H

#include <liburing.h>
#include <linux/nvme_ioctl.h>

#include "lib/types.h"

struct ring {
	struct io_uring uring;
	u32 prepared;  /* pushed, not yet given to the kernel */
	u32 in_flight; /* given to the kernel, not yet reaped */
};

struct ring_done {
	u64 user_data;
	/*
	 * 0 = success.  Negative: an errno of the kernel, the command did not
	 * reach the device (-EINVAL: larger than the transfer limit).  Positive:
	 * the device's NVMe status, see ring_status_*().
	 */
	s32 res;
};

/*
 * A ring for `entries` commands between two submissions and a completion queue
 * of `cq_entries` (0 = twice that); both are rounded up to a power of two.
 * Returns 0; -ENOSYS (no io_uring), -EPERM (switched off by sysctl, or a
 * seccomp filter), -EINVAL (a kernel before 5.19: no big entries), -ENOMEM.
 */
int ring_open(struct ring *r, u32 entries, u32 cq_entries);
/*
 * Frees the ring.  Commands in flight are not waited for here, but a process
 * that exits with some waits in the kernel until the device or its time-out
 * ends them.
 */
void ring_close(struct ring *r);

/* A read of nlb blocks (1..65536) at slba into buf; len = their bytes in the buffer. */
struct nvme_uring_cmd ring_read_cmd(u32 nsid, u64 slba, u32 nlb, void *buf, u32 len);

/* Queues a command for the char node fd.  -EBUSY when the submission queue is full: call ring_submit(). */
int ring_push(struct ring *r, int fd, const struct nvme_uring_cmd *cmd, u64 user_data);
/* Hands all queued commands to the kernel.  0 or -errno; after an error the rest stays queued. */
int ring_submit(struct ring *r);
/*
 * Waits until a command is done, at most timeout_ns, and takes up to max of
 * those that are.  Returns how many; 0 when none is in flight; -ETIME when
 * none finished in time, -EINTR after a signal.
 */
int ring_reap(struct ring *r, struct ring_done *done, u32 max, u64 timeout_ns);

/* True while completions wait in the kernel because the completion queue is full. */
static inline bool ring_overflowed(const struct ring *r)
{
	return io_uring_cq_has_overflow(&r->uring);
}

/* The parts of a positive res: status code type, status code, do-not-retry. */
static inline u32 ring_status_sct(s32 res)
{
	return (u32)res >> 8 & 7;
}
static inline u32 ring_status_sc(s32 res)
{
	return (u32)res & 0xff;
}
static inline bool ring_status_dnr(s32 res)
{
	return (u32)res >> 14 & 1;
}
/* "LBA out of range", ...; "" when the code has no name here. */
const char *ring_status_name(s32 res);

#endif
