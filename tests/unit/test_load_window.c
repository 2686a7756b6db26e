// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/hash.h"
#include "model/load_window.h"

#define N 30000u

struct out {
	u64 ts_ns[N], user_data[N];
	bool seen[N];
	u32 n, fail_at;
};

static int leave(void *arg, const struct ev_nvme_kv *const *e, u32 n)
{
	struct out *o = arg;
	u32 i;

	assert_in_range(n, 1, WINDOW_BATCH);
	for (i = 0; i < n; i++) {
		const struct ev_nvme *cmd = &e[i]->cmd;

		if (o->n == o->fail_at)
			return -EIO;
		assert_true(cmd->slba < N && !o->seen[cmd->slba]);
		o->seen[cmd->slba] = true;
		o->ts_ns[o->n] = cmd->ts_ns;
		o->user_data[o->n++] = cmd->user_data;
	}
	return 0;
}

/* Passes n records through it, whose times time_of() tells. */
static int pass(struct out *o, u32 n, u64 (*time_of)(u32))
{
	struct window *w = window_new(leave, o);
	int ret = 0;
	u32 i;

	assert_non_null(w);
	for (i = 0; i < n && !ret; i++) {
		struct ev_nvme_kv *e = window_slot(w);

		*e = (struct ev_nvme_kv){ .cmd = { .ts_ns = time_of(i), .user_data = hash_u64(i), .slba = i } };
		ret = window_take(w);
	}
	if (!ret)
		ret = window_flush(w);
	window_free(w);
	return ret;
}

static bool in_order(const struct out *o)
{
	u32 i;

	for (i = 1; i < o->n; i++)
		if (o->ts_ns[i] < o->ts_ns[i - 1] ||
		    (o->ts_ns[i] == o->ts_ns[i - 1] && o->user_data[i] < o->user_data[i - 1]))
			return false;
	return true;
}

static u64 ordered(u32 i)
{
	return 1000 + i;
}

/* As commands complete: up to 1500 others came before it. */
static u64 as_completed(u32 i)
{
	return 1000000 + i * 10 - hash_u64(i) % 15000;
}

/* Many of one time. */
static u64 of_one_time(u32 i)
{
	return 1000000 + i / 50 * 10 - hash_u64(i) % 500;
}

static void what_fits_is_in_order(void **state)
{
	static u64 (*const times[])(u32) = { ordered, as_completed, of_one_time };
	static const u32 sizes[] = { 0, 1, 2, 4095, 4096, 4097, 8192, 8193, N };
	struct out *o = malloc(sizeof(*o));
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(times); i++)
		for (k = 0; k < ARRAY_SIZE(sizes); k++) {
			*o = (struct out){ .fail_at = UINT32_MAX };
			assert_int_equal(pass(o, sizes[k], times[i]), 0);
			assert_int_equal(o->n, sizes[k]);
			assert_true(in_order(o));
		}
	free(o);
}

static u64 backwards(u32 i)
{
	return 2 * N - i;
}

static u64 broken_clock(u32 i)
{
	return i % 3 ? i : UINT64_MAX - i;
}

static u64 at_once(u32 i)
{
	(void)i;
	return 1000;
}

/* What does not fit is not lost. */
static void the_rest_is_all_there(void **state)
{
	static u64 (*const times[])(u32) = { backwards, broken_clock, at_once };
	struct out *o = malloc(sizeof(*o));
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		*o = (struct out){ .fail_at = UINT32_MAX };
		assert_int_equal(pass(o, N, times[i]), 0);
		assert_int_equal(o->n, N);
	}
	free(o);
}

static void an_error_ends_it(void **state)
{
	struct out *o = malloc(sizeof(*o));

	(void)state;
	*o = (struct out){ .fail_at = 5000 };
	assert_int_equal(pass(o, N, as_completed), -EIO);
	assert_int_equal(o->n, 5000);
	free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_in_order),
		cmocka_unit_test(the_rest_is_all_there),
		cmocka_unit_test(an_error_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
