// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/pages.h"
#include "lib/types.h"

#define MIB ((size_t)1 << 20)

static void all_are(const u8 *p, size_t n, u8 want)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i] != want)
			fail_msg("byte %zu is %u", i, p[i]);
}

/* Through every way of growing: small, small to huge, huge to huge. */
static void grows_and_keeps(void **state)
{
	static const size_t sizes[] = { 1, 5000, 300000, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 5 * MIB, 33 * MIB };
	size_t i, n = 100;
	u8 *p = pages_alloc(n);

	(void)state;
	assert_non_null(p);
	memset(p, 0xa5, n);
	for (i = 1; i < ARRAY_SIZE(sizes); i++) {
		p = pages_grow(p, n, sizes[i]);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 64, 0);
		all_are(p, n, 0xa5);
		all_are(p + n, sizes[i] - n, 0);
		n = sizes[i];
		memset(p, 0xa5, n);
	}
	pages_free(p, n);
}

/* Of malloc() first, then of whole pages. */
static void an_array_grows_and_keeps(void **state)
{
	static const size_t sizes[] = { 1, 1000, 65535, 65536, 70000, MIB, 3 * MIB };
	size_t i, n = 0;
	u8 *p = NULL;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		p = array_grow(p, n, sizes[i]);
		assert_non_null(p);
		all_are(p, n, 0x5a);
		all_are(p + n, sizes[i] - n, 0);
		n = sizes[i];
		memset(p, 0x5a, n);
	}
	assert_null(array_grow(p, n, SIZE_MAX - 10));
	array_free(p, n);
	array_free(array_grow(NULL, 0, 100), 100);
	array_free(NULL, 0);
}

static void what_cannot_be_had(void **state)
{
	u8 *p = pages_alloc(100);

	(void)state;
	assert_null(pages_alloc(SIZE_MAX));
	assert_null(pages_alloc(SIZE_MAX / 2));
	p[99] = 1;
	assert_null(pages_grow(p, 100, SIZE_MAX - 10));
	assert_int_equal(p[99], 1);
	pages_free(p, 100);
	pages_free(NULL, 100);
}

/* Large ones do not all begin at the same place of a page. */
static void staggered(void **state)
{
	void *p[8];
	size_t i, k, same = 0;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = pages_alloc(9 * MIB + i);
		for (k = 0; k < i; k++)
			same += (uintptr_t)p[i] % 4096 == (uintptr_t)p[k] % 4096;
	}
	assert_true(same < ARRAY_SIZE(p));
	for (i = 0; i < ARRAY_SIZE(p); i++)
		pages_free(p[i], 9 * MIB + i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_keeps),
		cmocka_unit_test(an_array_grows_and_keeps),
		cmocka_unit_test(what_cannot_be_had),
		cmocka_unit_test(staggered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
