// SPDX-License-Identifier: Apache-2.0
/* The reader of Perfetto traces, on traces made here and on those of the older converter. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include <cmocka.h>

#include "lib/pb.h"
#include "model/measure.h"
#include "model/pftrace.h"

#define DATA "tests/data/sql/"

enum { BEGIN = 1, END, INSTANT, COUNTER };

/* ---- traces ---- */

static void track(struct buf *b, u64 uuid, u64 parent, const char *name, bool counter)
{
	size_t packet = pb_open(b, 1), d = pb_open(b, 60);

	pb_u64(b, 1, uuid);
	if (name)
		pb_string(b, 2, name, strlen(name));
	if (parent)
		pb_u64(b, 5, parent);
	if (counter)
		pb_bytes(b, 8, "", 0);
	pb_close(b, d);
	pb_close(b, packet);
}

static void process(struct buf *b, u64 uuid, u32 pid, const char *name)
{
	size_t packet = pb_open(b, 1), d = pb_open(b, 60), p;

	pb_u64(b, 1, uuid);
	p = pb_open(b, 3);
	pb_u64(b, 1, pid);
	pb_string(b, 6, name, strlen(name));
	pb_close(b, p);
	pb_close(b, d);
	pb_close(b, packet);
}

struct mark {
	size_t packet, event;
};

static struct mark open_event(struct buf *b, u64 ts, u32 type, u64 uuid)
{
	struct mark m = { .packet = pb_open(b, 1) };

	pb_u64(b, 8, ts);
	pb_u64(b, 10, 1);
	m.event = pb_open(b, 11);
	pb_u64(b, 9, type);
	if (uuid)
		pb_u64(b, 11, uuid);
	return m;
}

static void close_event(struct buf *b, struct mark m)
{
	pb_close(b, m.event);
	pb_close(b, m.packet);
}

static void event(struct buf *b, u64 ts, u32 type, u64 uuid, const char *name)
{
	struct mark m = open_event(b, ts, type, uuid);

	if (name)
		pb_string(b, 23, name, strlen(name));
	close_event(b, m);
}

static void number_arg(struct buf *b, const char *name, u32 field, u64 v)
{
	size_t a = pb_open(b, 4);

	pb_string(b, 10, name, strlen(name));
	pb_u64(b, field, v);
	pb_close(b, a);
}

static int read_pieces(struct pftrace *t, const struct buf *b, size_t piece, u64 max)
{
	size_t at;
	int ret;

	assert_false(b->failed);
	assert_int_equal(pftrace_init(t, max), 0);
	for (at = 0; at < b->n; at += piece) {
		ret = pftrace_feed(t, b->p + at, MIN(piece, b->n - at));
		if (ret)
			return ret;
	}
	return pftrace_finish(t);
}

/* Reads the trace and frees its text. */
static void read_trace(struct pftrace *t, struct buf *b)
{
	assert_int_equal(read_pieces(t, b, b->n, 0), 0);
	buf_free(b);
}

static const char *name_of(const struct pftrace *t, u32 slice)
{
	return strpool_get(&t->strings, t->slice.name[slice]);
}

static const char *text_arg(const struct pftrace *t, u32 slice, const char *key)
{
	u32 row = pftrace_arg(t, t->slice.args[slice], pftrace_key(t, key));

	return row == NONE ? NULL : strpool_get(&t->strings, (u32)t->arg.value[row]);
}

static u64 arg(const struct pftrace *t, u32 slice, const char *key)
{
	u32 row = pftrace_arg(t, t->slice.args[slice], pftrace_key(t, key));

	return row == NONE ? NO_NUMBER : t->arg.value[row];
}

#define assert_slice(t, i, name, begin, length, at_depth)        \
	do {                                                     \
		assert_string_equal(name_of(t, i), name);        \
		assert_int_equal((t)->slice.ts[i], begin);       \
		assert_int_equal((t)->slice.dur[i], length);     \
		assert_int_equal((t)->slice.depth[i], at_depth); \
	} while (0)

/* ---- slices ---- */

