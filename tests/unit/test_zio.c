// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "lib/buf.h"
#include "lib/zio.h"

static char dir[] = "/tmp/kvio-test-zio-XXXXXX";
static char path_text[128];

/* A path in the test's directory; one at a time. */
static const char *path(const char *name)
{
	snprintf(path_text, sizeof(path_text), "%s/%s", dir, name);
	return path_text;
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char cmd[160];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

/* Text that does not repeat soon, a prime number of bytes. */
static char *sample(size_t n)
{
	char *p = malloc(n);
	u32 x = 1;
	size_t i;

	assert_non_null(p);
	for (i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (char)('a' + (x >> 28));
	}
	return p;
}

static void put_file(const char *name, const void *data, size_t n)
{
	int fd = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), (ssize_t)n);
	close(fd);
}

static void get_file(const char *name, struct buf *b)
{
	char chunk[4096];
	ssize_t n;
	int fd = open(path(name), O_RDONLY);

	assert_true(fd >= 0);
	buf_reset(b);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(b, chunk, (size_t)n);
	close(fd);
}

/* Reads all of an open stream in pieces of `piece` bytes. */
static void drain(struct zin *z, struct buf *b, size_t piece)
{
	char chunk[70000];
	ssize_t n;

	buf_reset(b);
	while ((n = zin_read(z, chunk, piece)) > 0)
		buf_add(b, chunk, (size_t)n);
	assert_int_equal(n, 0);
	assert_int_equal(zin_read(z, chunk, piece), 0);
}

static void read_name(const char *name, struct buf *b, enum zio_codec *codec, const char **defect)
{
	struct zin *z;

	assert_int_equal(zin_open(&z, path(name)), 0);
	drain(z, b, 70000);
	*codec = zin_codec(z);
	*defect = zin_defect(z);
	zin_close(z);
}

