// SPDX-License-Identifier: Apache-2.0
/* Instants of one track: sorted by time, folded when they are many, drawn one after the other. */
#include <errno.h>
#include <stdlib.h>

#include "out/perfetto_detail.h"
#include "out/perfetto_writer.h"

int pf_instants_room(struct pf_instants *x, u64 n)
{
	x->v = malloc((n + 1) * sizeof(*x->v));
	return x->v ? 0 : -ENOMEM;
}

void pf_instants_add(struct pf_instants *x, u64 ns, enum pf_instant_kind kind, u32 item, u64 bytes)
{
	x->v[x->n++] = (struct pf_instant){ .ns = ns, .bytes = bytes, .item = item, .n = 1, .kind = kind };
}

/* Items are sorted by content in the model, so their number decides. */
static int by_time(const void *x, const void *y)
{
	const struct pf_instant *a = x, *b = y;
	int c = pf_compare(a->ns, b->ns);

	c = c ? c : pf_compare(a->kind, b->kind);
	return c ? c : pf_compare(a->item, b->item);
}

void pf_instants_sort(const struct pf_draw *a, struct pf_instants *x)
{
	u32 i;

	for (i = 0; i < x->n; i++)
		x->v[i].ns = pf_time(a, x->v[i].ns);
	qsort(x->v, x->n, sizeof(*x->v), by_time);
}

static u64 class_of(const struct pf_draw *a, const struct pf_instant *p)
{
	u32 name = p->kind == INSTANT_OBJECT	? a->m->op.name[p->item]
		   : p->kind >= INSTANT_COMMAND ? a->m->cmd.name[p->item]
						: 0;

	return (u64)name << 32 | p->kind;
}

/* Of each class, and, by the number of the instant, its class. */
struct state {
	u64 last_ns;
	u32 open, class;
};

static int count_bins(const struct pf_draw *a, const struct pf_instants *x, struct numbers *class, struct bins *bins,
		      struct state *state)
{
	u32 i;

	for (i = 0; i < x->n; i++) {
		u32 known = class->n;
		s64 k = number_of(class, class_of(a, &x->v[i]));

		if (k < 0)
			return (int)k;
		if ((u32)k == known) {
			bins->n_keys++;
			state[k].open = NONE;
		} else {
			bins_step(bins, state[k].last_ns, x->v[i].ns);
		}
		state[k].last_ns = x->v[i].ns;
		state[i].class = (u32)k;
	}
	return 0;
}

static void fold(struct pf_instants *x, u32 shift, struct state *state)
{
	u32 n = 0, i;

	for (i = 0; i < x->n; i++) {
		struct pf_instant p = x->v[i];
		struct state *s = &state[state[i].class];

		if (s->open == NONE || bin_of(s->last_ns, shift) != bin_of(p.ns, shift)) {
			s->open = n;
			x->v[n++] = p;
		} else {
			x->v[s->open].n += p.n;
			x->v[s->open].bytes += p.bytes;
		}
		s->last_ns = p.ns;
	}
	x->n = n;
}

int pf_instants_group(const struct pf_draw *a, struct pf_instants *x, u64 most)
{
	struct numbers class = {};
	struct bins bins = {};
	struct state *state;
	int ret = -ENOMEM;

	if (x->n <= most)
		return 0;
	state = calloc(x->n + 1ul, sizeof(*state));
	if (state)
		ret = count_bins(a, x, &class, &bins, state);
	if (!ret)
		fold(x, bins_choose(&bins, most), state);
	numbers_free(&class);
	free(state);
	return ret;
}

void pf_instant(struct pf_writer *w, u64 ns, u32 track, const struct buf *name)
{
	pf_event(w, ns, TYPE_INSTANT, track);
	w->b.failed |= name->failed;
	pb_u64(&w->b, EVENT_NAME_IID, pf_event_name(w, name->p, name->n));
}

static void emit(struct pf_writer *w, struct pf_source *s)
{
	struct pf_instants *x = (struct pf_instants *)s;

	while (x->next < x->n && x->v[x->next].ns == s->next_ns)
		x->draw(w, x, &x->v[x->next++]);
	s->next_ns = x->next < x->n ? x->v[x->next].ns : PF_DONE;
}

void pf_instants_start(struct pf_draw *a, struct pf_instants *x)
{
	x->source = (struct pf_source){ .emit = emit, .order = ORDER_INFO, .arm = a };
	x->source.next_ns = x->n ? x->v[0].ns : PF_DONE;
}
