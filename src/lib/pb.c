// SPDX-License-Identifier: Apache-2.0
#include "lib/pb.h"

#include "lib/str.h"

void pb_close_long(struct buf *b, size_t mark)
{
	size_t n = b->n - mark;
	char len[10];
	size_t more = (size_t)(pb_put_varint(len, n) - len) - 1;

	if (!buf_room(b, more))
		return;
	memmove(b->p + mark + more, b->p + mark, n);
	memcpy(b->p + mark - 1, len, more + 1);
	b->n += more;
}

void pb_bytes(struct buf *b, u32 field, const void *data, size_t n)
{
	pb_varint(b, (u64)field << 3 | PB_LEN);
	pb_varint(b, n);
	buf_add(b, data, n);
}

/* Bytes of valid UTF-8 at the start of s. */
static size_t valid_prefix(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t len = (u8)s[i] < 0x80 ? 1 : utf8_len(s + i, n - i);

		if (!len)
			break;
		i += len;
	}
	return i;
}

void pb_string(struct buf *b, u32 field, const char *s, size_t n)
{
	size_t ok = valid_prefix(s, n), mark;

	if (ok == n) {
		pb_bytes(b, field, s, n);
		return;
	}
	mark = pb_open(b, field);
	while (n) {
		buf_add(b, s, ok);
		s += ok;
		n -= ok;
		if (n) {
			buf_byte(b, (char)(0xc0 | (u8)*s >> 6));
			buf_byte(b, (char)(0x80 | (*s & 0x3f)));
			s++;
			n--;
		}
		ok = valid_prefix(s, n);
	}
	pb_close(b, mark);
}
