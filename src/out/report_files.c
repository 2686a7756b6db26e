// SPDX-License-Identifier: Apache-2.0
/* Which files the commands were about, where they were mapped. */
#include <stdio.h>

#include "model/extents.h"
#include "out/report_calls.h"
#include "out/report_text.h"

#define MAX_FILES  10u
#define PATH_WIDTH 35u

/* Of all heads of the end: the files, those that moved, those without a map. */
static void count_mapped(const struct model *m, u32 *n, u32 *moved, u32 *unmapped)
{
	u32 i;

	*n = *moved = *unmapped = 0;
	for (i = 0; i < m->mapped.n; i++) {
		const struct ev_extent *e = &m->mapped.row[i].ev;

		if (!(e->flags & EXTENT_AT_END))
			continue;
		++*n;
		*moved += !!(e->flags & EXTENT_MOVED);
		*unmapped += e->error != 0;
	}
}

static void put_path(struct buf *out, const struct model *m, const struct file_sum *f)
{
	char numbers[REPORT_NUMBERS];

	text_file(out, report_file(m, f->path, f->dev, f->ino, numbers), PATH_WIDTH);
}

static void row(struct buf *out, u64 reads, u64 read_bytes, u64 writes, u64 write_bytes)
{
	buf_printf(out, "  %9llu", ULL(reads));
	text_bytes(out, read_bytes);
	buf_printf(out, "%9llu", ULL(writes));
	text_bytes(out, write_bytes);
	buf_lit(out, "  ");
}

void text_device_files(struct buf *out, const struct model *m)
{
	u32 i, n, moved, unmapped;
	struct file_sums s;

	if (!m->mapped.n)
		return;
	if (files_measure(&s, m)) {
		out->failed = true;
		return;
	}
	count_mapped(m, &n, &moved, &unmapped);
	buf_printf(out, "\nfiles on the device: %u mapped, %u moved meanwhile, %u without a map\n", n - unmapped, moved,
		   unmapped);
	buf_printf(out, "  %9s%10s%9s%10s  file\n", "reads", "", "writes", "");
	for (i = 0; i < MIN(s.n_files, MAX_FILES); i++) {
		row(out, s.file[i].reads, s.file[i].read_bytes, s.file[i].writes, s.file[i].write_bytes);
		put_path(out, m, &s.file[i]);
		buf_byte(out, '\n');
	}
	if (s.n_files > MAX_FILES)
		buf_printf(out, "  and %u more: kvio sql has them (cmd.file)\n", s.n_files - MAX_FILES);
	buf_printf(out, "  %llu commands (", ULL(s.outside));
	report_bytes(out, s.outside_bytes);
	buf_printf(out, ") in no known file, %llu (", ULL(s.unsure));
	report_bytes(out, s.unsure_bytes);
	buf_lit(out, ") that may be of several");
	if (s.partly)
		buf_printf(out, ",\n  %llu that go beyond a piece of their file", ULL(s.partly));
	buf_byte(out, '\n');
	file_sums_free(&s);
}

void jw_device_files(struct json *j, const struct model *m)
{
	u32 i, n, moved, unmapped;
	struct file_sums s;

	if (!m->mapped.n)
		return;
	if (files_measure(&s, m)) {
		j->b->failed = true;
		return;
	}
	count_mapped(m, &n, &moved, &unmapped);
	jw_object(j, "device_files");
	jw_number(j, "mapped", n - unmapped);
	jw_number(j, "moved", moved);
	jw_number(j, "unmapped", unmapped);
	jw_number(j, "outside", s.outside);
	jw_number(j, "outside_bytes", s.outside_bytes);
	jw_number(j, "unsure", s.unsure);
	jw_number(j, "unsure_bytes", s.unsure_bytes);
	jw_number(j, "partly", s.partly);
	jw_number(j, "n_files", s.n_files);
	jw_array(j, "files");
	for (i = 0; i < MIN(s.n_files, MAX_FILES); i++) {
		const struct file_sum *f = &s.file[i];

		jw_item(j);
		jw_open(j, '{');
		jw_pooled(j, "path", &m->strings, f->path);
		jw_number(j, "dev", f->dev);
		jw_number(j, "ino", f->ino);
		jw_number(j, "reads", f->reads);
		jw_number(j, "read_bytes", f->read_bytes);
		jw_number(j, "writes", f->writes);
		jw_number(j, "write_bytes", f->write_bytes);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	jw_close(j, '}');
	file_sums_free(&s);
}
