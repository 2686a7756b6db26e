/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the Perfetto writer: packets, interning, the arms and their event sources. */
#ifndef KVIO_PERFETTO_WRITER_H
#define KVIO_PERFETTO_WRITER_H

#include "lib/pb.h"
#include "lib/str.h"
#include "model/measure.h"
#include "out/perfetto.h"
#include "out/perfetto_lanes.h"

/* Field numbers of Perfetto's messages; docs/perfetto-subset.proto has them all. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
	DEFAULTS_EVENT = 11,
	DEFAULTS_CLOCK_ID = 58,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_EXTRA_COUNTER_VALUE = 12,
	EVENT_COUNTER_VALUE = 30,
	EVENT_EXTRA_COUNTER_TRACK = 31,
	EVENT_DOUBLE_COUNTER_VALUE = 44,
	EVENT_FLOW_ID = 47,
	EVENT_TERMINATING_FLOW_ID = 48,
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_STRING_IID = 17,
	INTERNED_EVENT_NAME = 2,
	INTERNED_ANNOTATION_NAME = 3,
	INTERNED_STRING_VALUE = 29,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,
};

enum event_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* Argument names; their number is the interned id. */
/* clang-format off */
#define PF_ARGS(X)                                                                                                     \
	X(slba) X(data_len) X(key_hex) X(key_len) X(value_len) X(trace_id) X(role) X(real_dur) X(attempts) X(wait_ns)  \
	X(status) X(err) X(errno) X(in_flight) X(path) X(op) X(part) X(bytes) X(slot_offset) X(rank) X(fmt) X(chunk)   \
	X(n_cmds) X(op_latency_ms) X(error) X(instance) X(producer_pid) X(key) X(occurrence) X(no_device_cmds)         \
	X(cmds) X(gbps) X(label) X(base_ns) X(applied_base_ns) X(rebased) X(sem_file) X(ebpf_file) X(lba_bytes)        \
	X(anchors) X(kvio_schema) X(hostname) X(device_path) X(io_engine) X(block_align) X(header_bytes)               \
	X(max_data_transfer_size) X(join) X(commands) X(refused) X(failed) X(reissued) X(unpaired) X(seen) X(stored)   \
	X(dropped) X(hook_missed) X(unread) X(filtered) X(complete) X(malformed) X(tail_cut) X(cq_overflows)                     \
	X(orphan_completions) X(user_data) X(res) X(tokens) X(request_id) X(ms) X(n) X(lat_p50_ns) X(lat_max_ns)       \
	X(dur_p50_ns) X(dur_max_ns) X(headers) X(parts) X(outside_bytes) X(join_why) X(piece) X(aggregated) X(device) X(lean) \
	X(fd) X(fd2) X(offset) X(address) X(size) X(size_partial) X(arg) X(ret) X(ring) X(sqe_flags) X(sqpoll) X(punted)       \
	X(calls) X(uring_requests) X(cmds_joined) X(cmds_no_thread) X(cmds_outside) X(cmds_uncertain) X(cmds_by_extent) X(cmds_moved)                         \
	X(tid) X(retries) X(came_in_pages) X(write) X(exec) X(kernel) X(faults)
#define PF_ARG_ID(name) ARG_##name,
enum pf_arg { ARG_0, PF_ARGS(PF_ARG_ID) N_PF_ARGS };
/* clang-format on */

/* What --redact hides: each kind is numbered on its own. */
enum pf_secret {
	SECRET_KEY,
	SECRET_FMT,
	SECRET_CHUNK,
	SECRET_INSTANCE,
	SECRET_REQUEST,
	SECRET_ERROR,
	SECRET_PATH,
	SECRET_COMM,
	N_SECRETS
};

