// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/ahead.h"
#include "lib/buf.h"
#include "lib/hash.h"

static char path[] = "/tmp/kvio-test-ahead-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

/* A file of n bytes that compress to about a half. */
static void put_file(size_t n, enum zio_codec codec)
{
	struct zout *z;
	size_t i;

	assert_int_equal(zout_open(&z, path, codec), 0);
	for (i = 0; i < n; i += 16) {
		u64 words[2] = { hash_u64(i), i };

		assert_int_equal(zout_write(z, words, MIN(n - i, sizeof(words))), 0);
	}
	assert_int_equal(zout_close(z), 0);
}

/* Reads at most `most` bytes; all are what was written.  How many came. */
static size_t read_blocks(size_t most, bool slowly)
{
	struct ahead *a;
	struct zin *z;
	size_t at = 0, i;
	ssize_t got = 1;
	char *p;

	assert_int_equal(zin_open(&z, path), 0);
	assert_int_equal(ahead_open(&a, z, 100, 50), 0);
	while (at < most && (got = ahead_next(a, &p)) > 0) {
		for (i = 0; i < (size_t)got; i++, at++) {
			u64 word = at & 8 ? at & ~15ull : hash_u64(at & ~15ull);

			if ((u8)p[i] != (u8)(word >> 8 * (at & 7)))
				fail_msg("byte %zu is not what was written", at);
		}
		/* The room around a block is its user's. */
		memset(p - 100, 'f', 100);
		memset(p + got, 'b', 50);
		if (slowly)
			usleep(2000);
	}
	assert_true(got >= 0);
	if (!got)
		assert_int_equal(ahead_next(a, &p), 0);
	ahead_close(a);
	zin_close(z);
	return at;
}

static void all_bytes_in_their_order(void **state)
{
	static const size_t sizes[] = { 0, 1, 5000, 1 << 20, (1 << 20) + 1, 7 << 20 };
	static const enum zio_codec codecs[] = { ZIO_PLAIN, ZIO_GZIP, ZIO_ZSTD };
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (k = 0; k < ARRAY_SIZE(codecs); k++) {
			put_file(sizes[i], codecs[k]);
			assert_int_equal(read_blocks(SIZE_MAX, false), sizes[i]);
			assert_int_equal(read_blocks(SIZE_MAX, true), sizes[i]);
		}
}

static void reading_may_stop_at_any_block(void **state)
{
	size_t most;

	(void)state;
	put_file(9 << 20, ZIO_ZSTD);
	for (most = 0; most < 8u << 20; most += 1 << 20)
		assert_true(read_blocks(most, most & 1 << 20) >= most);
}

static void what_comes_before_a_cut_is_read(void **state)
{
	size_t n;

	(void)state;
	put_file(4 << 20, ZIO_GZIP);
	assert_int_equal(truncate(path, 1 << 20), 0);
	n = read_blocks(SIZE_MAX, false);
	assert_true(n > 1 << 20 && n < 4 << 20);
}

/* A pipe that brings a part of a compressed stream and then nothing. */
static void a_silent_pipe_does_not_hold_its_reader(void **state)
{
	struct ahead *a;
	struct zin *z;
	char name[32], data[4096];
	int fd[2];
	FILE *f;
	size_t n;

	(void)state;
	put_file(4 << 20, ZIO_GZIP);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(data, 1, sizeof(data), f);
	fclose(f);
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], data, n), n);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd[0]);
	assert_int_equal(zin_open(&z, name), 0);
	assert_int_equal(ahead_open(&a, z, 0, 0), 0);
	usleep(20000);
	alarm(20);
	ahead_close(a);
	alarm(0);
	zin_close(z);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_bytes_in_their_order),
		cmocka_unit_test(reading_may_stop_at_any_block),
		cmocka_unit_test(what_comes_before_a_cut_is_read),
		cmocka_unit_test(a_silent_pipe_does_not_hold_its_reader),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
