/* SPDX-License-Identifier: Apache-2.0 */
/* Inside pftrace_to_model(): args by name, and the rows that slices become. */
#ifndef KVIO_PFTRACE_MODEL_H
#define KVIO_PFTRACE_MODEL_H

#include <errno.h>
#include <string.h>

#include "model/pftrace.h"
#include "model/tables.h"

/* clang-format off */
#define PF_MODEL_KEYS(X) \
	X(slba) X(data_len) X(key_hex) X(key_len) X(value_len) X(trace_id) X(real_dur) X(attempts) X(wait_ns) X(status) \
	X(err) X(errno) X(in_flight) X(path) X(op) X(part) X(bytes) X(slot_offset) X(rank) X(fmt) X(chunk) X(error) \
	X(instance) X(producer_pid) X(key) X(label) X(applied_base_ns) X(lba_bytes) X(kvio_schema) X(hostname) \
	X(device_path) X(io_engine) X(block_align) X(header_bytes) X(max_data_transfer_size) X(seen) X(stored) X(dropped) \
	X(hook_missed) X(unread) X(filtered) X(complete) X(malformed) X(tail_cut) X(orphan_completions) X(user_data) X(res) \
	X(tokens) X(request_id) X(n) X(lean)
#define PF_MODEL_KEY_ID(name) K_##name,
enum pf_model_key { PF_MODEL_KEYS(PF_MODEL_KEY_ID) N_K };
/* clang-format on */
_Static_assert(N_K <= 64, "one bit each");

/* The args of one slice. */
struct pf_row {
	u64 has; /* bits 1 << K_... */
	u64 v[N_K];
	u8 type[N_K]; /* enum pf_arg_type */
};

/* What capture_info says of an arm that rows need. */
struct pf_about {
	u64 shift_ns; /* was taken off all times */
	u32 lba_bytes;
	u64 in_flight;
	bool lean;     /* real_dur is there only where it is false */
	u32 n_devices; /* processes of devices */
	/* The opcode of the name that came last. */
	u32 opcode_name;
	bool opcode_kv;
	u8 opcode;
};

struct draft {
	const struct pftrace *t;
	struct pf_arm *arm;
	struct pf_about *about;
	u32 n;
	struct side {
		enum { SIDE_NONE, SIDE_OBJECTS, SIDE_DEVICE, SIDE_SERVING } of;
		u32 arm;
		struct slice word; /* of a device: what its process is called by, before the label */
	} * side;		   /* of each process */
	struct place {
		enum { HOLDS_NOTHING, HOLDS_OBJECTS, HOLDS_COMMANDS, HOLDS_SPANS, HOLDS_INFO } holds;
		u32 arm;
	} * track;	     /* of each track */
	u8 *known;	     /* of each key of the trace: enum pf_model_key, or N_K */
	u64 base;	     /* to be added to the times of this row */
	struct slice device; /* that the row is of, when it says so */
};

void pf_row_read(const struct draft *d, u32 slice, struct pf_row *row);
/* A number, 0 when absent or negative. */
u64 pf_row_u64(const struct pf_row *row, enum pf_model_key k);
/* A text; empty when absent. */
struct slice pf_row_text(const struct draft *d, const struct pf_row *row, enum pf_model_key k);
static inline bool pf_row_has(const struct pf_row *row, enum pf_model_key k)
{
	return row->has & 1ull << k;
}

/* pftrace_rows.c.  0 or -ENOMEM. */
int pf_take_info(const struct draft *d, struct pf_arm *arm, struct pf_about *about, const struct pf_row *row);
int pf_take_command(const struct draft *d, struct model *m, struct pf_about *about, const struct pf_row *row,
		    u32 slice);
int pf_take_object(const struct draft *d, struct model *m, const struct pf_row *row, u32 slice);
int pf_take_span(const struct draft *d, struct model *m, const struct pf_row *row, u32 slice);
/* On `capture info`: objects without commands, overflows. */
int pf_take_instant(const struct draft *d, struct model *m, const struct pf_row *row, u32 slice);
int pf_finish_arm(const struct draft *d, struct model *m, const struct pf_about *about);

#endif