struct pf_writer {
	struct buf b;	  /* what is encoded and not yet written */
	struct buf fresh; /* InternedData of the packet being made */
	struct strpool event_names, string_values;
	struct strpool secrets[N_SECRETS];
	struct perfetto_out *out;
	struct zout *z;	 /* the piece that is written */
	u64 piece_bytes; /* written of it; header_bytes were first encoded */
	u64 header_bytes;
	u64 n_open;  /* slices */
	u64 last_ns; /* of the packet before: timestamps are written as differences */
	u32 n_tracks, n_arms;
	/* What an event is about when it does not say: the busiest lane, and the LBA counter of the busier direction. */
	u32 default_track, default_counter;
	u32 header_iid, payload_iid; /* of the role of a command, 0 = not sent yet */
	/* The event being made: its time since the one before, its track, marks of the open messages. */
	u64 delta_ns;
	u32 track;
	size_t packet, event;
	int ret;
	const struct perfetto_options *o;
};

/* ---- perfetto_wire.c ---- */

/* The first packet: clean state, delta clock, argument names.  wall_ns 0 = unknown. */
void pf_start(struct pf_writer *w, u64 first_ns, u64 wall_ns);
/* Starts and ends one event packet; what stands between describes the event. */
void pf_event(struct pf_writer *w, u64 ns, enum event_type type, u32 track);
void pf_event_end(struct pf_writer *w);
/* Writes out what is encoded; the first error so far. */
int pf_flush(struct pf_writer *w);
void pf_writer_free(struct pf_writer *w);

u32 pf_event_name(struct pf_writer *w, const char *s, size_t n);
u32 pf_string_value(struct pf_writer *w, const char *s, size_t n);
void pf_arg_string(struct pf_writer *w, enum pf_arg arg, const char *s, size_t n);
/* For strings that come again: written once. */
void pf_arg_interned(struct pf_writer *w, enum pf_arg arg, const char *s, size_t n);
/* The same for a string of a model, left out when it is absent. */
void pf_arg_id(struct pf_writer *w, enum pf_arg arg, const struct strpool *s, u32 id);
void pf_arg_double(struct pf_writer *w, enum pf_arg arg, double v);
/* perfetto_redact.c: the same for strings that --redact hides. */
void pf_arg_secret(struct pf_writer *w, enum pf_arg arg, enum pf_secret kind, const char *s, size_t n);
void pf_arg_secret_id(struct pf_writer *w, enum pf_arg arg, enum pf_secret kind, const struct strpool *s, u32 id);
/* The word that stands for a string with --redact. */
void pf_hidden(struct pf_writer *w, enum pf_secret kind, const char *s, size_t n, char word[16]);
/* Hidden in any case. */
void pf_arg_secret_key(struct pf_writer *w, enum pf_arg arg, const struct model *m, u32 hex, u32 text);

PB_ALWAYS_INLINE void pf_arg_number(struct pf_writer *w, enum pf_arg arg, u32 field, u64 v)
{
	size_t mark = pb_open(&w->b, EVENT_ANNOTATION);

	pb_u64(&w->b, ANNOTATION_NAME_IID, arg);
	pb_u64(&w->b, field, v);
	pb_close(&w->b, mark);
}
PB_ALWAYS_INLINE void pf_arg_u64(struct pf_writer *w, enum pf_arg arg, u64 v)
{
	pf_arg_number(w, arg, ANNOTATION_UINT, v);
}
PB_ALWAYS_INLINE void pf_arg_bool(struct pf_writer *w, enum pf_arg arg, bool v)
{
	pf_arg_number(w, arg, ANNOTATION_BOOL, v);
}
PB_ALWAYS_INLINE void pf_arg_s64(struct pf_writer *w, enum pf_arg arg, s64 v)
{
	pf_arg_number(w, arg, v < 0 ? ANNOTATION_INT : ANNOTATION_UINT, (u64)v);
}

PB_ALWAYS_INLINE void pf_end_slice(struct pf_writer *w, u64 ns, u32 track)
{
	pf_event(w, ns, TYPE_END, track);
	pf_event_end(w);
}

/* ---- arms and sources ---- */

/*
 * A source makes the events of some tracks in time order.  next_ns is when its
 * next events are, PF_DONE when there are none; emit() makes all of that time
 * and moves on.  At equal times the lower `order` is first.
 */
