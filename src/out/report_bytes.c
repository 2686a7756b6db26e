// SPDX-License-Identifier: Apache-2.0
#include "out/report_bytes.h"

#include <math.h>

#include "model/cause.h"
#include "out/report_text.h"

/* ---- the lines ---- */

u32 byte_rows(struct byte_row row[MAX_BYTE_ROWS], const struct byte_layers *l)
{
	const char *no_device = "not recorded: kvio record nvme,...";
	const struct byte_row all[] = {
		{ "program", "program", 0, &l->program, &l->program, NULL },
		{ "syscalls", "system calls", 1, &l->calls, &l->program, NULL },
		{ "io_uring", "io_uring", 1, &l->uring, &l->program, NULL },
		{ "passthrough", "passthrough", 1, &l->passthrough, &l->program, NULL },
		{ "page_cache", "page cache fills", 0, &l->page_cache, &l->program, "kvio record mmap,..." },
		{ "block", "block layer", 0, &l->block, &l->program, no_device },
		{ "device", "device", 0, &l->device, &l->program, no_device },
		{ "device_by_syscalls", "by calls", 1, &l->by_calls, &l->calls, NULL },
		{ "device_by_io_uring", "by io_uring", 1, &l->by_uring, &l->uring, NULL },
		{ "device_by_passthrough", "by passthrough", 1, &l->by_passthrough, &l->passthrough, NULL },
		{ "device_by_faults", "by page faults", 1, &l->by_faults, NULL, NULL },
		{ "device_by_none", "not joined", 1, &l->by_none, NULL, NULL },
	};
	u32 n = 0, i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].layer->on || all[i].missing)
			row[n++] = all[i];
	return n;
}

/* NAN: there is nothing to compare with. */
static double ratio(u64 bytes, u64 base)
{
	return base ? (double)bytes / (double)base : NAN;
}

static bool is_wanted(const struct model *m)
{
	return m->dev_in.calls || m->dev_in.requests;
}

/* ---- text ---- */

static void text_side(struct buf *out, u64 n, u64 bytes, double of)
{
	buf_printf(out, "%9llu", ULL(n));
	text_bytes(out, bytes);
	if (isfinite(of))
		buf_printf(out, "%8.2f", of);
	else
		buf_printf(out, "%8s", "-");
}

static void text_row(struct buf *out, const struct byte_row *r)
{
	const struct byte_layer *l = r->layer, *base = r->base;

	if (!l->on) {
		buf_printf(out, "  %*s%-*s n/a: %s\n", (int)r->level, "", 16 - (int)r->level, r->title, r->missing);
		return;
	}
	buf_printf(out, "  %*s%-*s", (int)r->level, "", 16 - (int)r->level, r->title);
	text_side(out, l->read_n, l->read_bytes, ratio(l->read_bytes, base ? base->read_bytes : 0));
	if (l->reads_only)
		buf_printf(out, "%9s", "n/a");
	else
		text_side(out, l->write_n, l->write_bytes, ratio(l->write_bytes, base ? base->write_bytes : 0));
	buf_byte(out, '\n');
}

void text_layers(struct buf *out, const struct model *m)
{
	struct byte_row row[MAX_BYTE_ROWS];
	struct byte_layers l;
	u32 n, i;

	if (!is_wanted(m))
		return;
	bytes_measure(&l, m);
	n = byte_rows(row, &l);
	buf_lit(out, "\nwhere the bytes went (ratio: to the program's bytes; 'by': to what caused them)\n");
	buf_printf(out, "  %-16s%9s%10s%8s%9s%10s%8s\n", "layer", "reads", "bytes", "ratio", "writes", "bytes",
		   "ratio");
	for (i = 0; i < n; i++)
		text_row(out, &row[i]);
}

void text_causes(struct buf *out, const struct model *m)
{
	struct cause_sums s;
	u32 i;

	if (!m->cause.on)
		return;
	if (cause_measure(&s, m)) {
		out->failed = true;
		return;
	}
	buf_printf(out, "\ncauses: %llu of %llu commands joined with the call, request or fault behind them\n",
		   ULL(s.joined.n), ULL(s.joined.n + s.not_joined.n));
	for (i = 0; i < N_CAUSE_HOW; i++)
		if (s.of[i].n) {
			buf_printf(out, "  %-10s%10llu", cause_is_joined((u8)i) ? "joined" : "not joined",
				   ULL(s.of[i].n));
			text_bytes(out, s.of[i].bytes);
			buf_printf(out, "  %s\n", cause_words((u8)i));
		}
	if (m->cache.n && !m->fault.n && s.of[CAUSE_OUTSIDE].n + s.of[CAUSE_NO_THREAD].n)
		buf_lit(out,
			"  page faults were counted, not kept: with kvio record --stream --map-files theirs are joined, too\n");
}

/* ---- JSON ---- */

static void jw_row(struct json *j, const struct byte_row *r)
{
	const struct byte_layer *l = r->layer;
	bool based = l->on && r->base;

	jw_object(j, r->key);
	jw_number_of(j, "reads", l->read_n, l->on);
	jw_number_of(j, "read_bytes", l->read_bytes, l->on);
	jw_real(j, "read_ratio", ratio(l->read_bytes, based ? r->base->read_bytes : 0));
	jw_number_of(j, "writes", l->write_n, l->on && !l->reads_only);
	jw_number_of(j, "write_bytes", l->write_bytes, l->on && !l->reads_only);
	jw_real(j, "write_ratio", ratio(l->write_bytes, based && !l->reads_only ? r->base->write_bytes : 0));
	jw_close(j, '}');
}

void jw_layers(struct json *j, const struct model *m)
{
	struct byte_row row[MAX_BYTE_ROWS];
	struct byte_layers l;
	u32 n, i;

	if (!is_wanted(m))
		return;
	bytes_measure(&l, m);
	n = byte_rows(row, &l);
	jw_object(j, "bytes_by_layer");
	for (i = 0; i < n; i++)
		jw_row(j, &row[i]);
	jw_close(j, '}');
}

static void jw_cause(struct json *j, const char *name, const struct cause_sum *s)
{
	jw_object(j, name);
	jw_number(j, "n", s->n);
	jw_number(j, "bytes", s->bytes);
	jw_close(j, '}');
}

void jw_causes(struct json *j, const struct model *m)
{
	struct cause_sums s;
	u32 i;

	if (!m->cause.on)
		return;
	if (cause_measure(&s, m)) {
		j->b->failed = true;
		return;
	}
	jw_object(j, "causes");
	jw_cause(j, "joined", &s.joined);
	jw_cause(j, "not_joined", &s.not_joined);
	for (i = CAUSE_NOT_SOUGHT + 1; i < N_CAUSE_HOW; i++)
		jw_cause(j, cause_name((u8)i), &s.of[i]);
	jw_close(j, '}');
}
