/* SPDX-License-Identifier: Apache-2.0 */
/* The members of one JSON line, to compare it with another. */
#ifndef KVIO_MEMBERS_H
#define KVIO_MEMBERS_H

#include "lib/ndjson.h"

#define MEMBERS_MAX 48u

struct members {
	struct ndjson_field f[MEMBERS_MAX];
	u32 n;
};

/* 0, -EBADMSG, or -E2BIG when there are more than fit. */
int members_scan(struct members *m, const char *line, size_t n);
/* NULL when there is none. */
const struct ndjson_field *members_find(const struct members *m, const char *key);
/* The whole number of that name, 0 when there is none. */
u64 members_u64(const struct members *m, const char *key);

/* A member that may be told beyond what the other line says, and how. */
struct spare {
	const char *key;
	u32 len;
	bool any; /* with any value; else only 0, false or "" */
};
#define SPARE(key, any)                   \
	{                                 \
		key, sizeof(key) - 1, any \
	}

/*
 * True when `ours` says all that `theirs` says, each member with the same
 * value, and beyond it nothing but the spare ones (ended by a NULL key).
 */
bool members_cover(const struct members *ours, const struct members *theirs, const struct spare *spare);
/* True when there is nothing but spare members. */
bool members_are_spare(const struct members *m, const struct spare *spare);

/*
 * The bytes of a string as buf_json() wrote it: \u0080 to \u00ff are the bytes
 * that were no UTF-8.  How many, at most max; more than max: SIZE_MAX.
 */
size_t members_bytes(const struct ndjson_field *f, char *out, size_t max);
/* The bytes of a hex string.  SIZE_MAX when it is none or has more than max. */
size_t members_hex(const struct ndjson_field *f, u8 *out, size_t max);

#endif
