// SPDX-License-Identifier: Apache-2.0
#include "out/perfetto_lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN 4

static bool earlier(const struct lane_slice *a, const struct lane_slice *b)
{
	/* One comparison without a branch between the two. */
	return ((unsigned __int128)a->end_ns << 64 | a->lane) < ((unsigned __int128)b->end_ns << 64 | b->lane);
}

static void busy_push(struct lanes *l, struct lane_slice s)
{
	u32 i = l->n_busy++, parent;

	for (; i; i = parent) {
		parent = (i - 1) / CHILDREN;
		if (!earlier(&s, &l->busy[parent]))
			break;
		l->busy[i] = l->busy[parent];
	}
	l->busy[i] = s;
}

struct lane_slice lanes_pop(struct lanes *l)
{
	struct lane_slice top = l->busy[0], last = l->busy[--l->n_busy];
	u32 i = 0, child, k, first;

	for (; (first = CHILDREN * i + 1) < l->n_busy; i = child) {
		child = first;
		for (k = first + 1; k < first + CHILDREN && k < l->n_busy; k++)
			child = earlier(&l->busy[k], &l->busy[child]) ? k : child;
		if (!earlier(&l->busy[child], &last))
			break;
		l->busy[i] = l->busy[child];
	}
	l->busy[i] = last;
	return top;
}

void lanes_idle(struct lanes *l, u32 lane)
{
	u32 k;

	l->n_idle++;
	for (k = 0; k < LANE_LEVELS; k++, lane /= 64)
		l->idle[k][lane / 64] |= 1ull << lane % 64;
}

/* Takes the lowest idle lane.  There must be one. */
static u32 idle_pop(struct lanes *l)
{
	u32 at = 0, lane, k;

	while (!l->idle[LANE_LEVELS - 1][at])
		at++;
	for (k = LANE_LEVELS; k-- > 0;)
		at = at * 64 + (u32)__builtin_ctzll(l->idle[k][at]);
	lane = at;
	for (k = 0; k < LANE_LEVELS; k++, at /= 64) {
		l->idle[k][at / 64] &= ~(1ull << at % 64);
		if (l->idle[k][at / 64])
			break;
	}
	l->n_idle--;
	return lane;
}

static u32 words(u32 cap, u32 level)
{
	return (u32)((((u64)cap - 1) >> (6 * (level + 1))) + 1);
}

/* Room for more lanes in all of it. */
static bool grow(struct lanes *l)
{
	u32 cap = l->cap ? l->cap * 2 : 64, k;
	void *p;

	if (cap < l->cap)
		return false;
	p = reallocarray(l->busy, cap, sizeof(*l->busy));
	if (!p)
		return false;
	l->busy = p;
	for (k = 0; k < LANE_LEVELS; k++) {
		u32 had = l->idle[k] ? words(l->cap, k) : 0, now = words(cap, k);

		p = reallocarray(l->idle[k], now, sizeof(*l->idle[k]));
		if (!p)
			return false;
		l->idle[k] = p;
		memset(l->idle[k] + had, 0, (now - had) * sizeof(*l->idle[k]));
	}
	l->cap = cap;
	return true;
}

s64 lanes_take(struct lanes *l, u64 end_ns, bool silent)
{
	u32 lane;

	if (l->n_idle) {
		lane = idle_pop(l);
	} else {
		if (l->n == l->cap && !grow(l))
			return -ENOMEM;
		lane = l->n++;
	}
	busy_push(l, (struct lane_slice){ end_ns, lane, silent });
	return lane;
}

void lanes_reset(struct lanes *l)
{
	u32 k;

	for (k = 0; k < LANE_LEVELS && l->cap; k++)
		memset(l->idle[k], 0, words(l->cap, k) * sizeof(*l->idle[k]));
	l->n_busy = l->n_idle = l->n = 0;
}

void lanes_free(struct lanes *l)
{
	u32 k;

	free(l->busy);
	for (k = 0; k < LANE_LEVELS; k++)
		free(l->idle[k]);
	*l = (struct lanes){};
}
