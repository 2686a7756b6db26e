// SPDX-License-Identifier: Apache-2.0
/* The same events as a binary capture and as lines. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/jsonl_write.h"
#include "capture/kvt.h"
#include "unit/model_text.h"

static char path[] = "/tmp/kvio-test-load-kvt-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static const char *str(const struct model *m, u32 id)
{
	return strpool_get(&m->strings, id);
}

static struct ev_nvme kvt_cmd(u64 ts, u16 cid, u8 flags, u64 lat)
{
	return (struct ev_nvme){ .kind = EV_NVME,
				 .flags = flags,
				 .opcode = 2,
				 .attempts = 1,
				 .hwq = 1,
				 .ts_ns = ts,
				 .lat_ns = lat,
				 .user_data = ts << 32,
				 .slba = cid,
				 .bytes = 4096,
				 .dev = 271581184,
				 .nsid = 1,
				 .tid = 12,
				 .cid = cid,
				 .nlb = 0 };
}

/* What a recorder stores of the records: binary, or the lines of the same. */
struct sink {
	struct kvt_writer *w;
	struct buf text;
	struct names names;
};

static void sink_open(struct sink *s, bool binary)
{
	json_t *meta = json_pack("{s:[{s:s,s:i,s:i,s:i}]}", "devices", "name", "nvme0n1", "dev", 271581184, "rdev", 9,
				 "lba_bytes", 4096);

	assert_non_null(meta);
	*s = (struct sink){};
	if (binary)
		assert_int_equal(kvt_writer_open(&s->w, open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600), meta), 0);
	else
		buf_lit(&s->text,
			"{\"event_type\":\"capture_meta\",\"devices\":[{\"name\":\"nvme0n1\",\"dev\":271581184,"
			"\"rdev\":9,\"lba_bytes\":4096}]}\n");
	json_decref(meta);
}

static void sink_put(struct sink *s, const void *record, size_t size, u64 ts)
{
	if (s->w) {
		assert_int_equal(kvt_write(s->w, record, size, ts), 0);
		return;
	}
	assert_int_equal(names_learn(&s->names, record), 0);
	jsonl_event(&s->text, record, &s->names);
}

/* Ends the capture and loads it. */
static void sink_model(struct sink *s, bool complete, struct model *m)
{
	json_t *footer = json_pack("{s:b,s:i,s:i,s:i}", "complete", 1, "seen", 9, "stored", 8, "in_flight", 1);

	assert_non_null(footer);
	model_init(m);
	if (s->w) {
		assert_int_equal(kvt_writer_close(s->w, complete ? footer : NULL), 0);
		assert_int_equal(model_load(m, path), 0);
	} else {
		if (complete)
			buf_lit(&s->text,
				"{\"event_type\":\"footer\",\"complete\":true,\"seen\":9,\"stored\":8,\"in_flight\":1}\n");
		assert_int_equal(model_load_text(m, s->text.p, s->text.n), 0);
	}
	assert_int_equal(model_finish(m), 0);
	json_decref(footer);
	buf_free(&s->text);
	names_free(&s->names);
}

#define PUT(s, r, ts) sink_put(s, &(r), sizeof(r), ts)

