// SPDX-License-Identifier: Apache-2.0
/* Lines that are predicted: the same records as by the grammar, whatever comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/hash.h"
#include "unit/model_text.h"
#include "unit/record_text.h"

/* Both ways of reading agree on the text, which is freed.  How many lines were predicted. */
static u64 both_ways(struct buf *text)
{
	struct buf with = {}, without = {};
	size_t n = text->n;
	u64 hits;

	buf_add(text, (char[JSONL_SLACK]){}, JSONL_SLACK);
	assert_false(text->failed);
	hits = put_lines_text(&with, text->p, n, true);
	put_lines_text(&without, text->p, n, false);
	assert_false(with.failed || without.failed);
	assert_int_equal(with.n, without.n);
	assert_memory_equal(with.p, without.p, with.n);
	buf_free(&with);
	buf_free(&without);
	buf_free(text);
	return hits;
}

static void lines_of_two_kinds_by_turns(void **state)
{
	struct buf b = {};
	u64 i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		um_cmd(&b, 1000000 + i * 977, i << 32 | 7, i * 100001, i / 100 % 2 ? "write" : "read");
		um_cmp(&b, 1090000 + i * 977, i << 32 | 7, i % 7 ? 90000 : 9);
	}
	assert_true(both_ways(&b) > 1950);
}

static void decimals_names_and_quoted_numbers_that_vary(void **state)
{
	struct buf b = {};
	u64 i;

	(void)state;
	for (i = 0; i < 500; i++) {
		sem_op(&b, i, i % 3 ? "load" : "store", i * 4096, i * 7, i * 7 + 5);
		buf_printf(&b,
			   "{\"op\":\"r\",\"ts_start\":%llu.5,\"ts\":%llu,\"tokens\":%llu,\"request_id\":\"q%llu\"}\n",
			   (unsigned long long)i, (unsigned long long)i + 1, (unsigned long long)i * 3,
			   (unsigned long long)i);
		buf_printf(&b,
			   "{\"event_type\":\"nvme_cmd\",\"ts\":\"0x%llx\",\"cmd_op\":\"0x%llx\",\"multipath\":%s}\n",
			   (unsigned long long)i, (unsigned long long)i * 5, i % 2 ? "true" : "false");
	}
	assert_true(both_ways(&b) > 1400);
}

static void blanks_and_crlf_belong_to_the_shape(void **state)
{
	struct buf b = {};
	u64 i;

	(void)state;
	for (i = 0; i < 100; i++)
		buf_printf(&b, " {\"event_type\" : \"nvme_cmp\", \"ts\":%llu , \"user_data\": %llu}\t\r\n",
			   (unsigned long long)i * 1000, (unsigned long long)i);
	assert_true(both_ways(&b) > 90);
}

static void more_kinds_than_shapes_are_kept(void **state)
{
	struct buf b = {};
	u32 i, k;

	(void)state;
	for (i = 0; i < 50; i++)
		for (k = 0; k < 20; k++)
			buf_printf(&b, "{\"event_type\":\"nvme_cmd\",\"other%u\":1,\"ts\":%u}\n", k, i);
	both_ways(&b);
}

/* Lines that are nearly of a known shape: each is read as if it stood alone. */
static void what_a_shape_must_not_swallow(void **state)
{
	static const char *const values[] = { "18446744073709551615",
					      "18446744073709551616",
					      "007",
					      "00",
					      "0",
					      "-1",
					      "1.0",
					      "1e3",
					      "1.",
					      "\"5\"",
					      "\"0x5\"",
					      "null",
					      "true",
					      "[1]",
					      "{}",
					      "\"\"",
					      "",
					      " 5 ",
					      "5}",
					      "5,\"ts\":6",
					      "\"a\\u0062\"",
					      "4294967296",
					      "65536",
					      "256",
					      "99999999",
					      "999999999",
					      "9999999999999999",
					      "99999999999999999",
					      "12345678901234567890",
					      "123456789012345678901" };
	static const char *const members[] = { "ts",  "user_data", "lat_ns", "hwq",	 "cid",	    "nvme_opcode",
					       "tid", "comm",	   "slba",   "attempts", "data_len" };
	static const char *const kinds[] = { "nvme_cmd", "nvme_cmp", "else" };
	struct buf b = {};
	u32 k, m, v, i;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		for (m = 0; m < ARRAY_SIZE(members); m++) {
			for (v = 0; v < ARRAY_SIZE(values); v++) {
				/* The value between two that teach that it varies. */
				for (i = 0; i < 3; i++)
					buf_printf(&b, "{\"event_type\":\"%s\",\"ts\":%u,\"%s\":%u,\"x\":%u}\n",
						   kinds[k], i, members[m], i, v);
				buf_printf(&b, "{\"event_type\":\"%s\",\"ts\":9,\"%s\":%s,\"x\":1}\n", kinds[k],
					   members[m], values[v]);
			}
			both_ways(&b);
			b = (struct buf){};
		}
}

/* A byte of a sound line changed, taken out or doubled. */
static void damaged_lines_are_judged_alike(void **state)
{
	struct buf b = {}, line = {};
	u64 random = 1, i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		size_t at, start;

		buf_reset(&line);
		if (i % 3 == 0)
			um_cmd(&line, 1000 + i * 31, i, i * 5, i % 2 ? "read" : "write");
		else if (i % 3 == 1)
			um_cmp(&line, 2000 + i * 31, i, i % 1000);
		else
			sem_op(&line, i, "load", i, i, i + 7);
		random = hash_u64(random + i);
		start = b.n;
		buf_add(&b, line.p, line.n);
		at = random % (line.n - 1);
		if (random >> 60 == 0)
			b.p[start + at] = (char)(random >> 8);
		else if (random >> 60 == 1)
			memmove(b.p + start + at, b.p + start + at + 1, --b.n - start - at);
		else if (random >> 60 == 2)
			b.p[start + at] = "\"{}[]:,09-.e\\ \n"[(random >> 8) % 15];
	}
	buf_free(&line);
	assert_true(both_ways(&b) > 10000);
}

/* Escapes in one line must not spoil, or slip into, the lines around it. */
static void escaped_strings_are_never_predicted(void **state)
{
	struct buf b = {};
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++)
		buf_printf(&b, "{\"event_type\":\"nvme_cmd\",\"comm\":\"%s%u\",\"ts\":%u}\n", i % 5 ? "a" : "a\\n", i,
			   i);
	assert_true(both_ways(&b) < 170);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_two_kinds_by_turns),
		cmocka_unit_test(decimals_names_and_quoted_numbers_that_vary),
		cmocka_unit_test(blanks_and_crlf_belong_to_the_shape),
		cmocka_unit_test(more_kinds_than_shapes_are_kept),
		cmocka_unit_test(what_a_shape_must_not_swallow),
		cmocka_unit_test(damaged_lines_are_judged_alike),
		cmocka_unit_test(escaped_strings_are_never_predicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
