// SPDX-License-Identifier: Apache-2.0
/*
 * Commands to the operations of the application, by the trace id in the upper
 * half of user_data.  An id that several operations have is cut in time: a
 * command belongs to the first of them that ends at or after it, else to the
 * last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "model/tables.h"

/* The operations of each trace id, by their end. */
struct groups {
	struct map64 at; /* trace id -> group */
	u32 n;
	u32 *start; /* of each group in `op`, and the end of the last */
	u32 *op;
	const struct op_table *t;
};

static void groups_free(struct groups *g)
{
	map64_free(&g->at);
	free(g->start);
	free(g->op);
}

static bool ends_before(const void *arg, u32 a, u32 b)
{
	const struct groups *g = arg;

	return g->t->end_ns[g->op[a]] < g->t->end_ns[g->op[b]];
}

struct part {
	const struct groups *g;
	u32 first;
};

static bool part_before(const void *arg, u32 a, u32 b)
{
	const struct part *p = arg;

	return ends_before(p->g, p->first + a, p->first + b);
}

/* Sorts the operations of one group by their end; file order counts among equals. */
static int sort_group(struct groups *g, u32 group)
{
	struct part p = { g, g->start[group] };
	u32 n = g->start[group + 1] - p.first, *order, i;
	int ret = sort_rows(n, part_before, &p, &order);

	if (ret || !order)
		return ret;
	for (i = 0; i < n; i++)
		order[i] = g->op[p.first + order[i]];
	memcpy(g->op + p.first, order, n * sizeof(*order));
	free(order);
	return 0;
}

/* Which group each operation is in, counted in `start`. */
static int assign_groups(struct groups *g, u32 *group)
{
	bool is_new;
	u32 i;

	for (i = 0; i < g->t->n; i++) {
		u32 *at = map64_put(&g->at, g->t->trace_id[i], &is_new);

		if (!at)
			return -ENOMEM;
		if (is_new)
			*at = g->n++;
		group[i] = *at;
		g->start[*at]++;
	}
	return 0;
}

/* A counting sort of the operations by group. */
static void fill_groups(struct groups *g, const u32 *group)
{
	u32 sum = 0, i;

	for (i = 0; i <= g->n; i++) {
		u32 n = g->start[i];

		g->start[i] = sum;
		sum += n;
	}
	for (i = 0; i < g->t->n; i++)
		g->op[g->start[group[i]]++] = i;
	for (i = g->n; i > 0; i--)
		g->start[i] = g->start[i - 1];
	g->start[0] = 0;
}

static int groups_make(struct groups *g, const struct op_table *t)
{
	u32 *group = malloc(MAX(t->n, 1u) * sizeof(*group)), i;
	int ret = -ENOMEM;

	g->t = t;
	g->start = calloc(t->n + 1ull, sizeof(*g->start));
	g->op = malloc(MAX(t->n, 1u) * sizeof(*g->op));
	if (group && g->start && g->op)
		ret = assign_groups(g, group);
	if (!ret)
		fill_groups(g, group);
	for (i = 0; !ret && i < g->n; i++)
		ret = sort_group(g, i);
	free(group);
	return ret;
}

/* The operation of the group that a command of that time belongs to. */
static u32 op_at(const struct groups *g, u32 group, u64 ts_ns)
{
	u32 lo = g->start[group], hi = g->start[group + 1] - 1;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (g->t->end_ns[g->op[mid]] < ts_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return g->op[lo];
}

static void count_occurrences(struct op_table *t, const struct groups *g)
{
	u32 group, i;

	for (group = 0; group < g->n; group++)
		for (i = g->start[group]; i < g->start[group + 1]; i++) {
			t->occurrence[g->op[i]] = i - g->start[group];
			t->n_occurrences[g->op[i]] = g->start[group + 1] - g->start[group];
		}
}

/* Fills cmd.op.  True when any command has a trace id. */
static bool assign_ops(struct model *m, const struct groups *g)
{
	struct cmd_table *t = &m->cmd;
	u64 last_id = 0;
	u32 group = NONE, i;
	bool tagged = false;

	for (i = 0; i < t->n; i++) {
		u64 id = cmd_trace_id(m, i);

		if (id && id != last_id) {
			const u32 *at = map64_get(&g->at, id);

			group = at ? *at : NONE;
			last_id = id;
		}
		tagged |= id != 0;
		t->op[i] = id && group != NONE ? op_at(g, group, t->ts_ns[i]) : NONE;
	}
	return tagged;
}

/* A counting sort of the commands by operation; re-issued first attempts stay out. */
static int order_cmds(struct model *m)
{
	const struct cmd_table *t = &m->cmd;
	struct op_table *o = &m->op;
	u32 sum = 0, i;

	for (i = 0; i < o->n; i++)
		o->n_cmds[i] = 0;
	for (i = 0; i < t->n; i++)
		if (t->op[i] != NONE && !(t->flags[i] & CMD_REISSUED))
			o->n_cmds[t->op[i]]++;
	for (i = 0; i < o->n; i++) {
		o->first_cmd[i] = sum;
		sum += o->n_cmds[i];
	}
	free(m->cmd_order);
	m->cmd_order = malloc(MAX(sum, 1u) * sizeof(*m->cmd_order));
	if (!m->cmd_order)
		return -ENOMEM;
	for (i = 0; i < t->n; i++)
		if (t->op[i] != NONE && !(t->flags[i] & CMD_REISSUED))
			m->cmd_order[o->first_cmd[t->op[i]]++] = i;
	for (i = 0; i < o->n; i++)
		o->first_cmd[i] = o->n_cmds[i] ? o->first_cmd[i] - o->n_cmds[i] : NONE;
	return 0;
}

static void find_anomalies(struct model *m)
{
	struct op_table *o = &m->op;
	u32 i;

	m->clock_anomalies = 0;
	for (i = 0; i < o->n; i++) {
		o->flags[i] &= ~(u32)OP_LATE_CMD;
		if (!o->n_cmds[i] || m->cmd.ts_ns[m->cmd_order[o->first_cmd[i] + o->n_cmds[i] - 1]] <= o->end_ns[i])
			continue;
		o->flags[i] |= OP_LATE_CMD;
		m->clock_anomalies++;
	}
}

/* Distinct writers of the semantic stream, by instance and process. */
static int count_instances(struct model *m)
{
	const struct op_table *o = &m->op;
	struct map64 seen = {};
	bool is_new;
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < o->n; i++)
		if ((o->instance[i] || (o->flags[i] & OP_HAS_PID)) &&
		    !map64_put(&seen, (u64)o->instance[i] << 32 | o->pid[i], &is_new))
			ret = -ENOMEM;
	m->n_instances = (u32)seen.n;
	map64_free(&seen);
	return ret;
}

