// SPDX-License-Identifier: Apache-2.0
/* Where requests spend their time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/measure_text.h"

static u64 sum(const u64 part[N_PARTS])
{
	u64 s = 0;
	int p;

	for (p = 0; p < N_PARTS; p++)
		s += part[p];
	return s;
}

/* 10 ms: 2 before the object, 3 until its first command, 4 on the device, 1 behind it. */
static void parts_add_up(void **state)
{
	const struct measure_request *q;
	struct measure x;
	struct buf b = {};
	struct model m;

	(void)state;
	serving(&b, "load_ttft", "r1", 0, 10 * MS);
	op(&b, 1, "load", "k", 1 << 20, 1 * MS, 10 * MS, NULL);
	io(&b, 3 * MS, 2 * MS, 1, 1, "read", 0);
	io(&b, 6 * MS, 1 * MS, 1, 2, "read", 32);
	io(&b, 6 * MS + 500 * US, 1 * MS, 1, 3, "read", 64);
	take(&m, &b, &x);
	assert_int_equal(x.n_requests, 1);
	q = &x.request[0];
	assert_int_equal(q->ns, 10 * MS);
	assert_int_equal(q->part[PART_WAIT], 2 * MS);
	assert_int_equal(q->part[PART_GAPS], 1 * MS);
	assert_int_equal(q->part[PART_DEVICE], 3500 * US);
	assert_int_equal(q->part[PART_TAIL], 2500 * US);
	assert_int_equal(q->part[PART_UNEXPLAINED], 1 * MS);
	assert_int_equal(sum(q->part), q->ns);
	assert_int_equal(q->objects, 1);
	assert_int_equal(q->commands, 3);
	assert_int_equal(q->bytes, 3 * 131072);
	assert_int_equal(q->dir, DIR_READ);
	assert_false(q->shared);
	done(&m, &x);
}

/* The case of the field: parts of 2, 3 and 4 ms of 10 leave 1 ms that nothing explains. */
static void the_rest_is_shown(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;

	(void)state;
	serving(&b, "request", "r1", 0, 10 * MS);
	op(&b, 1, "load", "k", 1 << 20, 0, 9 * MS, NULL);
	io(&b, 2 * MS, 3 * MS, 1, 1, "read", 0);
	take(&m, &b, &x);
	assert_int_equal(x.request[0].part[PART_WAIT], 2 * MS);
	assert_int_equal(x.request[0].part[PART_DEVICE], 3 * MS);
	assert_int_equal(x.request[0].part[PART_TAIL], 4 * MS);
	assert_int_equal(x.request[0].part[PART_UNEXPLAINED], 1 * MS);
	done(&m, &x);
}

/* Objects that overlap, begin before the span and end behind it: only what is inside counts, once. */
static void objects_are_cut_to_the_span(void **state)
{
	const struct measure_request *q;
	struct measure x;
	struct buf b = {};
	struct model m;

	(void)state;
	op(&b, 1, "load", "a", 1 << 20, 0, 6 * MS, NULL);
	io(&b, 1 * MS, 3 * MS, 1, 1, "read", 0);
	op(&b, 2, "load", "b", 1 << 20, 3 * MS, 9 * MS, NULL);
	io(&b, 5 * MS, 3 * MS, 2, 1, "read", 32);
	serving(&b, "request", "r1", 2 * MS, 7 * MS);
	take(&m, &b, &x);
	q = &x.request[0];
	/* a: device to 4 ms, then its tail; b: waits from 3 to 5 ms, then device */
	assert_int_equal(q->part[PART_DEVICE], 4 * MS);
	assert_int_equal(q->part[PART_WAIT], 1 * MS);
	assert_int_equal(q->part[PART_TAIL], 0);
	assert_int_equal(q->part[PART_UNEXPLAINED], 0);
	assert_int_equal(q->objects, 2);
	assert_int_equal(q->commands, 1);
	assert_int_equal(sum(q->part), 5 * MS);
	done(&m, &x);
}

/* A request that loads is not charged for stores of the background; one that only stores is. */
static void loads_come_before_stores(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;

	(void)state;
	op(&b, 1, "load", "a", 1 << 20, 0, 2 * MS, NULL);
	io(&b, 1 * MS, 1 * MS, 1, 1, "read", 0);
	op(&b, 2, "store", "b", 1 << 20, 0, 20 * MS, NULL);
	io(&b, 2 * MS, 17 * MS, 2, 1, "write", 32);
	serving(&b, "ttft", "r1", 0, 4 * MS);
	serving(&b, "evict", "r2", 10 * MS, 20 * MS);
	take(&m, &b, &x);
	assert_int_equal(x.n_requests, 2);
	/* the slowest first */
	assert_int_equal(x.request[0].dir, DIR_WRITE);
	assert_int_equal(x.request[0].part[PART_DEVICE], 9 * MS);
	assert_int_equal(x.request[0].part[PART_TAIL], 1 * MS);
	assert_int_equal(x.request[1].dir, DIR_READ);
	assert_int_equal(x.request[1].part[PART_UNEXPLAINED], 2 * MS);
	assert_int_equal(x.n_serving, 2);
	assert_string_equal(strpool_get(&m.strings, x.serving[0].name), "evict");
	done(&m, &x);
}

/* Spans that overlap see the same objects, and say so; totals are by name. */
static void spans_that_overlap_are_marked(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i, k;

	(void)state;
	for (i = 0; i < 23; i++)
		serving(&b, "ttft", "r", i * 10 * MS, i * 10 * MS + (i ? 5 : 12) * MS);
	take(&m, &b, &x);
	assert_int_equal(x.n_serving, 1);
	assert_int_equal(x.serving[0].n, 23);
	assert_int_equal(x.serving[0].shared, 2);
	assert_int_equal(x.serving[0].span.p50, 5 * MS);
	assert_int_equal(x.serving[0].span.max, 12 * MS);
	assert_int_equal(sum(x.serving[0].part), x.serving[0].span.sum);
	assert_int_equal(x.serving[0].part[PART_UNEXPLAINED], (12 + 22 * 5) * MS);
	for (i = k = 0; i < x.n_requests; i++)
		k += x.request[i].shared;
	assert_int_equal(k, 2);
	done(&m, &x);
}

/* Commands without a semantic trace are all that is known. */
static void commands_without_objects(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 600; i++)
		io(&b, i * 10 * US, 5 * US, 0, i, "read", i * 32);
	serving(&b, "ttft", "r", 1 * MS, 3 * MS);
	take(&m, &b, &x);
	assert_int_equal(x.request[0].part[PART_DEVICE], 1 * MS);
	assert_int_equal(x.request[0].part[PART_UNEXPLAINED], 1 * MS);
	assert_int_equal(x.request[0].commands, 200);
	assert_int_equal(x.request[0].objects, 0);
	done(&m, &x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(the_rest_is_shown),
		cmocka_unit_test(objects_are_cut_to_the_span),
		cmocka_unit_test(loads_come_before_stores),
		cmocka_unit_test(spans_that_overlap_are_marked),
		cmocka_unit_test(commands_without_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
