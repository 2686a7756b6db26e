// SPDX-License-Identifier: Apache-2.0
/* The offset join on large and on unkind captures: every command to the operation that its cookie names, in time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "unit/join_text.h"

static double cpu_seconds(clock_t since)
{
	return (double)(clock() - since) / CLOCKS_PER_SEC;
}

/* Joins by offset and says how long that took. */
static double timed_join(struct model *m, struct buf *b)
{
	const struct join_options o = { .kind = JOIN_OFFSET };
	clock_t since;
	double s;

	model_of(m, b);
	since = clock();
	assert_int_equal(model_join(m, &o), 0);
	s = cpu_seconds(since);
	assert_closed(m);
	return s;
}

struct rng {
	u64 s;
};

static u32 below(struct rng *r, u32 n)
{
	r->s = r->s * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)((r->s >> 33) % n);
}

/* ---- a serving run: stores, loads in several passes, slots reused last in, first out ---- */

#define SERVED	    111435
#define SLOTS	    40
#define PIECE	    (128 * KIB)
#define WORKERS	    4
#define PASSES	    9
#define HEADER	    (4 * KIB)
#define OBJECT_ROOM (9 * MIB)

struct serving {
	struct buf *b;
	struct rng r;
	u64 now, id;
	u32 cmds;
	u64 size[SLOTS];
	u64 worker_free[WORKERS];
};

static void command(struct serving *s, u64 *at, u64 id, const char *op, u64 offset, u64 bytes)
{
	if (s->cmds == SERVED)
		return;
	io(s->b, *at, id << 32 | (s->cmds & 0xffffffff), op, offset, bytes);
	s->cmds++;
	*at += 1 * US + below(&s->r, 2000);
}

/* One operation of the worker that is free first; workers overlap, uses of a slot do not. */
static u64 operate(struct serving *s, u32 slot, bool store, u64 not_before)
{
	u64 base = slot * OBJECT_ROOM, left = s->size[slot], offset = base + HEADER, start, at, id = ++s->id;
	const char *op = store ? "write" : "read";
	u32 w = 0, i;

	for (i = 1; i < WORKERS; i++)
		w = s->worker_free[i] < s->worker_free[w] ? i : w;
	start = MAX(s->worker_free[w], not_before);
	at = start + below(&s->r, 3000);
	if (store)
		command(s, &at, id, op, base, HEADER);
	for (; left; left -= MIN(left, PIECE), offset += PIECE)
		command(s, &at, id, op, offset, MIN(left, PIECE));
	at += below(&s->r, 3000);
	slot_op(s->b, id, store ? "store" : "load", base, s->size[slot], start, at);
	s->worker_free[w] = at;
	return at;
}

static void serve(struct serving *s)
{
	u64 idle[SLOTS] = {}, pass;
	u32 slot;

	meta(s->b, HEADER, "/dev/ng0n1");
	for (pass = 0; s->cmds < SERVED; pass++)
		for (slot = 0; slot < SLOTS; slot++) {
			/* Another object, often of another size, right behind the last use; then loads of it. */
			if (pass % PASSES == 0 || below(&s->r, 4) == 0) {
				s->size[slot] = (1 + below(&s->r, 2048)) * 4 * KIB;
				idle[slot] = operate(s, slot, true, idle[slot]);
			}
			idle[slot] = operate(s, slot, false, idle[slot]);
		}
}

static void all_111435_commands_agree_with_their_cookies(void **state)
{
	struct buf b = {};
	struct serving s = { .b = &b, .r = { 1 }, .worker_free = { 1 * MS, 1 * MS, 1 * MS, 1 * MS } };
	struct model m;
	double took;
	u32 i;

	(void)state;
	serve(&s);
	took = timed_join(&m, &b);
	assert_int_equal(m.cmd.n, SERVED);
	assert_int_equal(m.offset.unique, SERVED);
	assert_int_equal(m.offset.cookie_cmds, SERVED);
	assert_int_equal(m.offset.agree, SERVED);
	for (i = 0; i < m.cmd.n; i++)
		assert_int_equal(went_to(&m, i), cmd_trace_id(&m, i));
	print_message("111435 commands, %u operations: joined in %.3f s\n", m.op.n, took);
	assert_true(took < 2);
	model_free(&m);
}

/* ---- an allocator that cuts slots anew, hand-overs at one nanosecond, merged and foreign commands ---- */

#define BLOCKS 256u /* of 4 KiB */

struct live {
	u32 from, n; /* blocks */
	u64 until;
};

struct heap {
	struct rng r;
	struct live live[64];
	u32 n_live;
	u64 free_at[BLOCKS]; /* when the last user of the block is done */
	u64 id, unique, cross, foreign;
};

/* Blocks nobody has, first fit; false when there is no room. */
static bool allocate(struct heap *h, u32 n, struct live *out)
{
	bool taken[BLOCKS] = {};
	u32 i, run = 0;

	for (i = 0; i < h->n_live; i++)
		memset(taken + h->live[i].from, true, h->live[i].n);
	for (i = 0; i < BLOCKS; i++) {
		run = taken[i] ? 0 : run + 1;
		if (run == n) {
			*out = (struct live){ i + 1 - n, n, 0 };
			return true;
		}
	}
	return false;
}