static void begin_and_end_pair_as_a_stack(void **state)
{
	struct pftrace t;
	struct buf b = {};

	(void)state;
	track(&b, 7, 0, "lane", false);
	event(&b, 10, BEGIN, 7, "a");
	event(&b, 20, BEGIN, 7, "b");
	event(&b, 30, INSTANT, 7, "i");
	event(&b, 40, END, 7, NULL);
	event(&b, 50, END, 7, NULL);
	event(&b, 60, END, 7, NULL);
	event(&b, 70, BEGIN, 7, "open");
	read_trace(&t, &b);
	assert_int_equal(t.slice.n, 4);
	assert_slice(&t, 0, "a", 10, 40, 0);
	assert_slice(&t, 1, "b", 20, 20, 1);
	assert_slice(&t, 2, "i", 30, 0, 2);
	assert_slice(&t, 3, "open", 70, -1, 0);
	assert_int_equal(t.slice.parent[0], NONE);
	assert_int_equal(t.slice.parent[1], 0);
	assert_int_equal(t.slice.parent[2], 1);
	assert_int_equal(t.count.stray_ends, 1);
	pftrace_free(&t);
}

static void events_go_by_time_and_equal_times_by_place(void **state)
{
	struct pftrace t;
	struct buf b = {};

	(void)state;
	event(&b, 50, END, 7, NULL);
	event(&b, 50, BEGIN, 7, "second");
	event(&b, 90, COUNTER, 8, NULL);
	event(&b, 60, END, 7, NULL);
	event(&b, 10, BEGIN, 7, "first");
	track(&b, 7, 0, "lane", false);
	read_trace(&t, &b);
	assert_int_equal(t.slice.n, 2);
	assert_slice(&t, 0, "first", 10, 40, 0);
	assert_slice(&t, 1, "second", 50, 10, 0);
	pftrace_free(&t);
}

static void an_end_with_a_name_ends_the_slice_of_that_name(void **state)
{
	struct pftrace t;
	struct buf b = {};

	(void)state;
	track(&b, 7, 0, "lane", false);
	event(&b, 10, BEGIN, 7, "outer");
	event(&b, 20, BEGIN, 7, "inner");
	event(&b, 30, END, 7, "outer");
	event(&b, 40, BEGIN, 7, "next");
	read_trace(&t, &b);
	assert_slice(&t, 0, "outer", 10, 20, 0);
	/* It cannot outlive the slice that it is in. */
	assert_slice(&t, 1, "inner", 20, 10, 1);
	assert_slice(&t, 2, "next", 40, -1, 0);
	pftrace_free(&t);
}

static void instants_of_one_time_stand_on_each_other(void **state)
{
	struct pftrace t;
	struct buf b = {};

	(void)state;
	track(&b, 7, 0, "lane", false);
	event(&b, 10, INSTANT, 7, "a");
	event(&b, 10, INSTANT, 7, "b");
	event(&b, 10, BEGIN, 7, "c");
	read_trace(&t, &b);
	assert_slice(&t, 0, "a", 10, 0, 0);
	assert_slice(&t, 1, "b", 10, 0, 1);
	assert_slice(&t, 2, "c", 10, -1, 0);
	pftrace_free(&t);
}

static void what_has_no_track_is_dropped_and_counted(void **state)
{
	struct pftrace t;
	struct buf b = {};

	(void)state;
	track(&b, 7, 0, "lane", false);
	track(&b, 8, 0, "level", true);
	track(&b, 20, 21, "loop", false);
	track(&b, 21, 20, "loop", false);
	event(&b, 10, BEGIN, 7, "kept");
	event(&b, 10, BEGIN, 8, "on a counter");
	event(&b, 10, BEGIN, 9, "nowhere");
	event(&b, 10, BEGIN, 20, "in a circle");
	event(&b, 1ull << 63, BEGIN, 7, "before zero");
	event(&b, 11, 0, 7, "of no type");
	read_trace(&t, &b);
	assert_int_equal(t.slice.n, 1);
	assert_int_equal(t.count.wrong_track, 1);
	assert_int_equal(t.count.no_track, 2);
	assert_int_equal(t.count.before_zero, 1);
	assert_int_equal(t.count.foreign, 1);
	assert_int_equal(t.n_tracks, 2);
	pftrace_free(&t);
}

static void a_stack_has_an_end(void **state)
{
	struct pftrace t;
	struct buf b = {};
	u32 i;

	(void)state;
	track(&b, 7, 0, "lane", false);
	for (i = 0; i < 600; i++)
		event(&b, i, BEGIN, 7, "x");
	read_trace(&t, &b);
	assert_int_equal(t.slice.n, 512);
	assert_int_equal(t.count.too_deep, 88);
	pftrace_free(&t);
}

/* ---- tracks ---- */

