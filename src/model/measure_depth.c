// SPDX-License-Identifier: Apache-2.0
/* How many commands are in flight: within one operation (QD~1 detector) and over all. */
#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "model/measure_work.h"

/* An operation with fewer commands says nothing about how it submits. */
#define MIN_CMDS	     4
/* Without a measured service time a gap this long looks serial. */
#define SUSPICIOUS_GAP_NS    40000
/* Two in flight on average is not serial, however long the gaps are. */
#define SERIAL_MAX_IN_FLIGHT 1.5

/* The commands of one operation, or of one trace id that has no operation. */
struct group {
	u64 first_ns; /* issue of the first */
	u64 last_ns;  /* submission of the one before */
	u64 last_lat; /* of the command before, NO_LAT unknown */
	u64 last_end, busy_until;
	u64 flight_ns, busy_ns;
	u32 n, seen;
	u8 dir; /* of its first command */
};

struct groups {
	struct group *g;
	u32 *of;    /* group of each command, NONE = in no group */
	u32 *order; /* the commands as the application submitted them, NULL = as they are */
	u32 n;
};

/* When the application submitted the command: a device without a free tag makes it wait until ts_ns. */
static u64 submitted(const struct model *m, u32 i)
{
	return m->cmd.ts_ns[i] - MIN(m->cmd.ts_ns[i], (u64)m->cmd.wait_ns[i]);
}

