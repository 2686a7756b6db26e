// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a capture, through filters and every writer, from memory; and
 * what became records comes back from .kvt and from lines.  After an odd first
 * byte the input is what it is; after an even one each byte is a word of
 * captures, so that records are found without a corpus.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/feed.h"
#include "capture/jsonl_write.h"
#include "capture/kvt.h"
#include "capture/meta.h"
#include "capture/sink.h"
#include "lib/hash.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void expect(bool ok)
{
	if (!ok)
		abort();
}

struct bytes {
	const char *p;
	size_t n;
};

static ssize_t read_bytes(void *arg, void *buf, size_t n)
{
	struct bytes *in = arg;

	n = MIN(n, in->n);
	if (!n)
		return 0;
	memcpy(buf, in->p, n);
	in->p += n;
	in->n -= n;
	return (ssize_t)n;
}

static int write_bytes(void *arg, const void *data, size_t n)
{
	buf_add(arg, data, n);
	return 0;
}

static struct strpool disks;

static struct stream *open_bytes(const struct buf *b, struct bytes *in, enum fold_mode fold)
{
	const struct stream_options o = { .fold = fold, .disks = &disks };
	struct stream *s = NULL;

	*in = (struct bytes){ b->p, b->n };
	expect(!stream_open_bytes(&s, read_bytes, in, &o));
	return s;
}

/* What a capture holds, in whatever order. */
struct content {
	struct buf records; /* a hash each, u64 */
	u64 n_lines;	    /* that are told, as text or by a record; not those of names */
	u64 text;	    /* sum of hashes of lines */
};

