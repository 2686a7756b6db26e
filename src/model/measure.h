/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of a capture, computed from the columns of the model only; text
 * and JSON writers print them and compute nothing.
 *
 * What counts: a first attempt that was re-issued is in no figure, a command
 * refused before the device only in `refused`.  Latencies are those of
 * commands that completed without an error.  Every figure has its n.  Times
 * are nanoseconds, percentiles are nearest-rank (lib/dist.h).
 */
#ifndef KVIO_MEASURE_H
#define KVIO_MEASURE_H

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
static inline enum dir cmd_dir(const struct dir_names *d, const struct model *m, u32 i)
{
	u32 name = m->cmd.name[i];

	if (!name)
		return DIR_NONE;
	if (name == d->id[0] || name == d->id[1])
		return DIR_READ;
	return name == d->id[2] || name == d->id[3] ? DIR_WRITE : DIR_NONE;
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

/* The parts of a cache key MODEL@FMT@RANK@HASH that outputs show. */
struct key_parts {
	const char *fmt, *rank, *hash; /* not ended by NUL; fmt is NULL when the key has less than four parts */
	size_t fmt_len, rank_len, hash_len;
	bool rank_is_number;
	u64 rank_number;
};
void key_parse(struct key_parts *k, const char *key, size_t n);

/* Whether the figures can be trusted. */
struct health {
	bool lossy;	 /* events are known to be missing */
	bool incomplete; /* the input was cut, damaged, or never ended properly */
	u64 dropped;	 /* ring full + map full */
	u64 hook_missed;
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
	u64 headers, header_bytes, store_bytes; /* headers of stores; store_bytes counts all writes of the pool */
	u64 first_ns, last_ns;			/* first submission, last known completion */
	double coverage;			/* share of n with a measured latency */
};

struct measure_lat {
	u32 name;			    /* string of the model: "read", "store", ... */
	u64 n, failed, in_flight, unpaired; /* n - lat.n - failed - in_flight - unpaired ran backwards */
	struct dist lat;
};

enum qd1_verdict { QD1_UNKNOWN, QD1_SERIAL, QD1_SUSPICIOUS, QD1_PIPELINED };

/*
 * Does the application wait for each command before it submits the next?
 * From the gaps between successive submissions of one operation (with at
 * least 4 commands), never across two of them.  A submission is when the
 * application made it (ts_ns - wait_ns), not when the device took it.
 */
struct measure_qd1 {
	u64 ops; /* operations looked at */
	struct dist gap;
	struct dist service;   /* latency of commands of this direction; .p25 is the floor that gaps are held against */
	u64 long_gaps;	       /* gaps of at least half the floor */
	double in_flight;      /* time-weighted mean within one operation, from first submission to last completion */
	double busy_in_flight; /* the same while at least one is in flight */
	u64 waited_ns;	       /* sum(gaps) - sum(service of the command before each); 0 when negative */
	u64 gap_ns;	       /* sum(gaps) of which waited_ns is a part */
	u64 followed_by_own;   /* submissions followed by one of the same operation */
	u64 followed;	       /* submissions followed by any */
	enum qd1_verdict verdict;
};

struct measure_depth {
	u64 n; /* commands with a known duration, or in flight to the end */
	u64 max;
	u64 span_ns, busy_ns, le1_ns; /* all, with >= 1 in flight, with <= 1 in flight */
	double mean, busy_mean;
};

struct measure_batches {
	u64 n, gap_ns;
	struct dist size;
};

struct measure_objects {
	u32 name; /* store, load, delete, ... */
	u64 n;	  /* without an error */
	u64 failed, failed_with_cmds;
	u64 bytes;
	u64 with_cmds, commands;
	struct dist span, size;
	struct dist presubmit;	  /* start to first command; only records that have a start */
	struct dist device, host; /* part of the span with >= 1 of its own commands in flight, and the rest */
	u64 eff_n;
	double eff_mbs_p50; /* bytes / span */
};

struct measure_barrier {
	u64 shards, n;
	struct dist gap;
};

struct measure_space {
	u64 writes, reused, sequential;
};

struct measure {
	struct health health;
	struct measure_cmds cmd;
	bool pool_tagged; /* figures below are of tagged commands; of all when there is no tagged one */
	u64 pool_n, pool_bytes, pool_ok_bytes;
	u64 pool_first_ns, pool_last_ns;
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
};

struct measure_options {
	u64 batch_gap_ns; /* a longer gap between submissions starts a batch; 0 = 50 us */
};

/* Computes all of it.  0 or -ENOMEM; measure_free() in both cases. */
int measure_take(struct measure *out, const struct model *m, const struct measure_options *o);
void measure_free(struct measure *x);

/* Two captures of the same work. */
struct measure_pair {
	const char *name;
	u64 n, faster, slower;
	s64 delta_p50_ns; /* span in b minus span in a */
};

struct measure_ab {
	u64 objects[2], object_bytes[2], device_bytes[2], device_cmds[2];
	u64 paired, only[2]; /* objects by (operation, key, n-th time), without failed ones */
	bool comparable;     /* the same objects, and bytes within 1 % */
	struct measure_pair *pair;
	u32 n_pairs;
};
int measure_compare(struct measure_ab *out, const struct model *a, const struct measure *ma, const struct model *b,
		    const struct measure *mb);
void measure_ab_free(struct measure_ab *x);

#endif
