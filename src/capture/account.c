// SPDX-License-Identifier: Apache-2.0
#include "capture/account.h"

#include <errno.h>

#include "capture/fold_record.h"
#include "capture/meta.h"
#include "lib/jsonutil.h"

void account_free(struct account *a)
{
	json_decref(a->doc);
	map64_free(&a->cut_in_flight);
}

static u64 doc_u64(const json_t *doc, const char *key)
{
	const json_t *v = json_object_get(doc, key);

	return json_is_integer(v) && json_integer_value(v) > 0 ? (u64)json_integer_value(v) : 0;
}

static struct numbers numbers_of(const json_t *doc)
{
	return (struct numbers){
		.seen = doc_u64(doc, "seen"),
		.stored = doc_u64(doc, "stored"),
		.ring_full = doc_u64(doc, "ring_full"),
		.map_full = doc_u64(doc, "map_full"),
		.hook_missed = doc_u64(doc, "hook_missed"),
		.unread = doc_u64(doc, "unread"),
		.filtered = doc_u64(doc, "filtered"),
		.in_flight = doc_u64(doc, "in_flight"),
		.entry_full = doc_u64(doc, "entry_full"),
		.pid_full = doc_u64(doc, "pid_full"),
	};
}

/* ---- reading ---- */

/* Tracers that were concatenated have several. */
static void take_end(struct account *a, const struct item *it)
{
	const struct jsonl_rec *r = it->rec;
	struct numbers n;

	if (r && r->kind == JSONL_DROPS) {
		a->dropped += r->loss.ring_full;
		a->complete |= !a->footer;
		a->closed = true;
		return;
	}
	n = numbers_of(it->doc);
	if (r && !it->doc)
		n = (struct numbers){ .seen = r->loss.seen,
				      .stored = r->loss.stored,
				      .ring_full = r->loss.ring_full,
				      .map_full = r->loss.map_full,
				      .hook_missed = r->loss.hook_missed,
				      .filtered = r->loss.filtered,
				      .in_flight = r->loss.in_flight };
	numbers_add(&a->end, &n);
	a->complete = it->doc ? !json_is_false(json_object_get(it->doc, "complete")) : r && r->loss.complete;
	a->closed = a->footer = true;
	json_decref(a->doc);
	a->doc = json_incref((json_t *)it->doc);
}

static u64 hash_identity(u64 ts_ns, u64 user_data, u32 dev, u16 hwq, u16 cid)
{
	return hash_u64(ts_ns ^ hash_u64(user_data ^ hash_u64((u64)dev << 32 | (u32)hwq << 16 | cid)));
}

static u64 identity(const struct item *it)
{
	const struct ev_nvme *c;
	const struct jsonl_cmd *l;

	if (it->record) {
		c = &it->record->nvme;
		return hash_identity(c->ts_ns, c->user_data, c->dev, c->hwq, c->cid);
	}
	l = &it->rec->cmd;
	return hash_identity(l->ts_ns, l->user_data, l->dev, l->hwq, l->cid);
}

/* Of a command that never completes, snapshots are all there is. */
static int cut_snapshot(struct account *a, const struct item *it)
{
	bool is_new;
	u32 *only = map64_put(&a->cut_in_flight, identity(it), &is_new);

	if (!only)
		return -ENOMEM;
	if (is_new) {
		*only = 1;
		a->n_cut_in_flight++;
	}
	return 0;
}

static void cut_completed(struct account *a, const struct item *it)
{
	u32 *only = a->n_cut_in_flight ? map64_get(&a->cut_in_flight, identity(it)) : NULL;

	a->cut++;
	if (only && *only) {
		*only = 0;
		a->n_cut_in_flight--;
	}
}

static int take_command(struct account *a, const struct item *it, bool cut)
{
	a->device = true;
	if (it->is_completion)
		return 0;
	if (it->in_flight)
		return cut ? cut_snapshot(a, it) : 0;
	a->stored++;
	if (cut)
		cut_completed(a, it);
	return 0;
}

