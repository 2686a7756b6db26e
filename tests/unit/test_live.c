// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "model/live.h"
#include "out/top.h"

#define US  1000ull
#define DEV (259u << 20 | 1)

static void learn(struct live *l, const char *comm)
{
	struct ev_task t = { .kind = EV_TASK, .tid = 43, .pid = 42 };
	struct ev_disk d = { .kind = EV_DISK, .dev = DEV, .name = "nvme0n1" };

	memcpy(t.comm, comm, strnlen(comm, sizeof(t.comm)));
	assert_int_equal(live_event(l, &t), 0);
	assert_int_equal(live_event(l, &d), 0);
}

static struct ev_nvme command(u64 ts_ns, u64 lat_ns, u64 trace_id)
{
	return (struct ev_nvme){ .kind = EV_NVME,
				 .flags = NVME_PASSTHROUGH,
				 .opcode = 2,
				 .ts_ns = ts_ns,
				 .lat_ns = lat_ns,
				 .user_data = trace_id << 32,
				 .bytes = 131072,
				 .dev = DEV,
				 .tid = 43 };
}

static void one_after_the_other_is_qd1(void **state)
{
	struct live l = {};
	int i;

	(void)state;
	learn(&l, "worker");
	for (i = 0; i < 160; i++) {
		struct ev_nvme c = command(i * 83 * US, 16 * US, 7);

		assert_int_equal(live_event(&l, &c), 0);
	}
	assert_int_equal(l.devices.n, 1);
	assert_int_equal(l.processes.n, 1);
	assert_string_equal(l.devices.row[0].name, "nvme0n1");
	assert_string_equal(l.processes.row[0].name, "worker");
	assert_int_equal(l.processes.row[0].id, 42);
	assert_int_equal(l.devices.row[0].reads, 160);
	assert_int_equal(l.devices.row[0].busy_ns, 160 * 16 * US);
	assert_true(live_busy_depth(&l.devices.row[0]) == 1.0);
	assert_int_equal(live_judge(&l.devices.row[0], 160 * 83 * US), LIVE_QD1);
	/* The same commands spread over ten times the time: nothing to complain about. */
	assert_int_equal(live_judge(&l.devices.row[0], 1600 * 83 * US), LIVE_IDLE);
	live_free(&l);
}

static void many_at_once_is_pipelined(void **state)
{
	struct live l = {};
	int i;

	(void)state;
	learn(&l, "worker");
	for (i = 0; i < 160; i++) {
		struct ev_nvme c = command(i * 10 * US, 80 * US, 7);

		live_event(&l, &c);
	}
	assert_true(live_busy_depth(&l.devices.row[0]) > 7);
	assert_int_equal(live_judge(&l.devices.row[0], 1600 * US), LIVE_PIPELINED);
	live_free(&l);
}

static void depth_and_objects_in_flight_are_those_of_now(void **state)
{
	struct live l = {};
	int i, look;

	(void)state;
	learn(&l, "worker");
	for (look = 0; look < 2; look++) {
		live_forget_in_flight(&l);
		for (i = 0; i < 12; i++) {
			struct ev_nvme c = command(i, 5, 100 + i / 4);

			c.flags |= NVME_IN_FLIGHT;
			live_event(&l, &c);
		}
		assert_int_equal(l.devices.row[0].in_flight, 12);
		assert_int_equal(l.devices.row[0].objects, 3);
		assert_int_equal(l.processes.row[0].objects, 3);
		assert_int_equal(l.devices.row[0].reads, 0);
	}
	live_free(&l);
}

static void failed_and_refused_are_apart(void **state)
{
	struct live l = {};
	struct ev_nvme good = command(0, 100 * US, 1), bad = command(200 * US, 5 * US, 1), refused = command(0, 1, 1);

	(void)state;
	learn(&l, "worker");
	bad.status = 0x4080;
	refused.flags |= NVME_REFUSED;
	refused.status = 22;
	live_event(&l, &good);
	live_event(&l, &bad);
	live_event(&l, &refused);
	assert_int_equal(l.devices.row[0].failed, 1);
	assert_int_equal(l.devices.row[0].refused, 1);
	assert_int_equal(l.devices.row[0].lat.n, 1);
	assert_int_equal(hist_percentile(&l.devices.row[0].lat, 50), 100 * US);
	live_free(&l);
}

static void idle_rows_go_busy_ones_stay(void **state)
{
	struct live l = {};
	struct ev_nvme c = command(0, 1, 1);
	int i;

	(void)state;
	learn(&l, "worker");
	live_event(&l, &c);
	for (i = 0; i < 10; i++)
		live_next(&l, (u64)i);
	assert_int_equal(l.devices.n, 1);
	assert_int_equal(l.devices.row[0].reads, 0);
	live_next(&l, 11);
	assert_int_equal(l.devices.n, 0);
	assert_int_equal(l.processes.n, 0);
	live_free(&l);
}

static void views_are_within_80_columns_and_valid_json(void **state)
{
	struct live l = {};
	struct buf b = {};
	json_t *j;
	size_t i, column = 0;
	int k;

	(void)state;
	learn(&l, "\x1b[31m\"evil\\\n");
	for (k = 0; k < 40; k++) {
		struct ev_nvme c = command(k * 1000000000ull, 999999999, 7);

		live_event(&l, &c);
	}
	top_text(&b, &l, 1000000000, 0, false);
	for (i = 0; i < b.n; i++) {
		column = b.p[i] == '\n' ? 0 : column + 1;
		assert_true(column <= 80);
		assert_true(b.p[i] == '\n' || ((u8)b.p[i] >= 0x20 && (u8)b.p[i] < 0x7f));
	}
	buf_reset(&b);
	top_json(&b, &l, 1000000000);
	j = json_loadb(b.p, b.n, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(j);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(json_object_get(j, "devices"), 0), "reads")),
			 40);
	json_decref(j);
	buf_free(&b);
	live_free(&l);
}

static void an_empty_view_is_a_view(void **state)
{
	struct live l = {};
	struct buf b = {};
	json_t *j;

	(void)state;
	top_text(&b, &l, 5, 24, true);
	assert_true(b.n > 0);
	buf_reset(&b);
	top_json(&b, &l, 5);
	j = json_loadb(b.p, b.n, 0, NULL);
	assert_non_null(j);
	json_decref(j);
	buf_free(&b);
	live_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other_is_qd1),
		cmocka_unit_test(many_at_once_is_pipelined),
		cmocka_unit_test(depth_and_objects_in_flight_are_those_of_now),
		cmocka_unit_test(failed_and_refused_are_apart),
		cmocka_unit_test(idle_rows_go_busy_ones_stay),
		cmocka_unit_test(views_are_within_80_columns_and_valid_json),
		cmocka_unit_test(an_empty_view_is_a_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
