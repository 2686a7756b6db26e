// SPDX-License-Identifier: Apache-2.0
#include "out/cost.h"

#include <stdio.h>
#include <string.h>

#include "lib/human.h"
#include "out/report_json.h"
#include "out/report_text.h"

static const char *seconds(char *out, size_t n, double s)
{
	return s < 1e9 ? human_ns(out, n, (u64)(s * 1e9 + 0.5)) : "ages";
}

static void name_text(struct buf *out, const char *name)
{
	report_safe(out, name, strlen(name));
}

static const char *verdict(double ratio)
{
	return ratio < 1 ? "loading is faster" : "recomputing is faster";
}

/* ---- text ---- */

static void crossing_text(struct buf *out, const struct cost_crossing *k)
{
	buf_printf(out, "%-11s ", k->name);
	if (k->model) {
		name_text(out, k->model);
		buf_printf(out, " is the smallest known with R < 1\n");
	} else if (k->found) {
		buf_printf(out, "%s from %.4g %s on\n", verdict(k->below ? 0 : 2), k->value, k->unit);
	} else {
		buf_printf(out, "never turns from %.4g to %.4g %s\n", k->from, k->to, k->unit);
	}
}

void cost_text(struct buf *out, const struct cost_row *r, const struct cost_crossing *crossing, size_t n)
{
	char a[32], b[32], c[32];
	size_t i;

	buf_str(out, "model       ");
	name_text(out, r->x.m->name);
	buf_printf(out, "\n            TP %u, %llu tokens, %s\n", r->x.ranks, ULL(r->x.tokens),
		   kv_dtype_name(r->x.dtype));
	buf_printf(out, "load        %s in %.0f objects, %.0f commands\n", human_bytes(a, sizeof(a), (u64)r->c.bytes),
		   r->c.objects, r->c.commands);
	buf_printf(out, "            %s in the device and %s of software each, %.4g at once\n",
		   seconds(a, sizeof(a), r->c.service_s), seconds(b, sizeof(b), r->h.gap_s), r->h.depth * r->h.rings);
	buf_printf(out, "            %s, %.2f GB/s, bound by %s\n", seconds(c, sizeof(c), r->c.load_s),
		   r->c.bytes / r->c.load_s / 1e9, kv_bound_name(r->c.bound));
	buf_printf(out, "recompute   %.4g TFLOP of weights, %.4g of attention\n", r->c.weight_flops / 1e12,
		   r->c.attention_flops / 1e12);
	buf_printf(out, "            %u GPUs of %.4g TFLOP/s at %.3g %%, and %s\n", r->x.ranks, r->h.gpu_flops / 1e12,
		   r->h.utilisation * 100, seconds(a, sizeof(a), r->h.overhead_s));
	buf_printf(out, "            %s\n", seconds(c, sizeof(c), r->c.recompute_s));
	buf_printf(out, "R           %.2f: %s\n", r->c.ratio, verdict(r->c.ratio));
	if (n)
		buf_str(out, "\ncrossover, all else as it is\n");
	for (i = 0; i < n; i++)
		crossing_text(out, &crossing[i]);
}

#define NAME 36

void cost_table(struct buf *out, const char *what, const struct cost_row *rows, size_t n)
{
	char a[32], b[32];
	size_t i;

	buf_printf(out, "%-*s %10s %12s %8s  %s\n", NAME, what ? what : "model", "load", "recompute", "R", "bound");
	for (i = 0; i < n; i++) {
		const struct cost_row *r = &rows[i];
		struct buf name = {};

		if (what)
			buf_printf(&name, "%.6g", r->value);
		else
			name_text(&name, r->x.m->name);
		buf_printf(out, "%-*.*s ", NAME, (int)MIN(name.n, (size_t)NAME), name.n ? name.p : "");
		buf_free(&name);
		if (r->why)
			buf_printf(out, "%.42s\n", r->why);
		else
			buf_printf(out, "%10s %12s %8.2f  %s\n", seconds(a, sizeof(a), r->c.load_s),
				   seconds(b, sizeof(b), r->c.recompute_s), r->c.ratio, kv_bound_name(r->c.bound));
	}
}

/* ---- CSV ---- */

static void csv_name(struct buf *out, const char *s)
{
	buf_byte(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			buf_byte(out, '"');
		buf_byte(out, *s);
	}
	buf_byte(out, '"');
}

