// SPDX-License-Identifier: Apache-2.0
/* What keeps commands from overlapping: each class by an example of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "out/report.h"
#include "unit/measure_text.h"

static void assert_near(double got, double want)
{
	assert_true(fabs(got - want) < 0.005 * MAX(fabs(want), 1));
}

static void assert_class(const struct measure_qd1 *q, enum qd_class want)
{
	struct buf why = {};

	assert_string_equal(report_class_id(q->class), report_class_id(want));
	report_class_why(&why, q);
	assert_true(why.n > 0);
	buf_free(&why);
}

/* The published case: 83 us between submissions, 16 us on the device. */
static void each_command_waits_for_the_one_before(void **state)
{
	const struct measure_qd1 *q;
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 160; i++)
		io_of(&b, 7, i * 83 * US, 16 * US, 5, i, "read", 1000 + i * 32);
	take(&m, &b, &x);
	q = &x.qd1[DIR_READ];
	assert_class(q, QD_WITHIN);
	assert_int_equal(q->verdict, QD1_SERIAL);
	assert_int_equal(q->gap.p50, 83 * US);
	assert_int_equal(q->service.p25, 16 * US);
	assert_near(x.depth.mean, 0.194);
	assert_int_equal(q->serial_ops, 1);
	/* sum(gaps) - sum(service), of first submission to last completion */
	assert_int_equal(q->lost_ns, 159 * (83 - 16) * US);
	assert_int_equal(q->lost_of_ns, (159 * 83 + 16) * US);
	assert_near(q->lost_share, 0.806);
	assert_int_equal(q->flow.threads, 1);
	done(&m, &x);
}

/*
 * A device that takes 100 us for a command and gives one back each 67 us at
 * best: 0.25 units a second at depth 1, 0.38 at any depth from 4 on.  Deeper
 * queues only wait longer.
 */
static void a_deep_queue_at_a_slow_device_is_no_fault(void **state)
{
	static const u32 depths[] = { 1, 4, 8, 16, 32 };
	size_t d;

	(void)state;
	for (d = 0; d < ARRAY_SIZE(depths); d++) {
		const struct measure_qd1 *q;
		u64 end[400];
		struct measure x;
		struct buf b = {};
		struct model m;
		u32 i;

		for (i = 0; i < 400; i++) {
			u64 ts = i < depths[d] ? i : end[i - depths[d]];
			u64 earliest = i ? end[i - 1] + 67 * US : 0;

			end[i] = MAX(ts + 100 * US, earliest);
			io_of(&b, 7, ts, end[i] - ts, 1 + i / 100, i, "read", i * 32);
		}
		take(&m, &b, &x);
		q = &x.qd1[DIR_READ];
		assert_int_equal(q->verdict, depths[d] == 1 ? QD1_SERIAL : QD1_PIPELINED);
		assert_class(q, depths[d] == 1 ? QD_WITHIN : QD_DEVICE);
		/* Nothing is lost: the device was busy all the time. */
		assert_int_equal(q->lost_ns, 0);
		if (depths[d] > 1) {
			assert_int_equal(q->flow.at_floor.p50, 100 * US);
			assert_int_equal(q->flow.floor_depth, 0);
			assert_true(q->flow.at_size.p50 >= 2 * 100 * US);
		}
		done(&m, &x);
	}
}

/* 8 commands at once for each object, but the next object begins when this one is done. */
static void objects_one_at_a_time(void **state)
{
	const struct measure_qd1 *q;
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i, k;

	(void)state;
	for (k = 0; k < 23; k++) {
		u64 at = k * 300 * US;
		char key[32];

		snprintf(key, sizeof(key), "m@f@0@%04u", k);
		for (i = 0; i < 8; i++)
			io_of(&b, 7, at + 50 * US + i * US, 200 * US - i * US, 1 + k, i, "read", (k * 8 + i) * 32);
		op(&b, 1 + k, "load", key, 1 << 20, at, at + 290 * US, NULL);
	}
	take(&m, &b, &x);
	q = &x.qd1[DIR_READ];
	assert_int_equal(q->verdict, QD1_PIPELINED);
	assert_class(q, QD_ACROSS);
	assert_int_equal(q->flow.objects_max, 1);
	assert_int_equal(q->flow.open_one_ns, q->flow.open_ns);
	assert_int_equal(q->flow.busy_ns, 23 * 200 * US);
	/* 22 times the 40 us before an object's end and the 50 us before the next one's commands */
	assert_int_equal(q->flow.pauses_between, 22);
	assert_int_equal(q->lost_ns, 22 * 90 * US);
	assert_int_equal(q->lost_of_ns, (22 * 90 + 23 * 200) * US);
	done(&m, &x);
}

/* A batch of 8, all of it awaited, the next batch: of one object and of several. */
static void batches_that_are_awaited(void **state)
{
	u32 objects;

	(void)state;
	for (objects = 1; objects <= 4; objects += 3) {
		const struct measure_qd1 *q;
		struct measure x;
		struct buf b = {};
		struct model m;
		u32 i, k;

		for (k = 0; k < 25; k++)
			for (i = 0; i < 8; i++)
				io_of(&b, 7, k * 200 * US + i, 100 * US - i, 1 + i % objects, k * 8 + i, "read",
				      i * 32);
		for (i = 0; i < objects; i++)
			op(&b, 1 + i, "load", "k", 1 << 20, 0, 25 * 200 * US, NULL);
		take(&m, &b, &x);
		q = &x.qd1[DIR_READ];
		assert_class(q, QD_DRAINS);
		assert_int_equal(q->flow.pauses_within, 24);
		assert_int_equal(q->flow.pause_within_ns, 24 * 100 * US);
		assert_int_equal(q->lost_ns, 24 * 100 * US);
		assert_near(q->lost_share, 24.0 / 49);
		done(&m, &x);
	}
}

