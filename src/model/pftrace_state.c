// SPDX-License-Identifier: Apache-2.0
/* What packets of a trace build on: sequences with interned data, clocks, tracks. */
#include <stdlib.h>

#include "model/pftrace_work.h"

/* ---- sequences ---- */

void pf_sequence_clear(struct pf_sequence *s)
{
	u32 i;

	/* Some writers do this every second: the memory is kept. */
	for (i = 0; i < PF_INTERNED_KINDS; i++) {
		s->of[i].n = 0;
		map64_free(&s->of[i].sparse);
		s->of[i].sparse = (struct map64){};
	}
	s->clock_id = 0;
	s->track = 0;
	s->n_extra = s->n_extra_double = 0;
	s->valid = true;
	s->clears++;
}

void pf_sequence_free(struct pf_sequence *s)
{
	u32 i;

	pf_sequence_clear(s);
	for (i = 0; i < PF_INTERNED_KINDS; i++)
		free(s->of[i].dense);
	free(s->clock);
	free(s);
}

int pf_sequence_of(struct pftrace *t, u32 id, struct pf_sequence **out)
{
	struct pf_reading *r = t->reading;
	bool is_new;
	u32 *at;
	int ret;

	if (r->last && r->last_id == id) {
		*out = r->last;
		return 0;
	}
	at = map64_put(&r->sequence_at, id, &is_new);
	if (!at)
		return -ENOMEM;
	if (is_new) {
		ret = pf_grow(r, &r->sequence, &r->cap_sequences, r->n_sequences, sizeof(struct pf_sequence *));
		if (ret)
			return ret;
		r->sequence[r->n_sequences] = calloc(1, sizeof(struct pf_sequence));
		if (!r->sequence[r->n_sequences])
			return -ENOMEM;
		r->used += sizeof(struct pf_sequence);
		*at = r->n_sequences++;
	}
	*out = r->last = r->sequence[*at];
	r->last_id = id;
	return 0;
}

int pf_interned_put(struct pftrace *t, struct pf_interned *in, u64 iid, u32 value)
{
	bool is_new;
	u32 *at;
	int ret;

	if (iid - 1 <= in->n) {
		ret = pf_grow(t->reading, &in->dense, &in->cap, in->n, sizeof(*in->dense));
		if (ret)
			return ret;
		in->dense[iid - 1] = value;
		in->n += iid - 1 == in->n;
		return 0;
	}
	at = map64_put(&in->sparse, iid, &is_new);
	if (!at)
		return -ENOMEM;
	*at = value;
	t->reading->used += is_new ? 26 : 0;
	return 0;
}

u32 pf_interned_get(const struct pf_interned *in, u64 iid)
{
	const u32 *at;

	if (iid - 1 < in->n)
		return in->dense[iid - 1];
	at = in->sparse.n ? map64_get(&in->sparse, iid) : NULL;
	return at ? *at : NONE;
}

/* ---- clocks ---- */

#define CLOCK_REALTIME_ID 1
#define CLOCK_BOOTTIME_ID 6
#define FIRST_OWN_CLOCK	  64 /* of a sequence */
#define LAST_OWN_CLOCK	  127
#define MAX_SNAPSHOT	  64

static bool is_own(u32 id)
{
	return id >= FIRST_OWN_CLOCK && id <= LAST_OWN_CLOCK;
}

static struct pf_clock *find_clock(struct pf_reading *r, struct pf_sequence *s, u32 id)
{
	struct pf_clock *c = is_own(id) ? s->clock : r->clock;
	u32 n = is_own(id) ? s->n_clocks : r->n_clocks, i;

	for (i = 0; i < n; i++)
		if (c[i].id == id)
			return &c[i];
	return NULL;
}

static int put_clock(struct pf_reading *r, struct pf_sequence *s, const struct pf_clock *c)
{
	struct pf_clock *known = find_clock(r, s, c->id);
	int ret;

	if (known) {
		*known = *c;
		return 0;
	}
	if (is_own(c->id)) {
		ret = pf_grow(r, &s->clock, &s->cap_clocks, s->n_clocks, sizeof(*s->clock));
		if (!ret)
			s->clock[s->n_clocks++] = *c;
	} else if (r->n_clocks >= MAX_SNAPSHOT) {
		/* There are a dozen; a search must stay short. */
		ret = 0;
	} else {
		ret = pf_grow(r, &r->clock, &r->cap_clocks, r->n_clocks, sizeof(*r->clock));
		if (!ret)
			r->clock[r->n_clocks++] = *c;
	}
	return ret;
}

static bool read_clock(struct pf_clock *c, struct pbr r)
{
	struct pbr_field f;
	u64 stamp = 0;
	int ret;

	*c = (struct pf_clock){ .mult = 1 };
	while ((ret = pbr_next(&r, &f)) > 0) {
		if (f.number == 1)
			c->id = (u32)f.v;
		else if (f.number == 2)
			stamp = f.v;
		else if (f.number == 3)
			c->incremental = f.v != 0;
		else if (f.number == 4 && f.v)
			c->mult = f.v;
	}
	c->now = stamp * c->mult;
	return !ret && c->id;
}

