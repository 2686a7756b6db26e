// SPDX-License-Identifier: Apache-2.0
#include "out/work.h"

#include <stdlib.h>

#include "lib/dist.h"
#include "lib/human.h"
#include "out/report_json.h"

/* The figures of one kind of operation. */
struct side {
	const struct work_side *w;
	struct dist object;	    /* latencies; n 0 when there are none, or no memory */
	u64 commands, bytes;	    /* of the device, warm-up included */
	const struct hist *command; /* their latencies */
};

static struct side take_side(const struct work_report *p, const struct batch_sums *sums, enum kv_op op)
{
	struct side s = { .w = &p->work->of[op],
			  .commands = sums->of[op].commands,
			  .bytes = sums->of[op].bytes,
			  .command = &sums->of[op].lat_ns };
	u64 *copy = malloc(MAX(s.w->objects, 1ull) * sizeof(*copy));

	if (copy) {
		if (s.w->objects)
			memcpy(copy, s.w->lat_ns, s.w->objects * sizeof(*copy));
		if (dist_take(&s.object, copy, s.w->objects))
			s.object = (struct dist){};
	}
	free(copy);
	return s;
}

bool work_report_bad(const struct work_report *p)
{
	const struct work *w = p->work;

	return p->failed || w->wrong || w->of[KV_STORE].failed || w->of[KV_LOAD].failed ||
	       (p->checked && p->checked->failed);
}

static double rate(u64 n, u64 ns)
{
	return ns ? (double)n * 1e9 / (double)ns : 0;
}

/* ---- what hangs ---- */

struct hanging {
	struct buf *b;
	const struct rig *r;
};

static void hanging_line(void *arg, const struct io_command *c, u64 start_ns)
{
	const struct hanging *h = arg;
	u64 now = clock_ns(CLOCK_MONOTONIC);
	char age[32];

	buf_printf(h->b, "in flight for %s: trace id %u, %s of %u bytes at %llu",
		   human_ns(age, sizeof(age), start_ns ? now - start_ns : 0), kv_tag_trace_id(c->user_data),
		   c->write ? "write" : "read", c->bytes, ULL(c->offset));
	if (c->owner < h->r->n_ops)
		buf_printf(h->b, ", object %s", strpool_get(&h->r->store.index.keys, h->r->ops[c->owner].key));
	buf_byte(h->b, '\n');
}

void work_report_hanging(struct buf *b, const struct work_report *p)
{
	struct hanging h = { b, p->rig };
	u32 i;

	if (!p->rig->wedged)
		return;
	for (i = 0; i < p->rig->n_workers; i++)
		io_queue_each(p->rig->worker[i].q, hanging_line, &h);
	buf_printf(b, "a command is not done after %llu s: the result is partial\n",
		   ULL(p->rig->o.timeout_ns / NSEC_PER_SEC));
}

/* ---- text ---- */

static void text_side(struct buf *b, const char *name, const struct side *s)
{
	char p50[32], p99[32], c50[32], c99[32];

	buf_printf(b, "%s  %llu objects", name, ULL(s->w->objects));
	if (s->w->objects)
		buf_printf(b, ", p50 %s, p99 %s (n %llu)  %.2f GB/s, %.0f commands/s",
			   human_ns(p50, sizeof(p50), s->object.p50), human_ns(p99, sizeof(p99), s->object.p99),
			   ULL(s->object.n), rate(s->w->bytes, s->w->busy_ns) / 1e9,
			   rate(s->w->commands, s->w->busy_ns));
	if (s->w->missed)
		buf_printf(b, "; %llu missed", ULL(s->w->missed));
	if (s->w->known)
		buf_printf(b, "; %llu stored already", ULL(s->w->known));
	if (s->w->failed)
		buf_printf(b, "; %llu FAILED", ULL(s->w->failed));
	if (s->w->undone)
		buf_printf(b, "; %llu taken back or stopped", ULL(s->w->undone));
	buf_byte(b, '\n');
	if (s->commands)
		buf_printf(b, "       %llu commands, p50 %s, p99 %s, %llu bytes\n", ULL(s->commands),
			   human_ns(c50, sizeof(c50), hist_percentile(s->command, 50)),
			   human_ns(c99, sizeof(c99), hist_percentile(s->command, 99)), ULL(s->bytes));
}

