// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/jsonl_read.h"
#include "capture/jsonl_write.h"

static struct jsonl_reader *reader;

static int set_up(void **state)
{
	(void)state;
	reader = jsonl_reader_new();
	return reader ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	jsonl_reader_free(reader);
	return 0;
}

/* Reads a line that must be sound, out of memory of exactly its size. */
static struct jsonl_rec read_line(const char *line)
{
	struct jsonl_rec rec;

	assert_int_equal(jsonl_read(reader, line, strlen(line), &rec), 0);
	return rec;
}

static int read_error(const char *line)
{
	size_t n = strlen(line);
	char *copy = malloc(n + 1);
	struct jsonl_rec rec;
	int ret;

	assert_non_null(copy);
	memcpy(copy, line, n);
	ret = jsonl_read(reader, copy, n, &rec);
	free(copy);
	return ret;
}

static void assert_slice(struct slice s, const char *want)
{
	assert_int_equal(s.n, strlen(want));
	assert_true(!s.n || !memcmp(s.p, want, s.n));
}

static void passthrough_monitor_command(void **state)
{
	struct jsonl_rec r = read_line(
		"{\"event_type\":\"nvme_cmd\",\"pid\":4242,\"tid\":4249,\"user_data\":9007199254740993,\"nvme_opcode\":1,"
		"\"op_name\":\"write\",\"nsid\":1,\"slba\":262144,\"nlb\":32,\"bytes\":16384,\"data_len\":131072,"
		"\"multipath\":1,\"cmd_op\":\"0xc0484e81\",\"rdev\":62914560,\"comm\":\"kvworker\",\"ts\":812345678992334}");
	const struct jsonl_cmd *c = &r.cmd;

	(void)state;
	assert_int_equal(r.kind, JSONL_NVME_CMD);
	assert_int_equal(c->has, HAS_USER_DATA | HAS_SLBA | HAS_DATA_LEN);
	assert_int_equal(c->pid, 4242);
	assert_int_equal(c->tid, 4249);
	assert_true(c->user_data == 9007199254740993ull);
	assert_int_equal(c->opcode, 1);
	assert_slice(c->op_name, "write");
	assert_int_equal(c->nsid, 1);
	assert_int_equal(c->slba, 262144);
	assert_int_equal(c->nlb, 32);
	assert_int_equal(c->bytes, 131072); /* what was declared, not what a typed LBA size makes of nlb */
	assert_true(c->multipath);
	assert_int_equal(c->cmd_op, 0xc0484e81);
	assert_int_equal(c->rdev, 62914560);
	assert_slice(c->comm, "kvworker");
	assert_int_equal(c->ts_ns, 812345678992334);
	assert_int_equal(c->attempts, 1);
	assert_false(c->refused || c->in_flight);
}

static void key_value_command(void **state)
{
	struct jsonl_rec r = read_line(
		"{\"event_type\":\"nvme_cmd\",\"user_data\":7000,\"nvme_opcode\":1,\"op_name\":\"store\",\"nsid\":2,"
		"\"key_hex\":\"6B30\",\"key_len\":2,\"value_len\":65536,\"data_len\":65540,\"ts\":5}");

	(void)state;
	assert_int_equal(r.cmd.has, HAS_USER_DATA | HAS_DATA_LEN | HAS_KEY);
	assert_slice(r.cmd.key_hex, "6B30");
	assert_int_equal(r.cmd.key_len, 2);
	assert_int_equal(r.cmd.value_len, 65536);
	assert_int_equal(r.cmd.bytes, 65540);
}

static void tracepoint_monitor_lines(void **state)
{
	struct jsonl_rec r =
		read_line("{\"event_type\":\"nvme_cmd\",\"disk\":\"nvme1n1\",\"nsid\":1,\"nvme_opcode\":2,"
			  "\"op_name\":\"read\",\"slba\":8,\"nlb\":8,\"bytes\":4096,\"hwq\":3,\"cid\":512,\"ts\":100}");

	(void)state;
	assert_int_equal(r.cmd.has, HAS_SLBA | HAS_DISK | HAS_QUEUE);
	assert_slice(r.cmd.disk, "nvme1n1");
	assert_int_equal(r.cmd.bytes, 4096);
	assert_int_equal(r.cmd.hwq, 3);
	assert_int_equal(r.cmd.cid, 512);

	r = read_line("{\"event_type\":\"nvme_cmp\",\"status\":16403,\"lat_ns\":60,\"hwq\":3,\"cid\":512,\"ts\":160}");
	assert_int_equal(r.kind, JSONL_NVME_CMP);
	assert_int_equal(r.cmp.has, HAS_QUEUE | HAS_LAT | HAS_STATUS);
	assert_int_equal(r.cmp.status, 16403);
	assert_int_equal(r.cmp.lat_ns, 60);
	assert_int_equal(r.cmp.ts_ns, 160);
}

