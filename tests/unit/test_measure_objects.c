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

/* One shard of a chunk: one command, from begin + before, and as long behind it as is left. */
static void shard(struct buf *b, u32 id, const char *key, u64 begin, u64 before, u64 device, u64 end)
{
	op(b, id, "load", key, 131072, begin, end, NULL);
	io(b, begin + before, device, id, 0, "read", id * 32);
}

/* Which shard is last, and which part of its time makes it so. */
static void causes_of_a_late_shard(void **state)
{
	static const char *const keys[][2] = { { "m@f0@0@c0", "m@f1@0@c0" },
					       { "m@f0@0@c1", "m@f1@0@c1" },
					       { "m@f0@0@c2", "m@f1@0@c2" },
					       { "m@f0@0@c3", "m@f1@0@c3" },
					       { "m@f0@0@c4", "m@f1@0@c4" } };
	const struct measure_barrier *r;
	struct measure x;
	struct buf b = {};
	struct model m;
	s64 sum = 0;
	u32 k;

	(void)state;
	/* begins 300 us later; takes 250 us to submit; the device needs 200 us more; 150 us behind it; none: equal */
	for (k = 0; k < 5; k++)
		shard(&b, 1 + k, keys[k][0], k * 5 * MS, 50 * US, 100 * US, k * 5 * MS + 200 * US);
	shard(&b, 11, keys[0][1], 300 * US, 50 * US, 100 * US, 500 * US);
	shard(&b, 12, keys[1][1], 5 * MS, 300 * US, 100 * US, 5 * MS + 450 * US);
	shard(&b, 13, keys[2][1], 10 * MS, 50 * US, 300 * US, 10 * MS + 400 * US);
	shard(&b, 14, keys[3][1], 15 * MS, 50 * US, 100 * US, 15 * MS + 350 * US);
	shard(&b, 15, keys[4][1], 20 * MS, 50 * US, 100 * US, 20 * MS + 200 * US);
	take(&m, &b, &x);
	r = &x.barrier;
	assert_int_equal(r->n, 5);
	assert_int_equal(r->gap.max, 300 * US);
	assert_int_equal(r->gap.min, 0);
	for (k = 0; k < N_CAUSES; k++) {
		assert_int_equal(r->cause_n[k], 1);
		sum += r->cause_ns[k];
	}
	assert_int_equal(r->cause_ns[CAUSE_START], 300 * US);
	assert_int_equal(r->cause_ns[CAUSE_QUEUE], 250 * US);
	assert_int_equal(r->cause_ns[CAUSE_DEVICE], 200 * US);
	assert_int_equal(r->cause_ns[CAUSE_HOST], 150 * US);
	assert_int_equal(sum, r->gap.sum);
	assert_int_equal(r->n_shards, 2);
	assert_int_equal(r->shard[0].last, 4);
	assert_int_equal(r->shard[0].n, 5);
	assert_int_equal(r->shard[1].last, 0);
	assert_string_equal(strpool_get(&m.strings, m.op.key[r->shard[0].op]), keys[0][1]);
	done(&m, &x);
}

/* Commands of a key-value namespace have a direction and a latency like others. */
static void key_value_commands_have_latencies(void **state)
{
	struct measure x;
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 32; i++)
		buf_printf(
			&b,
			"{\"event_type\":\"nvme_cmd\",\"user_data\":%u,\"nvme_opcode\":%d,\"op_name\":\"%s\",\"nsid\":2,"
			"\"key_hex\":\"%04x\",\"key_len\":2,\"value_len\":4096,\"data_len\":4096,\"ts\":%llu}\n"
			"{\"event_type\":\"nvme_cmp\",\"user_data\":%u,\"err\":0,\"lat_ns\":%llu,\"ts\":%llu}\n",
			i + 1, i % 2 ? 2 : 1, i % 2 ? "retrieve" : "store", i, T0 + i * 100 * US, i + 1,
			(i % 2 ? 41 : 33) * US, T0 + i * 100 * US + (i % 2 ? 41 : 33) * US);
	take(&m, &b, &x);
	assert_int_equal(x.n_lat, 2);
	assert_string_equal(strpool_get(&m.strings, x.lat[0].name), "store");
	assert_int_equal(x.lat[0].lat.p50, 33 * US);
	assert_string_equal(strpool_get(&m.strings, x.lat[1].name), "retrieve");
	assert_int_equal(x.lat[1].lat.p50, 41 * US);
	assert_int_equal(x.cmd.dir_n[DIR_READ], 16);
	assert_int_equal(x.cmd.dir_n[DIR_WRITE], 16);
	/* They have no LBA: nothing is said of space. */
	assert_int_equal(x.space.writes, 0);
	done(&m, &x);
}

