// SPDX-License-Identifier: Apache-2.0
#include "out/agent.h"

#include <stdio.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/human.h"
#include "out/report_json.h"
#include "out/report_text.h"

struct totals {
	u64 sessions, input_tokens, chunks, ignored_tokens;
	bool timed;
	s64 first_ns, last_ns;
};

static void sum_up(struct totals *s, const struct agent_trace *t)
{
	struct map64 seen = {};
	bool is_new;
	u64 i;

	*s = (struct totals){ .timed = t->n > 0 };
	for (i = 0; i < t->n; i++) {
		const struct agent_request *r = &t->request[i];

		s->input_tokens += r->input_tokens;
		s->chunks += r->n_chunks;
		s->ignored_tokens += r->ignored_tokens;
		s->timed &= r->has_time;
		s->first_ns = i ? MIN(s->first_ns, r->time_ns) : r->time_ns;
		s->last_ns = i ? MAX(s->last_ns, r->time_ns) : r->time_ns;
		map64_put(&seen, r->session, &is_new);
	}
	s->sessions = seen.n;
	map64_free(&seen);
}

/* ---- text ---- */

void agent_text(struct buf *out, const struct agent_context *x)
{
	const struct kv_cache *c = x->c;
	struct totals s;
	char a[32];

	sum_up(&s, x->t);
	buf_printf(out, "trace      %s, %llu requests of %llu sessions\n", agent_format_name(x->t->format),
		   ULL(x->t->n), ULL(s.sessions));
	if (s.timed)
		buf_printf(out, "           over %s\n", human_ns(a, sizeof(a), (u64)(s.last_ns - s.first_ns)));
	buf_printf(out, "tokens     %llu, %llu of them fill no chunk of %llu\n", ULL(s.input_tokens),
		   ULL(s.ignored_tokens), ULL(x->t->o.chunk_tokens));
	buf_printf(out, "chunks     %llu asked for, %llu different ones\n", ULL(s.chunks), ULL(x->t->keys.n));
	buf_printf(out, "cache      %s lookup, ",
		   x->t->format == AGENT_TRACELAB  ? "recorded"
		   : c->lookup == KV_LOOKUP_PREFIX ? "prefix"
						   : "substring");
	if (c->capacity)
		buf_printf(out, "at most %llu chunks", ULL(c->capacity));
	else
		buf_str(out, "no bound");
	buf_printf(out, "; at most %llu were in it\n", ULL(c->max_resident));
	buf_printf(out, "loads      %llu, %.1f %% of the chunks asked for\n", ULL(c->loads),
		   text_percent(c->loads, s.chunks));
	buf_printf(out, "stores     %llu\ndeletes    %llu\n", ULL(c->stores), ULL(c->deletes));
	if (c->n_warm)
		buf_printf(out, "warm       %u chunks were there before the trace\n", c->n_warm);
	if (c->shadowed)
		buf_printf(out, "shadowed   %llu chunks were there, but behind one that was not\n", ULL(c->shadowed));
	if (x->ranks > 1)
		buf_printf(out, "ranks      %u: %llu objects loaded, %llu stored\n", x->ranks, ULL(c->loads * x->ranks),
			   ULL(c->stores * x->ranks));
	if (!x->p)
		return;
	buf_printf(out, "device     %s read",
		   human_bytes(a, sizeof(a), c->loads * x->ranks * x->p->plan[KV_LOAD].device_bytes));
	buf_printf(out, " by %llu commands, ", ULL(c->loads * x->ranks * x->p->plan[KV_LOAD].commands));
	buf_printf(out, "%s written by %llu\n",
		   human_bytes(a, sizeof(a), c->stores * x->ranks * x->p->plan[KV_STORE].device_bytes),
		   ULL(c->stores * x->ranks * x->p->plan[KV_STORE].commands));
}

/* ---- JSON ---- */

static void key_json(struct buf *b, const struct agent_trace *t, u32 key)
{
	buf_byte(b, '"');
	buf_hexbytes(b, (const u8 *)strpool_get(&t->keys, key), SHA256_BYTES);
	buf_byte(b, '"');
}

