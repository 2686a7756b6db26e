// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "out/report.h"

/* A JSON text being made: one member a line, one blank a level. */
struct json {
	struct buf *b;
	u32 depth;
	bool first;
};

static void newline(struct json *j)
{
	u32 i;

	buf_byte(j->b, '\n');
	for (i = 0; i < j->depth; i++)
		buf_byte(j->b, ' ');
}

static void item(struct json *j)
{
	if (!j->first)
		buf_byte(j->b, ',');
	j->first = false;
	newline(j);
}

static void key_n(struct json *j, const char *name, size_t n)
{
	item(j);
	buf_json(j->b, name, n);
	buf_lit(j->b, ": ");
}

static void key(struct json *j, const char *name)
{
	key_n(j, name, strlen(name));
}

static void open_level(struct json *j, char bracket)
{
	buf_byte(j->b, bracket);
	j->depth++;
	j->first = true;
}

static void close_level(struct json *j, char bracket)
{
	j->depth--;
	if (!j->first)
		newline(j);
	buf_byte(j->b, bracket);
	j->first = false;
}

static void object(struct json *j, const char *name)
{
	key(j, name);
	open_level(j, '{');
}

static void number(struct json *j, const char *name, u64 v)
{
	key(j, name);
	buf_u64(j->b, v);
}

static void real(struct json *j, const char *name, double v)
{
	key(j, name);
	if (isfinite(v))
		buf_printf(j->b, "%.12g", v);
	else
		buf_lit(j->b, "null");
}

static void null(struct json *j, const char *name)
{
	key(j, name);
	buf_lit(j->b, "null");
}

/* A figure that exists only when something was measured. */
static void number_of(struct json *j, const char *name, u64 v, u64 n)
{
	if (n)
		number(j, name, v);
	else
		null(j, name);
}

static void boolean(struct json *j, const char *name, bool v)
{
	key(j, name);
	buf_str(j->b, v ? "true" : "false");
}

static void string(struct json *j, const char *name, const char *s, size_t n)
{
	key(j, name);
	buf_json(j->b, s, n);
}

static void pool_string(struct json *j, const char *name, const struct strpool *s, u32 id)
{
	if (id)
		string(j, name, strpool_get(s, id), strpool_len(s, id));
	else
		null(j, name);
}

/* NAME_p50 and so on; the members exist in every case, null without samples. */
static void dist(struct json *j, const char *prefix, const struct dist *d)
{
	const struct {
		const char *name;
		u64 v;
	} all[] = { { "min", d->min }, { "p50", d->p50 }, { "p95", d->p95 }, { "p99", d->p99 }, { "max", d->max } };
	char name[48];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		snprintf(name, sizeof(name), "%s%s", prefix, all[i].name);
		number_of(j, name, all[i].v, d->n);
	}
}

static void info(struct json *j, const struct model *m)
{
	const struct sem_meta *meta = &m->sem_meta;
	u32 i;

	object(j, "info");
	number_of(j, "schema", meta->kvio_schema, meta->kvio_schema);
	pool_string(j, "hostname", &m->strings, meta->hostname);
	pool_string(j, "device", &m->strings, meta->device_path);
	number_of(j, "lba_bytes", m->lba_bytes, m->lba_bytes);
	number_of(j, "header_bytes", meta->header_bytes, meta->header_bytes);
	pool_string(j, "io_engine", &m->strings, meta->io_engine);
	close_level(j, '}');
	key(j, "devices");
	open_level(j, '[');
	for (i = 0; i < m->n_devices; i++) {
		item(j);
		open_level(j, '{');
		pool_string(j, "name", &m->strings, m->device[i].name);
		number(j, "nsid", m->device[i].nsid);
		number_of(j, "lba_bytes", m->device[i].lba_bytes, m->device[i].lba_bytes);
		close_level(j, '}');
	}
	close_level(j, ']');
}

static void health(struct json *j, const struct model *m, const struct measure *x)
{
	const struct health *h = &x->health;
	const struct account *a = &m->account;
	struct report_warnings w;
	const char *s;
	u32 i;

	object(j, "health");
	boolean(j, "lossy", h->lossy);
	boolean(j, "incomplete", h->incomplete);
	number_of(j, "seen", a->seen, a->present);
	number_of(j, "stored", a->stored, a->present);
	number_of(j, "dropped", h->dropped, a->present);
	number_of(j, "hook_missed", h->hook_missed, a->present);
	number_of(j, "filtered", a->filtered, a->present);
	number(j, "unpaired_commands", h->unpaired);
	number(j, "unpaired_completions", h->orphans);
	number(j, "negative_latency", h->negative);
	number(j, "malformed", h->malformed);
	boolean(j, "tail_cut", h->tail_cut);
	number(j, "cq_overflows", h->overflows);
	key(j, "warnings");
	open_level(j, '[');
	report_warnings(&w, m, h);
	for (i = 0, s = w.text.p; i < w.n && !w.text.failed; i++, s += strlen(s) + 1) {
		item(j);
		buf_json(j->b, s, strlen(s));
	}
	j->b->failed |= w.text.failed;
	buf_free(&w.text);
	close_level(j, ']');
	close_level(j, '}');
}

