// SPDX-License-Identifier: Apache-2.0
/* Captures over time, in a bounded number of points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/series.h"
#include "unit/measure_text.h"

static void model_of(struct model *m, struct buf *b)
{
	buf_lit(b, "{\"event_type\":\"drops\",\"dropped\":0}\n");
	load(m, b);
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6 * MAX(fabs(b), 1);
}

static void depth_by_hand(void **state)
{
	struct series s;
	struct buf b = {};
	struct model m;

	(void)state;
	/* 0..40 read, 10..30 write, nothing up to 80, 80..100 read: in ten steps */
	io(&b, 0, 40 * US, 1, 1, "read", 0);
	io(&b, 10 * US, 20 * US, 1, 2, "write", 32);
	io(&b, 80 * US, 20 * US, 1, 3, "read", 64);
	model_of(&m, &b);
	assert_int_equal(series_depth(&s, &m, 10), 0);
	assert_int_equal(s.n, 10);
	assert_int_equal(s.start_ns, T0);
	assert_int_equal(s.step_ns, 10 * US);
	assert_true(near(s.v[DEPTH_MEAN][0], 1) && near(s.v[DEPTH_MEAN][1], 2) && near(s.v[DEPTH_MEAN][3], 1));
	assert_true(near(s.v[DEPTH_MEAN][4], 0) && near(s.v[DEPTH_MEAN][7], 0) && near(s.v[DEPTH_MEAN][9], 1));
	assert_true(near(s.v[DEPTH_WRITES][1], 1) && near(s.v[DEPTH_WRITES][2], 1) && near(s.v[DEPTH_WRITES][3], 0));
	assert_true(near(s.v[DEPTH_READS][2], 1));
	assert_true(near(s.v[DEPTH_MAX][0], 1) && near(s.v[DEPTH_MAX][1], 2) && near(s.v[DEPTH_MAX][6], 0));
	series_free(&s);
	/* In one step: (40 + 20 + 20) / 100 */
	assert_int_equal(series_depth(&s, &m, 1), 0);
	assert_int_equal(s.n, 1);
	assert_true(near(s.v[DEPTH_MEAN][0], 0.8) && near(s.v[DEPTH_MAX][0], 2));
	series_free(&s);
	model_free(&m);
}

static void rate_by_hand(void **state)
{
	struct series s;
	struct buf b = {};
	struct model m;

	(void)state;
	io(&b, 0, 15 * US, 1, 1, "read", 0);
	io(&b, 5 * US, 14 * US, 1, 2, "read", 32);
	cmd(&b, 6 * US, 1, 3, "read", 64);
	cmp(&b, 6 * US, 2 * US, 1, 3, 5); /* failed: no throughput */
	io(&b, 20 * US, 20 * US, 1, 4, "write", 96);
	model_of(&m, &b);
	assert_int_equal(series_rate(&s, &m, 4), 0);
	assert_int_equal(s.n, 4);
	assert_true(near(s.v[RATE_READS][0], 0));
	assert_true(near(s.v[RATE_READS][1], 2 * 131072 / 10e-6));
	assert_true(near(s.v[RATE_WRITES][3], 131072 / 10e-6));
	series_free(&s);
	model_free(&m);
}

