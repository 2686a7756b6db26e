// SPDX-License-Identifier: Apache-2.0
/*
 * The order of the commands, and the snapshots among them: commands in flight
 * are written at every tick of the recorder, and of all rows of one command
 * one is kept, the command itself or its last snapshot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/tables.h"

/* By what a command keeps even when the driver queues it again under another tag. */
static int compare_content(const struct model *m, u32 a, u32 b)
{
	const struct cmd_table *t = &m->cmd;
	int c = compare_u64(cmd_dev(m, a), cmd_dev(m, b));

	c = c ? c : compare_u64(t->user_data[a], t->user_data[b]);
	c = c ? c : compare_u64(t->slba[a], t->slba[b]);
	c = c ? c : compare_u64(t->opcode[a], t->opcode[b]);
	return c ? c : compare_u64(t->bytes[a], t->bytes[b]);
}

static int compare_tag(const struct cmd_table *t, u32 a, u32 b)
{
	int c = compare_u64(t->hwq[a], t->hwq[b]);

	return c ? c : compare_u64(t->cid[a], t->cid[b]);
}

/* The rows of one command end with the one that is kept. */
static int compare_same_time(const struct model *m, u32 a, u32 b)
{
	const struct cmd_table *t = &m->cmd;
	int c = compare_content(m, a, b);

	c = c ? c : compare_tag(t, a, b);
	c = c ? c : compare_u64(!(t->flags[a] & NVME_IN_FLIGHT), !(t->flags[b] & NVME_IN_FLIGHT));
	return c ? c : compare_u64(t->attempts[a], t->attempts[b]);
}

/* What else two commands can differ in, so that the input has no say in their order. */
static int compare_rest(const struct model *m, u32 a, u32 b)
{
	const struct cmd_table *t = &m->cmd;
	const u32 *const columns[] = { t->nlb, t->tid, t->wait_ns, t->flags };
	int c = strcmp(strpool_get(&m->strings, t->key[a]), strpool_get(&m->strings, t->key[b]));
	size_t i;

	c = c ? c : strcmp(strpool_get(&m->strings, t->name[a]), strpool_get(&m->strings, t->name[b]));
	for (i = 0; i < ARRAY_SIZE(columns) && !c; i++)
		c = compare_u64(columns[i][a], columns[i][b]);
	c = c ? c : compare_u64(t->lat_ns[a], t->lat_ns[b]);
	return c ? c : compare_u64(t->status[a], t->status[b]);
}

static bool cmd_before(const void *arg, u32 a, u32 b)
{
	const struct model *m = arg;
	int c = compare_same_time(m, a, b);

	return (c ? c : compare_rest(m, a, b)) < 0;
}

static bool row_before(const struct model *m, u32 a, u32 b)
{
	const u64 *ts = m->cmd.ts_ns;

	return ts[a] != ts[b] ? ts[a] < ts[b] : cmd_before(m, a, b);
}

/*
 * Puts the few rows into their place that are not there.  False when they are
 * not few.
 */
static bool sort_in_place(struct model *m)
{
	u64 most = m->cmd.n / 8, moved = 0;
	u32 i, to;

	for (i = 1; i < m->cmd.n; i++) {
		for (to = i; to && row_before(m, i, to - 1); to--)
			if (++moved > most)
				return false;
		if (to < i)
			cmd_move(&m->cmd, i, to);
	}
	return true;
}

int sort_commands(struct model *m)
{
	u32 *order;
	int ret;

	if (sort_in_place(m))
		return 0;
	ret = sort_by_key(m->cmd.n, m->cmd.ts_ns, cmd_before, m, &order);
	if (!ret && order)
		ret = cmd_permute(&m->cmd, order, m->cmd.n);
	free(order);
	return ret;
}

/* How many rows from `first` on have the same time and content. */
static u32 run_length(const struct model *m, u32 first)
{
	const struct cmd_table *t = &m->cmd;
	u32 i = first + 1;

	while (i < t->n && t->ts_ns[i] == t->ts_ns[first] && !compare_content(m, first, i))
		i++;
	return i - first;
}

/* Appends the rows of one run that stay to `keep`. */
static u32 keep_of_run(const struct cmd_table *t, u32 first, u32 n, u32 *keep)
{
	u32 most = 0, kept = 0, i;

	for (i = first; i < first + n; i++)
		most = MAX(most, t->attempts[i]);
	for (i = first; i < first + n; i++) {
		bool superseded = (i + 1 < first + n && !compare_tag(t, i, i + 1)) || t->attempts[i] < most;

		if (!(t->flags[i] & NVME_IN_FLIGHT) || !superseded)
			keep[kept++] = i;
	}
	return kept;
}

int drop_snapshots(struct model *m)
{
	struct cmd_table *t = &m->cmd;
	u32 *keep, kept = 0, first, n;
	int ret = 0;

	for (first = 0; first < t->n; first++)
		if (t->flags[first] & NVME_IN_FLIGHT)
			break;
	if (first == t->n)
		return 0;
	keep = malloc(t->n * sizeof(*keep));
	if (!keep)
		return -ENOMEM;
	for (first = 0; first < t->n; first += n) {
		n = run_length(m, first);
		kept += keep_of_run(t, first, n, keep + kept);
	}
	if (kept < t->n) {
		m->dev_in.snapshots += t->n - kept;
		m->dev_in.commands -= t->n - kept;
		ret = cmd_permute(t, keep, kept);
	}
	free(keep);
	return ret;
}
