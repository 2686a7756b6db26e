// SPDX-License-Identifier: Apache-2.0
/* io_uring requests: the table, and what is measured of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/uring_names.h"
#include "model/calls.h"
#include "model/tables.h"

int add_uring(struct model *m, const struct ev_uring *e, u32 path)
{
	struct uring_table *t = &m->uring;
	int ret = grow(&t->row, &t->cap, t->n, sizeof(*t->row));

	if (!ret)
		t->row[t->n++] = (struct uring_row){ .ev = *e, .path = path, .task = NONE };
	return ret;
}

/* The rows of one request end with the one that is kept: the completed one, or its last snapshot. */
static bool uring_before(const void *arg, u32 x, u32 y)
{
	const struct model *m = arg;
	const struct ev_uring *a = &m->uring.row[x].ev, *b = &m->uring.row[y].ev;
	int c = compare_u64(a->ring, b->ring);

	c = c ? c : compare_u64(a->tid, b->tid);
	c = c ? c : compare_u64(a->user_data, b->user_data);
	c = c ? c : compare_u64(a->opcode, b->opcode);
	c = c ? c : compare_u64(a->offset, b->offset);
	c = c ? c : compare_u64(!(a->flags & URING_UNFINISHED), !(b->flags & URING_UNFINISHED));
	return (c ? c : compare_u64(a->lat_ns, b->lat_ns)) < 0;
}

static bool is_same(const struct ev_uring *a, const struct ev_uring *b)
{
	return a->ts_ns == b->ts_ns && a->ring == b->ring && a->tid == b->tid && a->user_data == b->user_data &&
	       a->opcode == b->opcode && a->offset == b->offset;
}

/* In order, without the snapshots that are superseded. */
static int keep(struct model *m, const u32 *order)
{
	const struct uring_table *t = &m->uring;
	struct uring_row *to = malloc(MAX(t->n, 1u) * sizeof(*to));
	u32 i, n = 0;

	if (!to)
		return -ENOMEM;
	for (i = 0; i < t->n; i++) {
		const struct uring_row *r = &t->row[order ? order[i] : i];

		if (n && (to[n - 1].ev.flags & URING_UNFINISHED) && is_same(&to[n - 1].ev, &r->ev)) {
			m->dev_in.snapshots++;
			m->dev_in.requests--;
			n--;
		}
		to[n++] = *r;
	}
	free(m->uring.row);
	m->uring = (struct uring_table){ .n = n, .cap = MAX(t->n, 1u), .row = to };
	return 0;
}

int sort_uring(struct model *m)
{
	u64 *key = malloc((m->uring.n + 1ul) * sizeof(*key));
	u32 *order = NULL, i;
	int ret = -ENOMEM;

	if (!m->uring.n) {
		free(key);
		return 0;
	}
	if (key) {
		for (i = 0; i < m->uring.n; i++)
			key[i] = m->uring.row[i].ev.ts_ns;
		ret = sort_by_key(m->uring.n, key, uring_before, m, &order);
	}
	if (!ret)
		ret = keep(m, order);
	free(order);
	free(key);
	return ret;
}

void cut_uring(struct model *m, bool (*stays)(const void *arg, const struct uring_row *r), const void *arg, u32 *to)
{
	u32 i, n = 0;

	for (i = 0; i < m->uring.n; i++) {
		bool stay = stays(arg, &m->uring.row[i]);

		to[i] = stay ? n : NONE;
		if (stay)
			m->uring.row[n++] = m->uring.row[i];
	}
	m->cut.requests += m->uring.n - n;
	m->uring.n = n;
}

/* ---- measures ---- */

static void add_to_sum(struct uring_sum *s, const struct ev_uring *e)
{
	u64 bytes;

	s->n++;
	s->punted += !!(e->flags & URING_PUNTED);
	s->sqpoll += !!(e->flags & URING_SQPOLL);
	if (e->flags & URING_UNFINISHED) {
		s->unfinished++;
	} else if (uring_failed(e)) {
		s->failed++;
	} else {
		if (uring_moved(e, &bytes) != CALL_IS_OTHER) {
			s->asked_bytes += e->size;
			s->moved_bytes += bytes;
		}
		hist_add(&s->lat, e->lat_ns);
	}
}

void uring_measure(struct uring_sums *s, const struct model *m)
{
	struct map64 rings = {};
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < m->uring.n; i++) {
		const struct ev_uring *e = &m->uring.row[i].ev;
		bool is_new = false;

		add_to_sum(&s->all, e);
		add_to_sum(&s->op[e->opcode], e);
		if (map64_put(&rings, e->ring, &is_new))
			s->rings += is_new;
	}
	for (i = 0; i < ARRAY_SIZE(s->op); i++)
		s->op[i].opcode = (u8)i;
	map64_free(&rings);
}
