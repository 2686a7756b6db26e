/* SPDX-License-Identifier: Apache-2.0 */
/* Hash functions and a map from u64 to u32. */
#ifndef KVIO_HASH_H
#define KVIO_HASH_H

#include "lib/types.h"

/* Mixes all bits of a 64-bit number (the finalizer of splitmix64). */
static inline u64 hash_u64(u64 x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* FNV-1a over n bytes, mixed. */
static inline u64 hash_bytes(const void *data, size_t n)
{
	const u8 *p = data;
	u64 h = 0xcbf29ce484222325ull;
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return hash_u64(h);
}

/* u64 -> u32, open addressing, grows at 5/8.  All zero is an empty map. */
struct map64 {
	u64 *key;
	u32 *value;
	u8 *used;
	size_t n, n_slots;
};

/* The value slot of key, made with *is_new = true when absent; NULL = no memory. */
u32 *map64_put(struct map64 *m, u64 key, bool *is_new);
/* The value slot of key or NULL. */
u32 *map64_get(const struct map64 *m, u64 key);
void map64_free(struct map64 *m);

#endif
