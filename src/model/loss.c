// SPDX-License-Identifier: Apache-2.0
/* When events were lost: between two running accounts, of which the later says more. */
#include <errno.h>
#include <stdlib.h>

#include "capture/event.h"
#include "model/measure.h"
#include "model/tables.h"

struct loss_tick {
	u64 ts_ns, lost;
	u32 input, witness;
};

int add_loss_tick(struct model *m, u64 ts_ns, u32 witness, const struct account *a)
{
	struct loading *l = m->loading;
	int ret = grow(&l->tick, &l->cap_ticks, l->n_ticks, sizeof(*l->tick));

	if (!ret)
		l->tick[l->n_ticks++] =
			(struct loss_tick){ ts_ns, a->ring_full + a->map_full + a->hook_missed + a->unread, l->n_inputs,
					    witness };
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

	c = c ? c : compare(a->witness, b->witness);
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
	struct loss_tick sum = { .ts_ns = UINT64_MAX };
	u64 first = first_time(m), last = l->n_ticks ? capture_end(m) : 0;
	u32 i;

	if (!l->n_ticks)
		return 0;
	m->loss = malloc(l->n_ticks * sizeof(*m->loss));
	if (!m->loss)
		return -ENOMEM;
	qsort(l->tick, l->n_ticks, sizeof(*l->tick), by_input);
	for (i = 0; i < l->n_ticks; i++) {
		const struct loss_tick *t = &l->tick[i];
		bool same_input = i && t[-1].input == t->input;
		bool of_all = t->witness == EV_WITNESSES, known = same_input && (of_all || t[-1].witness == t->witness);
		u64 before = 0, begin, end = t->ts_ns;

		if (!same_input)
			sum = (struct loss_tick){ .ts_ns = UINT64_MAX };
		if (of_all)
			before = sum.lost;
		else if (known)
			before = t[-1].lost;
		begin = !known ? MIN(first, end ? end - 1 : 0) : of_all ? sum.ts_ns : t[-1].ts_ns;
		if (end == UINT64_MAX)
			end = known ? MAX(last, begin) : last;
		if (t->lost > before)
			m->loss[m->n_losses++] = (struct loss){ MIN(begin, end), end, t->lost - before };
		/* What all tracers had lost when they last said so. */
		if (i + 1 == l->n_ticks || t[1].witness != t->witness || t[1].input != t->input) {
			sum.lost += t->lost;
			sum.ts_ns = MIN(sum.ts_ns, t->ts_ns);
		}
	}
	qsort(m->loss, m->n_losses, sizeof(*m->loss), by_time);
	return 0;
}
