// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kv/key.h"

#define SHA "412cb322137d81a561102174568c4f9c84e5db95f51dcc3e298078e0ece8c774"

static void parse(struct key_parts *k, const char *key)
{
	key_parse(k, key, strlen(key));
}

/* NULL wants no such field. */
static void assert_field(const char *p, size_t n, const char *want)
{
	if (!want) {
		assert_null(p);
		return;
	}
	assert_non_null(p);
	assert_int_equal(n, strlen(want));
	assert_memory_equal(p, want, n);
}

static void forms_are_told_apart_by_their_fields(void **state)
{
	static const struct {
		const char *key;
		enum key_form form;
		const char *group, *chunk, *salt;
	} cases[] = {
		{ "m@0x00000000@" SHA, KEY_RANKED, NULL, SHA, NULL },
		{ "m@0x00000000@0000002a", KEY_RANKED, NULL, "0000002a", NULL },
		{ "m@0x00000000@0@" SHA, KEY_RANKED, "0", SHA, NULL },
		{ "m@0x00000000@1f@0000002a", KEY_RANKED, "1f", "0000002a", NULL },
		{ "m@0x00000000@" SHA "@tenant-7", KEY_RANKED, NULL, SHA, "tenant-7" },
		{ "m@0x00000000@" SHA "@" SHA, KEY_RANKED, NULL, SHA, SHA },
		{ "m@0x00000000@0000002a@tenant", KEY_RANKED, NULL, "0000002a", "tenant" },
		{ "m@0x00000000@0@" SHA "@tenant", KEY_RANKED, "0", SHA, "tenant" },
		{ "m@0x00000000@0@" SHA "@ten@ant", KEY_RANKED, "0", SHA, "ten@ant" },
		{ "m@0X0000ABCD@0@" SHA "@", KEY_RANKED, "0", SHA, "" },
		{ "m@bf16@0@" SHA, KEY_OLD, NULL, SHA, NULL },
		{ "m@bf16@0@" SHA "@rest@rest", KEY_OLD, NULL, SHA, NULL },
		{ "m@0x0000000@0@" SHA, KEY_OLD, NULL, SHA, NULL },
		{ "m@0x0000000g@0@" SHA, KEY_OLD, NULL, SHA, NULL },
		{ "m@bf16@" SHA, KEY_OPAQUE, NULL, NULL, NULL },
		{ "m@0x00000000", KEY_OPAQUE, NULL, NULL, NULL },
		{ "kvobj-0000000001", KEY_OPAQUE, NULL, NULL, NULL },
		{ "", KEY_OPAQUE, NULL, NULL, NULL },
	};
	struct key_parts k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		parse(&k, cases[i].key);
		assert_int_equal(k.form, cases[i].form);
		assert_field(k.group, k.group_len, cases[i].group);
		assert_field(k.chunk, k.chunk_len, cases[i].chunk);
		assert_field(k.salt, k.salt_len, cases[i].salt);
		assert_field(k.hash, k.hash_len, cases[i].chunk);
		assert_field(k.model, k.model_len, cases[i].form == KEY_OPAQUE ? NULL : "m");
		assert_int_equal(k.fmt != NULL, cases[i].form != KEY_OPAQUE);
	}
}

static void the_rank_has_four_parts(void **state)
{
	struct key_parts k;

	(void)state;
	parse(&k, "m@0x04020402@0@" SHA);
	assert_int_equal(k.kv_rank.packed, 0x04020402);
	assert_int_equal(k.kv_rank.world, 4);
	assert_int_equal(k.kv_rank.global, 2);
	assert_int_equal(k.kv_rank.local_world, 4);
	assert_int_equal(k.kv_rank.local, 2);
	assert_true(k.rank_is_number);
	assert_int_equal(k.rank_number, 2);
	assert_field(k.fmt, k.fmt_len, "0x04020402"); /* what tells shards apart */
	/* Generators write their number alone. */
	parse(&k, "m@0x00000002@0000002a");
	assert_int_equal(k.kv_rank.world, 0);
	assert_int_equal(k.rank_number, 2);
}

static void old_keys_are_shown_as_they_were(void **state)
{
	struct key_parts k;

	(void)state;
	parse(&k, "acme/tiny-1b@bf16-3@0@" SHA);
	assert_field(k.fmt, k.fmt_len, "bf16-3");
	assert_field(k.rank, k.rank_len, "0");
	assert_true(k.rank_is_number);
	assert_int_equal(k.rank_number, 0);
	assert_int_equal(k.kv_rank.packed, 0);
	parse(&k, "m@f@x1@h");
	assert_false(k.rank_is_number);
	parse(&k, "m@f@99999999999999999999@h");
	assert_false(k.rank_is_number);
	parse(&k, "m@f@@");
	assert_field(k.rank, k.rank_len, "");
	assert_false(k.rank_is_number);
	assert_field(k.hash, k.hash_len, "");
}

static void assert_model(const char *key, const char *want)
{
	struct buf b = {};
	struct key_parts k;

	parse(&k, key);
	key_model(&k, &b);
	assert_int_equal(b.n, strlen(want));
	assert_memory_equal(b.p ? b.p : "", want, b.n);
	buf_free(&b);
}

static void the_model_is_percent_decoded(void **state)
{
	(void)state;
	assert_model("meta-llama%2FLlama-3.1-8B@0x00000000@" SHA, "meta-llama/Llama-3.1-8B");
	assert_model("a%2fb%40c@0x00000000@" SHA, "a/b@c");
	assert_model("100%@0x00000000@" SHA, "100%");
	assert_model("%2@0x00000000@" SHA, "%2");
	assert_model("%zz%41@f@0@h", "%zzA");
	assert_model("no model", "");
}

static void any_bytes_are_harmless(void **state)
{
	static const char alphabet[] = "@0xA%f9\0\377";
	char key[24];
	u64 s = 1;
	u32 i, n;

	(void)state;
	for (i = 0; i < 100000; i++) {
		struct key_parts k;
		char *copy;

		for (n = 0; n < sizeof(key); n++) {
			s = s * 6364136223846793005ull + 1;
			key[n] = alphabet[(s >> 40) % (sizeof(alphabet) - 1)];
		}
		n = (u32)(s >> 33) % sizeof(key);
		copy = malloc(n ? n : 1); /* so that a checker sees reads beyond the end */
		assert_non_null(copy);
		memcpy(copy, key, n);
		key_parse(&k, copy, n);
		if (k.form != KEY_OPAQUE) {
			assert_true(k.model == copy && k.chunk > k.fmt && k.chunk + k.chunk_len <= copy + n);
			assert_true(!k.salt || k.salt + k.salt_len == copy + n);
		}
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_are_told_apart_by_their_fields),
		cmocka_unit_test(the_rank_has_four_parts),
		cmocka_unit_test(old_keys_are_shown_as_they_were),
		cmocka_unit_test(the_model_is_percent_decoded),
		cmocka_unit_test(any_bytes_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