#define PF_DONE UINT64_MAX
enum pf_order { ORDER_INFO, ORDER_COUNTERS, ORDER_SPANS, ORDER_COMMANDS };
struct pf_draw;
struct pf_programs;
struct pf_source {
	u64 next_ns;
	enum pf_order order;
	u32 index; /* of creation: decides last */
	void (*emit)(struct pf_writer *w, struct pf_source *s);
	struct pf_draw *arm;
};

#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

/* A counter track and the value that it shows. */
struct pf_counter {
	u32 track;
	bool known, is_double;
	union {
		s64 n;
		double x;
	} value; /* when known */
};
void pf_count(struct pf_writer *w, u64 ns, struct pf_counter *c, s64 v);
void pf_count_double(struct pf_writer *w, u64 ns, struct pf_counter *c, double v);
/* The value again, for the start of what is written. */
void pf_count_again(struct pf_writer *w, u64 ns, const struct pf_counter *c);

/* Slices on lanes, sorted by (begin, end). */
struct pf_span {
	u64 begin_ns, end_ns; /* of CLOCK_MONOTONIC */
	u64 amount;	      /* bytes or tokens */
	u32 item;
	u32 n; /* spans that are drawn as this one */
};
struct pf_spans {
	struct pf_source source;
	struct pf_span *span;
	struct median *durations; /* when spans are drawn as one */
	u32 n, next;
	u32 n_lanes, track; /* of lane 0; the others follow */
	struct lanes lanes;
	u32 *ended; /* lanes whose slice ends now */
	/* What may be drawn as one. */
	u64 (*class)(const struct pf_draw *a, const struct pf_span *s);
	/* Describes the slice in the event that is begun; NULL = only counted. */
	void (*describe)(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s);
	struct pf_counter *open; /* how many are open, or NULL */
	struct perfetto_kind *drawn;
};

/* Instants of one track. */
struct pf_instant {
	u64 ns; /* of the timeline once they are sorted */
	u64 bytes;
	u32 item;
	u32 n; /* instants that are drawn as this one */
	enum pf_instant_kind {
		INSTANT_CAPTURE,
		INSTANT_LOSSY,
		INSTANT_INCOMPLETE,
		INSTANT_OVERFLOW,
		INSTANT_OBJECT,
		INSTANT_COMMAND, /* and on, by enum cmd_state */
	} kind;
};
struct pf_unit;
struct pf_instants {
	struct pf_source source;
	struct pf_unit *unit;
	struct pf_instant *v;
	u32 n, next;
	void (*draw)(struct pf_writer *w, struct pf_instants *x, const struct pf_instant *p);
};

/* An operation with its commands, or several of them, as they are drawn. */
struct pf_object {
	u32 op, n;
	u32 n_cmds;
	u32 first_cmd, last_cmd;
};

/* Commands that are drawn as one. */
struct pf_group {
	u64 begin_ns, end_ns; /* of the timeline */
	u64 bytes;
	u32 row, last_row, n, n_headers;
};

/* Commands per time bucket, counted ahead of the events. */
struct pf_bucket {
	struct pf_source source;
	struct pf_unit *unit;
	u64 width_ns;
	u32 at;	    /* next command to count */
	u64 end_ns; /* where the bucket or run ends */
	u64 cmds, bytes;
	bool closing; /* the next event is the zero, or the end of the run */
	bool silent;  /* the end of the run is not written (again) */
};

struct pf_role {
	struct lanes lanes;
	u64 n_slices;
	u64 first_begin_ns, first_end_ns;
	u32 n_lanes;
	u32 track; /* of lane 0; the others follow */
	u32 rank;  /* order of first appearance, from 1; 0 = no command */
};

