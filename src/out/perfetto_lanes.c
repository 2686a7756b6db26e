// SPDX-License-Identifier: Apache-2.0
#include "out/perfetto_lanes.h"

#include <errno.h>
#include <stdlib.h>

static bool earlier(const struct lane_slice *a, const struct lane_slice *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->lane < b->lane;
}

static void busy_push(struct lanes *l, struct lane_slice s)
{
	u32 i = l->n_busy++;

	while (i && earlier(&s, &l->busy[(i - 1) / 2])) {
		l->busy[i] = l->busy[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	l->busy[i] = s;
}

struct lane_slice lanes_pop(struct lanes *l)
{
	struct lane_slice top = l->busy[0], last = l->busy[--l->n_busy];
	u32 i = 0, child;

	for (; (child = 2 * i + 1) < l->n_busy; i = child) {
		if (child + 1 < l->n_busy && earlier(&l->busy[child + 1], &l->busy[child]))
			child++;
		if (!earlier(&l->busy[child], &last))
			break;
		l->busy[i] = l->busy[child];
	}
	l->busy[i] = last;
	return top;
}

void lanes_idle(struct lanes *l, u32 lane)
{
	u32 i = l->n_idle++;

	while (i && lane < l->idle[(i - 1) / 2]) {
		l->idle[i] = l->idle[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	l->idle[i] = lane;
}

static u32 idle_pop(struct lanes *l)
{
	u32 top = l->idle[0], last = l->idle[--l->n_idle];
	u32 i = 0, child;

	for (; (child = 2 * i + 1) < l->n_idle; i = child) {
		if (child + 1 < l->n_idle && l->idle[child + 1] < l->idle[child])
			child++;
		if (last <= l->idle[child])
			break;
		l->idle[i] = l->idle[child];
	}
	l->idle[i] = last;
	return top;
}

/* Room in both heaps for one lane more. */
static bool grow(struct lanes *l)
{
	u32 cap = l->cap ? l->cap * 2 : 16;
	void *p;

	p = reallocarray(l->busy, cap, sizeof(*l->busy));
	if (!p)
		return false;
	l->busy = p;
	p = reallocarray(l->idle, cap, sizeof(*l->idle));
	if (!p)
		return false;
	l->idle = p;
	l->cap = cap;
	return true;
}

s64 lanes_take(struct lanes *l, u64 end_ns, u32 item)
{
	u32 lane;

	if (l->n_idle) {
		lane = idle_pop(l);
	} else {
		if (l->n == l->cap && !grow(l))
			return -ENOMEM;
		lane = l->n++;
	}
	busy_push(l, (struct lane_slice){ end_ns, lane, item });
	return lane;
}

void lanes_reset(struct lanes *l)
{
	l->n_busy = l->n_idle = l->n = 0;
}

void lanes_free(struct lanes *l)
{
	free(l->busy);
	free(l->idle);
	*l = (struct lanes){};
}
