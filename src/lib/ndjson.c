// SPDX-License-Identifier: Apache-2.0
#include "lib/ndjson.h"

#include <errno.h>

#include "lib/simd.h"

static inline bool is_digit(char c)
{
	return (u8)(c - '0') < 10;
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static inline const char *skip_blank(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of \uXXXX, or -1. */
static int hex4(const char *p)
{
	int v = 0, i, d;

	for (i = 0; i < 4; i++) {
		d = hex_digit(p[i]);
		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/* Past the escape at p (a backslash), or NULL when it is none. */
static const char *skip_escape(const char *p, const char *end)
{
	if (end - p < 2)
		return NULL;
	if (p[1] == 'u')
		return end - p >= 6 && hex4(p + 2) >= 0 ? p + 6 : NULL;
	return p[1] && strchr("\"\\/bfnrt", p[1]) ? p + 2 : NULL;
}

/* The closing quote of the string that starts at p, or NULL. */
static inline const char *string_end(const char *p, const char *end, bool *escaped)
{
	for (;;) {
		while (end - p >= 16) {
			u64 stop = string_stops16(p);

			if (stop) {
				p += (u32)__builtin_ctzll(stop) / LANE_BITS;
				break;
			}
			p += 16;
		}
		while (p < end && *p != '"' && *p != '\\' && (u8)*p >= 0x20)
			p++;
		if (p == end || (u8)*p < 0x20)
			return NULL;
		if (*p == '"')
			return p;
		*escaped = true;
		p = skip_escape(p, end);
		if (!p)
			return NULL;
	}
}

/* The digits at p as a number.  False when they do not fit. */
static bool digits_value(const char *p, const char *end, u64 *out)
{
	u64 v = 0;

	for (; p < end; p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (u64)(*p - '0'), &v))
			return false;
	*out = v;
	return true;
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

/* Past a fraction and exponent at p, or NULL when they are malformed. */
static const char *skip_fraction(const char *p, const char *end)
{
	const char *digits;

	if (p < end && *p == '.') {
		digits = p + 1;
		p = skip_digits(digits, end);
		if (p == digits)
			return NULL;
	}
	if (p < end && (*p | 0x20) == 'e') {
		digits = p + 1;
		if (digits < end && (*digits == '+' || *digits == '-'))
			digits++;
		p = skip_digits(digits, end);
		if (p == digits)
			return NULL;
	}
	return p;
}

/* Past the number at p, or NULL.  Fills num and flags of a whole one. */
static inline const char *scan_number(const char *p, const char *end, struct ndjson_field *f)
{
	const char *digits;
	u64 v = 0;

	if (*p == '-') {
		f->flags |= ND_NEGATIVE;
		p++;
	}
	digits = p;
	while (end - p >= 8 && !digits_stop(load8(p) ^ BYTES('0'))) {
		v = v * 100000000 + digits_value8(load8(p) ^ BYTES('0'));
		p += 8;
	}
	for (; p < end && is_digit(*p); p++)
		v = v * 10 + (u64)(*p - '0');
	if (p == digits || (*digits == '0' && p - digits > 1))
		return NULL;
	if (p < end && (*p == '.' || (*p | 0x20) == 'e'))
		return skip_fraction(p, end);
	f->flags |= ND_INTEGER;
	if (p - digits >= 20 && !digits_value(digits, p, &v))
		f->flags |= ND_TOO_BIG;
	f->num = v;
	return p;
}

static const char *skip_word(const char *p, const char *end, const char *word, size_t n)
{
	return (size_t)(end - p) >= n && !memcmp(p, word, n) ? p + n : NULL;
}

/* Past the word or number at p, or NULL. */
static const char *skip_plain(const char *p, const char *end)
{
	struct ndjson_field f = {};

	switch (*p) {
	case 't':
		return skip_word(p, end, "true", 4);
	case 'f':
		return skip_word(p, end, "false", 5);
	case 'n':
		return skip_word(p, end, "null", 4);
	default:
		return scan_number(p, end, &f);
	}
}

/* What may stand next inside a nested value. */
enum want { WANT_VALUE, WANT_VALUE_OR_END, WANT_KEY, WANT_KEY_OR_END, WANT_COLON, WANT_COMMA_OR_END };

struct nest {
	u64 is_object[NDJSON_DEPTH / 64];
	u32 depth;
	enum want want;
};

static bool in_object(const struct nest *t)
{
	return t->is_object[(t->depth - 1) / 64] >> ((t->depth - 1) % 64) & 1;
}

static bool nest_open(struct nest *t, char c)
{
	u64 bit = 1ull << (t->depth % 64);
	u64 *word = &t->is_object[t->depth / 64];

	if (t->depth == NDJSON_DEPTH || t->want > WANT_VALUE_OR_END)
		return false;
	*word = c == '{' ? *word | bit : *word & ~bit;
	t->depth++;
	t->want = c == '{' ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
	return true;
}

static bool nest_close(struct nest *t, char c)
{
	bool object = in_object(t);

	if (object != (c == '}'))
		return false;
	if (t->want != WANT_COMMA_OR_END && t->want != (object ? WANT_KEY_OR_END : WANT_VALUE_OR_END))
		return false;
	t->depth--;
	t->want = WANT_COMMA_OR_END;
	return true;
}

static const char *nest_string(struct nest *t, const char *p, const char *end)
{
	bool escaped;

	if (t->want > WANT_KEY_OR_END)
		return NULL;
	t->want = t->want >= WANT_KEY ? WANT_COLON : WANT_COMMA_OR_END;
	p = string_end(p + 1, end, &escaped);
	return p ? p + 1 : NULL;
}

static const char *nest_plain(struct nest *t, const char *p, const char *end)
{
	if (t->want > WANT_VALUE_OR_END)
		return NULL;
	t->want = WANT_COMMA_OR_END;
	return skip_plain(p, end);
}

/* One token of a nested value.  Past it, or NULL. */
static const char *nest_token(struct nest *t, const char *p, const char *end)
{
	switch (*p) {
	case '{':
	case '[':
		return nest_open(t, *p) ? p + 1 : NULL;
	case '}':
	case ']':
		return nest_close(t, *p) ? p + 1 : NULL;
	case '"':
		return nest_string(t, p, end);
	case ':':
		if (t->want != WANT_COLON)
			return NULL;
		t->want = WANT_VALUE;
		return p + 1;
	case ',':
		if (t->want != WANT_COMMA_OR_END)
			return NULL;
		t->want = in_object(t) ? WANT_KEY : WANT_VALUE;
		return p + 1;
	default:
		return nest_plain(t, p, end);
	}
}

/* Past the object or array at p, or NULL. */
static const char *skip_nested(const char *p, const char *end)
{
	struct nest t = { .want = WANT_VALUE };

	do {
		p = skip_blank(p, end);
		if (p == end)
			return NULL;
		p = nest_token(&t, p, end);
		if (!p)
			return NULL;
	} while (t.depth);
	return p;
}

/* Past the value at p, or NULL. */
static inline const char *scan_value(const char *p, const char *end, struct ndjson_field *f)
{
	const char *q;
	bool escaped = false;

	f->text = p;
	switch (*p) {
	case '"':
		f->type = ND_STRING;
		f->text = p + 1;
		q = string_end(p + 1, end, &escaped);
		if (!q)
			return NULL;
		f->text_len = (u32)(q - f->text);
		if (escaped)
			f->flags |= ND_ESCAPED;
		return q + 1;
	case '{':
	case '[':
		f->type = ND_NESTED;
		q = skip_nested(p, end);
		break;
	case 't':
		f->type = ND_TRUE;
		q = skip_word(p, end, "true", 4);
		break;
	case 'f':
		f->type = ND_FALSE;
		q = skip_word(p, end, "false", 5);
		break;
	case 'n':
		f->type = ND_NULL;
		q = skip_word(p, end, "null", 4);
		break;
	default:
		f->type = ND_NUMBER;
		q = scan_number(p, end, f);
		break;
	}
	if (q)
		f->text_len = (u32)(q - p);
	return q;
}

const char *ndjson_value(const char *p, const char *end, struct ndjson_field *f)
{
	f->flags = 0;
	return scan_value(p, end, f);
}

const char *ndjson_plain_end(const char *p, const char *end)
{
	bool escaped = false;

	p = string_end(p, end, &escaped);
	return escaped ? NULL : p;
}

int ndjson_start(struct ndjson *s, const char *line, size_t n)
{
	const char *end = line + n;
	const char *p = skip_blank(line, end);

	if (n > UINT32_MAX)
		return -E2BIG;
	if (p == end || *p != '{')
		return -EBADMSG;
	*s = (struct ndjson){ .p = p + 1, .end = end, .first = true };
	return 0;
}

/* After the closing brace: 0 when nothing follows. */
static int finish(struct ndjson *s, const char *p)
{
	return skip_blank(p, s->end) == s->end ? 0 : -EBADMSG;
}

int ndjson_next(struct ndjson *s, struct ndjson_field *f)
{
	const char *end = s->end;
	const char *p = skip_blank(s->p, end), *q;
	bool escaped = false;

	if (p == end)
		return -EBADMSG;
	if (*p == '}')
		return finish(s, p + 1);
	if (!s->first) {
		if (*p != ',')
			return -EBADMSG;
		p = skip_blank(p + 1, end);
	}
	if (p == end || *p != '"')
		return -EBADMSG;
	q = string_end(++p, end, &escaped);
	if (!q)
		return -EBADMSG;
	f->key = p;
	f->key_len = (u32)(q - p);
	f->flags = escaped ? ND_KEY_ESCAPED : 0;
	p = skip_blank(q + 1, end);
	if (p == end || *p != ':')
		return -EBADMSG;
	p = skip_blank(p + 1, end);
	if (p == end)
		return -EBADMSG;
	p = scan_value(p, end, f);
	if (!p)
		return -EBADMSG;
	s->p = p;
	s->first = false;
	return 1;
}

bool ndjson_blank(const char *s, size_t n)
{
	return skip_blank(s, s + n) == s + n;
}

size_t ndjson_bom(const char *s, size_t n)
{
	return n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3) ? 3 : 0;
}