/* Bounded, and nothing gets lost in it. */
static void many_commands_in_few_points(void **state)
{
	struct latencies l;
	struct density d;
	struct series s;
	struct buf b = {};
	struct model m;
	double bytes = 0, depth = 0;
	u64 n = 0, flight = 0, cells = 0;
	u32 i;

	(void)state;
	for (i = 0; i < 50023; i++) {
		u64 lat = (80 + i * 7919ull % 97) * US;

		io(&b, i * 3 * US, lat, 1 + i / 100, i, i % 3 ? "read" : "write", i * 7919ull % 100003);
		flight += lat;
	}
	model_of(&m, &b);
	assert_int_equal(series_depth(&s, &m, 0), 0);
	assert_true(s.n <= SERIES_MAX_POINTS && s.n > SERIES_MAX_POINTS / 2);
	for (i = 0; i < s.n; i++) {
		u64 len = i + 1 < s.n ? s.step_ns : s.end_ns - s.start_ns - i * s.step_ns;

		depth += s.v[DEPTH_MEAN][i] * (double)len;
		assert_true(s.v[DEPTH_MAX][i] >= s.v[DEPTH_MEAN][i] - 1e-6);
	}
	assert_true(near(depth / (double)flight, 1));
	series_free(&s);
	assert_int_equal(series_rate(&s, &m, 0), 0);
	for (i = 0; i < s.n; i++) {
		u64 len = i + 1 < s.n ? s.step_ns : s.end_ns - s.start_ns - i * s.step_ns;

		bytes += (s.v[RATE_READS][i] + s.v[RATE_WRITES][i]) * (double)len / 1e9;
	}
	assert_true(near(bytes / (50023.0 * 131072), 1));
	series_free(&s);

	assert_int_equal(series_latency(&l, &m), 0);
	assert_true(l.low_ns[0] <= 80 * US && l.low_ns[l.n] > 176 * US && l.n < 40);
	for (i = 0; i < l.n; i++) {
		n += l.count[DIR_READ][i] + l.count[DIR_WRITE][i];
		assert_true(l.low_ns[i] < l.low_ns[i + 1]);
	}
	assert_int_equal(n, 50023);
	assert_int_equal(l.total[DIR_WRITE], 50023 / 3 + 1);
	latencies_free(&l);

	assert_int_equal(series_density(&d, &m, NONE, 0, 0), 0);
	assert_true(d.columns <= DENSITY_MAX_COLUMNS && d.rows <= DENSITY_MAX_ROWS);
	assert_int_equal(d.n, 50023);
	for (i = 0; i < d.columns * d.rows; i++) {
		cells += d.cell[DIR_READ][i] + d.cell[DIR_WRITE][i];
		assert_true(d.cell[DIR_READ][i] <= d.max && d.cell[DIR_WRITE][i] <= d.max);
	}
	assert_int_equal(cells, 50023);
	density_free(&d);
	model_free(&m);
}

static void places_by_hand(void **state)
{
	struct density d;
	struct buf b = {};
	struct model m;

	(void)state;
	io(&b, 0, 10 * US, 1, 1, "write", 1000);
	io(&b, 50 * US, 10 * US, 1, 2, "write", 1100);
	io(&b, 99 * US, 10 * US, 1, 3, "read", 1199);
	model_of(&m, &b);
	assert_int_equal(series_density(&d, &m, NONE, 2, 2), 0);
	assert_int_equal(d.columns, 2);
	assert_int_equal(d.rows, 2);
	assert_int_equal(d.first_lba, 1000);
	assert_int_equal(d.lba_step, 100);
	assert_int_equal(d.cell[DIR_WRITE][0], 1);
	assert_int_equal(d.cell[DIR_WRITE][2 + 1], 1);
	assert_int_equal(d.cell[DIR_READ][2 + 1], 1);
	assert_int_equal(d.max, 1);
	density_free(&d);
	assert_int_equal(series_density(&d, &m, 12345, 2, 2), 0);
	assert_int_equal(d.n, 0);
	density_free(&d);
	model_free(&m);
}

/* One command; one without a completion; none at all. */
static void degenerate_captures(void **state)
{
	struct latencies l;
	struct density d;
	struct series s;
	struct buf b = {};
	struct model m;

	(void)state;
	cmd(&b, 0, 1, 1, "read", 5);
	model_of(&m, &b);
	assert_int_equal(series_depth(&s, &m, 0), 0);
	assert_int_equal(s.n, 1);
	assert_true(near(s.v[DEPTH_MAX][0], 0));
	series_free(&s);
	assert_int_equal(series_latency(&l, &m), 0);
	assert_int_equal(l.n, 0);
	latencies_free(&l);
	assert_int_equal(series_density(&d, &m, NONE, 0, 0), 0);
	assert_int_equal(d.columns * d.rows, 1);
	density_free(&d);
	model_free(&m);

	model_of(&m, &b);
	assert_int_equal(series_depth(&s, &m, 0), 0);
	assert_int_equal(s.n, 0);
	series_free(&s);
	assert_int_equal(series_rate(&s, &m, 0), 0);
	series_free(&s);
	assert_int_equal(series_density(&d, &m, NONE, 0, 0), 0);
	assert_int_equal(d.n, 0);
	density_free(&d);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depth_by_hand),       cmocka_unit_test(rate_by_hand),
		cmocka_unit_test(places_by_hand),      cmocka_unit_test(many_commands_in_few_points),
		cmocka_unit_test(degenerate_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
