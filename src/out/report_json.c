// SPDX-License-Identifier: Apache-2.0
#include "out/report_json.h"
#include "out/report_calls.h"
#include "out/report_faults.h"
#include "out/report_tasks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void newline(struct json *j)
{
	u32 i;

	buf_byte(j->b, '\n');
	for (i = 0; i < j->depth; i++)
		buf_byte(j->b, ' ');
}

void jw_item(struct json *j)
{
	if (!j->first)
		buf_byte(j->b, ',');
	j->first = false;
	newline(j);
}

void jw_key_n(struct json *j, const char *name, size_t n)
{
	jw_item(j);
	buf_json(j->b, name, n);
	buf_lit(j->b, ": ");
}

void jw_key(struct json *j, const char *name)
{
	jw_key_n(j, name, strlen(name));
}

void jw_open(struct json *j, char bracket)
{
	buf_byte(j->b, bracket);
	j->depth++;
	j->first = true;
}

void jw_close(struct json *j, char bracket)
{
	j->depth--;
	if (!j->first)
		newline(j);
	buf_byte(j->b, bracket);
	j->first = false;
}

void jw_object(struct json *j, const char *name)
{
	jw_key(j, name);
	jw_open(j, '{');
}

void jw_array(struct json *j, const char *name)
{
	jw_key(j, name);
	jw_open(j, '[');
}

void jw_number(struct json *j, const char *name, u64 v)
{
	jw_key(j, name);
	buf_u64(j->b, v);
}

void jw_signed(struct json *j, const char *name, s64 v)
{
	jw_key(j, name);
	buf_s64(j->b, v);
}

void jw_null(struct json *j, const char *name)
{
	jw_key(j, name);
	buf_lit(j->b, "null");
}

void jw_real(struct json *j, const char *name, double v)
{
	jw_key(j, name);
	if (isfinite(v))
		buf_printf(j->b, "%.12g", v == 0 ? 0.0 : v);
	else
		buf_lit(j->b, "null");
}

void jw_number_of(struct json *j, const char *name, u64 v, u64 n)
{
	if (n)
		jw_number(j, name, v);
	else
		jw_null(j, name);
}

void jw_real_of(struct json *j, const char *name, double v, u64 n)
{
	if (n)
		jw_real(j, name, v);
	else
		jw_null(j, name);
}

void jw_bool(struct json *j, const char *name, bool v)
{
	jw_key(j, name);
	buf_str(j->b, v ? "true" : "false");
}

void jw_string(struct json *j, const char *name, const char *s)
{
	jw_key(j, name);
	buf_json(j->b, s, strlen(s));
}

void jw_pooled(struct json *j, const char *name, const struct strpool *s, u32 id)
{
	if (!id) {
		jw_null(j, name);
		return;
	}
	jw_key(j, name);
	buf_json(j->b, strpool_get(s, id), strpool_len(s, id));
}

void jw_dist(struct json *j, const char *prefix, const struct dist *d)
{
	const struct {
		const char *name;
		u64 v;
	} all[] = { { "min", d->min }, { "p50", d->p50 }, { "p95", d->p95 }, { "p99", d->p99 }, { "max", d->max } };
	char name[48];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		snprintf(name, sizeof(name), "%s%s", prefix, all[i].name);
		jw_number_of(j, name, all[i].v, d->n);
	}
}

