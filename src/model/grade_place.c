// SPDX-License-Identifier: Apache-2.0
/* Where the commands of an operation are, held against where they belong, and what their bytes are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kv/layout.h"
#include "model/grade_work.h"

int grade_room(struct grade_work *w, u64 n)
{
	void *p;

	if (n <= w->cap)
		return 0;
	p = reallocarray(w->cmd, n, sizeof(*w->cmd));
	if (!p)
		return -ENOMEM;
	w->cmd = p;
	w->cap = n;
	return 0;
}

int grade_match(struct grade_work *w)
{
	w->row = calloc(w->m->op.n + 1ul, sizeof(*w->row));
	return w->row ? semantic_match(w->semantic, w->m, w->row) : -ENOMEM;
}

void grade_work_free(struct grade_work *w)
{
	free(w->row);
	free(w->cmd);
}

/* The range that the operation is to cover, and what is in it. */
struct target {
	u64 base, end;
	u64 bound[N_GRADE_PARTS]; /* the end of each part up to the padding */
};

/* Of a packed object the components tell the parts; an object of one plane is that plane. */
static void payload_parts(const struct grade_work *w, u32 op, u64 payload, u64 part[N_GRADE_PARTS])
{
	const struct semantic_op *s = w->row && w->row[op] != NONE ? &w->semantic->op[w->row[op]] : NULL;
	const char *name = strpool_get(&w->m->strings, w->m->op.part[op]);
	u64 planes;

	if (!strcmp(name, "k") || !strcmp(name, "v")) {
		part[*name == 'k' ? PART_K : PART_V] = payload;
		return;
	}
	if (!s || !(s->flags & SEM_HAS_COMPONENTS) || __builtin_add_overflow(s->k_bytes, s->v_bytes, &planes) ||
	    __builtin_add_overflow(planes, s->scale_bytes, &planes) || planes > payload) {
		part[PART_KV] = payload;
		return;
	}
	part[PART_CODEC_HEADER] = payload - planes;
	part[PART_K] = s->k_bytes;
	part[PART_V] = s->v_bytes;
	part[PART_SCALES] = s->scale_bytes;
}

/* False when the place of the operation is not known, or is none. */
static bool find_target(const struct grade_work *w, u32 op, struct target *t)
{
	const struct op_table *ops = &w->m->op;
	u64 part[N_GRADE_PARTS] = {}, header, at;
	u32 i;

	if (!(ops->flags[op] & OP_HAS_SLOT) || kv_round_up(w->o->header_bytes, w->o->align, &header))
		return false;
	t->base = ops->slot_offset[op];
	if (w->kv_op == KV_LOAD) {
		if (__builtin_add_overflow(t->base, header, &t->base))
			return false;
		header = 0;
	}
	part[PART_HEADER] = header;
	payload_parts(w, op, ops->bytes[op], part);
	if (__builtin_add_overflow(t->base, w->plan.device_bytes, &t->end) ||
	    header + ops->bytes[op] > w->plan.device_bytes)
		return false;
	part[PART_PADDING] = w->plan.device_bytes - header - ops->bytes[op];
	for (at = t->base, i = 0; i < PART_OUTSIDE; i++)
		t->bound[i] = at += part[i];
	return true;
}

/* The range of a command on the device.  False when it has none. */
static bool locate(const struct model *m, struct grade_cmd *c, const struct target *t, bool split)
{
	const struct cmd_table *cmds = &m->cmd;
	const struct device *d = cmds->dev[c->row] < m->n_devices ? &m->device[cmds->dev[c->row]] : NULL;
	u64 lba = d ? d->lba_bytes : 0, blocks = cmds->nlb[c->row], length;

	if (!(cmds->flags[c->row] & CMD_HAS_SLBA) || !blocks)
		return false;
	if ((!lba || d->lba_assumed) && !(d && d->ms) && cmds->bytes[c->row] && cmds->bytes[c->row] % blocks == 0)
		lba = cmds->bytes[c->row] / blocks;
	if (!lba || __builtin_mul_overflow(cmds->slba[c->row], lba, &c->begin) ||
	    __builtin_mul_overflow(blocks, lba, &length) || __builtin_add_overflow(c->begin, length, &c->end))
		return false;
	/* Of a command that serves several objects only what is of this one. */
	if (split) {
		c->begin = MAX(c->begin, t->base);
		c->end = MIN(c->end, t->end);
	}
	return c->begin <= c->end;
}

static void count_parts(struct grade_work *w, const struct target *t, u64 begin, u64 end)
{
	u64 *bytes = w->g->part_bytes[w->kv_op], at = t->base;
	u32 i;

	for (i = 0; i < PART_OUTSIDE; at = t->bound[i++]) {
		u64 from = MAX(at, begin), to = MIN(t->bound[i], end);

		if (from < to)
			bytes[i] += to - from;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct grade_cmd *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* As submitted: each command where and as large as the plan has it. */
static bool in_order(const struct grade_work *w, const struct target *t)
{
	u64 at = t->base, i;

	if (w->n != w->plan.commands)
		return false;
	for (i = 0; i < w->n; i++) {
		if (w->cmd[i].begin != at || w->cmd[i].bytes != kv_plan_at(&w->plan, i))
			return false;
		at += w->cmd[i].bytes;
	}
	return true;
}

int grade_place(struct grade_work *w, struct grade_op *o)
{
	struct target t;
	u64 i, covered = 0, reach;

	if (!find_target(w, o->op, &t))
		return 0;
	for (i = 0; i < w->n; i++)
		if (!locate(w->m, &w->cmd[i], &t, w->m->cmd.flags[w->cmd[i].row] & CMD_SPLIT))
			return 0;
	o->flags |= GRADE_PLACED;
	if (in_order(w, &t))
		o->flags |= GRADE_ORDER;
	if (w->n)
		qsort(w->cmd, w->n, sizeof(*w->cmd), by_place);
	for (reach = t.base, i = 0; i < w->n; i++) {
		u64 begin = MIN(MAX(w->cmd[i].begin, t.base), t.end), end = MAX(MIN(w->cmd[i].end, t.end), begin);
		u64 outside = w->cmd[i].end - w->cmd[i].begin - (end - begin);

		o->outside_bytes += outside;
		w->g->part_bytes[w->kv_op][PART_OUTSIDE] += outside;
		if (begin == end)
			continue;
		count_parts(w, &t, begin, end);
		if (begin < reach)
			o->overlap_bytes += MIN(end, reach) - begin;
		if (end > reach) {
			covered += end - MAX(begin, reach);
			reach = end;
		}
	}
	o->hole_bytes = t.end - t.base - covered;
	if (!o->hole_bytes && !o->overlap_bytes && !o->outside_bytes)
		o->flags |= GRADE_PLACE;
	return 0;
}
