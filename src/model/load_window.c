// SPDX-License-Identifier: Apache-2.0
#include "model/load_window.h"

#include <stdlib.h>
#include <string.h>

#include "lib/dist.h"
#include "lib/pages.h"

#define SLOT_BITS 12
#define SLOTS	  (1u << SLOT_BITS)
#define HALF	  (SLOTS / 2)

struct window {
	window_fn leave;
	void *arg;
	u32 n_held, n_new;
	/* Slots: the n_held in order of time; from HALF on the n_new as they came; all others are free. */
	u16 order[SLOTS];
	u64 ts_ns[SLOTS]; /* of each slot: what is sorted is read from here, not from all over the slots */
	u64 held[HALF + 1], fresh[HALF + 1], room[HALF];
	struct ev_nvme_kv slot[SLOTS];
};

struct window *window_new(window_fn leave, void *arg)
{
	struct window *w = pages_alloc(sizeof(*w));
	u32 i;

	if (!w)
		return NULL;
	w->leave = leave;
	w->arg = arg;
	w->n_held = w->n_new = 0;
	for (i = 0; i < SLOTS; i++)
		w->order[i] = (u16)i;
	return w;
}

void window_free(struct window *w)
{
	pages_free(w, sizeof(*w));
}

/* What sort_commands() goes by among commands of one time, as far as it is known here. */
static int compare_tied(const void *a, const void *b, void *arg)
{
	const struct window *w = arg;
	const struct ev_nvme *x = &w->slot[*(const u16 *)a].cmd, *y = &w->slot[*(const u16 *)b].cmd;
	int by_user_data = (x->user_data > y->user_data) - (x->user_data < y->user_data);

	return by_user_data ? by_user_data : (x->slba > y->slba) - (x->slba < y->slba);
}

/* Time since `base`, and slot.  Times that a broken clock has far apart are equal. */
static u64 key_of(const struct window *w, u16 slot, u64 base)
{
	return MIN(w->ts_ns[slot] - base, (UINT64_MAX >> SLOT_BITS) - 1) << SLOT_BITS | slot;
}

/* Keys of the held ones and of the new ones, each in order of time, with a last one that comes behind all. */
static void sort_keys(struct window *w)
{
	u64 base = w->n_held ? w->ts_ns[w->order[0]] : UINT64_MAX;
	u32 i;

	for (i = 0; i < w->n_new; i++)
		base = MIN(base, w->ts_ns[w->order[HALF + i]]);
	for (i = 0; i < w->n_held; i++)
		w->held[i] = key_of(w, w->order[i], base);
	for (i = 0; i < w->n_new; i++)
		w->fresh[i] = key_of(w, w->order[HALF + i], base);
	u64_sort_from(w->fresh, w->n_new, w->room, SLOT_BITS);
	w->held[w->n_held] = w->fresh[w->n_new] = UINT64_MAX;
}

/* The slots of all in order: by time first, then the equal ones. */
static void merge(struct window *w, u16 *next)
{
	u32 all = w->n_held + w->n_new, held = 0, fresh = 0, i, k;

	sort_keys(w);
	for (i = 0; i < all; i++) {
		u64 a = w->held[held], b = w->fresh[fresh];
		/* Either may be next, unforeseeably: no branch. */
		bool old = a >> SLOT_BITS <= b >> SLOT_BITS;

		next[i] = (old ? a : b) & (SLOTS - 1);
		held += old;
		fresh += !old;
	}
	for (i = 0; i < all; i = k) {
		for (k = i + 1; k < all && w->ts_ns[next[k]] == w->ts_ns[next[i]];)
			k++;
		if (k - i > 1)
			qsort_r(next + i, k - i, sizeof(*next), compare_tied, w);
	}
}

/* Merges the new ones into those that are held, and lets the first n leave. */
static int leave(struct window *w, u32 n)
{
	u32 all = w->n_held + w->n_new, i, k, batch;
	const struct ev_nvme_kv *e[WINDOW_BATCH];
	u16 next[SLOTS];
	int ret = 0;

	merge(w, next);
	memcpy(next + all, w->order + w->n_held, (HALF - w->n_held) * sizeof(*next));
	memcpy(next + HALF + w->n_new, w->order + HALF + w->n_new, (HALF - w->n_new) * sizeof(*next));
	for (i = 0; !ret && i < n; i += batch) {
		batch = MIN(n - i, (u32)WINDOW_BATCH);
		for (k = 0; k < batch; k++)
			e[k] = &w->slot[next[i + k]];
		ret = w->leave(w->arg, e, batch);
	}
	memcpy(w->order, next + n, (SLOTS - n) * sizeof(*next));
	memcpy(w->order + SLOTS - n, next, n * sizeof(*next));
	w->n_held = all - n;
	w->n_new = 0;
	return ret;
}

struct ev_nvme_kv *window_slot(struct window *w)
{
	return &w->slot[w->order[HALF + w->n_new]];
}

int window_take(struct window *w)
{
	u16 slot = w->order[HALF + w->n_new];

	w->ts_ns[slot] = w->slot[slot].cmd.ts_ns;
	/* A full window: one half of it stays. */
	return ++w->n_new < HALF ? 0 : leave(w, w->n_held);
}

int window_flush(struct window *w)
{
	return leave(w, w->n_held + w->n_new);
}
