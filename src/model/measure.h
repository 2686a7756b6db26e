/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of a capture, computed from the columns of the model only; text
 * and JSON writers print them and compute nothing.
 *
 * What counts: a first attempt that was re-issued is in no figure, a command
 * refused before the device only in `refused`.  Latencies are those of
 * commands that completed without an error.  Every figure has its n.  Times
 * are nanoseconds, percentiles as `method` says (lib/dist.h).
 */
#ifndef KVIO_MEASURE_H
#define KVIO_MEASURE_H

#include "kv/key.h"
#include "lib/dist.h"
#include "model/model.h"

/* What became of a command. */
enum cmd_state {
	STATE_OK,	 /* completed, latency known */
	STATE_FAILED,	 /* completed with an error */
	STATE_IN_FLIGHT, /* not completed when the recording ended */
	STATE_UNPAIRED,	 /* the capture has no completion for it */
	STATE_BACKWARDS, /* its completion is earlier than itself: no latency */
	STATE_REFUSED,	 /* failed before the device */
	STATE_REISSUED,	 /* a first attempt; the command itself is another row */
	N_CMD_STATES
};

static inline enum cmd_state cmd_state(const struct model *m, u32 i)
{
	u32 flags = m->cmd.flags[i];

	if (flags & CMD_REISSUED)
		return STATE_REISSUED;
	if (flags & NVME_REFUSED)
		return STATE_REFUSED;
	if (flags & NVME_IN_FLIGHT)
		return STATE_IN_FLIGHT;
	if (flags & CMD_FAILED)
		return STATE_FAILED;
	if (flags & CMD_NEGATIVE)
		return STATE_BACKWARDS;
	return m->cmd.lat_ns[i] == NO_LAT ? STATE_UNPAIRED : STATE_OK;
}

static inline bool cmd_reached_device(enum cmd_state s)
{
	return s <= STATE_BACKWARDS;
}

/* Which way the data of a command or an operation goes. */
enum dir { DIR_READ, DIR_WRITE, N_DIRS, DIR_NONE = N_DIRS };

/* Direction by op name (read, retrieve; write, store), for tagged and untagged commands alike. */
struct dir_names {
	u32 id[4];
};
void dir_names_init(struct dir_names *d, const struct model *m);
static inline enum dir name_dir(const struct dir_names *d, u32 name)
{
	if (!name)
		return DIR_NONE;
	if (name == d->id[0] || name == d->id[1])
		return DIR_READ;
	return name == d->id[2] || name == d->id[3] ? DIR_WRITE : DIR_NONE;
}
static inline enum dir cmd_dir(const struct dir_names *d, const struct model *m, u32 i)
{
	return name_dir(d, m->cmd.name[i]);
}

/* When the command completed; its ts_ns when that is not known.  Saturated. */
static inline u64 cmd_end(const struct model *m, u32 i)
{
	u64 end;

	if (m->cmd.lat_ns[i] == NO_LAT)
		return m->cmd.ts_ns[i];
	return __builtin_add_overflow(m->cmd.ts_ns[i], m->cmd.lat_ns[i], &end) ? UINT64_MAX : end;
}

/*
 * When the recording ended, as far as the capture tells: its latest event, and
 * when commands were left in flight the latest clock anchor too.
 */
u64 capture_end(const struct model *m);

/*
 * An operation as it is drawn and measured: from its start, or its first
 * command when that is earlier or the record has no start, to its end, or its
 * last command when that is later.
 */
struct op_span {
	u64 begin_ns, end_ns;
	u32 first_cmd, last_cmd; /* rows in the command table; NONE without commands */
	u32 n_cmds;		 /* that reached the device */
	bool instant;		 /* no commands and no duration: only end_ns means something */
};
void op_span(const struct model *m, u32 op, struct op_span *out);

