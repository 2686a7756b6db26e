// SPDX-License-Identifier: Apache-2.0
#include "lib/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/str.h"

void buf_free(struct buf *b)
{
	free(b->p);
	*b = (struct buf){};
}

bool buf_grow(struct buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 256;
	char *p;

	if (b->failed)
		return false;
	while (cap - b->n < more) {
		if (cap > SIZE_MAX / 2) {
			b->failed = true;
			return false;
		}
		cap *= 2;
	}
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

static const char digit_pairs[201] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				     "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				     "8081828384858687888990919293949596979899";

/* Decimal digits of v, at least 1. */
static unsigned int n_digits(u64 v)
{
	static const u64 power[] = { 0ull,
				     10ull,
				     100ull,
				     1000ull,
				     10000ull,
				     100000ull,
				     1000000ull,
				     10000000ull,
				     100000000ull,
				     1000000000ull,
				     10000000000ull,
				     100000000000ull,
				     1000000000000ull,
				     10000000000000ull,
				     100000000000000ull,
				     1000000000000000ull,
				     10000000000000000ull,
				     100000000000000000ull,
				     1000000000000000000ull,
				     10000000000000000000ull };
	/* log10 is about log2 * 1233 / 4096; one comparison corrects it. */
	unsigned int guess = (64 - (unsigned int)__builtin_clzll(v | 1)) * 1233 >> 12;

	return guess + (guess >= ARRAY_SIZE(power) || v < power[guess] ? 0 : 1);
}

char *text_u64(char *p, u64 v)
{
	char *e = p + n_digits(v), *at = e;

	while (v >= 100) {
		at -= 2;
		memcpy(at, digit_pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(at - 2, digit_pairs + 2 * v, 2);
	else
		at[-1] = (char)('0' + v);
	return e;
}

void buf_u64(struct buf *b, u64 v)
{
	if (buf_room(b, 20))
		b->n = (size_t)(text_u64(b->p + b->n, v) - b->p);
}

void buf_s64(struct buf *b, s64 v)
{
	if (v < 0)
		buf_byte(b, '-');
	buf_u64(b, v < 0 ? 0 - (u64)v : (u64)v);
}

static const char hex_digits[] = "0123456789abcdef";

void buf_hex(struct buf *b, u64 v)
{
	char tmp[16];
	char *e = tmp + sizeof(tmp), *p = e;

	do {
		*--p = hex_digits[v & 15];
		v >>= 4;
	} while (v);
	buf_add(b, p, (size_t)(e - p));
}

void buf_hexbytes(struct buf *b, const u8 *data, size_t n)
{
	size_t i;

	if (!buf_room(b, 2 * n))
		return;
	for (i = 0; i < n; i++) {
		b->p[b->n++] = hex_digits[data[i] >> 4];
		b->p[b->n++] = hex_digits[data[i] & 15];
	}
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n >= 0 && buf_room(b, (size_t)n + 1)) {
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
	va_end(ap);
}

static void json_escape(struct buf *b, u8 c)
{
	char esc[6] = { '\\', 'u', '0', '0', hex_digits[c >> 4], hex_digits[c & 15] };

	buf_add(b, esc, 6);
}

void buf_json(struct buf *b, const char *s, size_t n)
{
	size_t i = 0, run = 0;

	buf_byte(b, '"');
	while (i < n) {
		u8 c = (u8)s[i];
		size_t len;

		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
			i++;
			continue;
		}
		len = c >= 0x80 ? utf8_len(s + i, n - i) : 0;
		if (len) {
			i += len;
			continue;
		}
		buf_add(b, s + run, i - run);
		if (c == '"' || c == '\\') {
			buf_byte(b, '\\');
			buf_byte(b, (char)c);
		} else {
			json_escape(b, c);
		}
		run = ++i;
	}
	buf_add(b, s + run, i - run);
	buf_byte(b, '"');
}
