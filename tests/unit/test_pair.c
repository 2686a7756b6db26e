// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "unit/model_text.h"

static void a_completion_says_which_command_it_ends(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	/* One cookie, three in flight at once, completions in another order. */
	um_cmd(&b, 100, 7, 1, "read");
	um_cmd(&b, 110, 7, 2, "read");
	um_cmd(&b, 120, 7, 3, "read");
	um_cmp(&b, 200, 7, 90);
	um_cmp(&b, 210, 7, 110);
	um_cmp(&b, 300, 7, 180);
	model_of(&m, &b);
	assert_int_equal(m.cmd.lat_ns[0], 110);
	assert_int_equal(m.cmd.lat_ns[1], 90);
	assert_int_equal(m.cmd.lat_ns[2], 180);
	assert_int_equal(m.dev_in.unpaired_completions, 0);
	assert_int_equal(m.cmd.cid[0], 5);
	assert_int_equal(count_flag(&m, CMD_HAS_QUEUE), 3);
	model_free(&m);
}

static void two_disks_share_queue_and_command_ids(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	tp_cmd(&b, "nvme0n1", 100, 1, 7);
	tp_cmd(&b, "nvme1n1", 130, 1, 7);
	tp_cmp(&b, 190, 60, 1, 7);
	tp_cmp(&b, 200, 100, 1, 7);
	model_of(&m, &b);
	assert_int_equal(m.n_devices, 2);
	assert_int_equal(m.cmd.lat_ns[0], 100);
	assert_int_equal(m.cmd.lat_ns[1], 60);
	assert_string_equal(strpool_get(&m.strings, m.device[m.cmd.dev[1]].name), "nvme1n1");
	model_free(&m);
}

/* One command of our own format: a disk on both lines. */
static void own_pair(struct buf *b, const char *disk, u32 dev, u64 ts, u64 lat, u32 status)
{
	buf_printf(
		b,
		"{\"event_type\":\"nvme_cmd\",\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,\"slba\":1,\"nlb\":1,"
		"\"data_len\":4096,\"ts\":%llu,\"disk\":\"%s\",\"dev\":%u,\"hwq\":1,\"cid\":7}\n",
		(unsigned long long)ts, disk, dev);
	buf_printf(
		b,
		"{\"event_type\":\"nvme_cmp\",\"err\":0,\"lat_ns\":%llu,\"disk\":\"%s\",\"dev\":%u,\"hwq\":1,\"cid\":7,"
		"\"ts\":%llu,\"status\":%u}\n",
		(unsigned long long)lat, disk, dev, (unsigned long long)(ts + lat), status);
}

static void the_device_tells_equal_times_apart(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	own_pair(&b, "nvme1n1", 2, 100, 60, 0);
	own_pair(&b, "nvme0n1", 1, 100, 50, 0);
	model_of(&m, &b);
	for (i = 0; i < 2; i++)
		assert_int_equal(m.cmd.lat_ns[i], m.device[m.cmd.dev[i]].dev == 1 ? 50 : 60);
	model_free(&m);
}

static void what_does_not_match_stays_unmatched(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	tp_cmp(&b, 150, 60, 1, 9); /* its command is lost */
	tp_cmd(&b, "nvme0n1", 200, 1, 9);
	um_cmp(&b, 400, 7, 10);
	um_cmd(&b, 380, 7, 1, "read"); /* 390 was meant */
	um_cmd(&b, 390, 8, 1, "read");
	model_of(&m, &b);
	assert_int_equal(count_paired(&m), 0);
	assert_int_equal(m.dev_in.completions, 2);
	assert_int_equal(m.dev_in.unpaired_completions, 2);
	model_free(&m);
}

