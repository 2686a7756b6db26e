// SPDX-License-Identifier: Apache-2.0
/* Commands in flight by their end, against looking at all of them at every step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/flights.h"

#define N 12000u /* more than two blocks */

static u64 ts[N], end[N];
static bool is_done[N];

/* Goes over all as a sweep does, and looks that the one that is next is next. */
static void sweep(void)
{
	struct flights h = {};
	const struct flight *f;
	u32 i = 0, last, k, submitted, done = 0;

	for (k = 0; k < N; k++)
		is_done[k] = false;
	while (i < N) {
		u32 from = i;

		last = flights_block(&h, i, N);
		assert_true(last > i && last <= N);
		for (; i < last; i++)
			assert_int_equal(flights_add(&h, (struct flight){ end[i], i, 0 }), 0);
		assert_int_equal(flights_settle(&h, i < N ? ts[i - 1] : UINT64_MAX), 0);
		assert_int_equal(h.n - h.n_carried, last - from);
		for (k = 0; k < last - from; k++)
			assert_int_equal(h.v[h.n_carried + k].cmd, from + k);
		for (u64 at = 0, cmd = 0; (f = flights_next(&h)); h.at++, done++) {
			assert_false(is_done[f->cmd]);
			is_done[f->cmd] = true;
			assert_true(f->end == end[f->cmd] && (last == N || f->end <= ts[last - 1]));
			assert_true(f->end > at || (f->end == at && (!done || f->cmd > cmd)));
			at = f->end;
			cmd = f->cmd;
		}
		/* None that ends within the block is left out. */
		for (submitted = 0; submitted < last; submitted++)
			assert_true(is_done[submitted] || (last < N && end[submitted] > ts[last - 1]));
	}
	assert_int_equal(done, N);
	flights_free(&h);
}

/* lat: none beyond it. */
static void fill(u64 seed, u64 step, u64 lat)
{
	u64 x = seed, now = 1000;
	u32 i;

	for (i = 0; i < N; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		now += (x >> 33) % (step + 1);
		ts[i] = now;
		end[i] = now + (x >> 20) % (lat + 1);
	}
}

static void by_end_and_then_as_they_came(void **state)
{
	(void)state;
	fill(1, 3000, 900000);
	sweep();
	fill(2, 1, 3);
	sweep();
	fill(3, 0, 0); /* all at once */
	sweep();
}

static void all_in_flight_at_once(void **state)
{
	(void)state;
	fill(4, 10, 1000000000);
	sweep();
}

/* A clock that jumps: ends that no key holds. */
static void further_apart_than_a_key_has_bits_for(void **state)
{
	u32 i;

	(void)state;
	fill(5, 3000, 900000);
	for (i = 0; i < N; i += 97)
		end[i] = UINT64_MAX - i;
	for (i = N / 2; i < N; i++) {
		ts[i] += 1ull << 62;
		end[i] = i % 97 ? end[i] + (1ull << 62) : end[i];
	}
	for (i = 5000; i < N / 2; i += 13)
		end[i] += 1ull << 61;
	sweep();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_end_and_then_as_they_came),
		cmocka_unit_test(all_in_flight_at_once),
		cmocka_unit_test(further_apart_than_a_key_has_bits_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
