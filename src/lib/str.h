/* SPDX-License-Identifier: Apache-2.0 */
/* Strings: typed numbers, UTF-8, nearest word, and a pool that interns. */
#ifndef KVIO_STR_H
#define KVIO_STR_H

#include "lib/types.h"

/*
 * A whole string as a number; no sign, no blanks, nothing left over.
 *   str_u64    "42", "0x2a"
 *   str_size   bytes: "4096", "4k", "128KiB", "1g", "1GB"; k, m, g, t are
 *              powers of 1024 with or without "iB"; kB, MB, GB, TB of 1000
 *   str_ns     nanoseconds: "10s", "1.5ms", "200us", "7ns", "2m", "1h"; a bare
 *              number is seconds
 * Return 0, -EINVAL (not such a number) or -ERANGE (does not fit).
 */
int str_u64(const char *s, u64 *out);
int str_size(const char *s, u64 *out);
int str_ns(const char *s, u64 *out);

/* Bytes of the valid UTF-8 sequence at s (at most n), 0 when it is none. */
size_t utf8_len(const char *s, size_t n);

/* The word of the list nearest to s by edit distance, NULL when none is near. */
const char *str_nearest(const char *s, const char *const *words, size_t n);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/*
 * Interned strings: equal bytes have equal ids, ids count from 1 in order of
 * first appearance, id 0 is "no string".  Memory is one block a pool.
 */
struct strpool {
	char *bytes;
	size_t n_bytes, cap_bytes;
	struct strpool_entry {
		size_t at;
		u32 len;
		u32 hash;
	} * entry;
	u32 n, cap;
	u32 *slot; /* open addressing, power of two, 0 = free */
	u32 n_slots;
};

/* The id of the n bytes at s, 0 when memory is out. */
u32 strpool_add(struct strpool *p, const char *s, size_t n);
/* The id of the n bytes at s, 0 when they are not in the pool. */
u32 strpool_find(const struct strpool *p, const char *s, size_t n);
/* NUL-terminated, "" for id 0.  Valid until the next strpool_add. */
const char *strpool_get(const struct strpool *p, u32 id);
size_t strpool_len(const struct strpool *p, u32 id);
void strpool_free(struct strpool *p);

/*
 * True when a pattern names the path: a glob, whose * goes over slashes, or
 * the path of a file, or of a directory and all below it.
 */
bool str_path_matches(const char *pattern, const char *path);

#endif