/* ---- two captures ---- */

struct shape {
	const char *model;
	u32 objects;
	u64 span, jitter;
	u32 size; /* of the objects, in commands */
};

static void capture(struct buf *b, const struct shape *s)
{
	u32 i, k;

	for (i = 0; i < s->objects; i++) {
		u64 span = s->span + i * 7919ull % 13 * s->jitter;
		char key[64];

		snprintf(key, sizeof(key), "%s@f%u@0@%04u", s->model, i % 2, i / 2);
		for (k = 0; k < s->size; k++)
			io(b, i * 10 * MS + k * US, 50 * US, i + 1, k, "read", i * 32);
		op(b, i + 1, "load", key, s->size * 131072, i * 10 * MS, i * 10 * MS + span, NULL);
	}
}

static void compare(const struct shape *one, const struct shape *two, double tolerance, struct measure_ab *ab)
{
	struct measure xa, xb;
	struct buf a = {}, b = {};
	struct model ma, mb;

	capture(&a, one);
	capture(&b, two);
	take(&ma, &a, &xa);
	take(&mb, &b, &xb);
	assert_int_equal(measure_compare(ab, &ma, &xa, &mb, &xb, tolerance), 0);
	done(&ma, &xa);
	done(&mb, &xb);
}

static void each_object_against_itself(void **state)
{
	const struct shape slow = { "m", 23, 1 * MS, 0, 1 }, fast = { "m", 23, 400 * US, 10 * US, 1 };
	const struct shape renamed = { "/models/m", 23, 400 * US, 10 * US, 1 };
	struct measure_ab ab;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		/* The model's name is no part of what an object is. */
		compare(&slow, i ? &renamed : &fast, AB_TOLERANCE, &ab);
		assert_true(ab.comparable);
		assert_int_equal(ab.paired, 23);
		assert_int_equal(ab.n_pairs, 1);
		assert_string_equal(ab.pair[0].name, "load");
		assert_int_equal(ab.pair[0].n, 23);
		assert_int_equal(ab.pair[0].faster, 23);
		/* 400 us + 0..12 times 10 us, each number nearly as often */
		assert_true(ab.pair[0].delta_ns.p50 >= -560e3 && ab.pair[0].delta_ns.p50 <= -520e3);
		assert_int_equal(ab.pair[0].interval_n, 23);
		assert_true(ab.pair[0].delta_ns.low < ab.pair[0].delta_ns.p50);
		assert_true(ab.pair[0].delta_ns.high > ab.pair[0].delta_ns.p50);
		assert_true(ab.pair[0].ratio.low > 0.4 && ab.pair[0].ratio.high < 0.53);
	}
}

/* Shards of one chunk have keys with the same end: they are not mixed up. */
static void shards_are_different_objects(void **state)
{
	static const char *const keys[] = { "m@f0@0@abcdefabcdefabcdefabcdefabcd",
					    "m@f1@0@abcdefabcdefabcdefabcdefabcd" };
	struct measure xa, xb;
	struct buf a = {}, b = {};
	struct measure_ab ab;
	struct model ma, mb;
	u32 i;

	(void)state;
	/* In the other order in the second capture; each takes as long as before. */
	for (i = 0; i < 2; i++) {
		op(&a, 1 + i, "load", keys[i], 4096, i * 10 * MS, i * 10 * MS + (i ? 5 : 1) * MS, NULL);
		op(&b, 1 + i, "load", keys[1 - i], 4096, i * 10 * MS, i * 10 * MS + (i ? 1 : 5) * MS, NULL);
	}
	take(&ma, &a, &xa);
	take(&mb, &b, &xb);
	assert_int_equal(measure_compare(&ab, &ma, &xa, &mb, &xb, AB_TOLERANCE), 0);
	assert_int_equal(ab.paired, 2);
	assert_int_equal(ab.pair[0].faster + ab.pair[0].slower, 0);
	assert_int_equal(ab.pair[0].interval_n, 0);
	done(&ma, &xa);
	done(&mb, &xb);
}

