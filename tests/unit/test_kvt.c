// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "capture/event.h"
#include "capture/kvt.h"
#include "capture/kvt_format.h"

#define N_EVENTS 20011u /* a prime, several blocks */

static char path[] = "/tmp/kvio-test-kvt-XXXXXX";

struct input {
	u8 *p;
	size_t n, at;
};

static ssize_t read_input(void *arg, void *buf, size_t n)
{
	struct input *in = arg;

	n = MIN(n, in->n - in->at);
	/* Short reads must not matter. */
	n = MIN(n, 1000u);
	memcpy(buf, in->p + in->at, n);
	in->at += n;
	return (ssize_t)n;
}

static struct ev_nvme command(u32 i)
{
	return (struct ev_nvme){ .kind = EV_NVME,
				 .opcode = 2,
				 .attempts = 1,
				 .ts_ns = 1000000 + i * 100ull,
				 .lat_ns = i,
				 .user_data = UINT64_MAX - i,
				 .slba = i * 8ull,
				 .bytes = 4096 };
}

static struct input write_file(u32 n, bool footer, bool busy)
{
	json_t *meta = json_pack("{s:s}", "emitter", "test"), *foot = json_pack("{s:i}", "stored", (int)n);
	struct input in = {};
	struct kvt_writer *w;
	u32 i;
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(kvt_writer_open(&w, fd, meta), 0);
	kvt_set_busy(w, busy);
	for (i = 0; i < n; i++) {
		struct ev_nvme c = command(i);

		assert_int_equal(kvt_write(w, &c, sizeof(c), c.ts_ns), 0);
		if (i % 1000 == 0) {
			struct ev_task t = { .kind = EV_TASK, .tid = i, .ts_ns = c.ts_ns };

			assert_int_equal(kvt_write(w, &t, sizeof(t), t.ts_ns), 0);
		}
	}
	assert_int_equal(kvt_writer_close(w, footer ? foot : NULL), 0);
	json_decref(meta);
	json_decref(foot);
	fd = open(path, O_RDONLY);
	in.n = (size_t)lseek(fd, 0, SEEK_END);
	in.p = malloc(in.n);
	assert_int_equal(pread(fd, in.p, in.n, 0), in.n);
	close(fd);
	unlink(path);
	return in;
}

struct seen {
	u32 commands, tasks, metas;
	bool complete;
	const char *defect;
	int ret;
};

/* Reads all of it, and checks that each command is the one that was written. */
static struct seen read_all(struct input *in)
{
	static char defect[96];
	struct kvt_reader *r = NULL;
	struct kvt_chunk c;
	struct seen s = {};
	u32 i;

	in->at = 0;
	s.ret = kvt_reader_open(&r, read_input, in);
	if (s.ret)
		return s;
	while ((s.ret = kvt_next(r, &c)) > 0) {
		s.metas += c.type == KVT_META;
		s.tasks += c.type == EV_TASK ? c.n : 0;
		if (c.type != EV_NVME)
			continue;
		assert_int_equal(c.record_bytes, sizeof(struct ev_nvme));
		for (i = 0; i < c.n; i++) {
			struct ev_nvme want = command(s.commands++), got;

			memcpy(&got, (const u8 *)c.records + i * sizeof(got), sizeof(got));
			assert_memory_equal(&got, &want, sizeof(got));
			assert_true(got.ts_ns >= c.first_ts_ns && got.ts_ns <= c.last_ts_ns);
		}
	}
	s.complete = kvt_complete(r);
	if (kvt_defect(r)) {
		strcpy(defect, kvt_defect(r));
		s.defect = defect;
	}
	kvt_reader_close(r);
	return s;
}

static void round_trip_keeps_every_record(void **state)
{
	int busy;

	(void)state;
	for (busy = 0; busy < 2; busy++) {
		struct input in = write_file(N_EVENTS, true, busy);
		struct seen s = read_all(&in);

		assert_int_equal(s.ret, 0);
		assert_int_equal(s.commands, N_EVENTS);
		assert_int_equal(s.tasks, 21);
		assert_int_equal(s.metas, 1);
		assert_true(s.complete);
		assert_null(s.defect);
		free(in.p);
	}
}

