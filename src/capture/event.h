/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The wire: one struct an event.  BPF programs write these into the ring, the
 * capture file stores them as they are, JSON and SQL use the same names.
 * Little-endian, no padding, every record starts with its kind.
 */
#ifndef KVIO_EVENT_H
#define KVIO_EVENT_H

#ifndef __bpf__
#include "lib/types.h"
#endif

enum ev_kind {
	EV_NVME = 1,	/* one NVMe command, struct ev_nvme */
	EV_NVME_KV,	/* one command of a key-value namespace, struct ev_nvme_kv */
	EV_CQ_OVERFLOW, /* a CQE that did not fit its ring, struct ev_cq_overflow */
	EV_TASK,	/* names a thread, struct ev_task */
	EV_DISK,	/* names a device number, struct ev_disk */
	EV_CLOCK,	/* ties the clocks, struct ev_clock (user space) */
	EV_LOSS,	/* running account, struct ev_loss (user space) */
	EV_KINDS
};

enum ev_nvme_flags {
	NVME_PASSTHROUGH = 1 << 0, /* io_uring_cmd; user_data is valid */
	NVME_MULTIPATH = 1 << 1,   /* through a multipath head */
	NVME_IN_FLIGHT = 1 << 2,   /* a snapshot: not completed; lat_ns is its age then */
	NVME_REFUSED = 1 << 3,	   /* failed before the device; status is a negated errno */
	NVME_ADMIN = 1 << 4,	   /* admin queue: no disk, no LBA */
	NVME_ENTRY = 1 << 5,	   /* the entry probe saw it: wait_ns and attempts are measured */
	NVME_VEC = 1 << 6,	   /* vectored passthrough (NVME_URING_CMD_IO_VEC) */
};

/* One NVMe command, written when it completes. */
struct ev_nvme {
	u8 kind;
	u8 flags; /* enum ev_nvme_flags */
	u8 opcode;
	u8 attempts;   /* submissions of this command, at least 1, at most 255 */
	u16 status;    /* NVMe status (SCT << 8 | SC, with DNR and More), or the errno of a refused one */
	u16 hwq;       /* blk-mq hardware queue, 0xffff when it never had one */
	u64 ts_ns;     /* CLOCK_MONOTONIC when the driver built the command */
	u64 lat_ns;    /* from ts_ns to completion */
	u64 user_data; /* of the SQE, passthrough only */
	u64 slba;      /* cdw10 | cdw11 << 32 as the command has it; an LBA for the opcodes that have one */
	u32 bytes;     /* measured: data length of the request */
	u32 wait_ns;   /* from the entry of the first attempt to ts_ns, saturated */
	u32 dev;       /* device number of the disk, kernel encoding (major << 20 | minor), 0 for admin */
	u32 nsid;
	u32 tid; /* submitting thread, not the worker of a re-issue; see struct ev_task */
	u16 cid; /* command id on the wire */
	u16 nlb; /* low half of cdw12: zero-based number of blocks for the opcodes that have one */
};

/* A command of a key-value namespace: slba holds cdw10 (value length) and cdw11 (key length). */
struct ev_nvme_kv {
	struct ev_nvme cmd;
	u8 key[16]; /* cdw2, cdw3, cdw14, cdw15 */
};

struct ev_cq_overflow {
	u8 kind;
	u8 pad[3];
	s32 res;
	u64 ts_ns;
	u64 user_data;
	u32 tid;
	u32 pad2;
};

/* Sent before the first event of a thread, and again when its name changes. */
struct ev_task {
	u8 kind;
	u8 pad[3];
	u32 tid;
	u32 pid; /* thread group */
	u32 pad2;
	u64 ts_ns;
	char comm[16];
};

/* Sent before the first event of a disk: what the driver knows of the namespace. */
struct ev_disk {
	u8 kind;
	u8 csi; /* command set: 0 NVM, 1 key value, 2 zoned; 0xff unknown */
	u16 ms; /* metadata bytes per block */
	u32 dev;
	u32 nsid;
	u32 lba_bytes; /* 0 = unknown */
	char name[32]; /* nvme0n1, or the hidden path nvme0c0n1 */
};

struct ev_clock {
	u8 kind;
	u8 pad[3];
	u32 uncertainty_ns;
	u64 monotonic_ns;
	u64 realtime_ns;
};

/*
 * The account so far: seen = stored + in flight + ring_full + map_full + filtered.
 * hook_missed counts program runs that the kernel skipped; what they would
 * have seen is in no other number.
 */
struct ev_loss {
	u8 kind;
	u8 pad[7];
	u64 ts_ns;
	u64 seen;
	u64 stored;
	u64 ring_full;
	u64 map_full;
	u64 hook_missed;
	u64 filtered;
};

#ifndef __bpf__
_Static_assert(sizeof(struct ev_nvme) == 64, "the hot record is one cache line");
_Static_assert(sizeof(struct ev_nvme_kv) == 80, "no padding");
_Static_assert(sizeof(struct ev_cq_overflow) == 32, "no padding");
_Static_assert(sizeof(struct ev_task) == 40, "no padding");
_Static_assert(sizeof(struct ev_disk) == 48, "no padding");
_Static_assert(sizeof(struct ev_clock) == 24, "no padding");
_Static_assert(sizeof(struct ev_loss) == 64, "no padding");
#endif

#endif
