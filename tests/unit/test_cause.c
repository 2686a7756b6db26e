// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/model_text.h"

#include "model/calls.h"
#include "model/cause.h"
#include "model/filter.h"

#define ULL(x)	((unsigned long long)(x))
#define UNKNOWN UINT64_MAX
#define PAGE	4096
#define DEV	271581184

/* A read by a thread of process 10 of 4 KiB at block slba of nvme0n1, made wait_ns before ts. */
static void cmd(struct buf *b, u32 tid, u64 ts, u64 wait_ns, u64 lat_ns, u64 slba)
{
	static u32 cid;

	cid++;
	buf_printf(
		b,
		"{\"event_type\":\"nvme_cmd\",\"pid\":10,\"tid\":%u,\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,"
		"\"slba\":%llu,\"nlb\":1,\"bytes\":4096,\"data_len\":4096,\"comm\":\"app\",\"ts\":%llu,"
		"\"disk\":\"nvme0n1\",\"dev\":%u,\"hwq\":1,\"cid\":%u",
		tid, ULL(slba), ULL(ts), DEV, cid);
	if (wait_ns != UNKNOWN)
		buf_printf(b, ",\"wait_ns\":%llu", ULL(wait_ns));
	buf_printf(
		b,
		"}\n{\"event_type\":\"nvme_cmp\",\"err\":0,\"status\":0,\"lat_ns\":%llu,\"hwq\":1,\"cid\":%u,\"ts\":%llu,"
		"\"dev\":%u}\n",
		ULL(lat_ns), cid, ULL(ts + lat_ns), DEV);
}

static void passthrough(struct buf *b, u32 tid, u64 ts, u64 lat_ns, u64 slba, u64 user_data)
{
	static u32 cid = 1000;

	cid++;
	buf_printf(
		b,
		"{\"event_type\":\"nvme_cmd\",\"pid\":10,\"tid\":%u,\"user_data\":%llu,\"nvme_opcode\":2,"
		"\"op_name\":\"read\",\"nsid\":1,\"slba\":%llu,\"nlb\":1,\"data_len\":4096,\"comm\":\"app\",\"ts\":%llu,"
		"\"disk\":\"nvme0n1\",\"dev\":%u,\"hwq\":1,\"cid\":%u,\"wait_ns\":1}\n"
		"{\"event_type\":\"nvme_cmp\",\"user_data\":%llu,\"err\":0,\"status\":0,\"lat_ns\":%llu,\"hwq\":1,"
		"\"cid\":%u,\"ts\":%llu,\"dev\":%u}\n",
		tid, ULL(user_data), ULL(slba), ULL(ts), DEV, cid, ULL(user_data), ULL(lat_ns), cid, ULL(ts + lat_ns),
		DEV);
}

static void call(struct buf *b, const char *name, u32 tid, u64 ts, u64 lat_ns, s64 ret)
{
	buf_printf(b,
		   "{\"event_type\":\"syscall\",\"call\":\"%s\",\"pid\":10,\"tid\":%u,\"comm\":\"app\",\"ts\":%llu,"
		   "\"lat_ns\":%llu,\"ret\":%lld,\"fd\":3,\"offset\":0,\"size\":%lld,\"dev\":1,\"ino\":2}\n",
		   name, tid, ULL(ts), ULL(lat_ns), (long long)ret, (long long)ret);
}

/* A read of 4 KiB of a file, or with `node` of the device. */
static void request(struct buf *b, u32 tid, u64 ts, u64 lat_ns, u64 offset, bool node, u32 sqe_flags)
{
	buf_printf(b,
		   "{\"event_type\":\"uring\",\"op\":\"read\",\"opcode\":22,\"pid\":10,\"tid\":%u,\"comm\":\"app\","
		   "\"ts\":%llu,\"lat_ns\":%llu,\"res\":4096,\"user_data\":7,\"ring\":1,\"fd\":3,\"sqe_flags\":%u,"
		   "\"offset\":%llu,\"size\":4096,\"dev\":%d,\"ino\":2,\"path\":\"%s\"}\n",
		   tid, ULL(ts), ULL(lat_ns), sqe_flags, ULL(offset), node ? 5 : 6,
		   node ? "/dev/nvme0n1" : "/data/file");
}

