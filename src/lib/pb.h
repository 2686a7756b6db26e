/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol buffers written straight into a struct buf.
 *
 * A nested message is opened with one byte kept free for its length and
 * closed by filling that byte.  Only a message of 128 bytes or more needs a
 * longer length, and its content moves up by one to four bytes then.  So the
 * output is minimal (the canonical encoding), and the usual event of less than
 * 128 bytes costs no move and no second pass.
 *
 * Field numbers are given as constants: the functions are inline, so that a
 * key becomes one or two bytes stored at once.  A failed growth of the buffer
 * is seen in buf.failed, as for every appender.
 */
#ifndef KVIO_PB_H
#define KVIO_PB_H

#include "lib/buf.h"
#include "lib/types.h"

#define PB_VARINT  0
#define PB_FIXED64 1
#define PB_LEN	   2

#define PB_ALWAYS_INLINE static inline __attribute__((always_inline))
/* Bytes that a key and a varint take at most. */
#define PB_MAX_FIELD	 20

/* Writes v at p and returns the place behind it; at most 10 bytes. */
PB_ALWAYS_INLINE char *pb_put_varint(char *p, u64 v)
{
	while (v >= 0x80) {
		*p++ = (char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (char)v;
	return p;
}

PB_ALWAYS_INLINE char *pb_put_key(char *p, u32 field, u32 wire)
{
	return pb_put_varint(p, field << 3 | wire);
}

static inline void pb_varint(struct buf *b, u64 v)
{
	if (buf_room(b, 10))
		b->n = (size_t)(pb_put_varint(b->p + b->n, v) - b->p);
}

/* uint32, uint64, bool, enum; also int32 and int64 that are not negative. */
PB_ALWAYS_INLINE void pb_u64(struct buf *b, u32 field, u64 v)
{
	if (buf_room(b, PB_MAX_FIELD)) {
		char *p = pb_put_key(b->p + b->n, field, PB_VARINT);

		b->n = (size_t)(pb_put_varint(p, v) - b->p);
	}
}

/* int32, int64: a negative number takes ten bytes. */
PB_ALWAYS_INLINE void pb_s64(struct buf *b, u32 field, s64 v)
{
	pb_u64(b, field, (u64)v);
}

PB_ALWAYS_INLINE void pb_fixed64(struct buf *b, u32 field, u64 v)
{
	if (buf_room(b, PB_MAX_FIELD)) {
		char *p = pb_put_key(b->p + b->n, field, PB_FIXED64);
		int i;

		for (i = 0; i < 8; i++)
			*p++ = (char)(v >> (8 * i));
		b->n = (size_t)(p - b->p);
	}
}

PB_ALWAYS_INLINE void pb_double(struct buf *b, u32 field, double v)
{
	u64 bits;

	memcpy(&bits, &v, sizeof(bits));
	pb_fixed64(b, field, bits);
}

/* Opens a nested message and returns the mark to close it with. */
PB_ALWAYS_INLINE size_t pb_open(struct buf *b, u32 field)
{
	if (buf_room(b, PB_MAX_FIELD)) {
		char *p = pb_put_key(b->p + b->n, field, PB_LEN);

		*p++ = 0;
		b->n = (size_t)(p - b->p);
	}
	return b->n;
}

/* The rest of pb_close() for a message of 128 bytes and more. */
void pb_close_long(struct buf *b, size_t mark);

/* Closes the message opened last. */
PB_ALWAYS_INLINE void pb_close(struct buf *b, size_t mark)
{
	if (b->failed)
		return;
	if (__builtin_expect(b->n - mark < 0x80, 1))
		b->p[mark - 1] = (char)(b->n - mark);
	else
		pb_close_long(b, mark);
}

/* bytes, or a message that is encoded already. */
void pb_bytes(struct buf *b, u32 field, const void *data, size_t n);

/*
 * string.  The field must be valid UTF-8: a byte of s that is not part of
 * valid UTF-8 is written as the character U+0080..U+00FF of its value.
 */
void pb_string(struct buf *b, u32 field, const char *s, size_t n);

#endif
