// SPDX-License-Identifier: Apache-2.0
#include "model/cause_index.h"

#include <errno.h>
#include <stdlib.h>

#define NO_GROUP UINT32_MAX

/* The group of each row, numbered in order of appearance. */
static int find_groups(struct cause_index *x, const struct model *m, u32 n, cause_key key, u32 *group)
{
	u64 k, begin, end;
	bool is_new;
	u32 i, *g;

	for (i = 0; i < n; i++) {
		group[i] = NO_GROUP;
		if (!key(m, i, &k, &begin, &end))
			continue;
		g = map64_put(&x->at, k, &is_new);
		if (!g)
			return -ENOMEM;
		if (is_new)
			*g = x->n++;
		group[i] = *g;
	}
	return 0;
}

/* A counting sort: rows stay in order of time. */
static void fill(struct cause_index *x, const struct model *m, u32 n, cause_key key, const u32 *group)
{
	u64 k, begin, end;
	u32 i, sum = 0;

	for (i = 0; i < n; i++)
		if (group[i] != NO_GROUP)
			x->start[group[i]]++;
	for (i = 0; i < x->n; i++) {
		u32 had = x->start[i];

		x->start[i] = sum;
		sum += had;
	}
	x->start[x->n] = sum;
	for (i = 0; i < n; i++) {
		u32 at;

		if (group[i] == NO_GROUP)
			continue;
		key(m, i, &k, &begin, &end);
		at = x->start[group[i]]++;
		x->row[at] = i;
		x->begin[at] = begin;
		x->until[at] = end;
	}
	/* Each start is where the next group begins now. */
	for (i = x->n; i > 0; i--)
		x->start[i] = x->start[i - 1];
	x->start[0] = 0;
	for (i = 0; i < x->n; i++)
		for (u32 at = x->start[i] + 1; at < x->start[i + 1]; at++)
			x->until[at] = MAX(x->until[at], x->until[at - 1]);
}

int cause_index(struct cause_index *x, const struct model *m, u32 n, cause_key key)
{
	u32 *group = malloc((n + 1ul) * sizeof(*group));
	int ret = group ? find_groups(x, m, n, key, group) : -ENOMEM;

	if (!ret) {
		x->start = calloc(x->n + 2ul, sizeof(*x->start));
		x->row = malloc((n + 1ul) * sizeof(*x->row));
		x->begin = malloc((n + 1ul) * sizeof(*x->begin));
		x->until = malloc((n + 1ul) * sizeof(*x->until));
		if (x->start && x->row && x->begin && x->until)
			fill(x, m, n, key, group);
		else
			ret = -ENOMEM;
	}
	free(group);
	return ret;
}

void cause_index_free(struct cause_index *x)
{
	map64_free(&x->at);
	free(x->start);
	free(x->row);
	free(x->begin);
	free(x->until);
	*x = (struct cause_index){};
}

struct cause_walk cause_walk(const struct cause_index *x, u64 key, u64 ns)
{
	const u32 *g = map64_get(&x->at, key);
	struct cause_walk w = { .x = x, .ns = ns };
	u32 lo, hi;

	if (!g)
		return w;
	lo = w.first = x->start[*g];
	hi = x->start[*g + 1];
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (x->begin[mid] <= ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	w.at = lo;
	return w;
}
