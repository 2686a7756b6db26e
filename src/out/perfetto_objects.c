// SPDX-License-Identifier: Apache-2.0
/* Object spans on lanes, and how many of them are in flight. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/perfetto_writer.h"

/* Characters of a key that are shown. */
#define KEY_TAIL   24
#define CHUNK_HEAD 12

static int by_time(const void *x, const void *y, void *arg)
{
	const struct pf_object *a = x, *b = y;
	const struct op_table *t = arg;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	if (t->trace_id[a->op] != t->trace_id[b->op])
		return t->trace_id[a->op] < t->trace_id[b->op] ? -1 : 1;
	return a->op < b->op ? -1 : a->op > b->op;
}

/* The spans in order of their begin.  Times are absolute here; the base comes from them too. */
int pf_objects_prepare(struct pf_arm *a)
{
	const struct model *m = a->m;
	u32 i;

	a->object = malloc((m->op.n + 1ul) * sizeof(*a->object));
	a->object_of = malloc((m->op.n + 1ul) * sizeof(*a->object_of));
	if (!a->object || !a->object_of)
		return -ENOMEM;
	for (i = 0; i < m->op.n; i++) {
		struct op_span s;

		op_span(m, i, &s);
		a->object_of[i] = NONE;
		a->base_ns = MIN(a->base_ns, s.instant ? s.end_ns : s.begin_ns);
		if (!s.instant)
			a->object[a->n_objects++] = (struct pf_object){
				s.begin_ns, s.end_ns, i, s.n_cmds, s.first_cmd, s.last_cmd,
			};
	}
	qsort_r(a->object, a->n_objects, sizeof(*a->object), by_time, (void *)&m->op);
	for (i = 0; i < a->n_objects; i++)
		a->object_of[a->object[i].op] = i;
	return 0;
}

/* Counts the lanes; the same walk as that of the events, so that both agree. */
int pf_objects_lanes(struct pf_arm *a)
{
	struct lanes *l = &a->object_lanes;
	const struct lane_slice *s;
	u32 i;

	for (i = 0; i < a->n_objects; i++) {
		while ((s = lanes_next(l)) && s->end_ns < pf_time(a, a->object[i].begin_ns))
			lanes_idle(l, lanes_pop(l).lane);
		if (lanes_take(l, pf_time(a, a->object[i].end_ns), i) < 0)
			return -ENOMEM;
	}
	a->stats->object_lanes = l->n;
	a->ended = malloc((l->n + 1ul) * sizeof(*a->ended));
	lanes_reset(l);
	return a->ended ? 0 : -ENOMEM;
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
	pf_arg_interned(w, ARG_fmt, k.fmt, k.fmt_len);
	pf_arg_string(w, ARG_chunk, k.hash, head(k.hash, k.hash_len, CHUNK_HEAD));
}

static void object_args(struct pf_writer *w, const struct pf_arm *a, const struct pf_object *o)
{
	const struct strpool *s = &a->m->strings;
	const struct op_table *t = &a->m->op;
	const char *key = strpool_get(s, t->key[o->op]);
	size_t n = strpool_len(s, t->key[o->op]), from = tail(key, n, KEY_TAIL);

	pf_arg_u64(w, ARG_trace_id, t->trace_id[o->op]);
	pf_arg_id(w, ARG_op, s, t->name[o->op]);
	if (t->part[o->op])
		pf_arg_id(w, ARG_part, s, t->part[o->op]);
	else
		pf_arg_interned(w, ARG_part, "kv", 2);
	pf_arg_u64(w, ARG_bytes, t->bytes[o->op]);
	pf_arg_u64(w, ARG_slot_offset, t->flags[o->op] & OP_HAS_SLOT ? t->slot_offset[o->op] : 0);
	key_args(w, key, n);
	pf_arg_u64(w, ARG_n_cmds, o->n_cmds);
	pf_arg_double(w, ARG_op_latency_ms, (double)(o->end_ns - o->begin_ns) / 1e6);
	pf_arg_id(w, ARG_error, s, t->error[o->op]);
	pf_arg_id(w, ARG_instance, s, t->instance[o->op]);
	if (t->flags[o->op] & OP_HAS_PID)
		pf_arg_u64(w, ARG_producer_pid, t->pid[o->op]);
	if (t->key[o->op])
		pf_arg_string(w, ARG_key, key + from, n - from);
	if (t->n_occurrences[o->op] > 1)
		pf_arg_u64(w, ARG_occurrence, t->occurrence[o->op]);
}

