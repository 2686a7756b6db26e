// SPDX-License-Identifier: Apache-2.0
/* When events were lost, as slices: between two accounts of the recorder. */
#include <errno.h>
#include <stdlib.h>

#include "out/perfetto_writer.h"

/* All losses are alike. */
static u64 class_of(const struct pf_draw *a, const struct pf_span *s)
{
	(void)a;
	(void)s;
	return 0;
}

static void describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s)
{
	struct buf name = {};

	(void)x;
	buf_printf(&name, "LOST %llu event%s", (unsigned long long)s->amount, s->amount == 1 ? "" : "s");
	w->b.failed |= name.failed;
	pb_u64(&w->b, EVENT_NAME_IID, pf_event_name(w, name.p, name.n));
	buf_free(&name);
	pf_arg_u64(w, ARG_dropped, s->amount);
}

int pf_losses_prepare(struct pf_draw *a)
{
	const struct model *m = a->m;
	struct pf_spans *s = &a->losses;
	u32 i;

	s->span = malloc((m->n_losses + 1ul) * sizeof(*s->span));
	if (!s->span)
		return -ENOMEM;
	for (i = 0; i < m->n_losses; i++) {
		const struct loss *l = &m->loss[i];

		a->first_ns = MIN(a->first_ns, l->begin_ns);
		s->span[s->n++] = (struct pf_span){
			.begin_ns = l->begin_ns,
			.end_ns = MAX(l->end_ns, l->begin_ns + 1),
			.amount = l->n,
			.item = i,
			.n = 1,
		};
	}
	s->describe = describe;
	s->class = class_of;
	s->drawn = &a->stats->losses;
	return 0;
}
