/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture in columns.  Every file kind is loaded into the same tables, a
 * join adds index columns, and all outputs read only these, so that a number
 * can never differ between two of them.
 *
 * Times are u64 nanoseconds of CLOCK_MONOTONIC.  Strings are ids of the pool
 * (0 = absent).  Index columns hold NONE where there is nothing.
 */
#ifndef KVIO_MODEL_H
#define KVIO_MODEL_H

#include "capture/event.h"
#include "lib/str.h"
#include "lib/types.h"

#define NONE	  UINT32_MAX
#define NO_LAT	  UINT64_MAX /* lat_ns of a command without a completion */
#define NO_NUMBER UINT64_MAX

/* What a command does, whatever the command set calls it. */
enum role {
	ROLE_WRITES, /* write, KV store */
	ROLE_READS,  /* read, KV retrieve */
	ROLE_OTHER,  /* flush, delete, exist, dsm, ... */
	ROLE_UNTAGGED,
	N_ROLES
};

enum cmd_flags {
	/* The low bits are enum ev_nvme_flags. */
	CMD_HAS_SLBA = 1 << 8,
	CMD_HAS_KEY = 1 << 9,
	CMD_HAS_QUEUE = 1 << 10,  /* hwq and cid are known */
	CMD_REISSUED = 1 << 11,	  /* a first attempt: its re-issue is another row; in no total */
	CMD_FAILED = 1 << 12,	  /* status or err is not zero */
	CMD_HEADER = 1 << 13,	  /* after the join: the header write of a store */
	CMD_NEGATIVE = 1 << 14,	  /* its completion is earlier than itself: lat_ns is clamped to 0 */
	CMD_BLK_STATUS = 1 << 15, /* status is a blk_status_t: all that the older passthrough monitor tells */
	CMD_SPLIT = 1 << 16,	  /* after the join: its bytes are not all of one operation, see part_table */
};

/* Commands, sorted by (ts_ns, content): the order of the input has no say. */
struct cmd_table {
	u32 n, cap;
	bool waits; /* some wait_ns is not 0 */
	u64 *ts_ns;
	u64 *lat_ns; /* NO_LAT = no completion found */
	u64 *user_data;
	u64 *slba;    /* with CMD_HAS_SLBA an LBA; with CMD_HAS_KEY value length | key length << 32 */
	u32 *bytes;   /* data length without metadata; measured by the tracer or declared by the command */
	u32 *nlb;     /* one-based; 0 = unknown */
	u32 *wait_ns; /* entry to issue, 0 when unknown; see cmd_wait() */
	u32 *dev;     /* index into devices; see cmd_dev() */
	u32 *tid;
	u32 *task; /* index into tasks or NONE */
	u32 *name; /* op name: "read", "store", ... */
	u32 *key;  /* hex text, or 0 */
	u32 *flags;
	u16 *status; /* NVMe status; errno when refused; blk_status_t with CMD_BLK_STATUS */
	u16 *hwq;
	u16 *cid;
	u8 *opcode;
	u8 *attempts;
	/* Joins */
	u32 *op; /* semantic operation it belongs to, or NONE */
};

/* Semantic operations of the application; model_join() sorts them by (start, end, trace_id, content). */
struct op_table {
	u32 n, cap;
	u64 *trace_id;
	u64 *start_ns; /* equal to end_ns when the record has no start */
	u64 *end_ns;
	u64 *bytes;
	u64 *slot_offset;
	u32 *name; /* store, load, delete */
	u32 *key;
	u32 *key_hex;
	u32 *part;
	u32 *error;
	u32 *instance;
	u32 *pid;
	u32 *flags; /* enum op_flags */
	/* Derived by the join */
	u64 *join_id;	/* what outputs call trace_id: it, or with JOIN_KEY the number of its key, from 1 */
	u32 *first_cmd; /* first row in cmd_order of its commands, NONE = no command */
	u32 *n_cmds;
	u32 *occurrence; /* n-th operation of this join_id */
	u32 *n_occurrences;
};

