// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/engine.h"
#include "lib/hash.h"

#define BLOCK 4096u
#define N     64u

static char path[] = "/tmp/kvio-test-engine-XXXXXX";
static struct io_target target;
static u8 *mem;

static int make_file(void **state)
{
	bool huge = false;
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0 || ftruncate(fd, N * BLOCK))
		return -1;
	target = (struct io_target){ .fd = fd, .lba_bytes = BLOCK, .capacity = N * BLOCK };
	mem = io_buffer_alloc(2 * N * BLOCK, &huge);
	return mem && !huge ? 0 : -1;
}

static int remove_file(void **state)
{
	(void)state;
	io_buffer_free(mem, 2 * N * BLOCK);
	close(target.fd);
	return unlink(path);
}

static struct io_queue *open_queue(enum io_kind kind, u32 depth, bool registered)
{
	const struct iovec iov[2] = { { mem + N * BLOCK, N * BLOCK }, { mem, N * BLOCK } };
	const struct io_options o = { .kind = kind, .depth = depth, .buffer = iov, .n_buffers = registered ? 2 : 0 };
	struct io_queue *q;
	int ret = io_queue_open(&q, &target, &o);

	if (ret == -ENOSYS || ret == -EPERM) {
		print_message("# skipped: no io_uring here: %s\n", strerror(-ret));
		return NULL;
	}
	assert_int_equal(ret, 0);
	return q;
}

/* Pushes commands [0, n) of one block as fast as depth allows and awaits all; each must be done once. */
static void run_all(struct io_queue *q, bool write, u8 *base, u32 depth)
{
	u32 pushed = 0, done = 0;
	bool seen[N] = {};
	struct io_done d[8];

	while (done < N) {
		int ret = 0, i, n;

		while (pushed < N) {
			/* Ids above 2^53 and equal in their low half. */
			const struct io_command c = {
				(u64)(pushed + 1) << 56 | 7, (N - 1 - pushed) * BLOCK, BLOCK, write, pushed,
				base + pushed * BLOCK
			};

			ret = io_push(q, &c);
			if (ret)
				break;
			pushed++;
		}
		assert_true(ret == 0 || ret == -EBUSY);
		assert_true(io_queue_state(q).in_flight <= depth);
		n = io_reap(q, d, ARRAY_SIZE(d), NSEC_PER_SEC);
		assert_true(n > 0);
		for (i = 0; i < n; i++) {
			u64 k = (d[i].cmd.user_data >> 56) - 1;

			assert_int_equal(d[i].res, 0);
			assert_int_equal(d[i].cmd.owner, k);
			assert_false(seen[k]);
			assert_ptr_equal(d[i].cmd.buf, base + k * BLOCK);
			assert_true(d[i].lat_ns < NSEC_PER_SEC);
			seen[k] = true;
			done++;
		}
	}
	assert_int_equal(io_queue_state(q).in_flight, 0);
	assert_int_equal(io_queue_state(q).oldest_ns, 0);
	assert_int_equal(io_reap(q, d, 8, 1), 0);
}

static void fill(u8 *p, u64 seed)
{
	u64 i;

	for (i = 0; i < N * BLOCK; i += 8)
		*(u64 *)(p + i) = hash_u64(seed + i);
}

static void check_engine(enum io_kind kind, u32 depth, bool registered, u64 seed)
{
	struct io_queue *q = open_queue(kind, depth, registered);

	if (!q)
		return;
	if (registered)
		print_message("# fixed file %d, fixed buffers %d\n", io_queue_state(q).fixed_file,
			      io_queue_state(q).fixed_buffers);
	fill(mem, seed);
	memset(mem + N * BLOCK, 0, N * BLOCK);
	run_all(q, true, mem, depth);
	run_all(q, false, mem + N * BLOCK, depth);
	assert_memory_equal(mem, mem + N * BLOCK, N * BLOCK);
	io_queue_close(q);
}

static void what_is_written_is_read(void **state)
{
	static const u32 depths[] = { 1, 3, 8, 64, 100 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		check_engine(IO_POSIX, depths[i], false, i * 10 + 1);
		check_engine(IO_URING, depths[i], false, i * 10 + 2);
		check_engine(IO_URING, depths[i], true, i * 10 + 3);
	}
}

