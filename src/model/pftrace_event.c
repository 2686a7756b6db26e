// SPDX-License-Identifier: Apache-2.0
/* One TrackEvent: a row for its slice, rows for its args, counter samples and flows. */
#include <stdio.h>

#include "model/pftrace_work.h"

#define KEY_PREFIX "debug."
#define MAX_NESTED 16
#define MAX_KEY	   1024 /* longer keys only make memory */
#define MAX_FLOWS  64

enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

enum {
	ARG_NAME_IID = 1,
	ARG_BOOL,
	ARG_UINT,
	ARG_INT,
	ARG_DOUBLE,
	ARG_STRING,
	ARG_POINTER,
	ARG_JSON = 9,
	ARG_NAME,
	ARG_DICT,
	ARG_ARRAY,
	ARG_STRING_IID = 17,
};

void pf_repeated(const struct pbr_field *f, bool fixed, u64 *out, u32 *n, u32 max)
{
	const u8 *p = f->p, *end;

	if (f->wire != WIRE_LEN) {
		if (*n < max)
			out[(*n)++] = f->v;
		return;
	}
	for (end = p + f->n; *n < max && p < end; (*n)++) {
		if (!fixed && !pbr_varint(&p, end, &out[*n]))
			return;
		if (fixed) {
			if (end - p < 8)
				return;
			out[*n] = pbr_fixed(p, 8);
			p += 8;
		}
	}
}

/* ---- args ---- */

/* Dots and brackets have a meaning in keys. */
static void add_name(struct buf *b, const char *s, size_t n)
{
	size_t from = b->n, i;

	buf_add(b, s, n);
	if (b->failed)
		return;
	for (i = from; i < b->n; i++)
		if (b->p[i] == '.' || b->p[i] == '[' || b->p[i] == ']')
			b->p[i] = '_';
}

static void start_key(struct pf_reading *r, const char *name, size_t n)
{
	buf_reset(&r->key);
	buf_lit(&r->key, KEY_PREFIX);
	add_name(&r->key, name, n);
	buf_reset(&r->flat);
	buf_add(&r->flat, r->key.p, r->key.n);
}

int pf_key_of_name(struct pftrace *t, const void *name, size_t n, u32 *id)
{
	struct pf_reading *r = t->reading;

	start_key(r, name, MIN(n, (size_t)MAX_KEY));
	return pf_key_id(t, &r->key, &r->flat, id);
}

/* A DebugAnnotation, its last value. */
struct annotation {
	struct pbr_field value; /* number 0: none */
	u64 name_iid;
	struct pbr_field name;
	struct pbr all;
	bool nested;
};

static int read_annotation(struct annotation *a, struct pbr r)
{
	struct pbr_field f;
	int ret;

	*a = (struct annotation){ .all = r };
	while ((ret = pbr_next(&r, &f)) > 0)
		switch (f.number) {
		case ARG_NAME_IID:
			a->name_iid = f.v;
			break;
		case ARG_NAME:
			a->name = f;
			break;
		case ARG_DICT:
		case ARG_ARRAY:
			a->nested = true;
			break;
		case ARG_BOOL:
		case ARG_UINT:
		case ARG_INT:
		case ARG_DOUBLE:
		case ARG_STRING:
		case ARG_POINTER:
		case ARG_JSON:
		case ARG_STRING_IID:
			a->value = f;
			break;
		}
	return ret;
}