static void files_json(struct json *j, const struct agent_trace *t)
{
	u32 i;

	jw_array(j, "files");
	for (i = 0; i < t->n_files; i++) {
		const struct agent_file *f = &t->file[i];

		jw_item(j);
		jw_open(j, '{');
		jw_string(j, "path", f->name);
		jw_key(j, "sha256");
		buf_byte(j->b, '"');
		buf_hexbytes(j->b, f->sha256, SHA256_BYTES);
		buf_byte(j->b, '"');
		jw_number(j, "records_seen", f->records);
		jw_number(j, "records_selected", f->selected);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void optional(struct json *j, const char *name, const char *s)
{
	if (s)
		jw_string(j, name, s);
	else
		jw_null(j, name);
}

static void source_json(struct json *j, const struct agent_context *x)
{
	jw_object(j, "source");
	jw_string(j, "format", agent_format_name(x->t->format));
	files_json(j, x->t);
	optional(j, "url", x->source_url);
	optional(j, "revision", x->source_revision);
	optional(j, "license", x->source_license);
	jw_close(j, '}');
}

static void assumptions_json(struct json *j, const struct agent_context *x)
{
	const char *all[4];
	u32 n = 0, i;

	all[n++] = "only whole chunks are cached";
	if (x->t->format == AGENT_TRACELAB)
		all[n++] = "what a request found is what the trace says";
	else if (x->c->lookup == KV_LOOKUP_PREFIX)
		all[n++] = "a lookup stops at the first chunk that is not there";
	else
		all[n++] = "each chunk is looked up on its own";
	all[n++] = "the chunk used least recently is deleted first";
	jw_array(j, "assumptions");
	for (i = 0; i < n; i++) {
		jw_item(j);
		buf_json(j->b, all[i], strlen(all[i]));
	}
	jw_close(j, ']');
}

static void op_json(struct json *j, const struct agent_trace *t, const struct kv_agent_op *o)
{
	static const char *const names[] = { "load", "store", "delete" };

	jw_item(j);
	buf_printf(j->b, "{\"op\": \"%s\", \"chunk_key\": ", names[o->op]);
	key_json(j->b, t, o->key);
	if (o->op != KV_AGENT_DELETE)
		buf_printf(j->b, ", \"chunk_index\": %u", o->index);
	buf_byte(j->b, '}');
}

static void request_json(struct json *j, const struct agent_context *x, u64 i, s64 first_ns)
{
	const struct agent_trace *t = x->t;
	const struct agent_request *r = &t->request[i];
	u64 k;

	jw_item(j);
	jw_open(j, '{');
	jw_number(j, "request_index", i);
	jw_pooled(j, "session", &t->strings, r->session);
	jw_string(j, "source_file", t->file[r->file].name);
	jw_number(j, "source_line", r->line);
	if (r->has_time) {
		jw_key(j, t->format == AGENT_MOONCAKE ? "timestamp_s" : "timestamp_unix_s");
		buf_printf(j->b, "%.6f", (double)r->time_ns / 1e9);
		jw_number(j, "offset_ns", (u64)(r->time_ns - first_ns));
	} else {
		jw_null(j, "offset_ns");
	}
	jw_number(j, "input_tokens", r->input_tokens);
	jw_number(j, "complete_chunks", r->n_chunks);
	jw_number(j, "ignored_tail_tokens", r->ignored_tokens);
	jw_array(j, "operations");
	for (k = 0; k < r->n_ops; k++)
		op_json(j, t, &x->c->op[r->first_op + k]);
	jw_close(j, ']');
	jw_close(j, '}');
}

static void summary_json(struct json *j, const struct agent_context *x, const struct totals *s)
{
	const struct kv_cache *c = x->c;

	jw_object(j, "summary");
	jw_number(j, "requests", x->t->n);
	jw_number(j, "sessions", s->sessions);
	jw_number(j, "input_tokens", s->input_tokens);
	jw_number(j, "chunks", s->chunks);
	jw_number(j, "distinct_chunks", x->t->keys.n);
	jw_number(j, "ignored_tail_tokens", s->ignored_tokens);
	jw_number(j, "loads", c->loads);
	jw_number(j, "stores", c->stores);
	jw_number(j, "evictions", c->deletes);
	jw_number(j, "warm_chunks", c->n_warm);
	jw_number(j, "shadowed_chunks", c->shadowed);
	jw_number(j, "max_resident_chunks", c->max_resident);
	jw_number_of(j, "capacity_chunks", c->capacity, c->capacity);
	jw_number(j, "ranks", x->ranks);
	jw_number(j, "object_loads", c->loads * x->ranks);
	jw_number(j, "object_stores", c->stores * x->ranks);
	jw_number_of(j, "duration_ns", (u64)(s->last_ns - s->first_ns), s->timed);
	if (x->p) {
		jw_number(j, "load_commands", c->loads * x->ranks * x->p->plan[KV_LOAD].commands);
		jw_number(j, "load_bytes", c->loads * x->ranks * x->p->plan[KV_LOAD].device_bytes);
		jw_number(j, "store_commands", c->stores * x->ranks * x->p->plan[KV_STORE].commands);
		jw_number(j, "store_bytes", c->stores * x->ranks * x->p->plan[KV_STORE].device_bytes);
	}
	jw_close(j, '}');
}

void agent_json(struct buf *out, const struct agent_context *x)
{
	struct json j = { .b = out };
	struct totals s;
	u64 i;

	sum_up(&s, x->t);
	jw_open(&j, '{');
	jw_number(&j, "schema_version", 1);
	jw_string(&j, "kind", "kvio.agent-cache-plan");
	jw_string(&j, "evidence", "trace-derived");
	source_json(&j, x);
	jw_number(&j, "chunk_tokens", x->t->o.chunk_tokens);
	jw_null(&j, "tokenizer");
	assumptions_json(&j, x);
	jw_array(&j, "warm_keys");
	for (i = 0; i < x->c->n_warm; i++) {
		jw_item(&j);
		key_json(out, x->t, x->c->warm[i]);
	}
	jw_close(&j, ']');
	jw_array(&j, "requests");
	for (i = 0; i < x->t->n; i++)
		request_json(&j, x, i, s.first_ns);
	jw_close(&j, ']');
	summary_json(&j, x, &s);
	jw_close(&j, '}');
	buf_byte(out, '\n');
}
