// SPDX-License-Identifier: Apache-2.0
/* What the page shows of system calls and io_uring requests, and where the bytes went. */
#include <stdlib.h>

#include "capture/calls.h"
#include "capture/uring_names.h"
#include "model/cause.h"
#include "out/html_work.h"
#include "out/report_bytes.h"

#define MAX_FILES 20

static void lat_items(struct json *j, const struct hist *lat)
{
	item_of(j, hist_percentile(lat, 50), lat->n);
	item_of(j, hist_percentile(lat, 99), lat->n);
	item_of(j, lat->max, lat->n);
}

static void call_table(struct json *j, const struct call_sums *s)
{
	static const struct html_col cols[] = { { "", "text" },	   { "n", "n" },	 { "failed", "lost" },
						{ "short", "n" },  { "asked", "bytes" }, { "moved", "bytes" },
						{ "p50", "ns" },   { "p99", "ns" },	 { "max", "ns" },
						{ "in all", "ns" } };
	u32 i;

	jw_key(j, "calls");
	table_begin(j, "System calls; times are of good ones", cols, ARRAY_SIZE(cols));
	for (i = 1; i < N_CALLS; i++) {
		const struct call_sum *c = &s->call[i];

		if (!c->n)
			continue;
		row_begin(j);
		item_str(j, call_name((u16)i));
		item_u64(j, c->n);
		item_u64(j, c->failed);
		item_u64(j, c->short_n);
		item_u64(j, c->asked_bytes);
		item_u64(j, c->moved_bytes);
		lat_items(j, &c->lat);
		item_u64(j, c->total_ns);
		row_end(j);
	}
	table_end(j);
}

static void file_table(struct json *j, const struct model *m, const struct call_sums *s)
{
	static const struct html_col cols[] = { { "file", "text" },	{ "reads", "n" },	  { "read", "bytes" },
						{ "writes", "n" },	{ "written", "bytes" },	  { "syncs", "n" },
						{ "other calls", "n" }, { "time in calls", "ns" } };
	u32 i;

	jw_key(j, "files");
	table_begin(j, "Files with most bytes", cols, ARRAY_SIZE(cols));
	for (i = 0; i < MIN(s->n_files, (u32)MAX_FILES); i++) {
		const struct call_file *f = &s->file[i];

		row_begin(j);
		item_file(j, m, f->path, f->dev, f->ino);
		item_u64(j, f->reads);
		item_u64(j, f->read_bytes);
		item_u64(j, f->writes);
		item_u64(j, f->write_bytes);
		item_u64(j, f->syncs);
		item_u64(j, f->other);
		item_u64(j, f->total_ns);
		row_end(j);
	}
	table_end(j);
	jw_number(j, "files_left", s->n_files - MIN(s->n_files, (u32)MAX_FILES));
}

static void system_calls(struct json *j, const struct model *m)
{
	struct call_sums *s = malloc(sizeof(*s));

	if (!s || calls_measure(s, m)) {
		j->b->failed = true;
		free(s);
		return;
	}
	jw_object(j, "syscalls");
	jw_number(j, "n", s->all.n);
	jw_number(j, "failed", s->all.failed);
	call_table(j, s);
	file_table(j, m, s);
	jw_close(j, '}');
	calls_free(s);
	free(s);
}

static void requests(struct json *j, const struct model *m)
{
	static const struct html_col cols[] = { { "", "text" },	       { "n", "n" },	  { "failed", "lost" },
						{ "unfinished", "n" }, { "punted", "n" }, { "asked", "bytes" },
						{ "moved", "bytes" },  { "p50", "ns" },	  { "p99", "ns" },
						{ "max", "ns" } };
	struct uring_sums *s = malloc(sizeof(*s));
	u32 i;

	if (!s) {
		j->b->failed = true;
		return;
	}
	uring_measure(s, m);
	jw_object(j, "uring");
	jw_number(j, "n", s->all.n);
	jw_number(j, "failed", s->all.failed);
	jw_number(j, "unfinished", s->all.unfinished);
	jw_number(j, "rings", s->rings);
	jw_key(j, "ops");
	table_begin(j, "io_uring requests; times are of good ones", cols, ARRAY_SIZE(cols));
	for (i = 0; i < ARRAY_SIZE(s->op); i++) {
		const struct uring_sum *o = &s->op[i];

		if (!o->n)
			continue;
		row_begin(j);
		item_str(j, uring_op_name((u8)i));
		item_u64(j, o->n);
		item_u64(j, o->failed);
		item_u64(j, o->unfinished);
		item_u64(j, o->punted);
		item_u64(j, o->asked_bytes);
		item_u64(j, o->moved_bytes);
		lat_items(j, &o->lat);
		row_end(j);
	}
	table_end(j);
	jw_close(j, '}');
	free(s);
}

/* Rows [title, level, why nothing is known or null, then of reads and writes: n, bytes, bytes they are a ratio to]. */
static void layers(struct json *j, const struct model *m)
{
	struct byte_row row[MAX_BYTE_ROWS];
	struct byte_layers l;
	u32 n, i;

	bytes_measure(&l, m);
	n = byte_rows(row, &l);
	jw_array(j, "layers");
	for (i = 0; i < n; i++) {
		const struct byte_row *r = &row[i];

		row_begin(j);
		item_str(j, r->title);
		item_u64(j, r->level);
		if (r->layer->on)
			item_null(j);
		else
			item_str(j, r->missing);
		item_u64(j, r->layer->read_n);
		item_u64(j, r->layer->read_bytes);
		item_u64(j, r->base ? r->base->read_bytes : 0);
		item_of(j, r->layer->write_n, !r->layer->reads_only);
		item_of(j, r->layer->write_bytes, !r->layer->reads_only);
		item_u64(j, r->base ? r->base->write_bytes : 0);
		row_end(j);
	}
	jw_close(j, ']');
}

/* Rows [joined or not, commands, bytes, why]. */
static void causes(struct json *j, const struct model *m)
{
	struct cause_sums s;
	u32 i;

	if (!m->cause.on)
		return;
	if (cause_measure(&s, m)) {
		j->b->failed = true;
		return;
	}
	jw_array(j, "causes");
	for (i = CAUSE_NOT_SOUGHT + 1; i < N_CAUSE_HOW; i++) {
		if (!s.of[i].n)
			continue;
		row_begin(j);
		item_u64(j, cause_is_joined((u8)i));
		item_u64(j, s.of[i].n);
		item_u64(j, s.of[i].bytes);
		item_str(j, cause_words((u8)i));
		row_end(j);
	}
	jw_close(j, ']');
}

void html_programs(struct json *j, const struct report_arm *a)
{
	const struct model *m = a->m;

	if (!m->dev_in.calls && !m->dev_in.requests && !m->cause.on)
		return;
	jw_object(j, "programs");
	if (m->dev_in.calls)
		system_calls(j, m);
	if (m->dev_in.requests)
		requests(j, m);
	layers(j, m);
	causes(j, m);
	jw_close(j, '}');
}
