// SPDX-License-Identifier: Apache-2.0
#include "out/mmap_tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/jsonutil.h"
#include "model/mmap_sums.h"
#include "out/report_faults.h"
#include "out/report_text.h"

#define MAX_ROWS 20 /* of a table; JSON has all */

struct mmap_tables {
	struct mmap_sums sums;
	bool json;
};

struct mmap_tables *mmap_tables_new(const struct mmap_tables_options *o)
{
	struct mmap_tables *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	model_init(&t->sums.m);
	t->sums.m.page_bytes = o->page_bytes;
	t->sums.m.useful_bytes = o->useful_bytes;
	t->json = o->json;
	return t;
}

void mmap_tables_free(struct mmap_tables *t)
{
	if (t)
		mmap_sums_free(&t->sums);
	free(t);
}

static void head(void *arg, struct buf *b)
{
	(void)arg;
	(void)b;
}

static int event(void *arg, struct buf *b, const void *record, struct names *names)
{
	struct mmap_tables *t = arg;

	(void)b;
	return mmap_sums_add(&t->sums, record, names);
}

/* ---- text ---- */

static void put_mb(struct buf *b, u64 bytes)
{
	buf_printf(b, " %11.3f", (double)bytes / 1e6);
}

/* The file as numbers, then as its path; the line ends here. */
static void put_file(struct buf *b, const struct mmap_sums *all, u32 dev, u64 ino)
{
	const struct buf *path = mmap_sums_path(all, dev, ino);

	buf_printf(b, "  %u:%u:%llu ", dev >> 20, dev & 0xfffff, ULL(ino));
	report_safe(b, path && path->n ? path->p : "?", path && path->n ? path->n : 1);
	buf_byte(b, '\n');
}

static void put_more(struct buf *b, u32 n)
{
	if (n > MAX_ROWS)
		buf_printf(b, "  and %u more: --json has them\n", n - MAX_ROWS);
}

static void text_fault_counts(struct buf *b, const struct mmap_sums *all)
{
	u32 i;

	buf_printf(b, "page faults\n%8s %9s %9s %9s %7s %11s %11s %8s  dev:inode path\n", "tgid", "faults", "minor",
		   "major", "failed", "fault_MB", "major_MB", "retries");
	for (i = 0; i < MIN(all->n_faults, (u32)MAX_ROWS); i++) {
		const struct fault_count *f = &all->fault[i];

		buf_printf(b, "%8u %9llu %9llu %9llu %7llu", f->pid, ULL(f->faults), ULL(f->minor), ULL(f->major),
			   ULL(f->failed));
		put_mb(b, (f->minor + f->major) * all->m.page_bytes);
		put_mb(b, f->major * all->m.page_bytes);
		buf_printf(b, " %8llu", ULL(f->retries));
		put_file(b, all, f->dev, f->ino);
	}
	put_more(b, all->n_faults);
}

static void text_intents(struct buf *b, const struct mmap_sums *all)
{
	u64 partial = 0;
	u32 i;

	buf_printf(b, "\nintent (read and write calls)\n%3s %9s %14s %14s %10s %10s %10s  dev:inode path\n", "rw",
		   "calls", "bytes", "moved", "min", "avg", "max");
	for (i = 0; i < all->n_intents; i++)
		partial += all->intent[i].partial;
	for (i = 0; i < MIN(all->n_intents, (u32)MAX_ROWS); i++) {
		const struct intent *x = &all->intent[i];

		buf_printf(b, "%3s %9llu %14llu %14llu %10llu %10llu %10llu", x->write ? "W" : "R", ULL(x->calls),
			   ULL(x->bytes), ULL(x->moved_bytes), ULL(x->min_bytes), ULL(x->bytes / x->calls),
			   ULL(x->max_bytes));
		put_file(b, all, x->dev, x->ino);
	}
	put_more(b, all->n_intents);
	if (partial)
		buf_printf(b, "  bytes of %llu calls are lower bounds: their vectors could not be read\n",
			   ULL(partial));
}

/* Of files that have any of it, by what `put` prints before the file; false = nothing of this one. */
static void text_caches(struct buf *b, const struct mmap_sums *all, const struct fault_sums *s, const char *title,
			bool (*put)(struct buf *b, const struct fault_sums *s, const struct ev_cache *c))
{
	u32 i, n = 0;

	buf_str(b, title);
	for (i = 0; i < s->n_files; i++) {
		const struct ev_cache *c = &s->file[i]->ev;
		size_t before = b->n;

		if (!put(b, s, c))
			continue;
		if (n++ < MAX_ROWS)
			put_file(b, all, c->dev, c->ino);
		else
			b->n = before;
	}
	put_more(b, n);
}

