// SPDX-License-Identifier: Apache-2.0
/* Object spans on lanes, and how many of them are in flight. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/perfetto_detail.h"
#include "out/perfetto_writer.h"

/* Characters of a key that are shown. */
#define KEY_TAIL   24
#define CHUNK_HEAD 12

/* Operations are sorted by content in the model, so their number decides. */
static int by_time(const void *x, const void *y)
{
	const struct pf_span *a = x, *b = y;
	int c = pf_compare(a->begin_ns, b->begin_ns);

	c = c ? c : pf_compare(a->end_ns, b->end_ns);
	return c ? c : pf_compare(a->item, b->item);
}

/* The spans in order of their begin; items become indices into `object`. */
static void number_objects(struct pf_draw *a)
{
	struct pf_spans *s = &a->objects;
	struct op_span span;
	u32 i;

	for (i = 0; i < s->n; i++) {
		u32 op = s->span[i].item;

		op_span(a->m, op, &span);
		a->object[i] = (struct pf_object){ op, 1, span.n_cmds, span.first_cmd, span.last_cmd };
		a->object_of[op] = i;
		s->span[i].item = i;
	}
}

/* Objects of one operation, part and outcome may be drawn as one. */
static u64 class_of(const struct pf_draw *a, const struct pf_span *s)
{
	const struct op_table *t = &a->m->op;
	u32 op = a->object[s->item].op;

	return (u64)t->name[op] << 32 | (u64)t->part[op] << 1 | (t->error[op] != 0);
}

static void describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s);

int pf_objects_prepare(struct pf_draw *a)
{
	const struct model *m = a->m;
	struct pf_spans *s = &a->objects;
	u32 i;

	s->span = malloc((m->op.n + 1ul) * sizeof(*s->span));
	a->object_of = malloc((m->op.n + 1ul) * sizeof(*a->object_of));
	if (!s->span || !a->object_of)
		return -ENOMEM;
	for (i = 0; i < m->op.n; i++) {
		struct op_span span;

		op_span(m, i, &span);
		a->object_of[i] = NONE;
		a->first_ns = MIN(a->first_ns, span.instant ? span.end_ns : span.begin_ns);
		if (!span.instant)
			s->span[s->n++] = (struct pf_span){
				.begin_ns = span.begin_ns,
				.end_ns = span.end_ns,
				.amount = m->op.bytes[i],
				.item = i,
				.n = 1,
			};
	}
	a->object = malloc((s->n + 1ul) * sizeof(*a->object));
	if (!a->object)
		return -ENOMEM;
	qsort(s->span, s->n, sizeof(*s->span), by_time);
	number_objects(a);
	s->class = class_of;
	s->describe = describe;
	s->open = &a->in_flight;
	s->drawn = &a->stats->objects;
	return 0;
}

/* Bytes of the first `chars` characters of s. */
static size_t head(const char *s, size_t n, size_t chars)
{
	size_t i = 0, len;

	while (chars-- && i < n) {
		len = utf8_len(s + i, n - i);
		i += len ? len : 1;
	}
	return i;
}

/* Where the last `chars` characters of s begin. */
static size_t tail(const char *s, size_t n, size_t chars)
{
	size_t i = 0, total = 0, len;

	for (i = 0; i < n; i += len ? len : 1, total++)
		len = utf8_len(s + i, n - i);
	return total > chars ? head(s, n, total - chars) : 0;
}

static void key_args(struct pf_writer *w, const char *key, size_t n)
{
	struct key_parts k;

	key_parse(&k, key, n);
	if (!k.fmt)
		return;
	if (k.rank_is_number)
		pf_arg_u64(w, ARG_rank, k.rank_number);
	pf_arg_secret(w, ARG_fmt, SECRET_FMT, k.fmt, k.fmt_len);
	if (w->o->redact)
		pf_arg_secret(w, ARG_chunk, SECRET_CHUNK, k.hash, k.hash_len);
	else
		pf_arg_string(w, ARG_chunk, k.hash, head(k.hash, k.hash_len, CHUNK_HEAD));
}

static void part_arg(struct pf_writer *w, const struct model *m, u32 op)
{
	if (m->op.part[op])
		pf_arg_id(w, ARG_part, &m->strings, m->op.part[op]);
	else
		pf_arg_interned(w, ARG_part, "kv", 2);
}

