/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw_block object store: keys in slots of a device, an index in memory,
 * checkpoints of it in two containers that take turns.
 *
 * store_put() and store_load() prepare operations, batch_run() does them, on
 * any number of queues, store_end() takes their results in.  One thread uses
 * a store; only what runs between those calls may be on several.
 */
#ifndef KVIO_STORE_H
#define KVIO_STORE_H

#include "store/batch.h"
#include "store/index.h"

struct store_options {
	struct kv_layout layout; /* made */
	u64 xfer;		 /* bytes of a command, a multiple of block_align */
	u64 timeout_ns;
	bool header_last;
	/*
	 * Behind the 24 bytes that a slot's header has, where other programs have
	 * zeros and do not look: a CRC-32 of the payload, checked when it is
	 * loaded.  It finds what a crash tore apart under a sound header.
	 */
	bool payload_sum;
	bool check_header; /* load the header with the payload: another object's is a miss */
	const char *device_path;
};

struct store {
	struct store_options o;
	struct store_index index;
	struct batch_how how; /* of all operations; objects and window are the caller's */
	_Atomic u64 counter;
	u64 next_trace_id, seq; /* of the last checkpoint */
	bool seq_known;		/* what is on the device was looked at */
	bool dirty;		/* changed since then */
};

void store_init(struct store *s, const struct store_options *o);
void store_free(struct store *s);

/* Bytes of memory that an operation on `payload` bytes needs, header and all.  0 or -EOVERFLOW. */
int store_mem_bytes(const struct store *s, u64 payload, u64 *bytes);

/*
 * Prepares to write an object whose payload is at mem + header_bytes; mem is
 * of store_mem_bytes(), its header is written here.  0; -EEXIST when it is
 * stored already (a success without any IO), or as index_begin().
 */
int store_put(struct store *s, struct batch_op *o, const char *key, size_t n, u64 payload, u8 *mem);
/* Prepares to read an object.  0 or -ENOENT. */
int store_load(struct store *s, struct batch_op *o, const char *key, size_t n, u8 *mem);
/*
 * After batch_run(): objects written become known, unless one of them failed:
 * then all of these become free again, and those that
 * did not fail themselves get -ECANCELED.  An object loaded that fails its check
 * gets res = -EBADMSG (not the header that was expected) or -EILSEQ (the
 * payload's sum).  0 or -ENOMEM.
 */
int store_end(struct store *s, struct batch_op *ops, u32 n);
/* Forgets all objects: the next one gets the first slot.  No IO. */
void store_clear(struct store *s);
/* Forgets an object; no IO.  0, -ENOENT, -ENOMEM. */
int store_delete(struct store *s, const char *key, size_t n);

/* ---- checkpoints ---- */

/*
 * Writes the index to the container whose turn it is, as the newest of those
 * that are there, also of an earlier run that was not recovered.  0 (also when nothing
 * changed), -EFBIG when it does not fit (then a restart loses it), or the
 * first error of a command (> 0 an NVMe status).
 */
int store_checkpoint(struct store *s, struct io_queue *q, struct batch_sums *sums);

struct store_recovery {
	u64 seq;      /* of the checkpoint taken; 0 = there was none */
	u32 sound;    /* containers whose sum is right */
	u64 objects;  /* in the index now */
	u64 bad;      /* entries that cannot be */
	u64 dropped;  /* whose slot has another header; 0 without `verify` */
	bool renamed; /* it was written under another device path */
};
/*
 * Fills the empty index from the newest sound checkpoint.  With `verify` the
 * header of each slot is read, and what is not the object's is dropped.  0,
 * also when there is none; -EINVAL when it is of another layout (why[KV_WHY]);
 * -ENOMEM, or the first error of a command.
 */
int store_recover(struct store *s, struct io_queue *q, bool verify, struct store_recovery *r, char *why);

#endif
