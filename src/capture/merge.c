// SPDX-License-Identifier: Apache-2.0
#include "capture/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An item with all that it points to. */
struct held {
	struct item it;
	u64 key, seq;
	u32 source;
	size_t bytes;
	char data[] __attribute__((aligned(8)));
};

struct source {
	u64 key; /* of the item read last */
	bool ended;
};

struct merge {
	merge_next_fn next;
	void *arg;
	struct source *source;
	u32 n_sources;
	struct held **heap;
	size_t n, cap;
	size_t bytes, max_bytes;
	u64 seq;
	struct held *out; /* the one delivered last */
	u64 last_key;
	struct merge_info info;
};

struct merge *merge_new(u32 n, merge_next_fn next, void *arg, size_t max_bytes)
{
	struct merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->next = next;
	m->arg = arg;
	m->n_sources = n;
	m->max_bytes = max_bytes;
	m->source = calloc(n, sizeof(*m->source));
	if (m->source)
		return m;
	free(m);
	return NULL;
}

static void held_free(struct held *h)
{
	if (h)
		json_decref((json_t *)h->it.doc);
	free(h);
}

void merge_free(struct merge *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->n; i++)
		held_free(m->heap[i]);
	held_free(m->out);
	free(m->heap);
	free(m->source);
	free(m);
}

const struct merge_info *merge_info(const struct merge *m)
{
	return &m->info;
}

/* ---- the heap ---- */

static bool before(const struct held *a, const struct held *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->source != b->source ? a->source < b->source : a->seq < b->seq;
}

static int push(struct merge *m, struct held *h)
{
	size_t at, up;

	if (m->n == m->cap) {
		size_t cap = m->cap ? m->cap * 2 : 1024;
		struct held **p = realloc(m->heap, cap * sizeof(struct held *));

		if (!p)
			return -ENOMEM;
		m->heap = p;
		m->cap = cap;
	}
	for (at = m->n++; at; at = up) {
		up = (at - 1) / 2;
		if (!before(h, m->heap[up]))
			break;
		m->heap[at] = m->heap[up];
	}
	m->heap[at] = h;
	m->bytes += h->bytes;
	return 0;
}

static struct held *pop(struct merge *m)
{
	struct held *top = m->heap[0], *last = m->heap[--m->n];
	size_t at = 0, down;

	for (; (down = 2 * at + 1) < m->n; at = down) {
		if (down + 1 < m->n && before(m->heap[down + 1], m->heap[down]))
			down++;
		if (!before(m->heap[down], last))
			break;
		m->heap[at] = m->heap[down];
	}
	m->heap[at] = last;
	m->bytes -= top->bytes;
	return top;
}

/* ---- items ---- */

static const char *copy(char **to, const void *from, size_t n)
{
	char *at = *to;

	memcpy(at, from, n);
	*to += (n + 7) / 8 * 8;
	return at;
}

static struct held *hold(const struct item *it)
{
	/* Behind a record the struct of its kind can be read. */
	size_t record = it->record ? MAX(it->size, sizeof(union event)) : 0;
	size_t bytes = sizeof(struct held) + record + it->line.n + it->completion.n + 24;
	struct held *h = malloc(bytes);
	char *at;

	if (!h)
		return NULL;
	h->it = *it;
	h->it.rec = NULL;
	h->bytes = bytes;
	at = h->data;
	if (it->record)
		h->it.record = (const union event *)copy(&at, it->record, record);
	if (it->line.p)
		h->it.line.p = copy(&at, it->line.p, it->line.n);
	if (it->completion.n)
		h->it.completion.p = copy(&at, it->completion.p, it->completion.n);
	json_incref((json_t *)it->doc);
	return h;
}

/* The source that is furthest behind, NULL when all have ended. */
static struct source *furthest_behind(struct merge *m)
{
	struct source *s = NULL;
	u32 i;

	for (i = 0; i < m->n_sources; i++)
		if (!m->source[i].ended && (!s || m->source[i].key < s->key))
			s = &m->source[i];
	return s;
}

static int read_one(struct merge *m, struct source *s)
{
	struct held *h;
	struct item it;
	int ret = m->next(m->arg, (u32)(s - m->source), &it);

	if (ret <= 0) {
		s->ended = !ret;
		return ret;
	}
	h = hold(&it);
	if (!h)
		return -ENOMEM;
	if (it.at_ns)
		s->key = it.at_ns;
	h->key = s->key;
	h->source = (u32)(s - m->source);
	h->seq = m->seq++;
	ret = push(m, h);
	if (ret)
		held_free(h);
	return ret;
}

static void note_late(struct merge *m, const struct held *h)
{
	if (h->key >= m->last_key) {
		m->last_key = h->key;
		return;
	}
	if (!m->info.late++)
		m->info.first_source = h->source;
	m->info.late_by_ns = MAX(m->info.late_by_ns, m->last_key - h->key);
}

int merge_next(struct merge *m, struct item *it, u32 *source)
{
	struct source *s;
	int ret;

	held_free(m->out);
	m->out = NULL;
	while (m->bytes < m->max_bytes && (s = furthest_behind(m))) {
		ret = read_one(m, s);
		if (ret < 0)
			return ret;
	}
	if (!m->n)
		return 0;
	m->out = pop(m);
	note_late(m, m->out);
	*it = m->out->it;
	*source = m->out->source;
	return 1;
}
