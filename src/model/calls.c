// SPDX-License-Identifier: Apache-2.0
#include "model/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/calls.h"
#include "model/tables.h"

int add_call(struct model *m, const struct ev_syscall *e, u32 path)
{
	struct call_table *t = &m->call;
	int ret = grow(&t->row, &t->cap, t->n, sizeof(*t->row));

	if (!ret)
		t->row[t->n++] = (struct call_row){ .ev = *e, .path = path, .task = NONE };
	return ret;
}

static int compare_s64(s64 a, s64 b)
{
	return a < b ? -1 : a > b;
}

static bool call_before(const void *arg, u32 x, u32 y)
{
	const struct model *m = arg;
	const struct ev_syscall *a = &m->call.row[x].ev, *b = &m->call.row[y].ev;
	int c = compare_u64(a->tid, b->tid);

	c = c ? c : compare_u64(a->lat_ns, b->lat_ns);
	c = c ? c : compare_u64(a->call, b->call);
	c = c ? c : compare_s64(a->fd, b->fd);
	c = c ? c : compare_u64(a->offset, b->offset);
	c = c ? c : compare_u64(a->size, b->size);
	return (c ? c : compare_s64(a->ret, b->ret)) < 0;
}

static int reorder_calls(struct model *m, const u32 *order, u32 n)
{
	struct call_row *to = malloc(MAX(n, 1u) * sizeof(*to));
	u32 i;

	if (!to)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		to[i] = m->call.row[order[i]];
	free(m->call.row);
	m->call.row = to;
	m->call.n = n;
	m->call.cap = MAX(n, 1u);
	return 0;
}

int sort_calls(struct model *m)
{
	u64 *key = malloc((m->call.n + 1ul) * sizeof(*key));
	u32 *order = NULL, i;
	int ret = -ENOMEM;

	if (key) {
		for (i = 0; i < m->call.n; i++)
			key[i] = m->call.row[i].ev.ts_ns;
		ret = sort_by_key(m->call.n, key, call_before, m, &order);
	}
	if (!ret && order)
		ret = reorder_calls(m, order, m->call.n);
	free(order);
	free(key);
	return ret;
}

void cut_calls(struct model *m, bool (*stays)(const void *arg, const struct call_row *c), const void *arg, u32 *to)
{
	u32 i, n = 0;

	for (i = 0; i < m->call.n; i++) {
		bool stay = stays(arg, &m->call.row[i]);

		to[i] = stay ? n : NONE;
		if (stay)
			m->call.row[n++] = m->call.row[i];
	}
	m->cut.calls += m->call.n - n;
	m->call.n = n;
}

/* ---- measures ---- */

static void add_to_sum(struct call_sum *s, const struct ev_syscall *e)
{
	bool moves = call_class(e->call) != CALL_IS_OTHER;

	s->n++;
	s->total_ns += e->lat_ns;
	if (e->ret < 0) {
		s->failed++;
		return;
	}
	if (moves) {
		s->asked_bytes += e->size < CALL_NO_LIMIT ? e->size : (u64)e->ret;
		s->moved_bytes += (u64)e->ret;
		s->short_n += (u64)e->ret < e->size && e->size < CALL_NO_LIMIT;
	}
	if (!(e->flags & SYSCALL_NO_ENTER))
		hist_add(&s->lat, e->lat_ns);
}

static bool is_sync(u16 call)
{
	return call == CALL_FSYNC || call == CALL_FDATASYNC || call == CALL_SYNC_FILE_RANGE || call == CALL_MSYNC;
}

static void add_to_file(struct call_file *f, const struct ev_syscall *e)
{
	u64 moved = e->ret > 0 ? (u64)e->ret : 0;

	f->total_ns += e->lat_ns;
	if (call_reads(e->call)) {
		f->reads++;
		f->read_bytes += moved;
	} else if (call_writes(e->call)) {
		f->writes++;
		f->write_bytes += moved;
	} else if (is_sync(e->call)) {
		f->syncs++;
	} else {
		f->other++;
	}
}

static int file_of(struct call_sums *s, struct map64 *at, u32 *cap, const struct call_row *c, u32 *index)
{
	u64 key = hash_u64(c->ev.ino ^ hash_u64((u64)c->ev.dev << 32 | c->path));
	bool is_new;
	u32 *i = map64_put(at, key, &is_new);
	int ret;

	if (!i)
		return -ENOMEM;
	if (is_new) {
		ret = grow(&s->file, cap, s->n_files, sizeof(*s->file));
		if (ret)
			return ret;
		*i = s->n_files++;
		s->file[*i] = (struct call_file){ .path = c->path, .dev = c->ev.dev, .ino = c->ev.ino };
	}
	*index = *i;
	return 0;
}