static void tracks_know_their_process_at_any_depth(void **state)
{
	struct pftrace t;
	struct buf b = {};

	(void)state;
	track(&b, 4, 3, "lane", false);
	track(&b, 3, 2, "group", false);
	track(&b, 5, 3, "level", true);
	process(&b, 2, 77, "app");
	track(&b, 6, 0, NULL, false);
	event(&b, 1, BEGIN, 6, "names it");
	event(&b, 1, BEGIN, 0, "on none");
	read_trace(&t, &b);
	assert_int_equal(t.n_tracks, 6);
	assert_int_equal(t.n_processes, 2);
	assert_string_equal(strpool_get(&t.strings, t.process[1].name), "app");
	/* Parents first: process, group, lane. */
	assert_true(t.track[0].root);
	assert_int_equal(t.track[2].parent, 1);
	assert_int_equal(t.track[2].upid, 1);
	assert_true(t.track[3].counter);
	assert_int_equal(t.track[3].upid, 1);
	assert_string_equal(strpool_get(&t.strings, t.track[4].name), "names it");
	assert_int_equal(t.track[4].upid, NONE);
	assert_string_equal(strpool_get(&t.strings, t.track[5].name), "Default Track");
	pftrace_free(&t);
}

/* ---- state ---- */

static void intern(struct buf *b, u32 kind, u64 iid, const char *text)
{
	size_t d = pb_open(b, 12), n = pb_open(b, kind);

	pb_u64(b, 1, iid);
	pb_string(b, 2, text, strlen(text));
	pb_close(b, n);
	pb_close(b, d);
}

/* A packet that sets the state of sequence 1: delta clock at `start`, track 7, one name. */
static void start_sequence(struct buf *b, u64 start)
{
	size_t packet = pb_open(b, 1), m, c;

	m = pb_open(b, 6);
	c = pb_open(b, 1);
	pb_u64(b, 1, 64);
	pb_u64(b, 2, start);
	pb_u64(b, 3, 1);
	pb_close(b, c);
	c = pb_open(b, 1);
	pb_u64(b, 1, 3);
	pb_u64(b, 2, start);
	pb_close(b, c);
	c = pb_open(b, 1);
	pb_u64(b, 1, 1);
	pb_u64(b, 2, 5000);
	pb_close(b, c);
	pb_u64(b, 2, 3);
	pb_close(b, m);
	pb_u64(b, 10, 1);
	pb_u64(b, 13, 1);
	m = pb_open(b, 59);
	pb_u64(b, 58, 64);
	c = pb_open(b, 11);
	pb_u64(b, 11, 7);
	pb_u64(b, 31, 8);
	pb_close(b, c);
	pb_close(b, m);
	intern(b, 2, 1, "read");
	pb_close(b, packet);
}

static void interned_event(struct buf *b, u64 delta, u32 type, u64 name)
{
	size_t packet = pb_open(b, 1), e;

	pb_u64(b, 8, delta);
	pb_u64(b, 10, 1);
	pb_u64(b, 13, 2);
	e = pb_open(b, 11);
	pb_u64(b, 9, type);
	if (name)
		pb_u64(b, 10, name);
	if (type == BEGIN)
		pb_u64(b, 12, 4096);
	pb_close(b, e);
	pb_close(b, packet);
}

static void interning_defaults_and_delta_clock(void **state)
{
	struct pftrace t;
	struct buf b = {};

	(void)state;
	interned_event(&b, 1, BEGIN, 1); /* before any state */
	track(&b, 7, 0, "lane", false);
	track(&b, 8, 0, "level", true);
	start_sequence(&b, 1000);
	interned_event(&b, 10, BEGIN, 1);
	interned_event(&b, 5, END, 0);
	interned_event(&b, 5, BEGIN, 2); /* not declared */
	read_trace(&t, &b);
	assert_int_equal(t.count.no_state, 1);
	assert_int_equal(t.count.no_name, 1);
	assert_int_equal(t.slice.n, 2);
	assert_slice(&t, 0, "read", 1010, 5, 0);
	assert_slice(&t, 1, "", 1020, -1, 0);
	assert_int_equal(t.counter.n, 2);
	assert_int_equal(t.counter.ts[0], 1010);
	assert_true(t.counter.value[0] == 4096.0);
	assert_true(t.has_wall && t.wall_at == 1000 && t.wall_ns == 5000);
	pftrace_free(&t);
}

