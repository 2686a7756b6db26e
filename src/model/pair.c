// SPDX-License-Identifier: Apache-2.0
/*
 * Completions to their commands.
 *
 * A completion says when its command was issued (ts - lat_ns), so the pair is
 * exact: same identity, same time.  What identifies a command differs between
 * tracers; commands and completions are taken in classes that know the same,
 * and every pair of classes is compared by all that both know.
 */
#include <errno.h>
#include <stdlib.h>

#include "model/tables.h"

/* Rows by hash; rows of one bucket are a list, the last added in front. */
struct chains {
	u32 *head, *next;
	u32 mask;
};

static int chains_init(struct chains *c, u32 n)
{
	u32 slots = 16, i;

	while (slots < n && slots < 1u << 31)
		slots *= 2;
	c->head = malloc(slots * sizeof(*c->head));
	c->next = malloc(MAX(n, 1u) * sizeof(*c->next));
	c->mask = slots - 1;
	if (!c->head || !c->next)
		return -ENOMEM;
	for (i = 0; i < slots; i++)
		c->head[i] = NONE;
	return 0;
}

static void chains_free(struct chains *c)
{
	free(c->head);
	free(c->next);
}

static void chains_reset(struct chains *c)
{
	u32 i;

	for (i = 0; i <= c->mask; i++)
		c->head[i] = NONE;
}

static void chains_push(struct chains *c, u64 hash, u32 row)
{
	u32 *head = &c->head[hash & c->mask];

	c->next[row] = *head;
	*head = row;
}

/* What is compared: the bits of enum identity, and the time of issue or 0. */
struct id_value {
	u64 user_data, ts_ns;
	u32 dev;
	u32 queue; /* hwq << 16 | cid */
};

static u64 id_hash(const struct id_value *v)
{
	return hash_u64(hash_u64(v->user_data) + v->ts_ns + hash_u64((u64)v->dev << 32 | v->queue));
}

static struct id_value cmd_id(const struct model *m, u32 i, u32 bits, bool timed)
{
	const struct cmd_table *t = &m->cmd;

	return (struct id_value){
		.user_data = bits & ID_USER_DATA ? t->user_data[i] : 0,
		.ts_ns = timed ? t->ts_ns[i] : 0,
		.dev = bits & ID_DEV ? t->dev[i] : 0,
		.queue = bits & ID_QUEUE ? (u32)t->hwq[i] << 16 | t->cid[i] : 0,
	};
}

static struct id_value cmp_id(const struct cmp_row *c, u32 bits, bool timed)
{
	return (struct id_value){
		.user_data = bits & ID_USER_DATA ? c->user_data : 0,
		.ts_ns = timed ? c->ts_ns - c->lat_ns : 0,
		.dev = bits & ID_DEV ? c->dev : 0,
		.queue = bits & ID_QUEUE ? (u32)c->hwq << 16 | c->cid : 0,
	};
}

static bool same_id(const struct id_value *a, const struct id_value *b)
{
	return a->user_data == b->user_data && a->ts_ns == b->ts_ns && a->dev == b->dev && a->queue == b->queue;
}

static u32 cmd_identity(const struct model *m, u32 i)
{
	u32 flags = m->cmd.flags[i];

	return (flags & NVME_PASSTHROUGH ? ID_USER_DATA : 0) | (flags & CMD_HAS_QUEUE ? ID_QUEUE : 0) |
	       (device_known(&m->device[m->cmd.dev[i]]) ? ID_DEV : 0);
}

struct pairing {
	struct model *m;
	struct chains chains;
	u32 *by_time; /* completions without lat_ns, in order of time */
	u32 n_by_time;
	u8 *cmd_class; /* enum identity of each command */
	u32 n_cmds[N_IDENTITIES];
	u32 n_exact[N_IDENTITIES], n_timed[N_IDENTITIES]; /* completions with and without lat_ns */
	u32 cmd_bits, cmp_bits, bits;			  /* the classes at work, and what both know */
};

/* Takes the first command of that identity from its list, NONE when there is none. */
static u32 take(struct pairing *p, const struct id_value *want, bool timed)
{
	u32 *link = &p->chains.head[id_hash(want) & p->chains.mask];

	for (; *link != NONE; link = &p->chains.next[*link]) {
		u32 row = *link;
		struct id_value have = cmd_id(p->m, row, p->bits, timed);

		if (same_id(&have, want)) {
			*link = p->chains.next[row];
			return row;
		}
	}
	return NONE;
}

static void push(struct pairing *p, u32 row, bool timed)
{
	struct id_value v = cmd_id(p->m, row, p->bits, timed);

	chains_push(&p->chains, id_hash(&v), row);
}

static bool is_free(const struct pairing *p, u32 row)
{
	return p->cmd_class[row] == p->cmd_bits && p->m->cmd.lat_ns[row] == NO_LAT;
}

/* Ties the completion to the command. */
static void tie(struct model *m, struct cmp_row *c, u32 row)
{
	struct cmd_table *t = &m->cmd;
	u64 lat = c->has_lat ? c->lat_ns : c->ts_ns - t->ts_ns[row];

	c->paired = true;
	if ((s64)lat < 0) {
		lat = 0;
		t->flags[row] |= CMD_NEGATIVE;
		m->dev_in.negative_latency++;
	}
	t->lat_ns[row] = lat;
	t->status[row] = c->status;
	t->flags[row] &= ~(u32)NVME_IN_FLIGHT;
	if (c->status)
		t->flags[row] |= CMD_FAILED | (c->blk_status ? CMD_BLK_STATUS : 0);
	if (c->identity & ID_QUEUE) {
		t->hwq[row] = c->hwq;
		t->cid[row] = c->cid;
		t->flags[row] |= CMD_HAS_QUEUE;
	}
}

