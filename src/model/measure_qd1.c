// SPDX-License-Identifier: Apache-2.0
/* Within one operation: does each command wait for the one before? */
#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "lib/pages.h"
#include "model/measure_work.h"
#include "model/tables.h"

/* An operation with fewer commands says nothing about how it submits. */
#define MIN_CMDS	     4
/* Without a measured service time a gap this long looks serial. */
#define SUSPICIOUS_GAP_NS    40000
/* Two in flight on average is not serial, however long the gaps are. */
#define SERIAL_MAX_IN_FLIGHT 1.5

/* When the application submitted the command: a device without a free tag makes it wait until ts_ns. */
static u64 submitted(const struct model *m, u32 i)
{
	return m->cmd.ts_ns[i] - MIN(m->cmd.ts_ns[i], cmd_wait(&m->cmd, i));
}

static bool submitted_before(const void *arg, u32 a, u32 b)
{
	return submitted(arg, a) < submitted(arg, b);
}

/* Commands of the pool with an id that no operation has are a group by that id. */
static bool is_alone(const struct measure_work *w, u32 i)
{
	return w->pool[i] && w->m->cmd.op[i] == NONE && cmd_join_id(w->m, i);
}

static int group_by_id(struct work_groups *gs, const struct measure_work *w, u32 first)
{
	const struct model *m = w->m;
	u32 *of = pages_alloc((m->cmd.n + 1ul) * sizeof(*of)), i;
	struct map64 ids = {};
	int ret = of ? 0 : -ENOMEM;

	for (i = 0; i < m->cmd.n && !ret; i++) {
		bool is_new = false;
		u32 *at;

		of[i] = group_of(gs, w, i);
		if (i < first || !is_alone(w, i))
			continue;
		at = map64_put(&ids, cmd_join_id(m, i), &is_new);
		if (!at)
			ret = -ENOMEM;
		else if (is_new)
			*at = gs->n++;
		of[i] = at ? *at : NONE;
	}
	gs->of = of;
	map64_free(&ids);
	return ret;
}

static int find_groups(struct work_groups *gs, const struct measure_work *w)
{
	const struct model *m = w->m;
	int ret = 0;
	u32 i;

	gs->n = m->op.n;
	for (i = 0; i < m->cmd.n && !is_alone(w, i); i++)
		;
	if (i < m->cmd.n)
		ret = group_by_id(gs, w, i);
	gs->g = ret ? NULL : array_grow(NULL, 0, (gs->n + 1ul) * sizeof(*gs->g));
	return gs->g ? 0 : -ENOMEM;
}

static void add_interval(struct work_group *g, u64 ts, u64 end)
{
	u64 from = MAX(ts, g->busy_until);

	g->timed++;
	g->flight_ns += end - ts;
	if (end > from)
		g->busy_ns += end - from;
	g->busy_until = MAX(g->busy_until, end);
	g->last_end = MAX(g->last_end, end);
}

