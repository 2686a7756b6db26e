/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the trace reader share: wire decoding, and the state of reading. */
#ifndef KVIO_PFTRACE_WORK_H
#define KVIO_PFTRACE_WORK_H

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "lib/buf.h"
#include "lib/hash.h"
#include "model/pftrace.h"

/* ---- protocol buffers ---- */

enum { WIRE_VARINT, WIRE_FIXED64, WIRE_LEN, WIRE_FIXED32 = 5 };

struct pbr {
	const u8 *p, *end;
};

struct pbr_field {
	u32 number, wire;
	u64 v;	     /* of all but WIRE_LEN, 0 there */
	const u8 *p; /* of WIRE_LEN, else NULL and 0 */
	size_t n;
};

/* The message in a field of WIRE_LEN; empty for any other. */
static inline struct pbr pbr_in(const struct pbr_field *f)
{
	return f->wire == WIRE_LEN ? (struct pbr){ f->p, f->p + f->n } : (struct pbr){};
}

static inline bool pbr_varint(const u8 **p, const u8 *end, u64 *v)
{
	u64 r = 0;
	u32 shift;

	if (*p < end && !(**p & 0x80)) {
		*v = *(*p)++;
		return true;
	}
	for (shift = 0; shift < 70 && *p < end; shift += 7) {
		u8 c = *(*p)++;

		if (shift < 64)
			r |= (u64)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			*v = r;
			return true;
		}
	}
	return false;
}