static void fill_capture(struct sink *s)
{
	struct ev_task task = { .kind = EV_TASK, .tid = 12, .pid = 11, .ts_ns = 50, .comm = "app" };
	struct ev_disk disk = {
		.kind = EV_DISK, .csi = 0, .dev = 271581184, .nsid = 1, .lba_bytes = 4096, .name = "nvme0n1"
	};
	struct ev_clock clock = { .kind = EV_CLOCK, .uncertainty_ns = 5, .monotonic_ns = 1, .realtime_ns = 1000 };
	struct ev_cq_overflow overflow = { .kind = EV_CQ_OVERFLOW, .res = -5, .ts_ns = 300, .user_data = 4, .tid = 12 };
	struct ev_nvme e;

	PUT(s, clock, 1);
	PUT(s, task, 50);
	PUT(s, disk, 50);
	PUT(s, overflow, 300);
	/* Completed out of order. */
	e = kvt_cmd(200, 2, NVME_PASSTHROUGH, 10);
	PUT(s, e, 210);
	e = kvt_cmd(100, 1, NVME_PASSTHROUGH | NVME_ENTRY, 150);
	e.wait_ns = 30;
	e.attempts = 2;
	e.status = 0x4002;
	PUT(s, e, 250);
	/* Slow: seen at two ticks, then done. */
	e = kvt_cmd(150, 3, NVME_PASSTHROUGH | NVME_IN_FLIGHT, 1000);
	PUT(s, e, 1150);
	e.lat_ns = 2000;
	PUT(s, e, 2150);
	e = kvt_cmd(150, 3, NVME_PASSTHROUGH, 2500);
	PUT(s, e, 2650);
	/* Hangs: only snapshots. */
	e = kvt_cmd(160, 4, NVME_PASSTHROUGH | NVME_IN_FLIGHT, 1000);
	PUT(s, e, 1160);
	e.lat_ns = 2000;
	PUT(s, e, 2160);
	/* Queued again under another tag after a snapshot. */
	e = kvt_cmd(170, 5, NVME_PASSTHROUGH | NVME_IN_FLIGHT, 1000);
	PUT(s, e, 1170);
	e = kvt_cmd(170, 6, NVME_PASSTHROUGH, 3000);
	e.slba = 5;
	e.attempts = 2;
	PUT(s, e, 3170);
	/* Refused, and a command of the block layer. */
	e = kvt_cmd(180, 0, NVME_PASSTHROUGH | NVME_REFUSED, 3);
	e.hwq = 0xffff;
	e.status = 22;
	PUT(s, e, 183);
	e = kvt_cmd(190, 7, 0, 40);
	PUT(s, e, 230);
}

static void a_binary_capture_and_its_lines_are_one_model(void **state)
{
	struct sink s;
	struct model m;
	int binary;
	u32 i;

	(void)state;
	for (binary = 0; binary < 2; binary++) {
		sink_open(&s, binary);
		fill_capture(&s);
		sink_model(&s, true, &m);
		assert_int_equal(m.cmd.n, 7);
		for (i = 1; i < m.cmd.n; i++)
			assert_true(m.cmd.ts_ns[i - 1] < m.cmd.ts_ns[i]);
		assert_int_equal(m.dev_in.commands, 7);
		assert_int_equal(m.dev_in.snapshots, 4);
		assert_int_equal(m.dev_in.completions, 6);
		assert_int_equal(m.dev_in.unpaired_completions, 0);
		assert_int_equal(m.dev_in.anchors, 1);
		assert_int_equal(m.n_overflows, 1);
		assert_true(m.account.present && m.account.complete);
		assert_int_equal(m.account.seen, 9);
		assert_int_equal(m.account.in_flight, 1);

		assert_int_equal(m.cmd.lat_ns[0], 150);
		assert_int_equal(m.cmd.wait_ns[0], 30);
		assert_int_equal(m.cmd.attempts[0], 2);
		assert_int_equal(m.cmd.status[0], 0x4002);
		assert_true(m.cmd.flags[0] & CMD_FAILED);
		assert_true(m.cmd.flags[0] & NVME_ENTRY);
		assert_int_equal(m.cmd.nlb[0], 1);
		assert_true(m.cmd.flags[0] & CMD_HAS_SLBA);
		assert_true(m.cmd.user_data[0] == 100ull << 32);

		assert_int_equal(m.cmd.lat_ns[1], 2500);
		assert_false(m.cmd.flags[1] & NVME_IN_FLIGHT);
		assert_int_equal(m.cmd.lat_ns[2], NO_LAT);
		assert_true(m.cmd.flags[2] & NVME_IN_FLIGHT);
		assert_int_equal(m.cmd.lat_ns[3], 3000);
		assert_int_equal(m.cmd.cid[3], 6);
		assert_true(m.cmd.flags[4] & NVME_REFUSED);
		assert_int_equal(m.cmd.status[4], 22);
		assert_int_equal(m.cmd.lat_ns[4], 3);
		assert_false(m.cmd.flags[5] & NVME_PASSTHROUGH);
		assert_int_equal(m.cmd.user_data[5], 0);
		assert_int_equal(m.cmd.lat_ns[5], 40);
		assert_int_equal(count_flag(&m, CMD_REISSUED), 0);

		assert_int_equal(m.n_devices, 1);
		assert_string_equal(str(&m, m.device[0].name), "nvme0n1");
		assert_int_equal(m.device[0].rdev, 9);
		assert_int_equal(m.device[0].lba_bytes, 4096);
		assert_int_equal(m.n_tasks, 1);
		for (i = 0; i < m.cmd.n; i++) {
			assert_int_equal(m.cmd.dev[i], 0);
			assert_int_equal(m.cmd.task[i], 0);
			assert_string_equal(str(&m, m.cmd.name[i]), "read");
		}
		assert_int_equal(m.task[0].pid, 11);
		assert_string_equal(str(&m, m.task[0].comm), "app");
		model_free(&m);
	}
}