static void take_loss(struct account *a, const struct item *it)
{
	const struct jsonl_loss *l = it->record ? NULL : &it->rec->loss;

	struct ev_loss e, *sum = &a->running;
	u32 i;

	a->device = true;

	if (it->record)
		e = it->record->loss;
	else
		e = (struct ev_loss){ .witness = event_witness(l->witness),
				      .seen = l->seen,
				      .stored = l->stored,
				      .ring_full = l->ring_full,
				      .map_full = l->map_full,
				      .hook_missed = l->hook_missed,
				      .unread = l->unread,
				      .filtered = l->filtered };
	if (e.witness < EV_WITNESSES)
		a->running_of[e.witness] = e;
	*sum = (struct ev_loss){};
	for (i = 0; i < EV_WITNESSES; i++) {
		const struct ev_loss *one = &a->running_of[i];

		sum->seen += one->seen;
		sum->stored += one->stored;
		sum->ring_full += one->ring_full;
		sum->map_full += one->map_full;
		sum->hook_missed += one->hook_missed;
		sum->unread += one->unread;
		sum->filtered += one->filtered;
	}
}

static void take_call(struct account *a, const struct item *it, bool cut)
{
	a->device = true;
	if (it->in_flight)
		return;
	a->stored++;
	a->cut += cut;
	if (it->kind == ITEM_SYSCALL)
		a->cut_calls += cut;
	else if (it->kind == ITEM_FAULT)
		a->cut_faults += cut;
	else
		a->cut_requests += cut;
}

int account_take(struct account *a, const struct item *it, bool cut)
{
	switch (it->kind) {
	case ITEM_META:
		a->device |= !meta_is_synthetic(it->doc);
		break;
	case ITEM_FOOTER:
		take_end(a, it);
		break;
	case ITEM_NVME:
	case ITEM_NVME_KV:
		return take_command(a, it, cut);
	case ITEM_CQ_OVERFLOW:
		a->device = true;
		a->stored++;
		a->cut += cut;
		break;
	case ITEM_SYSCALL:
	case ITEM_URING:
	case ITEM_FAULT:
		take_call(a, it, cut);
		break;
	case ITEM_LOSS:
		take_loss(a, it);
		break;
	default:
		break;
	}
	return 0;
}

/* ---- the account that is left ---- */

static void move(u64 *from, u64 n, u64 *to)
{
	n = MIN(*from, n);
	*from -= n;
	*to += n;
}

void account_adjust(const struct account *a, struct ev_loss *e)
{
	u64 cut = e->witness == EV_WITNESS_SYSCALL ? a->cut_calls
		  : e->witness == EV_WITNESS_URING ? a->cut_requests
		  : e->witness == EV_WITNESS_MMAP  ? a->cut_faults
						   : a->cut - a->cut_calls - a->cut_requests - a->cut_faults;

	move(&e->stored, cut, &e->filtered);
}

/* Before anything was cut. */
static struct numbers as_read(const struct account *a)
{
	const struct ev_loss *l = &a->running;

	if (a->footer)
		return a->end;
	if (l->seen)
		return (struct numbers){ .seen = l->seen,
					 .stored = l->stored,
					 .ring_full = l->ring_full,
					 .map_full = l->map_full,
					 .hook_missed = l->hook_missed,
					 .unread = l->unread,
					 .filtered = l->filtered };
	return (struct numbers){ .seen = a->stored + a->dropped, .stored = a->stored, .ring_full = a->dropped };
}

struct numbers account_numbers(const struct account *a)
{
	struct numbers n = as_read(a);

	move(&n.in_flight, a->n_cut_in_flight, &n.filtered);
	move(&n.stored, a->cut, &n.filtered);
	return n;
}

struct numbers account_running(const struct account *a)
{
	const struct ev_loss *l = &a->running;

	return (struct numbers){
		.ring_full = l->ring_full,
		.map_full = l->map_full,
		.hook_missed = l->hook_missed,
		.unread = l->unread,
		.filtered = l->filtered + a->cut,
	};
}

u64 account_lost(const struct account *a)
{
	struct numbers n = as_read(a);

	return n.ring_full + n.map_full + n.hook_missed + n.unread;
}

bool account_whole(const struct account *a)
{
	return !a->device || (a->closed && a->complete);
}