static int add_value(struct pftrace *t, struct pf_sequence *s, u32 key, const struct pbr_field *f)
{
	static const u8 types[ARG_STRING_IID + 1] = {
		[ARG_BOOL] = PF_BOOL,	[ARG_UINT] = PF_UINT,	      [ARG_INT] = PF_INT,
		[ARG_DOUBLE] = PF_REAL, [ARG_STRING] = PF_STRING,     [ARG_POINTER] = PF_POINTER,
		[ARG_JSON] = PF_JSON,	[ARG_STRING_IID] = PF_STRING,
	};
	bool text = f->number == ARG_STRING || f->number == ARG_JSON;
	u64 value = f->v;
	u32 id;
	int ret;

	if (text != (f->wire == WIRE_LEN) || (f->number == ARG_DOUBLE) != (f->wire == WIRE_FIXED64))
		return -EBADMSG;
	if (text) {
		ret = pf_string(t, f->p, f->n, &id);
		if (ret)
			return ret;
		value = id;
	} else if (f->number == ARG_STRING_IID) {
		id = pf_interned_get(&s->of[PF_STRINGS], f->v);
		if (id == NONE) {
			t->count.no_name++;
			return 0;
		}
		value = id;
	} else if (f->number == ARG_BOOL) {
		value = f->v != 0;
	}
	return pf_arg_add(t, key, types[f->number], value);
}

static int add_nested(struct pftrace *t, struct pf_sequence *s, const struct annotation *a, u32 depth);

/* The value under the key that stands in the buffers. */
static int add_keyed(struct pftrace *t, struct pf_sequence *s, const struct annotation *a, u32 depth)
{
	struct pf_reading *r = t->reading;
	u32 key;
	int ret;

	if (a->nested)
		return add_nested(t, s, a, depth);
	if (!a->value.number)
		return 0;
	ret = pf_key_id(t, &r->key, &r->flat, &key);
	return ret ? ret : add_value(t, s, key, &a->value);
}

/* Appends the name of a dictionary's entry to both keys. */
static bool add_entry_name(struct pftrace *t, struct pf_sequence *s, const struct annotation *a)
{
	struct pf_reading *r = t->reading;
	const char *name = (const char *)a->name.p;
	size_t n = a->name.n, skip = sizeof(KEY_PREFIX) - 1;

	if (a->name_iid) {
		u32 known = pf_interned_get(&s->of[PF_KEYS], a->name_iid), id;

		if (known == NONE) {
			t->count.no_name++;
			return false;
		}
		id = t->key[known].key;
		name = strpool_get(&t->strings, id) + skip;
		n = strpool_len(&t->strings, id) - skip;
	}
	if (r->key.n + n + 1 > MAX_KEY)
		return false;
	buf_byte(&r->key, '.');
	add_name(&r->key, name, n);
	buf_byte(&r->flat, '.');
	add_name(&r->flat, name, n);
	return true;
}

static int add_nested(struct pftrace *t, struct pf_sequence *s, const struct annotation *a, u32 depth)
{
	struct pf_reading *r = t->reading;
	size_t key_n = r->key.n, flat_n = r->flat.n;
	struct pbr all = a->all;
	struct annotation entry;
	struct pbr_field f;
	u32 index = 0;
	int ret;

	if (depth >= MAX_NESTED || key_n > MAX_KEY) {
		t->count.malformed++;
		return 0;
	}
	while ((ret = pbr_next(&all, &f)) > 0) {
		bool named = true;

		if (f.number != ARG_DICT && f.number != ARG_ARRAY)
			continue;
		ret = read_annotation(&entry, pbr_in(&f));
		if (ret)
			return ret;
		if (f.number == ARG_DICT)
			named = add_entry_name(t, s, &entry);
		else
			buf_printf(&r->key, "[%u]", index++);
		if (named)
			ret = add_keyed(t, s, &entry, depth + 1);
		r->key.n = key_n;
		r->flat.n = flat_n;
		if (ret)
			return ret;
	}
	return ret;
}

static int add_arg(struct pftrace *t, struct pf_sequence *s, struct pbr r)
{
	struct annotation a;
	u32 key;
	int ret = read_annotation(&a, r);

	if (ret)
		return ret;
	if (a.name_iid) {
		key = pf_interned_get(&s->of[PF_KEYS], a.name_iid);
		if (key == NONE) {
			t->count.no_name++;
			return 0;
		}
	} else {
		ret = pf_key_of_name(t, a.name.p, a.name.n, &key);
		if (ret)
			return ret;
	}
	if (!a.nested)
		return a.value.number ? add_value(t, s, key, &a.value) : 0;
	buf_reset(&t->reading->key);
	buf_add(&t->reading->key, strpool_get(&t->strings, t->key[key].key), strpool_len(&t->strings, t->key[key].key));
	buf_reset(&t->reading->flat);
	buf_add(&t->reading->flat, t->reading->key.p, t->reading->key.n);
	return add_nested(t, s, &a, 0);
}

