// SPDX-License-Identifier: Apache-2.0
/* The order of what comes from the application, by time and content. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/join.h"

static int compare_text(const struct strpool *s, u32 a, u32 b)
{
	size_t na, nb;
	int c;

	if (a == b)
		return 0;
	na = strpool_len(s, a);
	nb = strpool_len(s, b);
	c = memcmp(strpool_get(s, a), strpool_get(s, b), MIN(na, nb));
	return c ? c : compare_u64(na, nb);
}

static int compare_op_text(const struct model *m, u32 a, u32 b)
{
	const struct op_table *t = &m->op;
	const u32 *const columns[] = { t->name, t->key, t->key_hex, t->part, t->error, t->instance };
	size_t i;
	int c = 0;

	for (i = 0; i < ARRAY_SIZE(columns) && !c; i++)
		c = compare_text(&m->strings, columns[i][a], columns[i][b]);
	return c;
}

static bool op_before(const void *arg, u32 a, u32 b)
{
	const struct model *m = arg;
	const struct op_table *t = &m->op;
	const u64 *const columns[] = { t->start_ns, t->end_ns, t->trace_id, t->bytes, t->slot_offset };
	size_t i;
	int c = 0;

	for (i = 0; i < ARRAY_SIZE(columns) && !c; i++)
		c = compare_u64(columns[i][a], columns[i][b]);
	c = c ? c : compare_u64(t->pid[a], t->pid[b]);
	c = c ? c : compare_u64(t->flags[a] & ~(u32)OP_LATE_CMD, t->flags[b] & ~(u32)OP_LATE_CMD);
	return (c ? c : compare_op_text(m, a, b)) < 0;
}

static bool span_before(const void *arg, u32 a, u32 b)
{
	const struct model *m = arg;
	const struct span_table *t = &m->serving;
	int c = compare_u64(t->start_ns[a], t->start_ns[b]);

	c = c ? c : compare_u64(t->end_ns[a], t->end_ns[b]);
	c = c ? c : compare_text(&m->strings, t->name[a], t->name[b]);
	c = c ? c : compare_text(&m->strings, t->request_id[a], t->request_id[b]);
	return (c ? c : compare_u64(t->tokens[a], t->tokens[b])) < 0;
}

static int by_overflow(const void *x, const void *y)
{
	const struct overflow *a = x, *b = y;
	int c = compare_u64(a->ts_ns, b->ts_ns);

	c = c ? c : compare_u64(a->user_data, b->user_data);
	return c ? c : (a->res > b->res) - (a->res < b->res);
}

static int by_anchor(const void *x, const void *y)
{
	const struct anchor *a = x, *b = y;
	int c = compare_u64(a->monotonic_ns, b->monotonic_ns);

	c = c ? c : compare_u64(a->realtime_ns, b->realtime_ns);
	return c ? c : compare_u64(a->uncertainty_ns, b->uncertainty_ns);
}

/* A column in the order of the rows, with what room it needs only. */
#define PERMUTE(c)                                                                                  \
	{                                                                                           \
		__typeof__(t->c) from = t->c, to = malloc(MAX((size_t)n, (size_t)1) * sizeof(*to)); \
                                                                                                    \
		if (!to)                                                                            \
			return -ENOMEM;                                                             \
		for (i = 0; i < n; i++)                                                             \
			to[i] = from[order[i]];                                                     \
		free(from);                                                                         \
		t->c = to;                                                                          \
	}

int op_permute(struct op_table *t, const u32 *order, u32 n)
{
	u32 i;

	t->cap = n;
	OP_COLUMNS(PERMUTE)
	t->n = n;
	return 0;
}

int span_permute(struct span_table *t, const u32 *order, u32 n)
{
	u32 i;

	t->cap = n;
	SPAN_COLUMNS(PERMUTE)
	t->n = n;
	return 0;
}

int sort_semantic(struct model *m)
{
	u32 *order;
	int ret = sort_rows(m->op.n, op_before, m, &order);

	if (!ret && order)
		ret = op_permute(&m->op, order, m->op.n);
	free(order);
	if (!ret) {
		ret = sort_rows(m->serving.n, span_before, m, &order);
		if (!ret && order)
			ret = span_permute(&m->serving, order, m->serving.n);
		free(order);
	}
	if (m->n_overflows)
		qsort(m->overflow, m->n_overflows, sizeof(*m->overflow), by_overflow);
	if (m->n_anchors)
		qsort(m->anchor, m->n_anchors, sizeof(*m->anchor), by_anchor);
	return ret;
}
