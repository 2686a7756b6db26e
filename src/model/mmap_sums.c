// SPDX-License-Identifier: Apache-2.0
#include "model/mmap_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/calls.h"
#include "model/tables.h"

static u64 file_key(u32 dev, u64 ino, u32 more)
{
	return hash_u64(ino ^ hash_u64((u64)dev << 32 | more));
}

static int count_fault(struct mmap_sums *s, const struct ev_fault *e)
{
	const struct known_task *task = names_task_at(s->names, e->tid, e->ts_ns);
	u32 pid = task ? task->ev.pid : e->tid, *at;
	struct fault_count *f;
	bool is_new;

	if (grow(&s->fault, &s->cap_faults, s->n_faults, sizeof(*s->fault)))
		return -ENOMEM;
	at = map64_put(&s->fault_at, file_key(e->dev, e->ino, pid), &is_new);
	if (!at)
		return -ENOMEM;
	if (is_new) {
		*at = s->n_faults++;
		s->fault[*at] = (struct fault_count){ .pid = pid, .dev = e->dev, .ino = e->ino };
	}
	f = &s->fault[*at];
	f->faults++;
	f->retries += e->retries;
	if (e->flags & (FAULT_FAILED | FAULT_UNFINISHED))
		f->failed++;
	else if (e->flags & FAULT_MAJOR)
		f->major++;
	else
		f->minor++;
	return 0;
}

static int count_call(struct mmap_sums *s, const struct ev_syscall *e)
{
	enum call_class class = call_class(e->call);
	bool write = class == CALL_IS_WRITE, is_new;
	struct intent *x;
	u32 *at;

	if (!(e->flags & SYSCALL_FILE) || (class != CALL_IS_READ && !write))
		return 0;
	if (grow(&s->intent, &s->cap_intents, s->n_intents, sizeof(*s->intent)))
		return -ENOMEM;
	at = map64_put(&s->intent_at, file_key(e->dev, e->ino, write), &is_new);
	if (!at)
		return -ENOMEM;
	if (is_new) {
		*at = s->n_intents++;
		s->intent[*at] =
			(struct intent){ .dev = e->dev, .ino = e->ino, .write = write, .min_bytes = UINT64_MAX };
	}
	x = &s->intent[*at];
	x->calls++;
	x->bytes += e->size;
	x->moved_bytes += e->ret > 0 ? (u64)e->ret : 0;
	x->min_bytes = MIN(x->min_bytes, e->size);
	x->max_bytes = MAX(x->max_bytes, e->size);
	x->partial += !!(e->flags & SYSCALL_PARTIAL);
	return 0;
}

static int put_cache(struct mmap_sums *s, const struct ev_cache *e)
{
	bool is_new;
	u32 *at = map64_put(&s->cache_at, file_key(e->dev, e->ino, 0), &is_new);

	if (!at)
		return -ENOMEM;
	if (!is_new) {
		s->m.cache.row[*at].ev = *e;
		return 0;
	}
	*at = s->m.cache.n;
	return add_cache(&s->m, e, 0);
}

static int put_block(struct mmap_sums *s, const struct ev_block *e)
{
	bool is_new;
	u32 *at = map64_put(&s->block_at, (u64)e->dev << 1 | !!e->write, &is_new);

	if (!at)
		return -ENOMEM;
	if (!is_new) {
		s->m.block.row[*at].ev = *e;
		return 0;
	}
	*at = s->m.block.n;
	return add_block(&s->m, e);
}

int mmap_sums_add(struct mmap_sums *s, const void *record, struct names *names)
{
	s->names = names;
	switch (*(const u8 *)record) {
	case EV_FAULT:
		return count_fault(s, record);
	case EV_SYSCALL:
		return count_call(s, record);
	case EV_CACHE:
		return put_cache(s, record);
	case EV_BLOCK:
		return put_block(s, record);
	default:
		return 0;
	}
}

static int by_faults(const void *a, const void *b)
{
	const struct fault_count *x = a, *y = b;
	int c = compare_u64(y->faults, x->faults);

	c = c ? c : compare_u64(x->pid, y->pid);
	c = c ? c : compare_u64(x->dev, y->dev);
	return c ? c : compare_u64(x->ino, y->ino);
}

static int by_bytes(const void *a, const void *b)
{
	const struct intent *x = a, *y = b;
	int c = compare_u64(y->bytes, x->bytes);

	c = c ? c : compare_u64(x->dev, y->dev);
	c = c ? c : compare_u64(x->ino, y->ino);
	return c ? c : compare_u64(x->write, y->write);
}

const struct buf *mmap_sums_path(const struct mmap_sums *s, u32 dev, u64 ino)
{
	const struct known_file *f = s->names ? names_file_at(s->names, dev, ino, UINT64_MAX) : NULL;

	return f ? &f->path : NULL;
}

int mmap_sums_close(struct mmap_sums *s, struct fault_sums *f)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < s->m.cache.n && !ret; i++) {
		struct cache_row *r = &s->m.cache.row[i];
		const struct buf *path = mmap_sums_path(s, r->ev.dev, r->ev.ino);

		if (path)
			ret = intern(&s->m, (struct slice){ path->p, path->n }, &r->path);
	}
	if (!ret)
		ret = sort_faults(&s->m);
	if (s->n_faults)
		qsort(s->fault, s->n_faults, sizeof(*s->fault), by_faults);
	if (s->n_intents)
		qsort(s->intent, s->n_intents, sizeof(*s->intent), by_bytes);
	return ret ? ret : faults_measure(f, &s->m);
}

void mmap_sums_free(struct mmap_sums *s)
{
	model_free(&s->m);
	map64_free(&s->cache_at);
	map64_free(&s->block_at);
	map64_free(&s->fault_at);
	map64_free(&s->intent_at);
	free(s->fault);
	free(s->intent);
}