static void a_cleared_sequence_forgets_its_names(void **state)
{
	struct pftrace t;
	struct buf b = {};
	size_t packet;

	(void)state;
	track(&b, 7, 0, "lane", false);
	start_sequence(&b, 0);
	packet = pb_open(&b, 1);
	pb_u64(&b, 10, 1);
	pb_u64(&b, 13, 1);
	pb_close(&b, packet);
	event(&b, 10, BEGIN, 7, "plain");
	interned_event(&b, 11, BEGIN, 1);
	read_trace(&t, &b);
	assert_int_equal(t.count.no_name, 1);
	pftrace_free(&t);
}

/* ---- args and flows ---- */

static void args_keep_their_types(void **state)
{
	struct pftrace t;
	struct buf b = {};
	struct mark m;
	size_t a, d, e;

	(void)state;
	track(&b, 7, 0, "lane", false);
	m = open_event(&b, 1, BEGIN, 7);
	number_arg(&b, "yes", 2, 1);
	number_arg(&b, "big", 3, UINT64_MAX);
	number_arg(&b, "neg", 4, (u64)-5);
	number_arg(&b, "a.b[0]", 3, 6);
	a = pb_open(&b, 4);
	pb_string(&b, 10, "half", 4);
	pb_double(&b, 5, 0.5);
	pb_close(&b, a);
	a = pb_open(&b, 4);
	pb_string(&b, 10, "dict", 4);
	d = pb_open(&b, 11);
	pb_string(&b, 10, "list", 4);
	e = pb_open(&b, 12);
	pb_u64(&b, 3, 1);
	pb_close(&b, e);
	e = pb_open(&b, 12);
	pb_string(&b, 6, "two", 3);
	pb_close(&b, e);
	pb_close(&b, d);
	pb_close(&b, a);
	close_event(&b, m);
	m = open_event(&b, 9, END, 7);
	number_arg(&b, "late", 3, 8);
	close_event(&b, m);
	read_trace(&t, &b);
	assert_int_equal(arg(&t, 0, "debug.yes"), 1);
	assert_int_equal(arg(&t, 0, "debug.big"), UINT64_MAX);
	assert_int_equal((s64)arg(&t, 0, "debug.neg"), -5);
	assert_int_equal(arg(&t, 0, "debug.a_b_0_"), 6);
	assert_int_equal(arg(&t, 0, "debug.dict.list[0]"), 1);
	assert_string_equal(text_arg(&t, 0, "debug.dict.list[1]"), "two");
	assert_int_equal(arg(&t, 0, "debug.late"), 8);
	assert_int_equal(PF_TYPE(t.arg.key[0]), PF_BOOL);
	assert_int_equal(PF_TYPE(t.arg.key[1]), PF_UINT);
	assert_int_equal(PF_TYPE(t.arg.key[2]), PF_INT);
	assert_int_equal(PF_TYPE(t.arg.key[4]), PF_REAL);
	assert_int_equal(pftrace_key(&t, "debug.none"), NONE);
	assert_string_equal(strpool_get(&t.strings, t.key[pftrace_key(&t, "debug.dict.list[1]")].flat),
			    "debug.dict.list");
	pftrace_free(&t);
}

static void flow_event(struct buf *b, u64 ts, u32 type, u32 field, u64 id)
{
	struct mark m = open_event(b, ts, type, 7);

	pb_fixed64(b, field, id);
	close_event(b, m);
}

static void flows_start_step_and_end(void **state)
{
	struct pftrace t;
	struct buf b = {};

	(void)state;
	track(&b, 7, 0, "lane", false);
	flow_event(&b, 1, INSTANT, 48, 5); /* ends nothing */
	flow_event(&b, 2, INSTANT, 47, 5);
	flow_event(&b, 3, INSTANT, 47, 5);
	flow_event(&b, 4, INSTANT, 48, 5);
	flow_event(&b, 5, INSTANT, 48, 5); /* it has ended */
	flow_event(&b, 6, INSTANT, 47, 5); /* begins anew */
	read_trace(&t, &b);
	assert_int_equal(t.flow.n, 2);
	assert_int_equal(t.flow.out[0], 1);
	assert_int_equal(t.flow.in[0], 2);
	assert_int_equal(t.flow.out[1], 2);
	assert_int_equal(t.flow.in[1], 3);
	pftrace_free(&t);
}

/* ---- files ---- */

static void add_compressed(struct buf *out, const struct buf *packets)
{
	uLongf n = compressBound(packets->n);
	u8 *p = malloc(n);
	size_t packet;

	assert_non_null(p);
	assert_int_equal(compress(p, &n, (const u8 *)packets->p, packets->n), Z_OK);
	packet = pb_open(out, 1);
	pb_bytes(out, 50, p, n);
	pb_close(out, packet);
	free(p);
}

