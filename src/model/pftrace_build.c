// SPDX-License-Identifier: Apache-2.0
/* From events in the order of the file to slices, flows and samples in the order of time. */
#include <stdlib.h>

#include "model/pftrace_work.h"
#include "model/tables.h"

#define PENDING	  -1
#define MAX_DEPTH 512

struct build {
	struct pftrace *t;
	struct pf_reading *r;
	u32 *from; /* of each slice: its row as it was read */
	u32 n;
	u32 *top;	      /* of each track: the slice open last, or NONE; the ones below are its parents */
	u32 *end_args;	      /* of each slice: args of its end, or NONE; NULL when no end has any */
	struct map64 flow_at; /* id -> the slice that it comes from, plus 1; 0 when it has ended */
};

static s64 start_of(const struct build *b, u32 slice)
{
	return b->t->slice.ts[b->from[slice]];
}

/*
 * Takes off the track's stack what ended before `now`.  An open slice below
 * one that has ended is cut there.  An instant is kept for another instant of
 * the same time, which stands on it.
 */
static void close_ended(struct build *b, u32 track, s64 now, bool instant)
{
	struct pf_slices *s = &b->t->slice;
	bool pending = false;
	u32 i, j;

	for (i = b->top[track]; i != NONE; i = s->parent[i]) {
		s64 end;

		if (s->dur[i] == PENDING) {
			pending = true;
			continue;
		}
		end = start_of(b, i) + s->dur[i];
		if (pending) {
			if (now <= end)
				continue;
			for (j = b->top[track]; j != i; j = s->parent[j])
				s->dur[j] = end - start_of(b, j);
			b->top[track] = s->parent[i];
			pending = false;
		} else if (end < now || (end == now && !(instant && !s->dur[i]))) {
			b->top[track] = s->parent[i];
		}
	}
}

static u32 begin_slice(struct build *b, u32 track, u32 row, bool instant)
{
	struct pf_slices *s = &b->t->slice;
	u32 under, slice = b->n;

	close_ended(b, track, s->ts[row], instant);
	under = b->top[track];
	if (under != NONE && s->depth[under] + 1 >= MAX_DEPTH) {
		b->t->count.too_deep++;
		return NONE;
	}
	b->from[slice] = row;
	s->dur[slice] = instant ? 0 : PENDING;
	s->depth[slice] = under == NONE ? 0 : (u16)(s->depth[under] + 1);
	s->parent[slice] = under;
	b->top[track] = slice;
	b->n++;
	return slice;
}

/* Absent names match all. */
static bool matches(const struct build *b, u32 slice, const struct pf_end *end)
{
	const struct pf_slices *s = &b->t->slice;
	u32 row = b->from[slice];

	if (s->dur[slice] != PENDING || (end->category && end->category != s->category[row]))
		return false;
	return !end->name || !s->name[row] || end->name == s->name[row];
}

static int end_slice(struct build *b, u32 track, s64 now, u32 what, u32 *slice)
{
	static const struct pf_end plain = { .args = NONE };
	const struct pf_end *end = what == NONE ? &plain : &b->r->end[what];
	struct pf_slices *s = &b->t->slice;
	u32 i;

	close_ended(b, track, now, false);
	for (i = b->top[track]; i != NONE && !matches(b, i, end);)
		i = s->parent[i];
	*slice = i;
	if (i == NONE) {
		b->t->count.stray_ends++;
		return 0;
	}
	s->dur[i] = now - start_of(b, i);
	if (i == b->top[track])
		b->top[track] = s->parent[i];
	if (end->args != NONE) {
		if (!b->end_args) {
			b->end_args = malloc(s->n * sizeof(*b->end_args));
			if (!b->end_args)
				return -ENOMEM;
			memset(b->end_args, 0xff, s->n * sizeof(*b->end_args));
		}
		b->end_args[i] = end->args;
	}
	return 0;
}

/* ---- flows ---- */

static int add_flow(struct build *b, u64 id, u32 out, u32 in)
{
	struct pf_flows *f = &b->t->flow;
	u32 cap = f->cap;
	int ret = pf_grow(b->r, &f->out, &cap, f->n, sizeof(*f->out));

	cap = f->cap;
	if (!ret)
		ret = pf_grow(b->r, &f->in, &cap, f->n, sizeof(*f->in));
	if (!ret)
		ret = pf_grow(b->r, &f->id, &f->cap, f->n, sizeof(*f->id));
	if (ret)
		return ret;
	f->out[f->n] = out;
	f->in[f->n] = in;
	f->id[f->n++] = id;
	return 0;
}