enum op_flags {
	OP_HAS_START = 1 << 0,
	OP_HAS_SLOT = 1 << 1,
	OP_HAS_PID = 1 << 2,
	OP_LATE_CMD = 1 << 3, /* its last command is later than its end: a clock anomaly */
};

/* What a request of the serving engine took; model_join() sorts them as it sorts operations. */
struct span_table {
	u32 n, cap;
	u64 *start_ns, *end_ns;
	u32 *name;	 /* op, else name, else "request" */
	u64 *tokens;	 /* NO_NUMBER = absent */
	u32 *request_id; /* as text, 0 = absent */
};

/*
 * The bytes of commands with CMD_SPLIT: those that lie in several objects, or
 * partly outside of any; one row a command and operation, sorted by (cmd, op).
 * What the rows of a command lack of its bytes is outside.  cmd.op is the
 * operation with most of them (the one at the lowest offset, when equal), and
 * cmd_order has the command under each of its operations.
 */
struct part_table {
	u32 n, cap;
	u32 *cmd, *op;
	u32 *bytes;
};

/* System calls, sorted by (ts_ns, content). */
struct call_row {
	struct ev_syscall ev;
	u32 path; /* of its file, 0 = not known */
	u32 task; /* index into tasks or NONE */
};

struct call_table {
	u32 n, cap;
	struct call_row *row;
};

/* io_uring requests, sorted by (ts_ns, content); without superseded snapshots. */
struct uring_row {
	struct ev_uring ev;
	u32 path; /* of its file, 0 = not known */
	u32 task; /* index into tasks or NONE */
};

struct uring_table {
	u32 n, cap;
	struct uring_row *row;
};

/* Page faults, sorted by (ts_ns, tid, address). */
struct fault_row {
	struct ev_fault ev;
	u32 path; /* of its file, 0 = not known */
	u32 task; /* index into tasks or NONE */
};

struct fault_table {
	u32 n, cap;
	struct fault_row *row;
};

/* Sums of files as they grew, by ts_ns. */
struct cache_row {
	struct ev_cache ev;
	u32 path;
	bool last; /* of its file */
};

struct cache_table {
	u32 n, cap;
	struct cache_row *row;
};

/* The same of block devices. */
struct block_row {
	struct ev_block ev;
	bool last; /* of its device and direction */
};

struct block_table {
	u32 n, cap;
	struct block_row *row;
};

/* What the application itself says it had use for, sorted by (ts_ns, line). */
struct marker_row {
	u64 ts_ns; /* NO_NUMBER = absent: these come first */
	u64 useful_bytes;
	u32 pid, tid; /* 0 = not known */
	u32 name;     /* 0 = none */
	u32 line;     /* as it was recorded */
	bool is_sum;  /* it tells bytes; a line of a phase may tell none, or no more than the ones before */
};

struct marker_table {
	u32 n, cap;
	struct marker_row *row;
	u64 n_useful, useful_bytes; /* rows that tell bytes, and their sum (UINT64_MAX: that, or more) */
};

/* What caused each command; see model/cause.h. */
struct cause_table {
	bool on;   /* sought: there are commands, and calls or requests */
	u8 *how;   /* of each command: enum cause_how */
	u32 *call; /* rows of call_table and uring_table, or NONE: not joined, or cut */
	u32 *uring;
	u32 *enter; /* of each request: the io_uring_enter that submitted it, or NONE */
	u32 *fault; /* row of fault_table as those of call_table; NULL: no faults, or no maps of files */
};

/* Where files are on disks, sorted by (disk, physical); and the heads of the maps of files. */
struct extent_row {
	struct ev_extent ev;
	u32 path;  /* 0 = not known */
	u64 size;  /* of the file at that time; UINT64_MAX = not known */
	u64 reach; /* where those that begin on this disk up to here end at most */
};