static void compressed_packets_are_read_once_deep(void **state)
{
	struct buf plain = {}, once = {}, twice = {};
	struct pftrace t;

	(void)state;
	track(&plain, 7, 0, "lane", false);
	event(&plain, 1, INSTANT, 7, "x");
	add_compressed(&once, &plain);
	event(&once, 2, INSTANT, 7, "y");
	add_compressed(&twice, &once);
	read_trace(&t, &once);
	assert_int_equal(t.slice.n, 2);
	pftrace_free(&t);
	event(&twice, 2, INSTANT, 7, "y");
	track(&twice, 7, 0, "lane", false);
	read_trace(&t, &twice);
	assert_int_equal(t.slice.n, 2);
	assert_int_equal(t.count.malformed, 1);
	pftrace_free(&t);
	buf_free(&plain);
}

static void memory_has_a_limit(void **state)
{
	struct buf plain = {}, b = {};
	struct pftrace t;
	u32 i;

	(void)state;
	track(&plain, 7, 0, "lane", false);
	for (i = 0; i < 200000; i++)
		event(&plain, i, INSTANT, 7, NULL);
	add_compressed(&b, &plain);
	assert_true(b.n < 1 << 20);
	assert_int_equal(read_pieces(&t, &b, b.n, 1 << 20), -EFBIG);
	pftrace_free(&t);
	assert_int_equal(read_pieces(&t, &b, b.n, 0), 0);
	assert_int_equal(t.slice.n, 200000);
	pftrace_free(&t);
	buf_free(&plain);
	buf_free(&b);
}

static void small_trace(struct buf *b)
{
	struct mark m;

	process(b, 3, 10, "app");
	track(b, 7, 3, "lane", false);
	m = open_event(b, 1, BEGIN, 7);
	number_arg(b, "n", 3, 300);
	close_event(b, m);
	event(b, 5, END, 7, NULL);
}

static void a_trace_cut_anywhere_gives_what_was_before(void **state)
{
	struct buf b = {};
	struct pftrace t;
	size_t n;
	u32 last = 0;

	(void)state;
	small_trace(&b);
	for (n = 1; n <= b.n; n++) {
		struct buf part = { .p = b.p, .n = n };
		int ret = read_pieces(&t, &part, n, 0);

		if (!ret) {
			assert_true(t.slice.n >= last);
			last = t.slice.n;
			/* Whole only where a packet ends. */
			assert_true(t.count.cut == (t.count.defect != NULL));
			assert_true(n < b.n || !t.count.cut);
		} else {
			assert_int_equal(ret, -EBADMSG);
			assert_int_equal(last, 0);
		}
		pftrace_free(&t);
	}
	assert_int_equal(last, 1);
	buf_free(&b);
}

static void pieces_of_any_size_are_the_same_trace(void **state)
{
	struct buf b = {};
	struct pftrace t;
	size_t piece;

	(void)state;
	small_trace(&b);
	for (piece = 1; piece <= b.n; piece++) {
		assert_int_equal(read_pieces(&t, &b, piece, 0), 0);
		assert_int_equal(t.slice.n, 1);
		assert_int_equal(arg(&t, 0, "debug.n"), 300);
		assert_false(t.count.cut);
		pftrace_free(&t);
	}
	buf_free(&b);
}

static void other_files_are_no_traces(void **state)
{
	static const char *const texts[] = {
		"\n{\"event_type\":\"nvme_cmd\"}\n", "\n\n{\"a\":1}", "{}", "KVT", "", "\n"
	};
	struct buf b = {};
	struct pftrace t;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		assert_false(pftrace_sniff(texts[i], strlen(texts[i])));
	small_trace(&b);
	assert_true(pftrace_sniff(b.p, MIN(b.n, (size_t)64)));
	buf_free(&b);
	assert_int_equal(pftrace_init(&t, 0), 0);
	assert_int_equal(pftrace_load(&t, "tests/tap.sh"), -EBADMSG);
	pftrace_free(&t);
	assert_int_equal(pftrace_init(&t, 0), 0);
	assert_int_equal(pftrace_load(&t, "tests/data/no-such-file"), -ENOENT);
	pftrace_free(&t);
}

/* ---- traces of the older converter, and back to captures ---- */

static void load(struct pftrace *t, const char *path)
{
	assert_int_equal(pftrace_init(t, 0), 0);
	assert_int_equal(pftrace_load(t, path), 0);
}

