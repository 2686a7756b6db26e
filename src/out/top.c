// SPDX-License-Identifier: Apache-2.0
#include "out/top.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/human.h"

#define ULL(x) ((unsigned long long)(x))

static const char *const verdict_words[] = { "-", "QD~1", "pipelined" };

static double per_second(u64 n, u64 interval_ns)
{
	return interval_ns ? (double)n * 1e9 / (double)interval_ns : 0;
}

/* A name from the kernel as text for a terminal. */
static void printable(char *out, size_t n, const char *name)
{
	size_t i;

	snprintf(out, n, "%s", name);
	for (i = 0; out[i]; i++)
		if (!isprint((unsigned char)out[i]))
			out[i] = '?';
}

static int busier(const void *a, const void *b)
{
	const struct live_row *x = *(const struct live_row *const *)a, *y = *(const struct live_row *const *)b;
	u64 n = x->reads + x->writes + x->others, m = y->reads + y->writes + y->others;

	return n != m ? (n < m ? 1 : -1) : x->id < y->id ? -1 : x->id > y->id;
}

/* The rows by commands, the busiest first.  To be freed. */
static const struct live_row **sorted(const struct live_table *t)
{
	const struct live_row **row = malloc((t->n + 1) * sizeof(*row));
	u32 i;

	for (i = 0; row && i < t->n; i++)
		row[i] = &t->row[i];
	if (row)
		qsort(row, t->n, sizeof(*row), busier);
	return row;
}

static void text_row(struct buf *out, const struct live_row *r, bool process, u64 interval_ns, bool color)
{
	enum live_verdict v = live_judge(r, interval_ns);
	char name[40], who[40], p50[16], p99[16];

	printable(name, sizeof(name), r->name);
	if (process)
		snprintf(who, sizeof(who), "%u %.10s", r->id, name);
	else
		snprintf(who, sizeof(who), "%.16s", name);
	snprintf(p50, sizeof(p50), "-");
	snprintf(p99, sizeof(p99), "-");
	if (r->lat.n) {
		human_ns(p50, sizeof(p50), hist_percentile(&r->lat, 50));
		human_ns(p99, sizeof(p99), hist_percentile(&r->lat, 99));
	}
	buf_printf(out, "%-15.15s %7.0f %7.0f %6.0f %4llu %5.1f %7s %7s %3llu ", who, per_second(r->reads, interval_ns),
		   per_second(r->writes, interval_ns), per_second(r->read_bytes + r->write_bytes, interval_ns) / 1e6,
		   ULL(r->in_flight), live_busy_depth(r), p50, p99, ULL(r->objects));
	if (color && v == LIVE_QD1)
		buf_printf(out, "\033[33m%s\033[0m", verdict_words[v]);
	else
		buf_str(out, verdict_words[v]);
	buf_byte(out, '\n');
}

static void text_table(struct buf *out, const struct live_table *t, const char *title, bool process, u64 interval_ns,
		       u32 lines, bool color)
{
	const struct live_row **row = sorted(t);
	u32 i, shown = lines && t->n > lines ? lines - 1 : t->n;

	buf_printf(out, "%-15s  READ/s WRITE/s   MB/s  NOW DEPTH     P50     P99 OBJ VERDICT\n", title);
	for (i = 0; row && i < shown; i++)
		text_row(out, row[i], process, interval_ns, color);
	if (shown < t->n)
		buf_printf(out, "... and %u more\n", t->n - shown);
	if (!t->n)
		buf_lit(out, "(no command yet)\n");
	out->failed |= !row;
	free(row);
}

static u64 sum_of(const struct live_table *t, bool refused)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < t->n; i++)
		sum += refused ? t->row[i].refused : t->row[i].failed;
	return sum;
}