static inline u64 pbr_fixed(const u8 *p, size_t n)
{
	u64 v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* The next field: 1, 0 at the end, -EBADMSG. */
static inline int pbr_next(struct pbr *r, struct pbr_field *f)
{
	u64 key, len;

	if (r->p >= r->end)
		return 0;
	if (!pbr_varint(&r->p, r->end, &key) || key >> 3 == 0 || key >> 32)
		return -EBADMSG;
	f->number = (u32)(key >> 3);
	f->wire = key & 7;
	f->v = 0;
	f->p = NULL;
	f->n = 0;
	switch (f->wire) {
	case WIRE_VARINT:
		return pbr_varint(&r->p, r->end, &f->v) ? 1 : -EBADMSG;
	case WIRE_LEN:
		if (!pbr_varint(&r->p, r->end, &len) || len > (size_t)(r->end - r->p))
			return -EBADMSG;
		f->p = r->p;
		f->n = (size_t)len;
		r->p += len;
		return 1;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		len = f->wire == WIRE_FIXED64 ? 8 : 4;
		if (len > (size_t)(r->end - r->p))
			return -EBADMSG;
		f->v = pbr_fixed(r->p, (size_t)len);
		r->p += len;
		return 1;
	}
	return -EBADMSG;
}

/* ---- the state of reading ---- */

/* Interned ids of one kind.  They count from 1 nearly always: a plain array then. */
struct pf_interned {
	u32 *dense;
	u32 n, cap;
	struct map64 sparse;
};

enum { PF_CATEGORIES, PF_NAMES, PF_KEYS, PF_STRINGS, PF_INTERNED_KINDS };

#define PF_MAX_EXTRA 8 /* counter values that an event can carry beside its own */

struct pf_clock {
	u32 id;
	u64 mult, now; /* now: of an incremental clock, in nanoseconds */
	u64 offset;    /* to trace time */
	bool incremental;
};

/* One packet sequence: nothing of it means anything in another. */
struct pf_sequence {
	struct pf_interned of[PF_INTERNED_KINDS];
	struct pf_clock *clock;
	u32 n_clocks, cap_clocks;
	bool valid; /* its state was cleared once, so it is known */
	u64 clears;
	/* Packet defaults */
	u32 clock_id;
	u64 track;
	u32 n_extra, n_extra_double;
	u64 extra[PF_MAX_EXTRA], extra_double[PF_MAX_EXTRA];
};

/* A track as it is declared; it may be used before. */
struct pf_declared {
	struct pf_track t;
	u64 parent;    /* uuid, 0 = none */
	u32 pid, tid;  /* with has_process, has_thread */
	u32 task_name; /* of the process or thread */
	u32 new_row;   /* in the table of tracks, or NONE */
	s64 mult;      /* of a counter */
	double sum;    /* of an incremental counter, since the state was cleared this often */
	u64 clears;
	bool declared, has_process, has_thread, incremental;
};

enum pf_kind { PF_BEGIN, PF_END, PF_INSTANT };
#define PF_HAS_FLOW 0x80

struct pf_end {
	u32 name, category, args;
};

struct pf_flow_op {
	u32 event;
	bool ends;
	u64 id;
};

/* Output of another splitter: the packets inside compressed_packets. */
struct pf_splitter {
	struct buf b; /* bytes of a packet that is not whole yet */
	size_t skip;  /* bytes that follow and are not wanted */
	bool broken;
	bool inner;
};

struct pf_reading {
	u64 max_bytes, used;
	struct pf_splitter file;
	struct map64 sequence_at;
	struct pf_sequence **sequence;
	u32 n_sequences, cap_sequences;
	u32 last_id; /* of the packet before */
	struct pf_sequence *last;
	struct pf_clock *clock; /* those that all sequences share */
	u32 n_clocks, cap_clocks;
	u32 trace_clock;

	struct map64 track_at; /* uuid -> declared */
	struct pf_declared *track;
	u32 cap_tracks;
	u64 last_uuid;
	u32 last_track;
	struct map64 key_at; /* (flat, key) -> key */
	u32 cap_keys;
	struct buf key, flat; /* of the arg that is being read */

	/* Slice events; `what` is the row of a slice or the place in `end` (NONE = a plain end). */
	struct {
		u32 n, cap;
		s64 *ts;
		u32 *track, *what;
		u8 *kind;
	} event;
	struct pf_end *end;
	u32 n_ends, cap_ends;
	struct pf_flow_op *flow_op;
	u32 n_flow_ops, cap_flow_ops;
	bool unsorted, counters_unsorted;
};

/* pftrace.c.  Grows the array at `array` for element n, and accounts for it: 0, -ENOMEM, -EFBIG. */
int pf_grow(struct pf_reading *r, void *array, u32 *cap, u32 n, size_t size);
/* The string's id into *id (0 for an empty one). */
int pf_string(struct pftrace *t, const void *s, size_t n, u32 *id);
/* Starts a set of args; rows follow. */
int pf_arg_set(struct pftrace *t);
int pf_arg_add(struct pftrace *t, u32 key, enum pf_arg_type type, u64 value);
/* Undoes all args from this set on. */
void pf_args_back(struct pftrace *t, u32 sets);
/* The number of an arg's name. */
int pf_key_id(struct pftrace *t, const struct buf *key, const struct buf *flat, u32 *id);

/* The packets in compressed_packets.  As pftrace_feed(), and -EBADMSG when they are damaged. */
int pf_inflate(struct pftrace *t, const u8 *p, size_t n);

/* pftrace_state.c: sequences, clocks, tracks. */
int pf_sequence_of(struct pftrace *t, u32 id, struct pf_sequence **out);
void pf_sequence_clear(struct pf_sequence *s);
void pf_sequence_free(struct pf_sequence *s);
int pf_interned_put(struct pftrace *t, struct pf_interned *in, u64 iid, u32 value);
/* The value, or NONE. */
u32 pf_interned_get(const struct pf_interned *in, u64 iid);
int pf_snapshot(struct pftrace *t, struct pf_sequence *s, struct pbr r);
/* Trace time of a packet's timestamp. */
s64 pf_time_of(struct pftrace *t, struct pf_sequence *s, u32 clock, u64 stamp);
/* The place of a uuid among the declared tracks. */
int pf_track_of(struct pftrace *t, u64 uuid, u32 *at);
int pf_descriptor(struct pftrace *t, struct pbr r);

/* pftrace_packet.c */
int pf_packet(struct pftrace *t, const u8 *p, size_t n, bool inner);

/* pftrace_event.c: one TrackEvent at its time. */
int pf_event_read(struct pftrace *t, struct pf_sequence *s, s64 ts, const u8 *p, size_t n);
/* Reads a DebugAnnotation's name without its prefix into `key`; for interned names. */
/* Adds one number, or a packed row of them, to out[*n] up to max. */
void pf_repeated(const struct pbr_field *f, bool fixed, u64 *out, u32 *n, u32 max);
int pf_key_of_name(struct pftrace *t, const void *name, size_t n, u32 *id);

/* pftrace_build.c: from what was read to the tables. */
int pf_build(struct pftrace *t);
/* pftrace_tracks.c: the tracks, processes and threads; declared.new_row. */
int pf_build_tracks(struct pftrace *t);
int pf_build_track_args(struct pftrace *t);

#endif
