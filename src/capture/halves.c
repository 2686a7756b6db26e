// SPDX-License-Identifier: Apache-2.0
#include "capture/halves.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

#define NONE	   0 /* slots count from 1 */
#define TEXT_BYTES (64u << 20)
#define LINE_BYTES 4096u /* a slot that is free keeps a buffer up to this size */
#define MAX_CHAIN  256u	 /* of equal hash: no capture has that, but anything can be an input */

struct halves {
	struct waiting **slot; /* slot[0] is not used: one allocation each, so that they keep their place */
	u32 n_slots, cap, max;
	u32 n;	   /* waiting */
	u64 bytes; /* of their lines */
	u32 free;  /* list of unused slots, through bucket_next */
	u32 oldest, youngest;
	u32 *bucket;
	u32 mask;
};

struct halves *halves_new(u32 max)
{
	struct halves *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->max = max;
	h->mask = 255;
	h->bucket = calloc(h->mask + 1, sizeof(*h->bucket));
	if (h->bucket)
		return h;
	free(h);
	return NULL;
}

void halves_free(struct halves *h)
{
	u32 i;

	if (!h)
		return;
	for (i = 1; i < h->n_slots; i++) {
		buf_free(&h->slot[i]->text);
		free(h->slot[i]);
	}
	free(h->slot);
	free(h->bucket);
	free(h);
}

struct half half_of_cmd(const struct jsonl_cmd *c)
{
	return (struct half){ .user_data = c->user_data,
			      .issued_ns = c->ts_ns,
			      .has = c->has & (HAS_USER_DATA | HAS_QUEUE | HAS_DEV),
			      .dev = c->dev,
			      .hwq = c->hwq,
			      .cid = c->cid };
}

bool half_of_cmp(const struct jsonl_cmp *c, struct half *out)
{
	*out = (struct half){ .user_data = c->user_data,
			      .issued_ns = c->ts_ns - (u64)c->lat_ns,
			      .has = c->has & (HAS_USER_DATA | HAS_QUEUE | HAS_DEV),
			      .dev = c->dev,
			      .hwq = c->hwq,
			      .cid = c->cid };
	return c->has & HAS_LAT;
}

/* By what both halves have in any case: user_data where there is one, else the queue. */
static u32 bucket_of(const struct halves *h, const struct half *f)
{
	u64 id = f->has & HAS_USER_DATA ? f->user_data : (u64)f->hwq << 16 | f->cid;

	return (u32)hash_u64(id + hash_u64(f->issued_ns)) & h->mask;
}

static bool same(const struct half *a, const struct half *b)
{
	u32 both = a->has & b->has;

	if (a->issued_ns != b->issued_ns || ((a->has ^ b->has) & HAS_USER_DATA) ||
	    !(both & (HAS_USER_DATA | HAS_QUEUE)))
		return false;
	return !((both & HAS_USER_DATA) && a->user_data != b->user_data) &&
	       !((both & HAS_QUEUE) && (a->hwq != b->hwq || a->cid != b->cid)) &&
	       !((both & HAS_DEV) && a->dev != b->dev);
}

/* A slot that is free, made when there is none; its text buffer is used again. */
static u32 new_slot(struct halves *h)
{
	u32 at = h->free;

	if (at) {
		h->free = h->slot[at]->bucket_next;
		return at;
	}
	if (h->n_slots + 1 >= h->cap) {
		u32 cap = h->cap ? h->cap * 2 : 64;
		struct waiting **slot = realloc(h->slot, cap * sizeof(struct waiting *));

		if (!slot)
			return NONE;
		h->slot = slot;
		h->cap = cap;
		h->n_slots = MAX(h->n_slots, 1u);
	}
	h->slot[h->n_slots] = calloc(1, sizeof(struct waiting));
	return h->slot[h->n_slots] ? h->n_slots++ : NONE;
}

bool halves_full(const struct halves *h)
{
	return h->n >= h->max || h->bytes > TEXT_BYTES;
}

static void push(struct halves *h, u32 at)
{
	struct waiting *w = h->slot[at];
	u32 *head = &h->bucket[bucket_of(h, &w->half)];

	w->bucket_prev = NONE;
	w->bucket_next = *head;
	if (*head)
		h->slot[*head]->bucket_prev = at;
	*head = at;
}

