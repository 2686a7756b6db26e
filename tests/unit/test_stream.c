// SPDX-License-Identifier: Apache-2.0
/* Captures of every format as items, and that nothing is lost between formats. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/jsonl_write.h"
#include "capture/kvt.h"
#include "capture/meta.h"
#include "capture/stream.h"

struct bytes {
	const char *p;
	size_t n, at, step;
};

static ssize_t read_bytes(void *arg, void *buf, size_t n)
{
	struct bytes *in = arg;

	n = MIN(n, in->n - in->at);
	n = MIN(n, in->step);
	memcpy(buf, in->p + in->at, n);
	in->at += n;
	return (ssize_t)n;
}

/* All that a stream gives, kept. */
struct got {
	union event record[8192];
	u32 n_records;
	struct buf text; /* lines that are no records */
	u32 n_lines, n_meta, n_footers;
	u32 kinds[N_ITEM_KINDS];
	struct stream_info info;
	char defect[96];
	int ret;
};

static struct got got;
static struct strpool disks;

static void take(const struct item *it)
{
	got.kinds[it->kind]++;
	got.n_meta += it->kind == ITEM_META;
	got.n_footers += it->kind == ITEM_FOOTER;
	if (it->record) {
		assert_true(got.n_records < ARRAY_SIZE(got.record));
		memset(&got.record[got.n_records], 0, sizeof(union event));
		memcpy(&got.record[got.n_records++], it->record, MIN(it->size, sizeof(union event)));
		return;
	}
	if (!it->line.p)
		return;
	got.n_lines++;
	buf_add(&got.text, it->line.p, it->line.n);
	buf_byte(&got.text, '\n');
	if (it->completion.n) {
		got.n_lines++;
		buf_add(&got.text, it->completion.p, it->completion.n);
		buf_byte(&got.text, '\n');
	}
}

static void read_all(const char *text, size_t n, enum fold_mode fold, size_t step)
{
	const struct stream_options o = { .fold = fold, .disks = &disks };
	struct bytes in = { text, n, 0, step };
	struct stream *s;
	struct item it;

	buf_free(&got.text);
	memset(&got, 0, sizeof(got));
	assert_int_equal(stream_open_bytes(&s, read_bytes, &in, &o), 0);
	while ((got.ret = stream_next(s, &it)) > 0)
		take(&it);
	got.info = *stream_info(s);
	if (got.info.defect)
		snprintf(got.defect, sizeof(got.defect), "%s", got.info.defect);
	stream_close(s);
	buf_byte(&got.text, 0);
	got.text.n--;
}

static void read_text(const char *text, enum fold_mode fold)
{
	read_all(text, strlen(text), fold, SIZE_MAX);
}

/* ---- records and back ---- */

static u64 seed = 88172645463325252ull;

static u64 rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static u64 one_of(const u64 *v, size_t n)
{
	return v[rnd() % n];
}
#define ONE_OF(...) one_of((const u64[]){ __VA_ARGS__ }, sizeof((const u64[]){ __VA_ARGS__ }) / 8)

