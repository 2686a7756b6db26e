// SPDX-License-Identifier: Apache-2.0
#include "out/report_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/calls.h"
#include "capture/uring_names.h"
#include "lib/human.h"
#include "model/calls.h"
#include "out/report_bytes.h"
#include "out/report_text.h"

#define MAX_FILES  10
#define PATH_WIDTH 28 /* escapes make it longer */

/* ---- text ---- */

static void numbers(struct buf *out, const char *name, u64 n, u64 failed, u64 bytes, const struct hist *lat)
{
	buf_printf(out, "  %-16.16s%10llu%9llu", name, ULL(n), ULL(failed));
	text_bytes(out, bytes);
	if (lat->n) {
		text_ns(out, hist_percentile(lat, 50));
		text_ns(out, hist_percentile(lat, 99));
		text_ns(out, lat->max);
	} else {
		buf_printf(out, "%10s%10s%10s", "-", "-", "-");
	}
	buf_byte(out, '\n');
}

static void head(struct buf *out, const char *what)
{
	buf_printf(out, "  %-16s%10s%9s%10s%10s%10s%10s\n", what, "n", "failed", "moved", "p50", "p99", "max");
}

static void path(struct buf *out, const struct model *m, const struct call_file *f)
{
	char numbers[REPORT_NUMBERS];

	buf_lit(out, " ");
	text_file(out, report_file(m, f->path, f->dev, f->ino, numbers), PATH_WIDTH);
}

static void files(struct buf *out, const struct model *m, const struct call_sums *s)
{
	u32 i;

	if (!s->n_files)
		return;
	buf_printf(out, "  %8s%10s%8s%10s%6s  file\n", "reads", "", "writes", "", "syncs");
	for (i = 0; i < MIN(s->n_files, (u32)MAX_FILES); i++) {
		const struct call_file *f = &s->file[i];

		buf_printf(out, "  %8llu", ULL(f->reads));
		text_bytes(out, f->read_bytes);
		buf_printf(out, "%8llu", ULL(f->writes));
		text_bytes(out, f->write_bytes);
		buf_printf(out, "%6llu ", ULL(f->syncs));
		path(out, m, f);
		buf_byte(out, '\n');
	}
	if (s->n_files > MAX_FILES)
		buf_printf(out, "  and %u more: kvio sql has them (table syscall)\n", s->n_files - MAX_FILES);
}

static void syscalls(struct buf *out, const struct model *m)
{
	struct call_sums *s = malloc(sizeof(*s));
	u32 i;

	if (!s || calls_measure(s, m)) {
		out->failed = true;
		free(s);
		return;
	}
	buf_printf(out, "\nsystem calls: %llu, %llu failed\n", ULL(s->all.n), ULL(s->all.failed));
	head(out, "call");
	for (i = 1; i < N_CALLS; i++)
		if (s->call[i].n)
			numbers(out, call_name((u16)i), s->call[i].n, s->call[i].failed, s->call[i].moved_bytes,
				&s->call[i].lat);
	files(out, m, s);
	calls_free(s);
	free(s);
}

static void requests(struct buf *out, const struct model *m)
{
	struct uring_sums *s = malloc(sizeof(*s));
	u32 i;

	if (!s) {
		out->failed = true;
		return;
	}
	uring_measure(s, m);
	buf_printf(out, "\nio_uring: %llu requests on %u ring%s, %llu failed, %llu without a completion\n",
		   ULL(s->all.n), s->rings, s->rings == 1 ? "" : "s", ULL(s->all.failed), ULL(s->all.unfinished));
	if (s->all.sqpoll || s->all.punted)
		buf_printf(out, "  %llu submitted by SQPOLL, %llu given to worker threads\n", ULL(s->all.sqpoll),
			   ULL(s->all.punted));
	head(out, "operation");
	for (i = 0; i < ARRAY_SIZE(s->op); i++)
		if (s->op[i].n)
			numbers(out, uring_op_name((u8)i), s->op[i].n, s->op[i].failed, s->op[i].moved_bytes,
				&s->op[i].lat);
	free(s);
}

