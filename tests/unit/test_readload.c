// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/readload.h"

static const struct readload_plan base = {
	.nsid = 1,
	.lba_bytes = 4096,
	.capacity = 1 << 20,
	.count = 23,
	.len = 8192,
	.per_object = 8,
	.qd = 4,
	.trace_base = 7000,
	.timeout_ns = NSEC_PER_SEC,
};

static void objects_follow_each_other_and_wrap(void **state)
{
	struct readload l;
	u64 i;

	(void)state;
	readload_plan(&l, &base);
	assert_int_equal(l.n_objects, 3);
	assert_int_equal(l.object_bytes, 65536);
	assert_int_equal(l.n_places, 16);
	assert_int_equal(readload_commands(&l, 0), 8);
	assert_int_equal(readload_commands(&l, 2), 7);
	assert_int_equal(readload_offset(&l, 2), 131072);
	assert_int_equal(readload_offset(&l, 16), 0);

	/* What does not hold a whole object at the end of the device is left alone. */
	l.plan.offset = 4096;
	readload_plan(&l, &l.plan);
	assert_int_equal(l.n_places, 15);
	for (i = 0; i < 40; i++)
		assert_true(readload_offset(&l, i) + l.object_bytes <= base.capacity);
	assert_int_equal(readload_offset(&l, 15), 4096);

	l.plan.offset = (1 << 20) - 4096;
	readload_plan(&l, &l.plan);
	assert_int_equal(l.n_places, 0);
	l.plan.offset = 2 << 20;
	readload_plan(&l, &l.plan);
	assert_int_equal(l.n_places, 0);
}

static void one_short_object_is_as_large_as_its_commands(void **state)
{
	struct readload_plan p = base;
	struct readload l;

	(void)state;
	p.count = 3;
	p.per_object = 1000;
	readload_plan(&l, &p);
	assert_int_equal(l.n_objects, 1);
	assert_int_equal(l.object_bytes, 3 * 8192);
	assert_int_equal(readload_commands(&l, 0), 3);
}

static void random_places_repeat_with_their_seed(void **state)
{
	struct readload_plan p = base;
	struct readload a, b;
	u64 i, seen = 0, differ = 0;

	(void)state;
	p.random = true;
	p.seed = 1;
	readload_plan(&a, &p);
	p.seed = 2;
	readload_plan(&b, &p);
	for (i = 0; i < 1000; i++) {
		u64 at = readload_offset(&a, i);

		assert_int_equal(at % a.object_bytes, 0);
		assert_true(at + a.object_bytes <= p.capacity);
		assert_int_equal(at, readload_offset(&a, i));
		seen |= 1ull << at / a.object_bytes;
		differ += at != readload_offset(&b, i);
	}
	assert_int_equal(seen, 0xffff); /* every place */
	assert_true(differ > 800);
}

static void status_is_taken_apart(void **state)
{
	struct nvme_uring_cmd cmd;
	char buf[1];

	(void)state;
	assert_int_equal(ring_status_sct(16512), 0);
	assert_int_equal(ring_status_sc(16512), 0x80);
	assert_true(ring_status_dnr(16512));
	assert_string_equal(ring_status_name(16512), "LBA out of range");
	assert_string_equal(ring_status_name(0x281), "unrecovered read error");
	assert_string_equal(ring_status_name(0x7ff), "");
	cmd = ring_read_cmd(3, 0x1234567890, 65536, buf, 4096);
	assert_int_equal(cmd.opcode, 2);
	assert_int_equal(cmd.nsid, 3);
	assert_int_equal(cmd.cdw10, 0x34567890);
	assert_int_equal(cmd.cdw11, 0x12);
	assert_int_equal(cmd.cdw12, 65535);
	assert_int_equal(cmd.data_len, 4096);
}

/* Not a drive: every command is refused by the kernel, and every one is accounted for. */
static void refused_commands_are_results(void **state)
{
	volatile sig_atomic_t stop = 0;
	struct readload_plan p = base;
	struct readload l;
	int fd[2], ret;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	p.fd = fd[0];
	readload_plan(&l, &p);
	ret = readload_open(&l);
	if (ret) {
		print_message("no io_uring here (%s)\n", strerror(-ret));
		readload_close(&l);
		close(fd[0]);
		close(fd[1]);
		skip();
	}
	assert_int_equal(readload_run(&l, &stop), 0);
	assert_int_equal(l.issued, 23);
	assert_int_equal(l.completed, 23);
	assert_int_equal(l.refused, 23);
	assert_int_equal(l.ok, 0);
	assert_int_equal(l.n_errors, 1);
	assert_int_equal(l.error[0].res, -EOPNOTSUPP);
	assert_int_equal(l.error[0].n, 23);
	assert_int_equal(l.object[2].done, 7);
	assert_int_equal(l.object[2].failed, 7);
	assert_true(l.object[0].start_ns <= l.object[0].end_ns);
	readload_close(&l);

	/* Told to stop before the first one. */
	stop = 1;
	readload_plan(&l, &p);
	assert_int_equal(readload_open(&l), 0);
	assert_int_equal(readload_run(&l, &stop), 0);
	assert_int_equal(l.issued, 0);
	readload_close(&l);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_follow_each_other_and_wrap),
		cmocka_unit_test(one_short_object_is_as_large_as_its_commands),
		cmocka_unit_test(random_places_repeat_with_their_seed),
		cmocka_unit_test(status_is_taken_apart),
		cmocka_unit_test(refused_commands_are_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
