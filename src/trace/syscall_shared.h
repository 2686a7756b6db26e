/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What syscall.bpf.c and syscall.c tell each other. */
#ifndef KVIO_SYSCALL_SHARED_H
#define KVIO_SYSCALL_SHARED_H

#ifndef __bpf__
#include "lib/types.h"
#endif

#include "capture/event.h"
#include "trace/batch_shared.h"

#define MAX_CALL_NR   512 /* system call numbers of this architecture that are looked at */
#define CALL_PATH_MAX 4096

/* Calls of a CPU on their way to the ring. */
struct batch {
	struct batch_head head;
	struct ev_syscall ev[BATCH_MAX];
};

/* The arguments of a call that say what the record holds, by their place; 0 = it has none. */
struct call_shape {
	u8 call;		       /* enum ev_call, 0 = not recorded */
	u8 fd, offset, size, arg, fd2; /* 1..6 */
	u8 flags;		       /* enum call_flags */
	u8 pad;
};

enum call_flags {
	CALL_AT_POSITION = 1 << 0,  /* moves the file's position by what it returns */
	CALL_VECTOR = 1 << 1,	    /* `size` is the number of iovecs at the second argument */
	CALL_OPENS = 1 << 2,	    /* opens a path: the argument behind `fd`, else the first */
	CALL_CLOSES = 1 << 3,	    /* the file is gone when it returns */
	CALL_OFFSET_AT = 1 << 4,    /* `offset` points to the offset, which the call moves; NULL = position */
	CALL_RETURNS_FILE = 1 << 5, /* the file is the one that it returns */
	CALL_HOW = 1 << 6,	    /* openat2: `arg` points to its flags and mode */
	CALL_UNWANTED = 1 << 7,	    /* counted, not recorded: another one was asked for */
};

/* Read-only data of the programs, set before load. */
struct syscall_config {
	u64 min_bytes, max_bytes; /* keep calls of such a size */
	struct call_shape shape[MAX_CALL_NR];
};

/* The raw kind of a path that could not be opened, on its way to user space. */
#define RAW_FAILED 200

struct raw_failed {
	u8 kind;
	u8 pad[3];
	s32 dirfd;
	u64 ts_ns;
	u32 pid; /* thread group */
	u32 tid;
	u32 n;	     /* bytes of path, without a zero */
	u32 dir_dev; /* of the file behind dirfd, 0 where there is none */
	u64 dir_ino;
	char path[CALL_PATH_MAX];
};

#endif