/* Twice the buckets; as many as before when there is no memory. */
static void grow(struct halves *h)
{
	u32 *bucket = calloc(2ul * (h->mask + 1), sizeof(*bucket)), at;

	if (!bucket)
		return;
	free(h->bucket);
	h->bucket = bucket;
	h->mask = h->mask * 2 + 1;
	for (at = h->oldest; at; at = h->slot[at]->younger)
		push(h, at);
}

static struct waiting *put(struct halves *h, const struct half *half)
{
	u32 at = new_slot(h);
	struct waiting *w;

	if (!at)
		return NULL;
	if (h->n > h->mask)
		grow(h);
	w = h->slot[at];
	w->half = *half;
	buf_reset(&w->text);
	push(h, at);
	w->older = h->youngest;
	w->younger = NONE;
	if (h->youngest)
		h->slot[h->youngest]->younger = at;
	else
		h->oldest = at;
	h->youngest = at;
	h->n++;
	return w;
}

int halves_put_verdict(struct halves *h, const struct half *half, bool verdict)
{
	struct waiting *w = put(h, half);

	if (!w)
		return -ENOMEM;
	w->verdict = verdict;
	return 0;
}

int halves_put_line(struct halves *h, const struct half *half, struct slice line, const struct jsonl_rec *rec)
{
	struct waiting *w = put(h, half);
	struct slice *part[5];
	const char *at;
	size_t i;

	if (!w)
		return -ENOMEM;
	w->line = line;
	w->rec = *rec;
	part[0] = &w->line;
	part[1] = &w->rec.cmd.op_name;
	part[2] = &w->rec.cmd.comm;
	part[3] = &w->rec.cmd.disk;
	part[4] = &w->rec.cmd.key_hex;
	if (w->text.cap > LINE_BYTES)
		buf_free(&w->text);
	for (i = 0; i < ARRAY_SIZE(part); i++)
		buf_add(&w->text, part[i]->p, part[i]->n);
	for (i = 0, at = w->text.p; i < ARRAY_SIZE(part); at += part[i++]->n)
		part[i]->p = at;
	h->bytes += w->text.n;
	return w->text.failed ? -ENOMEM : 0;
}

/* Out of the table; what it holds stays until its slot is used again. */
static struct waiting *take(struct halves *h, u32 at)
{
	struct waiting *w = h->slot[at];

	if (w->bucket_prev)
		h->slot[w->bucket_prev]->bucket_next = w->bucket_next;
	else
		h->bucket[bucket_of(h, &w->half)] = w->bucket_next;
	if (w->bucket_next)
		h->slot[w->bucket_next]->bucket_prev = w->bucket_prev;
	if (w->older)
		h->slot[w->older]->younger = w->younger;
	else
		h->oldest = w->younger;
	if (w->younger)
		h->slot[w->younger]->older = w->older;
	else
		h->youngest = w->older;
	w->bucket_next = h->free;
	h->free = at;
	h->n--;
	h->bytes -= w->text.n;
	return w;
}

/*
 * Of several, the one with which most is in common.  Equal ones are a matter
 * of chance, unless all is known of both: then they are alike.
 */
struct waiting *halves_take(struct halves *h, const struct half *half)
{
	u32 at, found = NONE, n = 0, best = 0;
	bool alike = true;

	for (at = h->bucket[bucket_of(h, half)]; at; at = h->slot[at]->bucket_next) {
		u32 known = h->slot[at]->half.has & half->has, common;

		if (++n > MAX_CHAIN)
			return NULL;
		if (!same(&h->slot[at]->half, half))
			continue;
		common = (u32)__builtin_popcount(known);
		if (common > best) {
			found = at;
			best = common;
			alike = true;
		} else if (common == best) {
			alike = (known & HAS_DEV) && (known & HAS_QUEUE);
		}
	}
	return found && alike ? take(h, found) : NULL;
}

struct waiting *halves_take_oldest(struct halves *h)
{
	return h->oldest ? take(h, h->oldest) : NULL;
}
