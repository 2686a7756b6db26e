/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scanner for newline-delimited JSON records, made for flat ones: yields the
 * fields of one line in place, allocates nothing, and checks the grammar of
 * all of the line (nested values too, which are passed as text).
 *
 * Lenient where tracers are: bytes that are not UTF-8 pass inside strings, CR
 * counts as blank.  Strict elsewhere: no NaN, no Infinity, no raw control
 * characters or NUL, one object a line.
 */
#ifndef KVIO_NDJSON_H
#define KVIO_NDJSON_H

#include <string.h>

#include "lib/buf.h"
#include "lib/types.h"

struct slice {
	const char *p;
	size_t n;
};

static inline bool slice_is(struct slice s, const char *word)
{
	return s.n == strlen(word) && !memcmp(s.p, word, s.n);
}

/* Nesting of arrays and objects that is accepted. */
#define NDJSON_DEPTH 512

enum ndjson_type {
	ND_STRING, /* text is what stands between the quotes, escapes as written */
	ND_NUMBER,
	ND_TRUE,
	ND_FALSE,
	ND_NULL,
	ND_NESTED, /* text is the object or array with its brackets */
};

enum ndjson_flags {
	ND_KEY_ESCAPED = 1 << 0, /* the key holds escapes: use ndjson_unescape() */
	ND_ESCAPED = 1 << 1,	 /* so does the string */
	ND_INTEGER = 1 << 2,	 /* the number is whole: its magnitude is in num */
	ND_NEGATIVE = 1 << 3,
	ND_TOO_BIG = 1 << 4, /* a whole number above 2^64-1 */
};

/* One field.  The pointers point into the line. */
struct ndjson_field {
	const char *key, *text;
	u64 num;
	u32 key_len, text_len;
	u8 type;  /* enum ndjson_type */
	u8 flags; /* enum ndjson_flags */
};

/* A line being scanned. */
struct ndjson {
	const char *p, *end;
	bool first;
};

/* Starts on one line (without its newline).  -EBADMSG when it is no object, -E2BIG above 4 GiB. */
int ndjson_start(struct ndjson *s, const char *line, size_t n);
/* The next field: 1, 0 at the end of a sound record, -EBADMSG when the line is malformed. */
int ndjson_next(struct ndjson *s, struct ndjson_field *f);

/*
 * Values of a field.  0, -EINVAL (not such a value) or -ERANGE (does not fit).
 * Numbers may be quoted, integers also as 0x hex; 1e3 and 5.0 are integers.
 *   ndjson_u64, ndjson_s64   exact
 *   ndjson_ns                seconds as decimal text to nanoseconds, exact;
 *                            digits below the nanosecond are rounded
 *   ndjson_bool              true, false, or a number
 */
int ndjson_u64(const struct ndjson_field *f, u64 *out);
int ndjson_s64(const struct ndjson_field *f, s64 *out);
int ndjson_ns(const struct ndjson_field *f, u64 *out);
int ndjson_bool(const struct ndjson_field *f, bool *out);

/*
 * For readers that know what stands where.  Past one value at p (p < end), or
 * NULL when there is none; fills all of the field but its key.
 */
const char *ndjson_value(const char *p, const char *end, struct ndjson_field *f);
/* The quote that ends the string whose text starts at p, NULL when there is none or an escape stands before it. */
const char *ndjson_plain_end(const char *p, const char *end);

/*
 * Appends the n bytes of a scanned string or key to b with the escapes
 * resolved: never longer than n, a lone surrogate becomes U+FFFD.
 */
void ndjson_unescape(struct buf *b, const char *s, size_t n);

/*
 * Cuts the next line off [*p, end): its text without the newline.  False when
 * no newline is left; then [*p, end) is the unterminated rest.
 */
static inline bool ndjson_line(const char **p, const char *end, struct slice *line)
{
	const char *nl = *p < end ? memchr(*p, '\n', (size_t)(end - *p)) : NULL;

	if (!nl)
		return false;
	line->p = *p;
	line->n = (size_t)(nl - *p);
	*p = nl + 1;
	return true;
}

/* True when the line holds nothing but blanks. */
bool ndjson_blank(const char *s, size_t n);

/* Bytes of a UTF-8 byte order mark at the start of a file: 3 or 0. */
size_t ndjson_bom(const char *s, size_t n);

#endif