static u64 fd_key(const struct model *m, const struct call_row *c, s64 fd)
{
	return (u64)(c->task != NONE ? m->task[c->task].pid : 0) << 32 | (u32)fd;
}

/* What a copy writes to is known by its descriptor alone: it is the file that the process had there last. */
static void add_to_target(struct call_sums *s, const struct model *m, const struct map64 *files,
			  const struct call_row *c)
{
	const u32 *at = map64_get(files, fd_key(m, c, c->ev.fd2));

	if (!at || *at == NONE)
		return;
	s->file[*at].writes++;
	s->file[*at].write_bytes += c->ev.ret > 0 ? (u64)c->ev.ret : 0;
}

/* The call was on file number f. */
static int keep_descriptor(struct map64 *files, const struct model *m, const struct call_row *c, u32 f)
{
	bool is_new;
	u32 *at;

	if (call_returns_fd(c->ev.call) ? c->ev.ret < 0 : c->ev.fd < 0)
		return 0;
	at = map64_put(files, fd_key(m, c, call_returns_fd(c->ev.call) ? c->ev.ret : c->ev.fd), &is_new);
	if (!at)
		return -ENOMEM;
	*at = c->ev.call == CALL_CLOSE ? NONE : f;
	return 0;
}

static bool has_copies(const struct model *m)
{
	u32 i;

	for (i = 0; i < m->call.n; i++)
		if (call_has_target(m->call.row[i].ev.call))
			return true;
	return false;
}

struct by_bytes {
	const struct model *m;
	const struct call_file *file;
};

static bool file_before(const void *arg, u32 x, u32 y)
{
	const struct by_bytes *b = arg;
	const struct call_file *p = &b->file[x], *q = &b->file[y];
	int c = compare_u64(q->read_bytes + q->write_bytes, p->read_bytes + p->write_bytes);

	c = c ? c : strcmp(strpool_get(&b->m->strings, p->path), strpool_get(&b->m->strings, q->path));
	c = c ? c : compare_u64(p->dev, q->dev);
	return (c ? c : compare_u64(p->ino, q->ino)) < 0;
}

static int sort_files(struct call_sums *s, const struct model *m)
{
	struct by_bytes b = { m, s->file };
	struct call_file *to;
	u32 *order = NULL, i;
	int ret = sort_rows(s->n_files, file_before, &b, &order);

	if (ret || !order)
		return ret;
	to = malloc(s->n_files * sizeof(*to));
	for (i = 0; to && i < s->n_files; i++)
		to[i] = s->file[order[i]];
	free(order);
	if (!to)
		return -ENOMEM;
	free(s->file);
	s->file = to;
	return 0;
}

int calls_measure(struct call_sums *s, const struct model *m)
{
	struct map64 at = {}, files = {};
	bool copies = has_copies(m);
	u32 cap = 0, i, f;
	int ret = 0;

	*s = (struct call_sums){};
	for (i = 0; i < m->call.n && !ret; i++) {
		const struct call_row *c = &m->call.row[i];

		if (!i)
			s->first_ns = c->ev.ts_ns;
		s->last_ns = MAX(s->last_ns, c->ev.ts_ns + c->ev.lat_ns);
		add_to_sum(&s->all, &c->ev);
		add_to_sum(&s->call[c->ev.call < N_CALLS ? c->ev.call : CALL_NONE], &c->ev);
		if (call_has_target(c->ev.call))
			add_to_target(s, m, &files, c);
		if (!(c->ev.flags & SYSCALL_FILE) || c->ev.dev == EV_DEV_NO_FILE)
			continue;
		ret = file_of(s, &at, &cap, c, &f);
		if (!ret)
			add_to_file(&s->file[f], &c->ev);
		if (!ret && copies)
			ret = keep_descriptor(&files, m, c, f);
	}
	for (i = 0; i < N_CALLS; i++)
		s->call[i].call = (u16)i;
	map64_free(&at);
	map64_free(&files);
	return ret ? ret : sort_files(s, m);
}

void calls_free(struct call_sums *s)
{
	free(s->file);
	*s = (struct call_sums){};
}