struct extent_table {
	u32 n, cap;
	struct extent_row *row;
};

/* Ranges of DSM commands, sorted by (ts_ns, dev, cid, index). */
struct range_table {
	u32 n, cap;
	struct ev_range *row;
};

struct device {
	u32 name; /* nvme0n1; "" when unknown */
	u32 dev;  /* kernel device number of the block disk, 0 unknown */
	u32 rdev; /* kernel device number of the char device, 0 unknown */
	u32 nsid;
	u32 lba_bytes; /* 0 = unknown */
	u32 ms;
	u32 max_transfer_bytes;
	u8 csi;
	bool lba_assumed; /* not measured: from a flag or from bytes / nlb */
};

struct task {
	u32 tid, pid;
	u32 comm;
	u32 ns_pid; /* its number in its own pid namespace, 0 when that is the first one or not known */
	u32 cgroup_path;
	u64 cgroup; /* id, 0 = not known */
	u64 since_ns;
};

struct overflow {
	u64 ts_ns, user_data;
	s32 res;
};

/* Events of one recording that were lost between two of its running accounts. */
struct loss {
	u64 begin_ns, end_ns;
	u64 n; /* at least; each may be a command or an overflow */
};

struct anchor {
	u64 monotonic_ns, realtime_ns;
	u32 uncertainty_ns;
};

/* The account of one input: seen = stored + in flight + dropped + unread + filtered. */
struct account {
	bool present;  /* the capture has one */
	bool complete; /* the capture was ended properly */
	u64 seen, stored, ring_full, map_full, hook_missed, unread, filtered;
	u64 in_flight; /* not completed when the recording ended */
	u32 defect;    /* why the file is not whole ("no footer at byte N", ...), or 0 */
};

/* What was read, and what could not be. */
struct input_counts {
	u64 lines;	    /* of text, blank ones too */
	u64 malformed;	    /* whole lines or records that could not be read */
	u64 first_bad_line; /* 0 = none */
	bool tail_cut;	    /* the last line has no end and is not valid JSON; it is not in malformed */
	bool input_cut;	    /* compressed data or .kvt blocks end early; what was before is loaded */
	bool bom, crlf;	    /* the text has a byte order mark, or lines that end in CR LF */
	u64 commands;	    /* rows; superseded snapshots are counted apart */
	u64 completions, semantic, anchors;
	u64 snapshots; /* of commands in flight, superseded by the command or by a later snapshot */
	u64 other;     /* all other records: overflows, drops, losses, serving spans, unknown kinds */
	u64 serving;   /* of these, serving spans */
	u64 calls;     /* system calls; in no other count */
	u64 requests;  /* of io_uring; in no other count */
	u64 faults;    /* page faults; in no other count */
	u64 unknown;   /* of these, kinds that are not ours */
	u64 unpaired_completions;
	u64 negative_latency;
};

/* How commands found their operation. */
enum join_kind {
	JOIN_AUTO,     /* in options: the best that the captures allow; in a model: not joined yet */
	JOIN_NONE,     /* not at all */
	JOIN_TRACE_ID, /* user_data >> 32 */
	JOIN_KEY,      /* the key in the command of a key-value namespace */
	JOIN_OFFSET,   /* where and when: byte range of the slot, time window of the operation */
};

/*
 * How an offset join went.  Every command that reached the device is in one of
 * the five classes, and every byte of them in one of the five sums.
 */
struct offset_account {
	u64 unique, unique_bytes;	/* inside one object; bytes of spills that are inside, too */
	u64 cross, cross_bytes;		/* over several slots; bytes that objects of that time own */
	u64 gap_spill, gap_spill_bytes; /* partly outside any slot; bytes that no object owns, of crossing ones too */
	u64 unmatched, unmatched_bytes; /* in no object of that time */
	u64 no_place, no_place_bytes;	/* without an LBA */
	u64 other_device;		/* of the unmatched: on another device than the semantic trace names */
	u64 cookie_cmds;		/* unique ones that have a trace id as well ... */
	u64 agree;			/* ... which names the same operation */
	u64 without_cookie;		/* unique ones without a trace id */
};

