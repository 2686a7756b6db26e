// SPDX-License-Identifier: Apache-2.0
/*
 * By trace id.  Producers count from 1, each for itself, so that ids of several
 * of them collide: their process tells them apart, or the place.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "model/join.h"

/* Operations of each id, or of each id and process. */
struct id_set {
	struct map64 at; /* id -> group */
	struct op_groups g;
};

static void id_set_free(struct id_set *s)
{
	map64_free(&s->at);
	op_groups_free(&s->g);
}

/* A command's id has 32 bits, so that an id and a process fit into one number. */
static u64 pid_key(u64 id, u32 pid)
{
	return id << 32 | pid;
}

static int id_set_make(struct id_set *s, const struct op_table *t, bool with_pid)
{
	u32 *group = malloc(MAX(t->n, 1u) * sizeof(*group)), n = 0, i;
	int ret = group ? 0 : -ENOMEM;

	for (i = 0; i < t->n && !ret; i++) {
		bool is_new;
		u32 *at;

		group[i] = NONE;
		if (with_pid && (!(t->flags[i] & OP_HAS_PID) || t->trace_id[i] > UINT32_MAX))
			continue;
		at = map64_put(&s->at, with_pid ? pid_key(t->trace_id[i], t->pid[i]) : t->trace_id[i], &is_new);
		if (!at) {
			ret = -ENOMEM;
			break;
		}
		if (is_new)
			*at = n++;
		group[i] = *at;
	}
	if (!ret)
		ret = op_groups_make(&s->g, t, group, n);
	free(group);
	return ret;
}

struct id_join {
	struct model *m;
	struct id_set ids, pids; /* pids is empty when there is one process only */
	struct places *places;	 /* of operations whose ids collide, or NULL */
	u64 last_id;
	u32 last_group;
};

static bool several_pids(const struct op_table *t)
{
	u32 i, first = NONE;

	for (i = 0; i < t->n; i++) {
		if (!(t->flags[i] & OP_HAS_PID))
			continue;
		if (first == NONE)
			first = i;
		else if (t->pid[i] != t->pid[first])
			return true;
	}
	return false;
}

/* Which operations have an id that names several of one time; the number of such ids. */
static u64 find_collisions(const struct op_groups *g, bool *collides)
{
	u64 n = 0;
	u32 group, k;

	for (group = 0; group < g->n; group++) {
		n += g->overlap[group];
		for (k = g->start[group]; k < g->start[group + 1]; k++)
			collides[g->op[k]] = g->overlap[group];
	}
	return n;
}

static int id_join_make(struct id_join *x, const struct join_options *o)
{
	struct model *m = x->m;
	bool *collides;
	int ret = id_set_make(&x->ids, &m->op, false);

	if (!ret && several_pids(&m->op))
		ret = id_set_make(&x->pids, &m->op, true);
	if (ret)
		return ret;
	collides = calloc(m->op.n + 1ul, sizeof(*collides));
	if (!collides)
		return -ENOMEM;
	m->collisions.ids = find_collisions(&x->ids.g, collides);
	if (m->collisions.ids)
		ret = places_make(&x->places, m, o, collides);
	free(collides);
	return ret;
}

static void id_join_free(struct id_join *x)
{
	id_set_free(&x->ids);
	id_set_free(&x->pids);
	places_free(x->places);
}

static void name_operations(struct id_join *x)
{
	struct op_table *t = &x->m->op;
	u32 i;

	for (i = 0; i < t->n; i++)
		t->join_id[i] = t->trace_id[i];
	count_occurrences(x->m, &x->ids.g);
}

/* The operations of the id that the command's own process has, or NONE. */
static u32 pid_group(const struct id_join *x, u32 cmd, u64 id)
{
	const u32 *at;
	u32 task;

	if (!x->pids.g.n)
		return NONE;
	task = x->m->cmd.task[cmd];
	if (task == NONE)
		return NONE;
	at = map64_get(&x->pids.at, pid_key(id, x->m->task[task].pid));
	return at ? *at : NONE;
}

/* The operation of that id that owns most of the bytes of the command, or NONE. */
static int by_place(struct id_join *x, u32 cmd, u64 id, u32 *op)
{
	struct place_hit hit;
	u64 most = 0;
	u32 i;
	int ret = places_find(x->places, cmd, cmd_counts(x->m, cmd), &hit);

	*op = NONE;
	for (i = 0; i < hit.n && !ret; i++)
		if (x->m->op.trace_id[hit.part[i].op] == id && hit.part[i].bytes > most) {
			most = hit.part[i].bytes;
			*op = hit.part[i].op;
		}
	return ret;
}

/* A command whose id names several operations of one time. */
static int settle(struct id_join *x, u32 cmd, u64 id, u32 own)
{
	struct id_collisions none = {}, *c = cmd_counts(x->m, cmd) ? &x->m->collisions : &none;
	u32 op;
	int ret;

	c->cmds++;
	if (own != NONE && !x->pids.g.overlap[own]) {
		c->by_pid++;
		return 0;
	}
	ret = by_place(x, cmd, id, &op);
	if (ret || op == NONE) {
		c->by_end++;
		return ret;
	}
	c->by_place++;
	x->m->cmd.op[cmd] = op;
	return 0;
}

static int tie(struct id_join *x, u32 cmd, u64 id)
{
	const struct op_table *t = &x->m->op;
	u64 ts = x->m->cmd.ts_ns[cmd];
	u32 own;

	if (id != x->last_id) {
		const u32 *at = map64_get(&x->ids.at, id);

		x->last_id = id;
		x->last_group = at ? *at : NONE;
	}
	if (x->last_group == NONE)
		return 0;
	own = pid_group(x, cmd, id);
	x->m->cmd.op[cmd] =
		own == NONE ? op_groups_at(&x->ids.g, t, x->last_group, ts) : op_groups_at(&x->pids.g, t, own, ts);
	return x->ids.g.overlap[x->last_group] ? settle(x, cmd, id, own) : 0;
}

int join_by_id(struct model *m, const struct join_options *o, u64 *tied)
{
	struct id_join x = { .m = m };
	int ret = id_join_make(&x, o);
	u32 i;

	*tied = 0;
	if (!ret)
		name_operations(&x);
	for (i = 0; i < m->cmd.n && !ret; i++) {
		u64 id = cmd_trace_id(m, i);

		m->cmd.op[i] = NONE;
		if (id)
			ret = tie(&x, i, id);
		*tied += m->cmd.op[i] != NONE;
	}
	id_join_free(&x);
	return ret;
}

int join_nothing(struct model *m)
{
	struct id_join x = { .m = m };
	int ret = id_set_make(&x.ids, &m->op, false);
	u32 i;

	if (!ret)
		name_operations(&x);
	for (i = 0; i < m->cmd.n; i++)
		m->cmd.op[i] = NONE;
	id_join_free(&x);
	return ret;
}

bool ids_are_timely(const struct model *m)
{
	u64 tied = 0, timely = 0;
	u32 i;

	for (i = 0; i < m->cmd.n; i++) {
		u32 op = m->cmd.op[i];
		u64 ts = m->cmd.ts_ns[i];

		if (op == NONE)
			continue;
		tied++;
		timely += (!(m->op.flags[op] & OP_HAS_START) || ts >= m->op.start_ns[op] ||
			   m->op.start_ns[op] - ts <= SLACK_NS) &&
			  (ts <= m->op.end_ns[op] || ts - m->op.end_ns[op] <= SLACK_NS);
	}
	return timely >= tied - timely;
}