static void inputs(struct json *j, const struct model *m)
{
	object(j, "inputs");
	number(j, "semantic", m->sem_in.semantic);
	number(j, "commands", m->dev_in.commands);
	number(j, "completions", m->dev_in.completions);
	number(j, "anchors", m->dev_in.anchors);
	number(j, "other", m->sem_in.other + m->dev_in.other);
	string(j, "join", m->join == JOIN_TRACE_ID ? "trace id" : "none", m->join == JOIN_TRACE_ID ? 8 : 4);
	close_level(j, '}');
}

static void commands(struct json *j, const struct measure *x)
{
	const struct measure_cmds *c = &x->cmd;

	object(j, "commands");
	number(j, "n", c->n);
	number(j, "tagged", c->tagged);
	number(j, "untagged", c->untagged);
	number(j, "tagged_bytes", c->tagged_bytes);
	number(j, "wall_ns", c->last_ns - c->first_ns);
	real(j, "real_cover", c->coverage);
	number(j, "bytes", c->bytes);
	number(j, "read_bytes", c->dir_bytes[DIR_READ]);
	number(j, "write_bytes", c->dir_bytes[DIR_WRITE]);
	number(j, "completed", c->state[STATE_OK]);
	number(j, "failed", c->state[STATE_FAILED]);
	number(j, "failed_bytes", c->failed_bytes);
	number(j, "in_flight", c->state[STATE_IN_FLIGHT]);
	number(j, "unpaired", c->state[STATE_UNPAIRED]);
	number(j, "backwards", c->state[STATE_BACKWARDS]);
	number(j, "refused", c->state[STATE_REFUSED]);
	number(j, "reissued", c->state[STATE_REISSUED]);
	string(j, "pool", x->pool_tagged ? "tagged" : "all", x->pool_tagged ? 6 : 3);
	close_level(j, '}');
}

static void latencies(struct json *j, const struct model *m, const struct measure *x)
{
	struct buf name = {};
	u32 i;

	for (i = 0; i < x->n_lat; i++) {
		const struct measure_lat *l = &x->lat[i];

		buf_reset(&name);
		buf_lit(&name, "lat_");
		buf_add(&name, strpool_get(&m->strings, l->name), strpool_len(&m->strings, l->name));
		key_n(j, name.p, name.n);
		open_level(j, '{');
		dist(j, "", &l->lat);
		number(j, "n", l->lat.n);
		number(j, "commands", l->n);
		number(j, "failed", l->failed);
		number(j, "in_flight", l->in_flight);
		number(j, "unpaired", l->unpaired);
		close_level(j, '}');
	}
	j->b->failed |= name.failed;
	buf_free(&name);
}

static void qd1(struct json *j, const struct measure *x)
{
	static const char *const names[N_DIRS] = { "load", "store" };
	int d;

	object(j, "qd1");
	for (d = 0; d < N_DIRS; d++) {
		const struct measure_qd1 *q = &x->qd1[d];
		const char *word = report_qd1_word(q->verdict);

		if (!q->gap.n)
			continue;
		object(j, names[d]);
		dist(j, "gap_", &q->gap);
		string(j, "verdict", word, strlen(word));
		number(j, "gap_n", q->gap.n);
		number(j, "objects", q->ops);
		number_of(j, "service_p25", q->service.p25, q->service.n);
		number_of(j, "service_p50", q->service.p50, q->service.n);
		number(j, "service_n", q->service.n);
		if (q->service.n) {
			real(j, "long_gap_share", (double)q->long_gaps / (double)q->gap.n);
			real(j, "in_flight", q->in_flight);
			real(j, "busy_in_flight", q->busy_in_flight);
			number(j, "waited_ns", q->waited_ns);
			real(j, "waited_share", (double)q->waited_ns / (double)q->gap_ns);
		}
		real(j, "same_object_successors", (double)q->followed_by_own / (double)q->followed);
		close_level(j, '}');
	}
	close_level(j, '}');
}

static void depth(struct json *j, const struct measure *x)
{
	const struct measure_depth *d = &x->depth;

	if (d->n) {
		object(j, "qd");
		real(j, "mean", d->mean);
		number(j, "max", d->max);
		real(j, "pct_time_le1", (double)d->le1_ns / (double)d->span_ns);
		real(j, "busy_mean", d->busy_mean);
		number(j, "n", d->n);
		number(j, "span_ns", d->span_ns);
		number(j, "busy_ns", d->busy_ns);
		close_level(j, '}');
	}
	object(j, "batches");
	number(j, "n", x->batch.n);
	number_of(j, "size_p50", x->batch.size.p50, x->batch.n);
	number_of(j, "size_p95", x->batch.size.p95, x->batch.n);
	number_of(j, "size_max", x->batch.size.max, x->batch.n);
	number(j, "gap_ns", x->batch.gap_ns);
	close_level(j, '}');
}

