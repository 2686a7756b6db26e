// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kv/requests.h"
#include "lib/dist.h"

static const struct kv_requests_options base = {
	.kind = KV_RANDOM, .seed = 1234, .chunk_tokens = 256, .median_tokens = 1024, .sigma = 1, .hit_rate = 0.5
};

#define N 20000

static void prompts_are_lognormal(void **state)
{
	static u64 tokens[N];
	struct kv_requests g;
	struct kv_request r;
	double sum = 0, squares = 0;
	struct dist d;
	u32 i, hits = 0;

	(void)state;
	assert_int_equal(kv_requests_init(&g, &base), 0);
	for (i = 0; i < N; i++) {
		double v;

		assert_int_equal(kv_requests_next(&g, &r), 0);
		assert_int_equal(r.index, i);
		assert_int_equal(r.n_load + r.n_store, MAX((r.tokens + 255) / 256, 1ull));
		assert_true(!r.n_load || !r.n_store);
		hits += r.hit;
		tokens[i] = r.tokens;
		v = log((double)r.tokens) - log(1024);
		sum += v;
		squares += v * v;
	}
	/* Of N draws: the standard errors are 0.007, 0.005, 0.0035; five of each. */
	assert_true(fabs(sum / N) < 0.035);
	assert_true(fabs(sqrt(squares / N) - 1) < 0.025);
	assert_true(fabs((double)hits / N - 0.5) < 0.018);
	assert_int_equal(dist_take(&d, tokens, N), 0);
	assert_true(d.p50 > 980 && d.p50 < 1070);
	kv_requests_free(&g);
}

static void the_same_seed_is_the_same_load(void **state)
{
	struct kv_requests_options other = base, hitless = base;
	struct kv_requests a, b, c, h;
	struct kv_request x, y, z, w;
	u32 i, differ = 0;

	(void)state;
	other.seed++;
	hitless.hit_rate = 0;
	assert_int_equal(kv_requests_init(&a, &base), 0);
	assert_int_equal(kv_requests_init(&b, &base), 0);
	assert_int_equal(kv_requests_init(&c, &other), 0);
	assert_int_equal(kv_requests_init(&h, &hitless), 0);
	for (i = 0; i < 200; i++) {
		assert_int_equal(kv_requests_next(&a, &x) | kv_requests_next(&b, &y), 0);
		assert_int_equal(kv_requests_next(&c, &z) | kv_requests_next(&h, &w), 0);
		assert_int_equal(x.tokens, y.tokens);
		assert_int_equal(x.n_load, y.n_load);
		if (x.n_load)
			assert_memory_equal(x.load, y.load, x.n_load * sizeof(u64));
		differ += x.tokens != z.tokens;
		/* The hit rate does not change the lengths. */
		assert_int_equal(x.tokens, w.tokens);
		assert_false(w.hit);
	}
	assert_true(differ > 150);
	kv_requests_free(&a);
	kv_requests_free(&b);
	kv_requests_free(&c);
	kv_requests_free(&h);
}

/* What is loaded is stored at that moment, what is evicted was the oldest, never more than fit. */
static void what_is_loaded_is_there(const struct kv_requests_options *o, u32 requests, u64 *hits)
{
	u8 *there = calloc(1 << 22, 1);
	struct kv_requests g;
	struct kv_request r;
	u64 held = 0, oldest = 0, i, k;

	assert_non_null(there);
	*hits = 0;
	assert_int_equal(kv_requests_init(&g, o), 0);
	for (i = 0; i < requests; i++) {
		assert_int_equal(kv_requests_next(&g, &r), 0);
		for (k = 0; k < r.n_load; k++)
			assert_int_equal(there[r.load[k]], 1);
		if (r.n_evict)
			assert_int_equal(r.evict_first, oldest);
		for (k = 0; k < r.n_evict; k++) {
			assert_int_equal(there[r.evict_first + k], 1);
			there[r.evict_first + k] = 0;
		}
		oldest += r.n_evict;
		held -= r.n_evict;
		for (k = 0; k < r.n_store; k++) {
			assert_true(r.store[k] < 1 << 22);
			assert_int_equal(there[r.store[k]], 0);
			there[r.store[k]] = 1;
		}
		held += r.n_store;
		assert_true(!o->capacity || held <= o->capacity);
		*hits += r.hit;
	}
	kv_requests_free(&g);
	free(there);
}

static void nothing_is_loaded_that_is_not_stored(void **state)
{
	struct kv_requests_options o = base;
	u64 hits;

	(void)state;
	what_is_loaded_is_there(&o, 3000, &hits);
	assert_true(hits > 1400);
	o.capacity = 20;
	what_is_loaded_is_there(&o, 3000, &hits);
	assert_true(hits > 1400);
	o.capacity = 1;
	what_is_loaded_is_there(&o, 300, &hits);

	o = base;
	o.kind = KV_SESSIONS;
	o.sessions = 4;
	o.turns = 5;
	what_is_loaded_is_there(&o, 3000, &hits);
	/* All turns but the first ones of a session. */
	assert_true(hits > 3000 * 7 / 10 && hits < 3000 * 8 / 10 + 4);
	o.capacity = 30;
	what_is_loaded_is_there(&o, 3000, &hits);
	assert_true(hits > 0 && hits < 3000 * 8 / 10);

	o = base;
	o.kind = KV_STORE_LOAD;
	o.chunks = 7;
	what_is_loaded_is_there(&o, 10, &hits);
	assert_int_equal(hits, 5);
	o.capacity = 10;
	what_is_loaded_is_there(&o, 10, &hits);
	o.capacity = 5;
	what_is_loaded_is_there(&o, 10, &hits);
}

static void turns_grow(void **state)
{
	static const u64 tokens[] = { 300, 300, 600 };
	struct kv_requests_options o = base;
	struct kv_requests g;
	struct kv_request r;

	(void)state;
	o.kind = KV_SESSIONS;
	o.sessions = 1;
	o.turns = 3;
	o.tokens = tokens;
	o.n_tokens = 3;
	assert_int_equal(kv_requests_init(&g, &o), 0);
	assert_int_equal(kv_requests_next(&g, &r), 0);
	assert_true(r.tokens == 300 && r.n_load == 0 && r.n_store == 1);
	assert_int_equal(kv_requests_next(&g, &r), 0);
	assert_true(r.tokens == 600 && r.n_load == 1 && r.n_store == 1);
	assert_int_equal(kv_requests_next(&g, &r), 0);
	assert_true(r.tokens == 1200 && r.n_load == 2 && r.n_store == 2);
	assert_true(r.load[0] == 0 && r.load[1] == 1 && r.store[0] == 2);
	/* The next session knows nothing. */
	assert_int_equal(kv_requests_next(&g, &r), 0);
	assert_true(r.tokens == 300 && r.n_load == 0 && r.n_store == 1 && r.store[0] == 4);
	kv_requests_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prompts_are_lognormal),
		cmocka_unit_test(the_same_seed_is_the_same_load),
		cmocka_unit_test(nothing_is_loaded_that_is_not_stored),
		cmocka_unit_test(turns_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
