/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Perfetto trace of TrackEvents read into columns, with the rules and the
 * row numbers of Perfetto's trace_processor: its SQL tables are these columns.
 *
 * Any such trace is read, whole-file gzip and zstd as well: interned or plain
 * names, packet defaults, delta clocks, extra counter values, compressed
 * packets.  What is not a TrackEvent (scheduling, ftrace, legacy phases) is
 * passed over and counted.
 *
 * Rules: events go by time, equal times by place in the file.  Begin and end
 * pair on each track as on a stack, at most 512 deep.  An instant is a slice
 * of duration 0; a slice without an end has duration -1.  Counter tracks hold
 * no slices.  Events of a track that is not declared anywhere in the file, and
 * those before zero, are dropped.  Args keep their types; their keys are
 * "debug.NAME", nested ones "debug.NAME.MEMBER" and "debug.NAME[0]".
 *
 * Not kept: args of counter samples, legacy events, and the clock of a packet
 * for which the trace has no snapshot (its time is taken as it stands).
 */
#ifndef KVIO_PFTRACE_H
#define KVIO_PFTRACE_H

#include "lib/str.h"
#include "lib/types.h"
#include "model/model.h"

enum pf_arg_type { PF_INT, PF_UINT, PF_BOOL, PF_REAL, PF_STRING, PF_POINTER, PF_JSON };

struct pf_track {
	u64 uuid;
	u32 name;	    /* of the descriptor, else of the first event; 0 = none */
	u32 parent;	    /* track, or NONE */
	u32 upid, utid;	    /* process or thread that it is below, at any depth; NONE */
	u32 unit;	    /* of a counter, or 0 */
	u32 args;	    /* set of args that say where it comes from */
	s32 rank;	    /* among its siblings */
	u8 ordering;	    /* of its children: 0 unknown, 1 by name, 2 by time, 3 by rank */
	bool counter, root; /* root: the process or thread itself */
};

struct pf_process {
	u32 pid, name;
	u32 main; /* its main thread */
};

struct pf_thread {
	u32 tid, name;
	u32 upid; /* NONE for the idle thread */
};

/* By time.  The row is the slice's id. */
struct pf_slices {
	u32 n, cap;
	s64 *ts, *dur;
	u32 *track, *name, *category;
	u32 *args;   /* set, or NONE */
	u32 *parent; /* slice, or NONE */
	u16 *depth;
};

struct pf_counters {
	u32 n, cap;
	s64 *ts;
	double *value;
	u32 *track;
};

/* Set s has the rows [start[s], start[s + 1]). */
struct pf_args {
	u32 n, cap;
	u32 *key;   /* PF_KEY() and PF_TYPE() of it */
	u64 *value; /* s64, u64, bool, the bits of a double, or a string id */
	u32 *start;
	u32 n_sets, cap_sets;
};
#define PF_TYPE_SHIFT 28
#define PF_KEY(k)     ((k) & ((1u << PF_TYPE_SHIFT) - 1))
#define PF_TYPE(k)    ((enum pf_arg_type)((k) >> PF_TYPE_SHIFT))

/* Names of args: they differ where there are array indexes, which flat has not. */
struct pf_key {
	u32 key, flat;
};

struct pf_flows {
	u32 n, cap;
	u32 *out, *in; /* slices */
	u64 *id;
};

struct pf_counts {
	u64 packets, events;
	u64 malformed;	    /* packets or messages that could not be decoded */
	u64 foreign;	    /* events of another kind than begin, end, instant, counter */
	u64 no_state;	    /* packets that need a state which the trace does not have */
	u64 no_name;	    /* interned ids that were never declared */
	u64 no_clock;	    /* times of a clock that no snapshot ties to the others */
	u64 before_zero;    /* events of a negative time */
	u64 no_track;	    /* events of a track that is not declared, or is its own ancestor */
	u64 wrong_track;    /* slices on counter tracks, samples on others */
	u64 stray_ends;	    /* ends without a begin */
	u64 too_deep;	    /* slices below 512 others */
	bool cut;	    /* the file ends early or is damaged; what was before is here */
	const char *defect; /* static text: why it is cut, or NULL */
};

struct pftrace {
	struct strpool strings;
	struct pf_track *track;
	u32 n_tracks;
	struct pf_process *process; /* row 0 is nobody's */
	u32 n_processes;
	struct pf_thread *thread; /* row 0 is nobody's */
	u32 n_threads;
	struct pf_slices slice;
	struct pf_counters counter;
	struct pf_args arg;
	struct pf_key *key;
	u32 n_keys;
	struct pf_flows flow;
	struct pf_counts count;
	/* What time of day trace time wall_at is, when the trace says it. */
	bool has_wall;
	u64 wall_at, wall_ns;
	struct pf_reading *reading; /* private, until pftrace_finish() */
};

/*
 * An empty trace.  It takes at most about max_bytes of memory, 0 = no limit:
 * a compressed file can hold any number of events.  0 or -ENOMEM.
 */
int pftrace_init(struct pftrace *t, u64 max_bytes);
/* Adds the next bytes of the (uncompressed) file, cut anywhere.  0, -ENOMEM, or -EFBIG above max_bytes. */
int pftrace_feed(struct pftrace *t, const void *data, size_t n);
/* Ends the file and builds the tables.  As pftrace_feed(), and -EBADMSG when it was no trace at all. */
int pftrace_finish(struct pftrace *t);
/* Feeds a file, plain or compressed ("-" is stdin), and finishes.  0 or -errno. */
int pftrace_load(struct pftrace *t, const char *path);
/* After success and failure alike. */
void pftrace_free(struct pftrace *t);

/* True when these first bytes of a file (64 are plenty) can be those of a trace. */
bool pftrace_sniff(const void *data, size_t n);

/* The row of an arg by its full key ("debug.slba") in a set, or NONE. */
u32 pftrace_arg(const struct pftrace *t, u32 set, u32 key);
/* The number of a full key in `key`, or NONE. */
u32 pftrace_key(const struct pftrace *t, const char *key);

/*
 * The captures that a trace of kvio, or of the older converter, was drawn
 * from, one model a label, in the order of the file; finished and joined.
 * Times are CLOCK_MONOTONIC again.
 *
 * Lost in the trace, so absent here: thread and process of commands, hardware
 * queue, command id, the counter in the low half of user_data, first attempts
 * that were re-issued (attempts tells how often), the flags of multipath and
 * vectors, latencies of failed pairings.  A key is whole only where it has up to 24
 * characters; of a longer one the format, rank, first 12 and last 24 are
 * there: "?@FMT@RANK@FIRST...LAST".  An object that began with its first
 * command has no start of its own; one that ended before its last command was
 * drawn to its end.  A latency of 0 is 1, a capture with one device does not
 * say its name, and of the account only the totals are there.
 */
struct pf_arm {
	char *label;
	struct model m;
	u64 grouped; /* slices that stand for several commands or objects: these have no rows */
};

/* *arms is allocated (free with pftrace_arms_free), also when it has no entry.  0 or -ENOMEM. */
int pftrace_to_model(const struct pftrace *t, struct pf_arm **arms, u32 *n);
void pftrace_arms_free(struct pf_arm *arms, u32 n);

#endif
