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
	X(status) X(err) X(errno) X(in_flight) X(device) X(op) X(part) X(bytes) X(slot_offset) X(rank) X(fmt) X(chunk) \
	X(n_cmds) X(op_latency_ms) X(error) X(instance) X(producer_pid) X(key) X(occurrence) X(no_device_cmds)         \
	X(cmds) X(gbps) X(label) X(base_ns) X(applied_base_ns) X(rebased) X(sem_file) X(ebpf_file) X(lba_bytes)        \
	X(anchors) X(kvio_schema) X(hostname) X(device_path) X(io_engine) X(block_align) X(header_bytes)               \
	X(max_data_transfer_size) X(join) X(commands) X(refused) X(failed) X(reissued) X(unpaired) X(seen) X(stored)   \
	X(dropped) X(hook_missed) X(filtered) X(complete) X(malformed) X(tail_cut) X(cq_overflows)                     \
	X(orphan_completions) X(user_data) X(res)
#define PF_ARG_ID(name) ARG_##name,
enum pf_arg { ARG_0, PF_ARGS(PF_ARG_ID) N_PF_ARGS };
/* clang-format on */

struct pf_writer {
	struct buf b;	  /* what is encoded and not yet written */
	struct buf fresh; /* InternedData of the packet being made */
	struct strpool event_names, string_values;
	struct zout *out;
	u64 last_ns; /* of the packet before: timestamps are written as differences */
	u64 packets;
	u32 n_tracks;
	size_t packet, event; /* marks of the open messages */
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

u32 pf_event_name(struct pf_writer *w, const char *s, size_t n);
void pf_arg_string(struct pf_writer *w, enum pf_arg arg, const char *s, size_t n);
/* For strings that come again: written once. */
void pf_arg_interned(struct pf_writer *w, enum pf_arg arg, const char *s, size_t n);
/* The same for a string of a model, left out when it is absent. */
void pf_arg_id(struct pf_writer *w, enum pf_arg arg, const struct strpool *s, u32 id);
void pf_arg_double(struct pf_writer *w, enum pf_arg arg, double v);

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
PB_ALWAYS_INLINE void pf_count(struct pf_writer *w, u64 ns, u32 track, s64 v)
{
	pf_event(w, ns, TYPE_COUNTER, track);
	pb_s64(&w->b, EVENT_COUNTER_VALUE, v);
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
struct pf_arm;
struct pf_source {
	u64 next_ns;
	enum pf_order order;
	u32 index; /* of creation: decides last */
	void (*emit)(struct pf_writer *w, struct pf_arm *a, struct pf_source *s);
	struct pf_arm *arm;
};

/* Something on `capture info`. */
struct pf_info {
	u64 ns;
	enum pf_info_kind { INFO_CAPTURE, INFO_LOSSY, INFO_INCOMPLETE, INFO_OVERFLOW, INFO_OBJECT } kind;
	u32 item;
};

struct pf_object {
	u64 begin_ns, end_ns;
	u32 op, n_cmds;
	u32 first_cmd, last_cmd;
};

/* Commands per time bucket, counted ahead of the events. */
struct pf_bucket {
	struct pf_source source;
	u64 width_ns;
	u32 row;    /* next command to count */
	u64 end_ns; /* where the bucket or run ends */
	u64 cmds, bytes;
	bool closing; /* the next event is the zero, or the end of the run */
};

struct pf_role {
	struct lanes lanes;
	u32 n_lanes; /* what the first pass found */
	u32 track;   /* of lane 0; the others follow */
	u32 rank;    /* order of first appearance, from 1; 0 = no command */
};

struct pf_arm {
	const struct perfetto_arm *in;
	const struct model *m;
	struct perfetto_stats *stats;
	struct health health;
	struct dir_names dirs;
	u32 read_name, write_name, store_name;
	u64 base_ns;  /* earliest thing drawn */
	u64 shift_ns; /* subtracted from every time */
	u64 end_ns;   /* capture_end() */

	u32 track_info, track_in_flight;
	u32 track_objects; /* of object lane 0 */
	/* The IO tree; one for all devices of the arm. */
	u32 track_activity, track_cmds, track_mbs, track_slba[N_DIRS];

	bool several_devices; /* have commands: each says which */
	u8 *role;	      /* of each command: enum role, or NOT_DRAWN */
	struct pf_role roles[N_ROLES];
	struct pf_cmd {
		u64 end_ns;
		u32 row;
	} * batch; /* commands of one time, while they are sorted */
	u32 batch_cap, n_batch;
	/* Interned event name by (op name, suffix), direct mapped. */
	struct {
		u64 key;
		u32 iid;
	} name_cache[64];

	struct pf_object *object;
	u32 n_objects;
	struct lanes object_lanes;
	u32 *object_of;	     /* index into object by operation, NONE = has no span */
	u32 *ended, n_ended; /* lanes of the objects that end now */
	s64 in_flight;

	struct pf_info *info;
	u32 n_info;

	u32 index; /* of the arm */
	struct pf_source info_source, object_source, command_source;
	u32 next_info, next_object, next_cmd;
	struct pf_bucket ms, mbs, activity;
};

#define NOT_DRAWN 0xff

/* Perfetto's times are signed; one more is the end of a slice that begins here. */
#define PF_MAX_TIME ((u64)INT64_MAX - 1)

static inline u64 pf_time(const struct pf_arm *a, u64 ns)
{
	return MIN(ns - a->shift_ns, PF_MAX_TIME);
}

/* Unique for arm and object, whatever else is in the trace. */
static inline u64 pf_flow_id(const struct pf_arm *a, u32 object)
{
	return (u64)(a->index + 1) << 40 | (object + 1ull);
}

static inline bool pf_drawn(const struct pf_arm *a, u32 cmd)
{
	return a->role[cmd] != NOT_DRAWN;
}
/* In the counters: it reached the device. */
static inline bool pf_counted(const struct pf_arm *a, u32 cmd)
{
	return pf_drawn(a, cmd) && !(a->m->cmd.flags[cmd] & NVME_REFUSED);
}

/*
 * perfetto_tracks.c, _commands.c, _objects.c, _counters.c, _info.c.  First
 * _prepare: sorts and finds the ends of the time; then _lanes, with the time
 * base known; then the descriptors; then _start: the first events.
 */
void pf_arm_tracks(struct pf_writer *w, struct pf_arm *a);
int pf_commands_prepare(struct pf_arm *a);
int pf_commands_lanes(struct pf_arm *a, const struct perfetto_options *o);
void pf_commands_start(struct pf_arm *a);
int pf_objects_prepare(struct pf_arm *a);
int pf_objects_lanes(struct pf_arm *a);
void pf_objects_start(struct pf_arm *a);
void pf_counters_start(struct pf_arm *a);
int pf_info_prepare(struct pf_arm *a);
void pf_info_start(struct pf_arm *a);

#endif