static void passthrough_monitor_completion(void **state)
{
	struct jsonl_rec r = read_line("{\"event_type\":\"nvme_cmp\",\"user_data\":18446744073709551615,\"err\":10,"
				       "\"lat_ns\":28135,\"hwq\":1,\"cid\":-1,\"ts\":28136}");

	(void)state;
	assert_true(r.cmp.user_data == UINT64_MAX);
	assert_int_equal(r.cmp.status, 10);
	assert_false(r.cmp.has & HAS_STATUS);
	assert_int_equal(r.cmp.cid, 0xffff); /* no tag was given out */
}

static void latency_of_a_backward_clock(void **state)
{
	struct jsonl_rec r = read_line("{\"event_type\":\"nvme_cmp\",\"lat_ns\":18446744073709551611,\"ts\":95}");

	(void)state;
	assert_int_equal(r.cmp.lat_ns, -5);
	r = read_line("{\"event_type\":\"nvme_cmp\",\"lat_ns\":-5,\"ts\":95}");
	assert_int_equal(r.cmp.lat_ns, -5);
}

static void accounts_of_losses(void **state)
{
	struct jsonl_rec r = read_line("{\"event_type\":\"drops\",\"dropped\":23}");

	(void)state;
	assert_int_equal(r.kind, JSONL_DROPS);
	assert_int_equal(r.loss.ring_full, 23);
	r = read_line("{\"event_type\":\"loss\",\"ts\":1,\"seen\":10,\"stored\":4,\"ring_full\":3,\"map_full\":2,"
		      "\"hook_missed\":7,\"unread\":6,\"filtered\":1,\"witness\":\"mmap\"}");
	assert_int_equal(r.kind, JSONL_LOSS);
	assert_int_equal(r.loss.unread, 6);
	assert_true(slice_is(r.loss.witness, "mmap"));
	assert_int_equal(r.loss.seen, 10);
	assert_int_equal(r.loss.stored, 4);
	assert_int_equal(r.loss.ring_full, 3);
	assert_int_equal(r.loss.map_full, 2);
	assert_int_equal(r.loss.hook_missed, 7);
	assert_int_equal(r.loss.filtered, 1);
	assert_false(r.loss.complete);
	r = read_line("{\"event_type\":\"footer\",\"complete\":true,\"seen\":5,\"stored\":4,\"in_flight\":1,"
		      "\"counts\":{\"nvme\":4,\"cq_overflow\":[0]}}");
	assert_int_equal(r.kind, JSONL_FOOTER);
	assert_true(r.loss.complete);
	assert_int_equal(r.loss.in_flight, 1);
}

static void overflows_and_anchors(void **state)
{
	struct jsonl_rec r = read_line("{\"event_type\":\"cq_overflow\",\"user_data\":7,\"res\":-125,\"ts\":9}");

	(void)state;
	assert_int_equal(r.kind, JSONL_CQ_OVERFLOW);
	assert_int_equal(r.overflow.res, -125);
	assert_int_equal(r.overflow.user_data, 7);
	assert_int_equal(r.overflow.ts_ns, 9);
	r = read_line("{\"event_type\":\"clock_anchor\",\"monotonic_ns\":1,\"realtime_ns\":1790812345673901234,"
		      "\"uncertainty_ns\":50}");
	assert_int_equal(r.kind, JSONL_CLOCK_ANCHOR);
	assert_true(r.anchor.realtime_ns == 1790812345673901234ull);
	assert_int_equal(r.anchor.uncertainty_ns, 50);
}