static void compressed_is_smaller(void **state)
{
	struct input packed = write_file(N_EVENTS, true, false), raw = write_file(N_EVENTS, true, true);

	(void)state;
	assert_true(packed.n * 2 < raw.n);
	free(packed.p);
	free(raw.p);
}

static void no_footer_is_incomplete(void **state)
{
	struct input in = write_file(N_EVENTS, false, false);
	struct seen s = read_all(&in);

	(void)state;
	assert_int_equal(s.commands, N_EVENTS);
	assert_false(s.complete);
	assert_non_null(strstr(s.defect, "no footer"));
	free(in.p);
}

static void cut_anywhere_opens_to_the_last_whole_block(void **state)
{
	struct input in = write_file(4999, true, false);
	size_t whole = in.n, n;
	u32 last = 0;

	(void)state;
	for (n = 0; n < whole; n += n < 400 || n + 400 > whole ? 1 : 97) {
		struct seen s;

		in.n = n;
		s = read_all(&in);
		if (n < sizeof(struct kvt_head)) {
			assert_int_equal(s.ret, -EBADMSG);
			continue;
		}
		assert_int_equal(s.ret, 0);
		assert_false(s.complete);
		assert_non_null(s.defect);
		assert_true(s.commands >= last);
		last = s.commands;
	}
	assert_int_equal(last, 4999);
	free(in.p);
}

static void any_flipped_bit_is_noticed(void **state)
{
	struct input in = write_file(4999, true, false);
	size_t i;

	(void)state;
	for (i = sizeof(struct kvt_head); i < in.n; i += 13) {
		struct seen s;

		in.p[i] ^= 0x10;
		s = read_all(&in);
		in.p[i] ^= 0x10;
		assert_true(s.ret == 0 && !s.complete && s.defect);
	}
	free(in.p);
}

static void wrong_magic_and_newer_major_are_refused(void **state)
{
	struct input in = write_file(1, true, false);

	(void)state;
	in.p[0] ^= 1;
	assert_int_equal(read_all(&in).ret, -EBADMSG);
	in.p[0] ^= 1;
	in.p[10]++;
	assert_int_equal(read_all(&in).ret, -EPROTONOSUPPORT);
	in.p[10]--;
	in.p[8]++; /* a newer minor is read */
	assert_true(read_all(&in).complete);
	free(in.p);
}

/* A block of n commands as version 1.0 has it, or a document, with this codec. */
static size_t put_block(u8 *out, enum kvt_block_type type, enum kvt_codec codec, const void *payload, u32 n, u16 record)
{
	struct kvt_block b = { .magic = KVT_BLOCK_MAGIC,
			       .type = (u8)type,
			       .codec = (u8)codec,
			       .record_bytes = record,
			       .raw = n,
			       .first_ts_ns = 0,
			       .last_ts_ns = UINT64_MAX };

	b.stored = n;
	if (codec == KVT_RAW)
		memcpy(out + sizeof(b), payload, n);
	else
		b.stored = (u32)ZSTD_compress(out + sizeof(b), ZSTD_compressBound(n), payload, n, 1);
	b.crc = kvt_crc(&b, out + sizeof(b));
	memcpy(out, &b, sizeof(b));
	return sizeof(b) + b.stored;
}

static struct input older_file(enum kvt_codec footer)
{
	struct kvt_head head = { .magic = KVT_MAGIC, .version = 0x00010000 };
	struct ev_nvme c[100];
	struct input in = { .p = malloc(1 << 16) };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(c); i++)
		c[i] = command(i);
	memcpy(in.p, &head, sizeof(head));
	in.n = sizeof(head);
	in.n += put_block(in.p + in.n, KVT_META, KVT_RAW, "{}", 2, 0);
	in.n += put_block(in.p + in.n, (enum kvt_block_type)EV_NVME, KVT_ZSTD, c, sizeof(c), sizeof(*c));
	in.n += put_block(in.p + in.n, KVT_FOOTER, footer, "{}", 2, 0);
	return in;
}