/* Whether the figures can be trusted. */
struct health {
	bool lossy;	 /* events are known to be missing */
	bool incomplete; /* the input was cut, damaged, or never ended properly */
	u64 dropped;	 /* ring full + map full */
	u64 hook_missed;
	u64 unread;    /* kept by the tracer's programs, never taken over */
	u64 unpaired;  /* commands without a completion although the capture has completions */
	u64 orphans;   /* completions without a command */
	u64 negative;  /* completions before their command: clamped, in no latency */
	u64 malformed; /* lines that could not be read, both sides */
	u64 first_bad_line;
	bool tail_cut;	 /* the last line, the compressed data or the last block is cut */
	bool no_account; /* commands, but no final count of losses */
	bool not_closed; /* the recorder was killed */
	u32 defect;	 /* string: what is wrong with the file, or 0 */
	u64 overflows;	 /* CQ overflow records */
	u64 first_overflow_ns;
	bool no_completions; /* the tracer recorded none: no latency at all */
};
void health_take(struct health *h, const struct model *m);

struct measure_cmds {
	u64 n; /* reached the device */
	u64 state[N_CMD_STATES];
	u64 tagged, untagged;
	u64 bytes, tagged_bytes, untagged_bytes, failed_bytes;
	u64 dir_n[N_DIRS], dir_bytes[N_DIRS];
	u64 headers, header_bytes; /* of stores */
	double header_share;	   /* of the bytes written by the pool */
	u64 first_ns, last_ns;	   /* first submission, last known completion */
	double coverage;	   /* share of n with a measured latency */
	u64 retried;		   /* tried more than once: attempts above 1 */
};

struct measure_lat {
	u32 name;			    /* string of the model: "read", "store", ... */
	u64 n, failed, in_flight, unpaired; /* n - lat.n - failed - in_flight - unpaired ran backwards */
	struct dist lat;
};

/* How commands failed: by status, with the number space that it is of. */
enum status_kind { STATUS_NVME, STATUS_BLK, STATUS_ERRNO };
struct measure_status {
	u16 status;
	enum status_kind kind; /* STATUS_ERRNO: refused before the device */
	u64 n;
};

enum qd1_verdict { QD1_UNKNOWN, QD1_SERIAL, QD1_SUSPICIOUS, QD1_PIPELINED };

/* What keeps the commands of one direction from overlapping more than they do. */
enum qd_class {
	QD_UNKNOWN,
	QD_WITHIN,    /* serial within an object: each command waits for the one before */
	QD_ACROSS,    /* serial across objects: depth inside, but one object at a time */
	QD_DRAINS,    /* the queue runs empty before the next batch is submitted */
	QD_TURNS,     /* threads take turns: several of them, one command at a time */
	QD_DEVICE,    /* the queue is deep and the device does not get faster by it */
	QD_PIPELINED, /* none of these */
	N_QD_CLASSES
};

/*
 * How the commands of one direction share the time: the evidence for a class.
 * An object is open from its first submission to its last completion.  A pause
 * is time with nothing at all in flight although there was work for this
 * direction: within an open object, or between objects, while an operation of
 * the application runs.  Where no operations are known, a pause counts when it
 * is no longer than the device was busy before it.
 */
struct measure_flow {
	u64 n;				  /* commands with a known duration, or in flight to the end */
	u64 depth_max, busy_ns, multi_ns; /* time with >= 1, and with >= 2 in flight */
	double busy_depth;
	u64 pauses_within, pause_within_ns;
	u64 pauses_between, pause_between_ns;
	u64 objects, objects_max, open_ns, open_one_ns; /* time with >= 1, and with exactly 1 open object */
	double objects_mean;				/* while any is open */
	u64 threads, thread_switches;			/* submissions by another thread than the one before */
	u64 thread_multi_ns;				/* time with commands of >= 2 threads in flight */
	/*
	 * Latency of commands of the most frequent size: of all (only where a
	 * deep queue may have made them wait), and of those that found the
	 * fewest others in flight on their device.  The second is what the
	 * device needs when it is not waited for.
	 */
	u64 size_bytes;
	struct dist at_size, at_floor;
	u64 floor_depth; /* others in flight when those were submitted */
};