/* Some members at random, also such that no command has. */
static void random_command(union event *e, u32 i)
{
	u8 *raw = (u8 *)e;
	size_t k;

	memset(e, 0, sizeof(*e));
	if (rnd() % 8 == 0)
		for (k = 0; k < sizeof(struct ev_nvme_kv); k++)
			raw[k] = (u8)rnd();
	e->nvme.kind = rnd() % 3 ? EV_NVME : EV_NVME_KV;
	e->nvme.flags = (u8)ONE_OF(NVME_PASSTHROUGH, NVME_PASSTHROUGH | NVME_ENTRY, 0, rnd(), NVME_IN_FLIGHT,
				   NVME_PASSTHROUGH | NVME_REFUSED, NVME_ADMIN, NVME_PASSTHROUGH | NVME_ADMIN);
	e->nvme.opcode = (u8)ONE_OF(0, 1, 2, 9, 0x79, 0x7f, rnd());
	e->nvme.attempts = (u8)ONE_OF(0, 1, 2, 255);
	e->nvme.status = (u16)ONE_OF(0, 0, 0, 0x4080, rnd());
	e->nvme.hwq = (u16)ONE_OF(0, 1, 65535);
	e->nvme.cid = (u16)rnd();
	e->nvme.ts_ns = 1000000000ull + i * 1000ull;
	e->nvme.lat_ns = ONE_OF(0, 5, 100000, rnd());
	e->nvme.user_data = e->nvme.flags & NVME_PASSTHROUGH ? ONE_OF(0, UINT64_MAX, 1ull << 32 | i) : ONE_OF(0, 0, 7);
	e->nvme.slba = ONE_OF(0, i, rnd(), 11ull << 32 | 4096);
	e->nvme.bytes = (u32)ONE_OF(0, 4096, UINT32_MAX);
	e->nvme.wait_ns = (u32)ONE_OF(0, 0, rnd());
	e->nvme.dev = (u32)ONE_OF(259u << 20, 259u << 20 | 1, 0, 7);
	e->nvme.nsid = (u32)ONE_OF(1, 2, UINT32_MAX);
	e->nvme.tid = (u32)ONE_OF(0, 42, 43, 99);
	e->nvme.nlb = (u16)ONE_OF(0, 7, 65535);
	if (e->nvme.kind == EV_NVME)
		memset(e->kv.key, 0, sizeof(e->kv.key));
}

static void random_other(union event *e, u32 i)
{
	size_t k;

	memset(e, 0, sizeof(*e));
	switch (rnd() % 5) {
	case 0:
		e->overflow = (struct ev_cq_overflow){
			.kind = EV_CQ_OVERFLOW, .res = (s32)rnd(), .ts_ns = i, .user_data = rnd(), .tid = 42
		};
		e->overflow.pad2 = rnd() % 4 == 0;
		break;
	case 1:
		e->clock = (struct ev_clock){
			.kind = EV_CLOCK, .monotonic_ns = i, .realtime_ns = rnd(), .uncertainty_ns = (u32)rnd()
		};
		break;
	case 2:
		e->loss = (struct ev_loss){
			.kind = EV_LOSS, .ts_ns = i, .seen = rnd(), .filtered = rnd(), .hook_missed = UINT64_MAX
		};
		break;
	case 3:
		e->task = (struct ev_task){
			.kind = EV_TASK, .tid = (u32)ONE_OF(42, 43), .pid = 42, .ts_ns = 1000000000ull + i * 1000ull
		};
		for (k = 0; k < sizeof(e->task.comm); k++)
			e->task.comm[k] = (char)rnd();
		break;
	default:
		e->disk = (struct ev_disk){ .kind = EV_DISK,
					    .csi = (u8)rnd(),
					    .dev = 259u << 20,
					    .nsid = 1,
					    .lba_bytes = (u32)ONE_OF(512, 4096),
					    .ms = (u16)ONE_OF(0, 8),
					    .name = "nvme0n1" };
		e->disk.name[20] = (char)rnd();
	}
}

static void every_record_comes_back_from_its_lines(void **state)
{
	static union event sent[2003];
	struct names names = {};
	struct buf text = {};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sent); i++) {
		if (rnd() % 10)
			random_command(&sent[i], i);
		else
			random_other(&sent[i], i);
		assert_int_equal(names_learn(&names, &sent[i]), 0);
		jsonl_record(&text, &sent[i], event_bytes(sent[i].kind), &names);
	}
	assert_false(text.failed);
	read_all(text.p, text.n, FOLD_RECORDS, 777);
	assert_int_equal(got.ret, 0);
	assert_string_equal(got.text.p, "");
	assert_int_equal(got.n_records, ARRAY_SIZE(sent));
	for (i = 0; i < got.n_records; i++)
		assert_memory_equal(&got.record[i], &sent[i], event_bytes(sent[i].kind));
	names_free(&names);
	buf_free(&text);
}

