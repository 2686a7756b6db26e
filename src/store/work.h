/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects stored and loaded through a rig, with everything that is to be known
 * of it afterwards: latencies, failures, wrong data, the semantic trace, the
 * manifest.
 */
#ifndef KVIO_STORE_WORK_H
#define KVIO_STORE_WORK_H

#include "kv/manifest.h"
#include "lib/hash.h"
#include "store/emit.h"

struct work_object {
	const char *key;
	size_t key_len;
	u64 bytes; /* of its payload; a load has those that were stored */
	u32 rank;
};

struct work_side {
	u64 objects, bytes; /* done; payload */
	u64 commands;	    /* of those */
	u64 missed;	    /* loads of what is not stored */
	u64 known;	    /* stores of what is: no IO */
	u64 failed;
	u64 undone;  /* stopped, or taken back because another object of the batch failed */
	u64 busy_ns; /* wall time with such operations under way */
	u64 *lat_ns; /* of those done, `objects` of them */
	u64 cap;
};

struct work {
	struct rig *rig;
	const volatile sig_atomic_t *stop;
	struct emit *emit;	      /* or NULL */
	struct kv_manifest *manifest; /* or NULL */
	const char *shape, *dtype;    /* for both of them, or NULL */
	bool verify;		      /* data says which object it is of, and loads are checked */
	bool counting;		      /* false: warm-up, which is traced but not measured */
	bool evict;		      /* recovered objects that nobody asked for go when it is full */
	u64 checkpoint_every_ns;      /* between calls, when that much time has passed; 0 = never */

	struct work_side of[N_KV_OPS];
	u64 deleted, wrong; /* objects with wrong data */
	char wrong_key[256];
	u64 wrong_at; /* byte of the first one's payload */
	struct {
		s32 res;
		u64 n;
	} error[16]; /* of objects */
	u32 n_errors;

	u64 checkpoints, next_checkpoint_ns;
	s32 checkpoint_res; /* of the first one that was not written */

	u64 nonce; /* of this run's data */
	struct batch_op *ops;
	const struct work_object **of_op;
	u32 *manifest_of; /* [key id] -> object number + 1 */
	u32 n_manifest_of;
	u64 first_ns;
};

/* The rest of *w from its first members.  0 or -ENOMEM. */
int work_init(struct work *w);
void work_free(struct work *w);

/*
 * Stores or loads objects, in batches of as many as there are buffers.  What
 * fails is counted.  0, or as rig_run(): -ETIME when a command hangs.
 */
int work_do(struct work *w, enum kv_op op, const struct work_object *o, u32 n, u64 request);
/* Forgets an object, known or not.  0 or -ENOMEM. */
int work_delete(struct work *w, const struct work_object *o, u64 request);
/* Writes a checkpoint when the index has changed.  As store_checkpoint(). */
int work_checkpoint(struct work *w);

struct work_checked {
	u64 whole, torn, failed;
};
/*
 * Loads every object of the index, unmeasured.  One that fails the check of
 * its header or sum is torn: it is forgotten, and its slot is free.  0, or as
 * rig_run().
 */
int work_check_stored(struct work *w, struct work_checked *c);

#endif