/*
 * Does the application wait for each command before it submits the next?
 * From the gaps between successive submissions of one operation (with at
 * least 4 commands), never across two of them.  A submission is when the
 * application made it (ts_ns - wait_ns), not when the device took it.
 */
struct measure_qd1 {
	u64 ops, serial_ops; /* operations looked at, and those that are serial on their own */
	struct dist gap;
	struct dist service; /* latency of commands of this direction; .p25 is the floor that gaps are held against */
	u64 long_gaps;	     /* gaps of at least half the floor */
	double long_gap_share;
	double in_flight;	/* time-weighted mean within one operation, from first submission to last completion */
	double busy_in_flight;	/* the same while at least one is in flight */
	u64 gap_ns, service_ns; /* sum(gaps), and sum(service of the command before each) */
	u64 waited_ns;		/* gap_ns - service_ns; 0 when negative */
	u64 span_ns; /* of the operations, from first submission to last completion, of which that is a part */
	double waited_share;
	u64 followed_by_own; /* submissions followed by one of the same operation */
	u64 followed;	     /* submissions followed by any */
	double own_share;
	enum qd1_verdict verdict;
	bool serial; /* the verdict is one of the two QD~1 */
	struct measure_flow flow;
	enum qd_class class;
	u64 lost_ns, lost_of_ns; /* what the class costs, and of how much time */
	double lost_share;
};

struct measure_depth {
	u64 n; /* commands with a known duration, or in flight to the end */
	u64 max;
	u64 span_ns, busy_ns, le1_ns; /* all, with >= 1 in flight, with <= 1 in flight */
	double mean, busy_mean, le1_share;
};

struct measure_batches {
	u64 n, gap_ns;
	struct dist size;
};

struct measure_objects {
	u32 name;     /* store, load, delete, ... */
	u64 n;	      /* without an error, with a duration or commands */
	u64 instants; /* without an error, and with neither */
	u64 failed, failed_with_cmds;
	u64 bytes; /* of n */
	u64 with_cmds, commands;
	struct dist span, size;
	struct dist presubmit;	  /* start to first command; only records that have a start */
	struct dist device, host; /* part of the span with >= 1 of its own commands in flight, and the rest */
	u64 eff_n;
	double eff_mbs_p50; /* bytes / span */
};

/* Why the last shard was later than the first; the four add up to how much later. */
enum barrier_cause {
	CAUSE_START,  /* its operation began later */
	CAUSE_QUEUE,  /* longer from begin to first command */
	CAUSE_DEVICE, /* longer with commands in flight */
	CAUSE_HOST,   /* longer between and behind its commands */
	N_CAUSES
};

struct measure_shard {
	u32 op; /* one operation of it: its key names the shard */
	u64 n, last;
	u64 cause[N_CAUSES]; /* of the times that it was last: the largest part */
};

struct measure_barrier {
	u64 shards;
	u64 n, partial; /* chunks moved by all shards, and by some only */
	struct dist gap;
	u64 cause_n[N_CAUSES];
	s64 cause_ns[N_CAUSES];	     /* sums, parts of gap.sum; negative where the last one was quicker */
	struct measure_shard *shard; /* by how often they were last */
	u32 n_shards;
};

struct measure_space {
	u64 writes, reused, sequential;
	double sequential_share;
};

/*
 * Where the time of a serving span goes: every nanosecond is in the first of
 * these that is true of it, so the parts add up to the span.  Its objects are
 * the loads that run in it, or the stores when it has no load; a span that
 * overlaps another one sees that one's objects, too.
 */
enum request_part {
	PART_DEVICE,	  /* a command of its objects is in flight */
	PART_GAPS,	  /* none is: between first submission and last completion of an object */
	PART_WAIT,	  /* an object has begun and not submitted a command yet */
	PART_TAIL,	  /* an object has its last completion and has not ended */
	PART_UNEXPLAINED, /* no object runs */
	N_PARTS
};

