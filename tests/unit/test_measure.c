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

static const struct measure_lat *lat_of(const struct model *m, const struct measure *x, const char *name)
{
	u32 i;

	for (i = 0; i < x->n_lat; i++)
		if (!strcmp(strpool_get(&m->strings, x->lat[i].name), name))
			return &x->lat[i];
	fail_msg("no latency of '%s'", name);
	return NULL;
}

/* ---- queue depth ---- */

/* The published case: 160 reads of one object, one every 83 us, 16 us on the device. */
static void serial_reads(void **state)
{
	struct measure_qd1 *q;
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 160; i++)
		io(&b, i * 83 * US, 16 * US, 5, i, "read", 1000 + i * 32);
	take(&m, &b, &x);
	q = &x.qd1[DIR_READ];
	assert_int_equal(q->verdict, QD1_SERIAL);
	assert_string_equal(report_qd1_word(q->verdict), "QD~1 (serialized)");
	assert_int_equal(q->gap.n, 159);
	assert_int_equal(q->gap.p50, 83 * US);
	assert_int_equal(q->service.p25, 16 * US);
	assert_int_equal(q->long_gaps, 159);
	assert_int_equal(q->waited_ns, 159 * 67 * US);
	assert_int_equal(q->gap_ns, 159 * 83 * US);
	assert_true(fabs(q->in_flight - 0.19) < 0.005);
	assert_true(fabs(q->busy_in_flight - 1) < 1e-9);
	assert_true(fabs(x.depth.mean - 0.19) < 0.005);
	assert_int_equal(x.depth.max, 1);
	assert_int_equal(x.depth.le1_ns, x.depth.span_ns);
	assert_int_equal(x.qd1[DIR_WRITE].verdict, QD1_UNKNOWN);
	assert_false(x.health.lossy || x.health.incomplete);
	done(&m, &x);
}

/* Slow writes must not hide serial reads: each direction has its own floor. */
static void mixed_directions(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++)
		io(&b, i * 100 * US, 90 * US, 1, i, "read", i * 32);
	for (i = 0; i < 100; i++)
		io(&b, 7 + i * 2900 * US / 8, 2900 * US, 2, i, "write", 90000 + i * 32);
	take(&m, &b, &x);
	assert_int_equal(x.qd1[DIR_READ].verdict, QD1_SERIAL);
	assert_int_equal(x.qd1[DIR_WRITE].verdict, QD1_PIPELINED);
	assert_int_equal(x.qd1[DIR_WRITE].service.p25, 2900 * US);
	done(&m, &x);
}

/* A device that is kept busy by a few commands is not the application's fault. */
static void device_bound_is_not_serial(void **state)
{
	static const u32 depths[] = { 2, 4, 8 };
	size_t d;

	(void)state;
	for (d = 0; d < ARRAY_SIZE(depths); d++) {
		struct measure x;
		struct buf b = {};
		struct model m;
		u32 i;

		for (i = 0; i < 200; i++)
			io(&b, i * 100 * US, depths[d] * 100 * US, 1, i, "read", i * 32);
		take(&m, &b, &x);
		assert_int_equal(x.qd1[DIR_READ].verdict, QD1_PIPELINED);
		assert_int_equal(x.depth.max, depths[d]);
		/* less than the depth only where it fills and drains */
		assert_true(x.depth.busy_mean <= depths[d] && x.depth.busy_mean > 0.95 * depths[d]);
		done(&m, &x);
	}
}

/* Gaps are within one operation, never from one use of an id to the next. */
static void occurrences_are_not_mixed(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i, k;

	(void)state;
	for (k = 0; k < 3; k++) {
		u64 at = k * 500 * MS;

		for (i = 0; i < 8; i++)
			io(&b, at + i * 3 * US, 200 * US, 9, k * 8 + i, "write", i * 32);
		op(&b, 9, "store", "m@f@0@h", 1 << 20, at - (k ? 100 * US : 0), at + 300 * US, NULL);
	}
	take(&m, &b, &x);
	assert_int_equal(x.qd1[DIR_WRITE].ops, 3);
	assert_int_equal(x.qd1[DIR_WRITE].gap.n, 21);
	assert_int_equal(x.qd1[DIR_WRITE].gap.max, 3 * US);
	assert_int_equal(x.qd1[DIR_WRITE].verdict, QD1_PIPELINED);
	assert_int_equal(x.n_obj, 1);
	assert_int_equal(x.obj[0].n, 3);
	assert_int_equal(x.obj[0].presubmit.n, 3);
	assert_int_equal(x.obj[0].presubmit.max, 100 * US);
	assert_int_equal(x.obj[0].commands, 24);
	done(&m, &x);
}