void cost_csv(struct buf *out, const char *what, const struct cost_row *rows, size_t n)
{
	size_t i;

	buf_printf(out, "model,%s%stp,tokens,bytes,objects,commands,load_s,recompute_s,ratio,bound\n", what ? what : "",
		   what ? "," : "");
	for (i = 0; i < n; i++) {
		const struct cost_row *r = &rows[i];

		csv_name(out, r->x.m->name);
		if (what)
			buf_printf(out, ",%.12g", r->value);
		buf_printf(out, ",%u,%llu,", r->x.ranks, ULL(r->x.tokens));
		if (r->why)
			buf_str(out, ",,,,,,\n");
		else
			buf_printf(out, "%.0f,%.0f,%.0f,%.6g,%.6g,%.6g,%s\n", r->c.bytes, r->c.objects, r->c.commands,
				   r->c.load_s, r->c.recompute_s, r->c.ratio, kv_bound_name(r->c.bound));
	}
}

/* ---- JSON ---- */

static void machine_json(struct json *j, const struct kv_machine *h)
{
	jw_object(j, "machine");
	jw_real(j, "bandwidth", h->bandwidth);
	jw_real(j, "latency_s", h->latency_s);
	jw_real(j, "gap_s", h->gap_s);
	jw_real(j, "depth", h->depth);
	jw_real(j, "rings", h->rings);
	jw_real_of(j, "ring_bandwidth", h->ring_bandwidth, h->ring_bandwidth > 0);
	jw_real(j, "cmd_bytes", h->cmd_bytes);
	jw_real(j, "object_s", h->object_s);
	jw_real(j, "speedup", h->speedup);
	jw_real(j, "gpu_flops", h->gpu_flops);
	jw_real(j, "utilisation", h->utilisation);
	jw_real(j, "overhead_s", h->overhead_s);
	jw_close(j, '}');
}

static void row_json(struct json *j, const char *what, const struct cost_row *r)
{
	jw_item(j);
	jw_open(j, '{');
	jw_string(j, "model", r->x.m->name);
	jw_number(j, "active_parameters", r->x.params ? r->x.params : r->x.m->active_params);
	jw_bool(j, "parameters_estimated", !r->x.params && r->x.m->params_estimated);
	jw_number(j, "tp", r->x.ranks);
	jw_number(j, "tokens", r->x.tokens);
	jw_string(j, "dtype", kv_dtype_name(r->x.dtype));
	if (what)
		jw_real(j, what, r->value);
	if (r->why) {
		jw_string(j, "error", r->why);
		jw_close(j, '}');
		return;
	}
	jw_real(j, "bytes", r->c.bytes);
	jw_real(j, "objects", r->c.objects);
	jw_real(j, "commands", r->c.commands);
	jw_real(j, "service_s", r->c.service_s);
	jw_real(j, "load_s", r->c.load_s);
	jw_string(j, "bound", kv_bound_name(r->c.bound));
	jw_real(j, "weight_flops", r->c.weight_flops);
	jw_real(j, "attention_flops", r->c.attention_flops);
	jw_real(j, "recompute_s", r->c.recompute_s);
	jw_real(j, "ratio", r->c.ratio);
	jw_close(j, '}');
}

void cost_json(struct buf *out, const char *what, const struct cost_row *rows, size_t n,
	       const struct cost_crossing *crossing, size_t n_crossing)
{
	struct json j = { .b = out };
	size_t i;

	jw_open(&j, '{');
	jw_string(&j, "schema", "kvio.model.v1");
	machine_json(&j, &rows->h);
	if (what)
		jw_string(&j, "sweep", what);
	jw_array(&j, "rows");
	for (i = 0; i < n; i++)
		row_json(&j, what && strcmp(what, "tokens") && strcmp(what, "tp") ? what : NULL, &rows[i]);
	jw_close(&j, ']');
	if (n_crossing)
		jw_object(&j, "crossover");
	for (i = 0; i < n_crossing; i++) {
		if (crossing[i].model)
			jw_string(&j, crossing[i].name, crossing[i].model);
		else
			jw_real_of(&j, crossing[i].name, crossing[i].value, crossing[i].found);
	}
	if (n_crossing)
		jw_close(&j, '}');
	jw_close(&j, '}');
	buf_byte(out, '\n');
}
