// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/zio.h"
#include "unit/model_text.h"

static char path[] = "/tmp/kvio-test-load-XXXXXX";

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

static void put_file(const struct buf *b, size_t n, enum zio_codec codec)
{
	struct zout *z;

	assert_int_equal(zout_open(&z, path, codec), 0);
	assert_int_equal(zout_write(z, b->p, n), 0);
	assert_int_equal(zout_close(z), 0);
}

static int load_bytes(struct model *m, const char *text, size_t n)
{
	model_init(m);
	return model_load_text(m, text, n);
}

static const char *str(const struct model *m, u32 id)
{
	return strpool_get(&m->strings, id);
}

static void golden_counts(void **state)
{
	struct model m;

	(void)state;
	model_of_case(&m, "qd1/sem.jsonl", "qd1/ebpf.jsonl");
	assert_int_equal(m.sem_in.semantic, 18);
	assert_int_equal(m.sem_in.lines, 19);
	assert_int_equal(m.sem_in.other, 0);
	assert_int_equal(m.dev_in.commands, 153);
	assert_int_equal(m.dev_in.completions, 153);
	assert_int_equal(m.dev_in.anchors, 2);
	assert_int_equal(m.dev_in.other, 1); /* the drops line */
	assert_int_equal(m.n_anchors, 2);
	assert_true(m.account.present && m.account.complete);
	assert_string_equal(str(&m, m.sem_meta.hostname), "host-a");
	assert_string_equal(str(&m, m.sem_meta.device_path), "/dev/ng1n1");
	assert_string_equal(str(&m, m.sem_meta.io_engine), "io_uring_cmd");
	assert_int_equal(m.sem_meta.kvio_schema, 2);
	assert_int_equal(m.sem_meta.header_bytes, 4096);
	assert_int_equal(m.n_tasks, 1);
	assert_int_equal(m.task[0].pid, 4242);
	assert_string_equal(str(&m, m.task[0].comm), "kvworker");
	assert_int_equal(m.cmd.task[0], 0);
	assert_int_equal(m.op.start_ns[0], 812345678901234);
	assert_int_equal(m.op.end_ns[0], 812345679741704);
	assert_int_equal(m.op.bytes[0], 1048576);
	model_free(&m);

	model_of_case(&m, "cq-overflow/sem.jsonl", "cq-overflow/ebpf.jsonl");
	assert_int_equal(m.n_overflows, 6);
	assert_int_equal(m.overflow[0].res, -125);
	assert_int_equal(m.dev_in.other, 7);
	assert_int_equal(m.account.ring_full, 4);
	assert_int_equal(m.account.seen, m.account.stored + 4);
	model_free(&m);
}

static void cut_tails_and_damaged_lines(void **state)
{
	struct model m;

	(void)state;
	model_of_case(&m, "truncated/sem.jsonl", "truncated/ebpf.jsonl");
	assert_int_equal(m.dev_in.malformed, 1);
	assert_int_equal(m.dev_in.first_bad_line, 10);
	assert_true(m.dev_in.tail_cut);
	assert_int_equal(m.sem_in.malformed, 0);
	assert_true(m.sem_in.tail_cut);
	assert_int_equal(m.dev_in.commands, 45);
	assert_int_equal(m.dev_in.completions, 45);
	assert_int_equal(m.op.n, 10);
	assert_false(m.account.complete);
	model_free(&m);
}

static void an_unterminated_fragment_is_no_damage(void **state)
{
	static const char text[] = "{\"event_type\":\"nvme_cmp\",\"ts\":1}\n{\"event_type\":\"nvme_cmp\",\"ts\":2}\n"
				   "{\"event_type\":\"nvme_cmp\",\"ts\":3}\n{\"event";
	struct model m;

	(void)state;
	assert_int_equal(load_bytes(&m, text, sizeof(text) - 1), 0);
	assert_int_equal(m.dev_in.completions, 3);
	assert_int_equal(m.dev_in.malformed, 0);
	assert_true(m.dev_in.tail_cut);
	model_free(&m);
	/* A whole record without its newline counts. */
	assert_int_equal(load_bytes(&m, text, 2 * 33 - 1), 0);
	assert_int_equal(m.dev_in.completions, 2);
	assert_false(m.dev_in.tail_cut);
	model_free(&m);
}

