// SPDX-License-Identifier: Apache-2.0
/* The blocks of text, as instructions and as words, against one byte at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/hash.h"

/* This file once more stands for architectures without vectors. */
#ifdef WORDS_ONLY
#undef __SSE2__
#undef __ARM_NEON
#endif
#include "lib/simd.h"

static void equal_and_unequal_text_of_any_length(void **state)
{
	char a[96], b[96];
	u32 n, at;

	(void)state;
	memset(a, 'x', sizeof(a));
	for (n = 0; n <= 64; n++) {
		memset(b, 'y', sizeof(b)); /* what is behind has no say */
		memcpy(b, a, n);
		assert_true(same_text(a, b, n));
		for (at = 0; at < n; at++) {
			b[at] ^= (char)(1 << at % 8);
			assert_false(same_text(a, b, n));
			b[at] = a[at];
		}
	}
}

static bool stops(u8 c)
{
	return c == '"' || c == '\\' || c < 0x20;
}

static void all_bytes_that_end_a_plain_run(void **state)
{
	u64 random = 7;
	u32 i, round;
	char p[16];

	(void)state;
	for (round = 0; round < 20000; round++) {
		u64 got;
		u32 first = 16;

		for (i = 0; i < 16; i++) {
			random = hash_u64(random + i + round);
			p[i] = (char)(round < 256  ? round
				      : random % 8 ? (u32)('a' + (random >> 60))
						   : (u32)(random >> 32));
			if (first == 16 && stops((u8)p[i]))
				first = i;
		}
		got = string_stops16(p);
		assert_int_equal(got ? (u32)__builtin_ctzll(got) / LANE_BITS : 16, first);
	}
}

/* Past the number that whole_number() finds in the text, or 0. */
static size_t number_in(const char *text, u64 *v)
{
	char copy[64] = {};
	const char *end;

	strncpy(copy, text, sizeof(copy) - 25);
	end = whole_number(copy, v);
	return end ? (size_t)(end - copy) : 0;
}

static void whole_numbers_of_any_length(void **state)
{
	static const char *const bad[] = { "",
					   "-1",
					   "x",
					   "00",
					   "01",
					   "012345678",
					   "0123456789012345678",
					   "18446744073709551616",
					   "99999999999999999999",
					   "123456789012345678901",
					   "/",
					   ":" };
	char text[32];
	u64 v, want = 0;
	size_t i;

	(void)state;
	assert_int_equal(number_in("0,", &v), 1);
	assert_int_equal(v, 0);
	for (i = 1; i <= 19; i++) {
		want = want * 10 + i % 10;
		snprintf(text, sizeof(text), "%llu}", (unsigned long long)want);
		assert_int_equal(number_in(text, &v), i);
		assert_true(v == want);
		text[i] = (char)(0x80 + '0'); /* no digit */
		assert_int_equal(number_in(text, &v), i);
		assert_true(v == want);
	}
	assert_int_equal(number_in("18446744073709551615", &v), 20);
	assert_true(v == UINT64_MAX);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(number_in(bad[i], &v), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_and_unequal_text_of_any_length),
		cmocka_unit_test(all_bytes_that_end_a_plain_run),
		cmocka_unit_test(whole_numbers_of_any_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
