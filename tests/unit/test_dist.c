// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/dist.h"
#include "lib/hash.h"

static int ascending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void sorts_as_qsort_does(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 31, 32, 33, 255, 1000, 5000 };
	static u64 v[5000], w[5000];
	size_t i, k, shift;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (shift = 0; shift < 64; shift += 9) {
			for (k = 0; k < sizes[i]; k++)
				v[k] = w[k] = hash_u64(k + 1) >> shift;
			assert_int_equal(u64_sort(v, sizes[i]), 0);
			qsort(w, sizes[i], sizeof(*w), ascending);
			assert_memory_equal(v, w, sizes[i] * sizeof(*v));
		}
}

static void nearest_rank(void **state)
{
	u64 v[100];
	size_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		v[i] = i + 1;
	assert_int_equal(u64_percentile(v, 100, 50), 50);
	assert_int_equal(u64_percentile(v, 100, 95), 95);
	assert_int_equal(u64_percentile(v, 100, 99), 99);
	assert_int_equal(u64_percentile(v, 100, 100), 100);
	assert_int_equal(u64_percentile(v, 100, 0), 1);
	assert_int_equal(u64_percentile(v, 5, 50), 3);
	assert_int_equal(u64_percentile(v, 5, 25), 2);
	assert_int_equal(u64_percentile(v, 4, 50), 2);
	assert_int_equal(u64_percentile(v, 1, 99), 1);
	assert_int_equal(u64_percentile(v, 0, 50), 0);
}

static void figures(void **state)
{
	u64 v[] = { 7, 1, 5, 3 };
	u64 huge[] = { UINT64_MAX, 2 };
	struct dist d;

	(void)state;
	assert_int_equal(dist_take(&d, v, 4), 0);
	assert_int_equal(d.n, 4);
	assert_int_equal(d.min, 1);
	assert_int_equal(d.p25, 1);
	assert_int_equal(d.p50, 3);
	assert_int_equal(d.max, 7);
	assert_int_equal(d.sum, 16);
	assert_int_equal(dist_take(&d, huge, 2), 0);
	assert_true(d.sum == UINT64_MAX);
	assert_int_equal(dist_take(&d, v, 0), 0);
	assert_int_equal(d.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_as_qsort_does),
		cmocka_unit_test(nearest_rank),
		cmocka_unit_test(figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
