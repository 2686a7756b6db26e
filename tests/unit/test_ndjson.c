// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/ndjson.h"

/* Scans all of a line that was copied to memory of exactly its size: the count of fields, or the error. */
static int scan(const char *text, size_t n, struct ndjson_field *f, int max)
{
	char *line = malloc(n ? n : 1);
	struct ndjson s;
	struct ndjson_field one;
	int count = 0, ret;

	assert_non_null(line);
	memcpy(line, text, n);
	ret = ndjson_start(&s, line, n);
	if (!ret)
		while ((ret = ndjson_next(&s, &one)) > 0)
			if (count++ < max)
				f[count - 1] = one;
	free(line);
	return ret ? ret : count;
}

static int count_fields(const char *text)
{
	return scan(text, strlen(text), NULL, 0);
}

/* The only field of a line, which must outlive it. */
static struct ndjson_field only(const char *line)
{
	struct ndjson s;
	struct ndjson_field f, end;

	assert_int_equal(ndjson_start(&s, line, strlen(line)), 0);
	assert_int_equal(ndjson_next(&s, &f), 1);
	assert_int_equal(ndjson_next(&s, &end), 0);
	return f;
}

static void fields_come_in_order_with_their_types(void **state)
{
	static const char line[] = " { \"a\" : 12 ,\"b\":\"x y\",\"c\":true,\"d\":false , \"e\":null,"
				   "\"f\":[1,{\"g\":\"]}\"}],\"h\":-1.5e3,\"\":\"\"}\t\r";
	static const struct {
		const char *key, *text;
		u8 type;
	} want[] = {
		{ "a", "12", ND_NUMBER },     { "b", "x y", ND_STRING }, { "c", "true", ND_TRUE },
		{ "d", "false", ND_FALSE },   { "e", "null", ND_NULL },	 { "f", "[1,{\"g\":\"]}\"}]", ND_NESTED },
		{ "h", "-1.5e3", ND_NUMBER }, { "", "", ND_STRING },
	};
	struct ndjson s;
	struct ndjson_field f;
	size_t i;

	(void)state;
	assert_int_equal(ndjson_start(&s, line, sizeof(line) - 1), 0);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(ndjson_next(&s, &f), 1);
		assert_int_equal(f.key_len, strlen(want[i].key));
		assert_memory_equal(f.key, want[i].key, f.key_len);
		assert_int_equal(f.text_len, strlen(want[i].text));
		assert_memory_equal(f.text, want[i].text, f.text_len);
		assert_int_equal(f.type, want[i].type);
	}
	assert_int_equal(ndjson_next(&s, &f), 0);
}