static void pass_request(struct buf *b, u32 tid, u64 ts, u64 lat_ns, u64 slba, u64 user_data)
{
	buf_printf(
		b,
		"{\"event_type\":\"uring\",\"op\":\"uring_cmd\",\"opcode\":46,\"pid\":10,\"tid\":%u,\"comm\":\"app\","
		"\"ts\":%llu,\"lat_ns\":%llu,\"res\":0,\"user_data\":%llu,\"ring\":1,\"fd\":3,\"sqe_flags\":0,"
		"\"slba\":%llu,\"size\":4096,\"nvme_opcode\":2}\n",
		tid, ULL(ts), ULL(lat_ns), ULL(user_data), ULL(slba));
}

static void loaded(struct model *m, struct buf *b)
{
	/* 4 KiB blocks. */
	model_init(m);
	assert_false(b->failed);
	assert_int_equal(model_load_text(m, b->p, b->n), 0);
	buf_free(b);
	assert_int_equal(model_finish(m), 0);
	assert_int_equal(model_join(m, &(struct join_options){}), 0);
	assert_int_equal(m->dev_in.malformed, 0);
}

static void a_call_causes_what_its_thread_makes_inside(void **state)
{
	struct buf b = {};
	struct cause_sums s;
	struct model m;

	(void)state;
	call(&b, "pread64", 10, 1000, 1000, PAGE);
	cmd(&b, 10, 1200, 100, 500, 0); /* inside */
	cmd(&b, 10, 2500, 600, 500, 1); /* made inside, sent by a worker behind it: read-ahead */
	cmd(&b, 10, 1990, 1500, 5, 2);	/* sent inside, but made before */
	cmd(&b, 10, 3000, 10, 500, 3);	/* between calls */
	cmd(&b, 11, 1300, 10, 500, 4);	/* another thread */
	loaded(&m, &b);
	assert_int_equal(m.cmd.n, 5);
	assert_int_equal(m.cause.how[0], CAUSE_THREAD);
	assert_int_equal(m.cause.call[0], 0);
	assert_int_equal(m.cause.how[1], CAUSE_NO_THREAD);
	assert_int_equal(m.cause.how[2], CAUSE_OUTSIDE);
	assert_int_equal(m.cause.how[3], CAUSE_THREAD);
	assert_int_equal(m.cause.how[4], CAUSE_OUTSIDE);
	assert_int_equal(cause_measure(&s, &m), 0);
	assert_int_equal(s.joined.n, 2);
	assert_int_equal(s.joined.bytes, 2 * PAGE);
	assert_int_equal(s.not_joined.n, 3);
	assert_int_equal(s.calls, 1);
	model_free(&m);
}

static void without_the_time_it_was_made_the_bytes_must_add_up(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	call(&b, "pread64", 10, 1000, 1000, 2 * PAGE);
	cmd(&b, 10, 1200, UNKNOWN, 500, 0);
	cmd(&b, 10, 1300, UNKNOWN, 500, 1);
	call(&b, "pread64", 10, 3000, 1000, PAGE); /* read-ahead of it, or left from before: not told apart */
	cmd(&b, 10, 3200, UNKNOWN, 500, 2);
	cmd(&b, 10, 3300, UNKNOWN, 500, 3);
	call(&b, "pread64", 10, 5000, 1000, PAGE);
	cmd(&b, 10, 5900, UNKNOWN, 500, 4); /* ends behind the call */
	loaded(&m, &b);
	assert_int_equal(m.cause.how[0], CAUSE_CONTAINED);
	assert_int_equal(m.cause.how[1], CAUSE_CONTAINED);
	assert_int_equal(m.cause.call[1], 0);
	assert_int_equal(m.cause.how[2], CAUSE_UNCERTAIN);
	assert_int_equal(m.cause.call[2], NONE);
	assert_int_equal(m.cause.how[4], CAUSE_OUTSIDE);
	model_free(&m);
}

static void the_last_request_submitted_is_the_cause(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	call(&b, "io_uring_enter", 10, 900, 300, 2);
	request(&b, 10, 1000, 5000, 0, false, 0);
	cmd(&b, 10, 1050, 10, 500, 100);
	request(&b, 10, 1100, 5000, 8192, false, 0);
	cmd(&b, 10, 2000, 850, 500, 200); /* made at 1150 */
	/* Twice the bytes of the request. */
	request(&b, 10, 7000, 1000, 0, false, 0);
	cmd(&b, 10, 7100, 10, 500, 300);
	cmd(&b, 10, 7200, 10, 500, 301);
	loaded(&m, &b);
	assert_int_equal(m.cause.how[0], CAUSE_ORDER);
	assert_int_equal(m.cause.uring[0], 0);
	assert_int_equal(m.cause.call[0], 0);
	assert_int_equal(m.cause.uring[1], 1);
	assert_int_equal(m.cause.enter[0], 0);
	assert_int_equal(m.cause.enter[1], 0);
	assert_int_equal(m.cause.enter[2], NONE);
	assert_int_equal(m.cause.how[2], CAUSE_UNCERTAIN);
	assert_int_equal(m.cause.uring[3], NONE);
	model_free(&m);
}

