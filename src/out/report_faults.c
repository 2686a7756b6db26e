// SPDX-License-Identifier: Apache-2.0
#include "out/report_faults.h"

#include <stdio.h>
#include <string.h>

#include "capture/cache.h"
#include "lib/human.h"
#include "model/faults.h"
#include "out/report_text.h"

#define MAX_FILES  10
#define PATH_WIDTH 24 /* escapes make it longer */
/* Below this share of what was used, a device is said to have been spared. */
#define SERVED	   0.01

static const char *const amp_names[N_AMPS] = { "page size", "readahead", "device", "all" };
static const char *const amp_words[N_AMPS] = { "footprint / useful", "came in / footprint", "device reads / came in",
					       "device reads / useful" };
static const char *const amp_keys[N_AMPS] = { "page_size", "readahead", "device", "all" };

const char *amplification_name(enum amplification a)
{
	return amp_names[a];
}

const char *amplification_words(enum amplification a)
{
	return amp_words[a];
}

/* ---- text ---- */

static void path(struct buf *out, const struct model *m, const struct cache_row *r)
{
	char numbers[REPORT_NUMBERS];

	buf_lit(out, "  ");
	text_file(out, report_file(m, r->path, r->ev.dev, r->ev.ino, numbers), PATH_WIDTH);
}

static void bytes_or_none(struct buf *out, u64 bytes, bool known)
{
	if (known)
		text_bytes(out, bytes);
	else
		buf_printf(out, "%10s", "n/a");
}

static void files(struct buf *out, const struct model *m, const struct fault_sums *s)
{
	u32 i;

	buf_printf(out, "  %8s%8s%10s%10s%10s%8s  file\n", "faults", "major", "used", "came in", "direct", "again");
	for (i = 0; i < MIN(s->n_files, (u32)MAX_FILES); i++) {
		const struct ev_cache *c = &s->file[i]->ev;

		buf_printf(out, "  %8llu%8llu", ULL(c->faults), ULL(c->major));
		text_bytes(out, c->touched_pages * s->page_bytes);
		bytes_or_none(out, cache_came_pages(c) * s->page_bytes, !(c->flags & CACHE_NO_FILLS));
		bytes_or_none(out, c->direct_read_bytes + c->direct_write_bytes, !(c->flags & CACHE_NO_DIRECT));
		buf_printf(out, "%8llu", ULL(c->retries));
		path(out, m, s->file[i]);
		buf_byte(out, '\n');
	}
	if (s->n_files > MAX_FILES)
		buf_printf(out, "  and %u more: kvio sql has them (table cache)\n", s->n_files - MAX_FILES);
}

static void footprint(struct buf *out, const struct fault_sums *s)
{
	const struct ev_cache *c = &s->all;
	char least[32], most[32];

	human_bytes(least, sizeof(least), c->touched_pages * s->page_bytes);
	human_bytes(most, sizeof(most), c->mapped_pages * s->page_bytes);
	if (c->flags & CACHE_TOUCHED_ONLY)
		buf_printf(out, "  footprint: at least %s; what was mapped around faults is not known\n", least);
	else if (c->touched_pages == c->mapped_pages)
		buf_printf(out, "  footprint: %s in %llu pages\n", least, ULL(c->touched_pages));
	else
		buf_printf(out,
			   "  footprint: %s to %s; pages mapped around a fault may be used unseen\n"
			   "    (kvio record --exact-pages)\n",
			   least, most);
}

static void ratio(struct buf *out, const struct fault_sums *s, enum amplification a)
{
	struct ratio r = faults_ratio(s, a);

	buf_printf(out, "  %-11s%-24s", amp_names[a], amp_words[a]);
	if (!r.known) {
		buf_printf(out, "%8s  (%s)\n", "n/a",
			   (a == AMP_PAGES || a == AMP_ALL) && !s->useful_bytes ? "--useful-bytes or markers"
										: "not recorded");
		return;
	}
	buf_printf(out, "%8.2f  =", (double)r.part / (double)r.whole);
	text_bytes(out, r.part);
	buf_lit(out, " /");
	text_bytes(out, r.whole);
	buf_byte(out, '\n');
}

