/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the JSON lines reader share and nobody else includes. */
#ifndef KVIO_JSONL_FIELDS_H
#define KVIO_JSONL_FIELDS_H

#include "capture/jsonl_read.h"
#include "lib/simd.h"

/* Every member that is looked at, by its name. */
/* clang-format off */
#define MEMBERS(X) \
	X(event_type) X(ts) X(user_data) X(pid) X(tid) X(nvme_opcode) X(op_name) X(nsid) X(slba) X(nlb) \
	X(bytes) X(data_len) X(multipath) X(cmd_op) X(rdev) X(comm) X(disk) X(dev) X(hwq) X(cid) X(attempts) \
	X(wait_ns) X(refused) X(in_flight) X(age_ns) X(key_hex) X(key_len) X(value_len) X(err) X(status) \
	X(lat_ns) X(res) X(monotonic_ns) X(realtime_ns) X(uncertainty_ns) X(dropped) X(seen) X(stored) \
	X(ring_full) X(map_full) X(hook_missed) X(unread) X(filtered) X(complete) X(witness) X(trace_id) X(op) \
	X(key) X(part) X(slot_offset) X(ts_start) X(error) X(instance) X(name) X(tokens) X(request_id) \
	X(kvio_schema) X(hostname) X(device_path) X(io_engine) X(block_align) X(header_bytes) \
	X(max_data_transfer_size) X(mdts_bytes) X(slot_bytes) X(capacity_bytes)
#define MEMBER_ENUM(name) M_##name,
/* clang-format on */

enum member { MEMBERS(MEMBER_ENUM) N_MEMBERS };

/* A set of members, one bit each. */
__extension__ typedef unsigned __int128 member_set;
_Static_assert(N_MEMBERS <= 8 * sizeof(member_set), "one bit each in a set");
#define BIT(name) ((member_set)1 << M_##name)

/* How the value of a member is put into a record. */
enum put {
	PUT_NOWHERE,
	PUT_U64,
	PUT_U32,
	PUT_U16,
	PUT_U8,
	PUT_S32,
	PUT_SATURATED, /* u32, larger ones are its maximum */
	PUT_TAG,       /* u16; -1 (none was given out) is written by older tracers */
	PUT_LATENCY,   /* s64, or the wrapped difference of a tracer whose clock ran backwards */
	PUT_COUNT,     /* u64; what is none is as if it were absent */
	PUT_TRUTH,
	PUT_SECONDS, /* to u64 nanoseconds */
	PUT_TEXT,    /* a string; anything else as it is written */
};

struct place {
	u16 at; /* offset in struct jsonl_rec */
	u8 put; /* enum put */
};

/* Fields of one line that are kept: known ones always, others up to SHAPE_FIELDS. */
#define SHAPE_FIELDS 64u
#define SHAPE_BYTES  1024u
#define SHAPES	     6u

struct shape_step {
	u16 at, n; /* the text before the value, in shape.line */
	u8 value;  /* enum step_value */
	struct place place;
};

/*
 * The shape of a line: what stands around the values that vary, and where
 * those go.  The lines of one emitter have one shape a kind.
 */
struct shape {
	u32 n_fields, hits;
	u32 next;	   /* the shape that came after this one the last time */
	u64 varies, loose; /* fields whose value, or whose kind of value, was seen to differ */
	member_set have;   /* members that are not null */
	struct shape_step step[SHAPE_FIELDS + 1];
	struct jsonl_rec rec;
	struct ndjson_field field[SHAPE_FIELDS];
	char line[SHAPE_BYTES + 32]; /* the line last learned, its newline too */
};

struct jsonl_reader {
	u64 seen[2], null[2]; /* members of this line, and those of them that are null; a bit each */
	member_set have;      /* those that are not */
	int err;	      /* the first thing wrong with them */
	u32 n_fields;
	bool regular; /* no escapes, no member twice, not too many fields */
	u8 at[N_MEMBERS];
	struct ndjson_field field[SHAPE_FIELDS + N_MEMBERS + 1];
	const char *line;
	size_t line_len;
	struct buf text; /* strings that had escapes */
	/* Members by hash of their first bytes and length: index + 1, open addressing. */
	u8 slot[1024];
	u64 head[N_MEMBERS]; /* first eight bytes of the name */
	u8 len[N_MEMBERS];
	/* Prediction */
	u32 n_shapes, last;
	u32 n_learned;
	u64 n_hits, n_misses;
	bool missed; /* the line to be read was not predicted */
	struct shape shape[SHAPES];
};

/* Where a member of a line with the members `have` goes. */
struct place jsonl_place(enum jsonl_kind kind, member_set have, u32 member);
/* Puts a field there.  0, -EINVAL, -ERANGE, -ENOMEM. */
int jsonl_put(struct jsonl_reader *r, struct jsonl_rec *rec, struct place to, const struct ndjson_field *f);
/* What follows from the members that vary, after all are in their places. */
static inline void jsonl_settle(struct jsonl_rec *rec)
{
	if (rec->kind == JSONL_SEMANTIC && !rec->op.has_start)
		rec->op.start_ns = rec->op.end_ns;
}
/* The member called so, or N_MEMBERS.  `room` bytes can be read. */
u32 jsonl_member(const struct jsonl_reader *r, const char *p, u32 len, size_t room);
/* Remembers the shape of the line that was just read. */
void shape_learn(struct jsonl_reader *r, const struct jsonl_rec *rec);

#endif