void top_text(struct buf *out, const struct live *l, u64 now_ns, u32 lines, bool color)
{
	u64 interval_ns = now_ns - MIN(l->since_ns, now_ns), lost = l->loss.ring_full + l->loss.map_full;
	u32 half = lines > 10 ? (lines - 6) / 2 : 0;
	char span[16];

	buf_printf(out, "NVMe passthrough, last %s: failed %llu, refused %llu, CQ overflows %llu\n",
		   human_ns(span, sizeof(span), interval_ns), ULL(sum_of(&l->devices, false)),
		   ULL(sum_of(&l->devices, true)), ULL(l->overflows));
	buf_printf(out, "since start: seen %llu, stored %llu, filtered %llu, %slost %llu%s\n\n", ULL(l->loss.seen),
		   ULL(l->loss.stored), ULL(l->loss.filtered), color && lost ? "\033[31m" : "", ULL(lost),
		   color && lost ? "\033[0m" : "");
	text_table(out, &l->devices, "DEVICE", false, interval_ns, half, color);
	buf_byte(out, '\n');
	text_table(out, &l->processes, "PROCESS", true, interval_ns, half, color);
}

static void json_row(struct buf *out, const struct live_row *r, bool process, u64 interval_ns)
{
	buf_printf(out, "{\"%s\":%u,\"%s\":", process ? "pid" : "dev", r->id, process ? "comm" : "disk");
	buf_json(out, r->name, strlen(r->name));
	buf_printf(out,
		   ",\"reads\":%llu,\"writes\":%llu,\"others\":%llu,\"read_bytes\":%llu,\"write_bytes\":%llu,"
		   "\"failed\":%llu,\"refused\":%llu,\"in_flight\":%llu,\"objects_in_flight\":%llu,"
		   "\"busy_depth\":%.3f,\"busy_ns\":%llu,\"lat_n\":%llu,",
		   ULL(r->reads), ULL(r->writes), ULL(r->others), ULL(r->read_bytes), ULL(r->write_bytes),
		   ULL(r->failed), ULL(r->refused), ULL(r->in_flight), ULL(r->objects), live_busy_depth(r),
		   ULL(r->busy_ns), ULL(r->lat.n));
	if (r->lat.n)
		buf_printf(out, "\"lat_p50_ns\":%llu,\"lat_p99_ns\":%llu,", ULL(hist_percentile(&r->lat, 50)),
			   ULL(hist_percentile(&r->lat, 99)));
	else
		buf_lit(out, "\"lat_p50_ns\":null,\"lat_p99_ns\":null,");
	buf_printf(out, "\"verdict\":\"%s\"}", verdict_words[live_judge(r, interval_ns)]);
}

static void json_table(struct buf *out, const struct live_table *t, bool process, u64 interval_ns)
{
	const struct live_row **row = sorted(t);
	u32 i;

	buf_byte(out, '[');
	for (i = 0; row && i < t->n; i++) {
		if (i)
			buf_byte(out, ',');
		json_row(out, row[i], process, interval_ns);
	}
	buf_byte(out, ']');
	out->failed |= !row;
	free(row);
}

void top_json(struct buf *out, const struct live *l, u64 now_ns)
{
	u64 interval_ns = now_ns - MIN(l->since_ns, now_ns);

	buf_printf(out,
		   "{\"schema\":\"kvio_top\",\"schema_version\":1,\"ts_ns\":%llu,\"interval_ns\":%llu,"
		   "\"cq_overflows\":%llu,\"seen\":%llu,\"stored\":%llu,\"ring_full\":%llu,\"map_full\":%llu,"
		   "\"hook_missed\":%llu,\"filtered\":%llu,\"devices\":",
		   ULL(now_ns), ULL(interval_ns), ULL(l->overflows), ULL(l->loss.seen), ULL(l->loss.stored),
		   ULL(l->loss.ring_full), ULL(l->loss.map_full), ULL(l->loss.hook_missed), ULL(l->loss.filtered));
	json_table(out, &l->devices, false, interval_ns);
	buf_lit(out, ",\"processes\":");
	json_table(out, &l->processes, true, interval_ns);
	buf_lit(out, "}\n");
}
