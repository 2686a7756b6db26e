// SPDX-License-Identifier: Apache-2.0
#include "capture/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/fold.h"
#include "capture/meta.h"

#define MERGE_BYTES (64u << 20)
/* Captures of one boot of one host disagree about the clocks by less. */
#define CLOCKS_NS   1000000000ll

int feed_init(struct feed *f, u32 n)
{
	*f = (struct feed){ .n = n };
	f->source = calloc(n, sizeof(*f->source));
	f->select = select_new();
	return f->source && f->select ? 0 : -ENOMEM;
}

void feed_free(struct feed *f)
{
	u32 i;

	merge_free(f->merge);
	for (i = 0; f->source && i < f->n; i++) {
		stream_close(f->source[i].stream);
		account_free(&f->source[i].account);
	}
	free(f->source);
	select_free(f->select);
	strpool_free(&f->disks);
}

static int fail(struct feed *f, u32 source, int ret)
{
	f->failed = source;
	return ret;
}

/* ---- passes before ---- */

/* All items of one capture, until `take` says that it is enough. */
static int pass(struct feed *f, u32 source, int (*take)(void *arg, const struct item *it), void *arg)
{
	struct stream_options o = f->options;
	struct stream *s;
	struct item it;
	int ret;

	o.fold = FOLD_NOT;
	o.disks = &f->disks;
	o.wait = NULL; /* what is there now has to do */
	ret = stream_open(&s, f->source[source].path, &o);
	if (ret)
		return fail(f, source, ret);
	while ((ret = stream_next(s, &it)) > 0) {
		ret = take(arg, &it);
		if (ret)
			break;
	}
	stream_close(s);
	return fail(f, source, MIN(ret, 0));
}

static int learn_key(void *arg, const struct item *it)
{
	return select_learn(arg, it);
}

static int find_first_event(void *arg, const struct item *it)
{
	u64 *first = arg;

	if (!select_is_event(it))
		return 0;
	*first = MIN(*first, it->start_ns);
	return 1;
}

int feed_learn(struct feed *f)
{
	bool base = f->n > 1 && select_is_relative(f->select), keys = select_needs_keys(f->select);
	u64 first = UINT64_MAX;
	int ret = 0;
	u32 i;

	for (i = 0; base && !ret && i < f->n; i++)
		ret = pass(f, i, find_first_event, &first);
	if (base && !ret)
		select_base(f->select, first);
	for (i = 0; keys && !ret && i < f->n; i++)
		ret = pass(f, i, learn_key, f->select);
	return !ret && keys && !select_found(f->select) ? -ENOKEY : ret;
}

int feed_open(struct feed *f)
{
	int ret = 0;
	u32 i;

	f->options.disks = &f->disks;
	for (i = 0; !ret && i < f->n; i++)
		ret = fail(f, i, stream_open(&f->source[i].stream, f->source[i].path, &f->options));
	return ret;
}

/* ---- heads ---- */

static bool clashes(const json_t *const *head, u32 n, struct feed_clash *c)
{
	for (c->b = 1; c->b < n; c->b++)
		for (c->a = 0; c->a < c->b; c->a++) {
			const json_t *x = head[c->a], *y = head[c->b];
			s64 p, q;

			if (!x || !y)
				continue;
			p = meta_clock_offset(x);
			q = meta_clock_offset(y);
			c->clocks = p && q && llabs(p - q) > CLOCKS_NS;
			if (meta_conflict(x, y, &c->why) || c->clocks)
				return true;
		}
	return false;
}

/* The document of the first item; NULL when it is none, or not of a recorder. */
static const json_t *head_of(const struct feed_source *s)
{
	if (!s->has_first || s->first.kind != ITEM_META || meta_is_synthetic(s->first.doc))
		return NULL;
	return s->first.doc;
}

static int merge_heads(struct feed *f, const json_t **head, const char **file, json_t **out)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < f->n; i++)
		file[i] = f->source[i].path;
	*out = meta_merge(head, file, f->n);
	for (i = 0; !ret && i < f->n; i++) {
		if (!head[i])
			continue;
		ret = account_take(&f->source[i].account, &f->source[i].first, false);
		f->source[i].has_first = false;
	}
	return ret;
}

