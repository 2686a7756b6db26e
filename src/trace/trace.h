/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracers of a recording, with one set of rings, one pid filter and one
 * table of thread names.  Life: open (load) - attach - consume... - detach -
 * drain - account - close.
 */
#ifndef KVIO_TRACE_H
#define KVIO_TRACE_H

#include <sys/types.h>

#include "capture/event.h"
#include "trace/probe.h"

/* Bits: which tracers. */
enum trace_witness {
	TRACE_NVME = 1 << 0,
	TRACE_SYSCALL = 1 << 1,
	TRACE_URING = 1 << 2,
	TRACE_MMAP = 1 << 3,
};

struct trace_options {
	u32 witnesses;	 /* enum trace_witness */
	const u32 *pids; /* thread groups to keep; with children when follow is set */
	size_t n_pids;
	bool follow;		  /* children of pids count as well; more may be added later */
	const char *comm;	  /* thread name to keep, NULL = all */
	u64 cgroup;		  /* id of the cgroup to keep, 0 = all */
	u32 cgroup_level;	  /* its depth below the root of the hierarchy */
	bool cq_overflow;	  /* completion queues of io_uring that overflow */
	u64 ring_bytes;		  /* of each ring; rounded up to a power of two of pages */
	bool by_op;		  /* keep only the operations that are named below, of every tracer */
	u64 calls;		  /* bit n: enum ev_call n */
	u64 requests[4];	  /* bit n: io_uring opcode n */
	u64 min_bytes, max_bytes; /* of an operation; max 0 = no limit */
	const char *const *paths; /* of files, see files_new(); calls and requests on others are filtered */
	size_t n_paths;
	struct {
		bool passthrough_only;	  /* the uring-cmd view */
		bool entry_probe;	  /* time of entry, attempts, refused commands */
		bool kv;		  /* every namespace is key-value, whatever it says */
		bool no_admin;		  /* leave the admin queue out */
		const char *const *disks; /* disk names to keep (a head's paths listed one by one) */
		size_t n_disks;
		u32 inflight_max; /* commands the drivers can hold */
		u64 opcode[4];	  /* bit n: keep opcode n */
	} nvme;
	struct {
		bool stream;	  /* every fault, not only sums by file */
		bool exact_pages; /* no fault-around on this machine meanwhile: each page that is used has a fault */
	} mmap;
};

/* What the tracers did not see or keep, beside the accounts in struct ev_loss. */
struct trace_extra {
	u64 entry_full; /* commands whose wait_ns and attempts are unknown: entry map full */
	u64 pid_full;	/* children that were not followed: filter map full */
	u64 foreign;	/* calls of 32-bit programs: counted, not decoded */
};

/* Gets each record: its first byte is its kind.  Non-zero stops the consuming with that value. */
typedef int (*trace_fn)(void *arg, const void *record, size_t size);

struct trace;

/*
 * Loads the programs.  An optional hook that this kernel lacks or refuses is
 * left out and told in the facilities.  On failure `why` holds one line for
 * the user (why and what to do) and -errno is returned.
 */
int trace_open(struct trace **out, const struct trace_options *o, trace_fn fn, void *arg, char *why, size_t n_why);
int trace_attach(struct trace *t);
/* A process by its number here, which the filter keeps.  0, -errno; -ESRCH: there is none (any more). */
int trace_add_pid(struct trace *t, pid_t pid);
/*
 * From before trace_attach() on until it is switched off, with trace_options.follow:
 * keeps notes of processes that begin and end, of those whose parent the filter has not.
 */
void trace_note_forks(struct trace *t, bool on);
/* Gets a process, its parent (0: none that has a number here), and whether it has ended.  Non-zero stops. */
typedef int (*process_fn)(void *arg, u32 pid, u32 parent, bool ended);
/* Gives fn the notes; those that have ended leave the filter.  0 or what fn returned. */
int trace_notes(const struct trace *t, process_fn fn, void *arg);
/* The number in the first pid namespace of a process that has `pid` in ours.  0 or as above. */
int trace_first_pid(const struct trace *t, pid_t pid, u32 *first);
/* The i-th facility of all tracers, NULL past the last. */
const struct facility *trace_facility(const struct trace *t, size_t i);

/*
 * Waits at most timeout_ms for a batch and delivers what is there.  Returns 1
 * when a full budget was delivered (the tracers are ahead of us), 0, or -errno
 * (of fn, too).
 */
int trace_consume(struct trace *t, int timeout_ms);
/* Delivers everything that is in the rings now.  0 or -errno. */
int trace_drain(struct trace *t);
/*
 * Gives fn a snapshot (NVME_IN_FLIGHT) of every command older than min_age_ns
 * that has not completed.  Returns how many, or -errno (of fn, too).
 */
s64 trace_in_flight(const struct trace *t, u64 min_age_ns, trace_fn fn, void *arg);
/* Gives fn what tracers keep as sums: what changed since the last time, or all of it.  0 or -errno (of fn, too). */
int trace_sums(struct trace *t, bool all, trace_fn fn, void *arg);
/* For a signal handler that ends the process: what was changed on this machine is as before. */
void trace_abandon(void);
/* True while a command has not completed. */
bool trace_busy(const struct trace *t);
/* What the tracers know of a thread; for struct names, arg is the trace. */
bool trace_find_task(void *arg, u32 tid, struct ev_task *e);
void trace_detach(struct trace *t);
/* The account of the i-th tracer; false past the last. */
bool trace_account(const struct trace *t, size_t i, struct ev_loss *loss);
void trace_extra(const struct trace *t, struct trace_extra *extra);
/* The i-th program's name, runs and run time (0 unless kernel.bpf_stats_enabled=1); false past the last. */
bool trace_cost(const struct trace *t, u32 i, const char **name, u64 *runs, u64 *run_ns);
void trace_close(struct trace *t);

/* What libbpf said of loads that the kernel refused, for -v; empty when all was taken. */
const char *trace_log(void);

#endif
