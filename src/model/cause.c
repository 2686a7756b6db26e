// SPDX-License-Identifier: Apache-2.0
#include "model/cause.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/uring_names.h"
#include "model/cause_index.h"
#include "model/cause_work.h"
#include "model/filter.h"
#include "model/measure.h"

/* IOSQE_ flags of requests that are not issued as they are submitted: DRAIN, LINK, HARDLINK, ASYNC. */
#define SQE_LATER 0x1e

/* What is worked with. */
struct seek {
	struct model *m;
	struct cause_index calls, requests; /* of each thread */
	struct cause_index cookies;	    /* passthrough requests, of each user_data */
	struct cause_index nodes;	    /* of all requests on /dev/ nodes */
	struct map64 submitters;	    /* threads with requests -> some are of SQE_LATER */
	struct map64 is_node;		    /* (path, device) -> 0, or 1: the path is the device's */
	u64 *call_bytes, *request_bytes;    /* of the commands that CAUSE_CONTAINED and CAUSE_ORDER give them */
};

static u64 call_end(const struct ev_syscall *e)
{
	return cause_end(e->ts_ns, e->lat_ns);
}

static u64 request_end(const struct ev_uring *e)
{
	return e->flags & URING_UNFINISHED ? UINT64_MAX : cause_end(e->ts_ns, e->lat_ns);
}

struct made cause_made(const struct model *m, u32 i)
{
	const struct cmd_table *t = &m->cmd;
	u64 wait = cmd_wait(t, i);
	struct made c = {
		.row = i,
		.tid = t->tid[i],
		.pid = t->task[i] == NONE ? 0 : m->task[t->task[i]].pid,
		.made_ns = t->ts_ns[i] - MIN(t->ts_ns[i], wait),
		.end_ns = t->flags[i] & NVME_IN_FLIGHT ? t->ts_ns[i] : cmd_end(m, i),
		.known = (t->flags[i] & NVME_ENTRY) && wait != UINT32_MAX,
	};

	return c;
}

/* ---- passthrough ---- */

static bool same_command(const struct seek *s, const struct made *c, const struct ev_uring *e)
{
	const struct cmd_table *t = &s->m->cmd;

	return e->tid == c->tid && e->sub == t->opcode[c->row] && e->size == t->bytes[c->row] &&
	       request_end(e) >= c->end_ns && (!(t->flags[c->row] & CMD_HAS_SLBA) || e->offset == t->slba[c->row]);
}

static u8 by_user_data(const struct seek *s, const struct made *c, u32 *request)
{
	struct cause_walk w = cause_walk(&s->cookies, s->m->cmd.user_data[c->row], c->made_ns);
	u32 found = NONE, row;

	while ((row = cause_step(&w)) != NONE) {
		if (!same_command(s, c, &s->m->uring.row[row].ev))
			continue;
		if (found != NONE)
			return CAUSE_UNCERTAIN;
		found = row;
	}
	*request = found;
	return found == NONE ? CAUSE_OUTSIDE : CAUSE_USER_DATA;
}

/* ---- requests of the block layer ---- */

static bool same_way(const struct model *m, u32 cmd, const struct ev_uring *e)
{
	u8 op = m->cmd.opcode[cmd];
	enum call_class class = uring_op_class(e->opcode);

	return (class == CALL_IS_READ && op == OPCODE_READ) || (class == CALL_IS_WRITE && op == OPCODE_WRITE);
}

static bool is_dev_path(const struct model *m, u32 path)
{
	return path && !strncmp(strpool_get(&m->strings, path), "/dev/", 5);
}

/* The file of the request is the node of the command's device. */
static bool on_node(struct seek *s, u32 cmd, u32 path)
{
	bool is_new = false;
	u32 *known;

	if (!is_dev_path(s->m, path))
		return false;
	known = map64_put(&s->is_node, (u64)path << 32 | cmd_dev(s->m, cmd), &is_new);
	if (!known)
		return false;
	if (is_new)
		*known = device_is_named(s->m, cmd_dev(s->m, cmd), strpool_get(&s->m->strings, path));
	return *known;
}

static bool in_range(const struct model *m, u32 cmd, const struct ev_uring *e)
{
	u64 lba = m->device[cmd_dev(m, cmd)].lba_bytes, at;

	if (!lba || !(m->cmd.flags[cmd] & CMD_HAS_SLBA) || !(e->flags & URING_OFFSET) ||
	    __builtin_mul_overflow(m->cmd.slba[cmd], lba, &at))
		return false;
	return at >= e->offset && at - e->offset <= e->size && m->cmd.bytes[cmd] <= e->size - (at - e->offset);
}

bool cause_lost_between(const struct model *m, u64 from, u64 to)
{
	u32 i;

	for (i = 0; i < m->n_losses && m->loss[i].begin_ns <= to; i++)
		if (m->loss[i].end_ns >= from)
			return true;
	return false;
}