void text_calls(struct buf *out, const struct model *m)
{
	if (m->dev_in.calls)
		syscalls(out, m);
	if (m->dev_in.requests)
		requests(out, m);
	text_causes(out, m);
	text_layers(out, m);
}

/* ---- JSON ---- */

static void jw_latency(struct json *j, const struct hist *lat)
{
	jw_number(j, "lat_n", lat->n);
	jw_number_of(j, "lat_p50_ns", hist_percentile(lat, 50), lat->n);
	jw_number_of(j, "lat_p99_ns", hist_percentile(lat, 99), lat->n);
	jw_number_of(j, "lat_max_ns", lat->max, lat->n);
}

static void jw_call(struct json *j, const char *name, const struct call_sum *s)
{
	jw_object(j, name);
	jw_number(j, "n", s->n);
	jw_number(j, "failed", s->failed);
	jw_number(j, "short", s->short_n);
	jw_number(j, "asked_bytes", s->asked_bytes);
	jw_number(j, "moved_bytes", s->moved_bytes);
	jw_number(j, "total_ns", s->total_ns);
	jw_latency(j, &s->lat);
	jw_close(j, '}');
}

static void jw_files(struct json *j, const struct model *m, const struct call_sums *s)
{
	u32 i;

	jw_number(j, "n_files", s->n_files);
	jw_array(j, "files");
	for (i = 0; i < MIN(s->n_files, (u32)MAX_FILES); i++) {
		const struct call_file *f = &s->file[i];

		jw_item(j);
		jw_open(j, '{');
		jw_pooled(j, "path", &m->strings, f->path);
		jw_number(j, "dev", f->dev);
		jw_number(j, "ino", f->ino);
		jw_number(j, "reads", f->reads);
		jw_number(j, "read_bytes", f->read_bytes);
		jw_number(j, "writes", f->writes);
		jw_number(j, "write_bytes", f->write_bytes);
		jw_number(j, "syncs", f->syncs);
		jw_number(j, "other", f->other);
		jw_number(j, "total_ns", f->total_ns);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void jw_syscalls(struct json *j, const struct model *m)
{
	struct call_sums *s = malloc(sizeof(*s));
	u32 i;

	if (!s || calls_measure(s, m)) {
		j->b->failed = true;
		free(s);
		return;
	}
	jw_object(j, "syscalls");
	jw_call(j, "all", &s->all);
	jw_object(j, "calls");
	for (i = 1; i < N_CALLS; i++)
		if (s->call[i].n)
			jw_call(j, call_name((u16)i), &s->call[i]);
	jw_close(j, '}');
	jw_files(j, m, s);
	jw_close(j, '}');
	calls_free(s);
	free(s);
}

static void jw_request(struct json *j, const char *name, const struct uring_sum *s)
{
	jw_object(j, name);
	jw_number(j, "n", s->n);
	jw_number(j, "failed", s->failed);
	jw_number(j, "unfinished", s->unfinished);
	jw_number(j, "punted", s->punted);
	jw_number(j, "sqpoll", s->sqpoll);
	jw_number(j, "asked_bytes", s->asked_bytes);
	jw_number(j, "moved_bytes", s->moved_bytes);
	jw_latency(j, &s->lat);
	jw_close(j, '}');
}

static void jw_requests(struct json *j, const struct model *m)
{
	struct uring_sums *s = malloc(sizeof(*s));
	u32 i;

	if (!s) {
		j->b->failed = true;
		return;
	}
	uring_measure(s, m);
	jw_object(j, "io_uring");
	jw_number(j, "rings", s->rings);
	jw_request(j, "all", &s->all);
	jw_object(j, "operations");
	for (i = 0; i < ARRAY_SIZE(s->op); i++)
		if (s->op[i].n)
			jw_request(j, uring_op_name((u8)i), &s->op[i]);
	jw_close(j, '}');
	jw_close(j, '}');
	free(s);
}

void jw_calls(struct json *j, const struct model *m)
{
	if (m->dev_in.calls)
		jw_syscalls(j, m);
	if (m->dev_in.requests)
		jw_requests(j, m);
	jw_causes(j, m);
	jw_layers(j, m);
}
