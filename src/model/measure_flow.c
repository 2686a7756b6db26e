// SPDX-License-Identifier: Apache-2.0
/*
 * One sweep over submissions and completions: queue depth over all, and per
 * direction what tells why commands do or do not overlap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "model/flights.h"
#include "model/measure_work.h"

/* A number that changes over time, and for how long it was what. */
struct level {
	u64 since;
	u32 now, max;
	u64 some_ns, one_ns, sum_ns; /* at >= 1, at exactly 1, and the integral */
};

static void level_move(struct level *l, u64 at, bool up)
{
	u64 dt = at - l->since;

	if (l->now) {
		l->some_ns += dt;
		l->one_ns += l->now == 1 ? dt : 0;
		l->sum_ns += dt * l->now;
	}
	l->since = at;
	l->now += up ? 1u : -1u;
	l->max = MAX(l->max, l->now);
}

/* One direction. */
struct track {
	struct measure_flow *out;
	struct level depth, open, threads;
	struct cover running; /* operations, from begin to end */
	u32 last_thread;
	u64 common_bytes;
	u64 *floor; /* latencies of the commands that found the fewest others */
	size_t n_floor;
};

struct thread {
	u32 in_flight[N_DIRS];
	bool seen[N_DIRS];
};

struct sweep {
	const struct measure_work *w;
	struct work_groups *gs;
	struct flights flights;
	struct level depth; /* of the pool */
	u64 n, first_ns, last_ns, busy_since;
	u32 *of_device; /* in flight on each device, and on no known one */
	struct map64 thread_at;
	struct thread *thread;
	u32 n_threads, cap_threads;
	u32 last_tid, last_thread;
	struct track track[N_DIRS];
};