static void object_args(struct pf_writer *w, const struct pf_draw *a, const struct pf_object *o,
			const struct pf_span *span)
{
	const struct strpool *s = &a->m->strings;
	const struct op_table *t = &a->m->op;
	const char *key = strpool_get(s, t->key[o->op]);
	size_t n = strpool_len(s, t->key[o->op]), from = tail(key, n, KEY_TAIL);

	pf_arg_u64(w, ARG_trace_id, t->join_id[o->op]);
	pf_arg_id(w, ARG_op, s, t->name[o->op]);
	part_arg(w, a->m, o->op);
	pf_arg_u64(w, ARG_bytes, t->bytes[o->op]);
	pf_arg_u64(w, ARG_slot_offset, t->flags[o->op] & OP_HAS_SLOT ? t->slot_offset[o->op] : 0);
	key_args(w, key, n);
	pf_arg_u64(w, ARG_n_cmds, o->n_cmds);
	pf_arg_double(w, ARG_op_latency_ms, (double)(span->end_ns - span->begin_ns) / 1e6);
	pf_arg_secret_id(w, ARG_error, SECRET_ERROR, s, t->error[o->op]);
	pf_arg_secret_id(w, ARG_instance, SECRET_INSTANCE, s, t->instance[o->op]);
	if (t->flags[o->op] & OP_HAS_PID)
		pf_arg_u64(w, ARG_producer_pid, t->pid[o->op]);
	if (t->key[o->op] && w->o->redact)
		pf_arg_secret_key(w, ARG_key, a->m, t->key_hex[o->op], t->key[o->op]);
	else if (t->key[o->op])
		pf_arg_string(w, ARG_key, key + from, n - from);
	if (t->n_occurrences[o->op] > 1)
		pf_arg_u64(w, ARG_occurrence, t->occurrence[o->op]);
}

static void group_args(struct pf_writer *w, const struct pf_draw *a, const struct pf_object *o,
		       const struct pf_span *span)
{
	const struct median *d = &a->objects.durations[span - a->objects.span];

	pf_arg_id(w, ARG_op, &a->m->strings, a->m->op.name[o->op]);
	part_arg(w, a->m, o->op);
	pf_arg_u64(w, ARG_n, o->n);
	pf_arg_u64(w, ARG_bytes, span->amount);
	pf_arg_u64(w, ARG_n_cmds, o->n_cmds);
	pf_arg_u64(w, ARG_dur_p50_ns, d->p50);
	pf_arg_u64(w, ARG_dur_max_ns, d->max);
}

/* "store kv 1.0MiB", with FAILED behind when it did; "store kv x40" for several. */
static u32 object_name(struct pf_writer *w, const struct pf_draw *a, const struct pf_object *o)
{
	const struct strpool *s = &a->m->strings;
	const struct op_table *t = &a->m->op;
	struct buf name = {};
	u32 iid;

	buf_add(&name, strpool_get(s, t->name[o->op]), strpool_len(s, t->name[o->op]));
	buf_byte(&name, ' ');
	if (t->part[o->op])
		buf_add(&name, strpool_get(s, t->part[o->op]), strpool_len(s, t->part[o->op]));
	else
		buf_lit(&name, "kv");
	if (o->n > 1)
		buf_printf(&name, " x%u", o->n);
	else
		buf_printf(&name, " %.1fMiB", (double)t->bytes[o->op] / (1 << 20));
	if (t->error[o->op])
		buf_lit(&name, " FAILED");
	w->b.failed |= name.failed;
	iid = pf_event_name(w, name.p, name.n);
	buf_free(&name);
	return iid;
}

static void describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s)
{
	const struct pf_draw *a = x->source.arm;
	const struct pf_object *o = &a->object[s->item];

	pb_u64(&w->b, EVENT_NAME_IID, object_name(w, a, o));
	if (o->n > 1)
		group_args(w, a, o, s);
	else
		object_args(w, a, o, s);
	/* An arrow that leads nowhere is left out. */
	if (o->n_cmds)
		pb_fixed64(&w->b, EVENT_FLOW_ID, pf_flow_id(a, s->item));
}
