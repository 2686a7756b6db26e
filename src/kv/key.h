/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object keys of the cache.  Forms that are told apart, by their fields
 * between '@':
 *   MODEL@RANK@HASH			RANK is 0x and 8 hex digits
 *   MODEL@RANK@GROUP@HASH		with the object group, a hex number
 *   MODEL@RANK@HASH@SALT		HASH is hex of 16 or more digits, or SALT is not hex
 *   MODEL@RANK@GROUP@HASH@SALT
 *   MODEL@FMT@RANK@HASH[@...]		what older tools made of it: RANK in decimal, FMT tells shards apart
 * Any other text is an opaque key.
 */
#ifndef KVIO_KV_KEY_H
#define KVIO_KV_KEY_H

#include "lib/buf.h"

enum key_form { KEY_OPAQUE, KEY_RANKED, KEY_OLD };

/*
 * RANK in four bytes, from the top: processes, this process, processes of this
 * host, this process among those.  A writer that has only its number puts that
 * alone: world is 0 then.
 */
struct kv_rank {
	u32 packed;
	u8 world, global, local_world, local;
};

/* Slices of the key, not ended by NUL; NULL where the form has no such field. */
struct key_parts {
	enum key_form form;
	const char *model; /* percent-encoded, see key_model() */
	const char *group, *chunk, *salt;
	size_t model_len, group_len, chunk_len, salt_len;
	struct kv_rank kv_rank; /* with KEY_RANKED */
	/* The names that outputs use: fmt tells shards apart, rank is a number, hash is the chunk; none when opaque. */
	const char *fmt, *rank, *hash;
	size_t fmt_len, rank_len, hash_len;
	bool rank_is_number;
	u64 rank_number; /* with KEY_RANKED the global rank */
};
void key_parse(struct key_parts *k, const char *key, size_t n);
/* Appends the model's name; a '%' that two hex digits do not follow stays. */
void key_model(const struct key_parts *k, struct buf *out);

/*
 * Appends the key of a chunk as engines write it: the model percent-encoded,
 * `group` (hex text, NULL for the older form without one), `chunk` in hex, the
 * salt when it is not "".
 */
void key_make(struct buf *out, const char *model, u32 kv_rank, const char *group, const char *chunk, const char *salt);
/* The four bytes of a kv_rank. */
static inline u32 key_rank(u8 world, u8 global, u8 local_world, u8 local)
{
	return (u32)world << 24 | (u32)global << 16 | (u32)local_world << 8 | local;
}

#endif
