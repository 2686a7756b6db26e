// SPDX-License-Identifier: Apache-2.0
/*
 * Where the time of serving spans goes.  Four sets of intervals hold one
 * another: commands in flight, objects from first submission to last
 * completion, from their begin on, and up to their end.  What one of them
 * covers of a span and the one inside does not is a part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/measure_work.h"
#include "model/tables.h"

enum nest { NEST_DEVICE, NEST_SUBMITTED, NEST_BEGUN, NEST_WHOLE, N_NESTS };

/* The objects of one direction. */
struct side {
	struct cover nest[N_NESTS];
	u64 *begin, *end; /* of the objects, each sorted */
	size_t n;
};

/* Commands and bytes of each direction before every BLOCK-th command. */
#define BLOCK 256u
struct tally {
	u64 n[N_DIRS], bytes[N_DIRS];
};

struct requests {
	const struct measure_work *w;
	struct side side[N_DIRS];
	struct tally *tally;
};

/* The direction that the command counts for: that of its object. */
static enum dir cmd_side(const struct requests *r, u32 i)
{
	u32 op = r->w->m->cmd.op[i];

	if (!r->w->pool[i])
		return DIR_NONE;
	return op == NONE ? r->w->dir[i] : work_op_dir(r->w, op);
}

static int add_commands(struct requests *r)
{
	const struct measure_work *w = r->w;
	const struct cmd_table *c = &w->m->cmd;
	struct tally t = {};
	int ret = 0, k;
	u32 i;

	r->tally = malloc((c->n / BLOCK + 1ul) * sizeof(*r->tally));
	if (!r->tally)
		return -ENOMEM;
	for (i = 0; i < c->n && !ret; i++) {
		enum dir d = cmd_side(r, i);
		u64 end;

		if (i % BLOCK == 0)
			r->tally[i / BLOCK] = t;
		if (d >= N_DIRS)
			continue;
		t.n[d]++;
		t.bytes[d] += c->bytes[i];
		if (!work_interval(w, i, &end))
			continue;
		ret = cover_add(&r->side[d].nest[NEST_DEVICE], c->ts_ns[i], end);
		/* Without an object it is all that is known. */
		for (k = NEST_SUBMITTED; k < N_NESTS && !ret && c->op[i] == NONE; k++)
			ret = cover_add(&r->side[d].nest[k], c->ts_ns[i], end);
	}
	return ret;
}

/* First submission and last completion of an object; false when it has no commands. */
static bool extent(const struct measure_work *w, u32 op, u64 *first, u64 *last)
{
	const struct model *m = w->m;
	u32 k;

	*first = UINT64_MAX;
	*last = 0;
	for (k = 0; k < m->op.n_cmds[op]; k++) {
		u32 i = m->cmd_order[m->op.first_cmd[op] + k];
		u64 end;

		if (!w->pool[i])
			continue;
		*first = MIN(*first, m->cmd.ts_ns[i]);
		if (!work_interval(w, i, &end))
			end = m->cmd.ts_ns[i];
		*last = MAX(*last, end);
	}
	return *first != UINT64_MAX;
}

static int add_objects(struct requests *r)
{
	const struct model *m = r->w->m;
	int ret = 0;
	u32 i;

	for (i = 0; i < m->op.n && !ret; i++) {
		enum dir d = work_op_dir(r->w, i);
		u64 first, last, end;
		struct op_span s = r->w->span[i];
		struct side *x;

		if (d >= N_DIRS)
			continue;
		if (s.instant)
			continue;
		x = &r->side[d];
		if (extent(r->w, i, &first, &last)) {
			ret = cover_add(&x->nest[NEST_SUBMITTED], first, last);
			end = MAX(s.end_ns, last);
		} else {
			last = end = s.end_ns;
		}
		if (!ret)
			ret = cover_add(&x->nest[NEST_BEGUN], s.begin_ns, last);
		if (!ret)
			ret = cover_add(&x->nest[NEST_WHOLE], s.begin_ns, end);
		x->begin[x->n] = s.begin_ns;
		x->end[x->n++] = end;
	}
	return ret;
}

static int prepare(struct requests *r)
{
	const struct model *m = r->w->m;
	int ret = 0, d, k;

	for (d = 0; d < N_DIRS; d++) {
		r->side[d].begin = malloc((m->op.n + 1ul) * sizeof(u64));
		r->side[d].end = malloc((m->op.n + 1ul) * sizeof(u64));
		if (!r->side[d].begin || !r->side[d].end)
			return -ENOMEM;
	}
	ret = add_commands(r);
	if (!ret)
		ret = add_objects(r);
	for (d = 0; d < N_DIRS && !ret; d++) {
		struct side *x = &r->side[d];

		for (k = 0; k < N_NESTS; k++)
			cover_settle(&x->nest[k]);
		ret = u64_sort(x->begin, x->n);
		if (!ret)
			ret = u64_sort(x->end, x->n);
	}
	return ret;
}

/* How many of the sorted numbers are less than v. */
static size_t count_less(const u64 *sorted, size_t n, u64 v)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sorted[mid] < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static u64 objects_in(const struct side *x, u64 from, u64 to)
{
	return count_less(x->begin, x->n, to) - count_less(x->end, x->n, from + 1);
}

/* Commands and bytes of the direction issued before `at`. */
static void tally_before(const struct requests *r, enum dir d, u64 at, u64 *n, u64 *bytes)
{
	const struct cmd_table *c = &r->w->m->cmd;
	u32 to = (u32)count_less(c->ts_ns, c->n, at), i;
	u32 from = c->n ? MIN(to, c->n - 1) / BLOCK * BLOCK : 0;

	*n = r->tally[from / BLOCK].n[d];
	*bytes = r->tally[from / BLOCK].bytes[d];
	for (i = from; i < to; i++)
		if (cmd_side(r, i) == d) {
			++*n;
			*bytes += c->bytes[i];
		}
}