static void without_latency_the_latest_submission_is_meant(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	um_cmd(&b, 100, 7, 1, "read");
	um_cmd(&b, 110, 7, 2, "read");
	um_cmd(&b, 105, 8, 3, "read");
	um_cmp_bare(&b, 200, 7);
	um_cmp_bare(&b, 150, 8);
	um_cmd(&b, 210, 7, 4, "read");
	um_cmp_bare(&b, 250, 7);
	um_cmp_bare(&b, 260, 9);
	model_of(&m, &b);
	assert_int_equal(m.cmd.lat_ns[0], NO_LAT);
	assert_int_equal(m.cmd.lat_ns[1], 45);
	assert_int_equal(m.cmd.lat_ns[2], 90);
	assert_int_equal(m.cmd.lat_ns[3], 40);
	assert_int_equal(m.dev_in.unpaired_completions, 1);
	model_free(&m);
}

static void exact_pairs_come_before_guesses(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	um_cmd(&b, 100, 7, 1, "read");
	um_cmd(&b, 110, 7, 2, "read");
	um_cmp_bare(&b, 200, 7); /* would take the second */
	um_cmp(&b, 300, 7, 190);
	model_of(&m, &b);
	assert_int_equal(m.cmd.lat_ns[0], 100);
	assert_int_equal(m.cmd.lat_ns[1], 190);
	model_free(&m);
}

static void a_reissue_after_eagain_is_one_command(void **state)
{
	struct buf b = {};
	struct model m;
	int bare;

	(void)state;
	for (bare = 0; bare < 2; bare++) {
		um_cmd(&b, 0, 7, 1, "read");
		um_cmd(&b, 40000, 7, 1, "read");
		if (bare)
			um_cmp_bare(&b, 60000, 7);
		else
			um_cmp(&b, 60000, 7, 20000);
		model_of(&m, &b);
		assert_int_equal(count_flag(&m, CMD_REISSUED), 1);
		assert_true(m.cmd.flags[0] & CMD_REISSUED);
		assert_int_equal(m.cmd.lat_ns[1], 20000);
		assert_int_equal(m.cmd.attempts[1], 2);
		assert_int_equal(m.cmd.wait_ns[1], 40000);
		assert_int_equal(m.dev_in.unpaired_completions, 0);
		assert_int_equal(count_bytes(&m), 4096);
		model_free(&m);
	}
}

static void several_attempts_lead_to_one_command(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	um_cmd(&b, 10, 7, 1, "read");
	um_cmd(&b, 20, 7, 1, "read");
	um_cmd(&b, 30, 7, 1, "read");
	um_cmp(&b, 90, 7, 60);
	model_of(&m, &b);
	assert_int_equal(count_flag(&m, CMD_REISSUED), 2);
	assert_int_equal(m.cmd.attempts[2], 3);
	assert_int_equal(m.cmd.wait_ns[2], 20);
	model_free(&m);
}

static void a_lost_completion_is_no_reissue(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	/* The cookie is used again for another block, then for the same one. */
	um_cmd(&b, 10, 7, 1, "read");
	um_cmd(&b, 20, 7, 2, "read");
	um_cmp(&b, 25, 7, 5);
	um_cmd(&b, 30, 7, 1, "read");
	um_cmp(&b, 35, 7, 5);
	/* The last one never completes, and nothing follows. */
	um_cmd(&b, 40, 8, 1, "read");
	/* Same cookie and block, other direction. */
	um_cmd(&b, 50, 9, 1, "read");
	um_cmd(&b, 60, 9, 1, "write");
	um_cmp(&b, 65, 9, 5);
	model_of(&m, &b);
	assert_int_equal(count_flag(&m, CMD_REISSUED), 0);
	assert_int_equal(count_paired(&m), 3);
	model_free(&m);
}

static void a_capture_without_completions_has_no_reissues(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	um_cmd(&b, 10, 7, 1, "read");
	um_cmd(&b, 20, 7, 1, "read");
	model_of(&m, &b);
	assert_int_equal(count_flag(&m, CMD_REISSUED), 0);
	model_free(&m);
}