static void a_thread_has_each_name_in_its_time(void **state)
{
	struct names names = {};
	struct ev_task a = { .kind = EV_TASK, .tid = 5, .pid = 5, .ts_ns = 100, .comm = "bash" };
	struct ev_task b = { .kind = EV_TASK, .tid = 5, .pid = 5, .ts_ns = 200, .comm = "fio" };
	struct ev_task z = { .kind = EV_TASK, .tid = 5, .pid = 5, .ts_ns = 150, .comm = "sh" };

	(void)state;
	names_learn(&names, &a);
	names_learn(&names, &b);
	names_learn(&names, &z);
	assert_string_equal(names_task_at(&names, 5, 50)->ev.comm, "bash");
	assert_string_equal(names_task_at(&names, 5, 100)->ev.comm, "bash");
	assert_string_equal(names_task_at(&names, 5, 199)->ev.comm, "sh");
	assert_string_equal(names_task_at(&names, 5, 5000)->ev.comm, "fio");
	assert_string_equal(names_task(&names, 5)->ev.comm, "fio");
	assert_null(names_task_at(&names, 6, 5000));
	names_free(&names);
}

/* ---- lines of the older tracers ---- */

#define CMD(ud, ts)                                                                                                    \
	"{\"event_type\":\"nvme_cmd\",\"pid\":200,\"tid\":201,\"user_data\":" ud                                       \
	",\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,\"slba\":3936,\"nlb\":32,\"bytes\":16384,"                 \
	"\"data_len\":131072,\"multipath\":0,\"cmd_op\":\"0xc0484e80\",\"rdev\":256901120,\"comm\":\"fio\",\"ts\":" ts \
	"}\n"
#define CMP(ud, lat, ts)                                                              \
	"{\"event_type\":\"nvme_cmp\",\"user_data\":" ud ",\"err\":0,\"lat_ns\":" lat \
	",\"hwq\":1,\"cid\":256,\"ts\":" ts "}\n"

static const struct ev_nvme *command(u32 i)
{
	u32 k;

	for (k = 0; k < got.n_records; k++)
		if (event_is_command(&got.record[k]) && !i--)
			return &got.record[k].nvme;
	fail_msg("there are not that many commands");
	return NULL;
}

static void older_passthrough_pairs_become_records(void **state)
{
	const struct ev_nvme *c;

	(void)state;
	read_text(CMD("18446744073709551615", "1000") CMP("18446744073709551615", "500", "1500")
			  CMD("9007199254740993", "2000") CMP("9007199254740993", "7", "2007"),
		  FOLD_RECORDS);
	assert_int_equal(got.n_lines, 0);
	assert_int_equal(got.kinds[ITEM_NVME], 2);
	assert_int_equal(got.kinds[ITEM_TASK], 1);
	c = command(0);
	assert_int_equal(c->user_data, UINT64_MAX);
	assert_int_equal(c->lat_ns, 500);
	assert_int_equal(c->bytes, 131072);
	assert_int_equal(c->nlb, 31);
	assert_int_equal(c->hwq, 1);
	assert_int_equal(c->cid, 256);
	assert_int_equal(c->dev, 256901120);
	assert_int_equal(command(1)->user_data, 9007199254740993ull);
}

/* In any order: what waited for its other half comes last. */
static bool has_lines_of(const char *text)
{
	const char *p = text, *end = text + strlen(text);
	struct slice line;

	while (ndjson_line(&p, end, &line))
		if (!memmem(got.text.p, got.text.n, line.p, line.n + 1))
			return false;
	return true;
}