static void mark_and_line_ends_make_no_difference(void **state)
{
	struct buf in = {}, out = {};
	struct model m;
	char chunk[4096];
	ssize_t n, i;
	int fd = open(CASES "qd1/ebpf.jsonl", O_RDONLY);

	(void)state;
	assert_true(fd >= 0);
	buf_lit(&out, "\xef\xbb\xbf\r\n \r\n");
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		for (i = 0; i < n; i++) {
			if (chunk[i] == '\n')
				buf_lit(&out, " \r");
			buf_byte(&out, chunk[i]);
		}
	close(fd);
	model_of(&m, &out);
	assert_int_equal(m.dev_in.commands, 153);
	assert_int_equal(count_paired(&m), 153);
	assert_int_equal(m.dev_in.malformed, 0);
	assert_true(m.dev_in.bom);
	assert_true(m.dev_in.crlf);
	model_free(&m);
	buf_free(&in);
	model_of_case(&m, "", "qd1/ebpf.jsonl");
	assert_false(m.dev_in.bom || m.dev_in.crlf);
	model_free(&m);
}

static void hostile_lines_are_counted_not_fatal(void **state)
{
	static const char text[] = "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"user_data\":18446744073709551616}\n"
				   "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"user_data\":9007199254740993}\n"
				   "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"user_data\":9007199254740992}\n"
				   "{\"event_type\":\"nvme_cmd\",\"ts\":NaN}\n"
				   "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"comm\":\"a\"b\\c\"}\n"
				   "[1,2]\n"
				   "{\"event_type\":\"nvme_cmd\",\"ts\":1,\0}\n"
				   "{\"event_type\":\"nvme_cmd\",\"comm\":\"no time\"}\n"
				   "{\"event_type\":\"capture_meta\",\"devices\":7}\n"
				   "{\"event_type\":\"of the future\",\"ts\":\"?\",\"deep\":[[[[{}]]]]}\n";
	struct model m;

	(void)state;
	assert_int_equal(load_bytes(&m, text, sizeof(text) - 1), 0);
	assert_int_equal(m.dev_in.malformed, 6);
	assert_int_equal(m.dev_in.first_bad_line, 1);
	assert_int_equal(m.dev_in.commands, 2);
	assert_int_equal(m.dev_in.unknown, 1);
	assert_int_equal(m.dev_in.lines, 10);
	assert_int_equal(model_finish(&m), 0);
	assert_true(m.cmd.user_data[0] == 9007199254740992ull);
	assert_true(m.cmd.user_data[1] == 9007199254740993ull);
	model_free(&m);
}

static void what_is_no_capture_is_told(void **state)
{
	static const char *const texts[] = { "hello\n", "hello", "{\n \"pretty\": 1\n}\n",
					     "\x7f"
					     "ELF\n\n\x01\n" };
	struct model m;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(load_bytes(&m, texts[i], strlen(texts[i])), -EBADMSG);
		model_free(&m);
	}
	assert_int_equal(load_bytes(&m, "", 0), 0);
	assert_int_equal(model_load_text(&m, "\n\n", 2), 0);
	assert_int_equal(model_load(&m, "/nonexistent"), -ENOENT);
	model_free(&m);
}

static void serving_spans_and_foreign_records_are_counted(void **state)
{
	static const char text[] =
		"{\"op\":\"recompute\",\"ts_start\":1.5,\"ts\":2.5}\n{\"event_type\":\"intent\",\"ts\":1}\n"
		"{\"dropped\":0}\n";
	struct model m;

	(void)state;
	assert_int_equal(load_bytes(&m, text, sizeof(text) - 1), 0);
	assert_int_equal(m.dev_in.other, 3);
	assert_int_equal(m.dev_in.serving, 1);
	assert_int_equal(m.dev_in.unknown, 2);
	assert_false(m.account.present);
	model_free(&m);
}

