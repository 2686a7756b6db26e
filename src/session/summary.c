// SPDX-License-Identifier: Apache-2.0
#include "session/summary.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/cache.h"
#include "capture/record.h"
#include "lib/human.h"
#include "lib/jsonutil.h"
#include "session/session.h"

#define PAGE_BYTES ((u64)sysconf(_SC_PAGESIZE))

u64 summary_lost(const struct recorder_totals *t)
{
	struct ev_loss sum = recorder_loss(t);

	return sum.ring_full + sum.map_full + sum.hook_missed + sum.unread;
}

u64 summary_unwritten(const struct recorder_totals *t)
{
	return t->records - MIN(t->in_file, t->records);
}

u64 summary_events(const struct recorder_totals *t)
{
	return t->count[EV_NVME] + t->count[EV_NVME_KV] + t->count[EV_SYSCALL] + t->count[EV_URING] +
	       t->loss[EV_WITNESS_MMAP].stored;
}

static void row(struct buf *b, const char *what, u64 n, u64 bytes)
{
	char size[32];

	buf_printf(b, "  %-12s %10llu   %s\n", what, ULL(n), human_bytes(size, sizeof(size), bytes));
}

static void commands(struct buf *b, const struct recorder_totals *t)
{
	char p50[32], p99[32], max[32];

	row(b, "reads", t->reads, t->read_bytes);
	row(b, "writes", t->writes, t->write_bytes);
	if (t->others)
		buf_printf(b, "  %-12s %10llu\n", "other", ULL(t->others));
	if (t->lat.n)
		buf_printf(b, "  latency    p50 %s   p99 %s   max %s   of %llu good\n",
			   human_ns(p50, sizeof(p50), hist_percentile(&t->lat, 50)),
			   human_ns(p99, sizeof(p99), hist_percentile(&t->lat, 99)),
			   human_ns(max, sizeof(max), t->lat.max), ULL(t->lat.n));
	buf_printf(b, "  failed %llu, refused before the device %llu, re-issued %llu, CQ overflows %llu\n",
		   ULL(t->failed), ULL(t->refused), ULL(t->reissued), ULL(t->count[EV_CQ_OVERFLOW]));
}

static void calls(struct buf *b, const struct recorder_totals *t)
{
	row(b, "call reads", t->call_reads, t->call_read_bytes);
	row(b, "call writes", t->call_writes, t->call_write_bytes);
	buf_printf(b, "  %-12s %10llu   failed %llu\n", "calls", ULL(t->count[EV_SYSCALL]), ULL(t->calls_failed));
}

static void requests(struct buf *b, const struct recorder_totals *t)
{
	row(b, "uring reads", t->request_reads, t->request_read_bytes);
	row(b, "uring writes", t->request_writes, t->request_write_bytes);
	buf_printf(b, "  %-12s %10llu   failed %llu\n", "requests", ULL(t->count[EV_URING]), ULL(t->requests_failed));
}

/* Pages that were used: a number where it is exact, else what it lies between. */
static void footprint(struct buf *b, const struct ev_cache *c)
{
	char least[32], most[32];

	human_bytes(least, sizeof(least), c->touched_pages * PAGE_BYTES);
	human_bytes(most, sizeof(most), c->mapped_pages * PAGE_BYTES);
	if (c->flags & CACHE_TOUCHED_ONLY)
		buf_printf(b, "  %-12s at least %s in %llu pages\n", "footprint", least, ULL(c->touched_pages));
	else if (c->touched_pages == c->mapped_pages)
		buf_printf(b, "  %-12s %s in %llu pages\n", "footprint", least, ULL(c->touched_pages));
	else
		buf_printf(b, "  %-12s %s to %s: %llu pages were used, up to %llu may have been\n", "footprint", least,
			   most, ULL(c->touched_pages), ULL(c->mapped_pages));
}

static void faults(struct buf *b, const struct recorder_totals *t)
{
	const struct ev_cache *c = &t->files_sum;

	buf_printf(b, "  %-12s %10llu   minor %llu, major %llu, failed %llu; %llu attempts made again\n", "faults",
		   ULL(c->faults), ULL(c->minor), ULL(c->major), ULL(c->failed), ULL(c->retries));
	footprint(b, c);
	row(b, "page cache", c->fills - MIN(c->written_fills, c->fills), cache_came_pages(c) * PAGE_BYTES);
	if (c->written_fills)
		row(b, "  by writes", c->written_fills, c->written_pages * PAGE_BYTES);
	row(b, "readahead", c->ra_calls, c->ra_pages * PAGE_BYTES);
	row(b, "direct reads", c->direct_reads, c->direct_read_bytes);
	row(b, "direct writes", c->direct_writes, c->direct_write_bytes);
	row(b, "block reads", t->block_reads, t->block_read_bytes);
	row(b, "block writes", t->block_writes, t->block_write_bytes);
}

static void account(struct buf *b, const struct recorder_totals *t, u8 w, bool named)
{
	const struct ev_loss *e = &t->loss[w];

	buf_printf(b, "  %s%sseen %llu = stored %llu + in flight %llu + filtered %llu + lost %llu\n",
		   named ? event_witness_name(w) : "", named ? ": " : "", ULL(e->seen), ULL(e->stored),
		   ULL(t->in_flight_of[w]), ULL(e->filtered), ULL(e->ring_full + e->map_full + e->unread));
}