static u64 ready_at(const struct heap *h, const struct live *l)
{
	u64 t = 100 * MS;
	u32 i;

	for (i = l->from; i < l->from + l->n; i++)
		t = MAX(t, h->free_at[i]);
	return t;
}

static void done_at(struct heap *h, struct live *l, u64 t)
{
	u32 i;

	l->until = t;
	for (i = l->from; i < l->from + l->n; i++)
		h->free_at[i] = t;
}

/* Commands of one operation, in its window with both ends but the last nanosecond. */
static void transfer(struct heap *h, struct buf *b, struct live *l, const char *op, u64 start)
{
	u64 id = ++h->id, end = start + 1 + below(&h->r, 200000), t = start;
	u32 at = 0, n;

	slot_op(b, id, *op == 'w' ? "store" : "load", l->from * 4 * KIB, l->n * 4 * KIB, start, end);
	for (; at < l->n; at += n) {
		n = 1 + below(&h->r, 8);
		n = MIN(n, l->n - at);
		io(b, t, id << 32 | at, op, (l->from + at) * 4 * KIB, n * 4 * KIB);
		t += below(&h->r, 2) ? 0 : below(&h->r, (u32)(end - t));
		h->unique++;
	}
	done_at(h, l, end);
}

/* Two stores of neighbours at one time, with a command over the border. */
static void merged(struct heap *h, struct buf *b, struct live *x, struct live *y)
{
	u64 start = MAX(ready_at(h, x), ready_at(h, y)), end = start + 100 * US;

	slot_op(b, h->id + 1, "store", x->from * 4 * KIB, x->n * 4 * KIB, start, end);
	slot_op(b, h->id + 2, "store", y->from * 4 * KIB, y->n * 4 * KIB, start, end);
	h->id += 2;
	io(b, start + below(&h->r, 99999), 0, "write", (x->from + x->n - 1) * 4 * KIB, 8 * KIB);
	h->cross++;
	done_at(h, x, end);
	done_at(h, y, end);
}

static void step(struct heap *h, struct buf *b)
{
	struct live l;
	u32 k;

	if (h->n_live < ARRAY_SIZE(h->live) && below(&h->r, 3) && allocate(h, 1 + below(&h->r, 40), &l)) {
		h->live[h->n_live] = l;
		transfer(h, b, &h->live[h->n_live++], "write", ready_at(h, &l));
		k = h->n_live - 1;
		if (k && h->live[k - 1].from + h->live[k - 1].n == l.from)
			merged(h, b, &h->live[k - 1], &h->live[k]);
	} else if (h->n_live && below(&h->r, 2)) {
		k = below(&h->r, h->n_live);
		transfer(h, b, &h->live[k], "read", ready_at(h, &h->live[k]));
	} else if (h->n_live) {
		k = below(&h->r, h->n_live);
		h->live[k] = h->live[--h->n_live];
	}
	if (!below(&h->r, 20)) {
		io(b, 100 * MS + below(&h->r, 1000000000), 0, "read", (BLOCKS + below(&h->r, 9)) * 4 * KIB, 4 * KIB);
		h->foreign++;
	}
}

static void slots_cut_anew_at_one_nanosecond_confuse_nothing(void **state)
{
	u32 seed, i, k;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		struct heap h = { .r = { seed } };
		struct buf b = {};
		struct model m;

		for (i = 0; i < 300; i++)
			step(&h, &b);
		timed_join(&m, &b);
		assert_int_equal(m.offset.unique, h.unique);
		assert_int_equal(m.offset.agree, h.unique);
		assert_int_equal(m.offset.cross, h.cross);
		assert_int_equal(m.offset.unmatched, h.foreign);
		assert_int_equal(m.offset.gap_spill, 0);
		for (k = 0; k < m.part.n; k++)
			assert_int_equal(m.part.bytes[k], 4 * KIB);
		model_free(&m);
	}
}

/* ---- slots that overlap at random: what each command may go to, by looking at all ---- */

#define SLACK (5 * MS)

static bool overlaps(const struct model *m, u32 op, u32 cmd)
{
	u64 begin = m->cmd.slba[cmd] * 512, slot = m->op.slot_offset[op];

	return begin < slot + m->op.bytes[op] && begin + m->cmd.bytes[cmd] > slot;
}

static bool same_way(const struct model *m, u32 op, u32 cmd)
{
	return (*strpool_get(&m->strings, m->op.name[op]) == 's') == (m->cmd.opcode[cmd] == 1);
}

/* 0: not at that time, 1: within the slack, 2: runs; 2 more for the direction. */
static u32 rank(const struct model *m, u32 op, u32 cmd)
{
	u64 ts = m->cmd.ts_ns[cmd], start = m->op.start_ns[op], end = m->op.end_ns[op];

	if (!overlaps(m, op, cmd) || ts + SLACK < start || ts > end + SLACK)
		return 0;
	return (ts >= start && ts < MAX(end, start + 1) ? 2 : 1) + (same_way(m, op, cmd) ? 2 : 0);
}

