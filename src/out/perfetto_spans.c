// SPDX-License-Identifier: Apache-2.0
/* Slices with a known begin and end on lanes, for objects and requests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/perfetto_writer.h"

/* Counts the lanes; the same walk as that of the events, so that both agree. */
int pf_spans_lanes(const struct pf_draw *a, struct pf_spans *s)
{
	u32 i;

	for (i = 0; i < s->n; i++) {
		const struct pf_span *p = &s->span[i];

		lanes_advance(&s->lanes, pf_time(a, p->begin_ns));
		if (lanes_take(&s->lanes, pf_end_time(a, p->begin_ns, p->end_ns), false) < 0)
			return -ENOMEM;
	}
	s->n_lanes = s->lanes.n;
	lanes_reset(&s->lanes);
	s->ended = malloc((s->n_lanes + 1ul) * sizeof(*s->ended));
	return s->ended ? 0 : -ENOMEM;
}

static void begin(struct pf_writer *w, struct pf_spans *s, u64 now)
{
	const struct pf_draw *a = s->source.arm;
	const struct pf_span *p = &s->span[s->next++];
	u64 end = pf_end_time(a, p->begin_ns, p->end_ns);
	s64 lane = lanes_take(&s->lanes, end, false);

	if (lane < 0) {
		w->ret = -ENOMEM;
		return;
	}
	if (s->open)
		pf_count(w, now, s->open, s->open->value.n + 1);
	if (!s->describe)
		return;
	pf_event(w, now, TYPE_BEGIN, s->track + (u32)lane);
	s->describe(w, s, p);
	pf_event_end(w);
	s->drawn->slices++;
	s->drawn->n += p->n;
	s->drawn->amount += p->amount;
}

/* Ends everything that ends now; the lanes stay taken until they are given back. */
static u32 end(struct pf_writer *w, struct pf_spans *s, u64 now, u32 n_ended)
{
	const struct lane_slice *open;

	while ((open = lanes_next(&s->lanes)) && open->end_ns == now) {
		struct lane_slice done = lanes_pop(&s->lanes);

		if (s->open)
			pf_count(w, now, s->open, s->open->value.n - 1);
		if (s->describe && !done.silent)
			pf_end_slice(w, now, s->track + done.lane);
		s->ended[n_ended++] = done.lane;
	}
	return n_ended;
}

static u64 next_time(const struct pf_spans *s)
{
	const struct lane_slice *open = lanes_next(&s->lanes);
	u64 next = s->next < s->n ? pf_time(s->source.arm, s->span[s->next].begin_ns) : PF_DONE;

	return open ? MIN(open->end_ns, next) : next;
}

static void emit(struct pf_writer *w, struct pf_source *source)
{
	struct pf_spans *s = (struct pf_spans *)source;
	const struct pf_draw *a = source->arm;
	u64 now = source->next_ns;
	u32 n;

	/* Down before up, so that a hand-over at one time is no overlap; spans of no length end last. */
	n = end(w, s, now, 0);
	while (s->next < s->n && pf_time(a, s->span[s->next].begin_ns) == now && !w->ret)
		begin(w, s, now);
	n = end(w, s, now, n);
	while (n)
		lanes_idle(&s->lanes, s->ended[--n]);
	source->next_ns = next_time(s);
}

void pf_spans_start(struct pf_draw *a, struct pf_spans *s)
{
	s->source = (struct pf_source){ .emit = emit, .order = ORDER_SPANS, .arm = a };
	s->source.next_ns = next_time(s);
}

int pf_spans_copy(struct pf_spans *to, const struct pf_spans *from)
{
	*to = (struct pf_spans){ .n = from->n };
	to->span = malloc((from->n + 1ul) * sizeof(*to->span));
	if (!to->span)
		return -ENOMEM;
	memcpy(to->span, from->span, from->n * sizeof(*to->span));
	return 0;
}

void pf_spans_free(struct pf_spans *s)
{
	free(s->span);
	free(s->durations);
	free(s->ended);
	lanes_free(&s->lanes);
}
