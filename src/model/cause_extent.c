// SPDX-License-Identifier: Apache-2.0
/* Causes by the place of a command in a file that was mapped: CAUSE_EXTENT in cause.h. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "capture/calls.h"
#include "capture/uring_names.h"
#include "lib/hash.h"
#include "model/cause_index.h"
#include "model/cause_work.h"
#include "model/extents.h"
#include "model/measure.h"

#define MAX_PLACE (1ull << 62)
/* Groups and rows looked at for one command; where that is not enough, nothing is certain. */
#define MAX_STEPS 2048u

enum source { BY_CALL, BY_REQUEST, BY_FAULT, BY_COMMAND, N_SOURCES };

/* Bytes of a file that something is about, and when. */
struct use {
	u64 ino, from, to;
	u64 begin_ns, end_ns;
	u32 dev;
	bool writes;
	bool is_map; /* they can be written through memory from then on, and nobody tells when */
};

/*
 * The uses of one source in groups: those of 2^n bytes and less, but more than
 * half of that, by which of the pieces of 2^n bytes of their file they are in;
 * those in two pieces are apart, by the second one.
 */
struct places {
	struct cause_index index;
	u64 sizes[2]; /* of those in one piece, in two: bit n, there are some */
};

struct seek {
	struct model *m;
	struct places of[N_SOURCES];
	struct cause_index faults; /* of each thread */
	struct cause_index copies; /* calls that write a file which is not told: all of them */
	u8 *direct[BY_FAULT];	   /* of each call and request: it wrote its bytes itself, and leaves none behind */
	u32 steps;		   /* left for the command at hand */
};

/* ---- what is about which bytes ---- */

static u64 page_of(const struct model *m)
{
	u64 page = m->page_bytes;

	return page >= 512 && page <= 1u << 20 && !(page & (page - 1)) ? page : 4096;
}

static bool set_pages(struct use *u, const struct model *m, u64 offset, u64 bytes)
{
	u64 page = page_of(m);

	if (!bytes || offset >= MAX_PLACE || bytes >= MAX_PLACE)
		return false;
	u->from = offset & -page;
	u->to = (offset + bytes + page - 1) & -page;
	return true;
}

static bool call_use(const struct model *m, u32 row, struct use *u)
{
	const struct ev_syscall *e = &m->call.row[row].ev;
	enum call_class class = call_class(e->call);

	if ((e->flags & (SYSCALL_FILE | SYSCALL_OFFSET | SYSCALL_NO_ENTER)) != (SYSCALL_FILE | SYSCALL_OFFSET) ||
	    e->ret < 0)
		return false;
	*u = (struct use){ .ino = e->ino, .dev = e->dev, .begin_ns = e->ts_ns };
	if (e->call == CALL_MMAP) {
		/* Faults say more, where they were recorded. */
		u->is_map = u->writes = (e->arg & MAP_SHARED) && (e->fd2 & PROT_WRITE) && !m->fault.n;
		u->end_ns = UINT64_MAX;
		return u->is_map && set_pages(u, m, e->offset, e->size);
	}
	u->writes = class == CALL_IS_WRITE;
	u->end_ns = cause_end(e->ts_ns, e->lat_ns);
	return class != CALL_IS_OTHER && set_pages(u, m, e->offset, (u64)e->ret);
}

static bool request_use(const struct model *m, u32 row, struct use *u)
{
	const struct ev_uring *e = &m->uring.row[row].ev;
	enum call_class class = uring_op_class(e->opcode);

	if ((e->flags & (URING_FILE | URING_OFFSET | URING_UNFINISHED)) != (URING_FILE | URING_OFFSET) || e->res < 0 ||
	    (class != CALL_IS_READ && class != CALL_IS_WRITE))
		return false;
	*u = (struct use){ .ino = e->ino,
			   .dev = e->dev,
			   .begin_ns = e->ts_ns,
			   .end_ns = cause_end(e->ts_ns, e->lat_ns),
			   .writes = class == CALL_IS_WRITE };
	return set_pages(u, m, e->offset, (u64)e->res);
}

static bool fault_use(const struct model *m, u32 row, struct use *u)
{
	const struct ev_fault *e = &m->fault.row[row].ev;

	*u = (struct use){ .ino = e->ino,
			   .dev = e->dev,
			   .begin_ns = e->ts_ns,
			   .end_ns = cause_end(e->ts_ns, e->lat_ns),
			   .writes = true };
	return (e->flags & FAULT_WRITE) && !(e->flags & FAULT_FAILED) && set_pages(u, m, e->offset, 1);
}

