// SPDX-License-Identifier: Apache-2.0
/* Requests of the serving engine on lanes of their own process. */
#include <errno.h>
#include <stdlib.h>

#include "out/perfetto_detail.h"
#include "out/perfetto_writer.h"

static int by_time(const void *x, const void *y)
{
	const struct pf_span *a = x, *b = y;
	int c = pf_compare(a->begin_ns, b->begin_ns);

	c = c ? c : pf_compare(a->end_ns, b->end_ns);
	return c ? c : pf_compare(a->item, b->item);
}

static u64 class_of(const struct pf_draw *a, const struct pf_span *s)
{
	return a->m->serving.name[s->item];
}

/* "prefill x12": several of one name. */
static void describe_group(struct pf_writer *w, const struct pf_draw *a, const struct pf_span *s)
{
	const struct strpool *pool = &a->m->strings;
	const struct median *d = &a->serving.durations[s - a->serving.span];
	u32 op = a->m->serving.name[s->item];
	struct buf name = {};

	buf_add(&name, strpool_get(pool, op), strpool_len(pool, op));
	buf_printf(&name, " x%u", s->n);
	pb_u64(&w->b, EVENT_NAME_IID, pf_event_name(w, name.p, name.n));
	w->b.failed |= name.failed;
	buf_free(&name);
	pf_arg_id(w, ARG_op, pool, op);
	pf_arg_u64(w, ARG_n, s->n);
	pf_arg_u64(w, ARG_tokens, s->amount);
	pf_arg_u64(w, ARG_dur_p50_ns, d->p50);
	pf_arg_u64(w, ARG_dur_max_ns, d->max);
}

static void describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s)
{
	const struct pf_draw *a = x->source.arm;
	const struct strpool *pool = &a->m->strings;
	const struct span_table *t = &a->m->serving;
	u32 name = t->name[s->item], id = t->request_id[s->item];

	if (s->n > 1) {
		describe_group(w, a, s);
		return;
	}
	pb_u64(&w->b, EVENT_NAME_IID, pf_event_name(w, strpool_get(pool, name), strpool_len(pool, name)));
	pf_arg_id(w, ARG_op, pool, name);
	if (t->tokens[s->item] != NO_NUMBER)
		pf_arg_u64(w, ARG_tokens, t->tokens[s->item]);
	if (id && w->o->redact)
		pf_arg_secret_id(w, ARG_request_id, SECRET_REQUEST, pool, id);
	else if (id)
		pf_arg_string(w, ARG_request_id, strpool_get(pool, id), strpool_len(pool, id));
	pf_arg_double(w, ARG_ms, (double)(s->end_ns - s->begin_ns) / 1e6);
}

int pf_serving_prepare(struct pf_draw *a)
{
	const struct span_table *t = &a->m->serving;
	struct pf_spans *s = &a->serving;
	u32 i;

	s->span = malloc((t->n + 1ul) * sizeof(*s->span));
	if (!s->span)
		return -ENOMEM;
	for (i = 0; i < t->n; i++) {
		a->first_ns = MIN(a->first_ns, t->start_ns[i]);
		s->span[s->n++] = (struct pf_span){
			.begin_ns = t->start_ns[i],
			/* A slice has a length. */
			.end_ns = MAX(t->end_ns[i], t->start_ns[i] + 1),
			.amount = t->tokens[i] == NO_NUMBER ? 0 : t->tokens[i],
			.item = i,
			.n = 1,
		};
	}
	qsort(s->span, s->n, sizeof(*s->span), by_time);
	s->describe = describe;
	s->class = class_of;
	s->drawn = &a->stats->requests;
	return 0;
}