static u8 by_order(struct seek *s, const struct made *c, u32 *request)
{
	struct cause_walk w = cause_walk(&s->requests, c->tid, c->made_ns);
	u32 row = cause_last(&w);
	const struct uring_row *r = row == NONE ? NULL : &s->m->uring.row[row];

	if (!r || request_end(&r->ev) < c->made_ns)
		return CAUSE_OUTSIDE;
	if (*map64_get(&s->submitters, c->tid) || !same_way(s->m, c->row, &r->ev) || request_end(&r->ev) < c->end_ns ||
	    (r->ev.flags & URING_PUNTED) || cause_lost_between(s->m, r->ev.ts_ns, c->made_ns))
		return CAUSE_UNCERTAIN;
	if (on_node(s, c->row, r->path) && !in_range(s->m, c->row, &r->ev))
		return CAUSE_UNCERTAIN;
	*request = row;
	return CAUSE_ORDER;
}

static u8 by_place(struct seek *s, const struct made *c, u32 *request)
{
	struct cause_walk w = cause_walk(&s->nodes, 0, c->made_ns);
	u32 found = NONE, row;

	while ((row = cause_step(&w)) != NONE) {
		const struct uring_row *r = &s->m->uring.row[row];

		if (!c->pid || r->task == NONE || s->m->task[r->task].pid != c->pid ||
		    request_end(&r->ev) < c->end_ns || !same_way(s->m, c->row, &r->ev) ||
		    !on_node(s, c->row, r->path) || !in_range(s->m, c->row, &r->ev))
			continue;
		if (found != NONE)
			return CAUSE_UNCERTAIN;
		found = row;
	}
	*request = found;
	return found == NONE ? CAUSE_OUTSIDE : CAUSE_PLACE;
}

static u8 by_call(struct seek *s, const struct made *c, u32 *call)
{
	struct cause_walk w = cause_walk(&s->calls, c->tid, c->made_ns);
	u32 row = cause_last(&w);
	const struct ev_syscall *e = row == NONE ? NULL : &s->m->call.row[row].ev;

	if (!e || call_end(e) < c->made_ns)
		return CAUSE_OUTSIDE;
	if (!c->known && (call_end(e) < c->end_ns || e->ret < 0 || call_class(e->call) == CALL_IS_OTHER))
		return CAUSE_OUTSIDE;
	*call = row;
	return c->known ? CAUSE_THREAD : CAUSE_CONTAINED;
}

static bool thread_is_known(const struct seek *s, u32 tid)
{
	return map64_get(&s->calls.at, tid) || map64_get(&s->submitters, tid);
}

/* The best of what was found; a request explains more than the call that submitted it. */
static u8 better(u8 request, u8 call)
{
	if (cause_is_joined(request))
		return request;
	if (cause_is_joined(call))
		return call;
	return request == CAUSE_UNCERTAIN ? request : call;
}

static u8 seek_block(struct seek *s, const struct made *c, u32 *call, u32 *request)
{
	u8 how_call = by_call(s, c, call), how = by_order(s, c, request);

	if (how == CAUSE_ORDER) {
		s->request_bytes[*request] += s->m->cmd.bytes[c->row];
	} else {
		u8 place = by_place(s, c, request);

		how = place == CAUSE_OUTSIDE ? how : place;
	}
	if (how_call == CAUSE_CONTAINED)
		s->call_bytes[*call] += s->m->cmd.bytes[c->row];
	how = better(how, how_call);
	return how == CAUSE_OUTSIDE && !thread_is_known(s, c->tid) ? CAUSE_NO_THREAD : how;
}

static void seek_command(struct seek *s, u32 i)
{
	struct cause_table *t = &s->m->cause;
	struct made c = cause_made(s->m, i);
	u8 how;

	t->call[i] = t->uring[i] = NONE;
	if (t->fault)
		t->fault[i] = NONE;
	t->how[i] = CAUSE_NOT_SOUGHT;
	if (s->m->cmd.flags[i] & CMD_REISSUED)
		return;
	if (!(s->m->cmd.flags[i] & NVME_PASSTHROUGH)) {
		t->how[i] = seek_block(s, &c, &t->call[i], &t->uring[i]);
		return;
	}
	how = by_user_data(s, &c, &t->uring[i]);
	if (c.known)
		how = better(how, by_call(s, &c, &t->call[i]));
	t->how[i] = how == CAUSE_OUTSIDE && !thread_is_known(s, c.tid) ? CAUSE_NO_THREAD : how;
}

/* ---- do the bytes add up? ---- */

/* A read at the end of a file moves whole blocks for what it returns. */
static bool adds_up(u64 bytes, s64 ret, u64 asked)
{
	return ret >= 0 && (bytes == (u64)ret || ((u64)ret < asked && bytes > (u64)ret && bytes <= asked));
}

