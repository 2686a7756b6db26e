// SPDX-License-Identifier: Apache-2.0
/* When events were lost: between two running accounts, of which the later says more. */
#include <errno.h>
#include <stdlib.h>

#include "model/measure.h"
#include "model/tables.h"

struct loss_tick {
	u64 ts_ns, lost;
	u32 input;
};

int add_loss_tick(struct model *m, u64 ts_ns, const struct account *a)
{
	struct loading *l = m->loading;
	int ret = grow(&l->tick, &l->cap_ticks, l->n_ticks, sizeof(*l->tick));

	if (!ret)
		l->tick[l->n_ticks++] =
			(struct loss_tick){ ts_ns, a->ring_full + a->map_full + a->hook_missed, l->n_inputs };
	return ret;
}

static int compare(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static int by_input(const void *x, const void *y)
{
	const struct loss_tick *a = x, *b = y;
	int c = compare(a->input, b->input);

	c = c ? c : compare(a->ts_ns, b->ts_ns);
	return c ? c : compare(a->lost, b->lost);
}

static int by_time(const void *x, const void *y)
{
	const struct loss *a = x, *b = y;
	int c = compare(a->begin_ns, b->begin_ns);

	c = c ? c : compare(a->end_ns, b->end_ns);
	return c ? c : compare(a->n, b->n);
}

/* What is known of the begin of a recording that has no account before its first loss. */
static u64 first_time(const struct model *m)
{
	u64 first = m->cmd.n ? m->cmd.ts_ns[0] : UINT64_MAX;
	u32 i;

	for (i = 0; i < m->n_anchors; i++)
		first = MIN(first, m->anchor[i].monotonic_ns);
	return first;
}

int find_losses(struct model *m)
{
	struct loading *l = m->loading;
	u64 first = first_time(m), last = l->n_ticks ? capture_end(m) : 0;
	u32 i;

	if (!l->n_ticks)
		return 0;
	m->loss = malloc(l->n_ticks * sizeof(*m->loss));
	if (!m->loss)
		return -ENOMEM;
	qsort(l->tick, l->n_ticks, sizeof(*l->tick), by_input);
	for (i = 0; i < l->n_ticks; i++) {
		const struct loss_tick *t = &l->tick[i], *before = i && t[-1].input == t->input ? &t[-1] : NULL;
		u64 end = t->ts_ns, begin = before ? before->ts_ns : MIN(first, end ? end - 1 : 0);

		if (t->lost <= (before ? before->lost : 0))
			continue;
		if (end == UINT64_MAX)
			end = before ? MAX(last, begin) : last;
		m->loss[m->n_losses++] = (struct loss){ MIN(begin, end), end, t->lost - (before ? before->lost : 0) };
	}
	qsort(m->loss, m->n_losses, sizeof(*m->loss), by_time);
	return 0;
}
