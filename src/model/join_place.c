// SPDX-License-Identifier: Apache-2.0
/* Cuts commands at the edges of slots and gives each operation its bytes. */
#include <errno.h>
#include <stdlib.h>

#include "capture/nvme_names.h"
#include "model/join_slots.h"

#define OP_ZONE_APPEND 0x7d

/* The part of a command in one segment, or all of it when it lies in the slot of an operation that none fits better. */
struct piece {
	struct candidate best;
	size_t segment, next; /* from the first to before the next */
	u32 owner;	      /* NONE until decided */
};

struct places {
	struct slots slots;
	const struct join_options *o;
	struct piece *piece;
	u32 *sorted;
	struct place_part *part;
	size_t cap;
};

void places_free(struct places *x)
{
	if (!x)
		return;
	slots_free(&x->slots);
	free(x->piece);
	free(x->sorted);
	free(x->part);
	free(x);
}

int places_make(struct places **out, const struct model *m, const struct join_options *o, const bool *use)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->o = o;
	return slots_make(&(*out)->slots, m, use);
}

static int room(struct places *x, u32 n)
{
	size_t cap = MAX(x->cap * 2, (size_t)n + 8);
	void *p;

	if (n < x->cap)
		return 0;
	p = realloc(x->piece, cap * sizeof(*x->piece));
	if (!p)
		return -ENOMEM;
	x->piece = p;
	p = realloc(x->sorted, cap * sizeof(*x->sorted));
	if (!p)
		return -ENOMEM;
	x->sorted = p;
	p = realloc(x->part, cap * sizeof(*x->part));
	if (!p)
		return -ENOMEM;
	x->part = p;
	x->cap = cap;
	return 0;
}

/* The bytes that a command works on. */
struct extent {
	u64 begin, end, ts;
	enum dir dir;
	bool data;
};

/* An append names its zone, and the device chooses the place; a flush has none. */
static bool lba_counts(const struct cmd_table *t, u32 cmd, enum dir dir)
{
	return dir != DIR_NONE || (nvme_op_has_nlb(t->opcode[cmd]) && t->opcode[cmd] != OP_ZONE_APPEND);
}

/*
 * False when it has no place.  One behind all addresses is at the end of them,
 * and so is a command to which the LBA of its record means nothing.
 */
static bool extent_of(const struct places *x, u32 cmd, struct extent *e)
{
	const struct model *m = x->slots.m;
	const struct cmd_table *t = &m->cmd;
	u64 lba, len;

	e->ts = t->ts_ns[cmd];
	e->dir = cmd_dir(&x->slots.ways.cmd, m, cmd);
	if (!(t->flags[cmd] & CMD_HAS_SLBA))
		return false;
	lba = cmd_lba_bytes(m, x->o, cmd);
	len = t->bytes[cmd] ? t->bytes[cmd] : MAX(t->nlb[cmd] * lba, (u64)1);
	if (__builtin_mul_overflow(t->slba[cmd], lba, &e->begin) || !lba_counts(t, cmd, e->dir))
		e->begin = UINT64_MAX;
	e->begin = MIN(e->begin, UINT64_MAX - len);
	e->end = e->begin + len;
	e->data = t->bytes[cmd];
	return true;
}

static u64 piece_begin(const struct places *x, const struct extent *e, u32 i)
{
	return MAX(x->slots.edge[x->piece[i].segment], e->begin);
}

static int ask(struct places *x, const struct extent *e, u32 n, size_t segment)
{
	struct piece *p;

	if (room(x, n))
		return -ENOMEM;
	p = &x->piece[n];
	*p = (struct piece){ .segment = segment, .next = segment + 1, .owner = NONE };
	x->sorted[n] = n;
	slots_ask(&x->slots, segment, piece_begin(x, e, n), e->ts, e->dir, &p->best);
	return 0;
}

/* Cuts the command at the edges and asks for each piece.  The number of pieces, or -ENOMEM. */
static s64 cut(struct places *x, const struct extent *e)
{
	const struct slots *s = &x->slots;
	size_t segment;
	u32 n = 0;

	if (!s->n_segments || e->begin >= s->edge[s->n_segments] || e->end <= s->edge[0])
		return 0;
	for (segment = segment_at(s, e->begin); segment < s->n_segments && s->edge[segment] < e->end; segment++) {
		if (ask(x, e, n, segment))
			return -ENOMEM;
		/* Nearly always. */
		if (!n++ && x->piece->best.fit == FIT_FRESH && slot_end(s, x->piece->best.op) >= e->end) {
			x->piece->next = s->n_segments;
			return 1;
		}
	}
	return n;
}