static bool put_insertion(struct buf *b, const struct fault_sums *s, const struct ev_cache *c)
{
	if (!c->fill_pages)
		return false;
	buf_printf(b, "%10llu", ULL(c->fill_pages));
	put_mb(b, c->fill_pages * s->page_bytes);
	return true;
}

static bool put_direct(struct buf *b, const struct fault_sums *s, const struct ev_cache *c)
{
	u64 calls = c->direct_reads + c->direct_writes, bytes = c->direct_read_bytes + c->direct_write_bytes;

	(void)s;
	if (!calls)
		return false;
	buf_printf(b, "%10llu", ULL(calls));
	put_mb(b, bytes);
	buf_printf(b, " %10llu", ULL(bytes / calls));
	return true;
}

static bool put_readahead(struct buf *b, const struct fault_sums *s, const struct ev_cache *c)
{
	if (!c->ra_calls)
		return false;
	put_mb(b, c->ra_pages * s->page_bytes);
	buf_printf(b, " %10llu", ULL(c->ra_calls));
	return true;
}

static bool put_footprint(struct buf *b, const struct fault_sums *s, const struct ev_cache *c)
{
	if (!c->mapped_pages && !c->touched_pages)
		return false;
	buf_printf(b, "%12llu", ULL(c->touched_pages));
	put_mb(b, c->touched_pages * s->page_bytes);
	if (c->flags & CACHE_TOUCHED_ONLY)
		buf_printf(b, " %12s", "n/a");
	else
		buf_printf(b, " %12llu", ULL(c->mapped_pages));
	return true;
}

static void put_or_none(struct buf *b, u64 v)
{
	if (v)
		buf_printf(b, " %8llu", ULL(v));
	else
		buf_printf(b, " %8s", "n/a");
}

/* The size class of so many bytes. */
static u32 size_class(u32 bytes)
{
	u32 class = bytes < 1024 ? 0 : 31u - 9 - (u32)__builtin_clz(bytes);

	return MIN(class, EV_BLOCK_SIZES - 1u);
}

static void text_sizes(struct buf *b, const struct ev_block *e)
{
	u32 k;

	for (k = 0; k < EV_BLOCK_SIZES; k++) {
		bool iu = e->iu_bytes_each && size_class(e->iu_bytes_each) == k;
		bool optimal = e->optimal_bytes && size_class(e->optimal_bytes) == k;
		bool most = e->max_request_bytes && size_class(e->max_request_bytes) == k;

		if (!e->hist[k] && !iu && !optimal && !most)
			continue;
		buf_printf(b, "    %8u%s %10u %s%s%s\n", 512u << k, k == EV_BLOCK_SIZES - 1 ? "+" : " ", e->hist[k],
			   iu ? "I" : "", optimal ? "O" : "", most ? "M" : "");
	}
}

static void text_devices(struct buf *b, const struct fault_sums *s)
{
	u32 i;

	buf_printf(
		b,
		"\nblock requests (sizes marked I: IU, O: opt_io, M: MDTS)\n%-10s %2s %9s %14s %8s %8s %8s %8s %8s %8s %7s %8s\n",
		"device", "rw", "ios", "bytes", "min", "avg", "max", "IU", "opt_io", "MDTS", "IU_amp", "sub-IU%");
	for (i = 0; i < s->n_blocks; i++) {
		const struct ev_block *e = &s->block[i]->ev;
		char name[sizeof(e->name) + 1] = "", numbers[24];

		if (!e->requests)
			continue;
		memcpy(name, e->name, sizeof(e->name));
		snprintf(numbers, sizeof(numbers), "%u:%u", e->dev >> 20, e->dev & 0xfffff);
		report_safe(b, *name ? name : numbers, strlen(*name ? name : numbers));
		buf_printf(b, "%*s %2s %9llu %14llu %8u %8llu %8u", (int)(10 - MIN(strlen(name), (size_t)10)), "",
			   e->write ? "W" : "R", ULL(e->requests), ULL(e->bytes), e->min_bytes,
			   ULL(e->bytes / e->requests), e->max_bytes);
		put_or_none(b, e->iu_bytes_each);
		put_or_none(b, e->optimal_bytes);
		put_or_none(b, e->max_request_bytes);
		if (e->iu_bytes_each && e->bytes)
			buf_printf(b, " %7.2f %7.1f%%\n", (double)e->iu_bytes / (double)e->bytes,
				   text_percent(e->sub_iu, e->requests));
		else
			buf_printf(b, " %7s %8s\n", "n/a", "n/a");
		text_sizes(b, e);
	}
}