static void sound_lines_are_accepted(void **state)
{
	(void)state;
	assert_int_equal(count_fields("{}"), 0);
	assert_int_equal(count_fields(" {\t} \r"), 0);
	assert_int_equal(count_fields("{\"a\":{},\"b\":[],\"c\":[[],{}],\"d\":[{\"x\":[1,2,\"}\"]},null]}"), 4);
	assert_int_equal(count_fields("{\"a\":0,\"b\":-0,\"c\":0.5,\"d\":1E+2,\"e\":1e-2,\"f\":123456789012345678}"),
			 6);
	assert_int_equal(count_fields("{\"a\":1,\"a\":2}"), 2);
	assert_int_equal(count_fields("{\"\\u0061\\\"\":\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"}"), 1);
	assert_int_equal(count_fields("{\"not utf-8\":\"\xff\x9f\xc0\"}"), 1);
	assert_int_equal(count_fields("{\"big\":99999999999999999999999999}"), 1);
}

static void malformed_lines_are_refused(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"x",
		"[]",
		"1",
		"\"a\"",
		"{",
		"}",
		"{\"",
		"{\"a",
		"{\"a\"",
		"{\"a\":",
		"{\"a\":}",
		"{\"a\":1",
		"{\"a\":1,",
		"{\"a\":1,}",
		"{,}",
		"{\"a\" 1}",
		"{\"a\":1 \"b\":2}",
		"{\"a\":1}}",
		"{\"a\":1}x",
		"{a:1}",
		"{1:1}",
		"{\"a\":01}",
		"{\"a\":-}",
		"{\"a\":1.}",
		"{\"a\":.5}",
		"{\"a\":1e}",
		"{\"a\":1e+}",
		"{\"a\":+1}",
		"{\"a\":0x1f}",
		"{\"a\":NaN}",
		"{\"a\":Infinity}",
		"{\"a\":-Infinity}",
		"{\"a\":nan}",
		"{\"a\":tru}",
		"{\"a\":True}",
		"{\"a\":nulll}",
		"{\"a\":1 2}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\u12g4\"}",
		"{\"a\":\"\\u12\"}",
		"{\"a\":\"\\\"}",
		"{\"a\":\"tab\there\"}",
		"{\"a\":\"\x01\"}",
		"{'a':1}",
		"{\"a\":[}",
		"{\"a\":[1,]}",
		"{\"a\":[,1]}",
		"{\"a\":[1 2]}",
		"{\"a\":{\"b\"}}",
		"{\"a\":{\"b\":}}",
		"{\"a\":{\"b\":1,}}",
		"{\"a\":{1:2}}",
		"{\"a\":[1}",
		"{\"a\":{\"b\":1]}",
		"{\"a\":[\"x\":1]}",
		"{\"a\":[1]",
		"{\"a\":[01]}",
		"{\"a\":[NaN]}",
		"{\"a\":[\"\x1f\"]}",
		"{\"a\":1}\v",
		"{\"a\":1}{\"b\":2}",
		"// x",
		"{/**/}",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		if (scan(lines[i], strlen(lines[i]), NULL, 0) != -EBADMSG)
			fail_msg("accepted: %s", lines[i]);
	assert_int_equal(scan("{\"a\":\"\0\"}", 9, NULL, 0), -EBADMSG);
	assert_int_equal(scan("{\"a\":1}\0", 8, NULL, 0), -EBADMSG);
	assert_int_equal(scan("{\"a\":\0}", 7, NULL, 0), -EBADMSG);
}

static void every_cut_of_a_line_is_malformed(void **state)
{
	static const char line[] = "{\"k\\n\":\"v\\u00e9\",\"n\":-12.5e+3,\"o\":{\"a\":[true,null]},\"i\":123456789}";
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(line) - 1; n++)
		assert_int_equal(scan(line, n, NULL, 0), -EBADMSG);
	assert_int_equal(count_fields(line), 4);
}

/* Nesting as deep as `depth` in the value of one field. */
static int scan_nested(int depth, char open, char close)
{
	char line[4096];
	int n = sprintf(line, "{\"a\":"), i;

	for (i = 0; i < depth; i++) {
		line[n++] = open;
		if (open == '{' && i < depth - 1)
			n += sprintf(line + n, "\"\":");
	}
	for (i = 0; i < depth; i++)
		line[n++] = close;
	line[n++] = '}';
	return scan(line, (size_t)n, NULL, 0);
}

static void deep_nesting_has_a_limit(void **state)
{
	(void)state;
	assert_int_equal(scan_nested(NDJSON_DEPTH, '[', ']'), 1);
	assert_int_equal(scan_nested(NDJSON_DEPTH + 1, '[', ']'), -EBADMSG);
	assert_int_equal(scan_nested(NDJSON_DEPTH, '{', '}'), 1);
	assert_int_equal(scan_nested(NDJSON_DEPTH + 1, '{', '}'), -EBADMSG);
}

static void integers_are_exact_to_64_bits(void **state)
{
	struct ndjson_field a = only("{\"user_data\":9007199254740993}"), b = only("{\"user_data\":9007199254740992}");
	u64 x, y;

	(void)state;
	assert_int_equal(ndjson_u64(&a, &x), 0);
	assert_int_equal(ndjson_u64(&b, &y), 0);
	assert_true(x == 9007199254740993ull && y == 9007199254740992ull);
}

