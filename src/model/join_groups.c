// SPDX-License-Identifier: Apache-2.0
/*
 * Operations that share an id, in the order of their ends.  Which of them a
 * command belongs to is a matter of time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/join.h"

void op_groups_free(struct op_groups *g)
{
	free(g->start);
	free(g->op);
	free(g->overlap);
	*g = (struct op_groups){};
}

struct slice_of_group {
	const u32 *op;
	const struct op_table *t;
};

static bool ends_before(const void *arg, u32 a, u32 b)
{
	const struct slice_of_group *s = arg;

	return s->t->end_ns[s->op[a]] < s->t->end_ns[s->op[b]];
}

/* Sorts the operations of one group by their end; the order of the table counts among equals. */
static int sort_group(u32 *op, u32 n, const struct op_table *t)
{
	struct slice_of_group s = { op, t };
	u32 *order, i;
	int ret = sort_rows(n, ends_before, &s, &order);

	if (ret || !order)
		return ret;
	for (i = 0; i < n; i++)
		order[i] = op[order[i]];
	memcpy(op, order, n * sizeof(*order));
	free(order);
	return 0;
}

static bool any_overlap(const u32 *op, u32 n, const struct op_table *t)
{
	u32 i;

	for (i = 1; i < n; i++)
		if (t->start_ns[op[i]] < t->end_ns[op[i - 1]])
			return true;
	return false;
}

/* A counting sort of the operations by group; start[] holds the counts, shifted by one. */
static void fill(struct op_groups *g, const struct op_table *t, const u32 *group)
{
	u32 i;

	for (i = 0; i < g->n; i++)
		g->start[i + 1] += g->start[i];
	for (i = t->n; i-- > 0;)
		if (group[i] != NONE)
			g->op[--g->start[group[i] + 1]] = i;
	/* Each start now is that of the group before: shift them down. */
	memmove(g->start, g->start + 1, g->n * sizeof(*g->start));
}

int op_groups_make(struct op_groups *g, const struct op_table *t, const u32 *group, u32 n)
{
	u32 total = 0, i;
	int ret = 0;

	*g = (struct op_groups){ .n = n };
	g->start = calloc(n + 2ull, sizeof(*g->start));
	g->op = malloc(MAX(t->n, 1u) * sizeof(*g->op));
	g->overlap = calloc(n + 1ull, sizeof(*g->overlap));
	if (!g->start || !g->op || !g->overlap)
		return -ENOMEM;
	for (i = 0; i < t->n; i++)
		if (group[i] != NONE) {
			g->start[group[i] + 1]++;
			total++;
		}
	fill(g, t, group);
	g->start[n] = total;
	for (i = 0; i < n && !ret; i++) {
		u32 *op = g->op + g->start[i], k = g->start[i + 1] - g->start[i];

		ret = k > 1 ? sort_group(op, k, t) : 0;
		g->overlap[i] = !ret && any_overlap(op, k, t);
	}
	return ret;
}

u32 op_groups_at(const struct op_groups *g, const struct op_table *t, u32 group, u64 ts_ns)
{
	u32 lo = g->start[group], hi = g->start[group + 1];

	if (lo == hi)
		return NONE;
	hi--;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (t->end_ns[g->op[mid]] < ts_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return g->op[lo];
}

void count_occurrences(struct model *m, const struct op_groups *g)
{
	struct op_table *t = &m->op;
	u32 group, i;

	for (group = 0; group < g->n; group++)
		for (i = g->start[group]; i < g->start[group + 1]; i++) {
			t->occurrence[g->op[i]] = i - g->start[group];
			t->n_occurrences[g->op[i]] = g->start[group + 1] - g->start[group];
		}
	m->dup_trace_ids = t->n - g->n;
}

void ways_init(struct ways *w, const struct model *m)
{
	dir_names_init(&w->cmd, m);
	w->load = strpool_find(&m->strings, "load", 4);
	w->store = strpool_find(&m->strings, "store", 5);
}