/* The bytes of a command, where the maps are sure of them. */
static enum file_place place_of(const struct model *m, u32 row, struct use *u)
{
	struct cmd_file f = {};
	enum file_place place = cmd_file(m, row, &f);
	bool is_write = m->cmd.opcode[row] == OPCODE_WRITE;

	*u = (struct use){ .ino = f.ino, .dev = f.dev, .from = f.offset, .writes = is_write };
	if (place < PLACE_UNSURE)
		return PLACE_OUTSIDE;
	if (place < PLACE_END || (place == PLACE_END && f.is_moved))
		return PLACE_UNSURE;
	if (!f.has_offset || f.bytes < m->cmd.bytes[row] || f.offset >= MAX_PLACE)
		return PLACE_OUTSIDE;
	u->to = f.offset + m->cmd.bytes[row];
	return place;
}

/* As what was written to the device. */
static bool command_use(const struct model *m, u32 row, struct use *u)
{
	if ((m->cmd.flags[row] & (NVME_PASSTHROUGH | CMD_REISSUED)) || m->cmd.opcode[row] != OPCODE_WRITE ||
	    cmd_state(m, row) != STATE_OK || place_of(m, row, u) < PLACE_END)
		return false;
	u->begin_ns = u->end_ns = cause_made(m, row).made_ns;
	return true;
}

static bool (*const use_of[N_SOURCES])(const struct model *m, u32 row, struct use *u) = {
	[BY_CALL] = call_use, [BY_REQUEST] = request_use, [BY_FAULT] = fault_use, [BY_COMMAND] = command_use
};

/* ---- by place ---- */

/* The exponent of the power of two that the bytes fit into. */
static u32 size_of(const struct use *u)
{
	u64 n = u->to - u->from;

	return n > 1 ? 64 - (u32)__builtin_clzll(n - 1) : 0;
}

static bool in_two(const struct use *u)
{
	return u->from >> size_of(u) != (u->to - 1) >> size_of(u);
}

static u64 group_of(const struct use *of, u32 size, bool two, u64 piece)
{
	return hash_u64(of->ino ^ hash_u64((u64)of->dev << 32 | size << 1 | two) ^ hash_u64(piece + 1) * 3);
}

static bool key_of(enum source s, const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	struct use u;

	if (!use_of[s](m, row, &u))
		return false;
	*key = group_of(&u, size_of(&u), in_two(&u), (u.to - 1) >> size_of(&u));
	*begin = u.begin_ns;
	*end = u.end_ns;
	return true;
}

static bool call_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	return key_of(BY_CALL, m, row, key, begin, end);
}

static bool request_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	return key_of(BY_REQUEST, m, row, key, begin, end);
}

static bool fault_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	return key_of(BY_FAULT, m, row, key, begin, end);
}

static bool command_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	return key_of(BY_COMMAND, m, row, key, begin, end);
}

static bool thread_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	const struct ev_fault *e = &m->fault.row[row].ev;

	*key = e->tid;
	*begin = e->ts_ns;
	*end = cause_end(e->ts_ns, e->lat_ns);
	return !(e->flags & FAULT_NO_TIME);
}

static bool copy_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	const struct ev_syscall *e = &m->call.row[row].ev;

	*key = 0;
	*begin = e->ts_ns;
	*end = cause_end(e->ts_ns, e->lat_ns);
	return call_class(e->call) == CALL_IS_COPY && call_writes(e->call) && e->ret > 0;
}

/* What is looked for, and what was found. */
struct search {
	const struct use *bytes;
	u64 from_ns, to_ns; /* uses that begin by to_ns and last until from_ns */
	bool (*fits)(struct search *x, const struct use *u, enum source s, u32 row);
	const struct made *cmd;
	const struct seek *s;
	u32 written; /* the command that wrote the bytes before, or NONE */
	/* Found: */
	u32 n; /* at most 2: there are several */
	enum source source;
	u32 row;
	struct use use;
};

static bool touches(const struct use *u, const struct use *v)
{
	return u->dev == v->dev && u->ino == v->ino && u->from < v->to && u->to > v->from;
}

static bool covers(const struct use *u, const struct use *v)
{
	return u->from <= v->from && u->to >= v->to;
}

static void look_into(struct seek *s, struct search *x, enum source source, u64 group)
{
	struct cause_walk w = cause_walk(&s->of[source].index, group, x->to_ns);
	struct use u;
	u32 row;

	/* The time may come nearer with what is found. */
	while (w.ns = x->from_ns, x->n < 2 && s->steps && (row = cause_step(&w)) != NONE) {
		s->steps--;
		use_of[source](s->m, row, &u);
		if (u.end_ns < x->from_ns || !touches(&u, x->bytes) || !x->fits(x, &u, source, row))
			continue;
		x->n++;
		x->source = source;
		x->row = row;
		x->use = u;
	}
}

