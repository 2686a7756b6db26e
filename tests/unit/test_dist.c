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
	static u64 v[5000], w[5000], x[5000], tmp[5000];
	size_t i, k, shift;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (shift = 0; shift < 64; shift += 9) {
			for (k = 0; k < sizes[i]; k++)
				v[k] = w[k] = x[k] = hash_u64(k + 1) >> shift;
			assert_int_equal(u64_sort(v, sizes[i]), 0);
			qsort(w, sizes[i], sizeof(*w), ascending);
			assert_memory_equal(v, w, sizes[i] * sizeof(*v));
			u64_sort_in(x, sizes[i], tmp);
			assert_memory_equal(x, w, sizes[i] * sizeof(*v));
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

/* The method of older reports takes one more where q * n is whole. */
static void floor_rank(void **state)
{
	struct dist near, old;
	u64 v[100];
	size_t i, n;

	(void)state;
	for (n = 1; n <= 100; n++) {
		for (i = 0; i < n; i++)
			v[i] = i + 1;
		assert_int_equal(dist_take_by(&near, v, n, PERCENTILE_NEAREST), 0);
		assert_int_equal(dist_take_by(&old, v, n, PERCENTILE_FLOOR), 0);
		assert_int_equal(old.p50, MIN(n - 1, n / 2) + 1);
		assert_int_equal(old.p99, MIN(n - 1, n * 99 / 100) + 1);
		assert_int_equal(near.p50, (n + 1) / 2);
		assert_int_equal(near.p95, (n * 95 + 99) / 100);
	}
}

/* Large sets are not sorted to take their figures: the result is the same as if they were. */
static void selection_equals_sorting(void **state)
{
	static const size_t sizes[] = { 255, 256, 257, 1000, 5000 };
	static u64 v[5000], w[5000];
	size_t i, k;
	struct dist d;
	u32 shift;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (shift = 0; shift < 64; shift += 9) {
			for (k = 0; k < sizes[i]; k++)
				v[k] = w[k] = hash_u64(k + 1) >> shift;
			qsort(w, sizes[i], sizeof(*w), ascending);
			assert_int_equal(dist_take(&d, v, sizes[i]), 0);
			assert_true(d.min == w[0] && d.max == w[sizes[i] - 1]);
			assert_true(d.p25 == u64_percentile(w, sizes[i], 25));
			assert_true(d.p50 == u64_percentile(w, sizes[i], 50));
			assert_true(d.p95 == u64_percentile(w, sizes[i], 95));
			assert_true(d.p99 == u64_percentile(w, sizes[i], 99));
			qsort(v, sizes[i], sizeof(*v), ascending);
			assert_memory_equal(v, w, sizes[i] * sizeof(*v));
		}
}

/* Against a bootstrap by hand: resample, take the median, look where 2.5 % and 97.5 % of them are. */
static void median_interval_is_that_of_a_bootstrap(void **state)
{
	enum { DRAWS = 20000 };
	static const size_t sizes[] = { 6, 7, 23, 100, 401 };
	static u64 median[DRAWS], sample[401];
	size_t i, k, b, low, high;
	u64 seed = 1;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t n = sizes[i];

		for (b = 0; b < DRAWS; b++) {
			for (k = 0; k < n; k++)
				sample[k] = hash_u64(seed++) % n;
			assert_int_equal(u64_sort(sample, n), 0);
			median[b] = u64_percentile(sample, n, 50);
		}
		assert_int_equal(u64_sort(median, DRAWS), 0);
		assert_true(median_interval(n, &low, &high));
		assert_in_range(low, MAX(median[DRAWS / 40], 1ul) - 1, median[DRAWS / 40] + 1);
		assert_in_range(high, median[DRAWS / 40 * 39] - 1, median[DRAWS / 40 * 39] + 1);
	}
	assert_false(median_interval(5, &low, &high));
	/* A normal approximation says 500000 - 980 and 500000 + 980. */
	assert_true(median_interval(1000000, &low, &high));
	assert_in_range(low, 499017, 499021);
	assert_in_range(high, 500977, 500981);
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
		cmocka_unit_test(floor_rank),
		cmocka_unit_test(selection_equals_sorting),
		cmocka_unit_test(median_interval_is_that_of_a_bootstrap),
		cmocka_unit_test(figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