static int one_flow(struct build *b, const struct pf_flow_op *op, u32 slice)
{
	bool is_new, later;
	u32 *at, out;

	/* An end of what was never begun is nothing. */
	if (op->ends) {
		at = map64_get(&b->flow_at, op->id);
		if (!at || !*at)
			return 0;
	} else {
		at = map64_put(&b->flow_at, op->id, &is_new);
		if (!at)
			return -ENOMEM;
		if (is_new || !*at) {
			*at = slice + 1;
			return 0;
		}
	}
	out = *at - 1;
	*at = op->ends ? 0 : slice + 1;
	/* At an end event the slice can be the older one. */
	later = start_of(b, out) <= start_of(b, slice);
	return add_flow(b, op->id, later ? out : slice, later ? slice : out);
}

static int flows_of(struct build *b, u32 event, u32 slice)
{
	const struct pf_reading *r = b->r;
	u32 lo = 0, hi = r->n_flow_ops;
	int ret = 0;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (r->flow_op[mid].event < event)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < r->n_flow_ops && r->flow_op[lo].event == event && !ret; lo++)
		ret = one_flow(b, &r->flow_op[lo], slice);
	return ret;
}

/* ---- slices ---- */

static bool event_before(const void *arg, u32 a, u32 b)
{
	const struct pf_reading *r = arg;

	return r->event.ts[a] < r->event.ts[b];
}

static int one_event(struct build *b, u32 e)
{
	const struct pf_reading *r = b->r;
	u32 track = r->track[r->event.track[e]].new_row, what = r->event.what[e], slice;
	u8 kind = r->event.kind[e] & (u8)~PF_HAS_FLOW;
	int ret = 0;

	if (track == NONE) {
		b->t->count.no_track++;
		return 0;
	}
	if (b->t->track[track].counter) {
		b->t->count.wrong_track++;
		return 0;
	}
	if (kind == PF_END)
		ret = end_slice(b, track, r->event.ts[e], what, &slice);
	else
		slice = begin_slice(b, track, what, kind == PF_INSTANT);
	if (ret || slice == NONE || !(r->event.kind[e] & PF_HAS_FLOW))
		return ret;
	return flows_of(b, e, slice);
}

static int pair(struct build *b)
{
	struct pf_reading *r = b->r;
	u32 *order = NULL, i;
	int ret = 0;

	if (r->unsorted)
		ret = sort_rows(r->event.n, event_before, r, &order);
	for (i = 0; i < r->event.n && !ret; i++)
		ret = one_event(b, order ? order[i] : i);
	free(order);
	return ret;
}

/* Copies the rows of a set to the new columns. */
static void copy_args(const struct pf_args *from, u32 set, struct pf_args *to)
{
	u32 i;

	if (set == NONE)
		return;
	for (i = from->start[set]; i < from->start[set + 1]; i++) {
		to->key[to->n] = from->key[i];
		to->value[to->n++] = from->value[i];
	}
}

/* Args in the order of their slices, those of the end behind those of the begin; of dropped slices none. */
static int sort_args(struct build *b)
{
	struct pf_slices *s = &b->t->slice;
	struct pf_args *old = &b->t->arg, new = {};
	u32 i;
	int ret = pf_arg_set(b->t);

	if (ret)
		return ret;
	new.cap_sets = MAX(b->n, old->n_sets) + 2;
	new.key = malloc(MAX(old->n, 1u) * sizeof(*new.key));
	new.value = malloc(MAX(old->n, 1u) * sizeof(*new.value));
	new.start = malloc(new.cap_sets * sizeof(*new.start));
	if (!new.key || !new.value || !new.start) {
		free(new.key);
		free(new.value);
		free(new.start);
		return -ENOMEM;
	}
	new.cap = MAX(old->n, 1u);
	for (i = 0; i < b->n; i++) {
		u32 set = s->args[i], more = b->end_args ? b->end_args[i] : NONE;

		if (set == NONE && more == NONE)
			continue;
		new.start[new.n_sets] = new.n;
		s->args[i] = new.n_sets++;
		copy_args(old, set, &new);
		copy_args(old, more, &new);
	}
	free(old->key);
	free(old->value);
	free(old->start);
	*old = new;
	return 0;
}

