// SPDX-License-Identifier: Apache-2.0
/* Which join, and what follows from it for every operation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/pages.h"
#include "model/cause.h"
#include "model/join.h"

/* ---- asking ---- */

static const char *const names[] = {
	[JOIN_AUTO] = "auto", [JOIN_NONE] = "none",	[JOIN_TRACE_ID] = "trace id",
	[JOIN_KEY] = "key",   [JOIN_OFFSET] = "offset",
};

const char *join_name(enum join_kind kind)
{
	return names[kind];
}

int join_parse(enum join_kind *kind, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name)) {
			*kind = (enum join_kind)i;
			return 0;
		}
	if (!strcmp(name, "trace-id"))
		*kind = JOIN_TRACE_ID;
	return strcmp(name, "trace-id") ? -EINVAL : 0;
}

/* The first row whose (cmd, op) is not less. */
static u32 find_part(const struct part_table *t, u32 cmd, u32 op)
{
	u32 lo = 0, hi = t->n;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (t->cmd[mid] < cmd || (t->cmd[mid] == cmd && t->op[mid] < op))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

u32 cmd_parts(const struct model *m, u32 cmd, u32 *first)
{
	*first = 0;
	if (!(m->cmd.flags[cmd] & CMD_SPLIT))
		return 0;
	*first = find_part(&m->part, cmd, 0);
	return find_part(&m->part, cmd + 1, 0) - *first;
}

u32 cmd_op_bytes(const struct model *m, u32 cmd, u32 op)
{
	const struct part_table *t = &m->part;
	u32 at;

	if (!(m->cmd.flags[cmd] & CMD_SPLIT))
		return m->cmd.op[cmd] == op ? m->cmd.bytes[cmd] : 0;
	at = find_part(t, cmd, op);
	return at < t->n && t->cmd[at] == cmd && t->op[at] == op ? t->bytes[at] : 0;
}

/* ---- what follows from cmd.op ---- */

/*
 * Calls back for each command and operation that it belongs to, in order of
 * the commands; first attempts stay out.
 */
static void each_tie(const struct model *m, void (*fn)(struct op_table *o, u32 *order, u32 op, u32 cmd),
		     struct op_table *o, u32 *order)
{
	const struct cmd_table *t = &m->cmd;
	u32 part = 0, i;

	for (i = 0; i < t->n; i++) {
		if (t->op[i] == NONE || (t->flags[i] & CMD_REISSUED))
			continue;
		if (!(t->flags[i] & CMD_SPLIT))
			fn(o, order, t->op[i], i);
		while (part < m->part.n && m->part.cmd[part] <= i)
			fn(o, order, m->part.op[part++], i);
	}
}

static void count_cmd(struct op_table *o, u32 *order, u32 op, u32 cmd)
{
	(void)order;
	(void)cmd;
	o->n_cmds[op]++;
}

static void put_cmd(struct op_table *o, u32 *order, u32 op, u32 cmd)
{
	order[o->first_cmd[op]++] = cmd;
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

/* A counting sort of the commands by operation. */
int order_commands(struct model *m)
{
	struct op_table *o = &m->op;
	u32 sum = 0, i;

	for (i = 0; i < o->n; i++)
		o->n_cmds[i] = 0;
	each_tie(m, count_cmd, o, NULL);
	for (i = 0; i < o->n; i++) {
		o->first_cmd[i] = sum;
		if (__builtin_add_overflow(sum, o->n_cmds[i], &sum))
			return -ENOMEM;
	}
	pages_free(m->cmd_order, m->n_order * sizeof(*m->cmd_order));
	m->n_order = MAX(sum, 1u);
	m->cmd_order = pages_alloc(m->n_order * sizeof(*m->cmd_order));
	if (!m->cmd_order)
		return -ENOMEM;
	each_tie(m, put_cmd, o, m->cmd_order);
	for (i = 0; i < o->n; i++)
		o->first_cmd[i] = o->n_cmds[i] ? o->first_cmd[i] - o->n_cmds[i] : NONE;
	find_anomalies(m);
	return 0;
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

/* ---- choosing ---- */

static bool any_flag(const u32 *flags, u32 n, u32 flag)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (flags[i] & flag)
			return true;
	return false;
}

/* No account but that of the join that counts. */
static void forget(struct model *m)
{
	u32 i;

	m->part.n = 0;
	m->offset = (struct offset_account){};
	m->collisions = (struct id_collisions){};
	m->long_keys = 0;
	for (i = 0; i < m->cmd.n; i++)
		m->cmd.flags[i] &= ~(u32)CMD_SPLIT;
}

static int run(struct model *m, const struct join_options *o, enum join_kind kind, const char *why, u64 *tied)
{
	m->join = kind;
	m->join_why = why;
	*tied = 0;
	forget(m);
	switch (kind) {
	case JOIN_TRACE_ID:
		return join_by_id(m, o, tied);
	case JOIN_KEY:
		return join_by_key(m, tied);
	case JOIN_OFFSET:
		return join_by_offset(m, o, tied);
	default:
		return join_nothing(m);
	}
}

/* The first that ties anything; an id that names operations of other times only is none. */
static int best(struct model *m, const struct join_options *o)
{
	bool places = any_flag(m->cmd.flags, m->cmd.n, CMD_HAS_SLBA) && any_flag(m->op.flags, m->op.n, OP_HAS_SLOT);
	bool ids = false;
	u64 tied = 0;
	int ret = 0;

	if (!m->op.n)
		return run(m, o, JOIN_NONE, "there is no semantic trace", &tied);
	if (!m->cmd.n)
		return run(m, o, JOIN_NONE, "there are no commands", &tied);
	if (any_flag(m->cmd.flags, m->cmd.n, CMD_HAS_KEY))
		ret = run(m, o, JOIN_KEY, "commands carry keys of the semantic trace", &tied);
	if (!ret && !tied) {
		ret = run(m, o, JOIN_TRACE_ID, "commands carry trace ids of operations in user_data", &tied);
		ids = tied;
		if (!ret && tied && m->collisions.cmds)
			m->join_why = "commands carry trace ids of operations in user_data; where several producers "
				      "share an id, the process, or slot offset and time decide";
		if (!ret && tied && places && !ids_are_timely(m))
			tied = 0;
	}
	if (!ret && !tied && places)
		ret = run(m, o, JOIN_OFFSET,
			  ids ? "the trace ids in user_data name operations of other times, but places and times fit"
			      : "no command carries a key or trace id of an operation, but places and times fit",
			  &tied);
	if (!ret && !tied && ids)
		ret = run(m, o, JOIN_TRACE_ID,
			  "commands carry trace ids of operations in user_data, though of other times", &tied);
	if (!ret && !tied)
		ret = run(m, o, JOIN_NONE,
			  "no command carries a key or trace id of an operation, or lies in its slot and time", &tied);
	return ret;
}

int model_join(struct model *m, const struct join_options *o)
{
	u64 tied;
	int ret = sort_semantic(m);

	if (!ret)
		ret = o->kind == JOIN_AUTO ? best(m, o) : run(m, o, o->kind, "it was asked for", &tied);
	if (!ret)
		ret = order_commands(m);
	if (!ret)
		ret = count_instances(m);
	if (ret)
		return ret;
	choose_lba(m, o);
	mark_headers(m, o);
	return cause_find(m);
}