/*
 * Trace ids that name operations of one time, as those of several producers
 * do, and how their commands found one of them.
 */
struct id_collisions {
	u64 ids;      /* such trace ids */
	u64 cmds;     /* commands with one ... */
	u64 by_pid;   /* ... told apart by the process that submitted them */
	u64 by_place; /* ... by slot offset and time */
	u64 by_end;   /* ... by the ends of the operations only: these may be wrong */
};

/* What model_cut() took out: the tables and this are what was joined. */
struct cut_account {
	u64 cmds, cmd_bytes; /* rows; the bytes of those that reached the device */
	u64 ops, op_bytes;
	u64 spans, overflows, calls, requests, faults;
	bool window; /* cut in time: base_ns is still that of the whole capture */
	u64 base_ns;
};

struct model {
	struct strpool strings;
	struct cmd_table cmd;
	struct op_table op;
	struct span_table serving;
	struct part_table part;
	struct call_table call;
	struct uring_table uring;
	struct fault_table fault;
	struct cache_table cache;
	struct block_table block;
	u64 page_bytes;	  /* of the machine that recorded, 0 = not known */
	u64 useful_bytes; /* --useful-bytes of the recording, 0 = not given */
	struct marker_table marker;
	struct extent_table extent, mapped; /* see model/extents.h */
	struct range_table range;
	struct cause_table cause;
	u32 n_order;
	u32 *cmd_order; /* the commands of one operation are consecutive here, in time order; see part_table */
	struct device *device;
	u32 n_devices;
	struct task *task;
	u32 n_tasks;
	struct overflow *overflow;
	u32 n_overflows;
	struct loss *loss; /* sorted by time, of all inputs */
	u32 n_losses;
	struct anchor *anchor;
	u32 n_anchors;
	struct account account;
	struct input_counts sem_in, dev_in;
	bool timeline; /* read back from a Perfetto trace */
	/* kvio_meta of the semantic stream; strings 0, numbers 0 when absent */
	struct sem_meta {
		bool present;
		u32 hostname, device_path, io_engine;
		u64 kvio_schema, block_align, header_bytes, max_data_transfer_size, slot_bytes, capacity_bytes;
	} sem_meta;
	/* Join results */
	enum join_kind join;
	const char *join_why; /* static text, half a sentence: why this join ran */
	struct offset_account offset;
	struct id_collisions collisions;
	u64 long_keys;	   /* JOIN_KEY: operations whose key is too long for a command, and that have no key_hex */
	u64 dup_trace_ids; /* operations beyond the first per join_id */
	u32 n_instances;   /* distinct producers in the semantic stream */
	u32 lba_bytes;	   /* used for header detection */
	/* What the user and the device's capture said of it; 0 = nothing */
	u32 lba_said, lba_recorded;
	bool lba_inferred; /* differs from what the capture or the user said */
	u32 n_stores, n_header_cmds;
	u64 clock_anomalies;
	bool cookies_are_addresses; /* user_data of all commands is where something of the program lies, no id */
	struct cut_account cut;
	struct loading *loading; /* private, from the first load to model_finish() */
};

/* An empty model, to be filled by the loaders. */
void model_init(struct model *m);
void model_free(struct model *m);

/*
 * Loads one input file of any kind (.kvt, JSON lines; plain, gzip, zstd; "-"
 * is stdin), told apart by content.  Records of every kind found go into their
 * tables; the counts into sem_in (semantic records) or dev_in.  May be called
 * several times before model_finish(), also with several captures: their
 * accounts add up.
 * Returns 0 or -errno; -EBADMSG when the file is no capture of any kind.
 * After an error the model can only be freed.
 */
