// SPDX-License-Identifier: Apache-2.0
#include "model/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hist.h"
#include "lib/pages.h"

/* The time that all commands take: from the first submission to the last end. */
static void time_range(const struct model *m, u64 capture_end_ns, u64 *from, u64 *to)
{
	bool any = false;
	u32 i;

	*from = *to = 0;
	for (i = 0; i < m->cmd.n; i++) {
		enum cmd_state s = cmd_state(m, i);
		u64 end = s == STATE_IN_FLIGHT ? MAX(capture_end_ns, m->cmd.ts_ns[i]) : cmd_end(m, i);

		if (!cmd_reached_device(s))
			continue;
		*from = any ? MIN(*from, m->cmd.ts_ns[i]) : m->cmd.ts_ns[i];
		*to = MAX(*to, end);
		any = true;
	}
}

/* As many equal steps as there is room for; a range of no length is one step. */
static u64 step_of(u64 from, u64 to, u32 max_steps, u32 *n)
{
	u64 step = MAX((to - from) / max_steps + ((to - from) % max_steps != 0), 1ull);

	*n = (u32)MAX((to - from) / step + ((to - from) % step != 0), 1ull);
	return step;
}

static int series_make(struct series *s, const struct model *m, u64 capture_end_ns, u32 points, u32 columns)
{
	u32 k;

	*s = (struct series){};
	points = points ? MIN(points, SERIES_MAX_POINTS) : SERIES_MAX_POINTS;
	if (!m->cmd.n)
		return 0;
	time_range(m, capture_end_ns, &s->start_ns, &s->end_ns);
	s->step_ns = step_of(s->start_ns, s->end_ns, points, &s->n);
	for (k = 0; k < columns; k++) {
		s->v[k] = calloc(s->n, sizeof(*s->v[k]));
		if (!s->v[k])
			return -ENOMEM;
	}
	return 0;
}

void series_free(struct series *s)
{
	int k;

	for (k = 0; k < SERIES_COLUMNS; k++)
		free(s->v[k]);
	*s = (struct series){};
}

static u32 step_at(const struct series *s, u64 at)
{
	return (u32)MIN((at - s->start_ns) / s->step_ns, (u64)s->n - 1);
}

static u64 step_end(const struct series *s, u32 i)
{
	return MIN(s->start_ns + (i + 1) * s->step_ns, s->end_ns);
}

/* A level that rises and falls: what it adds to the step that it does so in, and its change for those behind. */
struct change {
	double area;
	s64 level;
};

static void move(const struct series *s, struct change *c, u64 at, int by)
{
	u32 i = step_at(s, at);

	c[i].area += (double)by * (double)(step_end(s, i) - MIN(at, step_end(s, i)));
	c[i].level += by;
}

static void take_mean(const struct series *s, const struct change *c, double *v)
{
	s64 level = 0;
	u32 i;

	for (i = 0; i < s->n; i++) {
		u64 from = s->start_ns + i * s->step_ns, len = step_end(s, i) - from;

		v[i] = len ? ((double)level * (double)len + c[i].area) / (double)len : 0;
		level += c[i].level;
	}
}

/* Until when the command is in flight; false when that is not known. */
static bool in_flight(const struct model *m, u32 i, u64 end_ns, u64 *until)
{
	enum cmd_state s = cmd_state(m, i);

	*until = s == STATE_IN_FLIGHT ? MAX(end_ns, m->cmd.ts_ns[i]) : cmd_end(m, i);
	return s == STATE_IN_FLIGHT || (s < STATE_IN_FLIGHT && m->cmd.lat_ns[i] != NO_LAT);
}