static void text_head(struct buf *b, const struct work_report *p)
{
	const struct rig *r = p->rig;
	struct io_state state = rig_state(r);
	char object[32], xfer[32];

	buf_printf(b, "objects of %s", human_bytes(object, sizeof(object), r->o.payload_bytes));
	if (p->dtype)
		buf_printf(b, ": %s, %s, %llu tokens", p->model, p->dtype, ULL(p->chunk_tokens));
	if (p->ranks > 1)
		buf_printf(b, ", %u ranks", p->ranks);
	buf_printf(b, "\n%s by %s: commands of %s (bound by %s), %s, %u in flight on %u ring%s", r->guard.node,
		   io_kind_name(r->o.engine), human_bytes(xfer, sizeof(xfer), r->xfer), r->bound, p->load_path,
		   r->o.depth, r->n_workers, r->n_workers > 1 ? "s" : "");
	if (r->o.engine != IO_POSIX)
		buf_printf(b, ", buffers %sregistered%s", state.fixed_buffers ? "" : "not ",
			   r->huge ? " on huge pages" : "");
	buf_byte(b, '\n');
	if (r->o.huge_pages && !r->huge)
		buf_lit(b, "no huge pages were free (vm.nr_hugepages): a segment is 4 KiB\n");
}

void work_report_text(struct buf *b, const struct work_report *p)
{
	struct batch_sums *sums = malloc(sizeof(*sums));
	const struct work *w = p->work;
	char text[121];
	struct side s;
	u32 i;

	if (!sums) {
		b->failed = true;
		return;
	}
	rig_sums(p->rig, sums);
	text_head(b, p);
	if (p->checked)
		buf_printf(b, "recovered  %llu objects whole, %llu torn and forgotten, %llu FAILED\n",
			   ULL(p->checked->whole), ULL(p->checked->torn), ULL(p->checked->failed));
	if (p->requests)
		buf_printf(b, "%llu requests, %llu of them hits, %llu tokens\n", ULL(p->requests), ULL(p->hits),
			   ULL(p->tokens));
	s = take_side(p, sums, KV_STORE);
	text_side(b, "store", &s);
	s = take_side(p, sums, KV_LOAD);
	text_side(b, "load ", &s);
	if (w->deleted)
		buf_printf(b, "%llu objects evicted\n", ULL(w->deleted));
	if (w->checkpoints)
		buf_printf(b, "%llu checkpoints written\n", ULL(w->checkpoints));
	buf_printf(b, "at most %u commands in flight of a ring", sums->most_in_flight);
	if (sums->failed || sums->refused)
		buf_printf(b, "; %llu FAILED at the device, %llu refused before it", ULL(sums->failed),
			   ULL(sums->refused));
	buf_byte(b, '\n');
	for (i = 0; i < sums->n_errors; i++) {
		emit_error_text(sums->error[i].res, text, sizeof(text));
		buf_printf(b, "  %llu commands: %s\n", ULL(sums->error[i].n), text);
	}
	for (i = 0; i < w->n_errors; i++) {
		emit_error_text(w->error[i].res, text, sizeof(text));
		buf_printf(b, "  %llu objects: %s\n", ULL(w->error[i].n), text);
	}
	if (w->wrong)
		buf_printf(b, "WRONG DATA in %llu objects, first in %s at byte %llu\n", ULL(w->wrong), w->wrong_key,
			   ULL(w->wrong_at));
	else if (w->verify)
		buf_printf(b, "verified: %s of %llu loads\n", w->of[KV_LOAD].objects ? "all bytes" : "nothing",
			   ULL(w->of[KV_LOAD].objects));
	if (!p->complete)
		buf_lit(b, "INCOMPLETE: not all that was asked for was done\n");
	free(sums);
}

/* ---- JSON ---- */

static void json_side(struct json *j, const char *name, const struct side *s)
{
	jw_object(j, name);
	jw_number(j, "objects", s->w->objects);
	jw_number(j, "bytes", s->w->bytes);
	jw_number(j, "missed", s->w->missed);
	jw_number(j, "stored_already", s->w->known);
	jw_number(j, "failed", s->w->failed);
	jw_number(j, "undone", s->w->undone);
	jw_number(j, "busy_ns", s->w->busy_ns);
	jw_real_of(j, "bytes_per_second", rate(s->w->bytes, s->w->busy_ns), s->w->busy_ns);
	jw_real_of(j, "commands_per_second", rate(s->w->commands, s->w->busy_ns), s->w->busy_ns);
	jw_number(j, "object_latency_n", s->object.n);
	jw_dist(j, "object_latency_ns_", &s->object);
	jw_number(j, "commands", s->commands);
	jw_number(j, "command_bytes", s->bytes);
	jw_number_of(j, "command_latency_ns_p50", hist_percentile(s->command, 50), s->command->n);
	jw_number_of(j, "command_latency_ns_p99", hist_percentile(s->command, 99), s->command->n);
	jw_close(j, '}');
}