void numbers_add(struct numbers *sum, const struct numbers *n)
{
	sum->seen += n->seen;
	sum->stored += n->stored;
	sum->ring_full += n->ring_full;
	sum->map_full += n->map_full;
	sum->hook_missed += n->hook_missed;
	sum->unread += n->unread;
	sum->filtered += n->filtered;
	sum->in_flight += n->in_flight;
	sum->entry_full += n->entry_full;
	sum->pid_full += n->pid_full;
}

static void less(u64 *v, u64 n)
{
	*v -= MIN(*v, n);
}

void numbers_take_away(struct numbers *sum, const struct numbers *n)
{
	less(&sum->seen, n->seen);
	less(&sum->stored, n->stored);
	less(&sum->ring_full, n->ring_full);
	less(&sum->map_full, n->map_full);
	less(&sum->hook_missed, n->hook_missed);
	less(&sum->unread, n->unread);
	less(&sum->filtered, n->filtered);
	less(&sum->in_flight, n->in_flight);
	less(&sum->entry_full, n->entry_full);
	less(&sum->pid_full, n->pid_full);
}

/* ---- documents ---- */

static void set_numbers(json_t *doc, const struct numbers *n)
{
	json_set_u64(doc, "seen", n->seen);
	json_set_u64(doc, "stored", n->stored);
	json_set_u64(doc, "ring_full", n->ring_full);
	json_set_u64(doc, "map_full", n->map_full);
	json_set_u64(doc, "hook_missed", n->hook_missed);
	json_set_u64(doc, "unread", n->unread);
	json_set_u64(doc, "filtered", n->filtered);
	json_set_u64(doc, "in_flight", n->in_flight);
	json_set_u64(doc, "entry_full", n->entry_full);
	json_set_u64(doc, "pid_full", n->pid_full);
}

static json_t *new_footer(bool complete)
{
	json_t *doc = json_object();

	json_set_str(doc, "event_type", "footer");
	json_object_set_new(doc, "complete", json_boolean(complete));
	return doc;
}

json_t *account_part(const struct numbers *n, u32 part, json_t *counts)
{
	json_t *doc = new_footer(true);

	json_set_u64(doc, "part", part);
	set_numbers(doc, n);
	if (counts)
		json_object_set_new(doc, "counts", counts);
	return doc;
}

/* The first or last time of all footers, when there are some. */
static void set_time(json_t *doc, const struct account *a, u32 n, const char *key, bool last)
{
	u64 at = 0, v;
	u32 i;

	for (i = 0; i < n; i++) {
		v = doc_u64(a[i].doc, key);
		if (v && (!at || (last ? v > at : v < at)))
			at = v;
	}
	if (at)
		json_set_u64(doc, key, at);
}

static json_t *footer(const struct account *a, u32 n, bool complete)
{
	json_t *doc;

	if (n == 1 && a->doc) {
		doc = json_copy(a->doc);
		json_object_set_new(doc, "complete", json_boolean(complete));
		return doc;
	}
	doc = new_footer(complete);
	set_time(doc, a, n, "started_ns", false);
	set_time(doc, a, n, "ended_ns", true);
	return doc;
}

json_t *account_footer(const struct account *a, u32 n, bool as_is, const struct numbers *split, u32 part,
		       json_t *counts)
{
	struct numbers sum = {}, one;
	bool device = false, whole = true;
	json_t *doc;
	u32 i;

	for (i = 0; i < n; i++) {
		device |= a[i].device || a[i].closed;
		whole &= account_whole(&a[i]);
		one = account_numbers(&a[i]);
		numbers_add(&sum, &one);
	}
	if (as_is && (a->doc || !whole)) {
		json_decref(counts);
		return json_incref(a->doc);
	}
	doc = footer(a, n, whole);
	if (as_is || !device)
		json_object_set_new(doc, "synthetic", json_true());
	if (part)
		json_set_u64(doc, "part", part);
	numbers_take_away(&sum, split);
	if (device)
		set_numbers(doc, &sum);
	if (counts)
		json_object_set_new(doc, "counts", counts);
	return doc;
}