/* By identity and time of issue. */
static void pair_exact(struct pairing *p)
{
	struct model *m = p->m;
	struct loading *l = m->loading;
	u32 i, row;

	chains_reset(&p->chains);
	for (i = m->cmd.n; i-- > 0;)
		if (is_free(p, i))
			push(p, i, true);
	for (i = 0; i < l->n_cmps; i++) {
		struct cmp_row *c = &l->cmp[i];
		struct id_value want;

		if (c->paired || !c->has_lat || c->identity != p->cmp_bits)
			continue;
		want = cmp_id(c, p->bits, true);
		row = take(p, &want, true);
		if (row != NONE)
			tie(m, c, row);
	}
}

/* Without lat_ns: the latest command of that identity that was issued before. */
static void pair_by_order(struct pairing *p)
{
	struct model *m = p->m;
	u32 next = 0, i, row;

	chains_reset(&p->chains);
	for (i = 0; i < p->n_by_time; i++) {
		struct cmp_row *c = &m->loading->cmp[p->by_time[i]];
		struct id_value want;

		if (c->paired || c->identity != p->cmp_bits)
			continue;
		for (; next < m->cmd.n && m->cmd.ts_ns[next] <= c->ts_ns; next++)
			if (is_free(p, next))
				push(p, next, false);
		want = cmp_id(c, p->bits, false);
		row = take(p, &want, false);
		if (row != NONE)
			tie(m, c, row);
	}
}

/*
 * What is left over on both sides with one identity, and the completion a
 * little before the command: a clock that ran backwards.  Further apart they
 * are more likely two halves whose other halves were lost.
 */
#define BACKWARDS_NS 1000000u

static void pair_backwards(struct pairing *p)
{
	struct model *m = p->m;
	u32 i, row;

	chains_reset(&p->chains);
	for (i = m->cmd.n; i-- > 0;)
		if (is_free(p, i))
			push(p, i, false);
	for (i = 0; i < p->n_by_time; i++) {
		struct cmp_row *c = &m->loading->cmp[p->by_time[i]];
		struct id_value want;

		if (c->paired || c->identity != p->cmp_bits)
			continue;
		want = cmp_id(c, p->bits, false);
		row = take(p, &want, false);
		if (row == NONE)
			continue;
		if (m->cmd.ts_ns[row] - c->ts_ns <= BACKWARDS_NS)
			tie(m, c, row);
		else
			push(p, row, false);
	}
}

/* Takes all pairs of classes through one step, those that both know most first. */
static void pair_classes(struct pairing *p, void (*step)(struct pairing *), const u32 *n_cmps)
{
	int known;

	for (known = 3; known > 0; known--)
		for (p->cmd_bits = 0; p->cmd_bits < N_IDENTITIES; p->cmd_bits++)
			for (p->cmp_bits = 0; p->cmp_bits < N_IDENTITIES; p->cmp_bits++) {
				p->bits = p->cmd_bits & p->cmp_bits;
				if (__builtin_popcount(p->bits) == known && (p->bits & (ID_USER_DATA | ID_QUEUE)) &&
				    p->n_cmds[p->cmd_bits] && n_cmps[p->cmp_bits])
					step(p);
			}
}

static bool cmp_before(const void *arg, u32 a, u32 b)
{
	const struct cmp_row *c = arg;

	return c[a].ts_ns < c[b].ts_ns;
}

/* The completions without lat_ns in order of time. */
static int order_timed(struct pairing *p)
{
	const struct loading *l = p->m->loading;
	u32 *order, i, n = 0;
	int ret = sort_rows(l->n_cmps, cmp_before, l->cmp, &order);

	if (ret)
		return ret;
	p->by_time = order ? order : malloc(MAX(l->n_cmps, 1u) * sizeof(*order));
	if (!p->by_time)
		return -ENOMEM;
	for (i = 0; i < l->n_cmps; i++) {
		u32 at = order ? order[i] : i;

		if (!l->cmp[at].has_lat)
			p->by_time[n++] = at;
	}
	p->n_by_time = n;
	return 0;
}

static int start(struct pairing *p)
{
	struct model *m = p->m;
	const struct loading *l = m->loading;
	u32 i, timed = 0;

	p->cmd_class = malloc(MAX(m->cmd.n, 1u));
	if (!p->cmd_class || chains_init(&p->chains, m->cmd.n))
		return -ENOMEM;
	for (i = 0; i < m->cmd.n; i++) {
		p->cmd_class[i] = (u8)cmd_identity(m, i);
		p->n_cmds[p->cmd_class[i]]++;
	}
	for (i = 0; i < l->n_cmps; i++) {
		timed += !l->cmp[i].has_lat;
		if (l->cmp[i].has_lat)
			p->n_exact[l->cmp[i].identity]++;
		else
			p->n_timed[l->cmp[i].identity]++;
	}
	return timed ? order_timed(p) : 0;
}

int pair_completions(struct model *m)
{
	struct pairing p = { .m = m };
	const struct loading *l = m->loading;
	u32 i;
	int ret;

	if (!l->n_cmps)
		return 0;
	ret = start(&p);
	if (ret)
		goto out;
	pair_classes(&p, pair_exact, p.n_exact);
	pair_classes(&p, pair_by_order, p.n_timed);
	pair_classes(&p, pair_backwards, p.n_timed);
	for (i = 0; i < l->n_cmps; i++)
		m->dev_in.unpaired_completions += !l->cmp[i].paired;
out:
	chains_free(&p.chains);
	free(p.by_time);
	free(p.cmd_class);
	return ret;
}