/* The first is issued when the second is submitted already: order says nothing, but the place does. */
static void linked_requests_are_told_apart_by_place_only(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	request(&b, 10, 1000, 5000, 0, true, 4);
	request(&b, 10, 1100, 5000, 8192, true, 0);
	cmd(&b, 10, 1250, 10, 500, 0);
	cmd(&b, 10, 2250, 10, 500, 2);
	request(&b, 12, 11000, 5000, 0, false, 4);
	request(&b, 12, 11100, 5000, 8192, false, 0);
	cmd(&b, 12, 11250, 10, 500, 0);
	loaded(&m, &b);
	assert_int_equal(m.cause.how[0], CAUSE_PLACE);
	assert_int_equal(m.cause.uring[0], 0);
	assert_int_equal(m.cause.how[1], CAUSE_PLACE);
	assert_int_equal(m.cause.uring[1], 1);
	assert_int_equal(m.cause.how[2], CAUSE_UNCERTAIN);
	model_free(&m);
}

static void on_the_device_the_place_must_fit(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	request(&b, 10, 1000, 5000, 0, true, 0);
	request(&b, 10, 1100, 5000, 8192, true, 0);
	cmd(&b, 10, 1250, 10, 500, 0); /* of the first, sent late */
	cmd(&b, 10, 1260, 10, 500, 7); /* of none */
	request(&b, 10, 1300, 5000, 0, true, 0);
	cmd(&b, 13, 1350, 10, 500, 0); /* by a worker: of the first or the third */
	loaded(&m, &b);
	assert_int_equal(m.cause.how[0], CAUSE_PLACE);
	assert_int_equal(m.cause.uring[0], 0);
	assert_int_equal(m.cause.how[1], CAUSE_UNCERTAIN);
	assert_int_equal(m.cause.how[2], CAUSE_UNCERTAIN);
	model_free(&m);
}

static void passthrough_goes_by_user_data_place_and_time(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	pass_request(&b, 10, 1000, 3000, 5, 77);
	passthrough(&b, 10, 1100, 500, 5, 77);
	pass_request(&b, 10, 5000, 3000, 6, 77); /* the cookie again */
	passthrough(&b, 10, 5100, 500, 6, 77);
	passthrough(&b, 10, 5200, 500, 7, 77); /* another place */
	passthrough(&b, 11, 5300, 500, 6, 77); /* another thread, unknown */
	passthrough(&b, 10, 7900, 500, 6, 77); /* ends behind it */
	pass_request(&b, 10, 9000, 3000, 8, 78);
	pass_request(&b, 10, 9100, 3000, 8, 78); /* the same twice at once */
	passthrough(&b, 10, 9200, 500, 8, 78);
	loaded(&m, &b);
	assert_int_equal(m.cause.how[0], CAUSE_USER_DATA);
	assert_int_equal(m.cause.uring[0], 0);
	assert_int_equal(m.cause.uring[1], 1);
	assert_int_equal(m.cause.how[2], CAUSE_OUTSIDE);
	assert_int_equal(m.cause.how[3], CAUSE_NO_THREAD);
	assert_int_equal(m.cause.how[4], CAUSE_OUTSIDE);
	assert_int_equal(m.cause.how[5], CAUSE_UNCERTAIN);
	model_free(&m);
}

