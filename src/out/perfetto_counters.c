// SPDX-License-Identifier: Apache-2.0
/* Commands and bytes per time bucket, and the spans of IO activity. */
#include <stdio.h>

#include "out/perfetto_writer.h"

#define MS_NS	    1000000ull
#define MBS_NS	    10000000ull
#define ACTIVITY_NS 100000000ull

static u32 next_counted(const struct pf_arm *a, u32 row)
{
	while (row < a->m->cmd.n && !pf_counted(a, row))
		row++;
	return row;
}

/* Start of the bucket of the next command, PF_DONE when there is none. */
static u64 next_start(const struct pf_bucket *b)
{
	const struct pf_arm *a = b->source.arm;
	u64 t;

	if (b->row >= a->m->cmd.n)
		return PF_DONE;
	t = pf_time(a, a->m->cmd.ts_ns[b->row]);
	return t - t % b->width_ns;
}

/* Counts the next bucket; a run of buckets without a gap when `run` is set. */
static void load(struct pf_bucket *b, bool run)
{
	const struct pf_arm *a = b->source.arm;

	b->cmds = b->bytes = 0;
	b->source.next_ns = next_start(b);
	if (b->source.next_ns == PF_DONE)
		return;
	b->end_ns = b->source.next_ns + b->width_ns;
	for (;;) {
		u64 start = next_start(b);

		if (run && start == b->end_ns)
			b->end_ns += b->width_ns;
		if (start >= b->end_ns)
			return;
		b->cmds++;
		b->bytes += a->m->cmd.bytes[b->row];
		b->row = next_counted(a, b->row + 1);
	}
}

static void sample(struct pf_writer *w, const struct pf_arm *a, const struct pf_bucket *b, u64 now)
{
	if (b == &a->ms) {
		pf_count(w, now, a->track_cmds, (s64)b->cmds);
		return;
	}
	pf_event(w, now, TYPE_COUNTER, a->track_mbs);
	/* bytes / 10 ms in 10^6 bytes / s */
	pb_double(&w->b, EVENT_DOUBLE_COUNTER_VALUE, (double)b->bytes * 1e-4);
	pf_event_end(w);
}

/* The value at the start of a bucket; a zero behind one that is followed by nothing. */
static void emit_counter(struct pf_writer *w, struct pf_arm *a, struct pf_source *s)
{
	struct pf_bucket *b = (struct pf_bucket *)s;

	sample(w, a, b, s->next_ns);
	if (b->closing || next_start(b) == b->end_ns) {
		b->closing = false;
		load(b, false);
		return;
	}
	b->cmds = b->bytes = 0;
	b->closing = true;
	s->next_ns = b->end_ns;
}

static void emit_activity(struct pf_writer *w, struct pf_arm *a, struct pf_source *s)
{
	struct pf_bucket *b = (struct pf_bucket *)s;
	char name[48];
	int n;

	if (b->closing) {
		pf_end_slice(w, s->next_ns, a->track_activity);
		b->closing = false;
		load(b, true);
		return;
	}
	n = snprintf(name, sizeof(name), "%.1f GB", (double)b->bytes / 1e9);
	pf_event(w, s->next_ns, TYPE_BEGIN, a->track_activity);
	pb_u64(&w->b, EVENT_NAME_IID, pf_event_name(w, name, (size_t)n));
	pf_arg_u64(w, ARG_cmds, b->cmds);
	pf_arg_u64(w, ARG_bytes, b->bytes);
	pf_arg_double(w, ARG_gbps, (double)b->bytes / (double)(b->end_ns - s->next_ns));
	pf_event_end(w);
	b->closing = true;
	s->next_ns = b->end_ns;
}

static void start(struct pf_bucket *b, struct pf_arm *a, u64 width_ns, enum pf_order order)
{
	*b = (struct pf_bucket){
		.source = { .arm = a, .order = order, .emit = order == ORDER_SPANS ? emit_activity : emit_counter },
		.width_ns = width_ns,
		.row = next_counted(a, 0),
	};
	load(b, order == ORDER_SPANS);
}

void pf_counters_start(struct pf_arm *a)
{
	start(&a->ms, a, MS_NS, ORDER_COUNTERS);
	start(&a->mbs, a, MBS_NS, ORDER_COUNTERS);
	start(&a->activity, a, ACTIVITY_NS, ORDER_SPANS);
}
