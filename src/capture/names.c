// SPDX-License-Identifier: Apache-2.0
#include "capture/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is beyond is no capture, but anything can be an input: it is not learnt. */
#define MAX_NAMES  (1u << 20)
#define MAX_LENGTH 256u /* names of one thread that are looked at */

/* One more element, made zero, of an array that grows by doubling. */
static void *append(void **array, u32 *n, size_t size)
{
	void *at;

	if (!(*n & (*n - 1))) {
		void *p = realloc(*array, (*n ? *n * 2 : 1) * size);

		if (!p)
			return NULL;
		*array = p;
	}
	at = (char *)*array + (*n)++ * size;
	memset(at, 0, size);
	return at;
}

static void set_name(struct json_name *out, const char *name, size_t max)
{
	struct buf b = {};

	buf_json(&b, name, strnlen(name, max));
	out->n = b.failed ? 0 : (u8)b.n;
	if (out->n)
		memcpy(out->text, b.p, out->n);
	buf_free(&b);
}
_Static_assert(sizeof(((struct json_name *)0)->text) < 256, "a length fits u8");

static struct known_task *append_task(struct names *n, const struct ev_task *e, u32 older)
{
	struct known_task *t = append((void **)&n->task, &n->n_tasks, sizeof(*t));

	if (!t)
		return NULL;
	t->ev = *e;
	t->older = older;
	set_name(&t->comm, e->comm, sizeof(e->comm));
	return t;
}

static bool same_name(const struct ev_task *a, const struct ev_task *b)
{
	return a->pid == b->pid && !memcmp(a->comm, b->comm, sizeof(a->comm));
}

/* The names of a thread are a list, the latest in front. */
static int learn_task(struct names *n, const struct ev_task *e)
{
	bool is_new;
	u32 *newest, at, steps = 0;

	if (n->n_tasks == MAX_NAMES)
		return 0;
	newest = map64_put(&n->task_at, e->tid, &is_new);
	if (!newest)
		return -ENOMEM;
	if (is_new || e->ts_ns > n->task[*newest].ev.ts_ns) {
		if (!is_new && same_name(e, &n->task[*newest].ev))
			return 0;
		if (!append_task(n, e, is_new ? 0 : *newest + 1))
			return -ENOMEM;
		n->last_task = *newest = n->n_tasks - 1;
		return 0;
	}
	at = *newest;
	while (n->task[at].older && n->task[n->task[at].older - 1].ev.ts_ns >= e->ts_ns) {
		if (++steps == MAX_LENGTH)
			return 0;
		at = n->task[at].older - 1;
	}
	if (n->task[at].ev.ts_ns == e->ts_ns) {
		n->task[at].ev = *e;
		set_name(&n->task[at].comm, e->comm, sizeof(e->comm));
		return 0;
	}
	if (n->task[at].older && same_name(e, &n->task[n->task[at].older - 1].ev))
		return 0;
	if (!append_task(n, e, n->task[at].older))
		return -ENOMEM;
	n->task[at].older = n->n_tasks;
	return 0;
}

struct known_disk *names_disk_make(struct names *n, u32 dev)
{
	bool is_new;
	u32 *at = map64_put(&n->disk_at, dev, &is_new);
	struct known_disk *d;

	if (!at)
		return NULL;
	if (!is_new)
		return &n->disk[*at];
	d = append((void **)&n->disk, &n->n_disks, sizeof(*d));
	if (!d)
		return NULL;
	d->ev.dev = dev;
	d->ev.csi = 0xff;
	*at = n->n_disks - 1;
	return d;
}

static int learn_disk(struct names *n, const struct ev_disk *e)
{
	struct known_disk *d;

	if (n->n_disks == MAX_NAMES)
		return 0;
	d = names_disk_make(n, e->dev);
	if (!d)
		return -ENOMEM;
	d->ev = *e;
	set_name(&d->name, e->name, sizeof(e->name));
	if (n->complete_disk)
		n->complete_disk(n->arg, d);
	return 0;
}

/* Two numbers in one: where two files meet, the later one is not named. */
static u64 file_key(u32 dev, u64 ino)
{
	return hash_u64(ino ^ (u64)dev << 40 ^ dev);
}

static struct known_file *append_file(struct names *n, const struct ev_path *e, u32 older)
{
	struct known_file *f = append((void **)&n->file, &n->n_files, sizeof(*f));

	if (!f)
		return NULL;
	f->dev = e->dev;
	f->ino = e->ino;
	f->ts_ns = e->ts_ns;
	f->older = older;
	return f;
}

/*
 * The path that a piece belongs to: those of a file are a list, the latest in
 * front.  *f NULL: none, or it is not learnt.  0 or -ENOMEM.
 */