static void json_target(struct json *j, const struct work_report *p)
{
	const struct rig *r = p->rig;
	const struct kv_layout *l = &r->store.o.layout;
	struct io_state state = rig_state(r);

	jw_object(j, "target");
	jw_string(j, "node", r->guard.node);
	jw_string(j, "engine", io_kind_name(r->o.engine));
	jw_string(j, "load_path", p->load_path);
	jw_number(j, "depth", r->o.depth);
	jw_number(j, "rings", r->n_workers);
	jw_number(j, "command_bytes", r->xfer);
	jw_string(j, "bound_by", r->bound);
	jw_number(j, "lba_bytes", r->guard.lba_bytes);
	jw_bool(j, "fixed_buffers", state.fixed_buffers);
	jw_bool(j, "fixed_file", state.fixed_file);
	jw_bool(j, "huge_pages", r->huge);
	jw_number(j, "capacity_bytes", l->capacity_bytes);
	jw_number(j, "slot_bytes", l->slot_bytes);
	jw_number(j, "slots", l->slots);
	jw_number(j, "header_bytes", l->header_bytes);
	jw_number(j, "block_align", l->block_align);
	jw_close(j, '}');
}

static void json_error(struct json *j, const char *what, s32 res, u64 n)
{
	char text[121];

	emit_error_text(res, text, sizeof(text));
	jw_item(j);
	jw_open(j, '{');
	jw_string(j, "of", what);
	jw_signed(j, "code", res);
	jw_number(j, "count", n);
	jw_string(j, "text", text);
	jw_close(j, '}');
}

static void json_recovered(struct json *j, const struct work_report *p)
{
	const struct store_recovery *r = p->recovered;

	jw_object(j, "recovered");
	jw_number(j, "checkpoint", r->seq);
	jw_number(j, "objects", r->objects);
	jw_number(j, "dropped", r->dropped);
	jw_number(j, "bad_entries", r->bad);
	jw_bool(j, "renamed", r->renamed);
	if (p->checked) {
		jw_number(j, "whole", p->checked->whole);
		jw_number(j, "torn", p->checked->torn);
		jw_number(j, "failed", p->checked->failed);
	}
	jw_close(j, '}');
}

void work_report_json(struct buf *b, const struct work_report *p)
{
	struct batch_sums *sums = malloc(sizeof(*sums));
	const struct work *w = p->work;
	struct json j = { .b = b };
	struct side s;
	u32 i;

	if (!sums) {
		b->failed = true;
		return;
	}
	rig_sums(p->rig, sums);
	jw_open(&j, '{');
	jw_string(&j, "schema", "kvio_workload");
	jw_number(&j, "schema_version", 1);
	jw_string(&j, "command", p->command);
	jw_string(&j, "model", p->model);
	jw_number(&j, "object_bytes", p->rig->o.payload_bytes);
	jw_number(&j, "ranks", p->ranks);
	json_target(&j, p);
	jw_number(&j, "requests", p->requests);
	jw_number(&j, "hits", p->hits);
	jw_number(&j, "tokens", p->tokens);
	jw_bool(&j, "complete", p->complete);
	jw_string(&j, "percentile_method", PERCENTILE_METHOD);
	s = take_side(p, sums, KV_STORE);
	json_side(&j, "store", &s);
	s = take_side(p, sums, KV_LOAD);
	json_side(&j, "load", &s);
	jw_number(&j, "evicted", w->deleted);
	if (p->recovered && p->recovered->seq)
		json_recovered(&j, p);
	jw_number(&j, "checkpoints", w->checkpoints);
	jw_number(&j, "most_in_flight", sums->most_in_flight);
	jw_number(&j, "resubmitted", rig_state(p->rig).resubmitted);
	jw_number(&j, "commands_failed", sums->failed);
	jw_number(&j, "commands_refused", sums->refused);
	jw_array(&j, "errors");
	for (i = 0; i < sums->n_errors; i++)
		json_error(&j, "command", sums->error[i].res, sums->error[i].n);
	for (i = 0; i < w->n_errors; i++)
		json_error(&j, "object", w->error[i].res, w->error[i].n);
	jw_close(&j, ']');
	jw_bool(&j, "verified", w->verify);
	jw_number(&j, "wrong_objects", w->wrong);
	jw_close(&j, '}');
	buf_byte(b, '\n');
	free(sums);
}