#define PERMUTE(column)                                                                 \
	{                                                                               \
		__typeof__(s->column) new = malloc(MAX(b->n, 1u) * sizeof(*s->column)); \
                                                                                        \
		if (!new)                                                               \
			return -ENOMEM;                                                 \
		for (i = 0; i < b->n; i++)                                              \
			new[i] = s->column[b->from[i]];                                 \
		free(s->column);                                                        \
		s->column = new;                                                        \
	}

/* The columns that were read, into the order of the slices. */
static int order_slices(struct build *b)
{
	struct pf_slices *s = &b->t->slice;
	bool moved = b->n != s->n;
	u32 i;

	for (i = 0; i < b->n && !moved; i++)
		moved = b->from[i] != i;
	if (moved) {
		PERMUTE(ts)
		PERMUTE(track)
		PERMUTE(name)
		PERMUTE(category)
		PERMUTE(args)
	}
	s->n = b->n;
	for (i = 0; i < s->n; i++)
		s->track[i] = b->r->track[s->track[i]].new_row;
	return moved || b->end_args ? sort_args(b) : 0;
}

static int build_slices(struct pftrace *t)
{
	struct build b = { .t = t, .r = t->reading };
	struct pf_slices *s = &t->slice;
	u32 n = MAX(s->n, 1u);
	int ret = -ENOMEM;

	s->dur = malloc(n * sizeof(*s->dur));
	s->depth = malloc(n * sizeof(*s->depth));
	s->parent = malloc(n * sizeof(*s->parent));
	b.from = malloc(n * sizeof(*b.from));
	b.top = malloc((t->n_tracks + 1ul) * sizeof(*b.top));
	if (s->dur && s->depth && s->parent && b.from && b.top) {
		memset(b.top, 0xff, (t->n_tracks + 1ul) * sizeof(*b.top));
		ret = pair(&b);
	}
	if (!ret)
		ret = order_slices(&b);
	free(b.from);
	free(b.top);
	free(b.end_args);
	map64_free(&b.flow_at);
	return ret;
}

/* ---- counters ---- */

static bool sample_before(const void *arg, u32 a, u32 b)
{
	const struct pf_counters *c = arg;

	return c->ts[a] < c->ts[b];
}

#define PERMUTE_SAMPLES(column)                                                         \
	{                                                                               \
		__typeof__(c->column) new = malloc(MAX(c->n, 1u) * sizeof(*c->column)); \
                                                                                        \
		if (!new)                                                               \
			return -ENOMEM;                                                 \
		for (i = 0; i < c->n; i++)                                              \
			new[i] = c->column[order[i]];                                   \
		free(c->column);                                                        \
		c->column = new;                                                        \
	}

static int permute_samples(struct pf_counters *c, const u32 *order)
{
	u32 i;

	PERMUTE_SAMPLES(ts)
	PERMUTE_SAMPLES(value)
	PERMUTE_SAMPLES(track)
	return 0;
}

static int build_counters(struct pftrace *t)
{
	struct pf_counters *c = &t->counter;
	u32 *order = NULL, n = 0, i;
	int ret = 0;

	for (i = 0; i < c->n; i++) {
		u32 track = t->reading->track[c->track[i]].new_row;

		if (track == NONE) {
			t->count.no_track++;
			continue;
		}
		if (!t->track[track].counter) {
			t->count.wrong_track++;
			continue;
		}
		c->ts[n] = c->ts[i];
		c->value[n] = c->value[i];
		c->track[n++] = track;
	}
	c->n = n;
	if (t->reading->counters_unsorted)
		ret = sort_rows(c->n, sample_before, c, &order);
	if (order)
		ret = permute_samples(c, order);
	free(order);
	return ret;
}

int pf_build(struct pftrace *t)
{
	struct pf_args *a = &t->arg;
	int ret = pf_build_tracks(t);

	if (!ret)
		ret = build_slices(t);
	if (!ret)
		ret = build_counters(t);
	if (!ret)
		ret = pf_build_track_args(t);
	if (!ret)
		ret = pf_arg_set(t);
	/* The end of the last set is where the next one would begin. */
	if (!ret)
		a->n_sets--;
	return ret;
}