static void phantom_sizes_of_the_tracepoint_monitor_are_dropped(void **state)
{
	static const char text[] =
		"{\"event_type\":\"nvme_cmd\",\"disk\":\"nvme0n1\",\"nvme_opcode\":0,\"op_name\":\"flush\",\"slba\":0,\"nlb\":1,"
		"\"bytes\":4096,\"data_len\":4096,\"hwq\":1,\"cid\":1,\"ts\":1}\n"
		"{\"event_type\":\"nvme_cmd\",\"disk\":\"nvme0n1\",\"nvme_opcode\":9,\"op_name\":\"other\",\"slba\":17179869184,"
		"\"nlb\":1,\"bytes\":4096,\"data_len\":4096,\"hwq\":1,\"cid\":2,\"ts\":2}\n"
		"{\"event_type\":\"nvme_cmd\",\"disk\":\"\",\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":5,\"nlb\":1,"
		"\"bytes\":4096,\"data_len\":4096,\"hwq\":0,\"cid\":3,\"ts\":3}\n"
		"{\"event_type\":\"nvme_cmd\",\"disk\":\"nvme0n1\",\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":5,\"nlb\":1,"
		"\"bytes\":4096,\"data_len\":4096,\"hwq\":1,\"cid\":4,\"ts\":4}\n"
		/* The passthrough monitor measured data_len, and shows the dwords of any command. */
		"{\"event_type\":\"nvme_cmd\",\"user_data\":1,\"nvme_opcode\":0,\"op_name\":\"flush\",\"slba\":7,\"nlb\":1,"
		"\"bytes\":4096,\"data_len\":0,\"rdev\":9,\"ts\":5}\n";
	struct model m;

	(void)state;
	assert_int_equal(load_bytes(&m, text, sizeof(text) - 1), 0);
	assert_int_equal(model_finish(&m), 0);
	assert_int_equal(count_bytes(&m), 4096);
	assert_int_equal(m.cmd.bytes[3], 4096);
	assert_false(m.cmd.flags[0] & CMD_HAS_SLBA);
	assert_false(m.cmd.flags[1] & CMD_HAS_SLBA);
	assert_true(m.cmd.flags[2] & NVME_ADMIN);
	assert_string_equal(str(&m, m.cmd.name[2]), "admin");
	assert_true(m.cmd.flags[3] & CMD_HAS_SLBA);
	assert_true(m.cmd.flags[4] & CMD_HAS_SLBA);
	model_free(&m);
}

static void serving_spans_are_kept_in_file_order(void **state)
{
	static const char text[] =
		"{\"op\":\"prefill\",\"tokens\":512,\"request_id\":\"q-1\",\"ts_start\":1.5,\"ts\":2.000000001}\n"
		"{\"name\":\"decode\",\"request_id\":7,\"ts_start\":1e0,\"ts\":1.25,\"tokens\":null}\n"
		"{\"ts_start\":3,\"ts\":2,\"tokens\":-1}\n"
		"{\"event_type\":\"gpu_span\",\"name\":\"\",\"ts\":4,\"ts_start\":4,\"tokens\":[1]}\n"
		/* A semantic record has both times, too; one without an operation's id is no such record. */
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":5,\"ts\":6}\n"
		"{\"trace_id\":2,\"ts_start\":5,\"ts\":6}\n"
		"{\"op\":\"x\",\"ts_start\":\"soon\",\"ts\":6}\n";
	struct model m;

	(void)state;
	assert_int_equal(load_bytes(&m, text, sizeof(text) - 1), 0);
	assert_int_equal(m.serving.n, 5);
	assert_int_equal(m.op.n, 1);
	assert_int_equal(m.dev_in.serving + m.sem_in.serving, 5);
	assert_int_equal(m.dev_in.malformed + m.sem_in.malformed, 1);
	assert_string_equal(str(&m, m.serving.name[0]), "prefill");
	assert_string_equal(str(&m, m.serving.request_id[0]), "q-1");
	assert_int_equal(m.serving.start_ns[0], 1500000000);
	assert_int_equal(m.serving.end_ns[0], 2000000001);
	assert_int_equal(m.serving.tokens[0], 512);
	assert_string_equal(str(&m, m.serving.name[1]), "decode");
	assert_string_equal(str(&m, m.serving.request_id[1]), "7");
	assert_int_equal(m.serving.start_ns[1], NSEC_PER_SEC);
	assert_true(m.serving.tokens[1] == NO_NUMBER);
	assert_string_equal(str(&m, m.serving.name[2]), "request");
	assert_int_equal(m.serving.request_id[2], 0);
	assert_int_equal(m.serving.end_ns[2], 3 * NSEC_PER_SEC); /* never before its start */
	assert_true(m.serving.tokens[2] == NO_NUMBER);
	assert_string_equal(str(&m, m.serving.name[3]), "request");
	assert_true(m.serving.tokens[3] == NO_NUMBER);
	model_free(&m);
}

