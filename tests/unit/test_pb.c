// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/pb.h"

static u64 get_varint(const u8 **p, const u8 *end)
{
	u64 v = 0;
	int shift = 0;

	for (;;) {
		assert_true(*p < end);
		v |= (u64)(**p & 0x7f) << shift;
		if (*(*p)++ < 0x80)
			return v;
		shift += 7;
	}
}

#define assert_bytes(b, literal)                                           \
	do {                                                               \
		assert_int_equal((b)->n, sizeof(literal) - 1);             \
		assert_memory_equal((b)->p, literal, sizeof(literal) - 1); \
	} while (0)

/* The examples of the encoding's own description. */
static void known_bytes(void **state)
{
	struct buf b = {};

	(void)state;
	pb_u64(&b, 1, 150);
	assert_bytes(&b, "\x08\x96\x01");
	buf_reset(&b);
	pb_string(&b, 2, "testing", 7);
	assert_bytes(&b, "\x12\x07testing");
	buf_reset(&b);
	pb_s64(&b, 1, -2);
	assert_bytes(&b, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	buf_reset(&b);
	pb_fixed64(&b, 47, 0x0102030405060708);
	assert_bytes(&b, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01");
	buf_reset(&b);
	pb_double(&b, 5, 1.0);
	assert_bytes(&b, "\x29\0\0\0\0\0\0\xf0\x3f");
	buf_free(&b);
}

static void varints_at_their_edges(void **state)
{
	struct buf b = {};
	int shift;

	(void)state;
	for (shift = 0; shift < 64; shift++) {
		u64 values[] = { 1ull << shift, (1ull << shift) - 1, UINT64_MAX << shift };
		size_t i;

		for (i = 0; i < ARRAY_SIZE(values); i++) {
			const u8 *p;

			buf_reset(&b);
			pb_varint(&b, values[i]);
			p = (const u8 *)b.p;
			assert_true(get_varint(&p, p + b.n) == values[i]);
			assert_ptr_equal(p, b.p + b.n);
			/* minimal: the last byte carries something */
			assert_true(b.n == 1 || b.p[b.n - 1] != 0);
		}
	}
	buf_free(&b);
}

/* A message in a message in a message, for every length around the length's own growth. */
static void nested_lengths(void **state)
{
	static const size_t sizes[] = { 0,   1,	  120, 121,   122,   123,   124,   125,
					126, 127, 128, 16370, 16380, 16383, 16384, 70000 };
	static char text[70000];
	struct buf b = {};
	size_t i;

	(void)state;
	memset(text, 'x', sizeof(text));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t outer, inner;
		const u8 *p, *end;
		u64 n;

		buf_reset(&b);
		pb_u64(&b, 9, 1);
		outer = pb_open(&b, 1);
		pb_u64(&b, 8, 300);
		inner = pb_open(&b, 11);
		pb_bytes(&b, 2, text, sizes[i]);
		pb_close(&b, inner);
		pb_u64(&b, 7, 5);
		pb_close(&b, outer);
		assert_false(b.failed);

		p = (const u8 *)b.p;
		end = p + b.n;
		assert_int_equal(get_varint(&p, end), 9 << 3);
		assert_int_equal(get_varint(&p, end), 1);
		assert_int_equal(get_varint(&p, end), 1 << 3 | 2);
		n = get_varint(&p, end);
		assert_int_equal(n, end - p);
		assert_int_equal(get_varint(&p, end), 8 << 3);
		assert_int_equal(get_varint(&p, end), 300);
		assert_int_equal(get_varint(&p, end), 11 << 3 | 2);
		n = get_varint(&p, end);
		assert_int_equal(n, end - p - 2);
		assert_int_equal(get_varint(&p, end), 2 << 3 | 2);
		n = get_varint(&p, end);
		assert_int_equal(n, sizes[i]);
		assert_memory_equal(p, text, n);
		p += n;
		assert_int_equal(get_varint(&p, end), 7 << 3);
		assert_int_equal(get_varint(&p, end), 5);
		assert_ptr_equal(p, end);
	}
	buf_free(&b);
}

static void strings_become_utf8(void **state)
{
	struct buf b = {};

	(void)state;
	pb_string(&b, 1, "a\xc3\xa9z", 4);
	assert_bytes(&b, "\x0a\x04"
			 "a\xc3\xa9z");
	buf_reset(&b);
	/* each stray byte is the character of its value */
	pb_string(&b, 1,
		  "\xff"
		  "a\x80",
		  3);
	assert_bytes(&b, "\x0a\x05\xc3\xbf"
			 "a\xc2\x80");
	buf_reset(&b);
	pb_string(&b, 1, "\xc3", 1);
	assert_bytes(&b, "\x0a\x02\xc3\x83");
	buf_reset(&b);
	pb_string(&b, 1, "", 0);
	assert_bytes(&b, "\x0a\x00");
	buf_free(&b);
}

static void a_failed_buffer_is_left_alone(void **state)
{
	struct buf b = { .failed = true };
	size_t mark;

	(void)state;
	mark = pb_open(&b, 1);
	pb_u64(&b, 2, 3);
	pb_string(&b, 3, "\xff", 1);
	pb_close(&b, mark);
	assert_int_equal(b.n, 0);
	assert_null(b.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_bytes),
		cmocka_unit_test(varints_at_their_edges),
		cmocka_unit_test(nested_lengths),
		cmocka_unit_test(strings_become_utf8),
		cmocka_unit_test(a_failed_buffer_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
