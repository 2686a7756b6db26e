// SPDX-License-Identifier: Apache-2.0
/* Tensor parallel: a chunk can be used when its slowest shard is there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/measure_work.h"

/* One shard of one chunk moved once: shards that move a chunk for the n-th time belong together. */
struct shard {
	u32 name, chunk, fmt, nth;
	u64 end_ns;
};

static int compare(u64 x, u64 y)
{
	return x < y ? -1 : x > y;
}

static int by_shard(const void *a, const void *b)
{
	const struct shard *x = a, *y = b;
	int c = compare(x->name, y->name);

	c = c ? c : compare(x->chunk, y->chunk);
	c = c ? c : compare(x->fmt, y->fmt);
	return c ? c : compare(x->end_ns, y->end_ns);
}

static int by_chunk(const void *a, const void *b)
{
	const struct shard *x = a, *y = b;
	int c = compare(x->name, y->name);

	c = c ? c : compare(x->chunk, y->chunk);
	c = c ? c : compare(x->nth, y->nth);
	return c ? c : compare(x->end_ns, y->end_ns);
}

static bool same(const struct shard *x, const struct shard *y)
{
	return x->name == y->name && x->chunk == y->chunk;
}

/* The shard is the FMT part of the key; its RANK is 0 for all of them in multi-process servers. */
static int collect(const struct model *m, struct shard *s, size_t *n, u32 *n_fmts)
{
	struct strpool fmts = {}, chunks = {};
	int ret = -ENOMEM;
	u32 i;

	for (i = 0; i < m->op.n; i++) {
		const char *op = strpool_get(&m->strings, m->op.name[i]);
		struct shard *x = &s[*n];
		struct key_parts k;

		if (m->op.error[i])
			continue;
		key_parse(&k, strpool_get(&m->strings, m->op.key[i]), strpool_len(&m->strings, m->op.key[i]));
		if (!k.fmt)
			continue;
		x->name = m->op.name[i];
		x->end_ns = m->op.end_ns[i];
		x->fmt = strpool_add(&fmts, k.fmt, k.fmt_len);
		x->chunk = strpool_add(&chunks, k.hash, k.hash_len);
		if (!x->fmt || !x->chunk)
			goto out;
		if (!strcmp(op, "store") || !strcmp(op, "load"))
			++*n;
	}
	ret = 0;
out:
	*n_fmts = fmts.n;
	strpool_free(&fmts);
	strpool_free(&chunks);
	return ret;
}

int measure_barrier(struct measure *out, const struct measure_work *w)
{
	struct shard *s = calloc(w->m->op.n + 1ul, sizeof(*s));
	size_t n = 0, i, j, k = 0;
	u32 n_fmts;
	int ret;

	if (!s)
		return -ENOMEM;
	ret = collect(w->m, s, &n, &n_fmts);
	out->barrier.shards = n_fmts;
	if (ret || n_fmts < 2)
		goto out;
	qsort(s, n, sizeof(*s), by_shard);
	for (i = 1; i < n; i++)
		if (same(&s[i], &s[i - 1]) && s[i].fmt == s[i - 1].fmt)
			s[i].nth = s[i - 1].nth + 1;
	qsort(s, n, sizeof(*s), by_chunk);
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && same(&s[i], &s[j]) && s[i].nth == s[j].nth;)
			j++;
		if (j - i == n_fmts)
			w->scratch[k++] = s[j - 1].end_ns - s[i].end_ns;
	}
	out->barrier.n = k;
	ret = dist_take(&out->barrier.gap, w->scratch, k);
out:
	free(s);
	return ret;
}