/* The device side of an arm: one for each device that has commands. */
struct pf_unit {
	struct pf_draw *arm;
	char *device;	  /* what is known of it, "" = nothing */
	const char *name; /* the same in track names, "" when it is the only one */
	u32 n_devices;	  /* several: paths to one namespace, or unknown ones */
	u32 *row, n_rows; /* its commands; NULL and all of the table when there is one unit */
	/* When commands are drawn as groups */
	struct pf_group *group;
	struct median *lat;
	u32 n_groups;
	u32 track_process, track_activity, track_anomalies;
	struct pf_counter cmds, mbs, slba[N_DIRS];
	u64 n_samples[N_DIRS];	/* of the two LBA counters */
	u64 sample_bin[N_DIRS]; /* of the last sample, + 1, when lean */
	u32 sample_shift;
	struct pf_role roles[N_ROLES];
	struct pf_bucket ms, mbs10, activity;
	struct pf_instants anomalies;
	struct pf_source commands;
	u32 next; /* command or group */
	struct pf_cmd {
		u64 end_ns;
		u32 at;
	} * batch; /* commands of one time, while they are sorted */
	u32 batch_cap, n_batch;
};

/* What is drawn of one arm. */
struct pf_draw {
	const struct perfetto_arm *in;
	const struct model *m;
	const struct perfetto_options *o;
	struct perfetto_stats *stats;
	u32 index; /* of the arm */
	struct health health;
	u32 read_name, write_name, store_name;
	u64 first_ns; /* earliest thing drawn */
	u64 base_ns;  /* the same before a cut in time */
	u64 shift_ns; /* subtracted from every time */
	/* When arms are aligned by real time, from which shift_ns is subtracted then */
	struct pf_knot *knot;
	u32 n_knots;
	u64 end_ns; /* capture_end() */

	u32 track_info;
	struct pf_counter in_flight;

	struct pf_unit *unit;
	u32 n_units, first_extra_pid;
	u8 *role; /* of each command: enum role, or NOT_DRAWN */
	/* Interned event name by (op name, suffix), direct mapped. */
	struct {
		u64 key;
		u32 iid;
	} name_cache[64];

	struct pf_spans objects, serving, losses;
	struct pf_spans every_object; /* only counted, when objects are drawn as one */
	struct pf_object *object;     /* by item of its span */
	u32 n_objects;
	u32 *object_of; /* index into object by operation, NONE = has no span */

	struct pf_programs *programs; /* NULL = no calls, no requests and no faults */
	struct pf_instants info;      /* on `capture info` */
	bool aggregated;	      /* some slices stand for several things */
	bool lean;		      /* less is said of each command */
};

#define NOT_DRAWN 0xff

#define PF_WIDEST_BUCKET_NS 100000000ull

/* Perfetto's times are signed; one more is the end of a slice that begins here. */
#define PF_MAX_TIME ((u64)INT64_MAX - 1)

u64 pf_aligned_time(const struct pf_draw *a, u64 ns);

static inline u64 pf_time(const struct pf_draw *a, u64 ns)
{
	if (__builtin_expect(a->n_knots != 0, 0))
		return pf_aligned_time(a, ns);
	return MIN(ns - a->shift_ns, PF_MAX_TIME);
}
/* The end of a span that begins at begin_ns: its length stays. */
static inline u64 pf_end_time(const struct pf_draw *a, u64 begin_ns, u64 end_ns)
{
	u64 begin = pf_time(a, begin_ns), len = end_ns - begin_ns;

	return len > PF_MAX_TIME - begin ? PF_MAX_TIME : begin + len;
}

