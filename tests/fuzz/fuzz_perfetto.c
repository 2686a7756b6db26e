// SPDX-License-Identifier: Apache-2.0
/*
 * The timeline of whatever was read, and read back: everything is drawn, no
 * slice is open or nested, and an importer would drop nothing.  The first four
 * bytes are options; of the first, bit 0 says that the rest is text, otherwise
 * each byte is a word of captures, so that records are found without a corpus.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/buf.h"
#include "model/filter.h"
#include "model/pftrace.h"
#include "out/perfetto_summary.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void expect(bool ok)
{
	if (!ok)
		abort();
}

/* Parts of records; a byte that is no word is the digit of a number. */
static const char *const words[] = {
	"}\n{\"event_type\":\"nvme_cmd\",\"op_name\":\"read\",\"nvme_opcode\":2,\"ts\":1",
	"}\n{\"event_type\":\"nvme_cmd\",\"op_name\":\"write\",\"nvme_opcode\":1,\"disk\":\"nvme0n1\",\"ts\":1",
	"}\n{\"event_type\":\"nvme_cmd\",\"op_name\":\"store\",\"key_hex\":\"6b\",\"value_len\":9,\"ts\":1",
	"}\n{\"event_type\":\"nvme_cmp\",\"ts\":1",
	"}\n{\"op\":\"store\",\"key\":\"m@f@0@0123456789abcdef\",\"bytes\":4096,\"ts\":0.0000001",
	"}\n{\"op\":\"load\",\"key\":\"k\",\"bytes\":8192,\"error\":\"e\",\"ts\":0.0000001",
	"}\n{\"op\":\"prefill\",\"ts\":0.0000001",
	"}\n{\"event_type\":\"cq_overflow\",\"ts\":1",
	"}\n{\"event_type\":\"clock_anchor\",\"monotonic_ns\":1",
	"}\n{\"event_type\":\"drops\",\"dropped\":",
	"}\n{\"event_type\":\"loss\",\"ts\":1",
	"}\n{\"event_type\":\"kvio_meta\",\"hostname\":\"h\",\"header_bytes\":512,\"block_align\":512",
	",\"user_data\":4294967297",
	",\"user_data\":8589934593",
	",\"trace_id\":1",
	",\"trace_id\":2",
	",\"lat_ns\":",
	",\"ts_start\":0.00000000",
	",\"ts_start\":0.00",
	",\"ts\":",
	",\"slba\":",
	",\"nlb\":8,\"data_len\":4096",
	",\"nlb\":1,\"data_len\":512",
	",\"slot_offset\":",
	",\"disk\":\"nvme1n1\"",
	",\"disk\":\"nvme0c1n1\"",
	",\"rdev\":",
	",\"hwq\":1,\"cid\":",
	",\"in_flight\":true",
	",\"refused\":true",
	",\"status\":",
	",\"err\":5",
	",\"attempts\":3",
	",\"wait_ns\":",
	",\"tokens\":",
	",\"request_id\":\"q\"",
	",\"realtime_ns\":1000000000000000000",
	",\"realtime_ns\":",
	",\"ring_full\":",
	",\"uncertainty_ns\":50",
	",\"instance\":\"i\",\"pid\":7",
	",\"part\":\"\\u00e9\xff\"",
	"000000",
	"00",
	"18446744073709551615",
	"9223372036854775807",
};

static void fill(struct buf *text, const u8 *data, size_t size)
{
	size_t i;

	buf_byte(text, '{');
	for (i = 0; i < size && text->n < 1 << 20; i++) {
		if (data[i] < 2 * ARRAY_SIZE(words))
			buf_str(text, words[data[i] / 2]);
		else
			buf_byte(text, (char)('0' + data[i] % 10));
	}
	buf_byte(text, '}');
}

#define MOST_PIECES 64

struct pieces {
	int fd[MOST_PIECES];
	u32 n;
};

static int open_piece(void *arg, u32 piece, struct zout **z)
{
	struct pieces *p = arg;
	int fd;

	if (p->n == MOST_PIECES)
		return -1;
	expect(piece == p->n + 1);
	fd = memfd_create("piece", MFD_CLOEXEC);
	p->fd[p->n++] = fd;
	return zout_open_live(z, dup(fd), "piece");
}

/* Reads a piece back as an importer does; returns the slices in it. */
static u64 read_back(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	const struct pf_counts *c;
	struct pftrace t;
	u64 n = 0;
	u32 i;

	expect(p != MAP_FAILED);
	expect(!pftrace_init(&t, 0) && !pftrace_feed(&t, p, (size_t)size) && !pftrace_finish(&t));
	munmap(p, (size_t)size);
	c = &t.count;
	expect(!c->malformed && !c->foreign && !c->no_state && !c->no_name && !c->no_clock && !c->before_zero);
	expect(!c->no_track && !c->wrong_track && !c->stray_ends && !c->too_deep && !c->cut);
	for (i = 0; i < t.slice.n; i++) {
		/* Instants of one time are within each other. */
		expect(t.slice.dur[i] >= 0 && (!t.slice.depth[i] || !t.slice.dur[i]));
		n += t.slice.dur[i] > 0;
	}
	pftrace_free(&t);
	return n;
}

static void draw(const struct model *m, const u8 *how)
{
	const struct perfetto_arm arms[] = { { m, "a", "sem", NULL }, { m, "b", NULL, "dev" } };
	u32 n_arms = 1 + (how[1] & 1), i;
	const struct perfetto_options o = {
		.no_rebase = how[1] & 2,
		.no_slba = how[1] & 4,
		.redact = how[1] & 8,
		.align_realtime = how[1] & 16 && m->n_anchors,
		.nominal_ns = how[2] & 1 ? 1 : 0,
		.slice_budget = how[1] & 32 ? how[3] : 0,
		.detail = how[2] & 4 ? DETAIL_LEAN : DETAIL_FULL,
	};
	struct pieces p = {};
	struct perfetto_out out = { .split_bytes = how[1] & 64 ? 20000u : 0, .open = open_piece, .arg = &p };
	struct perfetto_stats stats[2];
	struct perfetto_result r = { .arms = arms, .stats = stats, .n = n_arms, .o = &o };
	u64 drawn = 0, back = 0;
	struct buf b = {};

	if (!perfetto_write_pieces(&out, arms, n_arms, &o, stats)) {
		expect(!(perfetto_verdict(&r, false) & PERFETTO_MISMATCH));
		perfetto_summary_text(&b, &r);
		perfetto_summary_json(&b, &r);
		expect(!b.failed);
		for (i = 0; i < n_arms; i++)
			drawn += stats[i].commands.slices;
		for (i = 0; i < p.n; i++)
			back += read_back(p.fd[i]);
		expect(back >= drawn);
	} else {
		expect(p.n == MOST_PIECES);
	}
	buf_free(&b);
	while (p.n)
		close(p.fd[--p.n]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct join_options join = {};
	struct buf text = {};
	struct model m;

	if (size < 4)
		return 0;
	join.kind = (enum join_kind)(data[0] >> 1 & 7) % (JOIN_OFFSET + 1);
	if (data[0] & 1)
		buf_add(&text, data + 4, size - 4);
	else
		fill(&text, data + 4, size - 4);
	model_init(&m);
	if (!model_load_text(&m, text.p, text.n)) {
		expect(!model_finish(&m) && !model_join(&m, &join));
		if (data[2] & 2) {
			struct filter f = { .has_window = true, .from_ns = data[3], .to_ns = data[3] * 4u };

			expect(!model_cut(&m, &f));
		}
		draw(&m, data);
	}
	model_free(&m);
	buf_free(&text);
	return 0;
}
