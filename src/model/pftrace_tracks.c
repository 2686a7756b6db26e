// SPDX-License-Identifier: Apache-2.0
/* Tracks in rows, parents before children, with the process or thread that each is below. */
#include <stdlib.h>

#include "model/pftrace_work.h"

#define MAX_ANCESTORS 10

/* The declared track that is the parent, or NONE. */
static u32 parent_of(const struct pf_reading *r, const struct pf_declared *d)
{
	const u32 *at = d->parent ? map64_get(&r->track_at, d->parent) : NULL;

	return at && r->track[*at].declared ? *at : NONE;
}

/* Puts the track and its ancestors into rows; NONE when they are too many or a circle. */
static u32 place(struct pftrace *t, u32 at)
{
	struct pf_reading *r = t->reading;
	u32 chain[MAX_ANCESTORS + 1] = {}, n = 0, parent = NONE;

	while (at != NONE && r->track[at].new_row == NONE) {
		if (n > MAX_ANCESTORS)
			return NONE;
		chain[n++] = at;
		at = parent_of(r, &r->track[at]);
	}
	if (at != NONE)
		parent = r->track[at].new_row;
	while (n--) {
		struct pf_declared *d = &r->track[chain[n]];
		struct pf_track *row = &t->track[t->n_tracks];

		*row = d->t;
		row->parent = parent;
		row->upid = row->utid = row->args = NONE;
		d->new_row = parent = t->n_tracks++;
	}
	return parent;
}

static u32 add_process(struct pftrace *t, u32 pid, u32 name)
{
	t->process[t->n_processes] = (struct pf_process){ pid, name, t->n_threads };
	t->thread[t->n_threads++] = (struct pf_thread){ pid, 0, t->n_processes };
	return t->n_processes++;
}

/* The thread's row, and that of its process when there is none of that number. */
static int add_thread(struct pftrace *t, struct map64 *by_pid, const struct pf_declared *d, struct pf_track *row)
{
	bool is_new;
	u32 *at = map64_put(by_pid, d->pid, &is_new), upid, utid;

	if (!at)
		return -ENOMEM;
	if (is_new)
		*at = add_process(t, d->pid, 0);
	upid = *at;
	utid = d->tid == d->pid ? t->process[upid].main : t->n_threads++;
	t->thread[utid] = (struct pf_thread){ d->tid, d->task_name, upid };
	row->utid = utid;
	row->root = true;
	return 0;
}

/* Who the tracks belong to: those of a process or thread first, then all below. */
static int find_owners(struct pftrace *t)
{
	struct pf_reading *r = t->reading;
	struct map64 by_pid = {};
	u32 n = (u32)r->track_at.n, i;
	bool is_new;
	u32 *at;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		const struct pf_declared *d = &r->track[i];

		if (d->new_row == NONE || !d->has_process || d->has_thread)
			continue;
		t->track[d->new_row].upid = add_process(t, d->pid, d->task_name);
		t->track[d->new_row].root = true;
		at = map64_put(&by_pid, d->pid, &is_new);
		if (at)
			*at = t->track[d->new_row].upid;
		else
			ret = -ENOMEM;
	}
	for (i = 0; i < n && !ret; i++)
		if (r->track[i].new_row != NONE && r->track[i].has_thread)
			ret = add_thread(t, &by_pid, &r->track[i], &t->track[r->track[i].new_row]);
	map64_free(&by_pid);
	for (i = 0; i < t->n_tracks && !ret; i++) {
		struct pf_track *row = &t->track[i];

		/* Parents come first, so theirs is known. */
		if (row->root || row->parent == NONE)
			continue;
		row->upid = t->track[row->parent].upid;
		row->utid = t->track[row->parent].utid;
	}
	return ret;
}

int pf_build_tracks(struct pftrace *t)
{
	struct pf_reading *r = t->reading;
	u32 n = (u32)r->track_at.n, i, k;
	const u32 *zero = map64_get(&r->track_at, 0);
	struct pf_declared *d;

	/* Events without a track are on the default one. */
	if (zero && !r->track[*zero].declared) {
		r->track[*zero].declared = true;
		if (pf_string(t, "Default Track", 13, &r->track[*zero].t.name) == -ENOMEM)
			return -ENOMEM;
	}
	t->n_tracks = 0;
	t->track = calloc(n + 1ul, sizeof(*t->track));
	t->process = calloc(n + 1ul, sizeof(*t->process));
	t->thread = calloc(2 * n + 1ul, sizeof(*t->thread));
	if (!t->track || !t->process || !t->thread)
		return -ENOMEM;
	t->n_processes = t->n_threads = 1;
	t->thread[0].upid = NONE;
	for (i = 0; i < n; i++)
		r->track[i].new_row = NONE;
	for (i = 0; i < n; i++)
		if (r->track[i].declared)
			place(t, i);
	/* A track without a name has that of its first event. */
	for (i = 0; i < r->event.n; i++) {
		k = r->event.what[i];
		d = &r->track[r->event.track[i]];
		if (d->new_row == NONE || t->track[d->new_row].name || d->has_process || d->has_thread ||
		    d->t.counter || (r->event.kind[i] & ~PF_HAS_FLOW) == PF_END)
			continue;
		t->track[d->new_row].name = t->slice.name[k];
	}
	return find_owners(t);
}

/* ---- where a track comes from ---- */

static int key_named(struct pftrace *t, const char *name, u32 *key)
{
	struct buf b = { .p = (char *)name, .n = strlen(name) };

	return pf_key_id(t, &b, &b, key);
}

int pf_build_track_args(struct pftrace *t)
{
	static const char *const orderings[] = { "", "lexicographic", "chronological", "explicit" };
	u32 source, id, root, ordering, rank, descriptor, word, i;
	int ret = key_named(t, "source", &source);

	if (!ret)
		ret = key_named(t, "trace_id", &id);
	if (!ret)
		ret = key_named(t, "is_root_in_scope", &root);
	if (!ret)
		ret = key_named(t, "child_ordering", &ordering);
	if (!ret)
		ret = key_named(t, "sibling_order_rank", &rank);
	if (!ret)
		ret = pf_string(t, "descriptor", 10, &descriptor);
	for (i = 0; i < t->n_tracks && !ret; i++) {
		struct pf_track *row = &t->track[i];

		row->args = t->arg.n_sets;
		ret = pf_arg_set(t);
		if (!ret)
			ret = pf_arg_add(t, source, PF_STRING, descriptor);
		if (!ret)
			ret = pf_arg_add(t, id, PF_INT, row->uuid);
		if (!ret)
			ret = pf_arg_add(t, root, PF_BOOL, row->root);
		if (!ret && row->ordering) {
			ret = pf_string(t, orderings[row->ordering], strlen(orderings[row->ordering]), &word);
			if (!ret)
				ret = pf_arg_add(t, ordering, PF_STRING, word);
		}
		if (!ret && row->rank)
			ret = pf_arg_add(t, rank, PF_INT, (u64)(s64)row->rank);
	}
	return ret;
}