/* Ties the clocks of one snapshot to trace time, by the trace's clock or one that is tied to it. */
static int tie(struct pftrace *t, struct pf_sequence *s, struct pf_clock *c, u32 n)
{
	const struct pf_clock *known = NULL;
	struct pf_reading *r = t->reading;
	u64 now = 0, wall = 0;
	u32 i;
	int ret = 0;

	for (i = 0; i < n && !known; i++)
		if (c[i].id == r->trace_clock)
			known = &c[i];
	if (known) {
		now = known->now;
	} else {
		for (i = 0; i < n && !known; i++)
			known = is_own(c[i].id) ? NULL : find_clock(r, s, c[i].id);
		now = known ? c[i - 1].now + known->offset : n ? c[n - 1].now : 0;
	}
	for (i = 0; i < n && !ret; i++) {
		c[i].offset = now - c[i].now;
		ret = put_clock(r, s, &c[i]);
		if (c[i].id == CLOCK_REALTIME_ID)
			wall = c[i].now;
	}
	if (wall && !t->has_wall) {
		t->has_wall = true;
		t->wall_at = now;
		t->wall_ns = wall;
	}
	return ret;
}

int pf_snapshot(struct pftrace *t, struct pf_sequence *s, struct pbr r)
{
	struct pf_clock c[MAX_SNAPSHOT];
	struct pbr_field f;
	u32 n = 0;
	int ret;

	if (!t->reading->trace_clock)
		t->reading->trace_clock = CLOCK_BOOTTIME_ID;
	while ((ret = pbr_next(&r, &f)) > 0) {
		if (f.number == 1 && n < MAX_SNAPSHOT && read_clock(&c[n], pbr_in(&f)))
			n++;
		else if (f.number == 2)
			t->reading->trace_clock = (u32)f.v;
	}
	return ret ? ret : tie(t, s, c, n);
}

s64 pf_time_of(struct pftrace *t, struct pf_sequence *s, u32 clock, u64 stamp)
{
	struct pf_clock *c;

	if (!clock)
		clock = s->clock_id;
	if (!clock)
		return (s64)stamp;
	c = find_clock(t->reading, s, clock);
	if (!c) {
		t->count.no_clock++;
		return (s64)stamp;
	}
	if (!c->incremental)
		return (s64)(stamp * c->mult + c->offset);
	c->now += stamp * c->mult;
	return (s64)(c->now + c->offset);
}

/* ---- tracks ---- */

int pf_track_of(struct pftrace *t, u64 uuid, u32 *at)
{
	struct pf_reading *r = t->reading;
	bool is_new;
	u32 *found;
	int ret;

	if (r->last_track != NONE && r->last_uuid == uuid) {
		*at = r->last_track;
		return 0;
	}
	ret = pf_grow(r, &r->track, &r->cap_tracks, t->n_tracks, sizeof(*r->track));
	if (ret)
		return ret;
	found = map64_put(&r->track_at, uuid, &is_new);
	if (!found)
		return -ENOMEM;
	if (is_new) {
		*found = t->n_tracks++;
		r->track[*found] = (struct pf_declared){ .t = { .uuid = uuid }, .mult = 1 };
	}
	r->last_uuid = uuid;
	*at = r->last_track = *found;
	return 0;
}

/* The fields of ProcessDescriptor and ThreadDescriptor that say who it is. */
static int read_task(struct pftrace *t, struct pf_declared *d, struct pbr r, bool thread)
{
	const u32 name = thread ? 5 : 6;
	struct pbr_field f;
	int ret;

	while ((ret = pbr_next(&r, &f)) > 0) {
		if (f.number == 1)
			d->pid = (u32)f.v;
		else if (thread && f.number == 2)
			d->tid = (u32)f.v;
		else if (f.number == name && f.wire == WIRE_LEN)
			ret = pf_string(t, f.p, f.n, &d->task_name);
		if (ret < 0)
			return ret;
	}
	d->has_thread |= thread;
	d->has_process |= !thread;
	return ret;
}

static int read_counter(struct pftrace *t, struct pf_declared *d, struct pbr r)
{
	static const char *const units[] = { "", "ns", "count", "bytes" };
	struct pbr_field f;
	int ret;

	d->t.counter = true;
	while ((ret = pbr_next(&r, &f)) > 0) {
		if (f.number == 3 && f.v < ARRAY_SIZE(units) && !d->t.unit)
			ret = pf_string(t, units[f.v], strlen(units[f.v]), &d->t.unit);
		else if (f.number == 4)
			d->mult = (s64)f.v;
		else if (f.number == 5)
			d->incremental = f.v != 0;
		else if (f.number == 6 && f.wire == WIRE_LEN)
			ret = pf_string(t, f.p, f.n, &d->t.unit);
		if (ret < 0)
			return ret;
	}
	return ret;
}

static int descriptor_field(struct pftrace *t, struct pf_declared *d, const struct pbr_field *f)
{
	switch (f->number) {
	case 2:	 /* name */
	case 10: /* static_name */
	case 13: /* atrace_name */
		return f->wire == WIRE_LEN ? pf_string(t, f->p, f->n, &d->t.name) : 0;
	case 3:
		return read_task(t, d, pbr_in(f), false);
	case 4:
		return read_task(t, d, pbr_in(f), true);
	case 5:
		d->parent = f->v;
		return 0;
	case 8:
		return read_counter(t, d, pbr_in(f));
	case 11:
		d->t.ordering = f->v <= 3 ? (u8)f->v : 0;
		return 0;
	case 12:
		d->t.rank = (s32)f->v;
		return 0;
	}
	return 0;
}

int pf_descriptor(struct pftrace *t, struct pbr r)
{
	struct pbr all = r;
	struct pbr_field f;
	u64 uuid = 0;
	u32 at;
	int ret;

	while ((ret = pbr_next(&r, &f)) > 0)
		if (f.number == 1)
			uuid = f.v;
	if (!ret)
		ret = pf_track_of(t, uuid, &at);
	if (ret)
		return ret;
	/* A track is declared once or more; later words add to what is known. */
	while (pbr_next(&all, &f) > 0) {
		ret = descriptor_field(t, &t->reading->track[at], &f);
		if (ret)
			return ret;
	}
	t->reading->track[at].declared = true;
	return 0;
}