static void a_line_that_says_more_than_a_record_stays_text(void **state)
{
	static const char *const texts[] = {
		/* another member */
		"{\"event_type\":\"nvme_cmd\",\"user_data\":1,\"nvme_opcode\":2,\"slba\":0,\"nlb\":1,\"data_len\":4096,\"ts\":5,\"node\":\"a\"}\n" CMP(
			"1", "1", "6"),
		/* a block status without an NVMe status */
		CMD("1",
		    "5") "{\"event_type\":\"nvme_cmp\",\"user_data\":1,\"err\":5,\"lat_ns\":1,\"hwq\":1,\"cid\":1,\"ts\":6}\n",
		/* no completion; a completion of nothing; not the same time; no latency */
		CMD("1", "5"),
		CMP("1", "1", "6"),
		CMD("1", "5") CMP("1", "1", "7"),
		CMD("1", "5") "{\"event_type\":\"nvme_cmp\",\"user_data\":1,\"ts\":6}\n",
		/* a member twice */
		"{\"event_type\":\"nvme_cmd\",\"user_data\":1,\"user_data\":1,\"nvme_opcode\":2,\"slba\":0,\"nlb\":1,\"data_len\":4096,\"ts\":5}\n" CMP(
			"1", "1", "6"),
		/* a name that is too long */
		"{\"event_type\":\"nvme_cmd\",\"tid\":1,\"user_data\":1,\"nvme_opcode\":2,\"slba\":0,\"nlb\":1,\"data_len\":4096,\"ts\":5,\"comm\":\"12345678901234567\"}\n" CMP(
			"1", "1", "6"),
		/* kinds that are not ours */
		"{\"event_type\":\"intent\",\"ts\":5}\n{\"x\":1}\n{}\n",
		/* objects and requests */
		"{\"trace_id\":1,\"op\":\"store\",\"ts\":1.5}\n{\"ts_start\":1.0,\"ts\":1.5}\n",
		/* sound JSON, unsound record */
		"{\"event_type\":\"nvme_cmd\",\"ts\":99999999999999999999}\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		read_text(texts[i], FOLD_RECORDS);
		assert_int_equal(got.ret, 0);
		assert_int_equal(got.text.n, strlen(texts[i]));
		assert_true(has_lines_of(texts[i]));
		read_text(texts[i], FOLD_NOT);
		assert_string_equal(got.text.p, texts[i]);
	}
}

static void other_spellings_are_the_same_record(void **state)
{
	(void)state;
	read_text(
		"{ \"ts\": 5, \"event_type\": \"nvme_cmd\", \"user_data\": \"0x1\", \"nvme_opcode\": 2.0,"
		" \"slba\": 7, \"nlb\": 1, \"data_len\": 4096, \"multipath\": false, \"comm\": \"\\u0066io\", \"tid\": 3 }\r\n"
		"{ \"lat_ns\": 1, \"ts\": 6, \"event_type\": \"nvme_cmp\", \"user_data\": 1 }\n",
		FOLD_RECORDS);
	assert_int_equal(got.n_lines, 0);
	assert_int_equal(command(0)->user_data, 1);
	assert_int_equal(command(0)->hwq, 0xffff);
	assert_true(got.info.crlf);
}

static void the_driver_tracer_has_devices_by_name(void **state)
{
#define TP(disk, ts)                                                                                                  \
	"{\"event_type\":\"nvme_cmd\",\"disk\":\"" disk                                                               \
	"\",\"nsid\":1,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":8,\"nlb\":2,\"bytes\":8192,\"data_len\":8192," \
	"\"hwq\":1,\"cid\":4,\"ts\":" ts "}\n"
#define TPC(ts) "{\"event_type\":\"nvme_cmp\",\"status\":0,\"lat_ns\":10,\"hwq\":1,\"cid\":4,\"ts\":" ts "}\n"
	(void)state;
	read_text(TP("nvme0n1", "100") TP("nvme1n1", "101") TPC("110") TPC("111"), FOLD_RECORDS);
	assert_int_equal(got.n_lines, 0);
	assert_int_equal(got.kinds[ITEM_DISK], 2);
	assert_int_not_equal(command(0)->dev, command(1)->dev);
	/* Two drives at the same time with the same queue and id: it cannot be told which is which. */
	read_text(TP("nvme0n1", "100") TP("nvme1n1", "100") TPC("110") TPC("110"), FOLD_RECORDS);
	assert_int_equal(got.n_lines, 4);
}

static void pairs_stand_at_their_completion(void **state)
{
	(void)state;
	read_text(CMD("1", "5") CMD("2", "6") CMP("2", "1", "7") CMP("1", "5", "10") CMD("3", "11"), FOLD_PAIRS);
	assert_string_equal(got.text.p,
			    CMD("2", "6") CMP("2", "1", "7") CMD("1", "5") CMP("1", "5", "10") CMD("3", "11"));
	assert_int_equal(got.kinds[ITEM_NVME], 3);
}

