// SPDX-License-Identifier: Apache-2.0
/* What the page draws of commands: queue depth, throughput, latencies, places on the device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/series.h"
#include "out/html_work.h"

/* Steps of a line: as many as a wide screen tells apart. */
#define DEPTH_STEPS    500u
/* Throughput is noise when a step holds less than this many commands. */
#define RATE_STEPS     400u
#define RATE_STEPS_MIN 40u
#define CMDS_PER_STEP  8u
#define PLACE_COLUMNS  360u
#define PLACE_ROWS     90u

/* "name": [1,2,3] on one line, in five significant digits. */
static void reals(struct json *j, const char *name, const double *v, u32 n)
{
	u32 i;

	jw_key(j, name);
	buf_byte(j->b, '[');
	for (i = 0; i < n; i++)
		buf_printf(j->b, i ? ",%.5g" : "%.5g", v[i]);
	buf_byte(j->b, ']');
}

static void numbers(struct json *j, const char *name, const u64 *v, u32 n)
{
	u32 i;

	jw_key(j, name);
	buf_byte(j->b, '[');
	for (i = 0; i < n; i++) {
		buf_str(j->b, i ? "," : "");
		buf_u64(j->b, v[i]);
	}
	buf_byte(j->b, ']');
}

static int depth(struct json *j, const struct report_arm *a)
{
	struct series s;
	int ret = series_depth(&s, a->m, DEPTH_STEPS);

	if (!ret && a->x->cmd.n && a->x->depth.n) {
		jw_object(j, "depth");
		jw_number(j, "span", s.end_ns - s.start_ns);
		jw_number(j, "step", s.step_ns);
		reals(j, "max", s.v[DEPTH_MAX], s.n);
		reals(j, "mean", s.v[DEPTH_MEAN], s.n);
		reals(j, "reads", s.v[DEPTH_READS], s.n);
		reals(j, "writes", s.v[DEPTH_WRITES], s.n);
		jw_close(j, '}');
	}
	series_free(&s);
	return ret;
}

static int rate(struct json *j, const struct report_arm *a)
{
	u64 steps = a->x->cmd.n / CMDS_PER_STEP;
	struct series s;
	int ret = series_rate(&s, a->m, (u32)MIN(MAX(steps, (u64)RATE_STEPS_MIN), (u64)RATE_STEPS));

	if (!ret && a->x->cmd.n && s.end_ns > s.start_ns) {
		jw_object(j, "rate");
		jw_number(j, "span", s.end_ns - s.start_ns);
		jw_number(j, "step", s.step_ns);
		reals(j, "reads", s.v[RATE_READS], s.n);
		reals(j, "writes", s.v[RATE_WRITES], s.n);
		jw_close(j, '}');
	}
	series_free(&s);
	return ret;
}

/* The figures of a direction, when all of its commands have one name; the page draws them into the picture. */
static const struct dist *figures_of(const struct report_arm *a, enum dir dir)
{
	const struct dist *found = NULL;
	struct dir_names names;
	u32 i, k;

	dir_names_init(&names, a->m);
	for (i = 0; i < a->x->n_lat; i++)
		for (k = dir == DIR_READ ? 0 : 2; k < (dir == DIR_READ ? 2u : 4u); k++) {
			if (!a->x->lat[i].name || a->x->lat[i].name != names.id[k])
				continue;
			if (found)
				return NULL;
			found = &a->x->lat[i].lat;
		}
	return found;
}

static int latency(struct json *j, const struct report_arm *a)
{
	struct latencies l;
	int ret = series_latency(&l, a->m), d;

	if (!ret && l.n) {
		jw_object(j, "lat");
		numbers(j, "edge", l.low_ns, l.n + 1);
		jw_array(j, "dirs");
		for (d = 0; d < N_DIRS; d++) {
			const struct dist *f = figures_of(a, (enum dir)d);

			jw_item(j);
			jw_open(j, '{');
			jw_number(j, "dir", (u64)d);
			jw_number(j, "n", l.total[d]);
			if (f && f->n) {
				jw_number(j, "p50", f->p50);
				jw_number(j, "p99", f->p99);
			}
			numbers(j, "count", l.count[d], l.n);
			jw_close(j, '}');
		}
		jw_close(j, ']');
		jw_close(j, '}');
	}
	latencies_free(&l);
	return ret;
}

/* ---- places ---- */

/* The device with most of the commands; NONE when no command has one. */
static int busiest(const struct model *m, u32 *dev, u32 *used)
{
	u32 *n = calloc(m->n_devices + 1ul, sizeof(*n)), i;

	*dev = NONE;
	*used = 0;
	if (!n)
		return -ENOMEM;
	for (i = 0; i < m->cmd.n; i++)
		if (cmd_dev(m, i) < m->n_devices && cmd_reached_device(cmd_state(m, i)))
			n[cmd_dev(m, i)]++;
	for (i = 0; i < m->n_devices; i++) {
		*used += n[i] > 0;
		if (n[i] && (*dev == NONE || n[i] > n[*dev]))
			*dev = i;
	}
	free(n);
	return 0;
}

/* Cells that are not empty: how many empty ones before it, and its count. */
static void cells(struct json *j, const u32 *cell, u32 n)
{
	u32 i, empty = 0;
	bool first = true;

	jw_item(j);
	buf_byte(j->b, '[');
	for (i = 0; i < n; i++) {
		if (!cell[i]) {
			empty++;
			continue;
		}
		buf_str(j->b, first ? "" : ",");
		first = false;
		buf_u64(j->b, empty);
		buf_byte(j->b, ',');
		buf_u64(j->b, cell[i]);
		empty = 0;
	}
	buf_byte(j->b, ']');
}

static void draw_places(struct json *j, const struct report_arm *a, const struct density *g, u32 dev, u32 used)
{
	u32 lba = dev < a->m->n_devices ? a->m->device[dev].lba_bytes : 0;
	double bytes = lba ? lba : a->m->lba_bytes;
	int d;

	jw_object(j, "lba");
	jw_number(j, "nx", g->columns);
	jw_number(j, "ny", g->rows);
	jw_number(j, "xstep", g->step_ns);
	jw_real(j, "ystep", (double)g->lba_step * bytes);
	jw_real(j, "lo", (double)g->first_lba * bytes);
	jw_number(j, "n", g->n);
	jw_number(j, "no_place", g->no_place);
	jw_number(j, "devices", used);
	if (dev < a->m->n_devices)
		member_text(j, "device", strpool_get(&a->m->strings, a->m->device[dev].name),
			    strpool_len(&a->m->strings, a->m->device[dev].name));
	jw_array(j, "dirs");
	for (d = 0; d < N_DIRS; d++)
		cells(j, g->cell[d], g->columns * g->rows);
	jw_close(j, ']');
	jw_close(j, '}');
}

static int places(struct json *j, const struct report_arm *a, u32 n)
{
	struct density g = {};
	u32 dev, used;
	int ret = busiest(a->m, &dev, &used);

	if (!ret)
		ret = series_density(&g, a->m, dev, n > 1 ? PLACE_COLUMNS / 2 : PLACE_COLUMNS, PLACE_ROWS);
	if (!ret && g.n)
		draw_places(j, a, &g, dev, used);
	density_free(&g);
	return ret;
}

int html_series(struct json *j, const struct report_arm *a, u32 n)
{
	int ret = depth(j, a);

	if (!ret)
		ret = rate(j, a);
	if (!ret)
		ret = latency(j, a);
	if (!ret)
		ret = places(j, a, n);
	return ret;
}
