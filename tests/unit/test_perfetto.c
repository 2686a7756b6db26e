// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/hash.h"
#include "model_text.h"
#include "out/perfetto_detail.h"
#include "out/perfetto_summary.h"

/* ---- bins ---- */

/* How many bins of that width the times of all keys are in. */
static u32 count_bins(const u64 *ns, const u32 *key, u32 n, u32 n_keys, u32 shift)
{
	u32 bins = 0, k, i;

	for (k = 0; k < n_keys; k++) {
		u64 last = 0;
		bool any = false;

		for (i = 0; i < n; i++) {
			if (key[i] != k)
				continue;
			bins += !any || bin_of(ns[i], shift) != bin_of(last, shift);
			any = true;
			last = ns[i];
		}
	}
	return bins;
}

static void the_narrowest_bins_that_fit(void **state)
{
	enum { N = 500, KEYS = 7 };
	u64 ns[N], last[KEYS], now = 0, r = 1;
	bool seen[KEYS] = {};
	struct bins b = {};
	u32 key[N], i, most;

	(void)state;
	for (i = 0; i < N; i++) {
		r = hash_u64(r + i);
		now += r % 5 ? r % 100 : r % 1000000;
		ns[i] = now;
		key[i] = (u32)(r >> 32) % KEYS;
		if (!seen[key[i]])
			b.n_keys++;
		else
			bins_step(&b, last[key[i]], now);
		seen[key[i]] = true;
		last[key[i]] = now;
	}
	for (most = KEYS; most <= N + 1; most++) {
		u32 k = bins_choose(&b, most);

		assert_true(count_bins(ns, key, N, KEYS, k) <= most);
		assert_true(k == 0 || count_bins(ns, key, N, KEYS, k - 1) > most);
	}
	/* Less than one a key is not to be had. */
	assert_int_equal(bins_choose(&b, KEYS - 1), 64);
	assert_int_equal(count_bins(ns, key, N, KEYS, 64), KEYS);
}

static bool item_value(const void *arg, u32 i, u32 *group, u64 *value)
{
	const u64 *v = arg;

	*group = i % 3;
	*value = v[i];
	return v[i] != 0;
}

static void medians_of_groups(void **state)
{
	/* 0 has no value; group 2 has none at all */
	static const u64 v[] = { 10, 7, 0, 30, 0, 0, 20, 0, 0, 40, 9, 0 };
	struct median *m;

	(void)state;
	assert_int_equal(medians_take(&m, 3, ARRAY_SIZE(v), item_value, v), 0);
	assert_int_equal(m[0].n, 4);
	assert_int_equal(m[0].p50, 20);
	assert_int_equal(m[0].max, 40);
	assert_int_equal(m[1].n, 2);
	assert_int_equal(m[1].p50, 7);
	assert_int_equal(m[1].max, 9);
	assert_int_equal(m[2].n, 0);
	assert_int_equal(m[2].p50, 0);
	free(m);
}

/* ---- writing ---- */

static void small_model(struct model *m)
{
	const struct join_options o = {};
	struct buf b = {};

	sem_op(&b, 1, "load", 4096, 1000, 90000);
	um_cmd(&b, 2000, 1ull << 32, 1, "read");
	um_cmp(&b, 52000, 1ull << 32, 50000);
	model_of(m, &b);
	assert_int_equal(model_join(m, &o), 0);
}

struct sink {
	u32 opened, fail_at;
};

static int open_null(void *arg, u32 piece, struct zout **z)
{
	struct sink *s = arg;

	assert_int_equal(piece, ++s->opened);
	return piece == s->fail_at ? -EACCES : zout_open(z, "/dev/null", ZIO_PLAIN);
}

static void what_cannot_be_written(void **state)
{
	const struct perfetto_options plain = {}, aligned = { .align_realtime = true };
	struct perfetto_arm arms[2] = { { .label = "x" }, { .label = "x" } };
	struct sink s = {};
	struct perfetto_out out = { .open = open_null, .arg = &s };
	struct perfetto_stats stats[2];
	struct model m;

	(void)state;
	small_model(&m);
	arms[0].m = arms[1].m = &m;
	assert_int_equal(perfetto_write_pieces(&out, arms, 2, &plain, stats), -EEXIST);
	assert_int_equal(perfetto_write_pieces(&out, arms, 1, &aligned, stats), -ENODATA);
	assert_int_equal(s.opened, 0);
	s.fail_at = 1;
	assert_int_equal(perfetto_write_pieces(&out, arms, 1, &plain, stats), -EACCES);
	s = (struct sink){};
	assert_int_equal(perfetto_write_pieces(&out, arms, 1, &plain, stats), 0);
	assert_int_equal(s.opened, 1);
	assert_int_equal(out.pieces, 1);
	model_free(&m);
}

static void a_failure_between_pieces(void **state)
{
	const struct perfetto_options o = {};
	struct sink s = { .fail_at = 2 };
	struct perfetto_out out = { .open = open_null, .arg = &s, .split_bytes = 1 };
	struct perfetto_stats stats;
	struct perfetto_arm arm = { .label = "x" };
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 2000; i++)
		um_cmd(&b, 1000 + i * 10000ull, i, i, "read");
	model_of(&m, &b);
	assert_int_equal(model_join(&m, &(struct join_options){}), 0);
	arm.m = &m;
	assert_int_equal(perfetto_write_pieces(&out, &arm, 1, &o, &stats), -EACCES);
	s = (struct sink){};
	assert_int_equal(perfetto_write_pieces(&out, &arm, 1, &o, &stats), 0);
	assert_true(s.opened > 5);
	assert_int_equal(stats.commands.slices, 2000);
	model_free(&m);
}

/* A sum that is not the model's is seen. */
static void the_self_check_can_fail(void **state)
{
	const struct perfetto_options o = {};
	struct sink s = {};
	struct perfetto_out out = { .open = open_null, .arg = &s };
	struct perfetto_stats stats, wrong;
	struct perfetto_arm arm = { .label = "x" };
	struct perfetto_result r = { .arms = &arm, .stats = &wrong, .n = 1, .o = &o };
	struct model m;

	(void)state;
	small_model(&m);
	arm.m = &m;
	assert_int_equal(perfetto_write_pieces(&out, &arm, 1, &o, &stats), 0);
	wrong = stats;
	assert_false(perfetto_verdict(&r, false) & PERFETTO_MISMATCH);
	wrong.commands.amount++;
	assert_true(perfetto_verdict(&r, false) & PERFETTO_MISMATCH);
	wrong = stats;
	wrong.objects.n--;
	assert_true(perfetto_verdict(&r, false) & PERFETTO_MISMATCH);
	wrong = stats;
	wrong.requests.n++;
	assert_true(perfetto_verdict(&r, false) & PERFETTO_MISMATCH);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_narrowest_bins_that_fit), cmocka_unit_test(medians_of_groups),
		cmocka_unit_test(what_cannot_be_written),      cmocka_unit_test(a_failure_between_pieces),
		cmocka_unit_test(the_self_check_can_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
