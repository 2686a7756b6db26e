// SPDX-License-Identifier: Apache-2.0
#include "model/flights.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/dist.h"

/* Shorter blocks pay for the sort's counters, longer ones for its cache misses. */
#define BLOCK 4096u

u32 flights_block(struct flights *h, u32 first, u32 n)
{
	size_t kept = 0, i;

	for (i = 0; i < h->n; i++)
		if (h->v[i].end > h->until)
			h->v[kept++] = h->v[i];
	h->n = h->n_carried = kept;
	/* What stays in flight is looked at again in each block: not more often than new ones come. */
	return first + (u32)MIN((size_t)(n - first), MAX(kept, (size_t)BLOCK));
}

int flights_add(struct flights *h, struct flight f)
{
	if (h->n == h->cap) {
		size_t cap = h->cap ? h->cap * 2 : 2 * BLOCK;
		struct flight *grown = reallocarray(h->v, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		h->v = grown;
		h->cap = cap;
	}
	h->v[h->n++] = f;
	return 0;
}

static int make_room(struct flights *h)
{
	if (h->cap_due >= h->n)
		return 0;
	free(h->due);
	free(h->room);
	h->due = calloc(h->cap, sizeof(*h->due));
	h->room = calloc(h->cap, sizeof(*h->room));
	h->cap_due = h->due && h->room ? h->cap : 0;
	return h->cap_due ? 0 : -ENOMEM;
}

static int compare_ends(const void *a, const void *b, void *arg)
{
	const struct flight *v = arg, *x = &v[*(const u64 *)a], *y = &v[*(const u64 *)b];

	return x->end != y->end ? (x->end > y->end) - (x->end < y->end) : (x > y) - (x < y);
}

int flights_settle(struct flights *h, u64 until)
{
	u64 first = UINT64_MAX, last = 0;
	size_t i, k;

	if (make_room(h))
		return -ENOMEM;
	h->until = until;
	h->n_due = h->at = 0;
	for (i = 0; i < h->n; i++) {
		u64 end = h->v[i].end;

		if (end > until)
			continue;
		h->due[h->n_due++] = i;
		first = MIN(first, end);
		last = MAX(last, end);
	}
	for (h->index_bits = 1; h->n >> h->index_bits;)
		h->index_bits++;
	if (!h->n_due)
		return 0;
	/* Ends that are further apart than the key has bits for: a clock is broken. */
	if (last - first > UINT64_MAX >> h->index_bits) {
		qsort_r(h->due, h->n_due, sizeof(*h->due), compare_ends, h->v);
		return 0;
	}
	for (k = 0; k < h->n_due; k++)
		h->due[k] |= (h->v[h->due[k]].end - first) << h->index_bits;
	u64_sort_from(h->due, h->n_due, h->room, h->index_bits);
	return 0;
}

void flights_free(struct flights *h)
{
	free(h->v);
	free(h->due);
	free(h->room);
}
