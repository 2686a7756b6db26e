/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording: from the rings of a tracer into a capture file, with ticks, the
 * running account and a clean end.
 */
#ifndef KVIO_RECORDER_H
#define KVIO_RECORDER_H

#include <jansson.h>

#include "capture/event.h"
#include "capture/names.h"
#include "capture/writer.h"
#include "lib/child.h"
#include "lib/hist.h"
#include "trace/trace.h"

/* What went by, for the summary and the footer. */
struct recorder_totals {
	u64 count[EV_KINDS];		/* records by kind; commands without snapshots */
	u64 snapshots;			/* in-flight records, of ticks and of the end */
	u64 in_flight_of[EV_WITNESSES]; /* the same by tracer */
	u64 in_flight;			/* commands not completed when the recording ended */
	u64 passthrough, refused, failed, reissued;
	u64 read_bytes, write_bytes;
	u64 reads, writes, others;
	struct hist lat;				    /* ns, completed commands without error */
	u64 requests_failed, request_reads, request_writes; /* of io_uring */
	u64 request_read_bytes, request_write_bytes;
	u64 calls_failed, call_reads, call_writes; /* system calls; those that moved data */
	u64 call_read_bytes, call_write_bytes;
	/* Of mapped files and block devices, at the end of the recording: all files in one. */
	u64 files;
	struct ev_cache files_sum;
	u64 block_reads, block_read_bytes, block_writes, block_write_bytes;
	struct ev_loss loss[EV_WITNESSES]; /* kind is 0 of a tracer that does not run */
	struct trace_extra extra;
	u64 records, in_file;  /* of all kinds: handed to the writer, and those of them that are in the file */
	u64 first_ns, last_ns; /* of commands */
	u64 started_ns, ended_ns;
};

struct recorder {
	struct trace *trace;
	struct cap_writer *writer;
	struct names names;
	struct recorder_totals totals;
	u64 duration_ns; /* 0 = until told to stop */
	/* Who watches beside the file: gets each record, and a call a second.  NULL = nobody. */
	int (*watch)(void *arg, const void *record);
	void (*tick)(void *arg);
	void *watch_arg;
	/* Gets each file that has a name from now on.  NULL = nobody. */
	int (*named)(void *arg, const struct known_file *f);
	void *named_arg;
	bool ending; /* snapshots are of what never completed, sums are the last */
	int error;
};

enum recorder_end { END_SIGNAL, END_DURATION, END_CHILD, END_ERROR };

/* All accounts in one. */
struct ev_loss recorder_loss(const struct recorder_totals *t);

/* The sink of the tracers: arg is the recorder. */
int recorder_event(void *arg, const void *record, size_t size);

/* Names a file in the capture, as the tracers do.  0 or the recorder's error. */
int recorder_path(struct recorder *r, const struct ev_path *head, const char *path);

/*
 * Installs the handlers of SIGINT, SIGTERM, SIGHUP and SIGCHLD.  The first of
 * the first three asks for the end; the second ends the process at once, with
 * the capture left without its footer.
 */
void recorder_catch_signals(void);

/*
 * Records until a signal, the duration, or the end of the child (may be NULL,
 * else it has been started).  Then detaches, drains the rings until empty,
 * takes the account.  The writer is left open for its footer.
 */
enum recorder_end recorder_run(struct recorder *r, struct child *child, int *child_status);

#endif