static void semantic_record_of_both_schemas(void **state)
{
	struct jsonl_rec r = read_line(
		"{\"trace_id\":1,\"op\":\"store\",\"key\":\"m@f@0@ab\",\"object_id\":\"o1\",\"part\":\"kv\",\"bytes\":1048576,"
		"\"slot_offset\":1073741824,\"ts_start\":812345.678901234,\"ts\":812345.679741704,\"pid\":4242,"
		"\"instance\":\"inst-a\",\"error\":null,\"components\":{\"k_bytes\":1}}");

	(void)state;
	assert_int_equal(r.kind, JSONL_SEMANTIC);
	assert_int_equal(r.op.trace_id, 1);
	assert_slice(r.op.op, "store");
	assert_slice(r.op.key, "m@f@0@ab");
	assert_int_equal(r.op.start_ns, 812345678901234);
	assert_int_equal(r.op.end_ns, 812345679741704);
	assert_int_equal(r.op.slot_offset, 1073741824);
	assert_true(r.op.has_start && r.op.has_slot && r.op.has_pid);
	assert_slice(r.op.instance, "inst-a");
	assert_int_equal(r.op.error.n, 0);

	r = read_line("{\"trace_id\":2,\"op\":\"load\",\"key\":\"k\",\"bytes\":1,\"ts\":1e3,\"error\":\"a\\\"b\"}");
	assert_false(r.op.has_start || r.op.has_slot || r.op.has_pid);
	assert_int_equal(r.op.start_ns, r.op.end_ns);
	assert_int_equal(r.op.end_ns, 1000000000000);
	assert_slice(r.op.error, "a\"b");
}

static void what_is_no_string_is_taken_as_written(void **state)
{
	struct jsonl_rec r = read_line("{\"trace_id\":2,\"op\":\"load\",\"key\":7,\"ts\":1,\"error\":{\"code\":5}}");

	(void)state;
	assert_slice(r.op.key, "7");
	assert_slice(r.op.error, "{\"code\":5}");
}

static void heads_of_the_semantic_trace(void **state)
{
	struct jsonl_rec r = read_line(
		"{\"event_type\":\"kvio_meta\",\"kvio_schema\":2,\"hostname\":\"host-a\",\"device_path\":\"/dev/ng1n1\","
		"\"slot_bytes\":1052672,\"block_align\":4096,\"header_bytes\":4096,\"max_data_transfer_size\":131072,"
		"\"io_engine\":\"io_uring_cmd\",\"use_uring_cmd\":true,\"ts_monotonic\":812345.67}");

	(void)state;
	assert_int_equal(r.kind, JSONL_KVIO_META);
	assert_int_equal(r.kvio_meta.kvio_schema, 2);
	assert_slice(r.kvio_meta.hostname, "host-a");
	assert_int_equal(r.kvio_meta.max_data_transfer_size, 131072);
	assert_int_equal(r.kvio_meta.slot_bytes, 1052672);
	r = read_line("{\"event_type\":\"meta\",\"emitter\":\"kvio-tool\",\"header_bytes\":512,\"mdts_bytes\":65536}");
	assert_int_equal(r.kind, JSONL_KVIO_META);
	assert_int_equal(r.kvio_meta.max_data_transfer_size, 65536);
}

static void kinds_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(read_line("{\"op\":\"recompute\",\"tokens\":5,\"ts_start\":1.0,\"ts\":2.0}").kind,
			 JSONL_SERVING);
	assert_int_equal(read_line("{\"op\":\"load\",\"trace_id\":1,\"ts_start\":1.0,\"ts\":2.0}").kind,
			 JSONL_SEMANTIC);
	assert_int_equal(read_line("{\"event_type\":null,\"op\":\"load\",\"trace_id\":1,\"ts\":2.0}").kind,
			 JSONL_SEMANTIC);
	assert_int_equal(read_line("{\"event_type\":\"intent\",\"op\":\"x\",\"trace_id\":1,\"ts\":\"?\"}").kind,
			 JSONL_UNKNOWN);
	assert_int_equal(read_line("{\"dropped\":3}").kind, JSONL_UNKNOWN);
	assert_int_equal(read_line("{}").kind, JSONL_UNKNOWN);
	assert_int_equal(read_line("{\"event_type\":7}").kind, JSONL_UNKNOWN);
	assert_int_equal(read_line("{\"event_type\":\"capture_meta\",\"devices\":[{\"name\":\"x\"}]}").kind,
			 JSONL_CAPTURE_META);
	assert_int_equal(read_line("{\"event_type\":\"drop\\u0073\",\"dropped\":1}").kind, JSONL_DROPS);
}