static void traces_of_the_older_converter(void **state)
{
	struct pftrace t;

	(void)state;
	load(&t, DATA "qd1.pftrace.gz");
	assert_int_equal(t.n_tracks, 16);
	assert_int_equal(t.slice.n, 177);
	assert_int_equal(t.counter.n, 213);
	assert_int_equal(t.count.events, 566);
	assert_int_equal(t.flow.n, 36);
	assert_int_equal(t.count.malformed + t.count.no_track + t.count.wrong_track + t.count.stray_ends, 0);
	pftrace_free(&t);
}

static void a_trace_gives_its_captures_back(void **state)
{
	struct pf_arm *arms;
	struct pftrace t;
	struct key_parts k;
	const struct model *m;
	u32 n, i, headers = 0;

	(void)state;
	load(&t, DATA "qd1.pftrace.gz");
	assert_int_equal(pftrace_to_model(&t, &arms, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(arms[0].label, "qd1");
	m = &arms[0].m;
	assert_int_equal(m->cmd.n, 153);
	assert_int_equal(m->op.n, 18);
	assert_int_equal(m->join, JOIN_TRACE_ID);
	assert_string_equal(strpool_get(&m->strings, m->sem_meta.hostname), "host-a");
	assert_int_equal(m->lba_bytes, 4096);
	for (i = 0; i < m->cmd.n; i++) {
		headers += !!(m->cmd.flags[i] & CMD_HEADER);
		assert_true(m->cmd.ts_ns[i] > 812345678901233);
	}
	assert_int_equal(headers, 9);
	assert_int_equal(m->op.n_cmds[0], 9);
	key_parse(&k, strpool_get(&m->strings, m->op.key[0]), strpool_len(&m->strings, m->op.key[0]));
	assert_int_equal(k.fmt_len, 6);
	assert_memory_equal(k.fmt, "bf16-0", 6);
	assert_true(m->serving.n > 0);
	pftrace_arms_free(arms, n);
	pftrace_free(&t);
}

static void labels_are_told_from_device_words(void **state)
{
	struct buf b = {};
	struct pf_arm *arms;
	struct pftrace t;
	u32 n;

	(void)state;
	process(&b, 1, 1, "LMCache my run");
	process(&b, 2, 2, "NVMe a b my run");
	process(&b, 3, 3, "NVMe ng alone here");
	track(&b, 4, 2, "reads", false);
	track(&b, 5, 3, "Writes.000", false);
	event(&b, 10, BEGIN, 4, "read");
	event(&b, 20, END, 4, NULL);
	event(&b, 30, INSTANT, 5, "write FAILED");
	read_trace(&t, &b);
	assert_int_equal(pftrace_to_model(&t, &arms, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(arms[0].label, "my run");
	assert_string_equal(arms[1].label, "alone here");
	assert_int_equal(arms[0].m.cmd.n, 1);
	assert_int_equal(arms[0].m.cmd.opcode[0], 2);
	assert_true(arms[0].m.cmd.lat_ns[0] == NO_LAT);
	assert_string_equal(strpool_get(&arms[1].m.strings, arms[1].m.cmd.name[0]), "write");
	pftrace_arms_free(arms, n);
	pftrace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begin_and_end_pair_as_a_stack),
		cmocka_unit_test(events_go_by_time_and_equal_times_by_place),
		cmocka_unit_test(an_end_with_a_name_ends_the_slice_of_that_name),
		cmocka_unit_test(instants_of_one_time_stand_on_each_other),
		cmocka_unit_test(what_has_no_track_is_dropped_and_counted),
		cmocka_unit_test(a_stack_has_an_end),
		cmocka_unit_test(tracks_know_their_process_at_any_depth),
		cmocka_unit_test(interning_defaults_and_delta_clock),
		cmocka_unit_test(a_cleared_sequence_forgets_its_names),
		cmocka_unit_test(args_keep_their_types),
		cmocka_unit_test(flows_start_step_and_end),
		cmocka_unit_test(compressed_packets_are_read_once_deep),
		cmocka_unit_test(memory_has_a_limit),
		cmocka_unit_test(a_trace_cut_anywhere_gives_what_was_before),
		cmocka_unit_test(pieces_of_any_size_are_the_same_trace),
		cmocka_unit_test(other_files_are_no_traces),
		cmocka_unit_test(traces_of_the_older_converter),
		cmocka_unit_test(a_trace_gives_its_captures_back),
		cmocka_unit_test(labels_are_told_from_device_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
