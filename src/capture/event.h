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
	EV_SYSCALL,	/* one system call, struct ev_syscall */
	EV_PATH,	/* a piece of the path of a file, struct ev_path (user space) */
	EV_URING,	/* one io_uring request, struct ev_uring */
	EV_FAULT,	/* one page fault on a mapped file, struct ev_fault */
	EV_CACHE,	/* what a file had of faults and page cache so far, struct ev_cache (user space) */
	EV_BLOCK,	/* requests to a block device so far, struct ev_block (user space) */
	EV_EXTENT,	/* where bytes of a file are on its disk, struct ev_extent (user space) */
	EV_RANGE,	/* one range of a DSM (discard) command, struct ev_range */
	EV_KINDS
};

/* Who saw an event: each tracer has an account of its own. */
enum ev_witness { EV_WITNESS_NVME, EV_WITNESS_SYSCALL, EV_WITNESS_URING, EV_WITNESS_MMAP, EV_WITNESSES };

enum ev_nvme_flags {
	NVME_PASSTHROUGH = 1 << 0, /* io_uring_cmd; user_data is valid */
	NVME_MULTIPATH = 1 << 1,   /* through a multipath head */
	NVME_IN_FLIGHT = 1 << 2,   /* a snapshot: not completed; lat_ns is its age then */
	NVME_REFUSED = 1 << 3,	   /* failed before the device; status is a negated errno */
	NVME_ADMIN = 1 << 4,	   /* admin queue: no disk, no LBA */
	NVME_ENTRY = 1 << 5,	   /* it was seen before it reached the driver: wait_ns is measured */
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
	u32 wait_ns;   /* to ts_ns, from the entry of the first attempt or the making of the first bio; saturated */
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
	u32 pid;    /* thread group, as all numbers here that of the first pid namespace */
	u32 ns_pid; /* the same in its own pid namespace, when that is another one; else 0 */
	u64 ts_ns;
	char comm[16];
	u64 cgroup; /* id in the unified hierarchy, 0 = not known; its path is that of EV_DEV_CGROUP */
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
 * The account so far: seen = stored + in flight + ring_full + map_full + unread + filtered.
 * hook_missed counts program runs that the kernel skipped; what they would
 * have seen is in no other number.
 */
struct ev_loss {
	u8 kind;
	u8 witness; /* enum ev_witness */
	u8 pad[6];
	u64 ts_ns;
	u64 seen;
	u64 stored;
	u64 ring_full;
	u64 map_full;
	u64 hook_missed;
	u64 filtered;
	u64 unread; /* the programs kept it and nobody took it; known at the end only, 0 before */
};

/* Calls that are recorded.  A number is for ever: it is in files. */
enum ev_call {
	CALL_NONE, /* not recorded */
	CALL_READ,
	CALL_WRITE,
	CALL_PREAD64,
	CALL_PWRITE64,
	CALL_READV,
	CALL_WRITEV,
	CALL_PREADV,
	CALL_PWRITEV,
	CALL_PREADV2,
	CALL_PWRITEV2,
	CALL_OPEN,
	CALL_CREAT,
	CALL_OPENAT,
	CALL_OPENAT2,
	CALL_CLOSE,
	CALL_DUP,
	CALL_DUP2,
	CALL_DUP3,
	CALL_LSEEK,
	CALL_FSYNC,
	CALL_FDATASYNC,
	CALL_SYNC_FILE_RANGE,
	CALL_FALLOCATE,
	CALL_MMAP,
	CALL_MUNMAP,
	CALL_MSYNC,
	CALL_COPY_FILE_RANGE,
	CALL_SENDFILE,
	CALL_IO_URING_ENTER,
	N_CALLS
};

enum ev_syscall_flags {
	SYSCALL_FILE = 1 << 0,	   /* dev and ino are those of fd (of the new one for open and dup) */
	SYSCALL_OFFSET = 1 << 1,   /* offset is a place in the file, for calls without one its position */
	SYSCALL_PARTIAL = 1 << 2,  /* size is a lower bound: not all of the vector could be read */
	SYSCALL_NO_ENTER = 1 << 3, /* began before the recording: ts_ns is its end, lat_ns 0 */
};

/*
 * One system call, written when it returns.  What the members mean depends on
 * the call:
 *                   fd        offset    size       arg            fd2
 *   read, write...  file      in file   bytes      RWF_ flags     -
 *   open...         directory -         -          O_ flags       mode (the new fd is ret)
 *   dup...          old fd    -         -          O_ flags       new fd asked for
 *   lseek           file      asked     -          whence         -
 *   sync_file_range file      in file   bytes      flags          -
 *   fallocate       file      in file   bytes      mode           -
 *   mmap            file      in file   bytes      MAP_ flags     PROT_ bits (the address is ret)
 *   munmap, msync   -         address   bytes      MS_ flags      -
 *   copy, sendfile  from      in file   bytes      flags          to
 *   io_uring_enter  ring      -         to submit  IORING_ENTER_  least completions
 */
struct ev_syscall {
	u8 kind;
	u8 flags; /* enum ev_syscall_flags */
	u16 call; /* enum ev_call */
	s32 fd;	  /* -1 = none, -100 = AT_FDCWD */
	u64 ts_ns;
	u64 lat_ns;
	u64 offset;
	u64 size;
	s64 ret; /* a negated errno when it failed */
	u64 ino;
	u32 dev; /* of the file's super block, kernel encoding */
	u32 tid;
	u32 arg;
	s32 fd2;
};

enum ev_uring_flags {
	URING_FILE = 1 << 0,	/* dev and ino are those of its file */
	URING_OFFSET = 1 << 1,	/* offset is a place in the file */
	URING_PARTIAL = 1 << 2, /* size is a lower bound: not all of the vector could be read */
	URING_SQPOLL = 1 << 3,	/* submitted by the ring's own thread */
	URING_PUNTED = 1 << 4,	/* given to a worker thread */
	/*
	 * No completion was posted to the queue: it is under way (lat_ns is its age), its completion did not fit
	 * (see struct ev_cq_overflow), or none was wanted (IOSQE_CQE_SKIP_SUCCESS).
	 */
	URING_UNFINISHED = 1 << 5,
	URING_POSITION = 1 << 6, /* at the file's position (offset -1) */
};

/*
 * One io_uring request, written when its completion is posted.  Reads and
 * writes have offset and size; of a passthrough command size is its data
 * length and offset its cdw10 and cdw11 (a starting LBA for reads and writes).
 */
struct ev_uring {
	u8 kind;
	u8 flags;     /* enum ev_uring_flags */
	u8 opcode;    /* IORING_OP_ */
	u8 sqe_flags; /* IOSQE_ */
	s32 res;      /* of the CQE: a negated errno when it failed */
	u64 ts_ns;    /* when the kernel took it from the submission queue */
	u64 lat_ns;   /* from there to the completion */
	u64 user_data;
	u64 offset;
	u64 size; /* bytes asked for, of a vector the exact sum */
	u64 ino;
	u32 dev;
	u32 tid;  /* submitting thread, or that of SQPOLL */
	u32 ring; /* tells rings apart: a hash of their address */
	s32 fd;	  /* descriptor, or index with IOSQE_FIXED_FILE; -1 = none */
	u32 cqe_flags;
	u32 sub; /* of a passthrough command its NVMe opcode, of a vector the number of its elements */
};

enum ev_fault_flags {
	FAULT_MAJOR = 1 << 0,	   /* the kernel counts it as major: it had to wait for IO */
	FAULT_WRITE = 1 << 1,	   /* by a write */
	FAULT_EXEC = 1 << 2,	   /* by the fetch of an instruction */
	FAULT_KERNEL = 1 << 3,	   /* the kernel touched the page for the program (copy, pin) */
	FAULT_FAILED = 1 << 4,	   /* nothing was mapped: SIGBUS, SIGSEGV, no memory */
	FAULT_BOUND = 1 << 5,	   /* `mapped` is all that may have been mapped */
	FAULT_WIDE = 1 << 6,	   /* more pages were mapped than `mapped` has bits for */
	FAULT_NO_TIME = 1 << 7,	   /* its begin was not seen: lat_ns is 0 */
	FAULT_UNFINISHED = 1 << 8, /* given up in the middle, as by a signal: lat_ns is its age */
};

/* One page fault on a mapped file, from its first attempt to its end. */
struct ev_fault {
	u8 kind;
	u8 retries; /* attempts that had to be made again, at most 255 */
	u16 flags;  /* enum ev_fault_flags */
	u32 tid;
	u64 ts_ns;
	u64 lat_ns;
	u64 address;
	u64 offset; /* of the page in its file, bytes */
	u64 mapped; /* pages that it mapped: bit n is the n-th from `before` pages before its own */
	u64 ino;
	u32 dev;
	u16 filled; /* pages that its thread brought into the page cache of this file meanwhile, saturated */
	u8 before;
	u8 pad;
};

enum ev_cache_flags {
	CACHE_NO_FAULTS = 1 << 0, /* the hooks of these numbers are missing: they say nothing */
	CACHE_NO_FILLS = 1 << 1,
	CACHE_NO_RA = 1 << 2,
	CACHE_NO_DIRECT = 1 << 3,
	CACHE_RA_ASKED = 1 << 4,     /* ra_pages were asked for; else they were filled */
	CACHE_TOUCHED_ONLY = 1 << 5, /* mapped_pages is not known */
	CACHE_INCOMPLETE = 1 << 6,   /* events were lost: all numbers are lower bounds */
	CACHE_MORE_PIDS = 1 << 7,    /* pid is the first of several */
	CACHE_NO_WRITTEN = 1 << 8,   /* which fills writes made is not known */
};

/*
 * What one file had since the recording began.  A page is one of the memory
 * (page_bytes of the head of the capture).
 */
struct ev_cache {
	u8 kind;
	u8 pad;
	u16 flags; /* enum ev_cache_flags */
	u32 dev;
	u64 ts_ns;
	u64 ino;
	u64 faults;	  /* = minor + major + failed */
	u64 minor, major; /* as the kernel counts them for getrusage(2) */
	u64 failed;
	u64 retries;	   /* attempts that had to be made again */
	u64 touched_pages; /* different pages that had a fault or a direct read or write: surely used */
	u64 mapped_pages;  /* different pages that were mapped or had direct IO: no other can have been used */
	u64 fills;	   /* folios that came into the page cache */
	u64 fill_pages;
	u64 ra_calls; /* of readahead */
	u64 ra_pages; /* of fill_pages; see CACHE_RA_ASKED */
	u64 direct_reads, direct_read_bytes;
	u64 direct_writes, direct_write_bytes;
	u64 lat_ns; /* sum of all faults that have one */
	u32 pid;    /* thread group that had the first fault, 0 = none had */
	u32 pad2;
	u64 written_fills, written_pages; /* of fills and fill_pages, made by a write: nothing was to be read */
};

#define EV_BLOCK_SIZES 12 /* classes of 512 bytes, 1 KiB ... 1 MiB and more */

/* Requests to one block device in one direction since the recording began. */
struct ev_block {
	u8 kind;
	u8 write;
	u16 pad;
	u32 dev;
	u64 ts_ns;
	u64 requests, bytes;
	u64 iu_bytes; /* bytes of all indirection units that they touch */
	u64 sub_iu;   /* requests smaller than one */
	u32 min_bytes, max_bytes;
	u32 iu_bytes_each;	  /* queue/minimum_io_size where it is more than a block; 0 = not reported */
	u32 optimal_bytes;	  /* queue/optimal_io_size as the kernel says; 0 = not reported */
	u32 max_request_bytes;	  /* queue/max_hw_sectors_kb: the smaller of MDTS and what the transport takes */
	u32 lba_bytes;		  /* queue/logical_block_size */
	u32 hist[EV_BLOCK_SIZES]; /* saturated */
	char name[32];
};

/*
 * The device of a path that could not be opened: its ino is a hash of it, and
 * the call that failed has SYSCALL_FILE with these numbers.
 */
#define EV_DEV_NO_FILE 0xffffffffu
/* The device of the path of a cgroup below the mount of the hierarchy: its ino is the id. */
#define EV_DEV_CGROUP  0xfffffffeu

enum ev_path_flags {
	PATH_LAST = 1 << 0,	/* the last piece */
	PATH_AS_GIVEN = 1 << 1, /* as the program wrote it: may be relative, or through links */
};

/* A file by its numbers, and what it is called from ts_ns on: in pieces, one behind the other. */
struct ev_path {
	u8 kind;
	u8 flags; /* enum ev_path_flags */
	u8 piece; /* 0, 1, ... */
	u8 n;	  /* bytes of text used */
	u32 dev;
	u64 ts_ns;
	u64 ino;
	char text[40];
};

enum ev_extent_flags {
	EXTENT_AT_END = 1 << 0, /* as of the end of the recording, else of the first sight of the file */
	EXTENT_FILE = 1 << 1,  /* the head of a file, whose extents follow: offset is its size, physical their number */
	EXTENT_MOVED = 1 << 2, /* at the end: some of it was elsewhere before */
};

/* Bytes of a file on a disk. */
struct ev_extent {
	u8 kind;
	u8 flags;      /* enum ev_extent_flags */
	u16 error;     /* of the head of a file: why it has no map, an errno; ENODEV: it is not on a disk directly */
	u32 map_flags; /* FIEMAP_EXTENT_ */
	u64 ts_ns;     /* when it was asked for */
	u64 ino;
	u64 offset;   /* in the file */
	u64 physical; /* bytes from the begin of the disk; nothing when map_flags say that there is no place */
	u64 bytes;
	u32 dev;  /* of the file's super block */
	u32 disk; /* device number of the whole disk, 0 = none */
};

/*
 * One range of a DSM command: told when the command is set up, by its number.
 * Of a command with more than RANGES_MAX ranges the first ones are told.
 */
#define RANGES_MAX 64

struct ev_range {
	u8 kind;
	u8 n; /* ranges of the command - 1 */
	u16 index;
	u32 dev;
	u64 ts_ns; /* those of its command, as are dev and cid */
	u64 slba;
	u32 nlb;	/* blocks: not zero-based */
	u32 attributes; /* context attributes of the range, passthrough only */
	u16 cid;
	u16 pad;
	u32 tid;
};

#ifndef __bpf__
_Static_assert(sizeof(struct ev_range) == 40, "no padding");
_Static_assert(sizeof(struct ev_extent) == 56, "no padding");
_Static_assert(sizeof(struct ev_syscall) == 72, "no padding");
_Static_assert(sizeof(struct ev_uring) == 80, "no padding");
_Static_assert(sizeof(struct ev_path) == 64, "no padding");
_Static_assert(sizeof(struct ev_fault) == 64, "no padding");
_Static_assert(sizeof(struct ev_cache) == 176, "no padding");
_Static_assert(sizeof(struct ev_block) == 152, "no padding");
_Static_assert(sizeof(struct ev_nvme) == 64, "the hot record is one cache line");
_Static_assert(sizeof(struct ev_nvme_kv) == 80, "no padding");
_Static_assert(sizeof(struct ev_cq_overflow) == 32, "no padding");
_Static_assert(sizeof(struct ev_task) == 48, "no padding");
_Static_assert(sizeof(struct ev_disk) == 48, "no padding");
_Static_assert(sizeof(struct ev_clock) == 24, "no padding");
_Static_assert(sizeof(struct ev_loss) == 72, "no padding");
#endif

#endif