static void worker_cmd(struct buf *b, u64 ts, u64 user_data, u64 slba)
{
	buf_printf(b,
		   "{\"event_type\":\"nvme_cmd\",\"pid\":10,\"tid\":99,\"user_data\":%llu,\"nvme_opcode\":2,"
		   "\"op_name\":\"read\",\"nsid\":1,\"slba\":%llu,\"nlb\":1,\"data_len\":4096,\"rdev\":62914560,"
		   "\"comm\":\"iou-wrk-11\",\"ts\":%llu}\n",
		   (unsigned long long)user_data, (unsigned long long)slba, (unsigned long long)ts);
}

static void a_reissue_that_shows_a_later_cookie_is_matched_by_elimination(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	/* 7 is turned away; its slot is taken by 8 before the worker issues it and the tracer reads the slot. */
	um_cmd(&b, 10, 7, 1, "read");
	um_cmd(&b, 20, 8, 2, "read");
	um_cmp(&b, 30, 8, 10);
	worker_cmd(&b, 40, 8, 2);
	um_cmp(&b, 60, 8, 20);
	/* Lost, but of a thread no worker works for. */
	worker_cmd(&b, 5, 70, 3);
	model_of(&m, &b);
	assert_int_equal(count_flag(&m, CMD_REISSUED), 1);
	assert_true(m.cmd.flags[1] & CMD_REISSUED);
	assert_int_equal(m.cmd.user_data[1], 7);
	assert_int_equal(m.cmd.attempts[3], 2);
	model_free(&m);
}

static void reading_a_block_twice_is_no_reissue(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	um_cmd(&b, 10, 7, 1, "read"); /* its completion is lost */
	um_cmd(&b, 20, 8, 2, "read");
	um_cmp(&b, 30, 8, 10);
	um_cmd(&b, 40, 8, 2, "read");
	um_cmp(&b, 60, 8, 20);
	worker_cmd(&b, 70, 9, 2);
	um_cmp(&b, 80, 9, 10);
	model_of(&m, &b);
	assert_int_equal(count_flag(&m, CMD_REISSUED), 0);
	model_free(&m);
}

static void time_that_runs_backwards_is_counted_and_clamped(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	um_cmd(&b, 100, 1, 1, "read");
	um_cmp(&b, 95, 1, (u64)-5);
	um_cmd(&b, 200, 2, 1, "read");
	um_cmp_bare(&b, 195, 2);
	um_cmd(&b, 300, 3, 1, "read");
	um_cmp_bare(&b, 310, 3);
	/* So far apart, they are two halves. */
	um_cmd(&b, 5000000, 4, 1, "read");
	um_cmp_bare(&b, 1000, 4);
	model_of(&m, &b);
	assert_int_equal(m.dev_in.negative_latency, 2);
	assert_int_equal(count_flag(&m, CMD_NEGATIVE), 2);
	assert_int_equal(count_paired(&m), 3);
	assert_int_equal(m.dev_in.unpaired_completions, 1);
	for (i = 0; i < m.cmd.n; i++)
		assert_true(m.cmd.lat_ns[i] == NO_LAT || m.cmd.lat_ns[i] <= 10);
	model_free(&m);
}

static void failures_are_marked(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	own_pair(&b, "nvme0n1", 1, 100, 10, 0x4002);
	own_pair(&b, "nvme0n1", 1, 200, 10, 0);
	um_cmd(&b, 300, 7, 1, "read");
	buf_lit(&b,
		"{\"event_type\":\"nvme_cmp\",\"user_data\":7,\"err\":10,\"lat_ns\":5,\"hwq\":0,\"cid\":0,\"ts\":305}\n");
	model_of(&m, &b);
	assert_int_equal(count_flag(&m, CMD_FAILED), 2);
	assert_true(m.cmd.flags[0] & CMD_FAILED);
	assert_int_equal(m.cmd.status[0], 0x4002);
	assert_false(m.cmd.flags[0] & CMD_BLK_STATUS);
	assert_true(m.cmd.flags[2] & CMD_BLK_STATUS);
	assert_int_equal(m.cmd.status[2], 10);
	model_free(&m);
}

