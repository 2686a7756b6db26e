// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/buf.h"
#include "lib/hash.h"
#include "lib/hist.h"
#include "lib/human.h"
#include "lib/str.h"

static void whole_numbers(void **state)
{
	u64 v;

	(void)state;
	assert_int_equal(str_u64("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(str_u64("0x2a", &v), 0);
	assert_int_equal(v, 42);
	assert_int_equal(str_u64("18446744073709551616", &v), -ERANGE);
	assert_int_equal(str_u64("-1", &v), -EINVAL);
	assert_int_equal(str_u64(" 1", &v), -EINVAL);
	assert_int_equal(str_u64("1x", &v), -EINVAL);
	assert_int_equal(str_u64("", &v), -EINVAL);
}

static void sizes(void **state)
{
	static const struct {
		const char *text;
		u64 want;
	} good[] = {
		{ "4096", 4096 },      { "4k", 4096 },	       { "128KiB", 131072 }, { "1g", 1ull << 30 },
		{ "1GB", 1000000000 }, { "1.5M", 3ull << 19 }, { "2T", 2ull << 40 }, { "512b", 512 },
	};
	u64 v;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(str_size(good[i].text, &v), 0);
		assert_true(v == good[i].want);
	}
	assert_int_equal(str_size("16777216T", &v), -ERANGE);
	assert_int_equal(str_size("4x", &v), -EINVAL);
	assert_int_equal(str_size("k", &v), -EINVAL);
	assert_int_equal(str_size("-4k", &v), -EINVAL);
}

static void durations(void **state)
{
	u64 v;

	(void)state;
	assert_int_equal(str_ns("10", &v), 0);
	assert_true(v == 10 * NSEC_PER_SEC);
	assert_int_equal(str_ns("1.5ms", &v), 0);
	assert_int_equal(v, 1500000);
	assert_int_equal(str_ns("2m", &v), 0);
	assert_true(v == 120 * NSEC_PER_SEC);
	assert_int_equal(str_ns("7ns", &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(str_ns("1d", &v), -EINVAL);
}

static void nearest_word(void **state)
{
	static const char *const words[] = { "perfetto", "record", "report", "smoke" };

	(void)state;
	assert_string_equal(str_nearest("perfeto", words, 4), "perfetto");
	assert_string_equal(str_nearest("reocrd", words, 4), "record");
	assert_string_equal(str_nearest("repot", words, 4), "report");
	assert_null(str_nearest("banana", words, 4));
	assert_null(str_nearest("", words, 4));
}

static void utf8(void **state)
{
	(void)state;
	assert_int_equal(utf8_len("a", 1), 1);
	assert_int_equal(utf8_len("\xc3\xa9", 2), 2);
	assert_int_equal(utf8_len("\xf0\x9f\x98\x80", 4), 4);
	assert_int_equal(utf8_len("\xc3", 1), 0);	      /* cut */
	assert_int_equal(utf8_len("\xc0\x80", 2), 0);	      /* overlong */
	assert_int_equal(utf8_len("\xed\xa0\x80", 3), 0);     /* surrogate */
	assert_int_equal(utf8_len("\xf4\x90\x80\x80", 4), 0); /* above U+10FFFF */
	assert_int_equal(utf8_len("\x9f", 1), 0);
}

static void json_of_any_bytes(void **state)
{
	struct buf b = {};
	char all[256];
	int i;

	(void)state;
	buf_json(&b, "a\"b\\c\n\x01", 7);
	buf_byte(&b, 0);
	assert_string_equal(b.p, "\"a\\\"b\\\\c\\u000a\\u0001\"");
	buf_reset(&b);
	buf_json(&b, "f\x9fo", 3);
	buf_byte(&b, 0);
	assert_string_equal(b.p, "\"f\\u009fo\"");
	buf_reset(&b);
	for (i = 0; i < 256; i++)
		all[i] = (char)i;
	buf_json(&b, all, 256);
	for (i = 0; i < (int)b.n; i++)
		assert_true((u8)b.p[i] >= 0x20 && (u8)b.p[i] < 0x80);
	buf_free(&b);
}

static void integers_as_text(void **state)
{
	static const u64 v[] = { 0, 7, 10, 99, 100, 12345, UINT64_MAX, 1ull << 53, 18446744073709551600ull };
	struct buf b = {};
	char want[32];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(v); i++) {
		buf_reset(&b);
		buf_u64(&b, v[i]);
		buf_byte(&b, 0);
		snprintf(want, sizeof(want), "%llu", (unsigned long long)v[i]);
		assert_string_equal(b.p, want);
		buf_reset(&b);
		buf_s64(&b, (s64)v[i]);
		buf_byte(&b, 0);
		snprintf(want, sizeof(want), "%lld", (long long)v[i]);
		assert_string_equal(b.p, want);
		buf_reset(&b);
		buf_hex(&b, v[i]);
		buf_byte(&b, 0);
		snprintf(want, sizeof(want), "%llx", (unsigned long long)v[i]);
		assert_string_equal(b.p, want);
	}
	buf_free(&b);
}

static void pool_interns(void **state)
{
	struct strpool p = {};
	char word[16];
	u32 i;

	(void)state;
	assert_int_equal(strpool_find(&p, "x", 1), 0);
	for (i = 0; i < 10007; i++) {
		snprintf(word, sizeof(word), "w%u", i);
		assert_int_equal(strpool_add(&p, word, strlen(word)), i + 1);
	}
	for (i = 0; i < 10007; i++) {
		snprintf(word, sizeof(word), "w%u", i);
		assert_int_equal(strpool_add(&p, word, strlen(word)), i + 1);
		assert_int_equal(strpool_find(&p, word, strlen(word)), i + 1);
		assert_string_equal(strpool_get(&p, i + 1), word);
	}
	assert_int_equal(p.n, 10007);
	assert_string_equal(strpool_get(&p, 0), "");
	/* Bytes, not C strings: an embedded NUL counts. */
	assert_int_not_equal(strpool_add(&p, "a\0b", 3), strpool_add(&p, "a\0c", 3));
	strpool_free(&p);
}

static void map_holds_what_it_was_given(void **state)
{
	struct map64 m = {};
	bool is_new;
	u64 i;

	(void)state;
	assert_null(map64_get(&m, 1));
	for (i = 0; i < 20011; i++)
		*map64_put(&m, i << 32, &is_new) = (u32)i;
	for (i = 0; i < 20011; i++) {
		assert_int_equal(*map64_get(&m, i << 32), i);
		map64_put(&m, i << 32, &is_new);
		assert_false(is_new);
	}
	assert_null(map64_get(&m, 1));
	map64_free(&m);
}

static void histogram_is_within_its_bound(void **state)
{
	struct hist *h = calloc(1, sizeof(*h));
	u64 i, p;

	(void)state;
	assert_int_equal(hist_percentile(h, 50), 0);
	for (i = 1; i <= 100003; i++)
		hist_add(h, i * 1000);
	p = hist_percentile(h, 50);
	assert_true(p >= 50002000 && p <= 50002000 + 50002000 / 16);
	assert_int_equal(hist_percentile(h, 100), 100003000);
	assert_int_equal(h->min, 1000);
	hist_add(h, UINT64_MAX);
	assert_true(hist_percentile(h, 100) == UINT64_MAX);
	free(h);
}

static void for_people(void **state)
{
	char s[32];

	(void)state;
	assert_string_equal(human_bytes(s, sizeof(s), 512), "512 B");
	assert_string_equal(human_bytes(s, sizeof(s), 1536), "1.50 KiB");
	assert_string_equal(human_bytes(s, sizeof(s), 67108864), "64.0 MiB");
	assert_string_equal(human_ns(s, sizeof(s), 999), "999 ns");
	assert_string_equal(human_ns(s, sizeof(s), 83400), "83.4 us");
	assert_string_equal(human_ns(s, sizeof(s), 999999), "1.00 ms");
	assert_string_equal(human_ns(s, sizeof(s), 12340000000), "12.3 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(sizes),
		cmocka_unit_test(durations),
		cmocka_unit_test(nearest_word),
		cmocka_unit_test(utf8),
		cmocka_unit_test(json_of_any_bytes),
		cmocka_unit_test(integers_as_text),
		cmocka_unit_test(pool_interns),
		cmocka_unit_test(map_holds_what_it_was_given),
		cmocka_unit_test(histogram_is_within_its_bound),
		cmocka_unit_test(for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