/* 230 objects against 120: the differences are named, and what is there is compared all the same. */
static void unequal_work_is_not_comparable(void **state)
{
	const struct shape all = { "m", 230, 1 * MS, 0, 1 }, half = { "m", 120, 1 * MS, 0, 1 };
	const struct shape twice = { "m", 230, 1 * MS, 0, 2 }, nearly = { "m", 229, 1 * MS, 0, 1 };
	struct measure_ab ab;

	(void)state;
	compare(&all, &half, AB_TOLERANCE, &ab);
	assert_false(ab.comparable);
	assert_true(ab.differs[WORK_OBJECTS] && ab.differs[WORK_OBJECT_BYTES] && ab.differs[WORK_CMDS] &&
		    ab.differs[WORK_READ_BYTES] && ab.differs[WORK_LOADS]);
	assert_false(ab.differs[WORK_STORES] || ab.differs[WORK_WRITE_BYTES]);
	assert_int_equal(ab.paired, 120);
	assert_int_equal(ab.only[0], 110);
	assert_int_equal(ab.only[1], 0);
	assert_int_equal(ab.pair[0].n, 120);

	/* The same objects by name, of twice the size. */
	compare(&all, &twice, AB_TOLERANCE, &ab);
	assert_false(ab.comparable);
	assert_false(ab.differs[WORK_OBJECTS] || ab.other_objects);
	assert_true(ab.differs[WORK_OBJECT_BYTES] && ab.differs[WORK_CMDS] && ab.differs[WORK_CMD_BYTES]);

	compare(&all, &nearly, AB_TOLERANCE, &ab);
	assert_true(ab.comparable);
	compare(&all, &nearly, 0, &ab);
	assert_false(ab.comparable);
	compare(&all, &half, 0.5, &ab);
	assert_true(ab.comparable);
}

/* As many objects, and all of them others. */
static void other_objects_are_other_work(void **state)
{
	struct measure xa, xb;
	struct buf a = {}, b = {};
	struct measure_ab ab;
	struct model ma, mb;

	(void)state;
	op(&a, 1, "load", "m@f@0@aaaa", 4096, 0, 1 * MS, NULL);
	op(&b, 1, "load", "m@f@0@bbbb", 4096, 0, 1 * MS, NULL);
	take(&ma, &a, &xa);
	take(&mb, &b, &xb);
	assert_int_equal(measure_compare(&ab, &ma, &xa, &mb, &xb, AB_TOLERANCE), 0);
	assert_false(ab.comparable);
	assert_true(ab.other_objects);
	assert_int_equal(ab.paired, 0);
	assert_int_equal(ab.n_pairs, 0);
	done(&ma, &xa);
	done(&mb, &xb);
}

static void ratios_have_both_parts(void **state)
{
	const struct shape one = { "m", 10, 1 * MS, 0, 4 };
	struct measure_ab ab;

	(void)state;
	compare(&one, &one, AB_TOLERANCE, &ab);
	assert_string_equal(ab.ratio[0].name, "read_amplification");
	assert_true(fabs(ab.ratio[0].num[0] - 40 * 131072) < 1e-9);
	assert_true(fabs(ab.ratio[0].den[1] - 40 * 131072) < 1e-9);
	/* Nothing was stored: there is no ratio. */
	assert_true(ab.ratio[1].den[0] <= 0);
	/* gaps of 1 us, service of 50 us */
	assert_true(fabs(ab.ratio[2].num[0] - 1000) < 1e-9 && fabs(ab.ratio[2].den[0] - 50000) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects),
		cmocka_unit_test(shards_by_nth_time),
		cmocka_unit_test(verdicts_without_a_pair),
		cmocka_unit_test(causes_of_a_late_shard),
		cmocka_unit_test(key_value_commands_have_latencies),
		cmocka_unit_test(each_object_against_itself),
		cmocka_unit_test(shards_are_different_objects),
		cmocka_unit_test(unequal_work_is_not_comparable),
		cmocka_unit_test(other_objects_are_other_work),
		cmocka_unit_test(ratios_have_both_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
