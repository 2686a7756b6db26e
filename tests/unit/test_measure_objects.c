// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "out/report.h"
#include "unit/measure_text.h"

/* ---- objects ---- */

static void objects(void **state)
{
	const struct measure_objects *o;
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	/* 1 ms of span, the first command after 100 us, 8 overlapping commands: 400 us with at least one */
	for (i = 0; i < 8; i++)
		io(&b, 100 * US + i * 25 * US, 225 * US, 1, i, "write", i * 32);
	op(&b, 1, "store", "m@f@0@h", 1000000, 0, 1 * MS, NULL);
	op(&b, 2, "load", "m@f@0@h", 1000000, 2 * MS, 3 * MS, "Timeout");
	op(&b, 3, "load", "m@f@0@h", 1000000, 2 * MS, 4 * MS, NULL);
	take(&m, &b, &x);
	assert_int_equal(x.n_obj, 2);
	o = &x.obj[0];
	assert_string_equal(strpool_get(&m.strings, o->name), "store");
	assert_int_equal(o->n, 1);
	assert_int_equal(o->span.p50, 1 * MS);
	assert_int_equal(o->presubmit.p50, 100 * US);
	assert_int_equal(o->device.p50, 400 * US);
	assert_int_equal(o->host.p50, 600 * US);
	assert_true(fabs(o->eff_mbs_p50 - 1000) < 1e-6);
	o = &x.obj[1];
	assert_int_equal(o->n, 1);
	assert_int_equal(o->failed, 1);
	assert_int_equal(o->span.p50, 2 * MS);
	assert_int_equal(o->with_cmds, 0);
	assert_int_equal(x.objects_failed, 1);
	assert_int_equal(x.n_errors, 1);
	assert_string_equal(strpool_get(&m.strings, x.error[0]), "Timeout");
	assert_int_equal(x.max_objects_in_flight, 2);
	done(&m, &x);
}

static void shards_by_nth_time(void **state)
{
	static const char *const keys[] = { "m@f0@0@abcdef", "m@f1@0@abcdef" };
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i, k;

	(void)state;
	/* The chunk is loaded twice by both shards; the second one is 10 us, then 30 us later. */
	for (k = 0; k < 2; k++)
		for (i = 0; i < 2; i++)
			op(&b, 1 + k * 2 + i, "load", keys[i], 1000, k * 50 * MS,
			   k * 50 * MS + 1 * MS + i * (k ? 30 : 10) * US, NULL);
	/* A chunk that one shard alone has does not count. */
	op(&b, 9, "load", "m@f0@0@ffff", 1000, 200 * MS, 201 * MS, NULL);
	take(&m, &b, &x);
	assert_int_equal(x.barrier.shards, 2);
	assert_int_equal(x.barrier.n, 2);
	assert_int_equal(x.barrier.gap.min, 10 * US);
	assert_int_equal(x.barrier.gap.max, 30 * US);
	done(&m, &x);
}

static void keys(void **state)
{
	struct key_parts k;

	(void)state;
	key_parse(&k, "model@bf16@12@abc@rest", 22);
	assert_int_equal(k.fmt_len, 4);
	assert_true(k.rank_is_number);
	assert_int_equal(k.rank_number, 12);
	assert_int_equal(k.hash_len, 3);
	key_parse(&k, "model@bf16@x1@abc", 17);
	assert_non_null(k.fmt);
	assert_false(k.rank_is_number);
	key_parse(&k, "a@b@99999999999999999999@c", 26);
	assert_false(k.rank_is_number);
	key_parse(&k, "a@b@@", 5);
	assert_non_null(k.fmt);
	assert_false(k.rank_is_number);
	assert_int_equal(k.hash_len, 0);
	key_parse(&k, "a@b@1", 5);
	assert_null(k.fmt);
	key_parse(&k, "", 0);
	assert_null(k.fmt);
}

static void verdict(const char *want, struct buf *b)
{
	struct buf got = {};
	struct measure x;
	struct model m;

	take(&m, b, &x);
	report_verdict(&got, &m, &x);
	buf_byte(&got, '\0');
	assert_string_equal(got.p, want);
	buf_free(&got);
	done(&m, &x);
}

static void verdicts_without_a_pair(void **state)
{
	struct buf b = {};

	(void)state;
	verdict("nothing recorded: 0 objects, 0 device commands", &b);
	op(&b, 1, "store", "k", 1000, 0, 1 * MS, NULL);
	verdict("no device IO: 1 object, 0 device commands (not recorded, wrong device, or served from a cache)", &b);
	io(&b, 0, 10 * US, 0, 1, "read", 0);
	verdict("device only: 1 command, 128 KiB; no semantic trace", &b);
	io(&b, 0, 10 * US, 0, 1, "read", 0);
	op(&b, 1, "store", "k", 1000, 0, 1 * MS, NULL);
	verdict("not joined: none of 1 objects has a device command", &b);
}

/* ---- two captures ---- */

static void capture(struct buf *b, u32 objects, u64 span)
{
	u32 i;

	for (i = 0; i < objects; i++) {
		char key[32];

		snprintf(key, sizeof(key), "m@f@0@%04u", i);
		io(b, i * 10 * MS, 50 * US, i + 1, 0, "read", i * 32);
		op(b, i + 1, "load", key, 131072, i * 10 * MS, i * 10 * MS + span, NULL);
	}
}

static void compare(u32 n_a, u32 n_b, struct measure_ab *ab)
{
	struct measure xa, xb;
	struct buf a = {}, b = {};
	struct model ma, mb;

	capture(&a, n_a, 1 * MS);
	capture(&b, n_b, 400 * US);
	take(&ma, &a, &xa);
	take(&mb, &b, &xb);
	assert_int_equal(measure_compare(ab, &ma, &xa, &mb, &xb), 0);
	done(&ma, &xa);
	done(&mb, &xb);
}

static void arms(void **state)
{
	struct measure_ab ab;

	(void)state;
	compare(23, 23, &ab);
	assert_true(ab.comparable);
	assert_int_equal(ab.paired, 23);
	assert_int_equal(ab.n_pairs, 1);
	assert_int_equal(ab.pair[0].delta_p50_ns, -600 * (s64)US);
	assert_int_equal(ab.pair[0].faster, 23);
	measure_ab_free(&ab);

	compare(23, 12, &ab);
	assert_false(ab.comparable);
	assert_int_equal(ab.paired, 12);
	assert_int_equal(ab.only[0], 11);
	assert_int_equal(ab.only[1], 0);
	measure_ab_free(&ab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects), cmocka_unit_test(shards_by_nth_time),
		cmocka_unit_test(keys),	   cmocka_unit_test(verdicts_without_a_pair),
		cmocka_unit_test(arms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
