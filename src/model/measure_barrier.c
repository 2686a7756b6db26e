// SPDX-License-Identifier: Apache-2.0
/* Tensor parallel: a chunk can be used when its slowest shard is there.  Which one is that, and why? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/measure_work.h"

/* One shard of one chunk moved once: shards that move a chunk for the n-th time belong together. */
struct shard {
	u32 name, chunk, fmt, nth, op;
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
	c = c ? c : compare(x->end_ns, y->end_ns);
	return c ? c : compare(x->op, y->op);
}

static int by_chunk(const void *a, const void *b)
{
	const struct shard *x = a, *y = b;
	int c = compare(x->name, y->name);

	c = c ? c : compare(x->chunk, y->chunk);
	c = c ? c : compare(x->nth, y->nth);
	c = c ? c : compare(x->end_ns, y->end_ns);
	return c ? c : compare(x->op, y->op);
}

static bool same(const struct shard *x, const struct shard *y)
{
	return x->name == y->name && x->chunk == y->chunk;
}

/* The row of the shard; fmts number them from 1 in order of appearance. */
static int shard_row(struct measure_barrier *b, u32 fmt, u32 op)
{
	struct measure_shard *grown;

	if (fmt <= b->n_shards)
		return 0;
	grown = reallocarray(b->shard, fmt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	b->shard = grown;
	grown[b->n_shards++] = (struct measure_shard){ .op = op };
	return 0;
}

/* The shard is the FMT part of the key; its RANK is 0 for all of them in multi-process servers. */
static int collect(struct measure_barrier *b, const struct model *m, struct shard *s, size_t *n)
{
	struct strpool fmts = {}, chunks = {};
	int ret = 0;
	u32 i;

	for (i = 0; i < m->op.n && !ret; i++) {
		const char *op = strpool_get(&m->strings, m->op.name[i]);
		struct shard *x = &s[*n];
		struct key_parts k;

		if (m->op.error[i])
			continue;
		key_parse(&k, strpool_get(&m->strings, m->op.key[i]), strpool_len(&m->strings, m->op.key[i]));
		if (!k.fmt)
			continue;
		*x = (struct shard){ .name = m->op.name[i], .op = i, .end_ns = m->op.end_ns[i] };
		x->fmt = strpool_add(&fmts, k.fmt, k.fmt_len);
		x->chunk = strpool_add(&chunks, k.hash, k.hash_len);
		ret = x->fmt && x->chunk ? shard_row(b, x->fmt, i) : -ENOMEM;
		if (!strcmp(op, "store") || !strcmp(op, "load"))
			++*n;
	}
	b->shards = fmts.n;
	strpool_free(&fmts);
	strpool_free(&chunks);
	return ret;
}

/* The stations of an operation; the four parts are the time from `from` to its end. */
static void stations(const struct measure_work *w, u32 op, u64 from, s64 part[N_CAUSES])
{
	const struct model *m = w->m;
	u64 busy = 0, until = 0, first = 0;
	struct op_span s = w->span[op];
	u32 k;

	if (s.instant)
		s.begin_ns = s.end_ns;
	/* A barrier compares the ends that the application saw. */
	s.end_ns = m->op.end_ns[op];
	for (k = 0; s.n_cmds && k < m->op.n_cmds[op]; k++) {
		u32 i = m->cmd_order[m->op.first_cmd[op] + k];
		u64 end, begin;

		if (!cmd_reached_device(w->state[i]) || !work_interval(w, i, &end))
			continue;
		if (!first)
			first = until = m->cmd.ts_ns[i];
		begin = MAX(m->cmd.ts_ns[i], until);
		end = MIN(end, s.end_ns);
		if (end > begin)
			busy += end - begin;
		until = MAX(until, end);
	}
	part[CAUSE_START] = (s64)(s.begin_ns - from);
	part[CAUSE_QUEUE] = first ? (s64)(first - s.begin_ns) : 0;
	part[CAUSE_DEVICE] = (s64)busy;
	part[CAUSE_HOST] = (s64)(s.end_ns - from) - part[CAUSE_START] - part[CAUSE_QUEUE] - part[CAUSE_DEVICE];
}

/* Why the last of a chunk's shards was later than the first. */
static void explain(struct measure_barrier *b, const struct measure_work *w, const struct shard *first,
		    const struct shard *last)
{
	s64 a[N_CAUSES], z[N_CAUSES];
	struct measure_shard *x = &b->shard[last->fmt - 1];
	int k, cause = 0;

	stations(w, first->op, first->end_ns, a);
	stations(w, last->op, first->end_ns, z);
	for (k = 0; k < N_CAUSES; k++) {
		z[k] -= a[k];
		b->cause_ns[k] += z[k];
		if (z[k] > z[cause])
			cause = k;
	}
	b->cause_n[cause]++;
	x->cause[cause]++;
	x->last++;
}

static int by_last(const void *a, const void *b)
{
	const struct measure_shard *x = a, *y = b;

	return x->last != y->last ? (x->last < y->last ? 1 : -1) : compare(x->op, y->op);
}

int measure_barrier(struct measure *out, const struct measure_work *w)
{
	struct measure_barrier *b = &out->barrier;
	struct shard *s = calloc(w->m->op.n + 1ul, sizeof(*s));
	size_t n = 0, i, j, k;
	int ret;

	if (!s)
		return -ENOMEM;
	ret = collect(b, w->m, s, &n);
	if (ret || b->shards < 2)
		goto out;
	qsort(s, n, sizeof(*s), by_shard);
	for (i = 1; i < n; i++)
		if (same(&s[i], &s[i - 1]) && s[i].fmt == s[i - 1].fmt)
			s[i].nth = s[i - 1].nth + 1;
	qsort(s, n, sizeof(*s), by_chunk);
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && same(&s[i], &s[j]) && s[i].nth == s[j].nth;)
			j++;
		if (j - i != b->shards) {
			b->partial++;
			continue;
		}
		w->scratch[b->n++] = s[j - 1].end_ns - s[i].end_ns;
		for (k = i; k < j; k++)
			b->shard[s[k].fmt - 1].n++;
		/* All at once: nobody was last. */
		if (s[j - 1].end_ns > s[i].end_ns)
			explain(b, w, &s[i], &s[j - 1]);
	}
	ret = work_dist(&b->gap, w, w->scratch, b->n);
	if (b->n_shards)
		qsort(b->shard, b->n_shards, sizeof(*b->shard), by_last);
out:
	free(s);
	return ret;
}
