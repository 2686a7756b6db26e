// SPDX-License-Identifier: Apache-2.0
#include "kv/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ndjson.h"
#include "lib/str.h"
#include "lib/zio.h"

#define MAX_FILE (1u << 30)

static const char *const names[] = { "num_tokens", "prompt_tokens", "input_tokens", "tokens", "prompt_len" };

/* 0, or -EINVAL when the line has no number of tokens. */
static int read_line(struct slice line, u64 *tokens)
{
	size_t best = ARRAY_SIZE(names), i;
	struct ndjson_field f;
	char word[32];
	struct ndjson s;
	u64 v;
	int ret;

	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (line.n < sizeof(word)) {
		memcpy(word, line.p, line.n);
		word[line.n] = '\0';
		if (!str_u64(word, tokens))
			return 0;
	}
	ret = ndjson_start(&s, line.p, line.n);
	while (!ret && (ret = ndjson_next(&s, &f)) > 0) {
		ret = 0;
		for (i = 0; i < best; i++)
			if (f.type == ND_NUMBER && f.key_len == strlen(names[i]) &&
			    !memcmp(f.key, names[i], f.key_len) && !ndjson_u64(&f, &v)) {
				*tokens = v;
				best = i;
			}
	}
	return ret || best == ARRAY_SIZE(names) ? -EINVAL : 0;
}

static int read_all(const char *path, struct buf *b)
{
	ssize_t got = 0;
	struct zin *z;
	int ret = zin_open(&z, path);

	if (ret)
		return ret;
	while (!ret && (got = buf_room(b, 65536) ? zin_read(z, b->p + b->n, 65536) : -ENOMEM)) {
		ret = got < 0 ? (int)got : 0;
		b->n += got > 0 ? (size_t)got : 0;
		if (b->n > MAX_FILE)
			ret = -EFBIG;
	}
	zin_close(z);
	return ret;
}

int kv_tokens_read(const char *path, u64 **out, size_t *n, char *why)
{
	u64 *v = NULL, line_number = 0;
	const char *p, *end;
	struct buf b = {};
	struct slice line;
	size_t cap = 0;
	int ret = read_all(path, &b);

	*out = NULL;
	*n = 0;
	if (!ret && b.n && b.p[b.n - 1] != '\n')
		buf_byte(&b, '\n');
	p = b.p;
	end = b.p + b.n;
	if (!ret && b.n)
		p += ndjson_bom(p, b.n);
	while (!ret && ndjson_line(&p, end, &line)) {
		line_number++;
		if (ndjson_blank(line.p, line.n))
			continue;
		if (*n == cap) {
			u64 *grown = reallocarray(v, cap ? cap * 2 : 256, sizeof(*v));

			if (!grown) {
				ret = -ENOMEM;
				break;
			}
			v = grown;
			cap = cap ? cap * 2 : 256;
		}
		ret = read_line(line, &v[(*n)++]);
		if (ret)
			snprintf(why, KV_WHY,
				 "line %llu has no num_tokens, prompt_tokens, input_tokens, tokens or prompt_len",
				 ULL(line_number));
	}
	if (!ret && !*n) {
		snprintf(why, KV_WHY, "it has no lines");
		ret = -EINVAL;
	}
	buf_free(&b);
	if (ret) {
		free(v);
		return ret;
	}
	*out = v;
	return 0;
}