/* Waiting for something to do is no drain: no operation runs in the pauses. */
static void idle_time_without_work_is_no_drain(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i, k;

	(void)state;
	for (k = 0; k < 10; k++) {
		char key[32];

		snprintf(key, sizeof(key), "k%u", k);
		for (i = 0; i < 16; i++)
			io_of(&b, 7, k * MS + i * US, 200 * US, 1 + k, i, "read", i * 32);
		op(&b, 1 + k, "load", key, 1 << 20, k * MS, k * MS + 216 * US, NULL);
	}
	take(&m, &b, &x);
	assert_class(&x.qd1[DIR_READ], QD_PIPELINED);
	assert_int_equal(x.qd1[DIR_READ].lost_ns, 0);
	done(&m, &x);
}

/* Four workers with an object each, and a lock around the submission. */
static void threads_in_turn(void **state)
{
	const struct measure_qd1 *q;
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++)
		io_of(&b, 10 + i % 4, i * 54 * US, 16 * US, 1 + i % 4, i, "read", i * 32);
	take(&m, &b, &x);
	q = &x.qd1[DIR_READ];
	assert_int_equal(q->verdict, QD1_SERIAL);
	assert_class(q, QD_TURNS);
	assert_int_equal(q->flow.threads, 4);
	assert_int_equal(q->flow.thread_switches, 199);
	assert_int_equal(q->flow.thread_multi_ns, 0);
	assert_int_equal(q->flow.objects_max, 4);
	assert_true(q->lost_ns > 0);
	done(&m, &x);
}

/* A thread pool for one object, with one command at a time. */
static void a_pool_that_takes_turns_in_one_object(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 160; i++)
		io_of(&b, 10 + i % 8, i * 54 * US, 16 * US, 1, i, "read", i * 32);
	take(&m, &b, &x);
	assert_class(&x.qd1[DIR_READ], QD_TURNS);
	assert_int_equal(x.qd1[DIR_READ].gap.p50, 54 * US);
	done(&m, &x);
}

/* Four workers that do overlap: each object is serial, and four are read at a time. */
static void parallel_objects_each_serial(void **state)
{
	const struct measure_qd1 *q;
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i, k;

	(void)state;
	for (k = 0; k < 4; k++)
		for (i = 0; i < 50; i++)
			io_of(&b, 10 + k, i * 100 * US + k * 7 * US, 90 * US, 1 + k, i, "read", (k * 50 + i) * 32);
	take(&m, &b, &x);
	q = &x.qd1[DIR_READ];
	assert_class(q, QD_WITHIN);
	assert_near(q->flow.objects_mean, 4);
	assert_true(q->flow.busy_depth > 3);
	assert_int_equal(q->serial_ops, 4);
	done(&m, &x);
}

/* The median may be fine while a part of the objects is serial: their number says so. */
static void a_mixed_load_counts_its_serial_objects(void **state)
{
	const struct measure_qd1 *q;
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i, k;

	(void)state;
	for (k = 0; k < 10; k++)
		for (i = 0; i < 20; i++)
			io_of(&b, 7, k * 10 * MS + i * (k < 4 ? 120 : 2) * US, 100 * US, 1 + k, i, "read", i * 32);
	take(&m, &b, &x);
	q = &x.qd1[DIR_READ];
	assert_int_equal(q->verdict, QD1_PIPELINED);
	assert_int_equal(q->ops, 10);
	assert_int_equal(q->serial_ops, 4);
	assert_near(q->long_gap_share, 0.4);
	done(&m, &x);
}

/* Without ids there is no verdict on gaps, but a deep queue is seen. */
static void untagged_commands_have_a_class(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++)
		io_of(&b, 7, i * 10 * US, 80 * US, 0, i + 1, "read", i * 32);
	take(&m, &b, &x);
	assert_int_equal(x.qd1[DIR_READ].verdict, QD1_UNKNOWN);
	assert_class(&x.qd1[DIR_READ], QD_PIPELINED);
	done(&m, &x);

	for (i = 0; i < 200; i++)
		io_of(&b, 7, i * 100 * US, 80 * US, 0, i + 1, "read", i * 32);
	take(&m, &b, &x);
	assert_int_equal(x.qd1[DIR_READ].class, QD_UNKNOWN);
	done(&m, &x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_command_waits_for_the_one_before),
		cmocka_unit_test(a_deep_queue_at_a_slow_device_is_no_fault),
		cmocka_unit_test(objects_one_at_a_time),
		cmocka_unit_test(batches_that_are_awaited),
		cmocka_unit_test(idle_time_without_work_is_no_drain),
		cmocka_unit_test(threads_in_turn),
		cmocka_unit_test(a_pool_that_takes_turns_in_one_object),
		cmocka_unit_test(parallel_objects_each_serial),
		cmocka_unit_test(a_mixed_load_counts_its_serial_objects),
		cmocka_unit_test(untagged_commands_have_a_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