/* ---- events ---- */

struct event {
	u64 type, track, name_iid;
	struct pbr_field name;
	u32 category;
	u64 counter;
	double double_counter;
	bool has_counter, has_double;
	u32 n_tracks, n_values, n_double_tracks, n_doubles;
	u64 extra_track[PF_MAX_EXTRA], extra[PF_MAX_EXTRA], double_track[PF_MAX_EXTRA], doubles[PF_MAX_EXTRA];
	u32 n_flows, n_ending;
	u64 flow[MAX_FLOWS], ending[MAX_FLOWS];
};

static double as_double(u64 bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Several categories are one, with commas between them. */
static int add_category(struct pftrace *t, u32 *category, const char *s, size_t n)
{
	struct buf *b = &t->reading->key;

	buf_reset(b);
	if (*category) {
		buf_add(b, strpool_get(&t->strings, *category), strpool_len(&t->strings, *category));
		buf_byte(b, ',');
	}
	buf_add(b, s, MIN(n, (size_t)MAX_KEY));
	if (b->n > MAX_KEY)
		return 0;
	return b->failed ? -ENOMEM : pf_string(t, b->p, b->n, category);
}

static int categories(struct pftrace *t, struct pf_sequence *s, struct event *e, const struct pbr_field *f)
{
	struct buf copy = {};
	u64 iid[8];
	u32 n = 0, i, id;
	int ret = 0;

	if (f->number == 22)
		return f->wire == WIRE_LEN ? add_category(t, &e->category, (const char *)f->p, f->n) : 0;
	pf_repeated(f, false, iid, &n, ARRAY_SIZE(iid));
	for (i = 0; i < n && !ret; i++) {
		id = pf_interned_get(&s->of[PF_CATEGORIES], iid[i]);
		if (id == NONE) {
			t->count.no_name++;
			continue;
		}
		/* The pool may move while the new name is made. */
		buf_reset(&copy);
		buf_add(&copy, strpool_get(&t->strings, id), strpool_len(&t->strings, id));
		ret = copy.failed ? -ENOMEM : add_category(t, &e->category, copy.p, copy.n);
	}
	buf_free(&copy);
	return ret;
}

static int event_field(struct pftrace *t, struct pf_sequence *s, struct event *e, const struct pbr_field *f)
{
	switch (f->number) {
	case 3:
	case 22:
		return categories(t, s, e, f);
	case 4:
		return f->wire == WIRE_LEN ? add_arg(t, s, pbr_in(f)) : 0;
	case 9:
		e->type = f->v;
		break;
	case 10:
		e->name_iid = f->v;
		break;
	case 11:
		e->track = f->v;
		break;
	case 12:
		pf_repeated(f, false, e->extra, &e->n_values, PF_MAX_EXTRA);
		break;
	case 23:
		e->name = *f;
		break;
	case 30:
		e->counter = f->v;
		e->has_counter = true;
		break;
	case 31:
		pf_repeated(f, false, e->extra_track, &e->n_tracks, PF_MAX_EXTRA);
		break;
	case 36: /* the two older fields of flows */
		pf_repeated(f, false, e->flow, &e->n_flows, MAX_FLOWS);
		break;
	case 42:
		pf_repeated(f, false, e->ending, &e->n_ending, MAX_FLOWS);
		break;
	case 44:
		e->double_counter = as_double(f->v);
		e->has_double = true;
		break;
	case 45:
		pf_repeated(f, false, e->double_track, &e->n_double_tracks, PF_MAX_EXTRA);
		break;
	case 46:
		pf_repeated(f, true, e->doubles, &e->n_doubles, PF_MAX_EXTRA);
		break;
	case 47:
		pf_repeated(f, true, e->flow, &e->n_flows, MAX_FLOWS);
		break;
	case 48:
		pf_repeated(f, true, e->ending, &e->n_ending, MAX_FLOWS);
		break;
	}
	return 0;
}

static int sample(struct pftrace *t, struct pf_sequence *s, s64 ts, u64 uuid, double v)
{
	struct pf_counters *c = &t->counter;
	struct pf_declared *d;
	u32 at, cap;
	int ret = pf_track_of(t, uuid, &at);

	cap = c->cap;
	if (!ret)
		ret = pf_grow(t->reading, &c->ts, &cap, c->n, sizeof(*c->ts));
	cap = c->cap;
	if (!ret)
		ret = pf_grow(t->reading, &c->value, &cap, c->n, sizeof(*c->value));
	if (!ret)
		ret = pf_grow(t->reading, &c->track, &c->cap, c->n, sizeof(*c->track));
	if (ret)
		return ret;
	d = &t->reading->track[at];
	if (d->mult > 0)
		v *= (double)d->mult;
	if (d->incremental) {
		if (d->clears != s->clears)
			d->sum = 0;
		d->clears = s->clears;
		v = d->sum += v;
	}
	if (c->n && ts < c->ts[c->n - 1])
		t->reading->counters_unsorted = true;
	c->ts[c->n] = ts;
	c->value[c->n] = v;
	c->track[c->n++] = at;
	return 0;
}

static int extra_samples(struct pftrace *t, struct pf_sequence *s, s64 ts, const struct event *e)
{
	const u64 *track = e->n_tracks ? e->extra_track : s->extra;
	u32 n = MIN(e->n_tracks ? e->n_tracks : s->n_extra, e->n_values), i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = sample(t, s, ts, track[i], (double)(s64)e->extra[i]);
	track = e->n_double_tracks ? e->double_track : s->extra_double;
	n = MIN(e->n_double_tracks ? e->n_double_tracks : s->n_extra_double, e->n_doubles);
	for (i = 0; i < n && !ret; i++)
		ret = sample(t, s, ts, track[i], as_double(e->doubles[i]));
	return ret;
}

static int name_of(struct pftrace *t, struct pf_sequence *s, const struct event *e, u32 *name)
{
	*name = 0;
	if (e->name_iid) {
		*name = pf_interned_get(&s->of[PF_NAMES], e->name_iid);
		if (*name != NONE)
			return 0;
		*name = 0;
		t->count.no_name++;
		return 0;
	}
	return e->name.wire == WIRE_LEN ? pf_string(t, e->name.p, e->name.n, name) : 0;
}

static int add_slice(struct pftrace *t, s64 ts, u32 track, u32 name, u32 category, u32 args)
{
	struct pf_slices *s = &t->slice;
	struct pf_reading *r = t->reading;
	u32 cap = s->cap;
	int ret = pf_grow(r, &s->ts, &cap, s->n, sizeof(*s->ts));

	cap = s->cap;
	if (!ret)
		ret = pf_grow(r, &s->track, &cap, s->n, sizeof(*s->track));
	cap = s->cap;
	if (!ret)
		ret = pf_grow(r, &s->name, &cap, s->n, sizeof(*s->name));
	cap = s->cap;
	if (!ret)
		ret = pf_grow(r, &s->category, &cap, s->n, sizeof(*s->category));
	if (!ret)
		ret = pf_grow(r, &s->args, &s->cap, s->n, sizeof(*s->args));
	if (ret)
		return ret;
	s->ts[s->n] = ts;
	s->track[s->n] = track;
	s->name[s->n] = name;
	s->category[s->n] = category;
	s->args[s->n++] = args;
	return 0;
}

static int add_event(struct pf_reading *r, s64 ts, u32 track, u32 what, u8 kind)
{
	u32 cap = r->event.cap, n = r->event.n;
	int ret = pf_grow(r, &r->event.ts, &cap, n, sizeof(*r->event.ts));

	cap = r->event.cap;
	if (!ret)
		ret = pf_grow(r, &r->event.track, &cap, n, sizeof(*r->event.track));
	cap = r->event.cap;
	if (!ret)
		ret = pf_grow(r, &r->event.what, &cap, n, sizeof(*r->event.what));
	if (!ret)
		ret = pf_grow(r, &r->event.kind, &r->event.cap, n, sizeof(*r->event.kind));
	if (ret)
		return ret;
	if (n && ts < r->event.ts[n - 1])
		r->unsorted = true;
	r->event.ts[n] = ts;
	r->event.track[n] = track;
	r->event.what[n] = what;
	r->event.kind[n] = kind;
	r->event.n++;
	return 0;
}

static int add_flows(struct pf_reading *r, const u64 *id, u32 n, bool ends)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < n && !ret; i++) {
		ret = pf_grow(r, &r->flow_op, &r->cap_flow_ops, r->n_flow_ops, sizeof(*r->flow_op));
		if (!ret)
			r->flow_op[r->n_flow_ops++] = (struct pf_flow_op){ r->event.n - 1, ends, id[i] };
	}
	return ret;
}