struct measure_request {
	u32 span; /* row of m->serving */
	u64 ns, part[N_PARTS];
	u64 objects, commands, bytes; /* commands that were issued in it */
	enum dir dir;		      /* of its objects; DIR_NONE without any */
	bool shared;		      /* another span overlaps it */
};

/* All spans of one name. */
struct measure_requests {
	u32 name;
	u64 n, shared;
	struct dist span;
	u64 part[N_PARTS];
};

struct measure {
	enum percentile_method method;
	struct health health;
	struct measure_cmds cmd;
	u64 n_calls;	  /* system calls, io_uring requests and page faults that the capture has as well */
	bool pool_tagged; /* figures below are of tagged commands; of all when there is no tagged one */
	u64 pool_n, pool_bytes, pool_ok_bytes;
	u64 pool_unmoved_bytes; /* discarded, zeroed, verified: in pool_bytes, not in pool_ok_bytes */
	u64 pool_dir_n[N_DIRS], pool_dir_bytes[N_DIRS];
	u64 pool_first_ns, pool_last_ns;
	u64 wall_ns;			/* of all commands, from first submission to last completion */
	double throughput_gbs;		/* pool_ok_bytes over that time */
	struct measure_status *failure; /* the most frequent first */
	u32 n_failures;
	struct measure_lat *lat;
	u32 n_lat;
	struct measure_qd1 qd1[N_DIRS];
	struct measure_depth depth;
	struct measure_batches batch;
	struct measure_objects *obj;
	u32 n_obj;
	u64 objects_ok, objects_failed, max_objects_in_flight;
	u32 *error; /* distinct error texts of failed operations, sorted */
	u32 n_errors;
	struct measure_barrier barrier;
	struct measure_space space;
	struct measure_request *request; /* the slowest first */
	u32 n_requests;
	struct measure_requests *serving;
	u32 n_serving;
};

struct measure_options {
	u64 batch_gap_ns; /* a longer gap between submissions starts a batch; 0 = 50 us */
	enum percentile_method method;
};

/* Computes all of it.  0 or -ENOMEM; measure_free() in both cases. */
int measure_take(struct measure *out, const struct model *m, const struct measure_options *o);
void measure_free(struct measure *x);

/* ---- two captures of the same work ---- */

/* What must be equal, within the tolerance, for times to mean anything. */
enum ab_work {
	WORK_OBJECTS,
	WORK_OBJECT_BYTES,
	WORK_CMDS,
	WORK_CMD_BYTES,
	WORK_LOADS,
	WORK_STORES,
	WORK_READ_CMDS,
	WORK_WRITE_CMDS,
	WORK_READ_BYTES,
	WORK_WRITE_BYTES,
	N_WORKS
};

/* The median over pairs, and between which it lies with 95 % confidence (see median_interval()). */
struct ab_median {
	double p50, low, high;
};

struct measure_pair {
	const char *name; /* "load", "store" */
	u64 n, faster, slower;
	u64 interval_n;		   /* n, or 0: too few for an interval */
	struct ab_median delta_ns; /* span in b minus span in a */
	struct ab_median ratio;	   /* span in b by span in a */
};

/* A ratio of each capture with both its parts; den is 0 where it is not known. */
struct ab_ratio {
	const char *name, *num_name, *den_name;
	double num[2], den[2];
};

#define N_AB_RATIOS 4

struct measure_ab {
	double tolerance; /* share */
	u64 work[N_WORKS][2];
	bool differs[N_WORKS];
	u64 paired, only[2]; /* objects by (operation, shard, chunk, n-th time), without failed ones */
	bool other_objects;  /* more of them have no partner than the tolerance allows */
	bool nothing;	     /* neither has any work */
	bool comparable;
	struct measure_pair pair[N_DIRS];
	u32 n_pairs;
	struct ab_ratio ratio[N_AB_RATIOS];
};

#define AB_TOLERANCE 0.01
int measure_compare(struct measure_ab *out, const struct model *a, const struct measure *ma, const struct model *b,
		    const struct measure *mb, double tolerance);

#endif
