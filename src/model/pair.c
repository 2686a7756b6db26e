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
#include <string.h>

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
		.dev = bits & ID_DEV ? cmd_dev(m, i) : 0,
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
	       (device_known(&m->device[cmd_dev(m, i)]) ? ID_DEV : 0);
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
static u32 take(struct pairing *p, const struct id_value *want)
{
	u32 *link = &p->chains.head[id_hash(want) & p->chains.mask];

	for (; *link != NONE; link = &p->chains.next[*link]) {
		u32 row = *link;
		struct id_value have = cmd_id(p->m, row, p->bits, false);

		if (same_id(&have, want)) {
			*link = p->chains.next[row];
			return row;
		}
	}
	return NONE;
}

static void push(struct pairing *p, u32 row)
{
	struct id_value v = cmd_id(p->m, row, p->bits, false);

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

/* ---- at once, while loading ---- */

/*
 * Most completions come a little after their command.  The commands that were
 * issued last and wait for theirs are found by their time of issue; which of
 * several with one identity and time it was, settle_equals() decides later.
 * What is not found here waits for the end of the input.
 */
#define BUCKET_BITS 12
#define BUCKET	    4u /* rows, + 1: 0 = free; the last ones in front */

static u32 *recent_of(struct loading *l, u64 ts_ns)
{
	return &l->recent[(ts_ns * 0x9e3779b97f4a7c15ull >> (64 - BUCKET_BITS)) * BUCKET];
}

int note_issued(struct model *m, u32 row)
{
	const struct cmd_table *t = &m->cmd;
	struct loading *l = m->loading;
	u32 *at;

	/* A snapshot may be superseded. */
	if (t->flags[row] & NVME_IN_FLIGHT)
		return 0;
	if (!l->recent)
		l->recent = calloc(BUCKET << BUCKET_BITS, sizeof(*l->recent));
	if (!l->recent)
		return -ENOMEM;
	at = recent_of(l, t->ts_ns[row]);
	memmove(at + 1, at, (BUCKET - 1) * sizeof(*at));
	at[0] = row + 1;
	return 0;
}

/* Pairs of other classes than the first may compete with them, which needs all of both. */
static bool same_classes(struct loading *l, u32 cmd_bits, u32 cmp_bits)
{
	if (!l->cmd_class) {
		l->cmd_class = (u8)(cmd_bits + 1);
		l->cmp_class = (u8)(cmp_bits + 1);
	}
	return l->cmd_class == cmd_bits + 1 && l->cmp_class == cmp_bits + 1;
}

/* True when the command may be that of the completion. */
static bool is_its(struct model *m, u32 row, const struct cmp_row *c)
{
	u32 known = cmd_identity(m, row), bits = known & c->identity;
	struct id_value have = cmd_id(m, row, bits, true), want = cmp_id(c, bits, true);

	return (bits & (ID_USER_DATA | ID_QUEUE)) && same_id(&have, &want) &&
	       same_classes(m->loading, known, c->identity);
}

bool pair_at_once(struct model *m, struct cmp_row *c)
{
	const struct cmd_table *t = &m->cmd;
	struct loading *l = m->loading;
	u32 *at, i;

	if (!c->has_lat || !l->recent)
		return false;
	at = recent_of(l, c->ts_ns - c->lat_ns);
	for (i = 0; i < BUCKET && at[i]; i++) {
		u32 row = at[i] - 1;

		if (t->ts_ns[row] != c->ts_ns - c->lat_ns || !is_its(m, row, c))
			continue;
		tie(m, c, row);
		for (; i < BUCKET - 1; i++)
			at[i] = at[i + 1];
		at[i] = 0;
		return true;
	}
	return false;
}

/* ---- with all of the input ---- */

/* Takes the first free completion of that identity, NULL when there is none. */
static struct cmp_row *take_cmp(struct pairing *p, const struct id_value *want)
{
	u32 *link = &p->chains.head[id_hash(want) & p->chains.mask];

	for (; *link != NONE; link = &p->chains.next[*link]) {
		struct cmp_row *c = &p->m->loading->cmp[*link];
		struct id_value have = cmp_id(c, p->bits, true);

		if (same_id(&have, want)) {
			*link = p->chains.next[*link];
			return c;
		}
	}
	return NULL;
}

/* By identity and time of issue, both sides in their order. */
static void pair_exact(struct pairing *p)
{
	struct model *m = p->m;
	struct loading *l = m->loading;
	u32 i;

	chains_reset(&p->chains);
	for (i = l->n_cmps; i-- > 0;) {
		const struct cmp_row *c = &l->cmp[i];
		struct id_value v;

		if (c->paired || !c->has_lat || c->identity != p->cmp_bits)
			continue;
		v = cmp_id(c, p->bits, true);
		chains_push(&p->chains, id_hash(&v), i);
	}
	for (i = 0; i < m->cmd.n; i++) {
		struct id_value want;
		struct cmp_row *c;

		if (!is_free(p, i))
			continue;
		want = cmd_id(m, i, p->bits, true);
		c = take_cmp(p, &want);
		if (c)
			tie(m, c, i);
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
				push(p, next);
		want = cmp_id(c, p->bits, false);
		row = take(p, &want);
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
			push(p, i);
	for (i = 0; i < p->n_by_time; i++) {
		struct cmp_row *c = &m->loading->cmp[p->by_time[i]];
		struct id_value want;

		if (c->paired || c->identity != p->cmp_bits)
			continue;
		want = cmp_id(c, p->bits, false);
		row = take(p, &want);
		if (row == NONE)
			continue;
		if (m->cmd.ts_ns[row] - c->ts_ns <= BACKWARDS_NS)
			tie(m, c, row);
		else
			push(p, row);
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
	if (!p->cmd_class)
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
	if (chains_init(&p->chains, timed ? MAX(m->cmd.n, l->n_cmps) : l->n_cmps))
		return -ENOMEM;
	return timed ? order_timed(p) : 0;
}

/* What a completion says of its command. */
struct outcome {
	u64 lat_ns;
	u32 flags;
	u16 status, hwq, cid;
};

#define OUTCOME_FLAGS (CMD_FAILED | CMD_NEGATIVE | CMD_BLK_STATUS | CMD_HAS_QUEUE | NVME_IN_FLIGHT)

static bool outcome_before(const void *arg, u32 a, u32 b)
{
	const struct outcome *o = arg;
	int c = compare_u64(o[a].lat_ns, o[b].lat_ns);

	c = c ? c : compare_u64(o[a].status, o[b].status);
	c = c ? c : compare_u64((u32)o[a].hwq << 16 | o[a].cid, (u32)o[b].hwq << 16 | o[b].cid);
	return (c ? c : compare_u64(o[a].flags, o[b].flags)) < 0;
}

/* Gives n rows their outcomes in order of latency; rows without one (NO_LAT) come last. */
static int settle_run(struct cmd_table *t, u32 first, u32 n)
{
	struct outcome *o = malloc(n * sizeof(*o));
	u32 *order = NULL, i;
	int ret;

	if (!o)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		o[i] = (struct outcome){ t->lat_ns[first + i], t->flags[first + i] & OUTCOME_FLAGS,
					 t->status[first + i], t->hwq[first + i], t->cid[first + i] };
	ret = sort_rows(n, outcome_before, o, &order);
	for (i = 0; order && i < n; i++) {
		const struct outcome *from = &o[order[i]];

		t->lat_ns[first + i] = from->lat_ns;
		t->flags[first + i] = (t->flags[first + i] & ~(u32)OUTCOME_FLAGS) | from->flags;
		t->status[first + i] = from->status;
		t->hwq[first + i] = from->hwq;
		t->cid[first + i] = from->cid;
	}
	free(order);
	free(o);
	return ret;
}

/* Nothing tells these commands apart. */
static bool may_swap(const struct cmd_table *t, u32 a, u32 b)
{
	return t->ts_ns[a] == t->ts_ns[b] && t->user_data[a] == t->user_data[b] && t->dev[a] == t->dev[b] &&
	       !((t->flags[a] ^ t->flags[b]) & (NVME_PASSTHROUGH | NVME_REFUSED));
}

/* Commands of one time and identity took their completions in the order of the input, which must have no say. */
static int settle_equals(struct cmd_table *t)
{
	u32 first, n;
	int ret = 0;

	for (first = 0; !ret && first < t->n; first += n) {
		for (n = 1; first + n < t->n && may_swap(t, first, first + n); n++)
			;
		if (n > 1)
			ret = settle_run(t, first, n);
	}
	return ret;
}

static int pair_rest(struct model *m)
{
	struct pairing p = { .m = m };
	const struct loading *l = m->loading;
	u32 i;
	int ret = start(&p);

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

int pair_completions(struct model *m)
{
	struct loading *l = m->loading;
	int ret = l->n_cmps ? pair_rest(m) : 0;

	/* Where commands say their tag, it tells them apart. */
	if (!ret && !l->tagged)
		ret = settle_equals(&m->cmd);
	return ret;
}