static void every_byte_of_a_name_survives(void **state)
{
	struct names names = {};
	struct buf text = {};
	union event e[256];
	u32 i;

	(void)state;
	memset(e, 0, sizeof(e));
	for (i = 0; i < ARRAY_SIZE(e); i++) {
		e[i].task = (struct ev_task){ .kind = EV_TASK, .tid = i, .pid = 1, .ts_ns = i + 1 };
		memset(e[i].task.comm, (int)i, 3);
		e[i].task.comm[15] = (char)i;
		names_learn(&names, &e[i]);
		jsonl_record(&text, &e[i], sizeof(e[i].task), &names);
	}
	read_all(text.p, text.n, FOLD_NOT, 100);
	assert_int_equal(got.n_records, ARRAY_SIZE(e));
	for (i = 0; i < got.n_records; i++)
		assert_memory_equal(&got.record[i], &e[i], sizeof(e[i].task));
	/* The same in the line of a command: the name is up to its first zero there. */
	buf_reset(&text);
	for (i = 1; i < ARRAY_SIZE(e); i++) {
		union event c = { .nvme = { .kind = EV_NVME,
					    .flags = NVME_PASSTHROUGH,
					    .opcode = 2,
					    .attempts = 1,
					    .ts_ns = 1000 + i,
					    .user_data = i,
					    .tid = i } };

		jsonl_event(&text, &c, &names);
	}
	read_all(text.p, text.n, FOLD_RECORDS, 100);
	assert_int_equal(got.n_lines, 0);
	assert_int_equal(got.kinds[ITEM_TASK], 255);
	for (i = 1; i < ARRAY_SIZE(e); i++)
		assert_memory_equal(got.record[2 * (i - 1)].task.comm, e[i].task.comm, 3);
	names_free(&names);
	buf_free(&text);
}

/* ---- damaged text ---- */

static void bom_crlf_and_blank_lines_are_no_damage(void **state)
{
	(void)state;
	read_all("\xef\xbb\xbf{\"x\":1}\r\n\r\n  \n{\"x\":2}\r\n", 26, FOLD_NOT, 1);
	assert_int_equal(got.ret, 0);
	assert_string_equal(got.text.p, "{\"x\":1}\n{\"x\":2}\n");
	assert_true(got.info.bom);
	assert_true(got.info.crlf);
	assert_int_equal(got.info.malformed, 0);
}

static void damaged_lines_are_counted_and_left_out(void **state)
{
	(void)state;
	read_text("{\"x\":1}\nnonsense\n{\"x\":\n{\"x\":2}\n{\"x\"", FOLD_NOT);
	assert_int_equal(got.ret, 0);
	assert_string_equal(got.text.p, "{\"x\":1}\n{\"x\":2}\n");
	assert_int_equal(got.info.malformed, 2);
	assert_int_equal(got.info.first_bad_line, 2);
	assert_true(got.info.tail_cut);
	/* A last line that is whole but for its newline is a line. */
	read_text("{\"x\":1}\n{\"x\":2}", FOLD_NOT);
	assert_string_equal(got.text.p, "{\"x\":1}\n{\"x\":2}\n");
	assert_false(got.info.tail_cut);
}

static void what_is_no_capture_is_refused(void **state)
{
	(void)state;
	read_text("This is a letter.\nIt has two lines.\n", FOLD_NOT);
	assert_int_equal(got.ret, -EBADMSG);
	read_text("", FOLD_NOT);
	assert_int_equal(got.ret, 0);
	read_all("\x89kvt\r\n\x1a\n\0\0\7\0\0\0\0\0", 16, FOLD_NOT, 5);
	assert_int_equal(got.ret, -EPROTONOSUPPORT);
	read_all("\x89kvt\r\n\x1a\n", 8, FOLD_NOT, 5);
	assert_int_equal(got.ret, -EBADMSG);
}