static void members_stand_in_any_order_and_the_last_counts(void **state)
{
	struct jsonl_rec r =
		read_line("{\"ts\":1,\"user_data\":\"0x10\",\"event_type\":\"nvme_cmp\",\"unknown\":[1,{\"ts\":5}],"
			  "\"err\":0,\"user_data\":77,\"\\u0074s\":2,\"lat_ns\":null}");

	(void)state;
	assert_int_equal(r.kind, JSONL_NVME_CMP);
	assert_int_equal(r.cmp.user_data, 77);
	assert_int_equal(r.cmp.ts_ns, 2);
	assert_false(r.cmp.has & HAS_LAT);
	/* Absent, though it was there before. */
	r = read_line("{\"event_type\":\"nvme_cmp\",\"ts\":1,\"user_data\":7,\"user_data\":null}");
	assert_false(r.cmp.has & HAS_USER_DATA);
}

static void several_escaped_strings_of_one_line(void **state)
{
	struct jsonl_rec r =
		read_line("{\"event_type\":\"nvme_cmd\",\"comm\":\"a\\\"b\\\\c\\n\\u0001\",\"disk\":\"n\\u0076me\","
			  "\"op_name\":\"re\\u0061d\",\"ts\":1}");

	(void)state;
	assert_slice(r.cmd.comm, "a\"b\\c\n\x01");
	assert_slice(r.cmd.disk, "nvme");
	assert_slice(r.cmd.op_name, "read");
}

/* Each is a good part of its line: a second one finds no room where the first one is (the sanitizers see it move). */
static void long_escaped_strings_of_one_line(void **state)
{
	char text[406], line[3 * sizeof(text)], want[401];
	struct jsonl_rec r;
	size_t n;

	(void)state;
	for (n = 1; n <= 400; n *= 2) {
		memset(text, 'A', n + 5);
		memcpy(text, "\\u0041", 6);
		text[n + 5] = '\0';
		memset(want, 'A', n);
		want[n] = '\0';
		snprintf(line, sizeof(line),
			 "{\"event_type\":\"nvme_cmd\",\"op_name\":\"%s\",\"comm\":\"%s\",\"ts\":5,\"nvme_opcode\":1}",
			 text, text);
		r = read_line(line);
		assert_int_equal(r.kind, JSONL_NVME_CMD);
		assert_slice(r.cmd.op_name, want);
		assert_slice(r.cmd.comm, want);
	}
}

static void a_member_of_the_wrong_kind_spoils_the_line(void **state)
{
	static const struct {
		const char *line;
		int ret;
	} cases[] = {
		{ "{\"event_type\":\"nvme_cmd\"}", -ENODATA },
		{ "{\"event_type\":\"nvme_cmp\",\"ts\":null}", -ENODATA },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":-1}", -ERANGE },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":\"soon\"}", -EINVAL },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":1.5}", -EINVAL },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"user_data\":18446744073709551616}", -ERANGE },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"user_data\":{}}", -EINVAL },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"nvme_opcode\":256}", -ERANGE },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"nsid\":4294967296}", -ERANGE },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"cmd_op\":\"zero\"}", -EINVAL },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"multipath\":\"maybe\"}", -EINVAL },
		{ "{\"event_type\":\"nvme_cmp\",\"ts\":1,\"cid\":-2}", -ERANGE },
		{ "{\"event_type\":\"nvme_cmp\",\"ts\":1,\"cid\":65536}", -ERANGE },
		{ "{\"event_type\":\"cq_overflow\",\"ts\":1,\"res\":3000000000}", -ERANGE },
		{ "{\"event_type\":\"clock_anchor\",\"monotonic_ns\":1}", -ENODATA },
		{ "{\"event_type\":\"drops\"}", -ENODATA },
		{ "{\"op\":\"store\",\"trace_id\":1}", -ENODATA },
		{ "{\"op\":\"store\",\"trace_id\":-1,\"ts\":1}", -ERANGE },
		{ "{\"op\":\"store\",\"trace_id\":1,\"ts\":NaN}", -EBADMSG },
		{ "not json at all", -EBADMSG },
		{ "[1,2]", -EBADMSG },
		{ "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"comm\":\"a\"b\"}", -EBADMSG },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (read_error(cases[i].line) != cases[i].ret)
			fail_msg("%s: %d", cases[i].line, read_error(cases[i].line));
}

static void a_large_size_is_saturated(void **state)
{
	struct jsonl_rec r = read_line("{\"event_type\":\"nvme_cmd\",\"ts\":1,\"bytes\":1099511627776}");

	(void)state;
	assert_int_equal(r.cmd.bytes, UINT32_MAX);
}

