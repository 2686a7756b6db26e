// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/merge.h"

/* Sources are lists of times; 0 is an item without one, -1 the end. */
static const s64 *lists[4];
static u32 at[4];
static char line[4][32];

static int next(void *arg, u32 source, struct item *it)
{
	s64 t = lists[source][at[source]];

	(void)arg;
	if (t < 0)
		return 0;
	snprintf(line[source], sizeof(line[source]), "%c%u", 'a' + (int)source, at[source]++);
	*it = (struct item){ .kind = ITEM_OTHER, .at_ns = (u64)t, .line = { line[source], strlen(line[source]) } };
	return 1;
}

static char order[4096];
static struct merge_info info;

/* The names of the items as they come out. */
static void merge(u32 n, size_t max_bytes)
{
	struct merge *m = merge_new(n, next, NULL, max_bytes);
	struct item it;
	u32 source;
	char *p = order;
	int ret;

	memset(at, 0, sizeof(at));
	while ((ret = merge_next(m, &it, &source)) > 0) {
		assert_int_equal(it.line.p[0] - 'a', source);
		p += sprintf(p, "%.*s ", (int)it.line.n, it.line.p);
	}
	assert_int_equal(ret, 0);
	info = *merge_info(m);
	merge_free(m);
}

static void items_come_in_the_order_of_their_times(void **state)
{
	static const s64 a[] = { 1, 4, 4, 9, -1 }, b[] = { 2, 3, 4, 10, -1 }, c[] = { -1 };

	(void)state;
	lists[0] = a;
	lists[1] = b;
	lists[2] = c;
	merge(3, 1 << 20);
	assert_string_equal(order, "a0 b0 b1 a1 a2 b2 a3 b3 ");
	assert_int_equal(info.late, 0);
}

static void one_almost_sorted_source_becomes_sorted(void **state)
{
	static const s64 a[] = { 5, 3, 4, 9, 1, 7, -1 };

	(void)state;
	lists[0] = a;
	merge(1, 1 << 20);
	assert_string_equal(order, "a4 a1 a2 a0 a5 a3 ");
	assert_int_equal(info.late, 0);
}

static void items_without_a_time_stay_behind_the_one_in_front(void **state)
{
	static const s64 a[] = { 0, 5, 0, 8, -1 }, b[] = { 0, 6, 0, 0, -1 };

	(void)state;
	lists[0] = a;
	lists[1] = b;
	merge(2, 1 << 20);
	assert_string_equal(order, "a0 b0 a1 a2 b1 b2 b3 a3 ");
}

static void what_is_too_late_comes_and_is_counted(void **state)
{
	static const s64 a[] = { 1000, 2000, 3000, 4000, 1500, 5000, -1 };

	(void)state;
	lists[0] = a;
	/* Room for about one item. */
	merge(1, 1);
	assert_string_equal(order, "a0 a1 a2 a3 a4 a5 ");
	assert_int_equal(info.late, 1);
	assert_int_equal(info.late_by_ns, 2500);
	assert_int_equal(info.first_source, 0);
}

static s64 many[2][20001];

static void memory_is_bounded_for_sorted_sources(void **state)
{
	struct merge *m;
	struct item it;
	u32 source, i, n = 0;
	u64 last = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		many[0][i] = 1 + 3 * (s64)i;
		many[1][i] = 2 + 3 * (s64)i;
	}
	many[0][20000] = many[1][20000] = -1;
	lists[0] = many[0];
	lists[1] = many[1];
	memset(at, 0, sizeof(at));
	m = merge_new(2, next, NULL, 4096);
	while (merge_next(m, &it, &source) > 0) {
		assert_true(it.at_ns > last);
		last = it.at_ns;
		n++;
		/* Both are read side by side, only a few items ahead of what came out. */
		assert_true(at[0] + at[1] - n < 4096 / 64);
	}
	assert_int_equal(n, 40000);
	merge_free(m);
}

static void records_and_documents_are_kept_until_they_come(void **state)
{
	(void)state;
	/* Half used: merge_free() takes what is left (the sanitizer looks). */
	lists[0] = many[0];
	lists[1] = many[1];
	memset(at, 0, sizeof(at));
	{
		struct merge *m = merge_new(2, next, NULL, 1 << 16);
		struct item it;
		u32 source;

		assert_int_equal(merge_next(m, &it, &source), 1);
		merge_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_in_the_order_of_their_times),
		cmocka_unit_test(one_almost_sorted_source_becomes_sorted),
		cmocka_unit_test(items_without_a_time_stay_behind_the_one_in_front),
		cmocka_unit_test(what_is_too_late_comes_and_is_counted),
		cmocka_unit_test(memory_is_bounded_for_sorted_sources),
		cmocka_unit_test(records_and_documents_are_kept_until_they_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