/* The row of the submitting thread; NONE when it is not known. */
static int find_thread(struct sweep *s, u32 tid, u32 *row)
{
	bool is_new = false;
	u32 *at;

	if (!tid || tid == s->last_tid) {
		*row = tid ? s->last_thread : NONE;
		return 0;
	}
	at = map64_put(&s->thread_at, tid, &is_new);
	if (!at)
		return -ENOMEM;
	if (is_new) {
		if (s->n_threads == s->cap_threads) {
			u32 cap = s->cap_threads ? s->cap_threads * 2 : 64;
			struct thread *grown = reallocarray(s->thread, cap, sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			s->thread = grown;
			s->cap_threads = cap;
		}
		s->thread[s->n_threads] = (struct thread){};
		*at = s->n_threads++;
	}
	s->last_tid = tid;
	s->last_thread = *row = *at;
	return 0;
}

/* Nothing of the pool has been in flight since last_ns, and now there is something. */
static void end_pause(struct sweep *s, u64 now)
{
	int d;

	for (d = 0; d < N_DIRS; d++) {
		struct track *t = &s->track[d];
		u64 pause = now - s->last_ns;

		if (t->open.now) {
			t->out->pauses_within++;
			t->out->pause_within_ns += pause;
			continue;
		}
		if (s->w->m->op.n)
			pause = cover_of(&t->running, s->last_ns, now);
		else if (!t->out->n || pause > s->last_ns - s->busy_since)
			pause = 0;
		t->out->pauses_between += pause > 0;
		t->out->pause_between_ns += pause;
	}
}

static void submit_thread(struct sweep *s, struct track *t, u8 dir, u64 now, u32 row)
{
	struct thread *x;

	if (row == NONE)
		return;
	x = &s->thread[row];
	t->out->threads += !x->seen[dir];
	x->seen[dir] = true;
	t->out->thread_switches += t->last_thread != NONE && t->last_thread != row;
	t->last_thread = row;
	if (!x->in_flight[dir]++)
		level_move(&t->threads, now, true);
}

/* Keeps the latency when no command found fewer others in flight than this one. */
static void keep_floor(struct sweep *s, struct track *t, u32 i, u32 found)
{
	const struct cmd_table *c = &s->w->m->cmd;

	if (s->w->state[i] != STATE_OK || c->bytes[i] != t->common_bytes || (t->n_floor && found > t->out->floor_depth))
		return;
	if (!t->n_floor || found < t->out->floor_depth) {
		t->n_floor = 0;
		t->out->floor_depth = found;
	}
	t->floor[t->n_floor++] = c->lat_ns[i];
}

static void submit(struct sweep *s, u32 i, u32 thread)
{
	const struct cmd_table *c = &s->w->m->cmd;
	u32 found = s->of_device[MIN(cmd_dev(s->w->m, i), s->w->m->n_devices)]++, g = group_of(s->gs, s->w, i);
	u64 now = c->ts_ns[i];
	u8 dir = s->w->dir[i];
	struct track *t;

	if (!s->w->pool[i])
		return;
	if (!s->n++)
		s->first_ns = now;
	else if (!s->depth.now && now > s->last_ns)
		end_pause(s, now);
	if (!s->depth.now)
		s->busy_since = now;
	level_move(&s->depth, now, true);
	if (dir >= N_DIRS)
		return;
	t = &s->track[dir];
	t->out->n++;
	if (g != NONE && !s->gs->g[g].begun++) {
		level_move(&t->open, now, true);
		t->out->objects++;
	}
	level_move(&t->depth, now, true);
	keep_floor(s, t, i, found);
	submit_thread(s, t, dir, now, thread);
}

static void complete(struct sweep *s, const struct flight *f)
{
	u32 g = group_of(s->gs, s->w, f->cmd);
	u8 dir = s->w->dir[f->cmd];
	struct track *t;

	s->of_device[MIN(cmd_dev(s->w->m, f->cmd), s->w->m->n_devices)]--;
	if (!s->w->pool[f->cmd])
		return;
	level_move(&s->depth, f->end, false);
	s->last_ns = f->end;
	if (dir >= N_DIRS)
		return;
	t = &s->track[dir];
	level_move(&t->depth, f->end, false);
	/* The sweep has the commands with a duration only. */
	if (g != NONE && ++s->gs->g[g].ended == s->gs->g[g].timed)
		level_move(&t->open, f->end, false);
	if (f->thread != NONE && !--s->thread[f->thread].in_flight[dir])
		level_move(&t->threads, f->end, false);
}

/* The most frequent size of the commands of each direction. */
static int common_sizes(struct sweep *s)
{
	const struct cmd_table *c = &s->w->m->cmd;
	u64 last = 0, key;
	u32 most[N_DIRS] = {}, *at = NULL, i;
	struct map64 sizes = {};
	bool is_new = false;

	for (i = 0; i < c->n; i++) {
		u8 dir = s->w->dir[i];

		if (!s->w->pool[i] || dir >= N_DIRS)
			continue;
		key = (u64)dir << 32 | c->bytes[i];
		if (!at || key != last)
			at = map64_put(&sizes, key, &is_new);
		if (!at) {
			map64_free(&sizes);
			return -ENOMEM;
		}
		last = key;
		if (++*at > most[dir]) {
			most[dir] = *at;
			s->track[dir].common_bytes = c->bytes[i];
		}
	}
	map64_free(&sizes);
	return 0;
}

/* When operations of each direction run, failed ones, too: they wait as well. */
static int cover_running(struct sweep *s)
{
	const struct model *m = s->w->m;
	int ret = 0, d;
	u32 i;

	for (i = 0; i < m->op.n && !ret; i++) {
		enum dir dir = work_op_dir(s->w, i);
		const struct op_span *span = &s->w->span[i];

		if (dir < N_DIRS && !span->instant)
			ret = cover_add(&s->track[dir].running, span->begin_ns, span->end_ns);
	}
	for (d = 0; d < N_DIRS; d++)
		cover_settle(&s->track[d].running);
	return ret;
}

/* Takes the commands of the next block in, with what is in flight from before; *i is the first one after it. */
static int board(struct sweep *s, u32 *i)
{
	const struct cmd_table *c = &s->w->m->cmd;
	u32 last = flights_block(&s->flights, *i, c->n);
	u64 until = last < c->n ? c->ts_ns[last - 1] : UINT64_MAX;
	struct flight f;
	int ret = 0;

	for (; *i < last && !ret; ++*i) {
		f.cmd = *i;
		if (!work_interval(s->w, *i, &f.end))
			continue;
		ret = find_thread(s, c->tid[*i], &f.thread);
		if (!ret)
			ret = flights_add(&s->flights, f);
	}
	return ret ? ret : flights_settle(&s->flights, until);
}

static int run(struct sweep *s)
{
	const struct cmd_table *c = &s->w->m->cmd;
	struct flights *h = &s->flights;
	const struct flight *f, *done;
	u32 i = 0, k;
	int ret = 0;

	while (i < c->n && !ret) {
		ret = board(s, &i);
		for (k = h->n_carried; k < h->n && !ret; k++) {
			f = &h->v[k];
			while ((done = flights_next(h)) && done->end <= c->ts_ns[f->cmd] && done->cmd < f->cmd) {
				complete(s, done);
				h->at++;
			}
			submit(s, f->cmd, f->thread);
		}
		for (; !ret && (done = flights_next(h)); h->at++)
			complete(s, done);
	}
	return ret;
}

static void take_depth(struct measure_depth *d, const struct sweep *s)
{
	d->n = s->n;
	d->max = s->depth.max;
	d->span_ns = s->last_ns - s->first_ns;
	d->busy_ns = s->depth.some_ns;
	d->le1_ns = d->span_ns - s->depth.some_ns + s->depth.one_ns;
	d->mean = share(s->depth.sum_ns, d->span_ns);
	d->busy_mean = share(s->depth.sum_ns, d->busy_ns);
	d->le1_share = share(d->le1_ns, d->span_ns);
}

static void take_track(const struct track *t)
{
	struct measure_flow *f = t->out;

	f->depth_max = t->depth.max;
	f->busy_ns = t->depth.some_ns;
	f->multi_ns = t->depth.some_ns - t->depth.one_ns;
	f->busy_depth = share(t->depth.sum_ns, t->depth.some_ns);
	f->objects_max = t->open.max;
	f->open_ns = t->open.some_ns;
	f->open_one_ns = t->open.one_ns;
	f->objects_mean = share(t->open.sum_ns, t->open.some_ns);
	f->thread_multi_ns = t->threads.some_ns - t->threads.one_ns;
	f->size_bytes = t->common_bytes;
}

/*
 * Whether the latencies of the most frequent size are needed: the queue is
 * deep, and some commands took long enough.
 */
static bool may_wait(const struct measure_qd1 *q)
{
	const struct measure_flow *f = &q->flow;

	return f->busy_depth >= DEEP_QUEUE && (!q->service.n || q->service.p95 / WAITING_FACTOR >= f->at_floor.p50);
}

/* Latencies of the most frequent size, from all commands: reads from the front of scratch, writes from its end. */
static int take_at_size(struct measure_qd1 *qd1, const struct measure_work *w)
{
	const struct cmd_table *c = &w->m->cmd;
	u64 *reads = w->scratch, *writes = w->scratch + c->n;
	u32 i;
	int ret;

	for (i = 0; i < c->n; i++) {
		u8 dir = w->dir[i];

		if (!w->pool[i] || dir >= N_DIRS || w->state[i] != STATE_OK || c->bytes[i] != qd1[dir].flow.size_bytes)
			continue;
		if (dir == DIR_READ)
			*reads++ = c->lat_ns[i];
		else
			*--writes = c->lat_ns[i];
	}
	ret = work_dist(&qd1[DIR_READ].flow.at_size, w, w->scratch, (size_t)(reads - w->scratch));
	return ret ? ret : work_dist(&qd1[DIR_WRITE].flow.at_size, w, writes, (size_t)(w->scratch + c->n - writes));
}

int measure_flow(struct measure *out, const struct measure_work *w, struct work_groups *gs)
{
	struct sweep s = { .w = w, .gs = gs };
	u64 *floor = w->scratch;
	int ret = -ENOMEM, dir;

	for (dir = 0; dir < N_DIRS; dir++) {
		s.track[dir] = (struct track){ .out = &out->qd1[dir].flow, .last_thread = NONE, .floor = floor };
		floor += out->pool_dir_n[dir];
	}
	s.of_device = calloc(w->m->n_devices + 1ul, sizeof(*s.of_device));
	if (!s.of_device)
		goto out;
	ret = common_sizes(&s);
	if (!ret)
		ret = cover_running(&s);
	if (!ret)
		ret = run(&s);
	if (!ret)
		take_depth(&out->depth, &s);
	for (dir = 0; dir < N_DIRS && !ret; dir++) {
		struct track *t = &s.track[dir];

		take_track(t);
		ret = work_dist(&t->out->at_floor, w, t->floor, t->n_floor);
	}
	/* Not before both floors are taken: they are in scratch. */
	if (!ret && (may_wait(&out->qd1[DIR_READ]) || may_wait(&out->qd1[DIR_WRITE])))
		ret = take_at_size(out->qd1, w);
out:
	for (dir = 0; dir < N_DIRS; dir++)
		free(s.track[dir].running.v);
	map64_free(&s.thread_at);
	flights_free(&s.flights);
	free(s.of_device);
	free(s.thread);
	return ret;
}
