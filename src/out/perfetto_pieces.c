// SPDX-License-Identifier: Apache-2.0
/*
 * A timeline in pieces, each of which can be read alone.  What is open when a
 * piece ends is ended in it, at its own time; the next piece begins with all
 * tracks, the capture's facts and the counters' values.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/perfetto_programs.h"

/* An event that ends a slice: packet, time, track. */
#define END_BYTES 24

struct pf_open_slices {
	struct pf_open_slice {
		u64 end_ns;
		u32 track;
	} * v;
	size_t n, cap;
	bool failed;
};

static void add(struct pf_open_slices *list, u64 end_ns, u32 track)
{
	if (list->n == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 64;
		void *p = reallocarray(list->v, cap, sizeof(*list->v));

		if (!p) {
			list->failed = true;
			return;
		}
		list->v = p;
		list->cap = cap;
	}
	list->v[list->n++] = (struct pf_open_slice){ end_ns, track };
}

static void add_lanes(struct pf_open_slices *list, struct lanes *l, u32 track)
{
	u32 i;

	for (i = 0; i < l->n_busy; i++) {
		if (l->busy[i].silent)
			continue;
		add(list, l->busy[i].end_ns, track + l->busy[i].lane);
		l->busy[i].silent = true;
	}
}

static int add_spans(struct pf_draw *a, struct pf_spans *s, void *arg)
{
	(void)a;
	add_lanes(arg, &s->lanes, s->track);
	return 0;
}

static void add_unit(struct pf_open_slices *list, struct pf_unit *u)
{
	struct pf_bucket *run = &u->activity;
	u32 k;

	for (k = 0; k < N_ROLES; k++)
		add_lanes(list, &u->roles[k].lanes, u->roles[k].track);
	if (run->closing && !run->silent) {
		add(list, run->end_ns, u->track_activity);
		run->silent = true;
	}
}

static int by_end(const void *x, const void *y)
{
	const struct pf_open_slice *a = x, *b = y;
	int c = pf_compare(a->end_ns, b->end_ns);

	return c ? c : pf_compare(a->track, b->track);
}

/* Ends all that is open. */
static void end_slices(struct pf_writer *w, struct pf_draw *arms)
{
	struct pf_open_slices list = {};
	size_t k;
	u32 i, j;

	for (i = 0; i < w->n_arms; i++) {
		add_lanes(&list, &arms[i].objects.lanes, arms[i].objects.track);
		add_lanes(&list, &arms[i].serving.lanes, arms[i].serving.track);
		add_lanes(&list, &arms[i].losses.lanes, arms[i].losses.track);
		pf_programs_each(&arms[i], add_spans, &list);
		for (j = 0; j < arms[i].n_units; j++)
			add_unit(&list, &arms[i].unit[j]);
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_end);
	for (k = 0; k < list.n; k++)
		pf_end_slice(w, list.v[k].end_ns, list.v[k].track);
	if (list.failed)
		w->ret = w->ret ? w->ret : -ENOMEM;
	free(list.v);
}

static void count_again(struct pf_writer *w, struct pf_draw *a, u64 now)
{
	u32 i;
	int d;

	pf_count_again(w, now, &a->in_flight);
	pf_programs_count_again(w, a, now);
	for (i = 0; i < a->n_units; i++) {
		struct pf_unit *u = &a->unit[i];

		/* A bucket that begins now says it itself. */
		if (u->ms.source.next_ns != now)
			pf_count_again(w, now, &u->cmds);
		if (u->mbs10.source.next_ns != now)
			pf_count_again(w, now, &u->mbs);
		for (d = 0; d < N_DIRS; d++)
			if (u->slba[d].track)
				pf_count_again(w, now, &u->slba[d]);
	}
}

/* The lane with most commands, and the LBA counter with most samples, need not be named. */
static void choose_defaults(struct pf_writer *w, const struct pf_draw *arms)
{
	u64 most_slices = 0, most_samples = 0;
	u32 i, k, j;

	for (i = 0; i < w->n_arms; i++)
		for (k = 0; k < arms[i].n_units; k++) {
			const struct pf_unit *u = &arms[i].unit[k];

			for (j = 0; j < N_ROLES; j++)
				if (u->roles[j].n_slices / MAX(u->roles[j].n_lanes, 1u) > most_slices) {
					most_slices = u->roles[j].n_slices / u->roles[j].n_lanes;
					w->default_track = u->roles[j].track;
				}
			for (j = 0; j < N_DIRS; j++)
				if (u->n_samples[j] > most_samples) {
					most_samples = u->n_samples[j];
					w->default_counter = u->slba[j].track;
				}
		}
}

int pf_piece_open(struct pf_writer *w, struct pf_draw *arms, u64 first_ns)
{
	u32 i;

	w->z = w->out->z;
	w->ret = w->out->open ? w->out->open(w->out->arg, w->out->pieces + 1, &w->z) : 0;
	if (w->ret)
		return w->ret;
	w->out->pieces++;
	if (w->n_arms && arms->lean)
		zout_records(w->z);
	w->n_tracks = 0;
	for (i = 0; i < w->n_arms; i++)
		pf_arm_tracks(w, &arms[i]);
	choose_defaults(w, arms);
	pf_start(w, first_ns, pf_wall_time(arms, w->n_arms, w->o, first_ns));
	w->header_bytes = w->b.n;
	w->piece_bytes = 0;
	return 0;
}

/* A piece has at least as many bytes of events as of descriptions. */
bool pf_piece_is_full(const struct pf_writer *w)
{
	u64 n = w->piece_bytes + w->b.n + w->n_open * END_BYTES;

	return w->out->open && w->out->split_bytes && n >= w->out->split_bytes && n >= 2 * w->header_bytes;
}

void pf_piece_next(struct pf_writer *w, struct pf_draw *arms, u64 now)
{
	u32 i;

	end_slices(w, arms);
	if (pf_flush(w))
		return;
	w->ret = zout_close(w->z);
	w->z = NULL;
	strpool_free(&w->event_names);
	strpool_free(&w->string_values);
	w->header_iid = w->payload_iid = 0;
	for (i = 0; i < w->n_arms; i++)
		memset(arms[i].name_cache, 0, sizeof(arms[i].name_cache));
	if (w->ret || pf_piece_open(w, arms, now))
		return;
	for (i = 0; i < w->n_arms; i++) {
		pf_info_again(w, &arms[i], now);
		count_again(w, &arms[i], now);
	}
}

int pf_piece_close(struct pf_writer *w, int ret)
{
	if (!w->out->open)
		return ret;
	if (!ret)
		return zout_close(w->z);
	zout_abort(w->z);
	return ret;
}
