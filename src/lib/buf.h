/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer with fast integer and JSON text appenders.
 *
 * Invariants: p holds cap bytes, of which the first n are used; a failed
 * growth sets `failed`, and every later append is a no-op, so that a writer
 * checks once, at its flush.
 */
#ifndef KVIO_BUF_H
#define KVIO_BUF_H

#include <string.h>

#include "lib/types.h"

struct buf {
	char *p;
	size_t n;
	size_t cap;
	bool failed; /* an allocation failed: the content is not complete */
};

void buf_free(struct buf *b);
static inline void buf_reset(struct buf *b)
{
	b->n = 0;
}

/* Makes room for `more` bytes behind n.  False when memory is out. */
bool buf_grow(struct buf *b, size_t more);
static inline bool buf_room(struct buf *b, size_t more)
{
	return __builtin_expect(b->cap - b->n >= more, 1) || buf_grow(b, more);
}

static inline void buf_add(struct buf *b, const void *data, size_t n)
{
	if (n && buf_room(b, n)) {
		memcpy(b->p + b->n, data, n);
		b->n += n;
	}
}
static inline void buf_byte(struct buf *b, char c)
{
	if (buf_room(b, 1))
		b->p[b->n++] = c;
}
/* A string literal, its length known at compile time. */
#define buf_lit(b, s) buf_add(b, s, sizeof(s) - 1)
static inline void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

/* Writes v in decimal at p (room for 20 bytes) and returns the place behind it. */
char *text_u64(char *p, u64 v);

/* Decimal text. */
void buf_u64(struct buf *b, u64 v);
void buf_s64(struct buf *b, s64 v);
/* Lower-case hex: of a number without leading zeros, or of n bytes. */
void buf_hex(struct buf *b, u64 v);
void buf_hexbytes(struct buf *b, const u8 *data, size_t n);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);

/*
 * A JSON string with its quotes, always valid JSON and valid UTF-8 whatever
 * the n bytes are: control characters, quotes and backslashes are escaped, a
 * byte that is not part of valid UTF-8 becomes \u00XX of that byte.
 */
void buf_json(struct buf *b, const char *s, size_t n);

#endif
