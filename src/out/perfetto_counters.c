// SPDX-License-Identifier: Apache-2.0
/* Counters; commands and bytes per time bucket, and the spans of IO activity. */
#include <stdio.h>

#include "out/perfetto_writer.h"

#define MS_NS	    1000000ull
#define MBS_NS	    10000000ull
#define ACTIVITY_NS PF_WIDEST_BUCKET_NS

void pf_count_again(struct pf_writer *w, u64 ns, const struct pf_counter *c)
{
	if (!c->known)
		return;
	pf_event(w, ns, TYPE_COUNTER, c->track);
	if (c->is_double)
		pb_double(&w->b, EVENT_DOUBLE_COUNTER_VALUE, c->value.x);
	else
		pb_s64(&w->b, EVENT_COUNTER_VALUE, c->value.n);
	pf_event_end(w);
}

void pf_count(struct pf_writer *w, u64 ns, struct pf_counter *c, s64 v)
{
	c->value.n = v;
	c->known = true;
	pf_count_again(w, ns, c);
}

void pf_count_double(struct pf_writer *w, u64 ns, struct pf_counter *c, double v)
{
	c->value.x = v;
	c->known = c->is_double = true;
	pf_count_again(w, ns, c);
}

static u32 next_counted(const struct pf_unit *u, u32 at)
{
	while (at < u->n_rows && !pf_counted(u->arm, pf_row(u, at)))
		at++;
	return at;
}

/* Start of the bucket of the next command, PF_DONE when there is none. */
static u64 next_start(const struct pf_bucket *b)
{
	const struct pf_unit *u = b->unit;
	u64 t;

	if (b->at >= u->n_rows)
		return PF_DONE;
	t = pf_time(u->arm, u->arm->m->cmd.ts_ns[pf_row(u, b->at)]);
	return t - t % b->width_ns;
}

/* Counts the next bucket; a run of buckets without a gap when `run` is set. */
static void load(struct pf_bucket *b, bool run)
{
	const struct pf_unit *u = b->unit;

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
		b->bytes += u->arm->m->cmd.bytes[pf_row(u, b->at)];
		b->at = next_counted(u, b->at + 1);
	}
}

/* The value at the start of a bucket; a zero behind one that is followed by nothing. */
static void emit_counter(struct pf_writer *w, struct pf_source *s)
{
	struct pf_bucket *b = (struct pf_bucket *)s;
	struct pf_unit *u = b->unit;

	if (b == &u->ms)
		pf_count(w, s->next_ns, &u->cmds, (s64)b->cmds);
	else
		/* bytes / 10 ms in 10^6 bytes / s */
		pf_count_double(w, s->next_ns, &u->mbs, (double)b->bytes * 1e-4);
	if (b->closing || next_start(b) == b->end_ns) {
		b->closing = false;
		load(b, false);
		return;
	}
	b->cmds = b->bytes = 0;
	b->closing = true;
	s->next_ns = b->end_ns;
}

static void begin_activity(struct pf_writer *w, const struct pf_bucket *b, u64 now)
{
	char name[48];
	int n = snprintf(name, sizeof(name), "%.1f GB", (double)b->bytes / 1e9);

	pf_event(w, now, TYPE_BEGIN, b->unit->track_activity);
	pb_u64(&w->b, EVENT_NAME_IID, pf_event_name(w, name, (size_t)n));
	pf_arg_u64(w, ARG_cmds, b->cmds);
	pf_arg_u64(w, ARG_bytes, b->bytes);
	pf_arg_double(w, ARG_gbps, (double)b->bytes / (double)(b->end_ns - now));
	pf_event_end(w);
}

static void emit_activity(struct pf_writer *w, struct pf_source *s)
{
	struct pf_bucket *b = (struct pf_bucket *)s;

	if (b->closing) {
		if (!b->silent)
			pf_end_slice(w, s->next_ns, b->unit->track_activity);
		b->closing = false;
		load(b, true);
		return;
	}
	begin_activity(w, b, s->next_ns);
	b->silent = false;
	b->closing = true;
	s->next_ns = b->end_ns;
}

static void start(struct pf_bucket *b, struct pf_unit *u, u64 width_ns, enum pf_order order)
{
	*b = (struct pf_bucket){
		.source = { .arm = u->arm, .order = order, .emit = order == ORDER_SPANS ? emit_activity : emit_counter },
		.unit = u,
		.width_ns = width_ns,
		.at = next_counted(u, 0),
	};
	load(b, order == ORDER_SPANS);
}

void pf_counters_start(struct pf_unit *u)
{
	start(&u->ms, u, MS_NS, ORDER_COUNTERS);
	start(&u->mbs10, u, MBS_NS, ORDER_COUNTERS);
	start(&u->activity, u, ACTIVITY_NS, ORDER_SPANS);
}