/* ---- headers ---- */

#define SAMPLED_STORES 50u

static bool is_store(const struct model *m, u32 op)
{
	return !strcmp(strpool_get(&m->strings, m->op.name[op]), "store");
}

/* True when the command starts where the slot of its operation does. */
static bool at_slot(const struct model *m, u32 cmd, u32 lba)
{
	u32 op = m->cmd.op[cmd];
	u64 offset;

	return (m->cmd.flags[cmd] & CMD_HAS_SLBA) && (m->op.flags[op] & OP_HAS_SLOT) &&
	       !__builtin_mul_overflow(m->cmd.slba[cmd], lba, &offset) && offset == m->op.slot_offset[op];
}

static bool has_header(const struct model *m, u32 op, u32 lba)
{
	u32 i;

	for (i = 0; i < m->op.n_cmds[op]; i++)
		if (at_slot(m, m->cmd_order[m->op.first_cmd[op] + i], lba))
			return true;
	return false;
}

/* In how many of the first stores with commands a header is found under this size. */
static u32 lba_score(const struct model *m, u32 lba)
{
	u32 score = 0, looked = 0, i;

	for (i = 0; i < m->op.n && looked < SAMPLED_STORES; i++) {
		if (!m->op.n_cmds[i] || !is_store(m, i))
			continue;
		score += has_header(m, i, lba);
		looked++;
	}
	return score;
}

/* The device of the first command that belongs to an operation, else the first device. */
static u32 device_lba(const struct model *m)
{
	u32 i;

	for (i = 0; i < m->cmd.n; i++)
		if (m->cmd.op[i] != NONE)
			return m->device[m->cmd.dev[i]].lba_bytes;
	return m->n_devices ? m->device[0].lba_bytes : 0;
}

/* What was said, unless another usual size puts more headers where slots begin. */
static void choose_lba(struct model *m, const struct join_options *o)
{
	u32 device = device_lba(m);
	u32 said = o->lba_bytes ? o->lba_bytes : device ? device : 4096;
	const u32 other[] = { device, 4096, 512 };
	u32 best = said, score = lba_score(m, said), s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(other); i++) {
		s = other[i] ? lba_score(m, other[i]) : 0;
		if (s > score) {
			score = s;
			best = other[i];
		}
	}
	m->lba_bytes = best;
	m->lba_inferred = best != said;
}

static void mark_headers(struct model *m)
{
	struct cmd_table *t = &m->cmd;
	u32 i;

	m->n_stores = m->n_header_cmds = 0;
	for (i = 0; i < m->op.n; i++)
		m->n_stores += is_store(m, i);
	for (i = 0; i < t->n; i++) {
		t->flags[i] &= ~(u32)CMD_HEADER;
		if (t->op[i] == NONE || !at_slot(m, i, m->lba_bytes) || !is_store(m, t->op[i]))
			continue;
		t->flags[i] |= CMD_HEADER;
		m->n_header_cmds += !(t->flags[i] & CMD_REISSUED);
	}
}

int model_join(struct model *m, const struct join_options *o)
{
	struct groups g = {};
	bool tagged = false;
	int ret = groups_make(&g, &m->op);

	if (!ret) {
		count_occurrences(&m->op, &g);
		tagged = assign_ops(m, &g);
		m->dup_trace_ids = m->op.n - g.n;
		ret = order_cmds(m);
	}
	groups_free(&g);
	if (!ret)
		ret = count_instances(m);
	if (ret)
		return ret;
	m->join = m->op.n && tagged ? JOIN_TRACE_ID : JOIN_NONE;
	find_anomalies(m);
	choose_lba(m, o);
	mark_headers(m);
	return 0;
}