static void one_object(struct json *j, const struct measure_objects *o)
{
	number(j, "n", o->n);
	dist(j, "span_", &o->span);
	if (o->eff_n)
		real(j, "eff_mbs_p50", o->eff_mbs_p50);
	else
		null(j, "eff_mbs_p50");
	dist(j, "presubmit_", &o->presubmit);
	number(j, "presubmit_n", o->presubmit.n);
	number(j, "failed", o->failed);
	number(j, "bytes", o->bytes);
	dist(j, "size_", &o->size);
	number(j, "with_commands", o->with_cmds);
	number(j, "commands", o->commands);
	dist(j, "device_", &o->device);
	dist(j, "host_", &o->host);
	number(j, "device_n", o->device.n);
}

static void objects(struct json *j, const struct model *m, const struct measure *x)
{
	u32 i;

	object(j, "objects");
	for (i = 0; i < x->n_obj; i++) {
		u32 name = x->obj[i].name;

		key_n(j, name ? strpool_get(&m->strings, name) : "other", name ? strpool_len(&m->strings, name) : 5);
		open_level(j, '{');
		one_object(j, &x->obj[i]);
		close_level(j, '}');
	}
	close_level(j, '}');
	number(j, "objects_in_flight_max", x->max_objects_in_flight);
	number(j, "failed_ops", x->objects_failed);
	key(j, "failed_errors");
	open_level(j, '[');
	for (i = 0; i < x->n_errors; i++) {
		item(j);
		buf_json(j->b, strpool_get(&m->strings, x->error[i]), strpool_len(&m->strings, x->error[i]));
	}
	close_level(j, ']');
	if (x->barrier.shards > 1) {
		object(j, "tp_barrier");
		number(j, "shards", x->barrier.shards);
		dist(j, "gap_", &x->barrier.gap);
		number(j, "n", x->barrier.n);
		close_level(j, '}');
	}
}

static void space(struct json *j, const struct measure *x)
{
	const struct measure_space *s = &x->space;
	u64 wall = x->cmd.last_ns - x->cmd.first_ns;

	if (s->writes) {
		object(j, "space");
		number(j, "lba_reuse", s->reused);
		real(j, "seq_pct", s->writes > 1 ? (double)s->sequential / (double)(s->writes - 1) : 0);
		number(j, "header_cmds", x->cmd.headers);
		number(j, "header_bytes", x->cmd.header_bytes);
		number(j, "writes", s->writes);
		number(j, "write_bytes", x->cmd.store_bytes);
		close_level(j, '}');
	}
	if (wall)
		real(j, "throughput_gbs", (double)x->pool_ok_bytes / (double)wall);
}

static void ab(struct json *j, const struct report_arm *arms, const struct measure_ab *x)
{
	u32 i;

	object(j, "ab");
	string(j, "base", arms[0].label, strlen(arms[0].label));
	boolean(j, "comparable", x->comparable);
	number(j, "paired", x->paired);
	number(j, "only_base", x->only[0]);
	number(j, "only_this", x->only[1]);
	for (i = 0; i < x->n_pairs; i++) {
		object(j, x->pair[i].name);
		number(j, "n", x->pair[i].n);
		key(j, "delta_p50");
		buf_s64(j->b, x->pair[i].delta_p50_ns);
		number(j, "faster", x->pair[i].faster);
		number(j, "slower", x->pair[i].slower);
		close_level(j, '}');
	}
	close_level(j, '}');
}

void report_json(struct buf *out, const struct report_arm *arms, u32 n)
{
	struct json j = { .b = out };
	struct buf verdict = {};
	u32 i;

	open_level(&j, '{');
	for (i = 0; i < n; i++) {
		const struct report_arm *a = &arms[i];

		object(&j, a->label);
		number(&j, "schema_version", REPORT_SCHEMA);
		string(&j, "percentile", PERCENTILE_METHOD, strlen(PERCENTILE_METHOD));
		string(&j, "label", a->label, strlen(a->label));
		buf_reset(&verdict);
		report_verdict(&verdict, a->m, a->x);
		string(&j, "verdict", verdict.p, verdict.n);
		health(&j, a->m, a->x);
		inputs(&j, a->m);
		info(&j, a->m);
		commands(&j, a->x);
		latencies(&j, a->m, a->x);
		qd1(&j, a->x);
		depth(&j, a->x);
		objects(&j, a->m, a->x);
		space(&j, a->x);
		if (a->ab)
			ab(&j, arms, a->ab);
		close_level(&j, '}');
	}
	close_level(&j, '}');
	buf_byte(out, '\n');
	out->failed |= verdict.failed;
	buf_free(&verdict);
}