static void a_refused_command_is_no_failed_device_command(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	buf_lit(&b,
		"{\"event_type\":\"nvme_cmd\",\"user_data\":7,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":1,\"nlb\":1,"
		"\"data_len\":4096,\"ts\":100,\"disk\":\"nvme0n1\",\"dev\":5,\"hwq\":65535,\"cid\":0,\"refused\":true}\n"
		"{\"event_type\":\"nvme_cmp\",\"user_data\":7,\"err\":10,\"lat_ns\":3,\"disk\":\"nvme0n1\",\"dev\":5,"
		"\"hwq\":65535,\"cid\":0,\"ts\":103,\"status\":22,\"refused\":true}\n");
	model_of(&m, &b);
	assert_true(m.cmd.flags[0] & NVME_REFUSED);
	assert_true(m.cmd.flags[0] & CMD_FAILED);
	assert_false(m.cmd.flags[0] & CMD_HAS_QUEUE);
	assert_int_equal(m.cmd.status[0], 22);
	assert_int_equal(m.cmd.lat_ns[0], 3);
	assert_int_equal(m.dev_in.unpaired_completions, 0);
	model_free(&m);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in order of their bytes: a shuffle that is the same each time. */
static void reorder_lines(const struct buf *in, struct buf *out)
{
	char *text = strndup(in->p, in->n), *line[4096], *save;
	size_t n = 0, i;

	for (line[n] = strtok_r(text, "\n", &save); line[n]; line[n] = strtok_r(NULL, "\n", &save))
		n++;
	qsort(line, n, sizeof(*line), by_text);
	for (i = 0; i < n; i++)
		buf_printf(out, "%s\n", line[n - 1 - i]);
	free(text);
}

static void the_order_of_lines_has_no_say(void **state)
{
	struct buf b = {}, shuffled = {};
	struct model x, y;
	u32 i;

	(void)state;
	for (i = 0; i < 500; i++) {
		/* Times that repeat, two disks, failed attempts, losses. */
		tp_cmd(&b, i % 3 ? "nvme0n1" : "nvme1n1", 1000 + i / 2, i % 4, i);
		if (i % 7)
			tp_cmp(&b, 5000 + i, 4000 + i - i / 2, i % 4, i);
		um_cmd(&b, 1000 + i / 3, (u64)i << 32 | 1, i, "read");
		if (i % 5 == 0)
			um_cmd(&b, 2000 + i / 3, (u64)i << 32 | 1, i, "read");
		um_cmp(&b, 9000, (u64)i << 32 | 1, i % 5 ? 8000 - i / 3 : 7000 - i / 3);
	}
	reorder_lines(&b, &shuffled);
	model_of(&x, &b);
	model_of(&y, &shuffled);
	assert_int_equal(x.cmd.n, 1100);
	assert_int_equal(y.cmd.n, x.cmd.n);
	assert_int_equal(count_flag(&x, CMD_REISSUED), 100);
	assert_int_equal(x.dev_in.unpaired_completions, 0);
	for (i = 0; i < x.cmd.n; i++) {
		assert_int_equal(x.cmd.ts_ns[i], y.cmd.ts_ns[i]);
		assert_int_equal(x.cmd.lat_ns[i], y.cmd.lat_ns[i]);
		assert_int_equal(x.cmd.user_data[i], y.cmd.user_data[i]);
		assert_int_equal(x.cmd.flags[i], y.cmd.flags[i]);
		assert_int_equal(x.cmd.cid[i], y.cmd.cid[i]);
		assert_int_equal(x.cmd.dev[i], y.cmd.dev[i]);
		assert_int_equal(x.cmd.attempts[i], y.cmd.attempts[i]);
	}
	model_free(&x);
	model_free(&y);
}

static void assert_same_commands(const struct model *x, const struct model *y)
{
	u32 i;

	assert_int_equal(x->cmd.n, y->cmd.n);
	for (i = 0; i < x->cmd.n; i++)
		if (x->cmd.ts_ns[i] != y->cmd.ts_ns[i] || x->cmd.lat_ns[i] != y->cmd.lat_ns[i] ||
		    x->cmd.user_data[i] != y->cmd.user_data[i] || x->cmd.flags[i] != y->cmd.flags[i] ||
		    x->cmd.cid[i] != y->cmd.cid[i] || x->cmd.slba[i] != y->cmd.slba[i] ||
		    x->cmd.status[i] != y->cmd.status[i])
			fail_msg("row %u differs", i);
}

/* Nothing tells these commands apart: which has which completion must not follow from the order of lines. */
static void completions_of_equal_commands_go_by_latency(void **state)
{
	struct buf b = {}, shuffled = {};
	struct model x, y;
	u32 i;

	(void)state;
	for (i = 0; i < 400; i++) {
		um_cmd(&b, 1000 + i / 4, 0, i * 7 % 16, "read");
		if (i % 8)
			um_cmp(&b, 5000 + i * 13 % 97, 0, 5000 + i * 13 % 97 - 1000 - i / 4);
	}
	reorder_lines(&b, &shuffled);
	model_of(&x, &b);
	model_of(&y, &shuffled);
	assert_int_equal(count_paired(&x), 350);
	assert_same_commands(&x, &y);
	for (i = 1; i < x.cmd.n; i++)
		assert_true(x.cmd.ts_ns[i] != x.cmd.ts_ns[i - 1] || x.cmd.lat_ns[i - 1] <= x.cmd.lat_ns[i]);
	model_free(&x);
	model_free(&y);
}

/* What loading pairs at once and what waits for the end of the input: more in flight than is looked back to. */
static void pairs_do_not_depend_on_how_far_apart_their_lines_are(void **state)
{
	const u32 n = 60000;
	struct buf near = {}, far = {}, before = {};
	struct model x, y, z;
	u32 i;

	(void)state;
	for (i = 0; i < n; i++) {
		um_cmd(&near, 1000 + i, (u64)(i % 900) << 32 | 5, i, "read");
		um_cmp(&near, 9000 + i, (u64)(i % 900) << 32 | 5, 8000);
		um_cmd(&far, 1000 + i, (u64)(i % 900) << 32 | 5, i, "read");
		um_cmp(&before, 9000 + i, (u64)(i % 900) << 32 | 5, 8000);
	}
	for (i = 0; i < n; i++) {
		um_cmp(&far, 9000 + i, (u64)(i % 900) << 32 | 5, 8000);
		um_cmd(&before, 1000 + i, (u64)(i % 900) << 32 | 5, i, "read");
	}
	model_of(&x, &near);
	model_of(&y, &far);
	model_of(&z, &before);
	assert_int_equal(count_paired(&x), n);
	assert_same_commands(&x, &y);
	assert_same_commands(&x, &z);
	assert_int_equal(x.dev_in.unpaired_completions + y.dev_in.unpaired_completions + z.dev_in.unpaired_completions,
			 0);
	model_free(&x);
	model_free(&y);
	model_free(&z);
}

/* Hostile inputs of 60 000 lines must not take quadratic time. */
static void equal_times_and_cookies_cost_no_more(void **state)
{
	const u32 n = 30000;
	clock_t began = clock();
	struct buf b = {};
	struct model m;
	u32 i, kind;

	(void)state;
	for (kind = 0; kind < 4; kind++) {
		for (i = 0; i < n; i++)
			if (kind == 0)
				um_cmd(&b, 100, i, 1, "read");
			else if (kind == 1)
				um_cmd(&b, 100, 7, 1, "read");
			else if (kind == 2)
				tp_cmd(&b, "nvme0n1", 100, 1, 1);
			else
				um_cmd(&b, 100 + i, 7, 1, "read");
		for (i = 0; i < n; i++)
			if (kind == 0)
				um_cmp(&b, 200, i, 100);
			else if (kind == 1)
				um_cmp(&b, 200, 7, 99);
			else if (kind == 2)
				tp_cmp(&b, 200, 100, 1, 1);
			else
				um_cmp_bare(&b, 200 + n, 7);
		model_of(&m, &b);
		assert_int_equal(count_paired(&m), kind == 1 ? 0 : n);
		model_free(&m);
	}
	assert_true(clock() - began < 20 * CLOCKS_PER_SEC);
}

static void golden_captures(void **state)
{
	struct model m;
	u32 i;

	(void)state;
	model_of_case(&m, "eagain/sem.jsonl", "eagain/ebpf.jsonl");
	assert_int_equal(m.cmd.n, 142);
	assert_int_equal(count_paired(&m), 102);
	assert_int_equal(count_flag(&m, CMD_REISSUED), 40);
	assert_int_equal(count_bytes(&m), 12607488);
	assert_int_equal(m.n_header_cmds, 6);
	model_free(&m);

	model_of_case(&m, "", "tpmon/ebpf.jsonl");
	assert_int_equal(count_paired(&m), 220);
	for (i = 0; i < m.cmd.n; i++)
		assert_true(m.cmd.lat_ns[i] >= 30000 && m.cmd.lat_ns[i] <= 220000);
	model_free(&m);

	model_of_case(&m, "missing-cmp/sem.jsonl", "missing-cmp/ebpf.jsonl");
	assert_int_equal(m.cmd.n, 102);
	assert_int_equal(count_paired(&m), 80);
	assert_int_equal(count_flag(&m, CMD_REISSUED), 0);
	assert_int_equal(m.account.ring_full, 23);
	model_free(&m);

	model_of_case(&m, "kv-key/sem.jsonl", "kv-key/ebpf.jsonl");
	assert_int_equal(count_paired(&m), 64);
	assert_int_equal(count_flag(&m, CMD_HAS_KEY), 66);
	assert_string_equal(strpool_get(&m.strings, m.cmd.key[0]), "6B30");
	assert_true(m.cmd.slba[0] == (65536 | 2ull << 32));
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_completion_says_which_command_it_ends),
		cmocka_unit_test(two_disks_share_queue_and_command_ids),
		cmocka_unit_test(the_device_tells_equal_times_apart),
		cmocka_unit_test(what_does_not_match_stays_unmatched),
		cmocka_unit_test(without_latency_the_latest_submission_is_meant),
		cmocka_unit_test(exact_pairs_come_before_guesses),
		cmocka_unit_test(a_reissue_after_eagain_is_one_command),
		cmocka_unit_test(several_attempts_lead_to_one_command),
		cmocka_unit_test(a_lost_completion_is_no_reissue),
		cmocka_unit_test(a_capture_without_completions_has_no_reissues),
		cmocka_unit_test(a_reissue_that_shows_a_later_cookie_is_matched_by_elimination),
		cmocka_unit_test(reading_a_block_twice_is_no_reissue),
		cmocka_unit_test(time_that_runs_backwards_is_counted_and_clamped),
		cmocka_unit_test(failures_are_marked),
		cmocka_unit_test(a_refused_command_is_no_failed_device_command),
		cmocka_unit_test(the_order_of_lines_has_no_say),
		cmocka_unit_test(completions_of_equal_commands_go_by_latency),
		cmocka_unit_test(pairs_do_not_depend_on_how_far_apart_their_lines_are),
		cmocka_unit_test(equal_times_and_cookies_cost_no_more),
		cmocka_unit_test(golden_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
