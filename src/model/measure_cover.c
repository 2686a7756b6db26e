// SPDX-License-Identifier: Apache-2.0
/* How much of a time is covered by a set of intervals. */
#include <errno.h>
#include <stdlib.h>

#include "model/measure_work.h"

int cover_add(struct cover *c, u64 from, u64 to)
{
	if (to <= from)
		return 0;
	/* Touching or inside the last one, as most are. */
	if (c->n && from >= c->v[c->n - 1].from && from <= c->v[c->n - 1].to) {
		c->v[c->n - 1].to = MAX(c->v[c->n - 1].to, to);
		return 0;
	}
	if (c->n == c->cap) {
		size_t cap = c->cap ? c->cap * 2 : 64;
		struct interval *grown = reallocarray(c->v, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		c->v = grown;
		c->cap = cap;
	}
	c->v[c->n++] = (struct interval){ .from = from, .to = to };
	return 0;
}

static int by_from(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Puts them in order, melts those that overlap, and sums up. */
void cover_settle(struct cover *c)
{
	u64 sum = 0;
	size_t i, n = 0;

	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), by_from);
	for (i = 0; i < c->n; i++)
		if (n && c->v[i].from <= c->v[n - 1].to)
			c->v[n - 1].to = MAX(c->v[n - 1].to, c->v[i].to);
		else
			c->v[n++] = c->v[i];
	c->n = n;
	for (i = 0; i < n; i++) {
		c->v[i].before = sum;
		sum += c->v[i].to - c->v[i].from;
	}
}

/* The time before `at` that is covered. */
static u64 before(const struct cover *c, u64 at)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->v[mid].from < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? c->v[lo - 1].before + MIN(at, c->v[lo - 1].to) - c->v[lo - 1].from : 0;
}

u64 cover_of(const struct cover *c, u64 from, u64 to)
{
	return before(c, to) - before(c, from);
}
