// SPDX-License-Identifier: Apache-2.0
/* The JSON report: objects, shards, requests. */
#include <stdio.h>

#include "out/report_json.h"

static void one_object(struct json *j, const struct measure_objects *o)
{
	jw_number(j, "n", o->n);
	jw_dist(j, "span_", &o->span);
	jw_number(j, "span_n", o->span.n);
	jw_number(j, "instants", o->instants);
	jw_real_of(j, "eff_mbs_p50", o->eff_mbs_p50, o->eff_n);
	jw_number(j, "eff_n", o->eff_n);
	jw_dist(j, "presubmit_", &o->presubmit);
	jw_number(j, "presubmit_n", o->presubmit.n);
	jw_number(j, "failed", o->failed);
	jw_number(j, "failed_with_commands", o->failed_with_cmds);
	jw_number(j, "bytes", o->bytes);
	jw_dist(j, "size_", &o->size);
	jw_number(j, "with_commands", o->with_cmds);
	jw_number(j, "commands", o->commands);
	jw_dist(j, "device_", &o->device);
	jw_dist(j, "host_", &o->host);
	jw_number(j, "device_n", o->device.n);
}

static void key_part(struct json *j, const char *name, const char *s, size_t n)
{
	jw_key(j, name);
	buf_json(j->b, s, n);
}

static void one_shard(struct json *j, const struct model *m, const struct measure_shard *s)
{
	struct key_parts k;
	int c;

	key_parse(&k, strpool_get(&m->strings, m->op.key[s->op]), strpool_len(&m->strings, m->op.key[s->op]));
	jw_item(j);
	jw_open(j, '{');
	key_part(j, "shard", k.fmt, k.fmt_len);
	key_part(j, "rank", k.rank, k.rank_len);
	jw_number(j, "n", s->n);
	jw_number(j, "last", s->last);
	jw_object(j, "last_because");
	for (c = 0; c < N_CAUSES; c++)
		jw_number(j, report_cause_name(c), s->cause[c]);
	jw_close(j, '}');
	jw_close(j, '}');
}

static void barrier(struct json *j, const struct model *m, const struct measure_barrier *b)
{
	u32 i;
	int c;

	jw_object(j, "tp_barrier");
	jw_number(j, "shards", b->shards);
	jw_dist(j, "gap_", &b->gap);
	jw_number(j, "n", b->n);
	jw_number(j, "partial", b->partial);
	jw_object(j, "last_because");
	for (c = 0; c < N_CAUSES; c++)
		jw_number(j, report_cause_name(c), b->cause_n[c]);
	jw_close(j, '}');
	jw_object(j, "gap_parts_ns");
	for (c = 0; c < N_CAUSES; c++)
		jw_signed(j, report_cause_name(c), b->cause_ns[c]);
	jw_close(j, '}');
	jw_array(j, "last_shards");
	for (i = 0; i < b->n_shards; i++)
		one_shard(j, m, &b->shard[i]);
	jw_close(j, ']');
	jw_close(j, '}');
}

void jw_objects(struct json *j, const struct model *m, const struct measure *x)
{
	u32 i;

	jw_object(j, "objects");
	for (i = 0; i < x->n_obj; i++) {
		u32 name = x->obj[i].name;

		jw_key_n(j, name ? strpool_get(&m->strings, name) : "other", name ? strpool_len(&m->strings, name) : 5);
		jw_open(j, '{');
		one_object(j, &x->obj[i]);
		jw_close(j, '}');
	}
	jw_close(j, '}');
	jw_number(j, "objects_in_flight_max", x->max_objects_in_flight);
	jw_number(j, "failed_ops", x->objects_failed);
	jw_array(j, "failed_errors");
	for (i = 0; i < x->n_errors; i++) {
		jw_item(j);
		buf_json(j->b, strpool_get(&m->strings, x->error[i]), strpool_len(&m->strings, x->error[i]));
	}
	jw_close(j, ']');
	if (x->barrier.shards > 1)
		barrier(j, m, &x->barrier);
}

/* ---- requests ---- */

static void parts(struct json *j, const u64 part[N_PARTS])
{
	char name[32];
	int p;

	for (p = 0; p < N_PARTS; p++) {
		snprintf(name, sizeof(name), "%s_ns", report_part_name(p));
		jw_number(j, name, part[p]);
	}
}

static void one_request(struct json *j, const struct model *m, const struct measure_request *q)
{
	static const char *const ops[] = { "load", "store", NULL };

	jw_item(j);
	jw_open(j, '{');
	jw_pooled(j, "request_id", &m->strings, m->serving.request_id[q->span]);
	jw_pooled(j, "name", &m->strings, m->serving.name[q->span]);
	jw_number_of(j, "tokens", m->serving.tokens[q->span], m->serving.tokens[q->span] != NO_NUMBER);
	jw_number(j, "start_ns", m->serving.start_ns[q->span]);
	jw_number(j, "ns", q->ns);
	parts(j, q->part);
	if (ops[q->dir])
		jw_string(j, "op", ops[q->dir]);
	else
		jw_null(j, "op");
	jw_number(j, "objects", q->objects);
	jw_number(j, "commands", q->commands);
	jw_number(j, "bytes", q->bytes);
	jw_bool(j, "shared", q->shared);
	jw_close(j, '}');
}

void jw_serving(struct json *j, const struct model *m, const struct measure *x)
{
	u32 i;

	if (!x->n_requests)
		return;
	jw_object(j, "serving");
	for (i = 0; i < x->n_serving; i++) {
		const struct measure_requests *s = &x->serving[i];

		jw_key_n(j, strpool_get(&m->strings, s->name), strpool_len(&m->strings, s->name));
		jw_open(j, '{');
		jw_number(j, "n", s->n);
		jw_dist(j, "", &s->span);
		jw_number(j, "sum_ns", s->span.sum);
		jw_number(j, "shared", s->shared);
		parts(j, s->part);
		jw_close(j, '}');
	}
	jw_close(j, '}');
	jw_array(j, "slowest_requests");
	for (i = 0; i < MIN(x->n_requests, (u32)REPORT_SLOWEST); i++)
		one_request(j, m, &x->request[i]);
	jw_close(j, ']');
}
