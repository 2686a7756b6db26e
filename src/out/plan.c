// SPDX-License-Identifier: Apache-2.0
#include "out/plan.h"

#include <stdio.h>
#include <string.h>

#include "lib/human.h"
#include "out/report_json.h"
#include "out/report_text.h"

/* ---- text ---- */

/* "33554432 B (32.0 MiB)" */
static const char *both(char *out, size_t n, u64 bytes)
{
	char t[32];

	if (bytes < 1024)
		snprintf(out, n, "%llu B", ULL(bytes));
	else
		snprintf(out, n, "%llu B (%s)", ULL(bytes), human_bytes(t, sizeof(t), bytes));
	return out;
}

static void model_text(struct buf *out, const struct kv_query *q, const struct kv_projection *p)
{
	const struct kv_model *m = q->m;
	char a[64];

	buf_str(out, "model      ");
	report_safe(out, m->name, strlen(m->name));
	buf_printf(out, "\n           %s, %u layers, ", kv_family_name(m->family), m->layers);
	if (m->family == KV_MLA)
		buf_printf(out, "a latent of %u", m->latent);
	else
		buf_printf(out, "%u KV heads of %u", m->kv_heads, m->head_dim);
	if (m->share > 1)
		buf_printf(out, ", %u layers to a cache", m->share);
	if (m->linear_layers)
		buf_printf(out, ", %u layers without one", m->linear_layers);
	if (m->sliding_layers)
		buf_printf(out, "\n           %u layers look back %u tokens only, and are stored whole",
			   m->sliding_layers, m->window);
	buf_printf(out, "\ncache      %s a token, %s\n", both(a, sizeof(a), p->token_bytes), kv_dtype_name(q->dtype));
	buf_printf(out, "chunk      %llu tokens: %s", ULL(q->chunk_tokens), both(a, sizeof(a), p->chunk_bytes));
	buf_printf(out, "\n           of one layer: %s\n", both(a, sizeof(a), p->layer_bytes));
	buf_printf(out, "objects    %u of %s", p->shard.objects, both(a, sizeof(a), p->part.payload));
	if (p->shard.copies > 1)
		buf_printf(out, "; the same heads on %u ranks", p->shard.copies);
	buf_byte(out, '\n');
}

static void part_text(struct buf *out, const char *name, u64 bytes, bool *first)
{
	if (!bytes)
		return;
	buf_printf(out, "%s%s %llu", *first ? "" : ", ", name, ULL(bytes));
	*first = false;
}

static void parts_text(struct buf *out, const struct kv_query *q, const struct kv_projection *p)
{
	const struct kv_components *c = &p->part;
	bool first = true;

	if (!c->v)
		return;
	buf_printf(out, "parts      ");
	part_text(out, "codec header", c->codec_header, &first);
	part_text(out, "K", c->k, &first);
	part_text(out, "V", c->v, &first);
	part_text(out, "scales", c->scales, &first);
	part_text(out, "padding", p->padding, &first);
	if (q->repr != KV_REPR_PLAIN)
		buf_printf(out, "\n           as %s", kv_repr_name(q->repr));
	if (c->host_retained)
		buf_printf(out, "; %llu B of K stay with the host", ULL(c->host_retained));
	buf_byte(out, '\n');
}

/* "1 x 4096, 256 x 131072, 1 x 512" */
static void sizes_text(struct buf *out, const struct kv_plan *p)
{
	const struct kv_split *s[] = { &p->header, &p->payload };
	bool first = true;
	u32 i;

	for (i = 0; i < 2; i++) {
		u64 whole = s[i]->n - (s[i]->n && s[i]->last != s[i]->xfer);

		if (whole)
			buf_printf(out, "%s%llu x %llu", first ? "" : ", ", ULL(whole), ULL(s[i]->xfer));
		if (whole < s[i]->n)
			buf_printf(out, "%s1 x %llu", first && !whole ? "" : ", ", ULL(s[i]->last));
		first &= !s[i]->n;
	}
}

static void workload_text(struct buf *out, const struct plan_row *r)
{
	const struct kv_workload *w = &r->p.work;
	char a[64];
	u32 op;

	buf_printf(out, "\nworkload   %llu tokens x %llu: %llu chunks each, %llu objects\n", ULL(r->q.tokens),
		   ULL(r->q.sequences), ULL(w->chunks), ULL(w->objects));
	if (w->ignored_tokens)
		buf_printf(out, "           the last %llu tokens fill no chunk, and are not stored\n",
			   ULL(w->ignored_tokens));
	for (op = 0; op < N_KV_OPS; op++)
		if (r->op[op])
			buf_printf(out, "%-10s %llu commands, %s\n", kv_op_name((enum kv_op)op), ULL(w->commands[op]),
				   both(a, sizeof(a), w->device_bytes[op]));
	if (r->q.m && r->q.m->sliding_layers)
		buf_printf(out, "needed     %s, when layers with a window load no more than it\n",
			   both(a, sizeof(a), w->needed_bytes));
	buf_printf(out, "capacity   %s", both(a, sizeof(a), w->capacity_bytes));
	buf_printf(out, " in slots of %s\n", both(a, sizeof(a), w->slot_bytes));
	buf_printf(out, "index      about %s", both(a, sizeof(a), w->index_bytes));
	buf_printf(out, ", %llu commands a checkpoint\n", ULL(w->checkpoint_commands));
	if (w->index_bytes > w->index_room)
		buf_printf(out,
			   "           which is more than the %s of a container:\n"
			   "           the engine skips it, and a restart loses the index\n",
			   both(a, sizeof(a), w->index_room));
}