static void split(const struct requests *r, struct measure_request *q, u64 from, u64 to)
{
	u64 before, before_bytes, part[N_NESTS];
	const struct side *x;
	int k;

	q->ns = to - from;
	q->part[PART_UNEXPLAINED] = q->ns;
	q->dir = DIR_READ;
	while (q->dir < N_DIRS && !objects_in(&r->side[q->dir], from, to) &&
	       !cover_of(&r->side[q->dir].nest[NEST_DEVICE], from, to))
		q->dir++;
	if (q->dir == DIR_NONE)
		return;
	x = &r->side[q->dir];
	for (k = 0; k < N_NESTS; k++)
		part[k] = cover_of(&x->nest[k], from, to);
	q->part[PART_DEVICE] = part[NEST_DEVICE];
	q->part[PART_GAPS] = part[NEST_SUBMITTED] - part[NEST_DEVICE];
	q->part[PART_WAIT] = part[NEST_BEGUN] - part[NEST_SUBMITTED];
	q->part[PART_TAIL] = part[NEST_WHOLE] - part[NEST_BEGUN];
	q->part[PART_UNEXPLAINED] -= part[NEST_WHOLE];
	q->objects = objects_in(x, from, to);
	tally_before(r, q->dir, from, &before, &before_bytes);
	tally_before(r, q->dir, to, &q->commands, &q->bytes);
	q->commands -= before;
	q->bytes -= before_bytes;
}

static bool starts_before(const void *arg, u32 a, u32 b)
{
	const struct span_table *t = arg;

	return t->start_ns[a] < t->start_ns[b];
}

/* Spans that run at the same time as another. */
static int mark_shared(struct measure *out, const struct span_table *t)
{
	u32 *order = NULL, i, last = NONE;
	int ret = sort_rows(t->n, starts_before, t, &order);
	u64 until = 0;

	for (i = 0; i < t->n && !ret; i++) {
		u32 k = order ? order[i] : i;

		if (last != NONE && t->start_ns[k] < until)
			out->request[k].shared = out->request[last].shared = true;
		if (last == NONE || t->end_ns[k] > until) {
			last = k;
			until = t->end_ns[k];
		}
	}
	free(order);
	return ret;
}

static int slowest_first(const void *a, const void *b)
{
	const struct measure_request *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->span < y->span ? -1 : x->span > y->span;
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct span_table *t = arg;
	u32 x = t->name[((const struct measure_request *)a)->span],
	    y = t->name[((const struct measure_request *)b)->span];

	return x < y ? -1 : x > y;
}

static int by_text(const void *a, const void *b, void *arg)
{
	const struct strpool *s = arg;

	return strcmp(strpool_get(s, ((const struct measure_requests *)a)->name),
		      strpool_get(s, ((const struct measure_requests *)b)->name));
}

/* The requests from `first` up to n that have its name, as one row of out->serving. */
static int sum_up(struct measure *out, const struct measure_work *w, u64 *v, u32 first, u32 *next)
{
	const u32 *name = w->m->serving.name;
	struct measure_requests *s = reallocarray(out->serving, out->n_serving + 1ul, sizeof(*s));
	u32 i, p;

	if (!s)
		return -ENOMEM;
	out->serving = s;
	s += out->n_serving++;
	*s = (struct measure_requests){ .name = name[out->request[first].span] };
	for (i = first; i < out->n_requests && name[out->request[i].span] == s->name; i++) {
		v[s->n++] = out->request[i].ns;
		s->shared += out->request[i].shared;
		for (p = 0; p < N_PARTS; p++)
			s->part[p] += out->request[i].part[p];
	}
	*next = i;
	return work_dist(&s->span, w, v, s->n);
}

static int by_names(struct measure *out, const struct measure_work *w)
{
	u64 *v = malloc((out->n_requests + 1ul) * sizeof(*v));
	int ret = v ? 0 : -ENOMEM;
	u32 i = 0;

	qsort_r(out->request, out->n_requests, sizeof(*out->request), by_name, (void *)&w->m->serving);
	while (i < out->n_requests && !ret)
		ret = sum_up(out, w, v, i, &i);
	if (!ret)
		qsort_r(out->serving, out->n_serving, sizeof(*out->serving), by_text, (void *)&w->m->strings);
	free(v);
	return ret;
}

int measure_requests(struct measure *out, const struct measure_work *w)
{
	const struct span_table *t = &w->m->serving;
	struct requests r = { .w = w };
	int ret, d, k;
	u32 i;

	if (!t->n)
		return 0;
	out->request = calloc(t->n, sizeof(*out->request));
	ret = out->request ? prepare(&r) : -ENOMEM;
	for (i = 0; i < t->n && !ret; i++) {
		out->request[i].span = i;
		split(&r, &out->request[i], t->start_ns[i], MAX(t->end_ns[i], t->start_ns[i]));
		out->n_requests++;
	}
	if (!ret)
		ret = mark_shared(out, t);
	if (!ret)
		ret = by_names(out, w);
	if (!ret)
		qsort(out->request, out->n_requests, sizeof(*out->request), slowest_first);
	free(r.tally);
	for (d = 0; d < N_DIRS; d++) {
		for (k = 0; k < N_NESTS; k++)
			free(r.side[d].nest[k].v);
		free(r.side[d].begin);
		free(r.side[d].end);
	}
	return ret;
}
