// SPDX-License-Identifier: Apache-2.0
#include "capture/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The element of key in an array that grows by doubling; made zero when new. */
static void *element(struct map64 *at, u64 key, void **array, u32 *n, size_t size)
{
	bool is_new;
	u32 *i = map64_put(at, key, &is_new);

	if (!i)
		return NULL;
	if (is_new) {
		if (!(*n & (*n - 1))) {
			void *p = realloc(*array, (*n ? *n * 2 : 1) * size);

			if (!p)
				return NULL;
			*array = p;
		}
		*i = (*n)++;
		memset((char *)*array + *i * size, 0, size);
	}
	return (char *)*array + *i * size;
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

int names_learn(struct names *n, const void *record)
{
	if (*(const u8 *)record == EV_TASK) {
		const struct ev_task *e = record;
		struct known_task *t = element(&n->task_at, e->tid, (void **)&n->task, &n->n_tasks, sizeof(*t));

		if (!t)
			return -ENOMEM;
		t->ev = *e;
		set_name(&t->comm, e->comm, sizeof(e->comm));
	} else if (*(const u8 *)record == EV_DISK) {
		const struct ev_disk *e = record;
		struct known_disk *d = element(&n->disk_at, e->dev, (void **)&n->disk, &n->n_disks, sizeof(*d));

		if (!d)
			return -ENOMEM;
		d->ev = *e;
		set_name(&d->name, e->name, sizeof(e->name));
		if (n->complete_disk)
			n->complete_disk(n->arg, d);
	}
	return 0;
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
	map64_free(&n->task_at);
	map64_free(&n->disk_at);
	free(n->task);
	free(n->disk);
	*n = (struct names){};
}