static int by_fit(const void *a, const void *b, void *arg)
{
	const struct piece *p = arg, *x = &p[*(const u32 *)a], *y = &p[*(const u32 *)b];
	int c = compare_u64(x->best.fit, y->best.fit);

	c = c ? c : compare_u64(x->best.distance_ns, y->best.distance_ns);
	c = c ? c : compare_u64(x->best.op, y->best.op);
	return c ? c : compare_u64(*(const u32 *)a, *(const u32 *)b);
}

/* Gives an operation all its pieces, unless another that fits better has some of them: slots in use are disjoint. */
static void decide(const struct places *x, u32 n, u32 at)
{
	const u64 *edge = x->slots.edge;
	struct piece *p = x->piece;
	u32 op = p[at].best.op, from = at, to = at + 1, i;
	u64 begin = x->slots.m->op.slot_offset[op], end = slot_end(&x->slots, op);

	while (from && edge[p[from - 1].segment] >= begin)
		from--;
	while (to < n && edge[p[to].next] <= end)
		to++;
	for (i = from; i < to; i++)
		if (p[i].owner != NONE)
			return;
	for (i = from; i < to; i++)
		p[i].owner = op;
}

/* Remembers who had which bytes. */
static int take_pieces(struct places *x, const struct extent *e, u32 n)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < n && !ret; i++) {
		const struct piece *p = &x->piece[i];

		if (p->owner != NONE && p->owner == p->best.op)
			ret = slots_take(&x->slots, &p->best, piece_begin(x, e, i));
	}
	return ret;
}

/* How the command lies among the slots of all times. */
static void look_around(const struct places *x, const struct extent *e, u32 n, struct place_hit *hit)
{
	const struct slots *s = &x->slots;
	u32 bases = 0, covered = 0, i;
	bool begins_inside = false;

	for (i = 0; i < n; i++) {
		size_t segment = x->piece[i].segment;
		bool covers = slots_cover(s, segment);

		covered += covers;
		begins_inside |= covers && s->edge[segment] <= e->begin;
		bases += s->base[segment] && s->edge[segment] > e->begin;
	}
	hit->several = bases + begins_inside > 1;
	hit->spills = covered && (covered < n || e->begin < s->edge[0] || e->end > s->edge[s->n_segments]);
}

static void collect(const struct places *x, const struct extent *e, u32 n, struct place_hit *hit)
{
	u32 i;

	for (i = 0; i < n; i++) {
		const struct piece *p = &x->piece[i];
		u64 bytes = MIN(x->slots.edge[p->next], e->end) - piece_begin(x, e, i);

		if (p->owner == NONE)
			continue;
		if (!hit->n || x->part[hit->n - 1].op != p->owner)
			x->part[hit->n++] = (struct place_part){ .op = p->owner };
		x->part[hit->n - 1].bytes += bytes;
		hit->inside += bytes;
	}
	hit->part = x->part;
}

int places_find(struct places *x, u32 cmd, bool take, struct place_hit *hit)
{
	struct extent e;
	s64 n;
	u32 i;

	*hit = (struct place_hit){ .no_place = true };
	if (!extent_of(x, cmd, &e))
		return 0;
	n = cut(x, &e);
	if (n < 0)
		return (int)n;
	if (n > 1)
		qsort_r(x->sorted, (size_t)n, sizeof(*x->sorted), by_fit, x->piece);
	for (i = 0; i < n; i++) {
		const struct piece *p = &x->piece[x->sorted[i]];

		if (p->owner == NONE && p->best.op != NONE)
			decide(x, (u32)n, x->sorted[i]);
	}
	*hit = (struct place_hit){ .len = e.end - e.begin, .no_data = !e.data };
	collect(x, &e, (u32)n, hit);
	if (hit->n != 1 || hit->inside < hit->len)
		look_around(x, &e, (u32)n, hit);
	return take ? take_pieces(x, &e, (u32)n) : 0;
}
