// SPDX-License-Identifier: Apache-2.0
/* The values of scanned fields. */
#include <ctype.h>
#include <errno.h>

#include "lib/ndjson.h"

/* A decimal number in its parts: digits of mantissa * 10^exp10. */
struct decimal {
	const char *p, *end; /* digits, with at most one point among them */
	s64 exp10;	     /* power of the last digit */
	bool negative;
};

static const char *digits_end(const char *p, const char *end)
{
	while (p < end && isdigit((unsigned char)*p))
		p++;
	return p;
}

/* The exponent that starts behind its "e".  -EINVAL when it is none; far beyond all use it is clamped. */
static int exponent_parse(const char *p, const char *end, s64 *x)
{
	bool minus = p < end && *p == '-';

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if (p == end || digits_end(p, end) != end)
		return -EINVAL;
	for (*x = 0; p < end; p++)
		*x = MIN(*x * 10 + (*p - '0'), 1000000000);
	if (minus)
		*x = -*x;
	return 0;
}

/* Takes the text of a number apart.  -EINVAL when it is none. */
static int decimal_parse(const char *p, size_t n, struct decimal *d)
{
	const char *end = p + n, *point;

	*d = (struct decimal){ .negative = n && *p == '-' };
	p += d->negative;
	d->p = p;
	point = digits_end(p, end);
	if (point == p)
		return -EINVAL;
	d->end = point;
	if (point < end && *point == '.') {
		d->end = digits_end(point + 1, end);
		if (d->end == point + 1)
			return -EINVAL;
	}
	if (d->end < end) {
		if ((*d->end | 0x20) != 'e' || exponent_parse(d->end + 1, end, &d->exp10))
			return -EINVAL;
	}
	if (d->end > point)
		d->exp10 -= d->end - point - 1;
	return 0;
}

/*
 * The magnitude of d * 10^scale.  *inexact when digits below 1 were rounded
 * away (half up).  -ERANGE above 2^64-1.
 */
static int decimal_scale(const struct decimal *d, s64 scale, u64 *out, bool *inexact)
{
	s64 drop = -(d->exp10 + scale); /* digits at the end that are below 1 */
	s64 left = d->end - d->p - (memchr(d->p, '.', (size_t)(d->end - d->p)) != NULL);
	const char *p;
	bool half = false;
	u64 v = 0;

	*inexact = false;
	for (p = d->p; p < d->end; p++) {
		if (*p == '.')
			continue;
		if (left-- > drop) {
			if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (u64)(*p - '0'), &v))
				return -ERANGE;
		} else if (*p != '0') {
			*inexact = true;
			half |= left == drop - 1 && *p >= '5';
		}
	}
	for (; drop < 0 && v; drop++)
		if (__builtin_mul_overflow(v, 10, &v))
			return -ERANGE;
	*out = v + half;
	return half && !*out ? -ERANGE : 0;
}

/* The value of a hex digit that is known to be one. */
static u32 hex_digit(char c)
{
	return (u32)((c & 15) + 9 * (c >> 6));
}

/* Quoted 0x form: 0 and *out, or -EINVAL, -ERANGE. */
static int hex_value(const char *p, size_t n, u64 *out)
{
	u64 v = 0;

	if (n < 3 || p[0] != '0' || (p[1] | 0x20) != 'x')
		return -EINVAL;
	for (p += 2, n -= 2; n; n--, p++) {
		if (!isxdigit((unsigned char)*p))
			return -EINVAL;
		if (v >> 60)
			return -ERANGE;
		v = v << 4 | hex_digit(*p);
	}
	*out = v;
	return 0;
}

/* The integer of a field as magnitude and sign. */
static int whole(const struct ndjson_field *f, u64 *out, bool *negative)
{
	struct decimal d;
	bool inexact;
	int ret;

	if (f->flags & ND_TOO_BIG)
		return -ERANGE;
	*negative = f->flags & ND_NEGATIVE;
	*out = f->num;
	if (f->flags & ND_INTEGER)
		return 0;
	if (f->type > ND_NUMBER)
		return -EINVAL;
	*negative = false;
	if (f->type == ND_STRING) {
		ret = hex_value(f->text, f->text_len, out);
		if (ret != -EINVAL)
			return ret;
	}
	ret = decimal_parse(f->text, f->text_len, &d);
	if (!ret)
		ret = decimal_scale(&d, 0, out, &inexact);
	if (ret)
		return ret;
	*negative = d.negative;
	return inexact ? -EINVAL : 0;
}

int ndjson_u64(const struct ndjson_field *f, u64 *out)
{
	bool negative;
	u64 v;
	int ret = whole(f, &v, &negative);

	if (ret)
		return ret;
	if (negative && v)
		return -ERANGE;
	*out = v;
	return 0;
}

int ndjson_s64(const struct ndjson_field *f, s64 *out)
{
	bool negative;
	u64 v;
	int ret = whole(f, &v, &negative);

	if (ret)
		return ret;
	if (v > (u64)INT64_MAX + negative)
		return -ERANGE;
	*out = (s64)(negative ? 0 - v : v);
	return 0;
}

int ndjson_ns(const struct ndjson_field *f, u64 *out)
{
	struct decimal d;
	bool inexact;
	u64 v;
	int ret;

	if (f->type > ND_NUMBER)
		return -EINVAL;
	ret = decimal_parse(f->text, f->text_len, &d);
	if (!ret)
		ret = decimal_scale(&d, 9, &v, &inexact);
	if (ret)
		return ret;
	if (d.negative && v)
		return -ERANGE;
	*out = v;
	return 0;
}

int ndjson_bool(const struct ndjson_field *f, bool *out)
{
	u64 v;
	int ret = 0;

	if (f->type == ND_TRUE || f->type == ND_FALSE) {
		*out = f->type == ND_TRUE;
	} else {
		ret = ndjson_u64(f, &v);
		if (!ret)
			*out = v != 0;
	}
	return ret;
}

/* ---- text ---- */

static size_t utf8_put(char *out, u32 c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* The four digits behind \u, which the scanner has checked. */
static u32 hex4(const char *p)
{
	return hex_digit(p[0]) << 12 | hex_digit(p[1]) << 8 | hex_digit(p[2]) << 4 | hex_digit(p[3]);
}

/* The character of the \u escape at *p, which is moved past it and a second half. */
static u32 unicode_escape(const char **p, const char *end)
{
	u32 c = hex4(*p + 2), low;

	*p += 6;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	if (c > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
		return 0xfffd;
	low = hex4(*p + 2);
	if (low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	*p += 6;
	return 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
}

void ndjson_unescape(struct buf *b, const char *s, size_t n)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *end = s + n, *esc;
	char utf8[4];

	while (s < end) {
		esc = memchr(s, '\\', (size_t)(end - s));
		buf_add(b, s, (size_t)((esc ? esc : end) - s));
		if (!esc)
			break;
		s = esc;
		if (s[1] == 'u') {
			buf_add(b, utf8, utf8_put(utf8, unicode_escape(&s, end)));
		} else {
			const char *at = strchr(from, s[1]);

			buf_byte(b, at ? to[at - from] : s[1]);
			s += 2;
		}
	}
}