static void info(struct json *j, const struct model *m)
{
	const struct sem_meta *meta = &m->sem_meta;
	u32 i;

	jw_object(j, "info");
	jw_number_of(j, "schema", meta->kvio_schema, meta->kvio_schema);
	jw_pooled(j, "hostname", &m->strings, meta->hostname);
	jw_pooled(j, "device", &m->strings, meta->device_path);
	jw_number_of(j, "lba_bytes", m->lba_bytes, m->lba_bytes);
	jw_number_of(j, "header_bytes", meta->header_bytes, meta->header_bytes);
	jw_pooled(j, "io_engine", &m->strings, meta->io_engine);
	jw_close(j, '}');
	jw_array(j, "devices");
	for (i = 0; i < m->n_devices; i++) {
		jw_item(j);
		jw_open(j, '{');
		jw_pooled(j, "name", &m->strings, m->device[i].name);
		jw_number(j, "nsid", m->device[i].nsid);
		jw_number_of(j, "lba_bytes", m->device[i].lba_bytes, m->device[i].lba_bytes);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void health(struct json *j, const struct model *m, const struct measure *x)
{
	const struct health *h = &x->health;
	const struct account *a = &m->account;
	struct report_warnings w;
	const char *s;
	u32 i;

	jw_object(j, "health");
	jw_bool(j, "lossy", h->lossy);
	jw_bool(j, "incomplete", h->incomplete);
	jw_number_of(j, "seen", a->seen, a->present);
	jw_number_of(j, "stored", a->stored, a->present);
	jw_number_of(j, "dropped", h->dropped, a->present);
	jw_number_of(j, "hook_missed", h->hook_missed, a->present);
	jw_number_of(j, "unread", h->unread, a->present);
	jw_number_of(j, "filtered", a->filtered, a->present);
	jw_number(j, "unpaired_commands", h->unpaired);
	jw_number(j, "unpaired_completions", h->orphans);
	jw_number(j, "negative_latency", h->negative);
	jw_number(j, "malformed", h->malformed);
	jw_bool(j, "tail_cut", h->tail_cut);
	jw_number(j, "cq_overflows", h->overflows);
	jw_array(j, "warnings");
	report_warnings(&w, m, h);
	for (i = 0, s = w.text.p; i < w.n && !w.text.failed; i++, s += strlen(s) + 1) {
		jw_item(j);
		buf_json(j->b, s, strlen(s));
	}
	j->b->failed |= w.text.failed;
	buf_free(&w.text);
	jw_close(j, ']');
	jw_close(j, '}');
}

static void inputs(struct json *j, const struct model *m)
{
	jw_object(j, "inputs");
	jw_number(j, "semantic", m->sem_in.semantic);
	jw_number(j, "commands", m->dev_in.commands);
	jw_number(j, "completions", m->dev_in.completions);
	jw_number(j, "anchors", m->dev_in.anchors);
	jw_number(j, "other", m->sem_in.other + m->dev_in.other);
	jw_close(j, '}');
}

/* Commands and bytes of one class of an offset join. */
static void placed(struct json *j, const char *name, u64 n, u64 bytes)
{
	jw_object(j, name);
	jw_number(j, "n", n);
	jw_number(j, "bytes", bytes);
	jw_close(j, '}');
}

/* How commands found their objects, and how sure that is. */
static void join(struct json *j, const struct model *m)
{
	const struct offset_account *o = &m->offset;
	const struct id_collisions *c = &m->collisions;

	jw_object(j, "join");
	jw_string(j, "kind", report_join_name(m));
	jw_string(j, "why", m->join_why ? m->join_why : "");
	jw_number(j, "producers", m->n_instances);
	jw_number(j, "repeated_ids", m->dup_trace_ids);
	jw_number(j, "colliding_ids", c->ids);
	jw_number(j, "colliding_commands", c->cmds);
	jw_number(j, "told_apart_by_process", c->by_pid);
	jw_number(j, "told_apart_by_place", c->by_place);
	jw_number(j, "told_apart_by_end_only", c->by_end);
	jw_number(j, "too_long_keys", m->long_keys);
	jw_number(j, "clock_anomalies", m->clock_anomalies);
	jw_bool(j, "lba_inferred", m->lba_inferred);
	if (m->join == JOIN_OFFSET) {
		placed(j, "unique", o->unique, o->unique_bytes);
		placed(j, "cross", o->cross, o->cross_bytes);
		placed(j, "gap_spill", o->gap_spill, o->gap_spill_bytes);
		placed(j, "unmatched", o->unmatched, o->unmatched_bytes);
		placed(j, "no_place", o->no_place, o->no_place_bytes);
		jw_number(j, "cookie_commands", o->cookie_cmds);
		jw_number(j, "cookie_agrees", o->agree);
	}
	jw_close(j, '}');
}

static void commands(struct json *j, const struct measure *x)
{
	const struct measure_cmds *c = &x->cmd;

	jw_object(j, "commands");
	jw_number(j, "n", c->n);
	jw_number(j, "tagged", c->tagged);
	jw_number(j, "untagged", c->untagged);
	jw_number(j, "tagged_bytes", c->tagged_bytes);
	jw_number(j, "wall_ns", x->wall_ns);
	jw_real(j, "real_cover", c->coverage);
	jw_number(j, "bytes", c->bytes);
	jw_number(j, "read_bytes", c->dir_bytes[DIR_READ]);
	jw_number(j, "write_bytes", c->dir_bytes[DIR_WRITE]);
	jw_number(j, "completed", c->state[STATE_OK]);
	jw_number(j, "failed", c->state[STATE_FAILED]);
	jw_number(j, "failed_bytes", c->failed_bytes);
	jw_number(j, "in_flight", c->state[STATE_IN_FLIGHT]);
	jw_number(j, "unpaired", c->state[STATE_UNPAIRED]);
	jw_number(j, "backwards", c->state[STATE_BACKWARDS]);
	jw_number(j, "refused", c->state[STATE_REFUSED]);
	jw_number(j, "reissued", c->state[STATE_REISSUED]);
	jw_number(j, "retried", c->retried);
	jw_string(j, "pool", x->pool_tagged ? "tagged" : "all");
	jw_number(j, "pool_n", x->pool_n);
	jw_number(j, "pool_bytes", x->pool_bytes);
	jw_close(j, '}');
}

static void failures(struct json *j, const struct measure *x)
{
	static const char *const kinds[] = { [STATUS_NVME] = "nvme", [STATUS_BLK] = "blk", [STATUS_ERRNO] = "errno" };
	u32 i;

	jw_array(j, "failures");
	for (i = 0; i < x->n_failures; i++) {
		const struct measure_status *s = &x->failure[i];
		bool nvme = s->kind == STATUS_NVME;

		jw_item(j);
		jw_open(j, '{');
		jw_string(j, "kind", kinds[s->kind]);
		jw_number(j, "status", s->status);
		jw_number_of(j, "sct", s->status >> 8 & 7, nvme);
		jw_number_of(j, "sc", s->status & 0xff, nvme);
		jw_string(j, "name", report_status_name(s));
		jw_number(j, "n", s->n);
		jw_close(j, '}');
	}
	jw_close(j, ']');
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
		jw_key_n(j, name.p, name.n);
		jw_open(j, '{');
		jw_dist(j, "", &l->lat);
		jw_number(j, "n", l->lat.n);
		jw_number(j, "commands", l->n);
		jw_number(j, "failed", l->failed);
		jw_number(j, "in_flight", l->in_flight);
		jw_number(j, "unpaired", l->unpaired);
		jw_close(j, '}');
	}
	j->b->failed |= name.failed;
	buf_free(&name);
}

static void space(struct json *j, const struct measure *x)
{
	const struct measure_space *s = &x->space;

	if (s->writes) {
		jw_object(j, "space");
		jw_number(j, "lba_reuse", s->reused);
		jw_real(j, "seq_pct", s->sequential_share);
		jw_number(j, "header_cmds", x->cmd.headers);
		jw_number(j, "header_bytes", x->cmd.header_bytes);
		jw_real(j, "header_share", x->cmd.header_share);
		jw_number(j, "writes", s->writes);
		jw_number(j, "write_bytes", x->pool_dir_bytes[DIR_WRITE]);
		jw_close(j, '}');
	}
	if (x->wall_ns)
		jw_real(j, "throughput_gbs", x->throughput_gbs);
}

void report_json(struct buf *out, const struct report_arm *arms, u32 n)
{
	struct json j = { .b = out };
	struct buf verdict = {};
	u32 i;

	jw_open(&j, '{');
	for (i = 0; i < n; i++) {
		const struct report_arm *a = &arms[i];

		jw_object(&j, a->label);
		jw_number(&j, "schema_version", REPORT_SCHEMA);
		jw_string(&j, "percentile", percentile_name(a->x->method));
		jw_string(&j, "label", a->label);
		buf_reset(&verdict);
		report_verdict(&verdict, a->m, a->x);
		jw_key(&j, "verdict");
		buf_json(out, verdict.p, verdict.n);
		health(&j, a->m, a->x);
		inputs(&j, a->m);
		join(&j, a->m);
		info(&j, a->m);
		commands(&j, a->x);
		failures(&j, a->x);
		latencies(&j, a->m, a->x);
		jw_queue(&j, a->x);
		jw_objects(&j, a->m, a->x);
		space(&j, a->x);
		jw_serving(&j, a->m, a->x);
		if (a->ab)
			jw_ab(&j, &arms[0], a);
		jw_calls(&j, a->m);
		jw_faults(&j, a->m);
		jw_device_files(&j, a->m);
		jw_tasks(&j, a->m);
		jw_close(&j, '}');
	}
	jw_close(&j, '}');
	buf_byte(out, '\n');
	out->failed |= verdict.failed;
	buf_free(&verdict);
}