void summary_text(struct buf *b, const struct recorder_totals *t, const char *path, u64 file_bytes)
{
	static const struct {
		const char *what;
		void (*print)(struct buf *b, const struct recorder_totals *t);
	} parts[EV_WITNESSES] = {
		[EV_WITNESS_NVME] = { "command", commands },
		[EV_WITNESS_SYSCALL] = { "call", calls },
		[EV_WITNESS_URING] = { "io_uring request", requests },
		[EV_WITNESS_MMAP] = { "page fault", faults },
	};
	const u64 n[EV_WITNESSES] = {
		[EV_WITNESS_NVME] = t->count[EV_NVME] + t->count[EV_NVME_KV],
		[EV_WITNESS_SYSCALL] = t->count[EV_SYSCALL],
		[EV_WITNESS_URING] = t->count[EV_URING],
		[EV_WITNESS_MMAP] = t->files_sum.faults,
	};
	char span[32], size[32];
	u32 ran = 0, i;

	buf_str(b, "kvio record: ");
	for (i = 0; i < EV_WITNESSES; i++)
		if (t->loss[i].kind)
			buf_printf(b, "%s%llu %s%s", ran++ ? ", " : "", ULL(n[i]), parts[i].what, n[i] == 1 ? "" : "s");
	buf_printf(b, " in %s -> %s (%s)\n", human_ns(span, sizeof(span), t->ended_ns - t->started_ns),
		   strcmp(path, "-") ? path : "standard output", human_bytes(size, sizeof(size), file_bytes));
	for (i = 0; i < EV_WITNESSES; i++)
		if (t->loss[i].kind)
			parts[i].print(b, t);
	for (i = 0; i < EV_WITNESSES; i++)
		if (t->loss[i].kind)
			account(b, t, (u8)i, ran > 1);
}

static void set_faults(json_t *f, const struct recorder_totals *t)
{
	const struct ev_cache *c = &t->files_sum;

	json_set_u64(f, "files", t->files);
	json_set_u64(f, "faults", c->faults);
	json_set_u64(f, "minor", c->minor);
	json_set_u64(f, "major", c->major);
	json_set_u64(f, "faults_failed", c->failed);
	json_set_u64(f, "fault_retries", c->retries);
	json_set_u64(f, "page_bytes", PAGE_BYTES);
	json_set_u64(f, "touched_pages", c->touched_pages);
	if (!(c->flags & CACHE_TOUCHED_ONLY))
		json_set_u64(f, "mapped_pages", c->mapped_pages);
	json_set_u64(f, "fills", c->fills);
	json_set_u64(f, "fill_pages", c->fill_pages);
	if (!(c->flags & CACHE_NO_WRITTEN))
		json_set_u64(f, "written_pages", c->written_pages);
	json_set_u64(f, "readaheads", c->ra_calls);
	json_set_u64(f, "readahead_pages", c->ra_pages);
	json_set_u64(f, "direct_reads", c->direct_reads);
	json_set_u64(f, "direct_read_bytes", c->direct_read_bytes);
	json_set_u64(f, "direct_writes", c->direct_writes);
	json_set_u64(f, "direct_write_bytes", c->direct_write_bytes);
	json_set_u64(f, "block_reads", t->block_reads);
	json_set_u64(f, "block_read_bytes", t->block_read_bytes);
	json_set_u64(f, "block_writes", t->block_writes);
	json_set_u64(f, "block_write_bytes", t->block_write_bytes);
}

int summary_print_json(const struct recorder_totals *t, enum recorder_end end, const char *path, FILE *to)
{
	json_t *f = session_footer(t, end);

	json_set_str(f, "event_type", "record_summary");
	json_set_u64(f, "schema_version", 1);
	json_set_str(f, "file", path);
	json_set_u64(f, "records", t->records);
	json_set_u64(f, "unwritten", summary_unwritten(t));
	json_set_u64(f, "reads", t->reads);
	json_set_u64(f, "read_bytes", t->read_bytes);
	json_set_u64(f, "writes", t->writes);
	json_set_u64(f, "write_bytes", t->write_bytes);
	json_set_u64(f, "failed", t->failed);
	json_set_u64(f, "refused", t->refused);
	json_set_u64(f, "reissued", t->reissued);
	json_set_u64(f, "lat_n", t->lat.n);
	json_set_u64(f, "lat_p50_ns", hist_percentile(&t->lat, 50));
	json_set_u64(f, "lat_p99_ns", hist_percentile(&t->lat, 99));
	json_set_u64(f, "call_reads", t->call_reads);
	json_set_u64(f, "call_read_bytes", t->call_read_bytes);
	json_set_u64(f, "call_writes", t->call_writes);
	json_set_u64(f, "call_write_bytes", t->call_write_bytes);
	json_set_u64(f, "calls_failed", t->calls_failed);
	json_set_u64(f, "uring_reads", t->request_reads);
	json_set_u64(f, "uring_read_bytes", t->request_read_bytes);
	json_set_u64(f, "uring_writes", t->request_writes);
	json_set_u64(f, "uring_write_bytes", t->request_write_bytes);
	json_set_u64(f, "uring_failed", t->requests_failed);
	if (t->loss[EV_WITNESS_MMAP].kind)
		set_faults(f, t);
	json_dumpf(f, to, JSON_COMPACT);
	json_decref(f);
	return putc('\n', to) == EOF ? -EIO : 0;
}
