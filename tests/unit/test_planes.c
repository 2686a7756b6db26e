// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/planes.h"

/* Every byte where the header says, and back; sizes and counts on both sides of the blocks that are done at a time. */
static void check(size_t size, size_t n)
{
	/* Exactly as large as they must be, so that a byte too far is seen. */
	u8 *records = malloc(size * n + 1), *planes = malloc(size * n + 1), *back = malloc(size * n + 1);
	u32 x = 1;
	size_t i, k;

	for (i = 0; i < size * n; i++)
		records[i] = (u8)((x = x * 1664525 + 1013904223) >> 24);
	planes[size * n] = back[size * n] = 0x5a;
	planes_split(planes, records, size, n);
	for (i = 0; i < n; i++)
		for (k = 0; k < size; k++)
			assert_int_equal(planes[k * n + i], records[i * size + k]);
	planes_join(back, planes, size, n);
	assert_memory_equal(back, records, size * n);
	assert_int_equal(planes[size * n], 0x5a);
	assert_int_equal(back[size * n], 0x5a);
	free(records);
	free(planes);
	free(back);
}

static void every_byte_has_its_place(void **state)
{
	static const size_t sizes[] = { 1, 7, 8, 9, 15, 16, 24, 63, 64, 80, 100 };
	size_t i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (n = 0; n < 70; n++)
			check(sizes[i], n);
	check(64, 4096);
	check(65535, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_has_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