static void the_older_version_is_read(void **state)
{
	struct input in = older_file(KVT_ZSTD);
	struct seen s = read_all(&in);

	(void)state;
	assert_int_equal(s.commands, 100);
	assert_true(s.complete);
	free(in.p);
}

static void a_document_has_no_planes(void **state)
{
	struct input in = older_file(KVT_PLANES);
	struct seen s = read_all(&in);

	(void)state;
	assert_int_equal(s.commands, 100);
	assert_true(!s.complete && strstr(s.defect, "damaged block header"));
	free(in.p);
}

static void unknown_kind_is_refused_by_the_writer(void **state)
{
	json_t *meta = json_object();
	struct kvt_writer *w;
	u8 record[64] = { EV_KINDS };

	(void)state;
	assert_int_equal(kvt_writer_open(&w, open("/dev/null", O_WRONLY), meta), 0);
	assert_int_equal(kvt_write(w, record, sizeof(record), 0), -EINVAL);
	record[0] = 0;
	assert_int_equal(kvt_write(w, record, sizeof(record), 0), -EINVAL);
	assert_int_equal(kvt_writer_close(w, NULL), 0);
	json_decref(meta);
}

static void a_full_disk_is_an_error(void **state)
{
	json_t *meta = json_object();
	struct kvt_writer *w;
	int fd = open("/dev/full", O_WRONLY), ret;

	(void)state;
	assert_true(fd >= 0);
	ret = kvt_writer_open(&w, fd, meta);
	assert_int_equal(ret, -ENOSPC);
	json_decref(meta);
}

/* A device with room for so many bytes. */
struct room {
	size_t left;
};

static int take_bytes(void *arg, const void *data, size_t n)
{
	struct room *r = arg;

	(void)data;
	if (n > r->left)
		return -ENOSPC;
	r->left -= n;
	return 0;
}

static void records_in_whole_blocks_are_counted(void **state)
{
	struct room much = { SIZE_MAX }, little = { 300000 };
	json_t *meta = json_object();
	struct kvt_writer *w;
	u64 written = 0;
	int ret = 0;
	u32 i;

	(void)state;
	assert_int_equal(kvt_writer_open_on(&w, take_bytes, &much, meta), 0);
	kvt_count(w, &written);
	for (i = 0; i < N_EVENTS; i++) {
		struct ev_nvme c = command(i);

		kvt_write(w, &c, sizeof(c), c.ts_ns);
	}
	assert_true(written > 0 && written < N_EVENTS);
	assert_int_equal(kvt_writer_close(w, meta), 0);
	assert_int_equal(written, N_EVENTS);

	written = 0;
	assert_int_equal(kvt_writer_open_on(&w, take_bytes, &little, meta), 0);
	kvt_count(w, &written);
	kvt_set_busy(w, true); /* blocks as they are: their size is known */
	for (i = 0; i < N_EVENTS && !ret; i++) {
		struct ev_nvme c = command(i);

		ret = kvt_write(w, &c, sizeof(c), c.ts_ns);
	}
	assert_int_equal(ret, -ENOSPC);
	assert_int_equal(kvt_writer_close(w, NULL), -ENOSPC);
	assert_true(written > 0 && written < i);
	assert_true(written <= 300000 / sizeof(struct ev_nvme));
	json_decref(meta);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_in_whole_blocks_are_counted),
		cmocka_unit_test(round_trip_keeps_every_record),
		cmocka_unit_test(compressed_is_smaller),
		cmocka_unit_test(no_footer_is_incomplete),
		cmocka_unit_test(cut_anywhere_opens_to_the_last_whole_block),
		cmocka_unit_test(any_flipped_bit_is_noticed),
		cmocka_unit_test(wrong_magic_and_newer_major_are_refused),
		cmocka_unit_test(the_older_version_is_read),
		cmocka_unit_test(a_document_has_no_planes),
		cmocka_unit_test(unknown_kind_is_refused_by_the_writer),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
