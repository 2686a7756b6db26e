/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests: the objects of a workload, and what was done with them.
 *
 * Version 1 (the older tool's) has a list of objects with the kinds of
 * operations that each had.  Version 2 has all of its members, and the
 * operations themselves: order, time, repetition, sizes; objects keep their
 * part, rank and components.
 */
#ifndef KVIO_KV_MANIFEST_H
#define KVIO_KV_MANIFEST_H

#include <jansson.h>

#include "kv/config.h"
#include "kv/split.h"
#include "lib/str.h"

struct kv_device_geometry {
	bool use_uring_cmd;
	u64 mdts_bytes, block_align, header_bytes, slot_bytes, capacity_bytes;
};

enum kv_object_flags {
	KV_OBJECT_RANK = 1 << 0,       /* kv_rank is known */
	KV_OBJECT_COMPONENTS = 1 << 1, /* k, v, scale are */
};

/* Strings are ids of the manifest's pool, 0 = absent. */
struct kv_object {
	u32 key, object_id, part;
	u32 flags; /* enum kv_object_flags */
	u64 payload_bytes, kv_rank;
	u64 k_bytes, v_bytes, scale_bytes;
	u8 ops[3]; /* the kinds of operations, enum kv_manifest_op, in order of their first */
	u8 n_ops;
};

enum kv_manifest_op { KV_DO_STORE, KV_DO_LOAD, KV_DO_DELETE, N_KV_DO };
const char *kv_manifest_op_name(enum kv_manifest_op op);

struct kv_operation {
	u32 object; /* index */
	u8 op;	    /* enum kv_manifest_op */
	u64 at_ns;  /* since the first one's begin; 0 without times */
	u64 took_ns;
	u64 bytes;
};

struct kv_manifest {
	struct strpool strings;
	u32 version;
	u32 source, model, engine, shape, dtype;
	struct kv_device_geometry device;
	bool has_times;
	struct kv_object *object;
	u32 n_objects, cap_objects;
	struct kv_operation *operation; /* in the order in which they begin */
	u32 n_operations, cap_operations;
};

/*
 * A manifest of either version.  Of version 1 the operations are made: all
 * stores, then all loads, as its access pattern says.  0, -ENOMEM, or -EINVAL
 * and why[KV_WHY].  kv_manifest_free() in all cases.
 */
int kv_manifest_parse(struct kv_manifest *m, const json_t *doc, char *why);
/* The same from a file, plain or compressed, "-" for stdin: also -errno of it, -EFBIG, or -EBADMSG for no JSON. */
int kv_manifest_read(struct kv_manifest *m, const char *path, char *why);
void kv_manifest_free(struct kv_manifest *m);

/* New members at the end, zeroed; NULL = no memory. */
struct kv_object *kv_manifest_add_object(struct kv_manifest *m);
struct kv_operation *kv_manifest_add_operation(struct kv_manifest *m);
/* Notes a kind of operation of the object. */
void kv_object_did(struct kv_object *o, enum kv_manifest_op op);

#endif
