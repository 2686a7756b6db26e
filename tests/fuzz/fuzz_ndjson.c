// SPDX-License-Identifier: Apache-2.0
/* The scanner: stays inside its line, and accepts what another parser accepts. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ndjson.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void expect(bool ok)
{
	if (!ok)
		abort();
}

static void check_field(const struct ndjson_field *f, const char *line, const char *end, struct buf *b)
{
	u64 u;
	s64 s;
	bool t;

	expect(f->key >= line && f->key + f->key_len < end);
	expect(f->text >= line && f->text + f->text_len <= end);
	buf_reset(b);
	if (f->flags & ND_KEY_ESCAPED)
		ndjson_unescape(b, f->key, f->key_len);
	expect(b->n <= f->key_len);
	buf_reset(b);
	if (f->type == ND_STRING)
		ndjson_unescape(b, f->text, f->text_len);
	expect(b->n <= f->text_len);
	if (!ndjson_u64(f, &u) && u <= INT64_MAX)
		expect(!ndjson_s64(f, &s) && (u64)s == u);
	ndjson_ns(f, &u);
	ndjson_bool(f, &t);
}

static int scan(const char *line, size_t n)
{
	struct ndjson_field f;
	struct buf b = {};
	struct ndjson s;
	int ret = ndjson_start(&s, line, n);

	while (!ret || ret == 1) {
		ret = ndjson_next(&s, &f);
		if (ret <= 0)
			break;
		check_field(&f, line, line + n, &b);
	}
	buf_free(&b);
	return ret;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const char *p = size ? (const char *)data : "", *end = p + size;
	struct slice line;
	json_t *other;
	int ret;

	while (ndjson_line(&p, end, &line))
		scan(line.p, line.n);
	ret = scan(p, (size_t)(end - p));
	/* Deeper nesting, and NUL between tokens, are refused by one of the two only. */
	if (!ret || end - p > NDJSON_DEPTH || memchr(p, '\0', (size_t)(end - p)))
		return 0;
	other = json_loadb(p, (size_t)(end - p), JSON_ALLOW_NUL, NULL);
	expect(!json_is_object(other));
	json_decref(other);
	return 0;
}