static void a_line_without_end_takes_no_memory(void **state)
{
	size_t n = (size_t)40 << 20;
	char *text = malloc(n);

	(void)state;
	memset(text, 'x', n);
	memcpy(text, "{\"x\":1}\n", 8);
	memcpy(text + n - 9, "\n{\"x\":2}\n", 9);
	read_all(text, n, FOLD_NOT, 65536);
	assert_string_equal(got.text.p, "{\"x\":1}\n{\"x\":2}\n");
	assert_int_equal(got.info.malformed, 1);
	assert_int_equal(got.info.first_bad_line, 2);
	free(text);
}

/* ---- .kvt ---- */

static struct buf file;

static int write_file(void *arg, const void *data, size_t n)
{
	(void)arg;
	buf_add(&file, data, n);
	return 0;
}

static struct kvt_writer *new_file(void)
{
	json_t *meta = json_pack("{s:s}", "event_type", "capture_meta");
	struct kvt_writer *w;

	buf_reset(&file);
	assert_int_equal(kvt_writer_open_on(&w, write_file, NULL, meta), 0);
	json_decref(meta);
	return w;
}

static void end_file(struct kvt_writer *w)
{
	json_t *footer = json_pack("{s:s}", "event_type", "footer");

	assert_int_equal(kvt_writer_close(w, footer), 0);
	json_decref(footer);
}

static void names_stand_in_front_of_commands(void **state)
{
	struct ev_nvme c = { .kind = EV_NVME, .ts_ns = 50, .tid = 7 };
	struct ev_task t = { .kind = EV_TASK, .tid = 7, .pid = 7, .ts_ns = 50, .comm = "late" };
	struct kvt_writer *w = new_file();
	u32 i;

	(void)state;
	for (i = 0; i < 4096; i++)
		kvt_write(w, &c, sizeof(c), c.ts_ns);
	kvt_write(w, &t, sizeof(t), t.ts_ns);
	kvt_write(w, &c, sizeof(c), c.ts_ns);
	end_file(w);
	read_all(file.p, file.n, FOLD_NOT, 4096 * 64);
	assert_int_equal(got.n_records, 4098);
	assert_int_equal(got.record[0].kind, EV_TASK);
}

static void text_and_foreign_records_are_kept(void **state)
{
	struct ev_clock k = { .kind = EV_CLOCK, .monotonic_ns = 3 };
	u8 foreign[200] = { 99 }, longer[80] = { EV_LOSS };
	char line[300000];
	struct kvt_writer *w = new_file();

	(void)state;
	foreign[8] = 5;
	longer[79] = 1;
	memset(line, ' ', sizeof(line));
	line[0] = '{';
	line[sizeof(line) - 1] = '}';
	kvt_write_line(w, "{\"x\":1}", 7, 10);
	kvt_write(w, &k, sizeof(k), 3);
	kvt_write_foreign(w, foreign, sizeof(foreign), 5);
	kvt_write_foreign(w, longer, sizeof(longer), 0);
	kvt_write_line(w, line, sizeof(line), 20);
	kvt_write_line(w, "{\"x\":2}", 7, 30);
	assert_int_equal(kvt_write_foreign(w, "\x80", 1, 0), -EINVAL);
	end_file(w);
	read_all(file.p, file.n, FOLD_NOT, 1000);
	assert_int_equal(got.ret, 0);
	assert_null(got.info.defect);
	assert_int_equal(got.n_lines, 3);
	assert_int_equal(got.text.n, 8 + sizeof(line) + 1 + 8);
	assert_int_equal(got.n_records, 3);
	assert_int_equal(got.kinds[ITEM_OTHER], 4);
	assert_int_equal(got.kinds[ITEM_LOSS], 1);
	assert_int_equal(got.info.unknown, 4);
	buf_free(&file);
}

