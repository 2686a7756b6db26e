/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NVMe tracer.  Life: open (load) - attach - consume... - detach -
 * consume until empty - account - close.
 */
#ifndef KVIO_NVME_H
#define KVIO_NVME_H

#include <sys/types.h>

#include "capture/event.h"
#include "trace/probe.h"

struct nvme_trace_options {
	bool passthrough_only; /* the uring-cmd view */
	bool entry_probe;      /* time of entry, attempts, refused commands */
	bool cq_overflow;
	bool kv;	 /* every namespace is key-value, whatever it says */
	const u32 *pids; /* thread groups to keep; with children when follow is set */
	size_t n_pids;
	bool follow;		  /* children of pids count as well; more may be added later */
	const char *comm;	  /* thread name to keep, NULL = all */
	const char *const *disks; /* disk names to keep (a head's paths listed one by one) */
	size_t n_disks;
	u64 ring_bytes;	  /* of each ring; rounded up to a power of two of pages */
	u32 inflight_max; /* commands the drivers can hold */
};

/* What the tracer did not see or keep, beside the account in struct ev_loss. */
struct nvme_trace_extra {
	u64 entry_full; /* commands whose wait_ns and attempts are unknown: entry map full */
	u64 pid_full;	/* children that were not followed: filter map full */
};

/* Gets each record: its first byte is its kind.  Non-zero stops the consuming with that value. */
typedef int (*nvme_trace_fn)(void *arg, const void *record, size_t size);

struct nvme_trace;

/*
 * Loads the programs.  An optional hook that this kernel lacks or refuses is
 * left out and told in the facilities.  On failure `why` holds one line for
 * the user (why and what to do) and -errno is returned.
 */
int nvme_trace_open(struct nvme_trace **out, const struct nvme_trace_options *o, nvme_trace_fn fn, void *arg, char *why,
		    size_t n_why);
int nvme_trace_attach(struct nvme_trace *t);
int nvme_trace_add_pid(struct nvme_trace *t, pid_t pid);
const struct facility *nvme_trace_facilities(const struct nvme_trace *t, size_t *n);

/*
 * Waits at most timeout_ms for a batch and delivers what is there.  Returns 1
 * when a full budget was delivered (the tracer is ahead of us), 0, or -errno
 * (of fn, too).
 */
int nvme_trace_consume(struct nvme_trace *t, int timeout_ms);
/* Delivers everything that is in the rings now.  0 or -errno. */
int nvme_trace_drain(struct nvme_trace *t);
/*
 * Gives fn a snapshot (NVME_IN_FLIGHT) of every command older than min_age_ns
 * that has not completed.  Returns how many, or -errno (of fn, too).
 */
s64 nvme_trace_in_flight(const struct nvme_trace *t, u64 min_age_ns, nvme_trace_fn fn, void *arg);
/* True while a command has not completed. */
bool nvme_trace_busy(const struct nvme_trace *t);
/* What the tracer knows of a thread; for struct names, arg is the tracer. */
bool nvme_trace_find_task(void *arg, u32 tid, struct ev_task *e);
void nvme_trace_detach(struct nvme_trace *t);
void nvme_trace_account(const struct nvme_trace *t, struct ev_loss *loss, struct nvme_trace_extra *extra);
/* The i-th program's name, runs and run time (0 unless kernel.bpf_stats_enabled=1); false past the last. */
bool nvme_trace_cost(const struct nvme_trace *t, u32 i, const char **name, u64 *runs, u64 *run_ns);
void nvme_trace_close(struct nvme_trace *t);

/* What libbpf said of loads that the kernel refused, for -v; empty when all was taken. */
const char *nvme_trace_log(void);

#endif