int model_load(struct model *m, const char *path);
/* The same from n bytes of uncompressed JSON lines. */
int model_load_text(struct model *m, const char *text, size_t n);

/*
 * After all loads: sorts the commands by time, drops superseded snapshots,
 * pairs completions exactly (by user_data or hwq + cid, the device, and
 * ts - lat_ns; by order only where the capture has no lat_ns), marks re-issues
 * and failures, and names the LBA size of devices that have none from their
 * transfers (lba_assumed).  Devices and tasks are sorted, too.
 * Returns 0 or -ENOMEM.
 */
int model_finish(struct model *m);

struct join_options {
	u32 lba_bytes;	     /* 0 = take it from the device or infer it */
	enum join_kind kind; /* 0 = JOIN_AUTO */
};

/*
 * Ties commands to operations, then fills the derived columns, m->join and
 * m->join_why.  JOIN_AUTO takes the first that ties anything: keys, trace ids
 * (unless most commands with one are of another time than their operation, and
 * offsets tie some), offsets.  First attempts have their `op`, but are not in cmd_order.  Puts
 * operations and spans into an order that the order of the input has no say
 * in.  May be called again with other options, but not after model_cut().
 * Returns 0 or -ENOMEM.
 *
 * JOIN_TRACE_ID: an id that several operations have is cut in time: a command
 * belongs to the first of them that ends at or after it, else to the last.
 * Of operations of several processes only those of the command's own count,
 * when there are any.  Where they overlap in time all the same, slot offsets
 * decide; see id_collisions.
 *
 * JOIN_KEY: by key_hex of the operation, else by its key.  A command carries
 * at most 16 bytes of key, so an operation with a longer key is only found
 * when its key_hex says what went on the wire.  An operation without a key,
 * or a command without one, belongs to nothing.  Of several operations with
 * one key those of the command's direction count, and among them its time
 * decides as it does for trace ids.
 *
 * JOIN_OFFSET: an operation owns the bytes from slot_offset on, header and
 * rounded payload, from 5 ms before its start to 5 ms after its end.  Of all
 * owners of a byte one of the command's direction comes first, then one that
 * runs at that time, then the nearest in time; of several that run the first
 * to start that has not had the byte yet.  A command is split among objects
 * that do not overlap.
 */
int model_join(struct model *m, const struct join_options *o);

/* "trace id", "key", "offset", "none" */
const char *join_name(enum join_kind kind);
/* The kind of that name or "auto"; -EINVAL. */
int join_parse(enum join_kind *kind, const char *name);

/* The part_table rows of a command: their number, the first in *first. */
u32 cmd_parts(const struct model *m, u32 cmd, u32 *first);
/* How many bytes of the command belong to the operation. */
u32 cmd_op_bytes(const struct model *m, u32 cmd, u32 op);

/* Role by op name and tag; see enum role. */
enum role cmd_role(const struct model *m, u32 cmd);
/* The trace id in user_data, 0 = untagged. */
static inline u64 cmd_trace_id(const struct model *m, u32 i)
{
	return m->cmd.user_data[i] >> 32;
}

/* The columns of dev and wait_ns are all zero in most captures, and take no memory when they are not read. */
static inline u32 cmd_dev(const struct model *m, u32 i)
{
	return m->n_devices > 1 ? m->cmd.dev[i] : 0;
}

static inline u64 cmd_wait(const struct cmd_table *t, u32 i)
{
	return t->waits ? t->wait_ns[i] : 0;
}

/* What outputs call the trace id of a command: its operation's join_id, 0 = untagged. */
static inline u64 cmd_join_id(const struct model *m, u32 i)
{
	if (m->cmd.op[i] != NONE)
		return m->op.join_id[m->cmd.op[i]];
	if (m->cookies_are_addresses && !m->op.n)
		return 0;
	return m->join == JOIN_KEY || m->join == JOIN_OFFSET ? 0 : cmd_trace_id(m, i);
}

#endif