static int slice_event(struct pftrace *t, struct pf_sequence *s, s64 ts, const struct event *e, u32 args)
{
	struct pf_reading *r = t->reading;
	u8 flows = e->n_flows || e->n_ending ? PF_HAS_FLOW : 0;
	u32 track, name, what = NONE;
	int ret = pf_track_of(t, e->track, &track);

	if (!ret)
		ret = name_of(t, s, e, &name);
	if (ret)
		return ret;
	if (e->type == TYPE_END) {
		if (name || e->category || args != NONE) {
			ret = pf_grow(r, &r->end, &r->cap_ends, r->n_ends, sizeof(*r->end));
			if (ret)
				return ret;
			what = r->n_ends++;
			r->end[what] = (struct pf_end){ name, e->category, args };
		}
		ret = add_event(r, ts, track, what, PF_END | flows);
	} else {
		ret = add_slice(t, ts, track, name, e->category, args);
		if (!ret)
			ret = add_event(r, ts, track, t->slice.n - 1,
					(e->type == TYPE_BEGIN ? PF_BEGIN : PF_INSTANT) | flows);
	}
	if (!ret)
		ret = add_flows(r, e->flow, e->n_flows, false);
	return ret ? ret : add_flows(r, e->ending, e->n_ending, true);
}

int pf_event_read(struct pftrace *t, struct pf_sequence *s, s64 ts, const u8 *p, size_t n)
{
	struct event e;
	struct pbr r = { p, p + n };
	u32 sets = t->arg.n_sets, rows = t->arg.n;
	struct pbr_field f;
	int ret;

	/* The arrays need no zeroes. */
	memset(&e, 0, offsetof(struct event, extra_track));
	e.n_flows = e.n_ending = 0;
	e.track = s->track;
	ret = pf_arg_set(t);
	while (!ret && (ret = pbr_next(&r, &f)) > 0)
		ret = event_field(t, s, &e, &f);
	if (!ret && (e.type < TYPE_BEGIN || e.type > TYPE_COUNTER)) {
		t->count.foreign++;
		pf_args_back(t, sets);
		return 0;
	}
	if (ret || t->arg.n == rows || e.type == TYPE_COUNTER)
		pf_args_back(t, sets);
	if (!ret)
		ret = extra_samples(t, s, ts, &e);
	if (ret)
		return ret;
	if (e.type != TYPE_COUNTER)
		return slice_event(t, s, ts, &e, t->arg.n_sets > sets ? sets : NONE);
	if (!e.has_counter && !e.has_double)
		return -EBADMSG;
	return sample(t, s, ts, e.track, e.has_counter ? (double)(s64)e.counter : e.double_counter);
}
