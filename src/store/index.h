/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which object is in which slot, in memory, and the JSON of its checkpoint.
 * A freed slot is the first to be used again; nothing is evicted.
 */
#ifndef KVIO_STORE_INDEX_H
#define KVIO_STORE_INDEX_H

#include "kv/layout.h"
#include "lib/buf.h"
#include "lib/str.h"

enum entry_state {
	ENTRY_ABSENT,
	ENTRY_WRITING, /* has a slot, is not to be found yet */
	ENTRY_STORED,
};

/* Of a key, by its id in `keys`. */
struct entry {
	u64 slot, bytes;
	/* JSON texts in `texts`, 0 = null: what the application said of the object. */
	u32 shape, dtype, fmt, positions;
	u8 state;  /* enum entry_state */
	bool idle; /* of a checkpoint, and nobody has asked for it since */
};

struct store_index {
	struct kv_layout layout;
	struct strpool keys, texts;
	struct entry *entry; /* [key id]; id 0 is none */
	u32 cap;
	u64 *freed; /* slots below next_slot that hold nothing, the last one first */
	u64 n_freed, cap_freed, next_slot;
	u64 n_stored;
	u32 next_idle; /* ids below it are not idle */
};

void index_init(struct store_index *x, const struct kv_layout *l);
void index_free(struct store_index *x);

/* The id of a key, made when it is new; 0 = no memory. */
u32 index_key(struct store_index *x, const char *key, size_t n);
/* The id of a key that is stored, else 0. */
u32 index_find(const struct store_index *x, const char *key, size_t n);
/*
 * Gives the key a slot.  0; -EEXIST it is stored, -EBUSY it is being written,
 * -EFBIG the object does not fit a slot, -ENOSPC no slot is free, -ENOMEM.
 */
int index_begin(struct store_index *x, u32 id, u64 bytes);
/* It is written: to be found from now on. */
void index_commit(struct store_index *x, u32 id);
/* The slot is free again, whatever state the entry was in.  0 or -ENOMEM (the slot is lost then). */
int index_drop(struct store_index *x, u32 id);

/* The id of the stored entry that is idle and was seen first, or 0. */
u32 index_idle(struct store_index *x);

/*
 * Appends the checkpoint: compact JSON in ASCII, entries in the order in which
 * their keys were first seen.  b->failed without memory.
 */
void index_write(const struct store_index *x, struct buf *b, const char *device_path);

struct index_read {
	u64 entries;	  /* taken */
	u64 bad;	  /* not: no such slot, a slot twice, a size that does not fit */
	bool device_path; /* it is the one given */
};
/*
 * Takes a checkpoint into an empty index.  0; -EBADMSG when it is no such
 * JSON, -EINVAL when it is of another layout (why[KV_WHY] says in what);
 * -ENOMEM.  A device of another name is accepted: names change.
 */
int index_parse(struct store_index *x, const char *json, size_t n, const char *device_path, struct index_read *r,
		char *why);

#endif
