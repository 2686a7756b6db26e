// SPDX-License-Identifier: Apache-2.0
/* Page faults and read amplification on the page. */
#include "capture/cache.h"
#include "model/faults.h"
#include "out/html_work.h"
#include "out/report_faults.h"

static void ratios(struct json *j, const struct fault_sums *s)
{
	static const struct html_col cols[] = {
		{ "layer", "text" }, { "", "text" }, { "ratio", "ratio" }, { "bytes", "bytes" }, { "of", "bytes" }
	};
	int a;

	jw_key(j, "ratios");
	table_begin(j, "Read amplification: what each layer makes of the one above it", cols, ARRAY_SIZE(cols));
	for (a = 0; a < N_AMPS; a++) {
		struct ratio r = faults_ratio(s, (enum amplification)a);

		row_begin(j);
		item_str(j, amplification_name((enum amplification)a));
		item_str(j, amplification_words((enum amplification)a));
		if (r.known)
			item_real(j, (double)r.part / (double)r.whole);
		else
			item_null(j);
		item_of(j, r.part, r.known);
		item_of(j, r.whole, r.known);
		row_end(j);
	}
	table_end(j);
}

static void files(struct json *j, const struct model *m, const struct fault_sums *s)
{
	static const struct html_col cols[] = { { "file", "text" },   { "faults", "n" },   { "major", "n" },
						{ "retried", "n" },   { "used", "bytes" }, { "came in", "bytes" },
						{ "direct", "bytes" } };
	u32 i;

	jw_key(j, "files");
	table_begin(j, "Files that most came in of", cols, ARRAY_SIZE(cols));
	for (i = 0; i < MIN(s->n_files, (u32)HTML_MAX_NAMES); i++) {
		const struct ev_cache *c = &s->file[i]->ev;

		row_begin(j);
		item_file(j, m, s->file[i]->path, c->dev, c->ino);
		item_u64(j, c->faults);
		item_u64(j, c->major);
		item_u64(j, c->retries);
		item_u64(j, c->touched_pages * s->page_bytes);
		item_of(j, cache_came_pages(c) * s->page_bytes, !(c->flags & CACHE_NO_FILLS));
		item_of(j, c->direct_read_bytes + c->direct_write_bytes, !(c->flags & CACHE_NO_DIRECT));
		row_end(j);
	}
	table_end(j);
	jw_number(j, "files_left", s->n_files - MIN(s->n_files, (u32)HTML_MAX_NAMES));
}

void html_faults(struct json *j, const struct report_arm *a)
{
	const char *hint;
	struct fault_sums s;

	if (faults_none(a->m))
		return;
	if (faults_measure(&s, a->m)) {
		j->b->failed = true;
	} else {
		hint = faults_hint(&s);
		jw_object(j, "faults");
		jw_number(j, "n", s.all.faults);
		jw_number(j, "major", s.all.major);
		jw_number(j, "markers", s.n_markers);
		jw_number(j, "useful", s.useful_bytes);
		jw_bool(j, "incomplete", s.all.flags & CACHE_INCOMPLETE);
		if (hint)
			jw_string(j, "hint", hint);
		ratios(j, &s);
		files(j, a->m, &s);
		jw_close(j, '}');
	}
	faults_free(&s);
}