static void assert_best(const struct model *m, u32 cmd)
{
	u32 best = 0, first, n = cmd_parts(m, cmd, &first), i, got = 0;

	for (i = 0; i < m->op.n; i++) {
		u32 r = rank(m, i, cmd);

		best = MAX(best, r);
		if (cmd_op_bytes(m, cmd, i)) {
			assert_true(r > 0);
			got = MAX(got, r);
		}
	}
	assert_int_equal(got, best);
	/* Owners are disjoint. */
	for (i = first + 1; i < first + n; i++) {
		u64 a = m->op.slot_offset[m->part.op[i - 1]], b = m->op.slot_offset[m->part.op[i]];

		assert_true(a + m->op.bytes[m->part.op[i - 1]] <= b || b + m->op.bytes[m->part.op[i]] <= a);
	}
}

static void whoever_is_best_by_looking_at_all_is_found(void **state)
{
	u32 seed, i;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		struct rng r = { seed };
		struct buf b = {};
		struct model m;

		for (i = 0; i < 120; i++) {
			u64 start = 10 * MS + below(&r, 60) * MS, slot = below(&r, 48) * 4 * KIB;

			slot_op(&b, i + 1, below(&r, 2) ? "load" : "store", slot, (1 + below(&r, 16)) * 4 * KIB, start,
				start + below(&r, 8) * MS);
		}
		for (i = 0; i < 400; i++) {
			u64 ts = (5 + below(&r, 75)) * MS, offset = below(&r, 64 * 8) * 512ull;

			io(&b, ts, i + 1, below(&r, 2) ? "read" : "write", offset, (1 + below(&r, 64)) * 512ull);
		}
		timed_join(&m, &b);
		for (i = 0; i < m.cmd.n; i++)
			assert_best(&m, i);
		model_free(&m);
	}
}

/* ---- what costs time when it is done badly ---- */

#define MANY 50000u

static void one_slot_used_by_all_at_one_time(void **state)
{
	struct buf b = {};
	struct model m;
	double took;
	u32 i;

	(void)state;
	for (i = 0; i < MANY; i++)
		slot_op(&b, i + 1, "load", 0, 4096, 100 * MS, 200 * MS);
	for (i = 0; i < MANY; i++)
		io(&b, 150 * MS, (u64)(i + 1) << 32, "read", 0, 4096);
	took = timed_join(&m, &b);
	assert_int_equal(m.offset.agree, MANY);
	assert_true(took < 2);
	model_free(&m);
}

static void one_slot_used_again_and_again(void **state)
{
	struct buf b = {};
	struct model m;
	double took;
	u32 i;

	(void)state;
	slot_op(&b, MANY + 1, "load", 0, 4096ull * MANY, 1, (MANY + 1) * 10 * US); /* one runs all the time */
	for (i = 0; i < MANY; i++) {
		slot_op(&b, i + 1, "store", 0, 4096ull * MANY, i * 10 * US, (i + 1) * 10 * US);
		io(&b, i * 10 * US + 1, (u64)(i + 1) << 32, "write", i * 4096ull, 4096);
	}
	took = timed_join(&m, &b);
	assert_int_equal(m.offset.agree, MANY);
	assert_true(took < 2);
	model_free(&m);
}

static void staggered_slots_that_all_overlap(void **state)
{
	struct buf b = {};
	struct model m;
	double took;
	u32 i;

	(void)state;
	for (i = 0; i < MANY; i++)
		slot_op(&b, i + 1, "load", i * 4096ull, 32 * MIB, 100 * MS, 200 * MS);
	for (i = 0; i < MANY; i++)
		io(&b, 150 * MS + i, 0, "read", i * 4096ull, 4096);
	took = timed_join(&m, &b);
	assert_int_equal(m.offset.unique, MANY);
	assert_true(took < 4);
	model_free(&m);
}

static void a_command_over_very_many_objects(void **state)
{
	struct buf b = {};
	struct model m;
	double took;
	u32 i;

	(void)state;
	for (i = 0; i < MANY; i++)
		slot_op(&b, i + 1, "load", i * 4096ull, 4096, 100 * MS, 200 * MS);
	io(&b, 150 * MS, 0, "read", 0, 4096ull * MANY);
	took = timed_join(&m, &b);
	assert_int_equal(m.part.n, MANY);
	assert_int_equal(m.offset.cross_bytes, 4096ull * MANY);
	assert_true(took < 2);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_111435_commands_agree_with_their_cookies),
		cmocka_unit_test(slots_cut_anew_at_one_nanosecond_confuse_nothing),
		cmocka_unit_test(whoever_is_best_by_looking_at_all_is_found),
		cmocka_unit_test(one_slot_used_by_all_at_one_time),
		cmocka_unit_test(one_slot_used_again_and_again),
		cmocka_unit_test(staggered_slots_that_all_overlap),
		cmocka_unit_test(a_command_over_very_many_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