static void text_account(struct buf *b, const json_t *footer)
{
	buf_printf(b, "\nevents: seen %lld, stored %lld, filtered %lld, lost %lld\n",
		   (long long)json_integer_value(json_object_get(footer, "seen")),
		   (long long)json_integer_value(json_object_get(footer, "stored")),
		   (long long)json_integer_value(json_object_get(footer, "filtered")),
		   (long long)(json_integer_value(json_object_get(footer, "ring_full")) +
			       json_integer_value(json_object_get(footer, "map_full")) +
			       json_integer_value(json_object_get(footer, "hook_missed")) +
			       json_integer_value(json_object_get(footer, "unread"))));
}

static void text(const struct mmap_sums *all, struct buf *b, const struct fault_sums *s, const json_t *footer)
{
	text_fault_counts(b, all);
	text_caches(b, all, s, "\ninsertions into the page cache\n     pages          MB  dev:inode path\n",
		    put_insertion);
	text_intents(b, all);
	text_caches(b, all, s, "\nO_DIRECT\n dio_calls   odirect_MB   avg_io_B  dev:inode path\n", put_direct);
	text_devices(b, s);
	text_caches(b, all, s, "\nreadahead\n ra_prep_MB   ra_calls  dev:inode path\n", put_readahead);
	text_caches(b, all, s,
		    "\nfootprint (pages that were used; mapped around a fault, at most)\n"
		    "unique_pages footprint_MB   most_pages  dev:inode path\n",
		    put_footprint);
	text_amplification(b, s);
	text_account(b, footer);
}

/* ---- JSON ---- */

static void jw_file(struct json *j, const struct mmap_sums *all, u32 dev, u64 ino)
{
	const struct buf *path = mmap_sums_path(all, dev, ino);

	jw_number(j, "dev", dev);
	jw_number(j, "ino", ino);
	jw_key(j, "path");
	buf_json(j->b, path ? path->p : "", path ? path->n : 0);
}

static void json(const struct mmap_sums *all, struct buf *b, const struct fault_sums *s, const json_t *footer)
{
	static const char *const account[] = { "seen",	   "stored",	  "filtered", "ring_full",
					       "map_full", "hook_missed", "unread" };
	struct json j = { .b = b };
	u32 i;

	jw_open(&j, '{');
	jw_number(&j, "schema_version", 1);
	jw_string(&j, "document", "mmap_readamp");
	jw_array(&j, "faults");
	for (i = 0; i < all->n_faults; i++) {
		const struct fault_count *f = &all->fault[i];

		jw_item(&j);
		jw_open(&j, '{');
		jw_number(&j, "tgid", f->pid);
		jw_file(&j, all, f->dev, f->ino);
		jw_number(&j, "faults", f->faults);
		jw_number(&j, "minor", f->minor);
		jw_number(&j, "major", f->major);
		jw_number(&j, "failed", f->failed);
		jw_number(&j, "retries", f->retries);
		jw_close(&j, '}');
	}
	jw_close(&j, ']');
	jw_array(&j, "intent");
	for (i = 0; i < all->n_intents; i++) {
		const struct intent *x = &all->intent[i];

		jw_item(&j);
		jw_open(&j, '{');
		jw_string(&j, "rw", x->write ? "W" : "R");
		jw_file(&j, all, x->dev, x->ino);
		jw_number(&j, "calls", x->calls);
		jw_number(&j, "bytes", x->bytes);
		jw_number(&j, "moved_bytes", x->moved_bytes);
		jw_number(&j, "min_bytes", x->min_bytes);
		jw_number(&j, "max_bytes", x->max_bytes);
		jw_number(&j, "lower_bounds", x->partial);
		jw_close(&j, '}');
	}
	jw_close(&j, ']');
	jw_fault_sums(&j, &all->m, s, UINT32_MAX);
	jw_object(&j, "account");
	for (i = 0; i < ARRAY_SIZE(account); i++)
		jw_number(&j, account[i], (u64)json_integer_value(json_object_get(footer, account[i])));
	jw_close(&j, '}');
	jw_close(&j, '}');
	buf_byte(b, '\n');
}

static void end(void *arg, struct buf *b, const json_t *footer)
{
	struct mmap_tables *t = arg;
	struct fault_sums s = {};

	if (mmap_sums_close(&t->sums, &s))
		b->failed = true;
	else
		(t->json ? json : text)(&t->sums, b, &s, footer);
	faults_free(&s);
}

struct cap_document mmap_tables_document(struct mmap_tables *t)
{
	return (struct cap_document){ .head = head, .event = event, .end = end, .arg = t };
}
