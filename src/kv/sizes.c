// SPDX-License-Identifier: Apache-2.0
#include "kv/sizes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define LOG2_BINS 65 /* of 0 bytes, then of each power of two */

int kv_sizes_add(struct kv_sizes *s, u64 size, u64 projected, u64 measured)
{
	bool is_new;
	u32 *i;

	if (!projected && !measured)
		return 0;
	i = map64_put(&s->at, size, &is_new);
	if (!i)
		return -ENOMEM;
	if (is_new) {
		if (s->n == s->cap) {
			u32 cap = s->cap ? s->cap * 2 : 16;
			void *p = cap > s->cap ? reallocarray(s->v, cap, sizeof(*s->v)) : NULL;

			if (!p)
				return -ENOMEM;
			s->v = p;
			s->cap = cap;
		}
		*i = s->n++;
		s->v[*i] = (struct kv_size){ .size = size };
	}
	s->v[*i].projected += projected;
	s->v[*i].measured += measured;
	return 0;
}

void kv_sizes_free(struct kv_sizes *s)
{
	free(s->v);
	map64_free(&s->at);
	*s = (struct kv_sizes){};
}

static int by_size(const void *a, const void *b)
{
	const struct kv_size *x = a, *y = b;

	return x->size < y->size ? -1 : x->size > y->size;
}

static void count(struct kv_size_side *side, u64 size, u64 n)
{
	if (!n)
		return;
	if (!side->n || size < side->min)
		side->min = size;
	side->max = size > side->max ? size : side->max;
	side->n += n;
}

static u32 bin_of(u64 size)
{
	return size ? 64 - (u32)__builtin_clzll(size) : 0;
}

/* The share of n in `of`, where both sides have some. */
static double share(u64 n, u64 of)
{
	return (double)n / (double)of;
}

int kv_sizes_compare(struct kv_sizes *s, struct kv_size_distance *d)
{
	double bins[LOG2_BINS] = {}, ahead = 0;
	u32 i;

	*d = (struct kv_size_distance){};
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_size);
	/* The numbers of the map are those of before. */
	map64_free(&s->at);
	s->at = (struct map64){};
	for (i = 0; i < s->n; i++) {
		bool is_new;
		u32 *at = map64_put(&s->at, s->v[i].size, &is_new);

		if (!at)
			return -ENOMEM;
		*at = i;
		count(&d->projected, s->v[i].size, s->v[i].projected);
		count(&d->measured, s->v[i].size, s->v[i].measured);
	}
	if (!d->projected.n || !d->measured.n) {
		d->tv_exact = d->tv_log2 = d->projected.n != d->measured.n;
		return 0;
	}
	for (i = 0; i < s->n; i++) {
		double p = share(s->v[i].projected, d->projected.n), q = share(s->v[i].measured, d->measured.n);

		bins[bin_of(s->v[i].size)] += p - q;
		d->tv_exact += fabs(p - q) / 2;
		ahead += p - q;
		if (i + 1 < s->n)
			d->emd_bytes += fabs(ahead) * (double)(s->v[i + 1].size - s->v[i].size);
	}
	for (i = 0; i < LOG2_BINS; i++)
		d->tv_log2 += fabs(bins[i]) / 2;
	return 0;
}