static void look(struct seek *s, struct search *x, enum source source)
{
	const struct use *c = x->bytes;
	u64 left, piece;
	u32 two;

	for (two = 0; two < 2; two++)
		for (left = s->of[source].sizes[two]; left; left &= left - 1) {
			u32 size = (u32)__builtin_ctzll(left);
			u64 last = ((c->to - 1) >> size) + two;

			for (piece = c->from >> size; piece <= last && x->n < 2 && s->steps; piece++) {
				s->steps--;
				look_into(s, x, source, group_of(c, size, two, piece));
			}
		}
}

/* ---- one command ---- */

static u8 verdict(const struct seek *s, const struct search *x)
{
	if (!s->steps || x->n > 1)
		return CAUSE_UNCERTAIN;
	return x->n ? CAUSE_EXTENT : CAUSE_OUTSIDE;
}

/* Reads into a mapping are made by the thread that waits for them. */
static u32 by_fault(const struct seek *s, const struct made *c, const struct use *bytes)
{
	struct cause_walk w = cause_walk(&s->faults, c->tid, c->made_ns);
	u32 row = cause_last(&w);
	const struct ev_fault *e = row == NONE ? NULL : &s->m->fault.row[row].ev;

	if (!e || e->dev != bytes->dev || e->ino != bytes->ino ||
	    cause_end(e->ts_ns, e->lat_ns) < (c->known ? c->made_ns : c->end_ns))
		return NONE;
	return row;
}

static bool lasts(struct search *x, const struct use *u, enum source s, u32 row)
{
	(void)s;
	(void)row;
	return !u->is_map && u->writes == x->bytes->writes && covers(u, x->bytes);
}

/* Which write command had all of the bytes last; keeps the latest of all that fit. */
static bool wrote_before(struct search *x, const struct use *u, enum source s, u32 row)
{
	(void)s;
	if (row != x->cmd->row && covers(u, x->bytes) && (u->begin_ns < x->to_ns || row < x->cmd->row) &&
	    (x->written == NONE || u->begin_ns >= x->from_ns)) {
		x->written = row;
		x->from_ns = u->begin_ns;
	}
	return false;
}

/* What it has written itself already was written again for another reason. */
static bool has_written(const struct search *x, enum source s, u32 row)
{
	const struct cause_table *t = &x->s->m->cause;

	return x->written != NONE && s != BY_FAULT && (s == BY_CALL ? t->call : t->uring)[x->written] == row;
}

static bool changed(struct search *x, const struct use *u, enum source s, u32 row)
{
	if (has_written(x, s, row))
		return false;
	return u->writes && u->end_ns > x->from_ns && (s == BY_FAULT || !x->s->direct[s][row]);
}

/* A call or request of another thread that it was part of. */
static u8 by_time(struct seek *s, const struct search *before, struct search *x)
{
	*x = *before;
	x->from_ns = x->cmd->end_ns;
	x->fits = lasts;
	look(s, x, BY_CALL);
	look(s, x, BY_REQUEST);
	return x->n == 1 && has_written(x, x->source, x->row) ? CAUSE_OUTSIDE : verdict(s, x);
}

/* A copy may have changed any file. */
static bool copied_between(const struct seek *s, u64 from_ns, u64 to_ns)
{
	struct cause_walk w = cause_walk(&s->copies, 0, to_ns);

	w.ns = from_ns + 1;
	return cause_step(&w) != NONE;
}

/* Out of the page cache: who changed the bytes since they were last written? */
static u8 by_change(struct seek *s, const struct search *before, struct search *x)
{
	u32 source;

	*x = *before;
	x->fits = changed;
	for (source = BY_CALL; source <= BY_FAULT; source++)
		look(s, x, (enum source)source);
	if (verdict(s, x) != CAUSE_EXTENT)
		return verdict(s, x);
	return covers(&x->use, x->bytes) && !x->use.is_map && !cause_lost_between(s->m, x->use.begin_ns, x->to_ns) &&
			       !copied_between(s, x->use.begin_ns, x->to_ns)
		       ? CAUSE_EXTENT
		       : CAUSE_UNCERTAIN;
}