/* A device with few tags takes commands one by one, but they were all submitted at once. */
static void a_wait_for_the_device_is_no_gap(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 32; i++) {
		buf_printf(
			&b,
			"{\"event_type\":\"nvme_cmd\",\"user_data\":%llu,\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,"
			"\"slba\":%u,\"data_len\":4096,\"attempts\":2,\"wait_ns\":%llu,\"ts\":%llu}\n",
			1ull << 32 | i, i, i * 99 * US, T0 + i * 100 * US);
		cmp(&b, i * 100 * US, 100 * US, 1, i, 0);
	}
	take(&m, &b, &x);
	assert_int_equal(x.qd1[DIR_READ].gap.p50, 1 * US);
	assert_int_equal(x.qd1[DIR_READ].verdict, QD1_PIPELINED);
	assert_int_equal(x.depth.max, 1);
	done(&m, &x);
}

static void few_commands_say_nothing(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		io(&b, i * 90 * US, 10 * US, 1, i, "read", i * 32);
	take(&m, &b, &x);
	assert_int_equal(x.qd1[DIR_READ].verdict, QD1_UNKNOWN);
	done(&m, &x);
}

/* ---- what counts ---- */

static void failed_commands_have_no_latency(void **state)
{
	const struct measure_lat *l;
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++) {
		bool bad = i == 10 || i == 20;

		cmd(&b, i * 200 * US, 1, i, "read", i * 32);
		cmp(&b, i * 200 * US, bad ? 5 * US : 100 * US, 1, i, bad ? 10 : 0);
	}
	take(&m, &b, &x);
	l = lat_of(&m, &x, "read");
	assert_int_equal(l->n, 100);
	assert_int_equal(l->failed, 2);
	assert_int_equal(l->lat.n, 98);
	assert_int_equal(l->lat.min, 100 * US);
	assert_int_equal(l->lat.p50, 100 * US);
	assert_int_equal(x.cmd.state[STATE_FAILED], 2);
	assert_int_equal(x.cmd.failed_bytes, 2 * 131072);
	assert_int_equal(x.n_failures, 1);
	assert_int_equal(x.failure[0].n, 2);
	assert_int_equal(x.failure[0].kind, STATUS_BLK);
	assert_string_equal(report_status_name(&x.failure[0]), "I/O error");
	assert_int_equal(x.pool_ok_bytes, 98 * 131072);
	assert_true(fabs(x.cmd.coverage - 1) < 1e-9);
	done(&m, &x);
}

static void a_reissue_is_one_command(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;

	(void)state;
	cmd(&b, 0, 7, 1, "read", 64);
	cmd(&b, 40 * US, 7, 1, "read", 64);
	cmp(&b, 40 * US, 20 * US, 7, 1, 0);
	take(&m, &b, &x);
	assert_int_equal(x.cmd.n, 1);
	assert_int_equal(x.cmd.state[STATE_REISSUED], 1);
	assert_int_equal(x.cmd.bytes, 131072);
	assert_int_equal(lat_of(&m, &x, "read")->lat.p50, 20 * US);
	assert_false(x.health.lossy);
	done(&m, &x);
}