static void check_bytes(struct seek *s)
{
	struct cause_table *t = &s->m->cause;
	u32 i;

	for (i = 0; i < s->m->cmd.n; i++) {
		const struct ev_uring *r = t->uring[i] == NONE ? NULL : &s->m->uring.row[t->uring[i]].ev;
		const struct ev_syscall *c = t->call[i] == NONE ? NULL : &s->m->call.row[t->call[i]].ev;
		bool known = s->m->cmd.flags[i] & NVME_ENTRY;

		if (r && t->how[i] == CAUSE_ORDER &&
		    ((r->flags & URING_UNFINISHED) || !adds_up(s->request_bytes[t->uring[i]], r->res, r->size))) {
			t->uring[i] = NONE;
			t->how[i] = c && known ? CAUSE_THREAD : CAUSE_UNCERTAIN;
		}
		if (c && !known && !adds_up(s->call_bytes[t->call[i]], c->ret, c->size)) {
			t->call[i] = NONE;
			if (t->how[i] == CAUSE_CONTAINED)
				t->how[i] = CAUSE_UNCERTAIN;
		}
	}
}

/* ---- the whole ---- */

static bool call_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	const struct ev_syscall *e = &m->call.row[row].ev;

	*key = e->tid;
	*begin = e->ts_ns;
	*end = call_end(e);
	return !(e->flags & SYSCALL_NO_ENTER);
}

static bool request_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	const struct ev_uring *e = &m->uring.row[row].ev;

	*key = e->tid;
	*begin = e->ts_ns;
	*end = request_end(e);
	return !uring_is_passthrough(e->opcode);
}

static bool cookie_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	const struct ev_uring *e = &m->uring.row[row].ev;

	*key = e->user_data;
	*begin = e->ts_ns;
	*end = request_end(e);
	return uring_is_passthrough(e->opcode);
}

static bool node_key(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end)
{
	return request_key(m, row, key, begin, end) && is_dev_path(m, m->uring.row[row].path) && !(*key = 0);
}

/* Which io_uring_enter submitted each request. */
static void find_enters(struct seek *s)
{
	const struct model *m = s->m;
	u32 i;

	for (i = 0; i < m->uring.n; i++) {
		const struct ev_uring *e = &m->uring.row[i].ev;
		struct cause_walk w = cause_walk(&s->calls, e->tid, e->ts_ns);
		u32 row = cause_last(&w);
		const struct ev_syscall *c = row == NONE ? NULL : &m->call.row[row].ev;

		m->cause.enter[i] = c && c->call == CALL_IO_URING_ENTER && call_end(c) >= e->ts_ns ? row : NONE;
	}
}

static int find_submitters(struct seek *s)
{
	bool is_new = false;
	u32 i, *later;

	for (i = 0; i < s->m->uring.n; i++) {
		later = map64_put(&s->submitters, s->m->uring.row[i].ev.tid, &is_new);
		if (!later)
			return -ENOMEM;
		*later = (!is_new && *later) || (s->m->uring.row[i].ev.sqe_flags & SQE_LATER);
	}
	return 0;
}

static int seek_start(struct seek *s)
{
	struct model *m = s->m;
	struct cause_table *t = &m->cause;
	int ret;

	cause_free(t);
	t->on = m->cmd.n != 0;
	t->how = malloc(m->cmd.n + 1ul);
	t->call = malloc((m->cmd.n + 1ul) * sizeof(*t->call));
	t->uring = malloc((m->cmd.n + 1ul) * sizeof(*t->uring));
	t->enter = malloc((m->uring.n + 1ul) * sizeof(*t->enter));
	t->fault = m->fault.n && m->extent.n ? malloc((m->cmd.n + 1ul) * sizeof(*t->fault)) : NULL;
	s->call_bytes = calloc(m->call.n + 1ul, sizeof(*s->call_bytes));
	s->request_bytes = calloc(m->uring.n + 1ul, sizeof(*s->request_bytes));
	if (!t->how || !t->call || !t->uring || !t->enter || (m->fault.n && m->extent.n && !t->fault) ||
	    !s->call_bytes || !s->request_bytes)
		return -ENOMEM;
	ret = cause_index(&s->calls, m, m->call.n, call_key);
	if (!ret)
		ret = cause_index(&s->requests, m, m->uring.n, request_key);
	if (!ret)
		ret = cause_index(&s->cookies, m, m->uring.n, cookie_key);
	if (!ret)
		ret = cause_index(&s->nodes, m, m->uring.n, node_key);
	return ret ? ret : find_submitters(s);
}

int cause_find(struct model *m)
{
	struct seek s = { .m = m };
	int ret = 0;
	u32 i;

	if (!m->call.n && !m->uring.n && !(m->fault.n && m->extent.n))
		return 0;
	ret = seek_start(&s);
	if (!ret) {
		for (i = 0; i < m->cmd.n; i++)
			seek_command(&s, i);
		check_bytes(&s);
		find_enters(&s);
		ret = m->extent.n ? cause_by_extent(m) : 0;
	}
	cause_index_free(&s.calls);
	cause_index_free(&s.requests);
	cause_index_free(&s.cookies);
	cause_index_free(&s.nodes);
	map64_free(&s.submitters);
	map64_free(&s.is_node);
	free(s.call_bytes);
	free(s.request_bytes);
	return ret;
}

void cause_free(struct cause_table *t)
{
	free(t->how);
	free(t->call);
	free(t->uring);
	free(t->enter);
	free(t->fault);
	*t = (struct cause_table){};
}