void text_amplification(struct buf *out, const struct fault_sums *s)
{
	const char *hint = faults_hint(s);
	u64 used = s->useful_bytes ? s->useful_bytes : s->all.touched_pages * s->page_bytes;
	int a;

	buf_lit(out, "\nread amplification\n");
	for (a = 0; a < N_AMPS; a++)
		ratio(out, s, (enum amplification)a);
	if (s->n_markers)
		buf_printf(out, "  useful: %llu bytes, by %llu marker%s of the application\n", ULL(s->useful_bytes),
			   ULL(s->n_markers), s->n_markers == 1 ? "" : "s");
	if (hint)
		buf_printf(out, "  most of it: %s\n", hint);
	if (s->n_blocks && used && (double)s->read_bytes < SERVED * (double)used)
		buf_printf(out, "  served from memory: %.3f %% of what was used came from no device\n",
			   100 - 100 * (double)s->read_bytes / (double)used);
}

static void optional(struct buf *out, u64 bytes)
{
	bytes_or_none(out, bytes, bytes);
}

static void blocks(struct buf *out, const struct fault_sums *s)
{
	u32 i;

	if (!s->n_blocks)
		return;
	buf_printf(out, "\nblock devices\n  %-10s%-6s%9s%10s%10s%10s%8s%8s\n", "device", "", "requests", "bytes",
		   "request", "IU", "IU amp", "sub-IU");
	for (i = 0; i < s->n_blocks; i++) {
		const struct ev_block *e = &s->block[i]->ev;
		char name[sizeof(e->name) + 1] = "";

		memcpy(name, e->name, sizeof(e->name));
		buf_lit(out, "  ");
		report_safe(out, name, MIN(strlen(name), (size_t)9));
		buf_printf(out, "%*s%-6s%9llu", (int)(10 - MIN(strlen(name), (size_t)9)), "",
			   e->write ? "write" : "read", ULL(e->requests));
		text_bytes(out, e->bytes);
		text_bytes(out, e->requests ? e->bytes / e->requests : 0);
		optional(out, e->iu_bytes_each);
		if (e->iu_bytes_each && e->bytes)
			buf_printf(out, "%8.2f%7.1f%%\n", (double)e->iu_bytes / (double)e->bytes,
				   100 * (double)e->sub_iu / (double)MAX(e->requests, 1ull));
		else
			buf_printf(out, "%8s%8s\n", "n/a", "n/a");
	}
}

void text_faults(struct buf *out, const struct model *m)
{
	struct fault_sums s;

	if (faults_none(m))
		return;
	if (faults_measure(&s, m)) {
		out->failed = true;
	} else {
		buf_printf(out,
			   "\npage faults: %llu on %u file%s; minor %llu, major %llu, failed %llu, made again %llu\n",
			   ULL(s.all.faults), s.n_files, s.n_files == 1 ? "" : "s", ULL(s.all.minor), ULL(s.all.major),
			   ULL(s.all.failed), ULL(s.all.retries));
		if (s.all.flags & CACHE_INCOMPLETE)
			buf_lit(out, "  events were lost: these are lower bounds\n");
		files(out, m, &s);
		footprint(out, &s);
		text_amplification(out, &s);
		blocks(out, &s);
	}
	faults_free(&s);
}

/* ---- JSON ---- */

static void jw_sums(struct json *j, const struct ev_cache *c)
{
	bool faults = !(c->flags & CACHE_NO_FAULTS), fills = !(c->flags & CACHE_NO_FILLS);
	bool direct = !(c->flags & CACHE_NO_DIRECT), ra = !(c->flags & CACHE_NO_RA);

	jw_number_of(j, "faults", c->faults, faults);
	jw_number_of(j, "minor", c->minor, faults);
	jw_number_of(j, "major", c->major, faults);
	jw_number_of(j, "failed", c->failed, faults);
	jw_number_of(j, "retries", c->retries, faults);
	jw_number(j, "touched_pages", c->touched_pages);
	jw_number_of(j, "mapped_pages", c->mapped_pages, !(c->flags & CACHE_TOUCHED_ONLY));
	jw_number_of(j, "fill_pages", c->fill_pages, fills);
	jw_number_of(j, "written_pages", c->written_pages, fills && !(c->flags & CACHE_NO_WRITTEN));
	jw_number_of(j, "readaheads", c->ra_calls, ra);
	jw_number_of(j, "readahead_pages", c->ra_pages, ra);
	jw_number_of(j, "direct_reads", c->direct_reads, direct);
	jw_number_of(j, "direct_read_bytes", c->direct_read_bytes, direct);
	jw_number_of(j, "direct_writes", c->direct_writes, direct);
	jw_number_of(j, "direct_write_bytes", c->direct_write_bytes, direct);
}