static void damage_among_predicted_lines_is_found_by_its_number(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		um_cmd(&b, 1000 + i, (u64)i << 32, i, i % 100 ? "read" : "write");
		um_cmp(&b, 5000 + i, (u64)i << 32, 4000);
		if (i == 1499)
			buf_lit(&b,
				"{\"event_type\":\"nvme_cmp\",\"user_data\":1,\"err\":00,\"lat_ns\":4,\"ts\":5}\n\n");
	}
	assert_int_equal(load_bytes(&m, b.p, b.n), 0);
	assert_int_equal(m.dev_in.commands, 3000);
	assert_int_equal(m.dev_in.completions, 3000);
	assert_int_equal(m.dev_in.malformed, 1);
	assert_int_equal(m.dev_in.first_bad_line, 3001);
	assert_int_equal(m.dev_in.lines, 6002);
	assert_int_equal(model_finish(&m), 0);
	for (i = 0; i < 3000; i++) {
		assert_int_equal(m.cmd.lat_ns[i], 4000);
		assert_string_equal(str(&m, m.cmd.name[i]), i % 100 ? "read" : "write");
	}
	model_free(&m);
	buf_free(&b);
}

/* Who a line is of is looked up once for many: not once too rarely. */
static void threads_and_devices_change_among_predicted_lines(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		/* In long and in short turns; a thread takes another name, a disk another number. */
		u32 who = i < 600 ? i / 100 % 3 : i < 1200 ? i % 3 : i * 7 / 50 % 3;

		buf_printf(&b,
			   "{\"event_type\":\"nvme_cmd\",\"pid\":10,\"tid\":%u,\"user_data\":%u,\"nvme_opcode\":2,"
			   "\"op_name\":\"read\",\"nsid\":1,\"slba\":1,\"nlb\":1,\"data_len\":512,\"comm\":\"c%u\","
			   "\"ts\":%u,\"disk\":\"nvme%un1\",\"dev\":%u,\"hwq\":0,\"cid\":%u}\n",
			   11 + who / 2, i, who, 1000 + i, who, 5 + who, i);
	}
	model_of(&m, &b);
	assert_int_equal(m.n_devices, 3);
	assert_int_equal(m.n_tasks, 3);
	for (i = 0; i < 2000; i++) {
		u32 who = i < 600 ? i / 100 % 3 : i < 1200 ? i % 3 : i * 7 / 50 % 3;
		const struct task *t = &m.task[m.cmd.task[i]];

		if (m.device[m.cmd.dev[i]].dev != 5 + who || t->tid != 11 + who / 2 ||
		    str(&m, t->comm)[1] != (char)('0' + who))
			fail_msg("row %u is of another thread or disk", i);
	}
	model_free(&m);
}

/* Writes the text in pieces, slowly, and ends. */
static void feed(int fd, const struct buf *b)
{
	size_t at, piece;

	for (at = 0; at < b->n; at += piece) {
		piece = MIN(b->n - at, (size_t)777);
		if (write(fd, b->p + at, piece) != (ssize_t)piece)
			_exit(1);
		usleep(100);
	}
	_exit(0);
}