void plan_text(struct buf *out, const struct plan_row *r)
{
	char a[64];
	u32 op;

	if (r->q.m)
		model_text(out, &r->q, &r->p);
	else
		buf_printf(out, "object     %s\n", both(a, sizeof(a), r->q.payload));
	parts_text(out, &r->q, &r->p);
	buf_printf(out, "command    at most %s, aligned to %llu B\n\n", both(a, sizeof(a), r->p.xfer),
		   ULL(MAX(r->q.limits.align, 1ull)));
	buf_str(out, "of an object    commands        bytes  sizes\n");
	for (op = 0; op < N_KV_OPS; op++) {
		if (!r->op[op])
			continue;
		buf_printf(out, "%-12s %11llu %12llu  ", kv_op_name((enum kv_op)op), ULL(r->p.plan[op].commands),
			   ULL(r->p.plan[op].device_bytes));
		sizes_text(out, &r->p.plan[op]);
		buf_byte(out, '\n');
	}
	if (r->q.tokens)
		workload_text(out, r);
}

#define NAME 28

void plan_table(struct buf *out, const struct plan_row *rows, size_t n)
{
	size_t i;

	buf_printf(out, "%-*s %3s %-8s %11s %11s %6s %6s\n", NAME, "model", "tp", "dtype", "B/chunk", "B/object",
		   "store", "load");
	for (i = 0; i < n; i++) {
		const struct plan_row *r = &rows[i];
		const char *name = r->q.m->name;
		struct buf safe = {};

		report_safe(&safe, name, MIN(strlen(name), (size_t)NAME));
		buf_printf(out, "%-*.*s %3u %-8s ", NAME, (int)MIN(safe.n, (size_t)NAME), safe.n ? safe.p : "",
			   MAX(r->q.ranks, 1u), kv_dtype_name(r->q.dtype));
		buf_free(&safe);
		if (r->why)
			buf_printf(out, "%.35s\n", r->why);
		else
			buf_printf(out, "%11llu %11llu %6llu %6llu\n", ULL(r->p.chunk_bytes), ULL(r->p.part.payload),
				   ULL(r->p.plan[KV_STORE].commands), ULL(r->p.plan[KV_LOAD].commands));
	}
}

/* ---- JSON ---- */

static void rle_json(struct json *j, const struct kv_plan *p)
{
	const struct kv_split *s[] = { &p->header, &p->payload };
	u32 i;

	jw_array(j, "command_sizes_rle");
	for (i = 0; i < 2; i++) {
		u64 whole = s[i]->n - (s[i]->n && s[i]->last != s[i]->xfer);

		if (whole) {
			jw_item(j);
			buf_printf(j->b, "[%llu, %llu]", ULL(s[i]->xfer), ULL(whole));
		}
		if (whole < s[i]->n) {
			jw_item(j);
			buf_printf(j->b, "[%llu, 1]", ULL(s[i]->last));
		}
	}
	jw_close(j, ']');
}

static void op_members(struct json *j, const struct plan_row *r, enum kv_op op)
{
	const struct kv_plan *p = &r->p.plan[op];

	jw_string(j, "op", kv_op_name(op));
	jw_number(j, "payload_bytes", r->p.part.payload);
	jw_number(j, "xfer", r->p.xfer);
	jw_number(j, "device_ops", p->device_ops);
	jw_number(j, "nvme_commands", p->commands);
}

static void model_json(struct json *j, const struct kv_model *m)
{
	jw_object(j, "model");
	jw_string(j, "name", m->name);
	jw_string(j, "family", kv_family_name(m->family));
	jw_number(j, "layers", m->layers);
	jw_number_of(j, "hidden_size", m->hidden, m->hidden);
	jw_number_of(j, "attention_heads", m->heads, m->heads);
	jw_number_of(j, "kv_heads", m->kv_heads, m->kv_heads);
	jw_number_of(j, "head_dim", m->head_dim, m->head_dim);
	jw_number_of(j, "latent", m->latent, m->latent);
	jw_number(j, "share", m->share);
	jw_number(j, "linear_layers", m->linear_layers);
	jw_number(j, "sliding_layers", m->sliding_layers);
	jw_number_of(j, "window", m->window, m->window);
	jw_number_of(j, "active_parameters", m->active_params, m->active_params);
	jw_close(j, '}');
}

