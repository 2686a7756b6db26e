// SPDX-License-Identifier: Apache-2.0
/* By slot offset and time: bytes of commands to the operations that own them. */
#include <errno.h>
#include <stdlib.h>

#include "model/filter.h"
#include "model/join.h"

static int part_room(struct part_table *t, u32 more)
{
	u32 **const column[] = { &t->cmd, &t->op, &t->bytes };
	size_t cap = MAX(t->cap * 2ul, (size_t)t->n + more), i;

	if (t->cap - t->n >= more)
		return 0;
	for (i = 0; i < ARRAY_SIZE(column); i++) {
		u32 *p = cap < NONE ? realloc(*column[i], cap * sizeof(*p)) : NULL;

		if (!p)
			return -ENOMEM;
		*column[i] = p;
	}
	t->cap = (u32)cap;
	return 0;
}

static int by_op(const void *a, const void *b)
{
	return compare_u64(((const struct place_part *)a)->op, ((const struct place_part *)b)->op);
}

static int add_parts(struct model *m, u32 cmd, const struct place_hit *hit)
{
	struct part_table *t = &m->part;
	u32 i;
	int ret = part_room(t, hit->n);

	if (ret)
		return ret;
	qsort(hit->part, hit->n, sizeof(*hit->part), by_op);
	for (i = 0; i < hit->n; i++) {
		t->cmd[t->n] = cmd;
		t->op[t->n] = hit->part[i].op;
		t->bytes[t->n++] = hit->no_data ? 0 : (u32)hit->part[i].bytes;
	}
	m->cmd.flags[cmd] |= CMD_SPLIT;
	return 0;
}

/* The operation with most of the bytes. */
static u32 main_op(const struct place_hit *hit)
{
	u32 best = 0, i;

	for (i = 1; i < hit->n; i++)
		if (hit->part[i].bytes > hit->part[best].bytes)
			best = i;
	return hit->n ? hit->part[best].op : NONE;
}

static bool inside_one(const struct place_hit *hit)
{
	return hit->n == 1 && hit->inside == hit->len;
}

static void count_cookie(struct model *m, u32 cmd)
{
	struct offset_account *a = &m->offset;
	u64 id = cmd_trace_id(m, cmd);

	if (!id) {
		a->without_cookie++;
		return;
	}
	a->cookie_cmds++;
	a->agree += m->op.trace_id[m->cmd.op[cmd]] == id;
}

static void account(struct model *m, u32 cmd, const struct place_hit *hit)
{
	struct offset_account *a = &m->offset;
	u64 bytes = m->cmd.bytes[cmd], inside = hit->no_data ? 0 : hit->inside;

	if (hit->no_place) {
		a->no_place++;
		a->no_place_bytes += bytes;
	} else if (inside_one(hit)) {
		a->unique++;
		a->unique_bytes += inside;
		count_cookie(m, cmd);
	} else if (hit->several || hit->n > 1) {
		a->cross++;
		a->cross_bytes += inside;
		a->gap_spill_bytes += bytes - inside;
	} else if (hit->spills || hit->n) {
		a->gap_spill++;
		a->unique_bytes += inside;
		a->gap_spill_bytes += bytes - inside;
	} else {
		a->unmatched++;
		a->unmatched_bytes += bytes;
	}
}

static int tie(struct model *m, struct places *x, u32 cmd, const bool *foreign)
{
	bool counts = cmd_counts(m, cmd);
	struct place_hit hit = {};
	int ret = 0;

	if (!foreign[cmd_dev(m, cmd)])
		ret = places_find(x, cmd, counts, &hit);
	else if (counts)
		m->offset.other_device++;
	if (ret)
		return ret;
	m->cmd.op[cmd] = main_op(&hit);
	if (counts)
		account(m, cmd, &hit);
	/* First attempts are in no total, so that they need no parts. */
	if (!hit.n || (m->cmd.flags[cmd] & CMD_REISSUED) || inside_one(&hit))
		return 0;
	return add_parts(m, cmd, &hit);
}

/* Which devices are not that of the semantic trace, when it names one of them. */
static bool *foreign_devices(const struct model *m)
{
	const char *path = strpool_get(&m->strings, m->sem_meta.device_path);
	bool *foreign = calloc(m->n_devices + 1ul, sizeof(*foreign)), any = false;
	u32 i;

	for (i = 0; i < m->n_devices && foreign; i++) {
		foreign[i] = !device_is_named(m, i, path);
		any |= !foreign[i];
	}
	for (i = 0; i < m->n_devices && foreign && !any; i++)
		foreign[i] = false;
	return foreign;
}

int join_by_offset(struct model *m, const struct join_options *o, u64 *tied)
{
	bool *foreign = foreign_devices(m);
	struct places *x = NULL;
	struct ways w;
	int ret = foreign ? join_nothing(m) : -ENOMEM;
	u32 i;

	*tied = 0;
	if (!ret)
		ret = places_make(&x, m, o, NULL);
	ways_init(&w, m);
	for (i = 0; i < m->cmd.n && !ret; i++) {
		ret = tie(m, x, i, foreign);
		/* A read that falls into a store is no evidence that places and times fit. */
		*tied += m->cmd.op[i] != NONE && op_way(&w, m, m->cmd.op[i]) == cmd_dir(&w.cmd, m, i);
	}
	places_free(x);
	free(foreign);
	return ret;
}
