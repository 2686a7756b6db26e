// SPDX-License-Identifier: Apache-2.0
#include "capture/members.h"

#include <errno.h>
#include <string.h>

int members_scan(struct members *m, const char *line, size_t n)
{
	struct ndjson s;
	int ret = ndjson_start(&s, line, n);

	m->n = 0;
	while (!ret) {
		if (m->n == MEMBERS_MAX)
			return -E2BIG;
		ret = ndjson_next(&s, &m->f[m->n]);
		if (ret <= 0)
			break;
		m->n++;
		ret = 0;
	}
	return ret;
}

static bool is_named(const struct ndjson_field *f, const char *key, size_t n)
{
	return f->key_len == n && !(f->flags & ND_KEY_ESCAPED) && !memcmp(f->key, key, n);
}

const struct ndjson_field *members_find(const struct members *m, const char *key)
{
	size_t n = strlen(key);
	u32 i;

	for (i = 0; i < m->n; i++)
		if (is_named(&m->f[i], key, n))
			return &m->f[i];
	return NULL;
}

u64 members_u64(const struct members *m, const char *key)
{
	const struct ndjson_field *f = members_find(m, key);
	u64 v = 0;

	return f && !ndjson_u64(f, &v) ? v : 0;
}

static bool same_text(const struct ndjson_field *a, const struct ndjson_field *b)
{
	return a->text_len == b->text_len && !memcmp(a->text, b->text, a->text_len);
}

static bool same_string(const struct ndjson_field *a, const struct ndjson_field *b)
{
	struct buf x = {}, y = {};
	bool same;

	ndjson_unescape(&x, a->text, a->text_len);
	ndjson_unescape(&y, b->text, b->text_len);
	same = !x.failed && !y.failed && x.n == y.n && (!x.n || !memcmp(x.p, y.p, x.n));
	buf_free(&x);
	buf_free(&y);
	return same;
}

static bool is_bool(const struct ndjson_field *f)
{
	return f->type == ND_TRUE || f->type == ND_FALSE;
}

static bool same_value(const struct ndjson_field *a, const struct ndjson_field *b)
{
	bool p, q;
	u64 v, w;

	if (a->type == b->type && same_text(a, b))
		return true;
	if (a->type == ND_STRING && b->type == ND_STRING)
		return same_string(a, b);
	if (is_bool(a) || is_bool(b))
		return !ndjson_bool(a, &p) && !ndjson_bool(b, &q) && p == q;
	/* A number may be quoted, or written in another way. */
	return (a->type == ND_NUMBER || b->type == ND_NUMBER) && !ndjson_u64(a, &v) && !ndjson_u64(b, &w) && v == w;
}

static bool says_nothing(const struct ndjson_field *f)
{
	if (f->type == ND_STRING)
		return !f->text_len;
	return f->type == ND_FALSE || ((f->flags & ND_INTEGER) && !f->num);
}

static bool is_spare(const struct ndjson_field *f, const struct spare *spare)
{
	for (; spare->key; spare++)
		if (is_named(f, spare->key, spare->len))
			return spare->any || says_nothing(f);
	return false;
}

bool members_are_spare(const struct members *m, const struct spare *spare)
{
	u32 i;

	for (i = 0; i < m->n; i++)
		if (!is_spare(&m->f[i], spare))
			return false;
	return true;
}

/* The member of that name: lines of one tracer have theirs in one order, so the search begins where it may be. */
static u32 find_from(const struct members *m, const struct ndjson_field *f, u32 start)
{
	u32 i, at;

	for (i = 0; i < m->n; i++) {
		at = start + i < m->n ? start + i : start + i - m->n;
		if (is_named(&m->f[at], f->key, f->key_len))
			return at;
	}
	return MEMBERS_MAX;
}

bool members_cover(const struct members *ours, const struct members *theirs, const struct spare *spare)
{
	u64 told = 0;
	u32 i, at = 0;

	for (i = 0; i < theirs->n; i++) {
		const struct ndjson_field *f = &theirs->f[i];

		if (f->flags & ND_KEY_ESCAPED)
			return false;
		at = find_from(ours, f, at);
		if (at == MEMBERS_MAX || (told >> at & 1) || !same_value(&ours->f[at], f))
			return false;
		told |= 1ull << at;
		at = at + 1 < ours->n ? at + 1 : 0;
	}
	for (i = 0; i < ours->n; i++)
		if (!(told >> i & 1) && !is_spare(&ours->f[i], spare))
			return false;
	return true;
}
_Static_assert(MEMBERS_MAX <= 64, "one bit each");

size_t members_bytes(const struct ndjson_field *f, char *out, size_t max)
{
	const char *p = f->text, *end = p + f->text_len;
	struct buf one = {};
	size_t n = 0;

	while (p < end) {
		const char *from = p;

		if (*p != '\\') {
			if (n == max)
				return SIZE_MAX;
			out[n++] = *p++;
			continue;
		}
		/* Surrogates are one character in two escapes. */
		p += p[1] == 'u' ? 6 : 2;
		if (p - from == 6 && (from[2] | 0x20) == 'd' && from[3] >= '8' && end - p >= 6 && p[0] == '\\' &&
		    p[1] == 'u')
			p += 6;
		buf_reset(&one);
		ndjson_unescape(&one, from, (size_t)(p - from));
		/* Two bytes that begin with c2 or c3 are U+0080 to U+00FF. */
		if (one.n == 2 && ((u8)one.p[0] & 0xfe) == 0xc2) {
			one.p[0] = (char)((u8)one.p[0] << 6 | ((u8)one.p[1] & 0x3f));
			one.n = 1;
		}
		if (one.failed || one.n > max - n) {
			buf_free(&one);
			return SIZE_MAX;
		}
		memcpy(out + n, one.p, one.n);
		n += one.n;
	}
	buf_free(&one);
	return n;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t members_hex(const struct ndjson_field *f, u8 *out, size_t max)
{
	size_t i, n = f->text_len / 2;

	if (f->type != ND_STRING || f->text_len % 2 || n > max)
		return SIZE_MAX;
	for (i = 0; i < n; i++) {
		int high = hex_digit(f->text[2 * i]), low = hex_digit(f->text[2 * i + 1]);

		if (high < 0 || low < 0)
			return SIZE_MAX;
		out[i] = (u8)(high << 4 | low);
	}
	return n;
}