static void add(struct content *x, const struct item *it)
{
	bool name = it->kind == ITEM_TASK || it->kind == ITEM_DISK;
	u64 hash;

	if (it->record) {
		hash = hash_bytes(it->record, it->size);
		buf_add(&x->records, &hash, sizeof(hash));
		x->n_lines += name ? 0 : item_is_command(it) && !it->in_flight ? 2 : 1;
	} else if (it->line.p && it->kind != ITEM_META && it->kind != ITEM_FOOTER) {
		x->text += hash_bytes(it->line.p, it->line.n);
		x->text += it->completion.n ? hash_bytes(it->completion.p, it->completion.n) : 0;
		x->n_lines += it->completion.n ? 2 : 1;
	}
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* True when all records of x are in y as well. */
static bool includes(struct content *y, struct content *x)
{
	const u64 *p = (const u64 *)x->records.p, *q = (const u64 *)y->records.p;
	size_t n = x->records.n / 8, m = y->records.n / 8, i = 0, k = 0;

	if (!n)
		return true;
	if (!m)
		return false;
	qsort(x->records.p, n, 8, by_value);
	qsort(y->records.p, m, 8, by_value);
	while (i < n && k < m) {
		i += p[i] == q[k];
		k++;
	}
	return i == n;
}

/* Into every writer, with and without filters. */
static void write_all(const struct buf *text, enum sink_format format, u32 filter)
{
	const struct sink_options o = { .path = "/dev/null", .format = format, .several = filter & 1 };
	enum fold_mode fold = format == SINK_KVT ? FOLD_RECORDS : format == SINK_CSV ? FOLD_PAIRS : FOLD_NOT;
	struct select *select = select_new();
	struct account account = {};
	struct numbers none = {};
	struct bytes in;
	struct stream *s = open_bytes(text, &in, fold);
	struct sink *sink;
	struct item it;
	json_t *footer;

	if (filter & 2)
		select_object(select, "1");
	if (filter & 4)
		select_op(select, "read");
	if (filter & 8)
		select_device(select, "nvme0n1");
	if (filter & 16)
		select_pid(select, "7");
	if (filter & 32)
		select_to(select, "5ns");
	if (filter & 64)
		select_kind(select, "nvme");
	expect(!sink_open(&sink, &o));
	while (stream_next(s, &it) > 0) {
		int keep = select_item(select, &it);

		expect(keep >= 0 && !account_take(&account, &it, !keep));
		if (keep && it.kind != ITEM_FOOTER)
			expect(!sink_put(sink, &it, "x"));
	}
	footer = account_footer(&account, 1, !(filter & 126), &none, 0, sink_counts(sink));
	expect(!sink_close(sink, footer));
	json_decref(footer);
	account_free(&account);
	select_free(select);
	stream_close(s);
}

static void copy_to_kvt(const struct buf *text, struct buf *file, struct content *x)
{
	json_t *meta = json_pack("{s:s}", "event_type", "capture_meta");
	struct kvt_writer *w;
	struct bytes in;
	struct stream *s = open_bytes(text, &in, FOLD_RECORDS);
	struct item it;

	expect(!kvt_writer_open_on(&w, write_bytes, file, meta));
	while (stream_next(s, &it) > 0) {
		add(x, &it);
		if (it.record)
			expect(!kvt_write_foreign(w, it.record, it.size, event_time(it.record)));
		else if (it.kind == ITEM_META)
			expect(!kvt_write_meta(w, it.doc));
		else if (it.kind != ITEM_FOOTER)
			expect(!kvt_write_line(w, it.line.p, it.line.n, 0));
		if (it.completion.n)
			expect(!kvt_write_line(w, it.completion.p, it.completion.n, 0));
	}
	stream_close(s);
	expect(!kvt_writer_close(w, meta));
	json_decref(meta);
}

static void copy_to_lines(const struct buf *file, struct buf *lines, struct content *x)
{
	struct bytes in;
	struct stream *s = open_bytes(file, &in, FOLD_NOT);
	struct item it;
	char *doc;

	while (stream_next(s, &it) > 0) {
		add(x, &it);
		if (it.record) {
			jsonl_record(lines, it.record, it.size, it.names);
		} else if (it.kind == ITEM_META && !meta_is_empty(it.doc)) {
			doc = json_dumps(it.doc, JSON_COMPACT);
			buf_str(lines, doc);
			buf_byte(lines, '\n');
			free(doc);
		} else if (it.line.p) {
			buf_add(lines, it.line.p, it.line.n);
			buf_byte(lines, '\n');
		}
	}
	expect(!stream_info(s)->malformed && !stream_info(s)->defect);
	stream_close(s);
}

/*
 * Text to .kvt to text to .kvt.  The first file has all that became records
 * and all other lines; the second has the same records.  It may have more,
 * where a name that was not known then is known now.
 */
static void round_trip(const struct buf *text)
{
	struct content folded = {}, stored = {}, again = {};
	struct buf file = {}, lines = {}, file2 = {};

	copy_to_kvt(text, &file, &folded);
	copy_to_lines(&file, &lines, &stored);
	expect(folded.records.n == stored.records.n && includes(&stored, &folded));
	expect(folded.n_lines == stored.n_lines && folded.text == stored.text);
	copy_to_kvt(&lines, &file2, &again);
	expect(includes(&again, &folded) && folded.n_lines == again.n_lines);
	buf_free(&folded.records);
	buf_free(&stored.records);
	buf_free(&again.records);
	buf_free(&file);
	buf_free(&lines);
	buf_free(&file2);
}

/* A record in one word, or its members one by one; no word is the byte itself. */
static const char *const words[128] = {
	"}\n{\"event_type\":\"nvme_cmd\",\"ts\":100,\"user_data\":1,\"nvme_opcode\":2,\"slba\":1,\"nlb\":1,\"data_len\":512",
	"}\n{\"event_type\":\"nvme_cmd\",\"ts\":101,\"user_data\":4294967297,\"nvme_opcode\":1,\"slba\":1,\"nlb\":2,"
	"\"bytes\":8192,\"data_len\":8192,\"rdev\":9,\"pid\":7,\"tid\":8,\"comm\":\"fio\"",
	"}\n{\"event_type\":\"nvme_cmd\",\"ts\":102,\"disk\":\"nvme0n1\",\"hwq\":1,\"cid\":1,\"nvme_opcode\":2,\"slba\":1,"
	"\"nlb\":1,\"bytes\":512,\"data_len\":512",
	"}\n{\"event_type\":\"nvme_cmd\",\"ts\":103,\"user_data\":2,\"dev\":5,\"disk\":\"nvme1n1\",\"hwq\":1,\"cid\":1,"
	"\"nvme_opcode\":0,\"data_len\":0,\"tid\":8,\"pid\":7",
	"}\n{\"event_type\":\"nvme_cmd\",\"ts\":104,\"user_data\":3,\"nvme_opcode\":2,\"key_hex\":\"6b30\",\"key_len\":2,"
	"\"value_len\":9,\"data_len\":9",
	"}\n{\"event_type\":\"nvme_cmp\",\"user_data\":1,\"lat_ns\":10,\"ts\":110",
	"}\n{\"event_type\":\"nvme_cmp\",\"user_data\":4294967297,\"lat_ns\":9,\"ts\":110,\"err\":0",
	"}\n{\"event_type\":\"nvme_cmp\",\"hwq\":1,\"cid\":1,\"lat_ns\":8,\"ts\":110,\"status\":0",
	"}\n{\"event_type\":\"nvme_cmp\",\"user_data\":2,\"lat_ns\":7,\"ts\":110,\"hwq\":1,\"cid\":1,\"dev\":5",
	"}\n{\"event_type\":\"nvme_cmp\",\"user_data\":3,\"lat_ns\":6,\"ts\":110",
	"}\n{\"event_type\":\"task\",\"tid\":8,\"pid\":7,\"ts\":50,\"comm\":\"fio\"",
	"}\n{\"event_type\":\"task\",\"tid\":8,\"pid\":7,\"ts\":103,\"comm\":\"a\\u0000\\u00ff\"",
	"}\n{\"event_type\":\"disk\",\"dev\":5,\"nsid\":1,\"csi\":0,\"lba_bytes\":512,\"ms\":8,\"name\":\"nvme1n1\"",
	"}\n{\"event_type\":\"capture_meta\",\"devices\":[{\"dev\":5,\"rdev\":9,\"paths\":[\"nvme1n1\"]}]",
	"}\n{\"event_type\":\"capture_meta\",\"synthetic\":true,\"devices\":[{\"dev\":9,\"rdev\":9,\"typed_lba_bytes\":4096}]",
	"}\n{\"event_type\":\"cq_overflow\",\"ts\":5,\"user_data\":1,\"res\":-5",
	"}\n{\"event_type\":\"clock_anchor\",\"monotonic_ns\":1,\"realtime_ns\":2",
	"}\n{\"event_type\":\"loss\",\"ts\":5,\"seen\":9,\"stored\":9,\"ring_full\":0,\"map_full\":0,\"hook_missed\":0,"
	"\"filtered\":0",
	"}\n{\"event_type\":\"footer\",\"complete\":true,\"seen\":3",
	"}\n{\"event_type\":\"drops\",\"dropped\":1",
	"}\n{\"event_type\":\"kvt_record\",\"kind\":99,\"ts\":5,\"record\":\"63000000000000000500000000000000\"",
	"}\n{\"event_type\":\"kvio_meta\"",
	"}\n{\"trace_id\":1,\"op\":\"store\",\"key\":\"k\",\"ts\":0.0000001",
	"}\n{\"ts_start\":0.1,\"ts\":0.2",
	"}\n{\"event_type\":\"intent\",\"pid\":7,\"ts\":5",
	",\"record\":\"01\"",
	",\"record\":\"0101020100000000640000000000000000\"",
	",\"tid\":9",
	",\"pid\":6",
	",\"comm\":\"fio\"",
	",\"comm\":\"\xc3\xa9\\u00e9\"",
	",\"comm\":\"12345678901234567\"",
	",\"op_name\":\"read\"",
	",\"op_name\":\"admin\"",
	",\"dev\":5",
	",\"dev\":9",
	",\"rdev\":9",
	",\"rdev\":8",
	",\"nsid\":1",
	",\"disk\":\"\"",
	",\"disk\":\"nvme1n1\"",
	",\"hwq\":65535",
	",\"attempts\":0",
	",\"wait_ns\":5",
	",\"refused\":true",
	",\"in_flight\":true",
	",\"age_ns\":5",
	",\"multipath\":1",
	",\"cmd_op\":\"0xc0484e81\"",
	",\"status\":5",
	",\"err\":5",
	",\"bytes\":4096",
	",\"bytes\":512",
	",\"ts\":99",
	",\"lat_ns\":-1",
	",\"x\":[{}]",
	"}\r\n\r\n{\"y\":1",
	"}\nts_ns,lat_ns,comm\n",
	"5,1,\"a\"\"b\"\n",
};

static void expand(struct buf *b, const u8 *data, size_t size)
{
	size_t i;

	buf_lit(b, "{\"x\":1");
	for (i = 0; i < size; i++)
		if (data[i] < ARRAY_SIZE(words) && words[data[i]])
			buf_str(b, words[data[i]]);
		else
			buf_byte(b, (char)data[i]);
	buf_lit(b, "}");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct buf text = {};

	if (size < 2)
		return 0;
	if (data[0] & 1)
		buf_add(&text, data + 2, size - 2);
	else
		expand(&text, data + 2, size - 2);
	switch (data[0] >> 1 & 3) {
	case 0:
		write_all(&text, SINK_JSONL, data[1]);
		break;
	case 1:
		write_all(&text, SINK_CSV, data[1]);
		break;
	case 2:
		write_all(&text, SINK_KVT, data[1]);
		break;
	default:
		round_trip(&text);
	}
	buf_free(&text);
	strpool_free(&disks);
	memset(&disks, 0, sizeof(disks));
	return 0;
}