static void whole_numbers_in_all_their_forms(void **state)
{
	static const struct {
		const char *line;
		int ret;
		u64 want;
	} cases[] = {
		{ "{\"v\":0}", 0, 0 },
		{ "{\"v\":12345678}", 0, 12345678 },
		{ "{\"v\":123456789}", 0, 123456789 },
		{ "{\"v\":1234567890123456}", 0, 1234567890123456 },
		{ "{\"v\":18446744073709551615}", 0, UINT64_MAX },
		{ "{\"v\":18446744073709551616}", -ERANGE, 0 },
		{ "{\"v\":28446744073709551615}", -ERANGE, 0 },
		{ "{\"v\":99999999999999999999}", -ERANGE, 0 },
		{ "{\"v\":100000000000000000000000}", -ERANGE, 0 },
		{ "{\"v\":\"18446744073709551615\"}", 0, UINT64_MAX },
		{ "{\"v\":\"18446744073709551616\"}", -ERANGE, 0 },
		{ "{\"v\":\"0xc0484e80\"}", 0, 0xc0484e80 },
		{ "{\"v\":\"0xFFFFFFFFFFFFFFFF\"}", 0, UINT64_MAX },
		{ "{\"v\":\"0x10000000000000000\"}", -ERANGE, 0 },
		{ "{\"v\":\"0x\"}", -EINVAL, 0 },
		{ "{\"v\":\"0xg\"}", -EINVAL, 0 },
		{ "{\"v\":1e3}", 0, 1000 },
		{ "{\"v\":1.5e3}", 0, 1500 },
		{ "{\"v\":5.0}", 0, 5 },
		{ "{\"v\":500e-2}", 0, 5 },
		{ "{\"v\":5.5}", -EINVAL, 0 },
		{ "{\"v\":1e-1}", -EINVAL, 0 },
		{ "{\"v\":1e20}", -ERANGE, 0 },
		{ "{\"v\":1e999999999999}", -ERANGE, 0 },
		{ "{\"v\":0e999999999999}", 0, 0 },
		{ "{\"v\":-1}", -ERANGE, 0 },
		{ "{\"v\":-0}", 0, 0 },
		{ "{\"v\":\"\"}", -EINVAL, 0 },
		{ "{\"v\":\" 1\"}", -EINVAL, 0 },
		{ "{\"v\":\"1x\"}", -EINVAL, 0 },
		{ "{\"v\":\"NaN\"}", -EINVAL, 0 },
		{ "{\"v\":true}", -EINVAL, 0 },
		{ "{\"v\":[1]}", -EINVAL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ndjson_field f = only(cases[i].line);
		u64 v = 0;
		int ret = ndjson_u64(&f, &v);

		if (ret != cases[i].ret || v != cases[i].want)
			fail_msg("%s: %d %llu", cases[i].line, ret, (unsigned long long)v);
	}
}

static void signed_numbers_up_to_both_ends(void **state)
{
	struct ndjson_field f = only("{\"v\":-9223372036854775808}");
	s64 v;

	(void)state;
	assert_int_equal(ndjson_s64(&f, &v), 0);
	assert_true(v == INT64_MIN);
	f = only("{\"v\":9223372036854775807}");
	assert_int_equal(ndjson_s64(&f, &v), 0);
	assert_true(v == INT64_MAX);
	f = only("{\"v\":\"-125\"}");
	assert_int_equal(ndjson_s64(&f, &v), 0);
	assert_int_equal(v, -125);
	f = only("{\"v\":9223372036854775808}");
	assert_int_equal(ndjson_s64(&f, &v), -ERANGE);
	f = only("{\"v\":-9223372036854775809}");
	assert_int_equal(ndjson_s64(&f, &v), -ERANGE);
}

static void decimal_seconds_become_exact_nanoseconds(void **state)
{
	static const struct {
		const char *line;
		int ret;
		u64 want;
	} cases[] = {
		{ "{\"ts\":812345.679741704}", 0, 812345679741704 },
		{ "{\"ts\":812345.1}", 0, 812345100000000 },
		{ "{\"ts\":812345}", 0, 812345000000000 },
		{ "{\"ts\":8.12345679741704e5}", 0, 812345679741704 },
		{ "{\"ts\":812345679741704E-9}", 0, 812345679741704 },
		{ "{\"ts\":0.000000001}", 0, 1 },
		{ "{\"ts\":1e-9}", 0, 1 },
		{ "{\"ts\":0.1}", 0, 100000000 },
		{ "{\"ts\":\"12.25\"}", 0, 12250000000 },
		/* What a double adds below the nanosecond is rounded, not cut. */
		{ "{\"ts\":812345.6789012339}", 0, 812345678901234 },
		{ "{\"ts\":812345.6789012341}", 0, 812345678901234 },
		{ "{\"ts\":0.9999999995}", 0, 1000000000 },
		{ "{\"ts\":0.0000000004}", 0, 0 },
		{ "{\"ts\":1e-10}", 0, 0 },
		{ "{\"ts\":5e-10}", 0, 1 },
		{ "{\"ts\":1e-999999999999}", 0, 0 },
		{ "{\"ts\":18446744073.709551615}", 0, UINT64_MAX },
		{ "{\"ts\":18446744073.709551616}", -ERANGE, 0 },
		{ "{\"ts\":18446744073.7095516155}", -ERANGE, 0 },
		{ "{\"ts\":1e300}", -ERANGE, 0 },
		{ "{\"ts\":-1.5}", -ERANGE, 0 },
		{ "{\"ts\":-0.0}", 0, 0 },
		{ "{\"ts\":\"1.\"}", -EINVAL, 0 },
		{ "{\"ts\":\".5\"}", -EINVAL, 0 },
		{ "{\"ts\":\"1e\"}", -EINVAL, 0 },
		{ "{\"ts\":\"-\"}", -EINVAL, 0 },
		{ "{\"ts\":\"soon\"}", -EINVAL, 0 },
		{ "{\"ts\":null}", -EINVAL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ndjson_field f = only(cases[i].line);
		u64 v = 0;
		int ret = ndjson_ns(&f, &v);

		if (ret != cases[i].ret || v != cases[i].want)
			fail_msg("%s: %d %llu", cases[i].line, ret, (unsigned long long)v);
	}
}

static void truth_may_be_a_word_or_a_number(void **state)
{
	static const struct {
		const char *line;
		int ret;
		bool want;
	} cases[] = {
		{ "{\"v\":true}", 0, true }, { "{\"v\":false}", 0, false },	    { "{\"v\":1}", 0, true },
		{ "{\"v\":0}", 0, false },   { "{\"v\":\"yes\"}", -EINVAL, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ndjson_field f = only(cases[i].line);
		bool v = false;

		assert_int_equal(ndjson_bool(&f, &v), cases[i].ret);
		assert_true(v == cases[i].want);
	}
}

static void assert_unescaped(const char *line, const char *want, size_t n)
{
	struct ndjson_field f = only(line);
	struct buf b = {};

	assert_true(f.flags & ND_ESCAPED);
	ndjson_unescape(&b, f.text, f.text_len);
	assert_int_equal(b.n, n);
	assert_memory_equal(b.p, want, n);
	assert_true(n <= f.text_len);
	buf_free(&b);
}

static void escapes_are_resolved(void **state)
{
	(void)state;
	assert_unescaped("{\"v\":\"a\\\"b\\\\c\\n\\u0001\"}", "a\"b\\c\n\x01", 7);
	assert_unescaped("{\"v\":\"\\b\\f\\r\\t\\/\"}", "\b\f\r\t/", 5);
	assert_unescaped("{\"v\":\"\\u00e9\\u20AC\"}", "\xc3\xa9\xe2\x82\xac", 5);
	assert_unescaped("{\"v\":\"\\ud83d\\ude00!\"}", "\xf0\x9f\x98\x80!", 5);
	/* Halves of a pair alone. */
	assert_unescaped("{\"v\":\"\\ud83dx\"}", "\xef\xbf\xbdx", 4);
	assert_unescaped("{\"v\":\"\\ude00\\ud83d\"}", "\xef\xbf\xbd\xef\xbf\xbd", 6);
	assert_unescaped("{\"v\":\"\\ud83d\\u0041\"}",
			 "\xef\xbf\xbd"
			 "A",
			 4);
	assert_unescaped("{\"v\":\"\\u0000\"}", "\0", 1);
}

static void what_the_writer_escapes_is_read_back(void **state)
{
	struct buf line = {}, back = {};
	char all[128];
	int i;

	(void)state;
	for (i = 0; i < 128; i++)
		all[i] = (char)i;
	buf_lit(&line, "{\"comm\":");
	buf_json(&line, all, sizeof(all));
	buf_lit(&line, "}");
	buf_byte(&line, '\0');
	ndjson_unescape(&back, only(line.p).text, only(line.p).text_len);
	assert_int_equal(back.n, sizeof(all));
	assert_memory_equal(back.p, all, sizeof(all));
	buf_free(&line);
	buf_free(&back);
}

static void escaped_keys_are_told(void **state)
{
	struct ndjson_field f = only("{\"\\u0074s\":1}");
	struct buf b = {};

	(void)state;
	assert_true(f.flags & ND_KEY_ESCAPED);
	ndjson_unescape(&b, f.key, f.key_len);
	assert_int_equal(b.n, 2);
	assert_memory_equal(b.p, "ts", 2);
	buf_free(&b);
}

static void lines_are_cut_at_newlines(void **state)
{
	static const char text[] = "one\n\ntwo\r\nrest";
	const char *p = text, *end = text + sizeof(text) - 1;
	struct slice line;

	(void)state;
	assert_true(ndjson_line(&p, end, &line));
	assert_true(slice_is(line, "one"));
	assert_true(ndjson_line(&p, end, &line));
	assert_int_equal(line.n, 0);
	assert_true(ndjson_line(&p, end, &line));
	assert_true(slice_is(line, "two\r"));
	assert_false(ndjson_line(&p, end, &line));
	assert_int_equal(end - p, 4);
	p = end;
	assert_false(ndjson_line(&p, end, &line));
}

static void blanks_and_marks(void **state)
{
	(void)state;
	assert_true(ndjson_blank("", 0));
	assert_true(ndjson_blank(" \t\r", 3));
	assert_false(ndjson_blank(" x", 2));
	assert_int_equal(ndjson_bom("\xef\xbb\xbf{", 4), 3);
	assert_int_equal(ndjson_bom("\xef\xbb", 2), 0);
	assert_int_equal(ndjson_bom("{}", 2), 0);
}

static u64 rnd_state = 88172645463325252ull;

static u32 rnd(u32 below)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return (u32)(rnd_state >> 33) % below;
}

/* Lines of JSON words in any order agree with another parser on what is sound. */
static void agrees_with_another_parser(void **state)
{
	static const char *const words[] = { "{",     "}",	 "[",  "]",  ":",      ",",  " ",  "\"a\"",
					     "\"b\"", "\"\\n\"", "1",  "-",  "0",      ".5", "e1", "true",
					     "false", "null",	 "\"", "\\", "\"a\":", "{}", "[]", "\"a\":1" };
	u64 sound = 0;
	int i;

	(void)state;
	for (i = 0; i < 300000; i++) {
		char line[256] = "{";
		u32 n = 1 + rnd(12), j;
		json_error_t e;
		json_t *other;
		int ret;

		for (j = 0; j < n; j++)
			strcat(line, words[rnd(ARRAY_SIZE(words))]);
		if (rnd(4))
			strcat(line, "}");
		other = json_loads(line, 0, &e);
		ret = count_fields(line);
		if (!other && json_error_code(&e) == json_error_numeric_overflow)
			continue; /* the grammar is sound */
		if ((ret >= 0) != (other != NULL))
			fail_msg("%s: %d, the other says %s", line, ret, other ? "sound" : e.text);
		sound += other != NULL;
		json_decref(other);
	}
	assert_true(sound > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_come_in_order_with_their_types),
		cmocka_unit_test(sound_lines_are_accepted),
		cmocka_unit_test(malformed_lines_are_refused),
		cmocka_unit_test(every_cut_of_a_line_is_malformed),
		cmocka_unit_test(deep_nesting_has_a_limit),
		cmocka_unit_test(integers_are_exact_to_64_bits),
		cmocka_unit_test(whole_numbers_in_all_their_forms),
		cmocka_unit_test(signed_numbers_up_to_both_ends),
		cmocka_unit_test(decimal_seconds_become_exact_nanoseconds),
		cmocka_unit_test(truth_may_be_a_word_or_a_number),
		cmocka_unit_test(escapes_are_resolved),
		cmocka_unit_test(what_the_writer_escapes_is_read_back),
		cmocka_unit_test(escaped_keys_are_told),
		cmocka_unit_test(lines_are_cut_at_newlines),
		cmocka_unit_test(blanks_and_marks),
		cmocka_unit_test(agrees_with_another_parser),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