static void wrong_commands_are_not_taken(void **state)
{
	enum io_kind kind;
	u32 i;

	(void)state;
	for (kind = IO_POSIX; kind <= IO_URING; kind++) {
		struct io_queue *q = open_queue(kind, 2, false);
		const struct io_command bad[] = {
			{ 1, 0, 0, false, 0, mem },
			{ 1, 1, BLOCK, false, 0, mem },
			{ 1, 0, BLOCK + 1, false, 0, mem },
			{ 1, N * BLOCK, BLOCK, false, 0, mem },
			{ 1, UINT64_MAX - BLOCK + 1, BLOCK, false, 0, mem },
			{ 1, (N - 1) * BLOCK, 2 * BLOCK, true, 0, mem },
		};
		static const int want[] = { -EINVAL, -EINVAL, -EINVAL, -ENXIO, -ENXIO, -ENXIO };
		struct io_command good = { 5, 0, BLOCK, false, 0, mem };
		struct io_done d[4];

		if (!q)
			continue;
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			assert_int_equal(io_push(q, &bad[i]), want[i]);
		assert_int_equal(io_queue_state(q).in_flight, 0);
		assert_int_equal(io_push(q, &good), 0);
		assert_int_equal(io_push(q, &good), -EEXIST);
		good.user_data = 6;
		assert_int_equal(io_push(q, &good), 0);
		good.user_data = 7;
		assert_int_equal(io_push(q, &good), -EBUSY);
		while (io_queue_state(q).in_flight)
			assert_true(io_reap(q, d, 4, NSEC_PER_SEC) > 0);
		io_queue_close(q);
	}
}

static void errors_are_results(void **state)
{
	enum io_kind kind;

	(void)state;
	for (kind = IO_POSIX; kind <= IO_URING; kind++) {
		struct io_target t = target;
		const struct io_options o = { .kind = kind, .depth = 4 };
		/* A file that is shorter than was said: the first moves, the second meets the end, the third is
		 * refused. */
		const struct io_command c[] = { { 1, (N - 1) * BLOCK, BLOCK, false, 0, mem },
						{ 2, (N - 1) * BLOCK, 2 * BLOCK, false, 0, mem },
						{ 3, 2 * N * BLOCK, BLOCK, false, 0, mem } };
		static const s32 want[] = { 0, -EIO, -EIO };
		struct io_queue *q;
		struct io_done d[4];
		int n, i;

		t.capacity *= 4;
		if (io_queue_open(&q, &t, &o))
			continue;
		for (i = 0; i < 3; i++)
			assert_int_equal(io_push(q, &c[i]), 0);
		while ((n = io_reap(q, d, 4, NSEC_PER_SEC)))
			for (i = 0; i < n; i++)
				assert_int_equal(d[i].res, want[d[i].cmd.user_data - 1]);
		/* The second one went on once after its first half. */
		assert_int_equal(io_queue_state(q).resubmitted, 1);
		io_queue_close(q);
	}
}

static void count_one(void *arg, const struct io_command *c, u64 start_ns)
{
	assert_true(c->user_data == 11 && start_ns);
	++*(int *)arg;
}

/* A pipe that nobody writes to stands for a device that does not answer. */
static void what_hangs_is_known(void **state)
{
	const struct io_options o = { .kind = IO_URING, .depth = 4 };
	const struct io_command c = { 11, 0, BLOCK, false, 0, mem };
	struct io_target t = target;
	struct io_done d[4];
	struct io_queue *q;
	int ends[2], n = 0;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	t.fd = ends[0];
	if (io_queue_open(&q, &t, &o))
		return;
	assert_int_equal(io_push(q, &c), 0);
	assert_int_equal(io_reap(q, d, 4, 20000000), -ETIME);
	assert_int_equal(io_queue_state(q).in_flight, 1);
	assert_true(io_queue_state(q).oldest_ns > 0);
	io_queue_each(q, count_one, &n);
	assert_int_equal(n, 1);
	/* Half of it comes: it still waits for the rest, and its end is an end of the file. */
	assert_int_equal(write(ends[1], mem, BLOCK / 2), BLOCK / 2);
	n = io_reap(q, d, 4, 20000000);
	assert_true(n == -EINTR || n == -ETIME);
	close(ends[1]);
	while ((n = io_reap(q, d, 4, NSEC_PER_SEC)) == -EINTR)
		;
	assert_int_equal(n, 1);
	assert_int_equal(d[0].res, -EIO);
	io_queue_close(q);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(wrong_commands_are_not_taken),
		cmocka_unit_test(errors_are_results),
		cmocka_unit_test(what_hangs_is_known),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