static void refused_and_hanging_commands(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 10; i++)
		io(&b, i * 100 * US, 50 * US, 1, i, "read", i * 32);
	buf_printf(
		&b,
		"{\"event_type\":\"nvme_cmd\",\"user_data\":4294967396,\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,"
		"\"slba\":9,\"data_len\":262144,\"refused\":true,\"status\":22,\"ts\":%llu}\n",
		T0 + 1 * MS);
	buf_printf(
		&b,
		"{\"event_type\":\"nvme_cmd\",\"user_data\":4294967397,\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,"
		"\"slba\":9,\"data_len\":131072,\"in_flight\":true,\"age_ns\":1000000,\"ts\":%llu}\n",
		T0 + 1 * MS);
	buf_printf(&b, "{\"event_type\":\"clock_anchor\",\"monotonic_ns\":%llu,\"realtime_ns\":1}\n", T0 + 2 * MS);
	take(&m, &b, &x);
	assert_int_equal(x.cmd.n, 11);
	assert_int_equal(x.cmd.state[STATE_REFUSED], 1);
	assert_int_equal(x.cmd.state[STATE_IN_FLIGHT], 1);
	assert_int_equal(x.cmd.state[STATE_OK], 10);
	assert_int_equal(x.health.unpaired, 0);
	assert_int_equal(lat_of(&m, &x, "read")->in_flight, 1);
	assert_int_equal(lat_of(&m, &x, "read")->lat.n, 10);
	/* It is in flight until the end: depth 1 for the last millisecond. */
	assert_int_equal(x.depth.n, 11);
	assert_int_equal(x.depth.span_ns, 2 * MS);
	done(&m, &x);
}

static void time_that_runs_backwards(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;

	(void)state;
	io(&b, 0, 10 * US, 1, 0, "read", 0);
	cmd(&b, 100 * US, 1, 1, "read", 32);
	buf_printf(&b, "{\"event_type\":\"nvme_cmp\",\"user_data\":4294967297,\"err\":0,\"lat_ns\":-5,\"ts\":%llu}\n",
		   T0 + 100 * US - 5);
	take(&m, &b, &x);
	assert_int_equal(x.health.negative, 1);
	assert_int_equal(lat_of(&m, &x, "read")->lat.n, 1);
	assert_int_equal(lat_of(&m, &x, "read")->lat.max, 10 * US);
	assert_int_equal(x.cmd.n, 2);
	done(&m, &x);
}

static void missing_completions(void **state)
{
	struct report_warnings w;
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++) {
		cmd(&b, i * 100 * US, 1, i, "read", i * 32);
		if (i % 40 != 7)
			cmp(&b, i * 100 * US, 50 * US, 1, i, 0);
	}
	take(&m, &b, &x);
	assert_int_equal(x.health.unpaired, 3);
	assert_true(x.health.lossy);
	assert_false(x.health.incomplete);
	report_warnings(&w, &m, &x.health);
	assert_int_equal(w.n, 1);
	assert_string_equal(w.text.p, "LOSSY: 3 of 100 commands (3.0 %) have no completion");
	buf_free(&w.text);
	done(&m, &x);
}

/* A tracer without completions is not lossy; a capture without a last line is incomplete. */
static void older_captures(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 10; i++)
		cmd(&b, i * 100 * US, 1, i, "read", i * 32);
	load(&m, &b);
	assert_int_equal(measure_take(&x, &m, NULL), 0);
	assert_true(x.health.no_completions);
	assert_false(x.health.lossy);
	assert_true(x.health.incomplete && x.health.no_account);
	assert_int_equal(x.depth.n, 0);
	assert_int_equal(x.qd1[DIR_READ].verdict, QD1_SUSPICIOUS);
	done(&m, &x);
}

static void untagged_only(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 10; i++)
		io(&b, i * 100 * US, 20 * US, 0, i + 1, "read", i * 32);
	take(&m, &b, &x);
	assert_false(x.pool_tagged);
	assert_int_equal(x.pool_n, 10);
	assert_int_equal(x.cmd.untagged, 10);
	assert_int_equal(x.cmd.tagged_bytes, 0);
	assert_int_equal(lat_of(&m, &x, "read")->lat.n, 10);
	assert_int_equal(x.qd1[DIR_READ].verdict, QD1_UNKNOWN);
	done(&m, &x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(serial_reads),
		cmocka_unit_test(mixed_directions),
		cmocka_unit_test(device_bound_is_not_serial),
		cmocka_unit_test(occurrences_are_not_mixed),
		cmocka_unit_test(a_wait_for_the_device_is_no_gap),
		cmocka_unit_test(few_commands_say_nothing),
		cmocka_unit_test(failed_commands_have_no_latency),
		cmocka_unit_test(a_reissue_is_one_command),
		cmocka_unit_test(refused_and_hanging_commands),
		cmocka_unit_test(time_that_runs_backwards),
		cmocka_unit_test(missing_completions),
		cmocka_unit_test(older_captures),
		cmocka_unit_test(untagged_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