static size_t gzip_of(const void *data, size_t n, u8 *out, size_t cap)
{
	z_stream s = { .next_in = (Bytef *)data, .avail_in = (uInt)n, .next_out = out, .avail_out = (uInt)cap };

	assert_int_equal(deflateInit2(&s, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
	deflateEnd(&s);
	return cap - s.avail_out;
}

static size_t zstd_of(const void *data, size_t n, u8 *out, size_t cap)
{
	size_t got = ZSTD_compress(out, cap, data, n, 1);

	assert_false(ZSTD_isError(got));
	return got;
}

static void what_is_written_is_read_back(void **state)
{
	static const struct {
		const char *name;
		enum zio_codec how, want;
	} cases[] = {
		{ "a.jsonl", ZIO_BY_NAME, ZIO_PLAIN }, { "a.gz", ZIO_BY_NAME, ZIO_GZIP },
		{ "a.zst", ZIO_BY_NAME, ZIO_ZSTD },    { "b.gz", ZIO_PLAIN, ZIO_PLAIN },
		{ "b", ZIO_GZIP, ZIO_GZIP },	       { "c", ZIO_ZSTD, ZIO_ZSTD },
	};
	static const size_t sizes[] = { 0, 1, 3, 65537, 1048573 };
	struct buf b = {};
	size_t c, s, at;

	(void)state;
	for (c = 0; c < ARRAY_SIZE(cases); c++)
		for (s = 0; s < ARRAY_SIZE(sizes); s++) {
			char *data = sample(sizes[s] + 1);
			enum zio_codec codec;
			const char *defect;
			struct zout *z;

			assert_int_equal(zout_open(&z, path(cases[c].name), cases[c].how), 0);
			for (at = 0; at < sizes[s]; at += 7919)
				assert_int_equal(zout_write(z, data + at, MIN(sizes[s] - at, (size_t)7919)), 0);
			assert_int_equal(zout_close(z), 0);
			read_name(cases[c].name, &b, &codec, &defect);
			assert_int_equal(b.n, sizes[s]);
			assert_true(!b.n || !memcmp(b.p, data, b.n));
			assert_null(defect);
			assert_int_equal(codec, cases[c].want);
			free(data);
		}
	buf_free(&b);
}

static void one_large_write_is_read_back(void **state)
{
	const size_t n = 3000017;
	char *data = sample(n);
	struct buf b = {};
	enum zio_codec codec;
	const char *defect;
	struct zout *z;

	(void)state;
	assert_int_equal(zout_open(&z, path("large"), ZIO_PLAIN), 0);
	assert_int_equal(zout_write(z, "x", 1), 0);
	assert_int_equal(zout_write(z, data, n), 0);
	assert_int_equal(zout_close(z), 0);
	read_name("large", &b, &codec, &defect);
	assert_int_equal(b.n, n + 1);
	assert_memory_equal(b.p + 1, data, n);
	free(data);
	buf_free(&b);
}

static void members_and_frames_are_one_stream(void **state)
{
	u8 file[8192];
	struct buf b = {};
	enum zio_codec codec;
	const char *defect;
	size_t n;

	(void)state;
	n = gzip_of("one\n", 4, file, sizeof(file));
	n += gzip_of("", 0, file + n, sizeof(file) - n);
	n += gzip_of("two\n", 4, file + n, sizeof(file) - n);
	put_file("multi", file, n);
	read_name("multi", &b, &codec, &defect);
	assert_int_equal(b.n, 8);
	assert_memory_equal(b.p, "one\ntwo\n", 8);
	assert_null(defect);

	/* A skippable frame first, as parallel compressors write it. */
	memcpy(file, "\x50\x2a\x4d\x18\x04\x00\x00\x00skip", 12);
	n = 12 + zstd_of("one\n", 4, file + 12, sizeof(file) - 12);
	n += zstd_of("", 0, file + n, sizeof(file) - n);
	n += zstd_of("two\n", 4, file + n, sizeof(file) - n);
	put_file("multi", file, n);
	read_name("multi", &b, &codec, &defect);
	assert_int_equal(codec, ZIO_ZSTD);
	assert_int_equal(b.n, 8);
	assert_memory_equal(b.p, "one\ntwo\n", 8);
	assert_null(defect);
	buf_free(&b);
}

typedef size_t (*compress_fn)(const void *, size_t, u8 *, size_t);

static void assert_every_cut_delivers_a_prefix(compress_fn compress, size_t magic)
{
	static const char text[] = "{\"event_type\":\"nvme_cmd\"}\n{\"event_type\":\"nvme_cmp\"}\n";
	u8 file[4096];
	size_t n = compress(text, sizeof(text) - 1, file, sizeof(file)), cut, longest = 0;
	struct buf b = {};
	enum zio_codec codec;
	const char *defect;

	n += compress(text, sizeof(text) - 1, file + n, sizeof(file) - n);
	for (cut = magic; cut <= n; cut++) {
		put_file("cut", file, cut);
		read_name("cut", &b, &codec, &defect);
		assert_true(b.n <= 2 * (sizeof(text) - 1));
		assert_true(b.n >= longest);
		assert_true(!b.n || !memcmp(b.p, text, MIN(b.n, sizeof(text) - 1)));
		/* Whole are both members, and the first one alone. */
		assert_true(!defect == (cut == n || cut == n / 2));
		longest = b.n;
	}
	assert_int_equal(longest, 2 * (sizeof(text) - 1));
	buf_free(&b);
}

static void a_cut_file_delivers_what_was_before(void **state)
{
	(void)state;
	assert_every_cut_delivers_a_prefix(gzip_of, 2);
	assert_every_cut_delivers_a_prefix(zstd_of, 4);
}

static void assert_defect(const void *data, size_t n, const char *want_text, const char *want_defect)
{
	struct buf b = {};
	enum zio_codec codec;
	const char *defect;

	put_file("bad", data, n);
	read_name("bad", &b, &codec, &defect);
	assert_non_null(defect);
	assert_string_equal(defect, want_defect);
	assert_int_equal(b.n, strlen(want_text));
	assert_true(!b.n || !memcmp(b.p, want_text, b.n));
	buf_free(&b);
}

static void damage_and_trailing_bytes_are_told(void **state)
{
	u8 file[4096];
	size_t n;

	(void)state;
	n = gzip_of("good\n", 5, file, sizeof(file));
	memcpy(file + n, "garbage", 7);
	assert_defect(file, n + 7, "good\n", "bytes behind the compressed data");
	file[n - 6] ^= 1; /* its CRC */
	assert_defect(file, n, "good\n", "compressed data is damaged");
	n = zstd_of("good\n", 5, file, sizeof(file));
	memcpy(file + n, "garbage", 7);
	assert_defect(file, n + 7, "good\n", "bytes behind the compressed data");
	memcpy(file, "\x1f\x8b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	assert_defect(file, 12, "", "compressed data is damaged");
}

static void peeking_takes_nothing(void **state)
{
	static const char *const names[] = { "p.txt", "p.gz", "p.zst" };
	struct buf b = {};
	const u8 *head;
	struct zout *o;
	struct zin *z;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(zout_open(&o, path(names[i]), ZIO_BY_NAME), 0);
		assert_int_equal(zout_write(o, "0123456789", 10), 0);
		assert_int_equal(zout_close(o), 0);
		assert_int_equal(zin_open(&z, path(names[i])), 0);
		assert_int_equal(zin_peek(z, 3, &head), 3);
		assert_memory_equal(head, "012", 3);
		assert_int_equal(zin_peek(z, 8, &head), 8);
		assert_memory_equal(head, "01234567", 8);
		assert_int_equal(zin_peek(z, 64, &head), 10);
		drain(z, &b, 3);
		assert_int_equal(b.n, 10);
		assert_memory_equal(b.p, "0123456789", 10);
		assert_int_equal(zin_peek(z, 1, &head), 0);
		zin_close(z);
	}
	buf_free(&b);
}

static void what_cannot_be_read_is_an_error(void **state)
{
	struct zin *z;

	(void)state;
	assert_int_equal(zin_open(&z, path("nowhere")), -ENOENT);
	assert_int_equal(zin_open(&z, dir), -EISDIR);
}

static void a_pipe_is_read_as_stdin(void **state)
{
	struct buf b = {};
	struct zin *z;
	u8 file[512];
	size_t n = gzip_of("through a pipe", 14, file, sizeof(file)), i;
	int fds[2], saved = dup(STDIN_FILENO);
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		for (i = 0; i < n; i++) /* short reads everywhere */
			if (write(fds[1], file + i, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(fds[1]);
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	assert_int_equal(zin_open(&z, "-"), 0);
	drain(z, &b, 5);
	zin_close(z);
	assert_int_equal(b.n, 14);
	assert_memory_equal(b.p, "through a pipe", 14);
	waitpid(pid, NULL, 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
	buf_free(&b);
}

/* How many files the directory has whose names start so. */
static int files_like(const char *prefix)
{
	char cmd[256];
	FILE *f;
	int n = -1;

	snprintf(cmd, sizeof(cmd), "ls -A %s | grep -c '^%s'", dir, prefix);
	f = popen(cmd, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

static void the_name_appears_only_at_success(void **state)
{
	struct buf b = {};
	struct zout *z;
	struct stat st;

	(void)state;
	put_file("out.txt", "old", 3);
	assert_int_equal(zout_open(&z, path("out.txt"), ZIO_BY_NAME), 0);
	assert_int_equal(zout_write(z, "new text", 8), 0);
	get_file("out.txt", &b);
	assert_int_equal(b.n, 3);
	zout_abort(z);
	get_file("out.txt", &b);
	assert_int_equal(b.n, 3);
	assert_int_equal(files_like("out.txt"), 1);

	assert_int_equal(zout_open(&z, path("out.txt"), ZIO_BY_NAME), 0);
	assert_int_equal(zout_write(z, "new text", 8), 0);
	assert_int_equal(zout_close(z), 0);
	get_file("out.txt", &b);
	assert_int_equal(b.n, 8);
	assert_int_equal(files_like("out.txt"), 1);
	assert_int_equal(stat(path("out.txt"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);

	assert_int_equal(zout_open(&z, path("fresh"), ZIO_BY_NAME), 0);
	zout_abort(z);
	assert_int_equal(files_like("fresh"), 0);
	zout_abort(NULL);
	buf_free(&b);
}

static void a_link_stays_and_its_target_is_replaced(void **state)
{
	struct buf b = {};
	struct stat st;
	struct zout *z;
	char link[160];

	(void)state;
	put_file("target", "old", 3);
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink("target", link), 0);
	assert_int_equal(zout_open(&z, link, ZIO_BY_NAME), 0);
	assert_int_equal(zout_write(z, "fresh", 5), 0);
	assert_int_equal(zout_close(z), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	get_file("target", &b);
	assert_int_equal(b.n, 5);
	buf_free(&b);
}

static void devices_and_fifos_are_written_directly(void **state)
{
	struct stat st;
	struct zout *z;
	char got[4];
	pid_t pid;
	int fd, status;

	(void)state;
	assert_int_equal(zout_open(&z, "/dev/null", ZIO_BY_NAME), 0);
	assert_int_equal(zout_write(z, "x", 1), 0);
	assert_int_equal(zout_close(z), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));

	assert_int_equal(mkfifo(path("fifo"), 0600), 0);
	pid = fork();
	if (!pid) {
		fd = open(path("fifo"), O_RDONLY);
		_exit(read(fd, got, 4) == 4 && !memcmp(got, "fifo", 4) ? 0 : 1);
	}
	assert_int_equal(zout_open(&z, path("fifo"), ZIO_BY_NAME), 0);
	assert_int_equal(zout_write(z, "fifo", 4), 0);
	assert_int_equal(zout_close(z), 0);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(lstat(path("fifo"), &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
}

static void the_first_write_error_is_kept(void **state)
{
	static const enum zio_codec codecs[] = { ZIO_PLAIN, ZIO_GZIP, ZIO_ZSTD };
	const size_t n = 4000037;
	char *data = sample(n);
	struct zout *z;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(codecs); i++) {
		assert_int_equal(zout_open(&z, "/dev/full", codecs[i]), 0);
		assert_int_equal(zout_write(z, data, n), -ENOSPC);
		assert_int_equal(zout_write(z, data, 1), -ENOSPC);
		assert_int_equal(zout_close(z), -ENOSPC);
		/* What fits the buffer fails at the end. */
		assert_int_equal(zout_open(&z, "/dev/full", codecs[i]), 0);
		assert_int_equal(zout_write(z, data, 5), 0);
		assert_int_equal(zout_close(z), -ENOSPC);
	}
	free(data);
}

static void what_cannot_be_written_is_an_error(void **state)
{
	struct zout *z;

	(void)state;
	assert_int_equal(zout_open(&z, path("no/such/dir"), ZIO_BY_NAME), -ENOENT);
	assert_int_equal(zout_open(&z, "/dev/nulll", ZIO_BY_NAME), -ENOENT);
	assert_int_equal(zout_open(&z, dir, ZIO_BY_NAME), -EISDIR);
	put_file("plain", "", 0);
	assert_int_equal(zout_open(&z, path("plain/below"), ZIO_BY_NAME), -ENOTDIR);
}

static void a_live_file_can_be_read_after_each_flush(void **state)
{
	static const char *const names[] = { "live.jsonl", "live.gz", "live.zst" };
	char *data = sample(100003);
	struct buf b = {};
	enum zio_codec codec;
	const char *defect;
	struct zout *z;
	size_t i;
	u32 round;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		int fd = open(path(names[i]), O_WRONLY | O_CREAT | O_TRUNC, 0600);

		assert_int_equal(zout_open_live(&z, fd, names[i]), 0);
		for (round = 1; round <= 3; round++) {
			assert_int_equal(zout_write(z, data, 100003), 0);
			assert_int_equal(zout_flush(z), 0);
			read_name(names[i], &b, &codec, &defect);
			assert_int_equal(b.n, round * 100003);
			assert_memory_equal(b.p + b.n - 100003, data, 100003);
			assert_int_equal(!defect, codec == ZIO_PLAIN); /* not ended yet */
		}
		if (i == 0) {
			assert_int_equal(zout_write(z, "lost", 4), 0);
			zout_abort(z);
		} else {
			assert_int_equal(zout_close(z), 0);
		}
		read_name(names[i], &b, &codec, &defect);
		assert_int_equal(b.n, 3 * 100003);
		assert_null(defect);
		assert_int_equal(fcntl(fd, F_GETFD), -1);
	}
	assert_int_equal(zout_open_live(&z, open("/dev/full", O_WRONLY), "x"), 0);
	assert_int_equal(zout_write(z, "x", 1), 0);
	assert_int_equal(zout_flush(z), -ENOSPC);
	assert_int_equal(zout_close(z), -ENOSPC);
	free(data);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(one_large_write_is_read_back),
		cmocka_unit_test(members_and_frames_are_one_stream),
		cmocka_unit_test(a_cut_file_delivers_what_was_before),
		cmocka_unit_test(damage_and_trailing_bytes_are_told),
		cmocka_unit_test(peeking_takes_nothing),
		cmocka_unit_test(what_cannot_be_read_is_an_error),
		cmocka_unit_test(a_pipe_is_read_as_stdin),
		cmocka_unit_test(the_name_appears_only_at_success),
		cmocka_unit_test(a_link_stays_and_its_target_is_replaced),
		cmocka_unit_test(devices_and_fifos_are_written_directly),
		cmocka_unit_test(the_first_write_error_is_kept),
		cmocka_unit_test(what_cannot_be_written_is_an_error),
		cmocka_unit_test(a_live_file_can_be_read_after_each_flush),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