/* "store kv 1.0MiB", with FAILED behind when it did. */
static u32 object_name(struct pf_writer *w, const struct pf_arm *a, u32 op)
{
	const struct strpool *s = &a->m->strings;
	const struct op_table *t = &a->m->op;
	struct buf name = {};
	u32 iid;

	buf_add(&name, strpool_get(s, t->name[op]), strpool_len(s, t->name[op]));
	buf_byte(&name, ' ');
	if (t->part[op])
		buf_add(&name, strpool_get(s, t->part[op]), strpool_len(s, t->part[op]));
	else
		buf_lit(&name, "kv");
	buf_printf(&name, " %.1fMiB", (double)t->bytes[op] / (1 << 20));
	if (t->error[op])
		buf_lit(&name, " FAILED");
	if (name.failed)
		w->ret = -ENOMEM;
	iid = pf_event_name(w, name.p, name.n);
	buf_free(&name);
	return iid;
}

static void begin_object(struct pf_writer *w, struct pf_arm *a, u64 now, u32 i)
{
	const struct pf_object *o = &a->object[i];
	s64 lane = lanes_take(&a->object_lanes, pf_time(a, o->end_ns), i);

	if (lane < 0) {
		w->ret = -ENOMEM;
		return;
	}
	pf_event(w, now, TYPE_BEGIN, a->track_objects + (u32)lane);
	pb_u64(&w->b, EVENT_NAME_IID, object_name(w, a, o->op));
	object_args(w, a, o);
	/* An arrow that leads nowhere is left out. */
	if (o->n_cmds)
		pb_fixed64(&w->b, EVENT_FLOW_ID, pf_flow_id(a, i));
	pf_event_end(w);
	a->stats->object_spans++;
}

/* Ends everything that ends now; the lanes stay taken until they are given back. */
static void end_objects(struct pf_writer *w, struct pf_arm *a, u64 now)
{
	const struct lane_slice *open;

	while ((open = lanes_next(&a->object_lanes)) && open->end_ns == now) {
		struct lane_slice done = lanes_pop(&a->object_lanes);

		pf_count(w, now, a->track_in_flight, --a->in_flight);
		pf_end_slice(w, now, a->track_objects + done.lane);
		a->ended[a->n_ended++] = done.lane;
	}
}

static u64 next_time(const struct pf_arm *a)
{
	const struct lane_slice *open = lanes_next(&a->object_lanes);
	u64 begin = a->next_object < a->n_objects ? pf_time(a, a->object[a->next_object].begin_ns) : PF_DONE;

	return open ? MIN(open->end_ns, begin) : begin;
}

static void emit(struct pf_writer *w, struct pf_arm *a, struct pf_source *s)
{
	u64 now = s->next_ns;

	/* Down before up, so that a hand-over at one time is no overlap; spans of no length end last. */
	a->n_ended = 0;
	end_objects(w, a, now);
	while (a->next_object < a->n_objects && pf_time(a, a->object[a->next_object].begin_ns) == now) {
		pf_count(w, now, a->track_in_flight, ++a->in_flight);
		begin_object(w, a, now, a->next_object++);
	}
	end_objects(w, a, now);
	while (a->n_ended)
		lanes_idle(&a->object_lanes, a->ended[--a->n_ended]);
	s->next_ns = next_time(a);
}

void pf_objects_start(struct pf_arm *a)
{
	a->object_source = (struct pf_source){ .emit = emit, .order = ORDER_SPANS, .arm = a };
	a->object_source.next_ns = next_time(a);
}
