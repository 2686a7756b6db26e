// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/hash.h"
#include "out/perfetto_lanes.h"

static s64 take(struct lanes *l, u64 begin, u64 end)
{
	lanes_advance(l, begin);
	return lanes_take(l, end, false);
}

static void overlapping_slices_part(void **state)
{
	struct lanes l = {};

	(void)state;
	assert_int_equal(take(&l, 0, 100), 0);
	assert_int_equal(take(&l, 50, 150), 1);
	assert_int_equal(take(&l, 60, 70), 2);
	assert_int_equal(take(&l, 101, 120), 0);
	assert_int_equal(l.n, 3);
	lanes_free(&l);
}

static void touching_slices_part(void **state)
{
	struct lanes l = {};

	(void)state;
	assert_int_equal(take(&l, 0, 100), 0);
	assert_int_equal(take(&l, 100, 200), 1);
	assert_int_equal(take(&l, 201, 300), 0);
	/* no length: begins and ends at one time */
	assert_int_equal(take(&l, 400, 400), 0);
	assert_int_equal(take(&l, 400, 400), 1);
	assert_int_equal(take(&l, 401, 401), 0);
	lanes_free(&l);
}

static void the_lowest_free_lane_is_taken(void **state)
{
	struct lanes l = {};
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		assert_int_equal(take(&l, 0, 1000 - (u64)i), i);
	/* lane i ends at 1000 - i: from 11 on they ended before 990 */
	assert_int_equal(take(&l, 990, 2000), 11);
	assert_int_equal(take(&l, 1001, 2000), 0);
	assert_int_equal(take(&l, 1001, 2000), 1);
	lanes_reset(&l);
	assert_null(lanes_next(&l));
	assert_int_equal(take(&l, 0, 1), 0);
	assert_int_equal(l.n, 1);
	lanes_free(&l);
}

/* Against the plain search through all lanes. */
static void same_as_first_fit(void **state)
{
	enum { N = 20000 };
	static u64 last[N];
	struct lanes l = {};
	u64 begin = 0, r = 1;
	u32 used = 0, i, k;

	(void)state;
	for (i = 0; i < N; i++) {
		u64 end;

		r = hash_u64(r + i);
		begin += r % 16;
		end = begin + (r >> 8) % (i % 100 ? 200 : 20000);
		for (k = 0; k < used && last[k] >= begin; k++)
			;
		if (k == used)
			used++;
		last[k] = end;
		assert_int_equal(take(&l, begin, end), k);
	}
	assert_int_equal(l.n, used);
	assert_true(used > 20);
	lanes_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlapping_slices_part),
		cmocka_unit_test(touching_slices_part),
		cmocka_unit_test(the_lowest_free_lane_is_taken),
		cmocka_unit_test(same_as_first_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
