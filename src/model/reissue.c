// SPDX-License-Identifier: Apache-2.0
/*
 * First attempts.  A passthrough command that is turned away with EAGAIN is
 * issued again by a worker thread, so the older passthrough monitor sees it
 * twice, with one completion.  The row without one is not a command.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/tables.h"

static bool same_command(const struct cmd_table *t, u32 a, u32 b)
{
	return t->user_data[a] == t->user_data[b] && t->dev[a] == t->dev[b] && t->slba[a] == t->slba[b] &&
	       t->bytes[a] == t->bytes[b] && t->opcode[a] == t->opcode[b] && t->key[a] == t->key[b];
}

/* A passthrough row that waits for nothing and has no completion. */
static bool may_be_first(const struct cmd_table *t, u32 i)
{
	return t->lat_ns[i] == NO_LAT && (t->flags[i] & NVME_PASSTHROUGH) &&
	       !(t->flags[i] & (NVME_IN_FLIGHT | NVME_REFUSED | CMD_REISSUED));
}

static u64 cookie_key(const struct cmd_table *t, u32 i)
{
	return hash_u64(t->user_data[i]) ^ t->dev[i];
}

static void join_attempt(struct cmd_table *t, u32 first, u32 row)
{
	u64 wait = t->ts_ns[row] - t->ts_ns[first];

	t->flags[first] |= CMD_REISSUED;
	t->attempts[row] += t->attempts[row] < UINT8_MAX;
	t->wait_ns[row] = (u32)MIN(wait, (u64)UINT32_MAX);
	t->waits |= wait > 0;
}

/*
 * A row without a completion is a first attempt when the next row with its
 * user_data is the same command and has one.  With another command next, the
 * cookie was used again: the row did complete, and its completion was lost.
 */
static int mark_by_cookie(struct cmd_table *t)
{
	struct map64 next = {}; /* of the rows without completion: the next row with the cookie */
	bool is_new;
	u32 i, *at;
	int ret = 0;

	for (i = 0; !ret && i < t->n; i++)
		if (may_be_first(t, i)) {
			at = map64_put(&next, cookie_key(t, i), &is_new);
			if (at)
				*at = NONE;
			else
				ret = -ENOMEM;
		}
	for (i = !ret && next.n ? t->n : 0; i-- > 0;) {
		at = map64_get(&next, cookie_key(t, i));
		if (!at)
			continue;
		if (*at != NONE && may_be_first(t, i) && t->lat_ns[*at] != NO_LAT && same_command(t, i, *at))
			join_attempt(t, i, *at);
		else
			*at = i;
	}
	map64_free(&next);
	return ret;
}

/* ---- re-issues under a foreign cookie ---- */

/*
 * That monitor reads the submission entry again at the re-issue, when its slot
 * in the ring may hold a later entry: then the re-issue shows that one's
 * cookie and extent, which completes twice, and the first attempt seems lost.
 * So a second completion of the same cookie and extent out of a worker thread
 * stands for the oldest row of its thread that is still without one.
 */
struct waiting {
	struct map64 of_tid; /* thread id -> the oldest row that waits */
	u32 *next;	     /* of each row: the next one of its thread */
	struct map64 seen;   /* cookie and extent -> the row that completed with it */
};

/* The thread that a worker works for, from its name "iou-wrk-TID", or 0. */
static u32 worker_of(const struct model *m, u32 row)
{
	static const char prefix[] = "iou-wrk-";
	const char *comm;

	if (m->cmd.task[row] == NONE)
		return 0;
	comm = strpool_get(&m->strings, m->task[m->cmd.task[row]].comm);
	return strncmp(comm, prefix, sizeof(prefix) - 1) ? 0 : (u32)strtoul(comm + sizeof(prefix) - 1, NULL, 10);
}

/* Lists the rows that wait, by thread, oldest first. */
static int list_waiting(const struct cmd_table *t, struct waiting *w)
{
	bool is_new;
	u32 i, *at;

	w->next = malloc(MAX(t->n, 1u) * sizeof(*w->next));
	if (!w->next)
		return -ENOMEM;
	for (i = t->n; i-- > 0;) {
		if (!may_be_first(t, i))
			continue;
		at = map64_put(&w->of_tid, t->tid[i], &is_new);
		if (!at)
			return -ENOMEM;
		w->next[i] = is_new ? NONE : *at;
		*at = i;
	}
	return 0;
}

/* The row completed a second time under this cookie: `row` or `other` is the re-issue of another command. */
static void match_waiting(struct model *m, struct waiting *w, u32 row, u32 other)
{
	u32 owner = worker_of(m, row), *at;

	if (!owner) {
		row = other;
		owner = worker_of(m, row);
	}
	at = owner ? map64_get(&w->of_tid, owner) : NULL;
	if (!at || *at == NONE || m->cmd.ts_ns[*at] >= m->cmd.ts_ns[row])
		return;
	m->cmd.flags[*at] |= CMD_REISSUED;
	m->cmd.attempts[row] += m->cmd.attempts[row] < UINT8_MAX;
	*at = w->next[*at];
}

static int match_foreign(struct model *m, struct waiting *w)
{
	const struct cmd_table *t = &m->cmd;
	bool is_new;
	u32 i, *at;

	for (i = 0; i < t->n; i++) {
		if (t->lat_ns[i] == NO_LAT || !(t->flags[i] & NVME_PASSTHROUGH))
			continue;
		at = map64_put(&w->seen, cookie_key(t, i) + hash_u64(t->slba[i]), &is_new);
		if (!at)
			return -ENOMEM;
		if (!is_new && same_command(t, i, *at))
			match_waiting(m, w, i, *at);
		*at = i;
	}
	return 0;
}

/* True when any row was issued by a worker. */
static bool any_worker(const struct model *m)
{
	u32 i;

	for (i = 0; i < m->n_tasks; i++)
		if (!strncmp(strpool_get(&m->strings, m->task[i].comm), "iou-wrk-", 8))
			return true;
	return false;
}

int mark_reissued(struct model *m)
{
	struct waiting w = {};
	int ret = mark_by_cookie(&m->cmd);

	if (!ret && any_worker(m))
		ret = list_waiting(&m->cmd, &w);
	if (!ret && w.of_tid.n)
		ret = match_foreign(m, &w);
	map64_free(&w.of_tid);
	map64_free(&w.seen);
	free(w.next);
	return ret;
}