/* First pass: how many commands each group has, which way it goes, how busy it is. */
static void walk_groups(struct work_groups *gs, const struct measure_work *w)
{
	const struct model *m = w->m;
	u32 i;

	for (i = 0; i < m->cmd.n; i++) {
		u32 at = group_of(gs, w, i);
		struct work_group *g;
		u64 end;

		if (at == NONE)
			continue;
		g = &gs->g[at];
		if (!g->n++) {
			g->dir = w->dir[i];
			g->issued_ns = m->cmd.ts_ns[i];
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

/* Where each direction has its numbers in scratch: room for one a command of it. */
static void split_scratch(u64 *v[N_DIRS], const struct work_groups *gs, const struct measure_work *w)
{
	size_t reads = 0;
	u32 i;

	for (i = 0; i < gs->n; i++)
		if (gs->g[i].dir == DIR_READ)
			reads += gs->g[i].n;
	v[DIR_READ] = w->scratch;
	v[DIR_WRITE] = w->scratch + reads;
}

/* The distribution of the only name of this direction; NULL when there are two, or none. */
static const struct dist *only_latency(const struct measure *out, const struct measure_work *w, u8 dir)
{
	const struct dist *found = NULL;
	u32 i;

	for (i = 0; i < out->n_lat; i++) {
		if (name_dir(&w->names, out->lat[i].name) != dir)
			continue;
		if (found)
			return NULL;
		found = &out->lat[i].lat;
	}
	return found;
}

/* The latencies that the gaps are held against: those of all tagged commands of the direction. */
static int take_service(struct measure *out, const struct work_groups *gs, const struct measure_work *w)
{
	const struct model *m = w->m;
	int ret = 0;
	u8 dir;
	u32 i;

	for (dir = 0; dir < N_DIRS && !ret; dir++) {
		const struct dist *same = only_latency(out, w, dir);
		size_t n = 0;

		/* With tagged commands the pool has no others, so these have been taken. */
		if (same) {
			out->qd1[dir].service = *same;
			continue;
		}
		for (i = 0; i < m->cmd.n; i++)
			if (group_of(gs, w, i) != NONE && w->state[i] == STATE_OK && w->dir[i] == dir)
				w->scratch[n++] = m->cmd.lat_ns[i];
		ret = work_dist(&out->qd1[dir].service, w, w->scratch, n);
	}
	return ret;
}

/* Second pass: the gaps, and how much of them the device worked. */
static int take_gaps(struct measure_qd1 *qd1, struct work_groups *gs, const struct measure_work *w)
{
	const struct model *m = w->m;
	u32 k, prev[N_DIRS] = { NONE, NONE };
	u64 *v[N_DIRS];
	size_t n[N_DIRS] = {};
	int ret = 0, dir;

	split_scratch(v, gs, w);
	for (k = 0; k < m->cmd.n; k++) {
		u32 i = gs->order ? gs->order[k] : k, at = group_of(gs, w, i);
		struct measure_qd1 *q;
		struct work_group *g;

		if (at == NONE || gs->g[at].dir >= N_DIRS)
			continue;
		g = &gs->g[at];
		q = &qd1[g->dir];
		q->followed += prev[g->dir] != NONE;
		q->followed_by_own += prev[g->dir] == at;
		prev[g->dir] = at;
		if (g->n < MIN_CMDS)
			continue;
		if (g->seen++) {
			u64 gap = submitted(m, i) - g->last_ns;

			v[g->dir][n[g->dir]++] = gap;
			q->long_gaps += q->service.p25 && gap >= half(q->service.p25);
			if (g->last_lat != NO_LAT) {
				q->service_ns += g->last_lat;
				q->gap_ns += gap;
			}
		} else {
			g->first_ns = submitted(m, i);
		}
		g->last_ns = submitted(m, i);
		g->last_lat = w->state[i] <= STATE_FAILED ? m->cmd.lat_ns[i] : NO_LAT;
	}
	for (dir = 0; dir < N_DIRS && !ret; dir++) {
		struct measure_qd1 *q = &qd1[dir];

		ret = work_dist(&q->gap, w, v[dir], n[dir]);
		q->long_gap_share = share(q->long_gaps, q->gap.n);
		q->own_share = share(q->followed_by_own, q->followed);
		q->waited_ns = q->gap_ns > q->service_ns ? q->gap_ns - q->service_ns : 0;
	}
	return ret;
}

/* Serial on its own, whatever the median over all operations says. */
static bool is_serial(const struct work_group *g, u64 service)
{
	return service && (g->last_ns - g->first_ns) / (g->n - 1) >= half(service) &&
	       (double)g->flight_ns < SERIAL_MAX_IN_FLIGHT * (double)g->busy_ns;
}

/* What the groups of one direction add up to. */
static void sum_up(struct measure_qd1 *q, const struct work_groups *gs, enum dir dir)
{
	u64 flight = 0, busy = 0, issued = 0;
	u32 i;

	for (i = 0; i < gs->n; i++) {
		const struct work_group *g = &gs->g[i];

		if (g->n < MIN_CMDS || g->dir != dir)
			continue;
		q->ops++;
		q->serial_ops += is_serial(g, q->service.p25);
		q->span_ns += MAX(g->last_end, g->last_ns) - g->first_ns;
		flight += g->flight_ns;
		busy += g->busy_ns;
		issued += g->last_end - g->issued_ns;
	}
	q->in_flight = share(flight, issued);
	q->busy_in_flight = share(flight, busy);
	q->waited_share = share(q->waited_ns, q->span_ns);
	q->verdict = verdict(q);
	q->serial = q->verdict == QD1_SERIAL || q->verdict == QD1_SUSPICIOUS;
}

int measure_qd1(struct measure *out, const struct measure_work *w)
{
	struct work_groups gs = {};
	int ret = find_groups(&gs, w), dir;

	/* Without waits they are in this order. */
	if (!ret && w->m->cmd.waits)
		ret = sort_rows(w->m->cmd.n, submitted_before, w->m, &gs.order);
	if (!ret)
		walk_groups(&gs, w);
	if (!ret && out->pool_tagged)
		ret = take_service(out, &gs, w);
	if (!ret)
		ret = take_gaps(out->qd1, &gs, w);
	for (dir = 0; dir < N_DIRS && !ret; dir++)
		sum_up(&out->qd1[dir], &gs, dir);
	if (!ret)
		ret = measure_flow(out, w, &gs);
	for (dir = 0; dir < N_DIRS; dir++)
		classify(&out->qd1[dir]);
	array_free(gs.g, (gs.n + 1ul) * sizeof(*gs.g));
	pages_free(gs.of, (w->m->cmd.n + 1ul) * sizeof(*gs.of));
	free(gs.order);
	return ret;
}