/* Cuts the next line off what the writer made. */
static struct jsonl_rec next_written(const char **p)
{
	const char *nl = strchr(*p, '\n');
	struct jsonl_rec rec;

	assert_non_null(nl);
	assert_int_equal(jsonl_read(reader, *p, (size_t)(nl - *p), &rec), 0);
	*p = nl + 1;
	return rec;
}

static void our_own_lines_are_read_back(void **state)
{
	struct ev_disk disk = { .kind = EV_DISK, .dev = 271581184, .nsid = 1, .lba_bytes = 4096, .name = "nvme0n1" };
	struct ev_task task = { .kind = EV_TASK, .tid = 12, .pid = 11, .comm = "a\"b\x9f" };
	struct ev_nvme e = { .kind = EV_NVME,
			     .flags = NVME_PASSTHROUGH | NVME_ENTRY,
			     .opcode = 2,
			     .attempts = 3,
			     .status = 0x4081,
			     .hwq = 5,
			     .ts_ns = 1000,
			     .lat_ns = 77,
			     .user_data = UINT64_MAX - 1,
			     .slba = 1ull << 40,
			     .bytes = 32768,
			     .wait_ns = 9,
			     .dev = 271581184,
			     .nsid = 1,
			     .tid = 12,
			     .cid = 0x7005,
			     .nlb = 7 };
	struct names names = {};
	struct buf b = {};
	struct jsonl_rec r;
	const char *p;

	(void)state;
	assert_int_equal(names_learn(&names, &disk), 0);
	assert_int_equal(names_learn(&names, &task), 0);
	jsonl_event(&b, &e, &names);
	e.flags |= NVME_IN_FLIGHT;
	jsonl_event(&b, &e, &names);
	buf_byte(&b, '\0');
	p = b.p;

	r = next_written(&p);
	assert_int_equal(r.kind, JSONL_NVME_CMD);
	assert_int_equal(r.cmd.has,
			 HAS_USER_DATA | HAS_SLBA | HAS_QUEUE | HAS_DISK | HAS_DEV | HAS_DATA_LEN | HAS_WAIT);
	assert_true(r.cmd.user_data == UINT64_MAX - 1);
	assert_true(r.cmd.slba == 1ull << 40);
	assert_int_equal(r.cmd.nlb, 8);
	assert_int_equal(r.cmd.bytes, 32768);
	assert_int_equal(r.cmd.attempts, 3);
	assert_int_equal(r.cmd.wait_ns, 9);
	assert_int_equal(r.cmd.dev, 271581184);
	assert_int_equal(r.cmd.pid, 11);
	assert_int_equal(r.cmd.cid, 0x7005);
	assert_slice(r.cmd.disk, "nvme0n1");
	assert_slice(r.cmd.comm, "a\"b\xc2\x9f"); /* a byte that is no UTF-8 comes back as that code point */
	r = next_written(&p);
	assert_int_equal(r.kind, JSONL_NVME_CMP);
	assert_int_equal(r.cmp.ts_ns, 1077);
	assert_int_equal(r.cmp.lat_ns, 77);
	assert_int_equal(r.cmp.status, 0x4081);
	assert_int_equal(r.cmp.dev, 271581184);
	r = next_written(&p);
	assert_true(r.cmd.in_flight);
	assert_int_equal(r.cmd.age_ns, 77);
	assert_int_equal(*p, '\0');
	buf_free(&b);
	names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passthrough_monitor_command),
		cmocka_unit_test(key_value_command),
		cmocka_unit_test(tracepoint_monitor_lines),
		cmocka_unit_test(passthrough_monitor_completion),
		cmocka_unit_test(latency_of_a_backward_clock),
		cmocka_unit_test(accounts_of_losses),
		cmocka_unit_test(overflows_and_anchors),
		cmocka_unit_test(semantic_record_of_both_schemas),
		cmocka_unit_test(what_is_no_string_is_taken_as_written),
		cmocka_unit_test(heads_of_the_semantic_trace),
		cmocka_unit_test(kinds_are_told_apart),
		cmocka_unit_test(members_stand_in_any_order_and_the_last_counts),
		cmocka_unit_test(several_escaped_strings_of_one_line),
		cmocka_unit_test(long_escaped_strings_of_one_line),
		cmocka_unit_test(a_member_of_the_wrong_kind_spoils_the_line),
		cmocka_unit_test(a_large_size_is_saturated),
		cmocka_unit_test(our_own_lines_are_read_back),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