static void geometry_json(struct json *j, const struct plan_row *r)
{
	const struct kv_components *c = &r->p.part;

	jw_number(j, "per_token_bytes", r->p.token_bytes);
	jw_number(j, "chunk_tokens", r->q.chunk_tokens);
	jw_number(j, "full_chunk_bytes", r->p.chunk_bytes);
	jw_number(j, "per_layer_chunk_bytes", r->p.layer_bytes);
	jw_number(j, "objects_per_chunk", r->p.shard.objects);
	jw_number(j, "copies", r->p.shard.copies);
	jw_number(j, "footprint_bytes", r->p.shard.total_bytes);
	jw_string(j, "representation", kv_repr_name(r->q.repr));
	if (!c->v)
		return;
	jw_object(j, "components");
	jw_number(j, "codec_header", c->codec_header);
	jw_number(j, "k", c->k);
	jw_number(j, "v", c->v);
	jw_number(j, "scales", c->scales);
	jw_number(j, "padding", r->p.padding);
	jw_close(j, '}');
	jw_number(j, "host_retained_bytes", c->host_retained);
}

static void workload_json(struct json *j, const struct plan_row *r)
{
	const struct kv_workload *w = &r->p.work;
	u32 op;

	jw_object(j, "workload");
	jw_number(j, "tokens", r->q.tokens);
	jw_number(j, "sequences", r->q.sequences);
	jw_number(j, "chunks_per_sequence", w->chunks);
	jw_number(j, "ignored_tail_tokens", w->ignored_tokens);
	jw_number(j, "objects", w->objects);
	for (op = 0; op < N_KV_OPS; op++) {
		jw_object(j, kv_op_name((enum kv_op)op));
		jw_number(j, "nvme_commands", w->commands[op]);
		jw_number(j, "device_bytes", w->device_bytes[op]);
		jw_close(j, '}');
	}
	if (r->q.m)
		jw_number(j, "needed_bytes", w->needed_bytes);
	jw_number(j, "slot_bytes", w->slot_bytes);
	jw_number(j, "capacity_bytes", w->capacity_bytes);
	jw_number(j, "index_bytes_estimate", w->index_bytes);
	jw_number(j, "index_room_bytes", w->index_room);
	jw_number(j, "checkpoint_commands", w->checkpoint_commands);
	jw_close(j, '}');
}

static void row_json(struct json *j, const struct plan_row *r)
{
	u32 op;

	jw_item(j);
	jw_open(j, '{');
	if (r->q.m) {
		model_json(j, r->q.m);
		jw_string(j, "dtype", kv_dtype_name(r->q.dtype));
		jw_number(j, "tp", MAX(r->q.ranks, 1u));
	}
	if (r->why) {
		jw_string(j, "error", r->why);
		jw_close(j, '}');
		return;
	}
	if (r->q.m)
		geometry_json(j, r);
	jw_number(j, "header_bytes", r->q.header_bytes);
	jw_number(j, "align_bytes", MAX(r->q.limits.align, 1ull));
	jw_array(j, "ops");
	for (op = 0; op < N_KV_OPS; op++) {
		if (!r->op[op])
			continue;
		jw_item(j);
		jw_open(j, '{');
		op_members(j, r, (enum kv_op)op);
		rle_json(j, &r->p.plan[op]);
		jw_number(j, "total_device_bytes", r->p.plan[op].device_bytes);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	if (r->q.tokens)
		workload_json(j, r);
	jw_close(j, '}');
}

void plan_json(struct buf *out, const struct plan_row *rows, size_t n)
{
	struct json j = { .b = out };
	size_t i;

	jw_open(&j, '{');
	jw_string(&j, "schema", "kvio.plan.v1");
	jw_array(&j, "plans");
	for (i = 0; i < n; i++)
		row_json(&j, &rows[i]);
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_byte(out, '\n');
}

void plan_json_older(struct buf *out, const struct plan_row *r, enum kv_op op)
{
	const struct kv_plan *p = &r->p.plan[op];
	struct json j = { .b = out };
	u64 i;

	jw_open(&j, '{');
	op_members(&j, r, op);
	jw_array(&j, "command_sizes");
	for (i = 0; i < p->commands; i++) {
		jw_item(&j);
		buf_u64(out, kv_plan_at(p, i));
	}
	jw_close(&j, ']');
	jw_number(&j, "total_device_bytes", p->device_bytes);
	jw_number(&j, "fragmentation", p->commands);
	jw_close(&j, '}');
	buf_byte(out, '\n');
}
