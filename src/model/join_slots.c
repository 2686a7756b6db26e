// SPDX-License-Identifier: Apache-2.0
#include "model/join_slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

#define LISTS_PER_NODE (N_DIRS + 1u) /* one a direction, and that of all other operations */

static u64 add(u64 a, u64 b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- one operation ---- */

u64 slot_end(const struct slots *x, u32 op)
{
	u64 bytes = x->m->op.bytes[op], over = bytes % x->align;

	bytes = add(bytes, over ? x->align - over : 0);
	return add(add(x->m->op.slot_offset[op], x->header_bytes), bytes);
}

/* When it began; without a start, some time before its end. */
static u64 begins(const struct model *m, u32 op)
{
	u64 end = m->op.end_ns[op];

	return m->op.flags[op] & OP_HAS_START ? MIN(m->op.start_ns[op], end) : end - MIN(end, SLACK_NS);
}

/* The first time at which it does not run any more; one that takes no time runs for a moment. */
static u64 runs_until(const struct model *m, u32 op)
{
	return MAX(m->op.end_ns[op], add(begins(m, op), 1));
}

static bool usable(const struct slots *x, const bool *use, u32 op)
{
	return (!use || use[op]) && (x->m->op.flags[op] & OP_HAS_SLOT) && slot_end(x, op) > x->m->op.slot_offset[op];
}

/* ---- building ---- */

static int by_number(const void *a, const void *b)
{
	return compare_u64(*(const u64 *)a, *(const u64 *)b);
}

size_t segment_at(const struct slots *x, u64 offset)
{
	size_t lo = 0, hi = x->n_segments;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (x->edge[mid] <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int find_edges(struct slots *x, const u32 *op, u32 n)
{
	size_t edges = 0, i;

	x->edge = malloc((2ull * n + 1) * sizeof(*x->edge));
	if (!x->edge)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		x->edge[2 * i] = x->m->op.slot_offset[op[i]];
		x->edge[2 * i + 1] = slot_end(x, op[i]);
	}
	if (n)
		qsort(x->edge, 2ull * n, sizeof(*x->edge), by_number);
	for (i = 0; i < 2ull * n; i++)
		if (!i || x->edge[i] != x->edge[edges - 1])
			x->edge[edges++] = x->edge[i];
	x->n_segments = edges ? edges - 1 : 0;
	x->base = calloc(edges + 1, sizeof(*x->base));
	for (i = 0; i < n && x->base; i++)
		x->base[segment_at(x, x->m->op.slot_offset[op[i]])] = true;
	return x->base ? 0 : -ENOMEM;
}

static u32 list_of(const struct slots *x, size_t node, u32 op)
{
	return (u32)(node * LISTS_PER_NODE) + op_way(&x->ways, x->m, op);
}

/* Counts the operation in the lists of the nodes that cover its slot or, when `at` is given, puts it there. */
static void put(struct slots *x, u32 op, u32 *at)
{
	/* Both ends are edges; the last one ends a segment and begins none. */
	size_t l = segment_at(x, x->m->op.slot_offset[op]) + x->n_segments;
	size_t r = segment_at(x, slot_end(x, op) - 1) + 1 + x->n_segments;

	for (; l < r; l >>= 1, r >>= 1) {
		size_t node[2], n = 0, k;

		if (l & 1)
			node[n++] = l++;
		if (r & 1)
			node[n++] = --r;
		for (k = 0; k < n; k++) {
			u32 list = list_of(x, node[k], op);

			if (at)
				x->row[at[list]++] = op;
			else
				x->first[list + 1]++;
		}
	}
}

/* A maximum tree of the ends. */
static void make_tree(struct slots *x, u32 first, u32 n)
{
	u64 *until = x->until + 2ull * first;
	size_t i;

	for (i = 0; i < n; i++)
		until[n + i] = runs_until(x->m, x->row[first + i]);
	for (i = n; i-- > 1;)
		until[i] = MAX(until[2 * i], until[2 * i + 1]);
}

static void start_list(struct slots *x, u32 list)
{
	u32 first = x->first[list], n = x->first[list + 1] - first, i;
	struct slot_list *l = &x->list[first];
	u64 busy = 0;

	l->next_ns = begins(x->m, x->row[first]);
	l->until_ns = runs_until(x->m, x->row[first]);
	for (i = 0; i < n && !l->concurrent; i++) {
		l->concurrent = begins(x->m, x->row[first + i]) < busy;
		busy = MAX(busy, runs_until(x->m, x->row[first + i]));
	}
	if (l->concurrent)
		make_tree(x, first, n);
}

static int count_lists(struct slots *x, const u32 *op, u32 n, u32 lists)
{
	u32 i;

	x->first = calloc(lists + 2ul, sizeof(*x->first));
	if (!x->first)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		put(x, op[i], NULL);
	for (i = 0; i < lists; i++)
		if (__builtin_add_overflow(x->first[i + 1], x->first[i], &x->first[i + 1]))
			return -ENOMEM;
	return 0;
}

static int find_ups(struct slots *x)
{
	size_t nodes = 2 * x->n_segments, i;

	x->up = calloc(nodes + 1, sizeof(*x->up));
	for (i = 1; i < nodes && x->up; i++)
		x->up[i] = x->first[i * LISTS_PER_NODE] < x->first[(i + 1) * LISTS_PER_NODE] ? (u32)i : x->up[i / 2];
	return x->up ? 0 : -ENOMEM;
}

static int fill_lists(struct slots *x, const u32 *op, u32 n)
{
	size_t lists = 2 * x->n_segments * LISTS_PER_NODE, total;
	u32 *at, i;

	if (lists >= NONE || count_lists(x, op, n, (u32)lists) || find_ups(x))
		return -ENOMEM;
	total = x->first[lists];
	at = malloc((lists + 1) * sizeof(*at));
	x->row = malloc((total + 1) * sizeof(*x->row));
	x->until = malloc((2 * total + 1) * sizeof(*x->until));
	x->list = calloc(total + 1, sizeof(*x->list));
	if (at && x->row && x->until && x->list) {
		memcpy(at, x->first, (lists + 1) * sizeof(*at));
		for (i = 0; i < n; i++)
			put(x, op[i], at);
		for (i = 0; i < lists; i++)
			if (x->first[i + 1] > x->first[i])
				start_list(x, i);
	}
	free(at);
	return at && x->row && x->until && x->list ? 0 : -ENOMEM;
}

struct by_begin {
	const struct model *m;
	const u32 *op;
};

static bool begins_before(const void *arg, u32 a, u32 b)
{
	const struct by_begin *s = arg;
	u64 x = begins(s->m, s->op[a]), y = begins(s->m, s->op[b]);

	if (x != y)
		return x < y;
	return runs_until(s->m, s->op[a]) < runs_until(s->m, s->op[b]);
}

/* The usable operations by their start: operations without one need not be in order. */
static int usable_ops(const struct slots *x, const bool *use, u32 **ops, u32 *n)
{
	struct by_begin s = { .m = x->m };
	u32 *op = malloc(MAX(x->m->op.n, 1u) * sizeof(*op)), *order, i;
	int ret;

	*ops = op;
	*n = 0;
	if (!op)
		return -ENOMEM;
	for (i = 0; i < x->m->op.n; i++)
		if (usable(x, use, i))
			op[(*n)++] = i;
	s.op = op;
	ret = sort_rows(*n, begins_before, &s, &order);
	if (ret || !order)
		return ret;
	for (i = 0; i < *n; i++)
		order[i] = op[order[i]];
	free(op);
	*ops = order;
	return 0;
}

int slots_make(struct slots *x, const struct model *m, const bool *use)
{
	u32 *op, n;
	int ret;

	*x = (struct slots){ .m = m, .header_bytes = m->sem_meta.header_bytes };
	x->align = m->sem_meta.block_align ? m->sem_meta.block_align : 4096;
	ways_init(&x->ways, m);
	ret = usable_ops(x, use, &op, &n);
	if (!ret)
		ret = find_edges(x, op, n);
	if (!ret && n)
		ret = fill_lists(x, op, n);
	free(op);
	return ret;
}

void slots_free(struct slots *x)
{
	free(x->edge);
	free(x->base);
	free(x->up);
	free(x->first);
	free(x->row);
	free(x->list);
	free(x->until);
	map64_free(&x->had);
}

/* ---- asking ---- */

/* Moves a list on to that time: what is over does not begin again. */
static void advance(const struct slots *x, u32 list, u64 ts)
{
	u32 first = x->first[list], n = x->first[list + 1] - first;
	struct slot_list *l = &x->list[first];
	const u32 *row = x->row + first;

	while (l->begun < n && l->next_ns <= ts) {
		if (runs_until(x->m, row[l->begun]) > runs_until(x->m, row[l->last]))
			l->last = l->begun;
		if (++l->begun < n)
			l->next_ns = begins(x->m, row[l->begun]);
	}
	while (l->open < l->begun && l->until_ns <= ts)
		if (++l->open < n)
			l->until_ns = runs_until(x->m, row[l->open]);
}

/* The first of [from, to) in a list of n that runs longer than until ts, or NONE. */
static u32 first_open(const u64 *until, u32 n, u32 from, u32 to, u64 ts)
{
	u32 right[32], n_right = 0;
	size_t l = (size_t)from + n, r = (size_t)to + n, at = 0;

	for (; l < r && !at; l >>= 1, r >>= 1) {
		if (l & 1) {
			at = until[l] > ts ? l : 0;
			l++;
		}
		if (r & 1)
			right[n_right++] = (u32)--r;
	}
	while (!at && n_right)
		if (until[right[--n_right]] > ts)
			at = right[n_right];
	if (!at)
		return NONE;
	while (at < n)
		at = 2 * at + (until[2 * at] <= ts);
	return (u32)(at - n);
}

static u64 had_key(u32 list, u64 offset)
{
	return hash_u64(offset ^ hash_u64(list));
}

static void offer(struct candidate *best, const struct slots *x, u32 list, u32 at, u32 fit, u64 distance_ns)
{
	u32 op = x->row[x->first[list] + at];

	if (fit > best->fit || (fit == best->fit && distance_ns > best->distance_ns) ||
	    (fit == best->fit && distance_ns == best->distance_ns && op >= best->op))
		return;
	*best = (struct candidate){ op, fit, distance_ns, list, at };
}

/* The nearest of a list of which none runs: the last to end, or the next to begin. */
static void offer_near(struct candidate *best, const struct slots *x, u32 list, u64 ts, u32 other)
{
	u32 first = x->first[list], n = x->first[list + 1] - first;
	const struct slot_list *l = &x->list[first];
	const struct op_table *t = &x->m->op;
	u64 end = l->begun ? t->end_ns[x->row[first + l->last]] : 0;

	if (l->begun && ts - end <= SLACK_NS)
		offer(best, x, list, l->last, other + FIT_NEAR, ts - end);
	/* One without a start has its slack already. */
	if (l->begun < n && l->next_ns - ts <= SLACK_NS && (t->flags[x->row[first + l->begun]] & OP_HAS_START))
		offer(best, x, list, l->begun, other + FIT_NEAR, l->next_ns - ts);
}

static void look(struct candidate *best, const struct slots *x, u32 list, u64 offset, u64 ts, u32 other)
{
	u32 first = x->first[list], n = x->first[list + 1] - first, fresh;
	const struct slot_list *l = &x->list[first];
	const u32 *from;

	if (!n)
		return;
	advance(x, list, ts);
	if (l->open == l->begun) {
		offer_near(best, x, list, ts, other);
		return;
	}
	from = l->concurrent ? map64_get(&x->had, had_key(list, offset)) : NULL;
	fresh = from ? first_open(x->until + 2ull * first, n, MIN(*from, l->begun), l->begun, ts) : l->open;
	if (fresh == NONE)
		offer(best, x, list, l->open, other + FIT_AGAIN, 0);
	else
		offer(best, x, list, fresh, other + FIT_FRESH, 0);
}

bool slots_cover(const struct slots *x, size_t segment)
{
	return x->up[segment + x->n_segments];
}

void slots_ask(struct slots *x, size_t segment, u64 offset, u64 ts, enum dir dir, struct candidate *best)
{
	u32 leaf = x->up[segment + x->n_segments], node, way;

	*best = (struct candidate){ .op = NONE, .fit = FIT_NONE };
	for (node = leaf; node && dir != DIR_NONE; node = x->up[node / 2])
		look(best, x, node * LISTS_PER_NODE + dir, offset, ts, 0);
	if (best->op != NONE)
		return;
	for (node = leaf; node; node = x->up[node / 2])
		for (way = 0; way < LISTS_PER_NODE; way++)
			if (way != (u32)dir || dir == DIR_NONE)
				look(best, x, node * LISTS_PER_NODE + way, offset, ts, FIT_OTHER);
}

int slots_take(struct slots *x, const struct candidate *c, u64 offset)
{
	bool is_new;
	u32 *had;

	if (!x->list[x->first[c->list]].concurrent || c->fit % FIT_OTHER != FIT_FRESH)
		return 0;
	had = map64_put(&x->had, had_key(c->list, offset), &is_new);
	if (!had)
		return -ENOMEM;
	*had = c->at + 1;
	return 0;
}