static int by_submission(const void *x, const void *y, void *arg)
{
	u32 a = *(const u32 *)x, b = *(const u32 *)y;
	u64 ta = submitted(arg, a), tb = submitted(arg, b);

	if (ta != tb)
		return ta < tb ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int find_order(struct groups *gs, const struct model *m)
{
	bool sorted = true;
	u32 i;

	for (i = 1; i < m->cmd.n && sorted; i++)
		sorted = submitted(m, i - 1) <= submitted(m, i);
	if (sorted)
		return 0;
	gs->order = malloc(m->cmd.n * sizeof(*gs->order));
	if (!gs->order)
		return -ENOMEM;
	for (i = 0; i < m->cmd.n; i++)
		gs->order[i] = i;
	qsort_r(gs->order, m->cmd.n, sizeof(*gs->order), by_submission, (void *)m);
	return 0;
}

static int find_groups(struct groups *gs, const struct measure_work *w)
{
	const struct model *m = w->m;
	struct map64 ids = {};
	u32 i;
	int ret = -ENOMEM;

	gs->n = m->op.n;
	gs->of = calloc(m->cmd.n + 1ul, sizeof(*gs->of));
	if (!gs->of)
		return -ENOMEM;
	for (i = 0; i < m->cmd.n; i++) {
		u64 id = cmd_trace_id(m, i);
		bool is_new = false;
		u32 *at;

		gs->of[i] = m->cmd.op[i];
		if (!w->pool[i])
			gs->of[i] = NONE;
		if (!w->pool[i] || m->cmd.op[i] != NONE || !id)
			continue;
		at = map64_put(&ids, id, &is_new);
		if (!at)
			goto out;
		if (is_new)
			*at = gs->n++;
		gs->of[i] = *at;
	}
	gs->g = calloc(gs->n + 1ul, sizeof(*gs->g));
	ret = gs->g ? 0 : -ENOMEM;
out:
	map64_free(&ids);
	return ret;
}

static void add_interval(struct group *g, u64 ts, u64 end)
{
	u64 from = MAX(ts, g->busy_until);

	g->flight_ns += end - ts;
	if (end > from)
		g->busy_ns += end - from;
	g->busy_until = MAX(g->busy_until, end);
	g->last_end = MAX(g->last_end, end);
}

/* First pass: how many commands each group has, which way it goes, how busy it is. */
static void walk_groups(struct groups *gs, const struct measure_work *w)
{
	const struct model *m = w->m;
	u32 i;

	for (i = 0; i < m->cmd.n; i++) {
		struct group *g;
		u64 end;

		if (gs->of[i] == NONE)
			continue;
		g = &gs->g[gs->of[i]];
		if (!g->n++) {
			g->dir = w->dir[i];
			g->first_ns = m->cmd.ts_ns[i];
		}
		g->last_end = MAX(g->last_end, m->cmd.ts_ns[i]);
		if (work_interval(w, i, &end))
			add_interval(g, m->cmd.ts_ns[i], end);
	}
}

/* The shortest gap that is at least half of the service time. */
static u64 half(u64 service)
{
	return service / 2 + service % 2;
}

static enum qd1_verdict verdict(const struct measure_qd1 *q)
{
	if (!q->gap.n)
		return QD1_UNKNOWN;
	if (!q->service.p25)
		return q->gap.p50 >= SUSPICIOUS_GAP_NS ? QD1_SUSPICIOUS : QD1_PIPELINED;
	if (q->gap.p50 < half(q->service.p25))
		return QD1_PIPELINED;
	return q->busy_in_flight < SERIAL_MAX_IN_FLIGHT ? QD1_SERIAL : QD1_PIPELINED;
}

/* The latencies that the gaps of one direction are held against. */
static int take_service(struct measure_qd1 *q, const struct groups *gs, const struct measure_work *w, enum dir dir)
{
	const struct model *m = w->m;
	size_t n = 0;
	u32 i;

	for (i = 0; i < m->cmd.n; i++)
		if (gs->of[i] != NONE && w->dir[i] == dir && w->state[i] == STATE_OK)
			w->scratch[n++] = m->cmd.lat_ns[i];
	return dist_take(&q->service, w->scratch, n);
}

/* Second pass: the gaps, and how much of them the device worked. */
static int take_gaps(struct measure_qd1 *q, struct groups *gs, const struct measure_work *w, enum dir dir)
{
	const struct model *m = w->m;
	u32 k, prev = NONE;
	u64 service = 0;
	size_t n = 0, j;
	int ret;

	for (k = 0; k < m->cmd.n; k++) {
		u32 i = gs->order ? gs->order[k] : k, at = gs->of[i];
		struct group *g;

		if (at == NONE || gs->g[at].dir != dir)
			continue;
		q->followed += prev != NONE;
		q->followed_by_own += prev == at;
		prev = at;
		g = &gs->g[at];
		if (g->n < MIN_CMDS)
			continue;
		if (g->seen++) {
			u64 gap = submitted(m, i) - g->last_ns;

			w->scratch[n++] = gap;
			if (g->last_lat != NO_LAT) {
				service += g->last_lat;
				q->gap_ns += gap;
			}
		}
		g->last_ns = submitted(m, i);
		g->last_lat = w->state[i] <= STATE_FAILED ? m->cmd.lat_ns[i] : NO_LAT;
	}
	ret = dist_take(&q->gap, w->scratch, n);
	for (j = 0; j < n && !ret; j++)
		q->long_gaps += q->service.p25 && w->scratch[j] >= half(q->service.p25);
	q->waited_ns = q->gap_ns > service ? q->gap_ns - service : 0;
	return ret;
}

static int one_direction(struct measure_qd1 *q, struct groups *gs, const struct measure_work *w, enum dir dir)
{
	u64 flight = 0, busy = 0, span = 0;
	int ret = take_service(q, gs, w, dir);
	u32 i;

	if (!ret)
		ret = take_gaps(q, gs, w, dir);
	for (i = 0; i < gs->n && !ret; i++) {
		const struct group *g = &gs->g[i];

		if (g->n < MIN_CMDS || g->dir != dir)
			continue;
		q->ops++;
		flight += g->flight_ns;
		busy += g->busy_ns;
		span += g->last_end - g->first_ns;
	}
	q->in_flight = span ? (double)flight / (double)span : 0;
	q->busy_in_flight = busy ? (double)flight / (double)busy : 0;
	q->verdict = verdict(q);
	return ret;
}

int measure_qd1(struct measure *out, const struct measure_work *w)
{
	struct groups gs = {};
	int ret = 0, dir;

	if (!out->pool_tagged)
		return 0;
	ret = find_groups(&gs, w);
	if (!ret)
		ret = find_order(&gs, w->m);
	if (!ret)
		walk_groups(&gs, w);
	for (dir = 0; dir < N_DIRS && !ret; dir++)
		ret = one_direction(&out->qd1[dir], &gs, w, dir);
	free(gs.g);
	free(gs.of);
	free(gs.order);
	return ret;
}

/* A sweep over submissions (the table's order) and sorted ends; at equal times the end is first. */
int measure_depth(struct measure *out, const struct measure_work *w)
{
	const struct model *m = w->m;
	struct measure_depth *d = &out->depth;
	u64 depth = 0, last = 0, end, flight = 0;
	size_t n = 0, e = 0;
	u32 i;
	int ret;

	for (i = 0; i < m->cmd.n; i++)
		if (w->pool[i] && work_interval(w, i, &end)) {
			w->scratch[n++] = end;
			flight += end - m->cmd.ts_ns[i];
		}
	if (!n)
		return 0;
	d->n = n;
	ret = u64_sort(w->scratch, n);
	if (ret)
		return ret;
	for (i = 0; e < n;) {
		u64 now;
		bool begin;

		while (i < m->cmd.n && !(w->pool[i] && work_interval(w, i, &end)))
			i++;
		begin = i < m->cmd.n && m->cmd.ts_ns[i] < w->scratch[e];
		/* A command that takes no time begins before it ends. */
		if (!begin && i < m->cmd.n && !depth)
			begin = true;
		now = begin ? m->cmd.ts_ns[i] : w->scratch[e];
		if (last || depth) {
			d->span_ns += now - last;
			d->busy_ns += depth ? now - last : 0;
			d->le1_ns += depth <= 1 ? now - last : 0;
		}
		last = now;
		if (begin) {
			depth++;
			i++;
		} else {
			depth--;
			e++;
		}
		d->max = MAX(d->max, depth);
	}
	if (d->span_ns)
		d->mean = (double)flight / (double)d->span_ns;
	if (d->busy_ns)
		d->busy_mean = (double)flight / (double)d->busy_ns;
	return 0;
}
