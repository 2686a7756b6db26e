// SPDX-License-Identifier: Apache-2.0
/* One packet: the state that it sets, then what it says. */
#include <stdlib.h>

#include "model/pftrace_work.h"

#define STATE_CLEARED 1
#define NEEDS_STATE   2

struct packet {
	u64 stamp;
	u32 clock, sequence, flags;
	bool has_stamp;
	struct pbr event, interned, defaults, snapshot, descriptor, compressed;
};

static int read_packet(struct packet *p, struct pbr r)
{
	struct pbr_field f;
	int ret;

	*p = (struct packet){};
	while ((ret = pbr_next(&r, &f)) > 0)
		switch (f.number) {
		case 6:
			p->snapshot = pbr_in(&f);
			break;
		case 8:
			p->stamp = f.v;
			p->has_stamp = true;
			break;
		case 10:
			p->sequence = (u32)f.v;
			break;
		case 11:
			p->event = pbr_in(&f);
			break;
		case 12:
			p->interned = pbr_in(&f);
			break;
		case 13:
			p->flags = (u32)f.v;
			break;
		case 41: /* incremental_state_cleared: the older form of the flag */
			p->flags |= f.v ? STATE_CLEARED : 0;
			break;
		case 50:
			p->compressed = pbr_in(&f);
			break;
		case 58:
			p->clock = (u32)f.v;
			break;
		case 59:
			p->defaults = pbr_in(&f);
			break;
		case 60:
			p->descriptor = pbr_in(&f);
			break;
		}
	return ret;
}

/* One name: its id and text. */
static int read_name(struct pftrace *t, struct pf_interned *to, bool key, struct pbr r)
{
	struct pbr_field f, text = {};
	u64 iid = 0;
	u32 value;
	int ret;

	while ((ret = pbr_next(&r, &f)) > 0) {
		if (f.number == 1)
			iid = f.v;
		else if (f.number == 2 && f.wire == WIRE_LEN)
			text = f;
	}
	if (ret || !iid)
		return ret;
	ret = key ? pf_key_of_name(t, text.p, text.n, &value) : pf_string(t, text.p, text.n, &value);
	return ret ? ret : pf_interned_put(t, to, iid, value);
}

static int read_interned(struct pftrace *t, struct pf_sequence *s, struct pbr r)
{
	struct pbr_field f;
	int ret;

	while ((ret = pbr_next(&r, &f)) > 0) {
		switch (f.number) {
		case 1:
			ret = read_name(t, &s->of[PF_CATEGORIES], false, pbr_in(&f));
			break;
		case 2:
			ret = read_name(t, &s->of[PF_NAMES], false, pbr_in(&f));
			break;
		case 3:
			ret = read_name(t, &s->of[PF_KEYS], true, pbr_in(&f));
			break;
		case 29:
			ret = read_name(t, &s->of[PF_STRINGS], false, pbr_in(&f));
			break;
		}
		if (ret < 0)
			return ret;
	}
	return ret;
}

static int read_event_defaults(struct pf_sequence *s, struct pbr r)
{
	struct pbr_field f;
	int ret;

	s->track = 0;
	s->n_extra = s->n_extra_double = 0;
	while ((ret = pbr_next(&r, &f)) > 0) {
		if (f.number == 11)
			s->track = f.v;
		else if (f.number == 31)
			pf_repeated(&f, false, s->extra, &s->n_extra, PF_MAX_EXTRA);
		else if (f.number == 45)
			pf_repeated(&f, false, s->extra_double, &s->n_extra_double, PF_MAX_EXTRA);
	}
	return ret;
}

static int read_defaults(struct pf_sequence *s, struct pbr r)
{
	struct pbr_field f;
	int ret;

	s->clock_id = 0;
	while ((ret = pbr_next(&r, &f)) > 0) {
		if (f.number == 58)
			s->clock_id = (u32)f.v;
		else if (f.number == 11)
			ret = read_event_defaults(s, pbr_in(&f));
		if (ret < 0)
			return ret;
	}
	return ret;
}

static int take(struct pftrace *t, const struct packet *p)
{
	struct pf_sequence *s;
	s64 ts;
	int ret = pf_sequence_of(t, p->sequence, &s);

	if (!ret && p->snapshot.p)
		ret = pf_snapshot(t, s, p->snapshot);
	if (ret)
		return ret;
	if (p->flags & STATE_CLEARED)
		pf_sequence_clear(s);
	if (p->flags & NEEDS_STATE && !s->valid) {
		t->count.no_state++;
		return 0;
	}
	if (p->interned.p)
		ret = read_interned(t, s, p->interned);
	if (!ret && p->defaults.p)
		ret = read_defaults(s, p->defaults);
	if (!ret && p->descriptor.p)
		ret = pf_descriptor(t, p->descriptor);
	if (ret || !p->event.p || !p->has_stamp)
		return ret;
	ts = pf_time_of(t, s, p->clock, p->stamp);
	if (ts < 0) {
		t->count.before_zero++;
		return 0;
	}
	t->count.events++;
	return pf_event_read(t, s, ts, p->event.p, (size_t)(p->event.end - p->event.p));
}

int pf_packet(struct pftrace *t, const u8 *p, size_t n, bool inner)
{
	struct pbr r = { p, p + n };
	struct packet packet;
	int ret = read_packet(&packet, r);

	t->count.packets++;
	/* Compressed packets are not in compressed packets again. */
	if (!ret && packet.compressed.p)
		ret = inner ? -EBADMSG
			    : pf_inflate(t, packet.compressed.p, (size_t)(packet.compressed.end - packet.compressed.p));
	else if (!ret)
		ret = take(t, &packet);
	if (ret == -EBADMSG) {
		t->count.malformed++;
		ret = 0;
	}
	return ret;
}