static inline int pf_compare(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/* Unique for arm and object, whatever else is in the trace. */
static inline u64 pf_flow_id(const struct pf_draw *a, u32 object)
{
	return (u64)(a->index + 1) << 40 | (object + 1ull);
}

static inline u32 pf_row(const struct pf_unit *u, u32 at)
{
	return u->row ? u->row[at] : at;
}
static inline bool pf_drawn(const struct pf_draw *a, u32 cmd)
{
	return a->role[cmd] != NOT_DRAWN;
}
/* In the counters: it reached the device. */
static inline bool pf_counted(const struct pf_draw *a, u32 cmd)
{
	return pf_drawn(a, cmd) && !(a->m->cmd.flags[cmd] & NVME_REFUSED);
}

/*
 * First _prepare: sorts and finds the ends of the time; then _lanes, with the
 * time base known; then the descriptors; then _start: the first events.
 */
void pf_arm_tracks(struct pf_writer *w, struct pf_draw *a);

/* perfetto_units.c */
int pf_units_prepare(struct pf_draw *a);
void pf_units_free(struct pf_draw *a);

/* perfetto_commands.c */
int pf_commands_prepare(struct pf_draw *a);
u64 pf_command_end(const struct pf_unit *u, u32 at, const struct perfetto_options *o);
int pf_commands_lanes(struct pf_unit *u, const struct perfetto_options *o);
void pf_commands_start(struct pf_unit *u);
/* perfetto_command.c: the LBA counter that the command counts in, or NULL. */
struct pf_counter *pf_command_counter(struct pf_unit *u, u32 row);
/* Its name, arguments and arrows, in the event that is begun; and those of a group. */
void pf_command_describe(struct pf_writer *w, struct pf_unit *u, u32 row, bool real_duration);
void pf_group_describe(struct pf_writer *w, struct pf_unit *u, u32 group);
/* "read", "cmd" when it has no name. */
void pf_command_name(struct buf *out, const struct pf_draw *a, u32 row);
/* The arguments that tell which command it is and what went wrong. */
void pf_command_about(struct pf_writer *w, struct pf_unit *u, u32 row);

/* perfetto_spans.c */
int pf_spans_lanes(const struct pf_draw *a, struct pf_spans *s);
void pf_spans_start(struct pf_draw *a, struct pf_spans *s);
void pf_spans_free(struct pf_spans *s);

int pf_spans_copy(struct pf_spans *to, const struct pf_spans *from);

/* perfetto_instants.c */
int pf_instants_room(struct pf_instants *x, u64 n);
void pf_instants_add(struct pf_instants *x, u64 ns, enum pf_instant_kind kind, u32 item, u64 bytes);
void pf_instants_sort(const struct pf_draw *a, struct pf_instants *x);
/* Draws those of one kind and bin of time as one, so that at most about `most` are left. */
int pf_instants_group(const struct pf_draw *a, struct pf_instants *x, u64 most);
void pf_instants_start(struct pf_draw *a, struct pf_instants *x);
/* Begins an instant of that name. */
void pf_instant(struct pf_writer *w, u64 ns, u32 track, const struct buf *name);

int pf_objects_prepare(struct pf_draw *a);
int pf_serving_prepare(struct pf_draw *a);
int pf_losses_prepare(struct pf_draw *a);
int pf_info_prepare(struct pf_draw *a);
/* What the capture is, once more. */
void pf_info_again(struct pf_writer *w, struct pf_draw *a, u64 now);
int pf_anomalies_prepare(struct pf_unit *u);
void pf_counters_start(struct pf_unit *u);

/* perfetto_clock.c: ties the arms to the real time.  0, -ENOMEM, -ENODATA (an arm has no anchors). */
int pf_clock_align(struct pf_draw *arms, u32 n, const struct perfetto_options *o);
/* What time of day it was; 0 = unknown. */
u64 pf_wall_time(const struct pf_draw *arms, u32 n, const struct perfetto_options *o, u64 ns);

/* perfetto_pieces.c: opens the first file; ends it and goes on in the next; closes the last, or drops it. */
int pf_piece_open(struct pf_writer *w, struct pf_draw *arms, u64 first_ns);
bool pf_piece_is_full(const struct pf_writer *w);
void pf_piece_next(struct pf_writer *w, struct pf_draw *arms, u64 now);
int pf_piece_close(struct pf_writer *w, int ret);

/* perfetto_detail.c, perfetto_groups.c */
int pf_detail(struct pf_draw *arms, u32 n, const struct perfetto_options *o);
int pf_groups_make(struct pf_draw *a, u64 most, const struct perfetto_options *o);

#endif
