/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the BPF programs of every tracer and user space tell each other. */
#ifndef KVIO_TRACE_SHARED_H
#define KVIO_TRACE_SHARED_H

#ifndef __bpf__
#include "lib/types.h"
#endif

enum counter {
	N_SEEN,
	N_STORED,
	N_RING_FULL,
	N_MAP_FULL,
	N_FILTERED,
	N_ENTRY_FULL, /* nvme: entry map full, that command's wait_ns and attempts are unknown */
	N_PID_FULL,   /* follow: pid filter full, a child was not followed */
	N_FOREIGN,    /* syscall: calls of 32-bit programs, which are not decoded */
	N_COUNTERS
};

#define CPUS_PER_RING 8	   /* a constant: a division by it is a shift */
#define MAX_CPUS      1024 /* a power of two; above it, CPUs share counters, which are atomic */

/* Of one CPU, on cache lines of its own. */
struct counters {
	u64 v[8];
};

/* A word of one CPU, on a cache line of its own. */
struct address {
	volatile u64 v;
	u64 pad[7];
};

/* Of a ring at a time, in pieces of a page with their header. */
#define TOUCH_PAGES 256
#define TOUCH_BYTES 4088

/* A thread's name is looked at again after this time. */
#define TASK_CHECK_NS 1000000000ull

/* Value of the map of named threads. */
struct task_name {
	char comm[16] __attribute__((aligned(8)));
	u32 pid;
	u32 ns_pid;
	u64 checked_ns;
	u64 cgroup;
};

/* Read-only data of every tracer, set before load. */
struct trace_config {
	u64 wake_bytes;	  /* wake the reader when this much waits in a ring */
	u64 cgroup;	  /* id of the cgroup to keep, with what is below it; 0 = all */
	u32 cgroup_level; /* its depth below the root */
	u32 self;	  /* the tracer's own thread group, which some tracers leave out */
	u8 filter_pid;
	u8 filter_comm;
	u8 filter_path; /* the map files_unwanted may have some */
	u8 one_ring;
	u8 batch;	  /* records that go into the ring together, see batch_shared.h */
	u8 can_read_user; /* see read_user() */
	u8 can_cast;	  /* the kernel has bpf_rdonly_cast ... */
	u8 can_cast_nvme; /* ... and the NVMe driver built in */
	char comm[16];
};

/* What the list of processes has of each (tasks.bpf.c). */
struct process_number {
	u32 pid;    /* in the first pid namespace */
	u32 number; /* in the one that was asked for */
};

/* What the notes have of a process that began or ended, by its number in that namespace. */
struct process_note {
	u32 pid;    /* in the first one */
	u32 parent; /* number in the one that was asked for, 0: none there */
	u32 ended;
};

#endif