static void jw_files(struct json *j, const struct model *m, const struct fault_sums *s, u32 most)
{
	u32 i;

	jw_number(j, "n_files", s->n_files);
	jw_array(j, "files");
	for (i = 0; i < MIN(s->n_files, most); i++) {
		jw_item(j);
		jw_open(j, '{');
		jw_pooled(j, "path", &m->strings, s->file[i]->path);
		jw_number(j, "dev", s->file[i]->ev.dev);
		jw_number(j, "ino", s->file[i]->ev.ino);
		jw_sums(j, &s->file[i]->ev);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void jw_ratios(struct json *j, const struct fault_sums *s)
{
	int a;

	jw_object(j, "amplification");
	for (a = 0; a < N_AMPS; a++) {
		struct ratio r = faults_ratio(s, (enum amplification)a);

		jw_object(j, amp_keys[a]);
		jw_number_of(j, "part_bytes", r.part, r.known);
		jw_number_of(j, "whole_bytes", r.whole, r.known);
		jw_close(j, '}');
	}
	jw_close(j, '}');
}

static void jw_blocks(struct json *j, const struct fault_sums *s)
{
	u32 i;

	jw_array(j, "block_devices");
	for (i = 0; i < s->n_blocks; i++) {
		const struct ev_block *e = &s->block[i]->ev;
		char name[sizeof(e->name) + 1] = "";

		jw_item(j);
		jw_open(j, '{');
		memcpy(name, e->name, sizeof(e->name));
		jw_string(j, "device", name);
		jw_bool(j, "write", e->write);
		jw_number(j, "requests", e->requests);
		jw_number(j, "bytes", e->bytes);
		jw_number_of(j, "min_bytes", e->min_bytes, e->requests);
		jw_number_of(j, "max_bytes", e->max_bytes, e->requests);
		jw_number_of(j, "iu", e->iu_bytes_each, e->iu_bytes_each);
		jw_number_of(j, "iu_bytes", e->iu_bytes, e->iu_bytes_each);
		jw_number_of(j, "sub_iu", e->sub_iu, e->iu_bytes_each);
		jw_number_of(j, "optimal_bytes", e->optimal_bytes, e->optimal_bytes);
		jw_number_of(j, "max_request_bytes", e->max_request_bytes, e->max_request_bytes);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

void jw_fault_sums(struct json *j, const struct model *m, const struct fault_sums *s, u32 most_files)
{
	jw_object(j, "page_faults");
	jw_number(j, "page_bytes", s->page_bytes);
	jw_number_of(j, "useful_bytes", s->useful_bytes, s->useful_bytes);
	jw_number(j, "markers", s->n_markers);
	jw_bool(j, "incomplete", s->all.flags & CACHE_INCOMPLETE);
	jw_object(j, "all");
	jw_sums(j, &s->all);
	jw_number(j, "lat_n", s->lat.n);
	jw_number_of(j, "lat_p50_ns", hist_percentile(&s->lat, 50), s->lat.n);
	jw_number_of(j, "lat_p99_ns", hist_percentile(&s->lat, 99), s->lat.n);
	jw_number_of(j, "lat_max_ns", s->lat.max, s->lat.n);
	jw_close(j, '}');
	jw_files(j, m, s, most_files);
	jw_ratios(j, s);
	jw_blocks(j, s);
	jw_close(j, '}');
}

void jw_faults(struct json *j, const struct model *m)
{
	struct fault_sums s;

	if (faults_none(m))
		return;
	if (faults_measure(&s, m))
		j->b->failed = true;
	else
		jw_fault_sums(j, m, &s, MAX_FILES);
	faults_free(&s);
}
