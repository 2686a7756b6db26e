// SPDX-License-Identifier: Apache-2.0
#include "model/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that had no command for so many intervals are dropped. */
#define KEEP_INTERVALS 10
/* A verdict on fewer commands would be a guess. */
#define MIN_JUDGED     8

static struct live_row *row_of(struct live_table *t, u32 id)
{
	struct live_row *grown;
	u32 i;

	/* A host has few devices and few processes that do IO: a walk is the fastest search. */
	for (i = 0; i < t->n; i++)
		if (t->row[i].id == id)
			return &t->row[i];
	if (t->n == t->cap) {
		u32 cap = t->cap ? t->cap * 2 : 8;

		grown = realloc(t->row, cap * sizeof(*grown));
		if (!grown)
			return NULL;
		t->row = grown;
		t->cap = cap;
	}
	memset(&t->row[t->n], 0, sizeof(t->row[0]));
	t->row[t->n].id = id;
	return &t->row[t->n++];
}

static void add_completed(struct live_row *r, const struct ev_nvme *c)
{
	u64 end_ns = c->ts_ns + c->lat_ns, from_ns = MAX(c->ts_ns, r->covered_ns);

	r->idle_intervals = 0;
	if (c->flags & NVME_REFUSED) {
		r->refused++;
		return;
	}
	if (c->flags & NVME_ADMIN || c->opcode < 1 || c->opcode > 2) {
		r->others++;
	} else if (c->opcode == 2) {
		r->reads++;
		r->read_bytes += c->bytes;
	} else {
		r->writes++;
		r->write_bytes += c->bytes;
	}
	r->lat_sum_ns += c->lat_ns;
	if (end_ns > from_ns)
		r->busy_ns += end_ns - from_ns;
	r->covered_ns = MAX(r->covered_ns, end_ns);
	if (c->status)
		r->failed++;
	else
		hist_add(&r->lat, c->lat_ns);
}

/* Counts the trace id of a command in flight once a row. */
static int add_object(struct live *l, struct live_row *r, bool device, u64 trace_id)
{
	/* Rows move when the table grows; the id of a row and its kind do not. */
	u64 id = hash_u64(trace_id << 1 | device) ^ hash_u64(r->id);
	u32 i;

	for (i = 0; i < l->n_ids; i++)
		if (l->ids[i] == id)
			return 0;
	if (l->n_ids == l->cap_ids) {
		u32 cap = l->cap_ids ? l->cap_ids * 2 : 64;
		u64 *grown = realloc(l->ids, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->ids = grown;
		l->cap_ids = cap;
	}
	l->ids[l->n_ids++] = id;
	r->objects++;
	return 0;
}

static int add_command(struct live *l, const struct ev_nvme *c)
{
	const struct known_task *t = names_task(&l->names, c->tid);
	const struct known_disk *d = names_disk(&l->names, c->dev);
	struct live_row *dev = row_of(&l->devices, c->dev), *pid = row_of(&l->processes, t ? t->ev.pid : 0);

	if (!dev || !pid)
		return -ENOMEM;
	snprintf(dev->name, sizeof(dev->name), "%.32s", d ? d->ev.name : c->dev ? "?" : "admin");
	snprintf(pid->name, sizeof(pid->name), "%.16s", t ? t->ev.comm : "?");
	if (!(c->flags & NVME_IN_FLIGHT)) {
		add_completed(dev, c);
		add_completed(pid, c);
		return 0;
	}
	dev->in_flight++;
	pid->in_flight++;
	if (!(c->flags & NVME_PASSTHROUGH) || !(c->user_data >> 32))
		return 0;
	return add_object(l, dev, true, c->user_data >> 32) | add_object(l, pid, false, c->user_data >> 32);
}

int live_event(struct live *l, const void *record)
{
	int ret = 0;

	switch (*(const u8 *)record) {
	case EV_NVME:
	case EV_NVME_KV:
		ret = add_command(l, record);
		break;
	case EV_TASK:
	case EV_DISK:
		ret = names_learn(&l->names, record);
		break;
	case EV_CQ_OVERFLOW:
		l->overflows++;
		break;
	case EV_LOSS:
		l->loss = *(const struct ev_loss *)record;
		break;
	default:
		break;
	}
	l->failed |= ret < 0;
	return ret < 0 ? -ENOMEM : 0;
}

static void each_row(struct live *l, void (*fn)(struct live_row *r))
{
	u32 i;

	for (i = 0; i < l->devices.n; i++)
		fn(&l->devices.row[i]);
	for (i = 0; i < l->processes.n; i++)
		fn(&l->processes.row[i]);
}

static void forget_in_flight(struct live_row *r)
{
	r->in_flight = r->objects = 0;
}

void live_forget_in_flight(struct live *l)
{
	each_row(l, forget_in_flight);
	l->n_ids = 0;
}

static void clear(struct live_row *r)
{
	r->reads = r->writes = r->others = 0;
	r->read_bytes = r->write_bytes = 0;
	r->failed = r->refused = 0;
	r->lat_sum_ns = r->busy_ns = 0;
	memset(&r->lat, 0, sizeof(r->lat));
	r->idle_intervals++;
}

static void drop_idle(struct live_table *t)
{
	u32 i, kept = 0;

	for (i = 0; i < t->n; i++)
		if (t->row[i].idle_intervals <= KEEP_INTERVALS || t->row[i].in_flight)
			t->row[kept++] = t->row[i];
	t->n = kept;
}

void live_next(struct live *l, u64 now_ns)
{
	each_row(l, clear);
	drop_idle(&l->devices);
	drop_idle(&l->processes);
	l->overflows = 0;
	l->since_ns = now_ns;
}

void live_free(struct live *l)
{
	free(l->devices.row);
	free(l->processes.row);
	free(l->ids);
	names_free(&l->names);
	*l = (struct live){};
}

double live_busy_depth(const struct live_row *r)
{
	return r->busy_ns ? (double)r->lat_sum_ns / (double)r->busy_ns : 0;
}

enum live_verdict live_judge(const struct live_row *r, u64 interval_ns)
{
	if (r->reads + r->writes + r->others < MIN_JUDGED || r->busy_ns * 20 < interval_ns)
		return LIVE_IDLE;
	return live_busy_depth(r) < 1.5 ? LIVE_QD1 : LIVE_PIPELINED;
}