int feed_heads(struct feed *f, json_t **out, struct feed_clash *clash)
{
	const json_t **head = calloc(f->n, sizeof(*head));
	const char **file = calloc(f->n, sizeof(*file));
	int ret = head && file ? 0 : -ENOMEM;
	u32 i;

	*out = NULL;
	*clash = (struct feed_clash){};
	for (i = 0; ret >= 0 && i < f->n; i++) {
		struct feed_source *s = &f->source[i];

		ret = fail(f, i, stream_next(s->stream, &s->first));
		s->has_first = ret > 0;
		head[i] = head_of(s);
	}
	if (ret >= 0 && !clashes(head, f->n, clash))
		clash->a = clash->b = 0;
	ret = ret < 0 ? ret : 0;
	if (!ret && f->n > 1 && !clash->why.n)
		ret = merge_heads(f, head, file, out);
	free(head);
	free(file);
	return ret;
}

/* ---- items ---- */

/* A running account counts what was cut until then as filtered. */
static void adjust_loss(struct feed_source *s, struct item *it)
{
	union event e;

	if (it->record)
		memcpy(&e, it->record, sizeof(e));
	else if (!fold_line_record(it, stream_names(s->stream), &e))
		return;
	account_adjust(&s->account, &e.loss);
	s->loss = e;
	it->record = &s->loss;
	it->size = it->size ? it->size : sizeof(e.loss);
	it->line = (struct slice){};
}

/* The next item of one capture that passes. */
static int next_of(void *arg, u32 source, struct item *it)
{
	struct feed *f = arg;
	struct feed_source *s = &f->source[source];
	int ret, keep;

	f->failed = source;
	for (;;) {
		if (s->has_first) {
			*it = s->first;
			s->has_first = false;
		} else {
			ret = stream_next(s->stream, it);
			if (ret <= 0)
				return ret;
		}
		keep = select_item(f->select, it);
		if (keep < 0 || account_take(&s->account, it, !keep))
			return -ENOMEM;
		if (!keep) {
			s->cut++;
			continue;
		}
		if (it->kind == ITEM_FOOTER && !f->ends_pass)
			continue;
		if (it->kind == ITEM_LOSS && s->cut)
			adjust_loss(s, it);
		return 1;
	}
}

int feed_next(struct feed *f, struct item *it, u32 *source)
{
	int ret;

	*source = 0;
	if (f->n == 1 && !f->sort)
		return next_of(f, 0, it);
	if (!f->merge)
		f->merge = merge_new(f->n, next_of, f, MERGE_BYTES);
	if (!f->merge)
		return -ENOMEM;
	ret = merge_next(f->merge, it, source);
	f->late = *merge_info(f->merge);
	return ret;
}

/* ---- accounts ---- */

void feed_wrote(struct feed *f, const struct item *it)
{
	f->stored += it->kind == ITEM_CQ_OVERFLOW || (item_is_command(it) && !it->in_flight && !it->is_completion);
}

json_t *feed_part_footer(struct feed *f, u32 part, json_t *counts)
{
	struct numbers n = {}, one;
	u32 i;

	for (i = 0; i < f->n; i++) {
		one = account_running(&f->source[i].account);
		numbers_add(&n, &one);
	}
	numbers_take_away(&n, &f->given);
	n.stored = f->stored;
	n.seen = n.stored + n.ring_full + n.map_full + n.unread + n.filtered;
	numbers_add(&f->given, &n);
	f->stored = 0;
	return account_part(&n, part, counts);
}

json_t *feed_footer(struct feed *f, bool as_is, u32 part, json_t *counts)
{
	struct account *all = calloc(f->n, sizeof(*all));
	json_t *footer;
	u32 i;

	if (!all) {
		json_decref(counts);
		return NULL;
	}
	for (i = 0; i < f->n; i++)
		all[i] = f->source[i].account;
	footer = account_footer(all, f->n, as_is, &f->given, part, counts);
	free(all);
	return footer;
}
