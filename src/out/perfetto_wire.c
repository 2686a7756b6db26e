// SPDX-License-Identifier: Apache-2.0
/* Packets of one sequence: delta timestamps, interned strings, arguments. */
#include <errno.h>
#include <string.h>

#include "out/perfetto_writer.h"

/* A clock of this sequence only; every packet counts on from the one before. */
#define CLOCK_DELTA	   64
#define CLOCK_REALTIME_ID  1
#define CLOCK_MONOTONIC_ID 3
#define SEQUENCE	   1
#define STATE_CLEARED	   1

#define FLUSH_BYTES (256 << 10)

#define ARG_NAME(name) [ARG_##name] = #name,
static const char *const arg_names[N_PF_ARGS] = { PF_ARGS(ARG_NAME) };

static void intern(struct buf *b, u32 field, u32 iid, const char *s, size_t n)
{
	size_t mark = pb_open(b, field);

	pb_u64(b, INTERNED_IID, iid);
	pb_string(b, INTERNED_TEXT, s, n);
	pb_close(b, mark);
}

static void snapshot_clock(struct buf *b, u32 id, u64 ns, bool incremental)
{
	size_t mark = pb_open(b, 1); /* ClockSnapshot.clocks */

	pb_u64(b, 1, id);
	pb_u64(b, 2, ns);
	if (incremental)
		pb_u64(b, 3, true);
	pb_close(b, mark);
}

/* Saves the track of most events, and of most LBA samples. */
static void defaults(struct pf_writer *w)
{
	struct buf *b = &w->b;
	size_t mark = pb_open(b, PACKET_DEFAULTS), event;

	event = pb_open(b, DEFAULTS_EVENT);
	if (w->default_track)
		pb_u64(b, EVENT_TRACK_UUID, w->default_track);
	if (w->default_counter)
		pb_u64(b, EVENT_EXTRA_COUNTER_TRACK, w->default_counter);
	pb_close(b, event);
	pb_u64(b, DEFAULTS_CLOCK_ID, CLOCK_DELTA);
	pb_close(b, mark);
}

void pf_start(struct pf_writer *w, u64 first_ns, u64 wall_ns)
{
	struct buf *b = &w->b;
	size_t packet = pb_open(b, TRACE_PACKET), mark;
	u32 i;

	mark = pb_open(b, PACKET_CLOCK_SNAPSHOT);
	snapshot_clock(b, CLOCK_DELTA, first_ns, true);
	snapshot_clock(b, CLOCK_MONOTONIC_ID, first_ns, false);
	if (wall_ns)
		snapshot_clock(b, CLOCK_REALTIME_ID, wall_ns, false);
	pb_u64(b, 2, CLOCK_MONOTONIC_ID); /* primary_trace_clock */
	pb_close(b, mark);
	pb_u64(b, PACKET_SEQUENCE_ID, SEQUENCE);
	mark = pb_open(b, PACKET_INTERNED_DATA);
	for (i = 1; i < N_PF_ARGS; i++)
		intern(b, INTERNED_ANNOTATION_NAME, i, arg_names[i], strlen(arg_names[i]));
	pb_close(b, mark);
	pb_u64(b, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	defaults(w);
	pb_u64(b, PACKET_FIRST_ON_SEQUENCE, true);
	pb_close(b, packet);
	w->last_ns = first_ns;
}

/*
 * Fields go in an order that compresses well: what changes with every event,
 * track and time, stands together at the end.
 *
 * Packets do not carry SEQ_NEEDS_INCREMENTAL_STATE: that is for readers that
 * may have missed the first packet of a ring, and in a file nobody has.
 */
void pf_event(struct pf_writer *w, u64 ns, enum event_type type, u32 track)
{
	struct buf *b = &w->b;

	/* The end of a bucket can be later than any event. */
	ns = MIN(ns, (u64)INT64_MAX);
	w->packet = pb_open(b, TRACE_PACKET);
	pb_u64(b, PACKET_SEQUENCE_ID, SEQUENCE);
	/* The sources are merged by time, so the difference is never negative. */
	w->delta_ns = ns - w->last_ns;
	w->last_ns = ns;
	w->event = pb_open(b, PACKET_TRACK_EVENT);
	pb_u64(b, EVENT_TYPE, type);
	w->track = track;
	w->n_open += type == TYPE_BEGIN;
	w->n_open -= type == TYPE_END;
}

void pf_event_end(struct pf_writer *w)
{
	if (w->track != w->default_track)
		pb_u64(&w->b, EVENT_TRACK_UUID, w->track);
	pb_close(&w->b, w->event);
	pb_u64(&w->b, PACKET_TIMESTAMP, w->delta_ns);
	if (w->fresh.n) {
		pb_bytes(&w->b, PACKET_INTERNED_DATA, w->fresh.p, w->fresh.n);
		buf_reset(&w->fresh);
	}
	pb_close(&w->b, w->packet);
	w->out->packets++;
	if (w->b.n >= FLUSH_BYTES)
		pf_flush(w);
}

int pf_flush(struct pf_writer *w)
{
	if (w->b.failed || w->fresh.failed)
		w->ret = w->ret ? w->ret : -ENOMEM;
	if (!w->ret)
		w->ret = zout_write(w->z, w->b.p, w->b.n);
	w->piece_bytes += w->b.n;
	w->out->bytes += w->b.n;
	buf_reset(&w->b);
	return w->ret;
}

void pf_writer_free(struct pf_writer *w)
{
	u32 i;

	buf_free(&w->b);
	buf_free(&w->fresh);
	strpool_free(&w->event_names);
	strpool_free(&w->string_values);
	for (i = 0; i < N_SECRETS; i++)
		strpool_free(&w->secrets[i]);
}

/* The id of the string, which is sent along when it is new. */
static u32 pool_id(struct pf_writer *w, struct strpool *pool, u32 field, const char *s, size_t n)
{
	u32 before = pool->n, iid = strpool_add(pool, s, n);

	if (!iid)
		w->ret = w->ret ? w->ret : -ENOMEM;
	else if (pool->n != before)
		intern(&w->fresh, field, iid, s, n);
	return iid;
}

u32 pf_event_name(struct pf_writer *w, const char *s, size_t n)
{
	return pool_id(w, &w->event_names, INTERNED_EVENT_NAME, s, n);
}

void pf_arg_string(struct pf_writer *w, enum pf_arg arg, const char *s, size_t n)
{
	size_t mark = pb_open(&w->b, EVENT_ANNOTATION);

	pb_u64(&w->b, ANNOTATION_NAME_IID, arg);
	pb_string(&w->b, ANNOTATION_STRING, s, n);
	pb_close(&w->b, mark);
}

u32 pf_string_value(struct pf_writer *w, const char *s, size_t n)
{
	return pool_id(w, &w->string_values, INTERNED_STRING_VALUE, s, n);
}

void pf_arg_interned(struct pf_writer *w, enum pf_arg arg, const char *s, size_t n)
{
	pf_arg_number(w, arg, ANNOTATION_STRING_IID, pf_string_value(w, s, n));
}

void pf_arg_id(struct pf_writer *w, enum pf_arg arg, const struct strpool *s, u32 id)
{
	if (id)
		pf_arg_interned(w, arg, strpool_get(s, id), strpool_len(s, id));
}

void pf_arg_double(struct pf_writer *w, enum pf_arg arg, double v)
{
	size_t mark = pb_open(&w->b, EVENT_ANNOTATION);

	pb_u64(&w->b, ANNOTATION_NAME_IID, arg);
	pb_double(&w->b, ANNOTATION_DOUBLE, v);
	pb_close(&w->b, mark);
}