/* What is cut away stays a cause; what stays keeps its place. */
static void a_cut_keeps_what_was_joined(void **state)
{
	struct filter f = { .has_window = true, .from_ns = 3500, .to_ns = 20000 };
	struct buf b = {};
	struct model m;

	(void)state;
	call(&b, "pread64", 10, 1000, 1000, PAGE);
	cmd(&b, 10, 4900, 3000, 500, 0);
	call(&b, "pread64", 10, 6000, 1000, PAGE);
	cmd(&b, 10, 6200, 10, 500, 1);
	request(&b, 12, 8000, 1000, 0, false, 0);
	cmd(&b, 12, 8200, 10, 500, 2);
	loaded(&m, &b);
	assert_int_equal(model_cut(&m, &f), 0);
	assert_int_equal(m.call.n, 1);
	assert_int_equal(m.cmd.n, 3);
	assert_int_equal(m.cause.how[0], CAUSE_THREAD);
	assert_int_equal(m.cause.call[0], NONE);
	assert_int_equal(m.cause.call[1], 0);
	assert_int_equal(m.cause.uring[2], 0);
	model_free(&m);
}

static void one_cookie_for_all_costs_no_more(void **state)
{
	const u32 n = 20000;
	struct buf b = {};
	struct cause_sums s;
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < n; i++) {
		pass_request(&b, 10, 1000ull * i + 1, 900, i, 0);
		passthrough(&b, 10, 1000ull * i + 100, 500, i, 0);
	}
	loaded(&m, &b);
	assert_int_equal(cause_measure(&s, &m), 0);
	assert_int_equal(s.of[CAUSE_USER_DATA].n, n);
	model_free(&m);
}

/* Sums of a file so far: the last of each counts; what writes made did not come in. */
static void fills_are_the_bytes_of_the_page_cache(void **state)
{
	static const char line[] =
		"{\"event_type\":\"cache\",\"pid\":0,\"ts\":%u,\"faults\":0,\"minor\":0,\"major\":0,\"failed\":0,"
		"\"retries\":0,\"touched_pages\":0,\"mapped_pages\":0,\"fills\":%u,\"fill_pages\":%u,\"ra_calls\":0,"
		"\"ra_pages\":0,\"direct_reads\":0,\"direct_read_bytes\":0,\"direct_writes\":0,"
		"\"direct_write_bytes\":0,\"lat_ns\":0,\"dev\":1,\"ino\":%u%s}\n";
	static const char written[] = ",\"written_fills\":1,\"written_pages\":2";
	struct byte_layers l;
	struct buf b = {};
	struct model m;

	(void)state;
	buf_lit(&b,
		"{\"event_type\":\"capture_meta\",\"schema_version\":2,\"emitter\":\"kvio\",\"page_bytes\":4096}\n");
	call(&b, "pread64", 10, 1000, 1000, 2 * PAGE);
	cmd(&b, 10, 1200, 100, 500, 0);
	buf_printf(&b, line, 5000u, 1u, 1u, 2u, written);
	buf_printf(&b, line, 6000u, 3u, 8u, 2u, written);
	buf_printf(&b, line, 6001u, 1u, 2u, 3u, written);
	loaded(&m, &b);
	bytes_measure(&l, &m);
	assert_int_equal(l.program.read_bytes, 2 * PAGE);
	assert_true(l.page_cache.on && !l.page_cache.reads_only);
	assert_int_equal(l.page_cache.read_n, 2);
	assert_int_equal(l.page_cache.read_bytes, 6 * PAGE);
	assert_int_equal(l.page_cache.write_n, 2);
	assert_int_equal(l.page_cache.write_bytes, 4 * PAGE);
	assert_int_equal(l.device.read_bytes, PAGE);
	assert_int_equal(l.by_calls.read_bytes, PAGE);
	model_free(&m);
	b = (struct buf){};
	buf_lit(&b,
		"{\"event_type\":\"capture_meta\",\"schema_version\":2,\"emitter\":\"kvio\",\"page_bytes\":4096}\n");
	buf_printf(&b, line, 5000u, 3u, 8u, 2u, "");
	loaded(&m, &b);
	bytes_measure(&l, &m);
	assert_true(l.page_cache.reads_only);
	assert_int_equal(l.page_cache.read_bytes, 8 * PAGE);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_causes_what_its_thread_makes_inside),
		cmocka_unit_test(without_the_time_it_was_made_the_bytes_must_add_up),
		cmocka_unit_test(the_last_request_submitted_is_the_cause),
		cmocka_unit_test(linked_requests_are_told_apart_by_place_only),
		cmocka_unit_test(on_the_device_the_place_must_fit),
		cmocka_unit_test(passthrough_goes_by_user_data_place_and_time),
		cmocka_unit_test(a_cut_keeps_what_was_joined),
		cmocka_unit_test(one_cookie_for_all_costs_no_more),
		cmocka_unit_test(fills_are_the_bytes_of_the_page_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