/* The highest level in each step, from the n ends in order; an end comes before a begin at the same time. */
static void take_max(const struct series *s, const struct model *m, u64 end_ns, const u64 *end, size_t n, double *v)
{
	u64 level = 0, until;
	u32 at = 0, b = 0;
	size_t e = 0;

	while (e < n) {
		bool up;
		u32 i;

		while (b < m->cmd.n && !in_flight(m, b, end_ns, &until))
			b++;
		up = b < m->cmd.n && (m->cmd.ts_ns[b] < end[e] || !level);
		i = step_at(s, up ? m->cmd.ts_ns[b] : end[e]);
		/* The level of before holds up to here. */
		for (; at < i; v[++at] = (double)level)
			;
		if (up) {
			b++;
			level++;
		} else {
			e++;
			level--;
		}
		v[i] = MAX(v[i], (double)level);
	}
}

int series_depth(struct series *out, const struct model *m, u32 points)
{
	struct change *c[3] = {};
	u64 *end, end_ns = capture_end(m), until;
	size_t room = (m->cmd.n + 1ul) * 2 * sizeof(*end), n = 0;
	struct dir_names names;
	u32 i, k;
	int ret = series_make(out, m, end_ns, points, N_DEPTHS);

	if (ret || !out->n)
		return ret;
	ret = -ENOMEM;
	dir_names_init(&names, m);
	/* And as much again to sort them. */
	end = pages_alloc(room);
	for (k = 0; k < ARRAY_SIZE(c); k++) {
		c[k] = calloc(out->n, sizeof(*c[k]));
		if (!c[k])
			goto out;
	}
	if (!end)
		goto out;
	for (i = 0; i < m->cmd.n; i++) {
		enum dir d = cmd_dir(&names, m, i);

		if (!in_flight(m, i, end_ns, &until))
			continue;
		end[n++] = until;
		for (k = 0; k < ARRAY_SIZE(c); k++)
			if (!k || d == k - 1) {
				move(out, c[k], m->cmd.ts_ns[i], 1);
				move(out, c[k], until, -1);
			}
	}
	take_mean(out, c[0], out->v[DEPTH_MEAN]);
	take_mean(out, c[1], out->v[DEPTH_READS]);
	take_mean(out, c[2], out->v[DEPTH_WRITES]);
	u64_sort_in(end, n, end + n);
	take_max(out, m, end_ns, end, n, out->v[DEPTH_MAX]);
	ret = 0;
out:
	for (k = 0; k < ARRAY_SIZE(c); k++)
		free(c[k]);
	pages_free(end, room);
	return ret;
}

int series_rate(struct series *out, const struct model *m, u32 points)
{
	struct dir_names names;
	u32 i, k;
	int ret = series_make(out, m, capture_end(m), points, N_RATES);

	if (ret || !out->n)
		return ret;
	dir_names_init(&names, m);
	for (i = 0; i < m->cmd.n; i++) {
		enum dir d = cmd_dir(&names, m, i);

		if (d < N_DIRS && cmd_state(m, i) == STATE_OK)
			out->v[d][step_at(out, cmd_end(m, i))] += m->cmd.bytes[i];
	}
	for (i = 0; i < out->n; i++) {
		u64 len = step_end(out, i) - (out->start_ns + i * out->step_ns);

		for (k = 0; k < N_RATES; k++)
			out->v[k][i] = len ? out->v[k][i] * 1e9 / (double)len : 0;
	}
	return 0;
}

/* ---- latency ---- */

/* The smallest number in a bucket of lib/hist.h. */
static u64 bucket_low(u32 b)
{
	return b < 16 ? b : ((u64)(b - 16) % 16 + 16) << ((b - 16) / 16);
}