static void a_pipe_is_read_to_its_end(void **state)
{
	struct buf b = {};
	struct model m;
	char name[32];
	int fd[2];
	pid_t pid;
	u32 i;

	(void)state;
	for (i = 0; i < 300; i++) {
		um_cmd(&b, 1000 + i, i, i, "read");
		um_cmp(&b, 2000 + i, i, 1000);
	}
	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (!pid)
		feed(fd[1], &b);
	close(fd[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd[0]);
	model_init(&m);
	assert_int_equal(model_load(&m, name), 0);
	close(fd[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(m.dev_in.commands, 300);
	assert_int_equal(m.dev_in.completions, 300);
	assert_false(m.dev_in.tail_cut);
	model_free(&m);
	buf_free(&b);
}

/* Enough rows for memory of other kinds than a small capture has, in order and out of it. */
static void large_columns_keep_their_rows(void **state)
{
	const u32 n = 200000;
	struct buf b = {};
	struct model m;
	u32 i, back;

	(void)state;
	for (back = 0; back < 2; back++) {
		for (i = 0; i < n; i++) {
			u64 k = back ? n - 1 - i : i;

			um_cmd(&b, 1000 + k, k << 32, k * 3, "read");
		}
		model_of(&m, &b);
		assert_int_equal(m.cmd.n, n);
		for (i = 0; i < n; i++)
			if (m.cmd.ts_ns[i] != 1000 + i || m.cmd.user_data[i] != (u64)i << 32 ||
			    m.cmd.slba[i] != i * 3ul || m.cmd.key[i] || m.cmd.wait_ns[i] || m.cmd.task[i] ||
			    m.cmd.status[i] || m.cmd.tid[i] != 11)
				fail_msg("row %u is not what was loaded", i);
		model_free(&m);
	}
}

static void lines_longer_than_the_window(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 20000; i++) /* several windows, lines cut by their edges */
		um_cmp(&b, 1000 + i, i, 10);
	buf_lit(&b, "{\"event_type\":\"nvme_cmd\",\"ts\":7,\"pad\":\"");
	for (i = 0; i < 3000000; i++)
		buf_byte(&b, 'x');
	buf_lit(&b, "\"}\n");
	/* So long a line is skipped, and what follows is read. */
	for (i = 0; i < 20u << 20; i++)
		buf_byte(&b, '[');
	buf_lit(&b, "\n{\"event_type\":\"nvme_cmd\",\"ts\":8}\nbad\n");
	assert_false(b.failed);
	put_file(&b, b.n, ZIO_PLAIN);
	model_init(&m);
	assert_int_equal(model_load(&m, path), 0);
	assert_int_equal(m.dev_in.completions, 20000);
	assert_int_equal(m.dev_in.commands, 2);
	assert_int_equal(m.dev_in.malformed, 2);
	assert_int_equal(m.dev_in.first_bad_line, 20002);
	assert_int_equal(m.dev_in.lines, 20004);
	model_free(&m);
	buf_free(&b);
}

static void compressed_input_may_end_early(void **state)
{
	static const enum zio_codec codecs[] = { ZIO_GZIP, ZIO_ZSTD };
	struct buf b = {}, file = {};
	struct model m;
	size_t c;
	u32 i;

	(void)state;
	for (i = 0; i < 30011; i++)
		um_cmp(&b, 1000 + i * 7919ull, i * 104729ull, i);
	for (c = 0; c < ARRAY_SIZE(codecs); c++) {
		char chunk[4096];
		ssize_t n;
		int fd;

		put_file(&b, b.n, codecs[c]);
		model_init(&m);
		assert_int_equal(model_load(&m, path), 0);
		assert_int_equal(m.dev_in.completions, 30011);
		assert_false(m.dev_in.input_cut || m.dev_in.tail_cut);
		model_free(&m);

		buf_reset(&file);
		fd = open(path, O_RDONLY);
		while ((n = read(fd, chunk, sizeof(chunk))) > 0)
			buf_add(&file, chunk, (size_t)n);
		close(fd);
		put_file(&file, file.n * 2 / 3, ZIO_PLAIN);
		model_init(&m);
		assert_int_equal(model_load(&m, path), 0);
		assert_true(m.dev_in.completions > 1000 && m.dev_in.completions < 30011);
		assert_true(m.dev_in.input_cut);
		assert_int_equal(m.dev_in.malformed, 0);
		assert_string_equal(str(&m, m.account.defect), "compressed data ends early");
		model_free(&m);
	}
	buf_free(&b);
	buf_free(&file);
}

static void all_names_of_a_device_lead_to_one_row(void **state)
{
	static const char meta[] =
		"{\"event_type\":\"capture_meta\",\"schema_version\":2,\"emitter\":\"kvio\",\"host\":{\"kernel\":\"6.12\"},"
		"\"devices\":[{\"name\":\"nvme1n1\",\"char\":\"ng1n1\",\"dev\":271581185,\"rdev\":62914561,\"nsid\":1,"
		"\"lba_bytes\":4096,\"metadata_bytes\":8,\"csi\":0,\"max_transfer_bytes\":524288},{\"name\":\"nvme0n1\","
		"\"dev\":271581184,\"rdev\":62914560,\"nsid\":1,\"lba_bytes\":512,\"csi\":1}]}\n";
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	buf_lit(&b, meta);
	tp_cmd(&b, "nvme1n1", 3, 1, 1);
	buf_lit(&b, "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"user_data\":1,\"rdev\":62914561}\n"
		    "{\"event_type\":\"nvme_cmd\",\"ts\":2,\"user_data\":1,\"rdev\":62914560,\"disk\":\"nvme0n1\","
		    "\"dev\":271581184,\"nvme_opcode\":2,\"slba\":1,\"nlb\":8,\"data_len\":4096}\n"
		    "{\"event_type\":\"nvme_cmd\",\"ts\":4,\"user_data\":1,\"dev\":271581185,\"disk\":\"nvme1n1\","
		    "\"nvme_opcode\":2,\"slba\":1,\"nlb\":2,\"data_len\":8208}\n");
	model_of(&m, &b);
	assert_int_equal(m.n_devices, 2);
	assert_string_equal(str(&m, m.device[0].name), "nvme0n1");
	assert_string_equal(str(&m, m.device[1].name), "nvme1n1");
	assert_int_equal(m.device[1].dev, 271581185);
	assert_int_equal(m.device[1].rdev, 62914561);
	assert_int_equal(m.device[1].lba_bytes, 4096);
	assert_int_equal(m.device[1].max_transfer_bytes, 524288);
	assert_int_equal(m.device[0].csi, 1);
	assert_false(m.device[0].lba_assumed);
	for (i = 0; i < 4; i++)
		assert_int_equal(m.cmd.dev[i], i == 1 ? 0 : 1);
	assert_int_equal(m.cmd.bytes[3], 8192); /* without its metadata */
	model_free(&m);
}

static void two_paths_of_one_namespace_stay_two(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	buf_lit(&b, "{\"event_type\":\"nvme_cmd\",\"ts\":1,\"rdev\":9,\"disk\":\"nvme0c0n1\",\"dev\":5}\n"
		    "{\"event_type\":\"nvme_cmd\",\"ts\":2,\"rdev\":9,\"disk\":\"nvme0c1n1\",\"dev\":6}\n"
		    "{\"event_type\":\"nvme_cmp\",\"ts\":3,\"disk\":\"nvme0c1n1\",\"dev\":6}\n");
	model_of(&m, &b);
	assert_int_equal(m.n_devices, 2);
	assert_string_equal(str(&m, m.device[m.cmd.dev[0]].name), "nvme0c0n1");
	assert_string_equal(str(&m, m.device[m.cmd.dev[1]].name), "nvme0c1n1");
	model_free(&m);
}

static void the_older_head_names_the_lba_size(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	buf_lit(&b,
		"{\"event_type\":\"capture_meta\",\"schema_version\":1,\"emitter\":\"nvme_tp_monitor\",\"disk\":\"nvme1n1\","
		"\"disk_filter\":true,\"lba_bytes\":512}\n");
	tp_cmd(&b, "nvme1n1", 1, 1, 1); /* 4096 bytes for one block */
	model_of(&m, &b);
	assert_int_equal(m.device[0].lba_bytes, 512);
	assert_false(m.device[0].lba_assumed);
	model_free(&m);
}

static void the_last_account_counts(void **state)
{
	static const char loss[] =
		"{\"event_type\":\"loss\",\"ts\":1,\"seen\":5,\"stored\":4,\"ring_full\":1}\n"
		"{\"event_type\":\"loss\",\"ts\":2,\"seen\":50,\"stored\":36,\"ring_full\":9,\"map_full\":1,\"unread\":4}\n";
	static const char footer[] =
		"{\"event_type\":\"footer\",\"complete\":true,\"seen\":60,\"stored\":43,\"ring_full\":9,\"map_full\":2,"
		"\"hook_missed\":3,\"unread\":2,\"filtered\":1,\"in_flight\":3,\"counts\":{\"nvme\":45}}\n"
		"{\"event_type\":\"drops\",\"dropped\":11}\n";
	char text[1024];
	struct model m;

	(void)state;
	assert_int_equal(load_bytes(&m, loss, sizeof(loss) - 1), 0);
	assert_true(m.account.present);
	assert_false(m.account.complete); /* killed */
	assert_int_equal(m.account.seen, 50);
	assert_int_equal(m.account.map_full, 1);
	assert_int_equal(m.account.unread, 4);
	model_free(&m);

	snprintf(text, sizeof(text), "%s%s", loss, footer);
	assert_int_equal(load_bytes(&m, text, strlen(text)), 0);
	assert_true(m.account.present && m.account.complete);
	assert_int_equal(m.account.seen, 60);
	assert_int_equal(m.account.seen, m.account.stored + m.account.ring_full + m.account.map_full +
						 m.account.unread + m.account.filtered + m.account.in_flight);
	assert_int_equal(m.account.unread, 2);
	assert_int_equal(m.account.hook_missed, 3);

	/* A second capture: accounts add up, and it has none. */
	assert_int_equal(model_load_text(&m, text, strlen(text)), 0);
	assert_int_equal(m.account.seen, 120);
	assert_true(m.account.complete);
	assert_int_equal(model_load_text(&m, loss, sizeof(loss) - 1), 0);
	assert_false(m.account.complete);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_counts),
		cmocka_unit_test(cut_tails_and_damaged_lines),
		cmocka_unit_test(an_unterminated_fragment_is_no_damage),
		cmocka_unit_test(mark_and_line_ends_make_no_difference),
		cmocka_unit_test(hostile_lines_are_counted_not_fatal),
		cmocka_unit_test(what_is_no_capture_is_told),
		cmocka_unit_test(serving_spans_and_foreign_records_are_counted),
		cmocka_unit_test(serving_spans_are_kept_in_file_order),
		cmocka_unit_test(damage_among_predicted_lines_is_found_by_its_number),
		cmocka_unit_test(threads_and_devices_change_among_predicted_lines),
		cmocka_unit_test(a_pipe_is_read_to_its_end),
		cmocka_unit_test(large_columns_keep_their_rows),
		cmocka_unit_test(phantom_sizes_of_the_tracepoint_monitor_are_dropped),
		cmocka_unit_test(lines_longer_than_the_window),
		cmocka_unit_test(compressed_input_may_end_early),
		cmocka_unit_test(all_names_of_a_device_lead_to_one_row),
		cmocka_unit_test(two_paths_of_one_namespace_stay_two),
		cmocka_unit_test(the_older_head_names_the_lba_size),
		cmocka_unit_test(the_last_account_counts),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