static void a_cut_file_gives_its_whole_blocks(void **state)
{
	struct ev_clock k = { .kind = EV_CLOCK, .monotonic_ns = 3 };
	struct kvt_writer *w = new_file();
	size_t n;

	(void)state;
	kvt_write(w, &k, sizeof(k), 3);
	kvt_flush(w);
	n = file.n;
	kvt_write(w, &k, sizeof(k), 4);
	end_file(w);
	read_all(file.p, n + 50, FOLD_NOT, 64);
	assert_int_equal(got.ret, 0);
	assert_int_equal(got.kinds[ITEM_CLOCK], 1);
	assert_non_null(strstr(got.defect, "cut block"));
	buf_free(&file);
}

static void devices_of_the_head_name_char_devices_and_paths(void **state)
{
	json_t *doc = json_loads("{\"devices\":[{\"name\":\"nvme0n1\",\"dev\":271581184,\"rdev\":256901120,"
				 "\"paths\":[\"nvme0c0n1\"]}]}",
				 0, NULL);
	struct ev_disk path = { .kind = EV_DISK, .dev = 5, .name = "nvme0c0n1" };
	struct meta_paths *paths = meta_paths_new();
	struct names names = { .complete_disk = meta_complete_disk, .arg = paths };

	(void)state;
	assert_int_equal(meta_learn(&names, paths, doc), 0);
	assert_int_equal(names_disk(&names, 271581184)->rdev, 256901120);
	names_learn(&names, &path);
	assert_true(names_disk(&names, 5)->multipath);
	assert_int_equal(names_disk(&names, 5)->rdev, 256901120);
	names_free(&names);
	meta_paths_free(paths);
	json_decref(doc);
}

static void heads_of_captures_become_one(void **state)
{
	json_t *a = json_loads("{\"host\":{\"name\":\"x\"},\"devices\":[{\"dev\":5,\"name\":\"nvme0n1\"}]}", 0, NULL);
	json_t *b = json_loads("{\"host\":{\"name\":\"x\"},\"devices\":[{\"dev\":6,\"name\":\"nvme1n1\"}]}", 0, NULL);
	json_t *c = json_loads("{\"devices\":[{\"dev\":5,\"name\":\"nvme9n1\"}]}", 0, NULL);
	const json_t *two[] = { a, b }, *same[] = { NULL, a, a };
	const char *file_names[] = { "a", "b", "c" };
	struct buf why = {};
	json_t *m = meta_merge(two, file_names, 2), *n = meta_merge(same, file_names, 3);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(m, "devices")), 2);
	assert_int_equal(json_array_size(json_object_get(m, "merged")), 2);
	assert_true(json_equal(json_object_get(m, "host"), json_object_get(a, "host")));
	assert_true(json_equal(n, a));
	assert_false(meta_conflict(a, b, &why));
	assert_true(meta_conflict(a, c, &why));
	assert_string_equal(why.p, "device 0:5 is nvme0n1 in one and nvme9n1 in the other");
	buf_free(&why);
	json_decref(m);
	json_decref(n);
	json_decref(a);
	json_decref(b);
	json_decref(c);
}

static int tear_down(void **state)
{
	(void)state;
	buf_free(&got.text);
	strpool_free(&disks);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_comes_back_from_its_lines),
		cmocka_unit_test(a_thread_has_each_name_in_its_time),
		cmocka_unit_test(older_passthrough_pairs_become_records),
		cmocka_unit_test(a_line_that_says_more_than_a_record_stays_text),
		cmocka_unit_test(other_spellings_are_the_same_record),
		cmocka_unit_test(the_driver_tracer_has_devices_by_name),
		cmocka_unit_test(pairs_stand_at_their_completion),
		cmocka_unit_test(every_byte_of_a_name_survives),
		cmocka_unit_test(bom_crlf_and_blank_lines_are_no_damage),
		cmocka_unit_test(damaged_lines_are_counted_and_left_out),
		cmocka_unit_test(what_is_no_capture_is_refused),
		cmocka_unit_test(a_line_without_end_takes_no_memory),
		cmocka_unit_test(names_stand_in_front_of_commands),
		cmocka_unit_test(text_and_foreign_records_are_kept),
		cmocka_unit_test(a_cut_file_gives_its_whole_blocks),
		cmocka_unit_test(devices_of_the_head_name_char_devices_and_paths),
		cmocka_unit_test(heads_of_captures_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