int series_latency(struct latencies *out, const struct model *m)
{
	u64 count[N_DIRS][HIST_BUCKETS + 1] = {};
	u32 first = HIST_BUCKETS, last = 0, i, d;
	struct dir_names names;

	*out = (struct latencies){};
	dir_names_init(&names, m);
	for (i = 0; i < m->cmd.n; i++) {
		enum dir dir = cmd_dir(&names, m, i);
		u32 b;

		if (dir >= N_DIRS || cmd_state(m, i) != STATE_OK)
			continue;
		b = hist_bucket(m->cmd.lat_ns[i]);
		count[dir][b]++;
		out->total[dir]++;
		first = MIN(first, b);
		last = MAX(last, b);
	}
	if (first > last)
		return 0;
	out->n = last - first + 1;
	out->low_ns = malloc((out->n + 1ul) * sizeof(*out->low_ns));
	if (!out->low_ns)
		return -ENOMEM;
	for (i = 0; i <= out->n; i++)
		out->low_ns[i] = first + i < HIST_BUCKETS ? bucket_low(first + i) : UINT64_MAX;
	for (d = 0; d < N_DIRS; d++) {
		out->count[d] = malloc(out->n * sizeof(u64));
		if (!out->count[d])
			return -ENOMEM;
		memcpy(out->count[d], &count[d][first], out->n * sizeof(u64));
	}
	return 0;
}

void latencies_free(struct latencies *l)
{
	int d;

	free(l->low_ns);
	for (d = 0; d < N_DIRS; d++)
		free(l->count[d]);
	*l = (struct latencies){};
}

/* ---- places ---- */

/* True when the command is of the device, and of a direction. */
static bool is_shown(const struct model *m, const struct dir_names *names, u32 i, u32 dev)
{
	return cmd_reached_device(cmd_state(m, i)) && cmd_dir(names, m, i) < N_DIRS &&
	       (dev == NONE || cmd_dev(m, i) == dev);
}

int series_density(struct density *out, const struct model *m, u32 dev, u32 columns, u32 rows)
{
	u64 from = UINT64_MAX, to = 0, low = UINT64_MAX, high = 0;
	struct dir_names names;
	u32 i, d;

	*out = (struct density){};
	columns = columns ? MIN(columns, DENSITY_MAX_COLUMNS) : DENSITY_MAX_COLUMNS;
	rows = rows ? MIN(rows, DENSITY_MAX_ROWS) : DENSITY_MAX_ROWS;
	dir_names_init(&names, m);
	for (i = 0; i < m->cmd.n; i++) {
		if (!is_shown(m, &names, i, dev))
			continue;
		if (!(m->cmd.flags[i] & CMD_HAS_SLBA)) {
			out->no_place++;
			continue;
		}
		from = MIN(from, m->cmd.ts_ns[i]);
		to = MAX(to, m->cmd.ts_ns[i]);
		low = MIN(low, m->cmd.slba[i]);
		high = MAX(high, m->cmd.slba[i]);
		out->n++;
	}
	if (!out->n)
		return 0;
	out->start_ns = from;
	out->first_lba = low;
	/* One more, so that the last one is inside. */
	out->step_ns = step_of(from, to < UINT64_MAX ? to + 1 : to, columns, &out->columns);
	out->lba_step = step_of(low, high < UINT64_MAX ? high + 1 : high, rows, &out->rows);
	for (d = 0; d < N_DIRS; d++) {
		out->cell[d] = calloc((size_t)out->columns * out->rows, sizeof(*out->cell[d]));
		if (!out->cell[d])
			return -ENOMEM;
	}
	for (i = 0; i < m->cmd.n; i++) {
		u64 x, y;
		u32 *cell;

		if (!is_shown(m, &names, i, dev) || !(m->cmd.flags[i] & CMD_HAS_SLBA))
			continue;
		x = MIN((m->cmd.ts_ns[i] - from) / out->step_ns, out->columns - 1ull);
		y = MIN((m->cmd.slba[i] - low) / out->lba_step, out->rows - 1ull);
		cell = &out->cell[cmd_dir(&names, m, i)][y * out->columns + x];
		if (++*cell > out->max)
			out->max = *cell;
	}
	return 0;
}

void density_free(struct density *d)
{
	int k;

	for (k = 0; k < N_DIRS; k++)
		free(d->cell[k]);
	*d = (struct density){};
}