static void key_value_commands_of_both_formats(void **state)
{
	struct ev_nvme_kv e = { .cmd = kvt_cmd(100, 1, NVME_PASSTHROUGH, 10), .key = "k0" };
	struct sink s;
	struct model m;
	int binary;

	(void)state;
	e.cmd.kind = EV_NVME_KV;
	e.cmd.opcode = 1;
	e.cmd.slba = 65536 | 2ull << 32;
	for (binary = 0; binary < 2; binary++) {
		sink_open(&s, binary);
		PUT(&s, e, 110);
		sink_model(&s, true, &m);
		assert_int_equal(m.cmd.n, 1);
		assert_string_equal(str(&m, m.cmd.name[0]), "store");
		assert_string_equal(str(&m, m.cmd.key[0]), "6b30");
		assert_true(m.cmd.flags[0] & CMD_HAS_KEY);
		assert_false(m.cmd.flags[0] & CMD_HAS_SLBA);
		assert_true(m.cmd.slba[0] == (65536 | 2ull << 32));
		assert_int_equal(m.cmd.nlb[0], 0);
		assert_int_equal(m.cmd.lat_ns[0], 10);
		assert_int_equal(cmd_role(&m, 0), ROLE_WRITES);
		model_free(&m);
	}
}

static void a_killed_recorder_leaves_a_readable_capture(void **state)
{
	struct ev_loss loss = { .kind = EV_LOSS, .ts_ns = 200, .seen = 50, .stored = 33, .ring_full = 10, .unread = 7 };
	struct sink s;
	struct model m;

	(void)state;
	sink_open(&s, true);
	fill_capture(&s);
	PUT(&s, loss, 200);
	sink_model(&s, false, &m);
	assert_int_equal(m.cmd.n, 7);
	assert_true(m.account.present);
	assert_false(m.account.complete);
	assert_int_equal(m.account.ring_full, 10);
	assert_int_equal(m.account.unread, 7);
	assert_true(m.dev_in.input_cut);
	assert_true(m.account.defect != 0);
	model_free(&m);
}

static void a_thread_id_used_again_is_another_task(void **state)
{
	struct ev_task first = { .kind = EV_TASK, .tid = 12, .pid = 11, .ts_ns = 100, .comm = "one" };
	struct ev_task second = { .kind = EV_TASK, .tid = 12, .pid = 77, .ts_ns = 300, .comm = "two" };
	struct ev_nvme e;
	struct sink s;
	struct model m;

	(void)state;
	sink_open(&s, true);
	e = kvt_cmd(90, 1, 0, 10); /* before its task was told: the first one known */
	PUT(&s, e, 100);
	e = kvt_cmd(200, 1, 0, 10);
	PUT(&s, e, 210);
	e = kvt_cmd(300, 1, 0, 10);
	PUT(&s, e, 310);
	PUT(&s, second, 300);
	PUT(&s, first, 100);
	sink_model(&s, true, &m);
	assert_string_equal(str(&m, m.task[m.cmd.task[0]].comm), "one");
	assert_string_equal(str(&m, m.task[m.cmd.task[1]].comm), "one");
	assert_string_equal(str(&m, m.task[m.cmd.task[2]].comm), "two");
	assert_int_equal(m.task[m.cmd.task[2]].pid, 77);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_binary_capture_and_its_lines_are_one_model),
		cmocka_unit_test(key_value_commands_of_both_formats),
		cmocka_unit_test(a_killed_recorder_leaves_a_readable_capture),
		cmocka_unit_test(a_thread_id_used_again_is_another_task),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
