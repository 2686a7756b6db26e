/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The application's own records with all that they say: order, parts, ranks,
 * shapes, components.  The tables of the model hold what joins need; this is
 * for those who need the rest.
 */
#ifndef KVIO_SEMANTIC_H
#define KVIO_SEMANTIC_H

#include "model/model.h"

enum semantic_flags {
	SEM_HAS_ID = 1 << 0,
	SEM_HAS_BYTES = 1 << 1,
	SEM_HAS_SLOT = 1 << 2,
	SEM_HAS_START = 1 << 3,
	SEM_HAS_END = 1 << 4,
	SEM_HAS_RANK = 1 << 5,
	SEM_HAS_COMPONENTS = 1 << 6, /* k, v, scale */
};

/* Strings are ids of the pool, 0 = absent. */
struct semantic_op {
	u64 trace_id, bytes, slot_offset;
	u64 start_ns, end_ns; /* start_ns = end_ns without a start */
	u64 k_bytes, v_bytes, scale_bytes;
	u64 kv_rank;
	u32 op, key, object, part, instance, error, shape, dtype;
	u32 flags; /* enum semantic_flags */
};

struct semantic {
	struct strpool strings;
	struct semantic_op *op; /* in the order of the files */
	u32 n, cap;
	struct sem_meta_numbers {
		bool present;
		u64 block_align, header_bytes, max_xfer, slot_bytes, capacity_bytes;
		u32 device_path, io_engine;
	} meta;
	u64 malformed; /* lines that are no JSON, or whose members make no operation */
	u64 first_bad_line;
	bool cut;    /* the last line or the compressed data is cut */
	bool unread; /* standard input had records, and cannot be read twice */
};

/*
 * Appends the records of a capture of any format; all other records are
 * passed over.  0, or -errno as stream_open().
 */
int semantic_read(struct semantic *s, const char *path);
void semantic_free(struct semantic *s);
/*
 * Loads files into a model, finishes and joins it, and reads those with
 * semantic records once more.  On failure *failed is the file at fault, or
 * NULL.  0, or -errno as model_load().
 */
int semantic_load(struct semantic *s, struct model *m, const char *const *file, size_t n,
		  const struct join_options *join, const char **failed);

/* For each operation of the model its record: row[op], or NONE.  row has m->op.n members.  0 or -ENOMEM. */
int semantic_match(const struct semantic *s, const struct model *m, u32 *row);

#endif