static u8 seek_one(struct seek *s, const struct made *c, const struct use *bytes, struct search *x)
{
	struct search before = { .bytes = bytes, .to_ns = c->made_ns, .cmd = c, .s = s, .written = NONE };
	u8 how;

	s->steps = MAX_STEPS;
	x->source = BY_FAULT;
	x->row = bytes->writes ? NONE : by_fault(s, c, bytes);
	if (x->row != NONE)
		return CAUSE_EXTENT;
	before.fits = wrote_before;
	if (bytes->writes)
		look(s, &before, BY_COMMAND);
	how = by_time(s, &before, x);
	return how == CAUSE_OUTSIDE && bytes->writes && c->known ? by_change(s, &before, x) : how;
}

static bool is_sought(const struct model *m, u32 i)
{
	enum cmd_state state = cmd_state(m, i);

	return m->cause.how[i] != CAUSE_NOT_SOUGHT && !cause_is_joined(m->cause.how[i]) &&
	       !(m->cmd.flags[i] & NVME_PASSTHROUGH) && (state == STATE_OK || state == STATE_FAILED) &&
	       (m->cmd.opcode[i] == OPCODE_WRITE || m->cmd.opcode[i] == OPCODE_READ);
}

static void seek_command(struct seek *s, u32 i)
{
	struct cause_table *t = &s->m->cause;
	struct search x = {};
	struct use bytes;
	enum file_place place;
	struct made c;
	u8 how;

	if (!is_sought(s->m, i) || (place = place_of(s->m, i, &bytes)) == PLACE_OUTSIDE)
		return;
	if (place == PLACE_UNSURE) {
		t->how[i] = t->how[i] == CAUSE_UNCERTAIN ? CAUSE_UNCERTAIN : CAUSE_MOVED;
		return;
	}
	c = cause_made(s->m, i);
	how = seek_one(s, &c, &bytes, &x);
	if (how == CAUSE_OUTSIDE)
		return;
	t->how[i] = how;
	if (how == CAUSE_EXTENT)
		*(x.source == BY_CALL ? &t->call[i] : x.source == BY_REQUEST ? &t->uring[i] : &t->fault[i]) = x.row;
}

/* ---- all ---- */

static int add_source(struct seek *s, enum source source, u32 n, cause_key key)
{
	struct use u;
	u32 i;

	for (i = 0; i < n; i++)
		if (use_of[source](s->m, i, &u))
			s->of[source].sizes[in_two(&u)] |= 1ull << size_of(&u);
	return s->of[source].sizes[0] | s->of[source].sizes[1] ? cause_index(&s->of[source].index, s->m, n, key) : 0;
}

/* Calls and requests that wrote to the device by themselves, and not only a journal for it. */
static int find_direct(struct seek *s)
{
	const struct cause_table *t = &s->m->cause;
	struct use bytes, u;
	u32 i;

	s->direct[BY_CALL] = calloc(s->m->call.n + 1ul, 1);
	s->direct[BY_REQUEST] = calloc(s->m->uring.n + 1ul, 1);
	if (!s->direct[BY_CALL] || !s->direct[BY_REQUEST])
		return -ENOMEM;
	for (i = 0; i < s->m->cmd.n; i++) {
		u32 call = t->call[i], request = t->uring[i];

		if ((call == NONE && request == NONE) || !command_use(s->m, i, &bytes))
			continue;
		if (call != NONE && call_use(s->m, call, &u) && touches(&u, &bytes))
			s->direct[BY_CALL][call] = 1;
		if (request != NONE && request_use(s->m, request, &u) && touches(&u, &bytes))
			s->direct[BY_REQUEST][request] = 1;
	}
	return 0;
}

int cause_by_extent(struct model *m)
{
	struct seek s = { .m = m };
	int ret = add_source(&s, BY_CALL, m->call.n, call_key);
	u32 i;

	if (!ret)
		ret = add_source(&s, BY_REQUEST, m->uring.n, request_key);
	if (!ret)
		ret = add_source(&s, BY_FAULT, m->fault.n, fault_key);
	if (!ret)
		ret = add_source(&s, BY_COMMAND, m->cmd.n, command_key);
	if (!ret)
		ret = cause_index(&s.faults, m, m->fault.n, thread_key);
	if (!ret)
		ret = cause_index(&s.copies, m, m->call.n, copy_key);
	if (!ret)
		ret = find_direct(&s);
	for (i = 0; i < m->cmd.n && !ret; i++)
		seek_command(&s, i);
	for (i = 0; i < N_SOURCES; i++)
		cause_index_free(&s.of[i].index);
	cause_index_free(&s.faults);
	cause_index_free(&s.copies);
	free(s.direct[BY_CALL]);
	free(s.direct[BY_REQUEST]);
	return ret;
}