static int find_path(struct names *n, const struct ev_path *e, struct known_file **f)
{
	u32 *newest, at, steps = 0;
	bool is_new;

	*f = NULL;
	newest = map64_put(&n->file_at, file_key(e->dev, e->ino), &is_new);
	if (!newest)
		return -ENOMEM;
	if (!is_new && (n->file[*newest].dev != e->dev || n->file[*newest].ino != e->ino))
		return 0;
	if (is_new || (!e->piece && e->ts_ns > n->file[*newest].ts_ns)) {
		*f = append_file(n, e, is_new ? 0 : *newest + 1);
		n->last_file = *newest = n->n_files - 1;
		return *f ? 0 : -ENOMEM;
	}
	at = *newest;
	while (n->file[at].ts_ns > e->ts_ns && n->file[at].older && n->file[n->file[at].older - 1].ts_ns >= e->ts_ns) {
		if (++steps == MAX_LENGTH)
			return 0;
		at = n->file[at].older - 1;
	}
	if (n->file[at].ts_ns == e->ts_ns) {
		*f = &n->file[at];
	} else if (!e->piece) {
		*f = append_file(n, e, n->file[at].older);
		n->file[at].older = n->n_files;
		return *f ? 0 : -ENOMEM;
	}
	return 0;
}

static int learn_path(struct names *n, const struct ev_path *e)
{
	struct known_file *f;
	int ret;

	if (n->n_files == MAX_NAMES || e->n > sizeof(e->text))
		return 0;
	ret = find_path(n, e, &f);
	if (ret || !f)
		return ret;
	if (!e->piece) {
		buf_reset(&f->path);
		f->whole = true;
	}
	/* A piece of text is 40 bytes but for the last one. */
	if (f->path.n != e->piece * sizeof(e->text))
		f->whole = false;
	f->as_given = e->flags & PATH_AS_GIVEN;
	buf_add(&f->path, e->text, e->n);
	return f->path.failed ? -ENOMEM : 0;
}

const struct known_file *names_file_at(struct names *n, u32 dev, u64 ino, u64 ts_ns)
{
	const struct known_file *f = n->last_file < n->n_files ? &n->file[n->last_file] : NULL;
	const u32 *i;
	u32 steps;

	if (!f || f->ino != ino || f->dev != dev) {
		i = map64_get(&n->file_at, file_key(dev, ino));
		f = i ? &n->file[*i] : NULL;
		if (!f || f->ino != ino || f->dev != dev)
			return NULL;
		n->last_file = *i;
	}
	for (steps = 0; f->ts_ns > ts_ns && f->older && steps < MAX_LENGTH; steps++)
		f = &n->file[f->older - 1];
	return f->whole && f->path.n ? f : NULL;
}

int path_pieces(const struct ev_path *head, const char *path, size_t n,
		int (*fn)(void *arg, const struct ev_path *piece), void *arg)
{
	struct ev_path e = *head;
	int ret;

	for (e.piece = 0;; e.piece++) {
		e.n = (u8)MIN(n, sizeof(e.text));
		memset(e.text, 0, sizeof(e.text));
		memcpy(e.text, path, e.n);
		n -= e.n;
		path += e.n;
		e.flags = (u8)((head->flags & ~PATH_LAST) | (n ? 0 : PATH_LAST));
		ret = fn(arg, &e);
		if (ret || !n || e.piece == UINT8_MAX)
			return ret;
	}
}

int names_path_pieces(const struct known_file *f, int (*fn)(void *arg, const struct ev_path *piece), void *arg)
{
	struct ev_path head = { .kind = EV_PATH,
				.flags = f->as_given ? PATH_AS_GIVEN : 0,
				.dev = f->dev,
				.ts_ns = f->ts_ns,
				.ino = f->ino };

	return path_pieces(&head, f->path.p, f->path.n, fn, arg);
}

int names_learn(struct names *n, const void *record)
{
	switch (*(const u8 *)record) {
	case EV_TASK:
		return learn_task(n, record);
	case EV_DISK:
		return learn_disk(n, record);
	case EV_PATH:
		return learn_path(n, record);
	default:
		return 0;
	}
}

const struct known_task *names_task(struct names *n, u32 tid)
{
	struct ev_task e = { .kind = EV_TASK, .tid = tid };
	const u32 *i;

	if (n->last_task < n->n_tasks && n->task[n->last_task].ev.tid == tid)
		return &n->task[n->last_task];
	i = map64_get(&n->task_at, tid);
	if (!i && n->find_task && n->find_task(n->arg, tid, &e) && !names_learn(n, &e))
		i = map64_get(&n->task_at, tid);
	if (!i)
		return NULL;
	n->last_task = *i;
	return &n->task[*i];
}

const struct known_task *names_task_at(struct names *n, u32 tid, u64 ts_ns)
{
	const struct known_task *t = names_task(n, tid);
	u32 steps;

	for (steps = 0; t && t->ev.ts_ns > ts_ns && t->older && steps < MAX_LENGTH; steps++)
		t = &n->task[t->older - 1];
	return t;
}

const struct known_disk *names_disk(struct names *n, u32 dev)
{
	const u32 *i;

	if (n->last_disk < n->n_disks && n->disk[n->last_disk].ev.dev == dev)
		return &n->disk[n->last_disk];
	i = map64_get(&n->disk_at, dev);
	if (!i)
		return NULL;
	n->last_disk = *i;
	return &n->disk[*i];
}

void names_free(struct names *n)
{
	u32 i;

	for (i = 0; i < n->n_files; i++)
		buf_free(&n->file[i].path);
	free(n->file);
	map64_free(&n->file_at);
	map64_free(&n->task_at);
	map64_free(&n->disk_at);
	free(n->task);
	free(n->disk);
	*n = (struct names){};
}
