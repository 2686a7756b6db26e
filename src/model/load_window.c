// SPDX-License-Identifier: Apache-2.0
#include "model/load_window.h"

#include <stdlib.h>
#include <string.h>

#include "lib/dist.h"

#define SLOT_BITS 13
#define SLOTS	  (1u << SLOT_BITS)
#define HALF	  (SLOTS / 2)

struct window {
	window_fn leave;
	void *arg;
	u32 n_held, n_new;
	/* Slots: the n_held in order of time; from HALF on the n_new as they came; all others are free. */
	u16 order[SLOTS];
	u64 key[HALF];
	struct ev_nvme_kv slot[SLOTS];
};

struct window *window_new(window_fn leave, void *arg)
{
	struct window *w = malloc(sizeof(*w));
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
	free(w);
}

static u64 time_of(const struct window *w, u16 slot)
{
	return w->slot[slot].cmd.ts_ns;
}

/* What sort_commands() goes by, as far as it is known here. */
static bool before(const struct window *w, u16 a, u16 b)
{
	const struct ev_nvme *x = &w->slot[a].cmd, *y = &w->slot[b].cmd;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns;
	return x->user_data != y->user_data ? x->user_data < y->user_data : x->slba < y->slba;
}

/* Puts the new ones in order: by time first, then the equal ones. */
static int sort_new(struct window *w)
{
	u16 *fresh = w->order + HALF;
	u64 base = UINT64_MAX;
	u32 i, k;
	int ret;

	for (i = 0; i < w->n_new; i++)
		base = MIN(base, time_of(w, fresh[i]));
	/* Times that a broken clock has far apart stay as they came. */
	for (i = 0; i < w->n_new; i++)
		w->key[i] = MIN(time_of(w, fresh[i]) - base, UINT64_MAX >> SLOT_BITS) << SLOT_BITS | fresh[i];
	ret = u64_sort(w->key, w->n_new);
	for (i = 0; !ret && i < w->n_new; i++) {
		u16 slot = w->key[i] & (SLOTS - 1);

		for (k = i; k && time_of(w, fresh[k - 1]) == time_of(w, slot) && before(w, slot, fresh[k - 1]); k--)
			fresh[k] = fresh[k - 1];
		fresh[k] = slot;
	}
	return ret;
}

/* Merges the new ones into those that are held, and lets the first n leave. */
static int leave(struct window *w, u32 n)
{
	u32 all = w->n_held + w->n_new, held = 0, fresh = 0, i;
	u16 next[SLOTS];
	int ret = sort_new(w);

	if (ret)
		return ret;
	for (i = 0; i < all; i++) {
		bool old =
			fresh == w->n_new || (held < w->n_held && !before(w, w->order[HALF + fresh], w->order[held]));

		next[i] = old ? w->order[held++] : w->order[HALF + fresh++];
	}
	for (; held < HALF; held++)
		next[i++] = w->order[held];
	for (; fresh < HALF; fresh++)
		next[i++] = w->order[HALF + fresh];
	for (i = 0; !ret && i < n; i++)
		ret = w->leave(w->arg, &w->slot[next[i]]);
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
	/* A full window: one half of it stays. */
	return ++w->n_new < HALF ? 0 : leave(w, w->n_held);
}

int window_flush(struct window *w)
{
	return leave(w, w->n_held + w->n_new);
}
