// SPDX-License-Identifier: Apache-2.0
/*
 * Devices and tasks.  Captures name a device by its kernel number, by its
 * name, or by the number of its char device, depending on the tracer; all
 * names of one device lead to one row.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/tables.h"

enum { BY_DEV = 1, BY_NAME, BY_RDEV, BY_NSID };

static u64 device_key(u32 by, u32 value)
{
	return (u64)by << 32 | value;
}

/* True when the row may be the device that is looked for. */
static bool may_be(const struct device *d, const struct device_id *id, u32 name)
{
	return !(d->dev && id->dev && d->dev != id->dev) && !(d->name && name && d->name != name);
}

/* The row that one of the names of the device leads to, or NONE. */
static u32 lookup(const struct model *m, const struct device_id *id, u32 name)
{
	const u64 keys[] = {
		id->dev ? device_key(BY_DEV, id->dev) : 0,
		name ? device_key(BY_NAME, name) : 0,
		id->rdev ? device_key(BY_RDEV, id->rdev) : 0,
		!id->dev && !name && !id->rdev ? device_key(BY_NSID, id->nsid) : 0,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		const u32 *at = keys[i] ? map64_get(&m->loading->device_at, keys[i]) : NULL;

		if (at && may_be(&m->device[*at], id, name))
			return *at;
	}
	return NONE;
}

static int learn_key(struct model *m, u32 by, u32 value, u32 index)
{
	bool is_new;
	u32 *at = map64_put(&m->loading->device_at, device_key(by, value), &is_new);

	if (!at)
		return -ENOMEM;
	if (is_new)
		*at = index;
	return 0;
}

/* Adds to the row what was not known of it yet. */
static int learn(struct model *m, u32 index, const struct device_id *id, u32 name)
{
	struct device *d = &m->device[index];
	int ret = 0;

	if (!d->nsid)
		d->nsid = id->nsid;
	if (id->dev && !d->dev) {
		d->dev = id->dev;
		ret = learn_key(m, BY_DEV, id->dev, index);
	}
	if (!ret && name && !d->name) {
		d->name = name;
		ret = learn_key(m, BY_NAME, name, index);
	}
	if (!ret && id->rdev && !d->rdev) {
		d->rdev = id->rdev;
		ret = learn_key(m, BY_RDEV, id->rdev, index);
	}
	return ret;
}

/* True when the previous line was of this device, as nearly always. */
static bool same_as_last(const struct model *m, const struct device_id *id)
{
	const struct device *d;

	if (m->loading->last_device == NONE)
		return false;
	d = &m->device[m->loading->last_device];
	if (d->dev != id->dev || (id->nsid && d->nsid != id->nsid))
		return false;
	/* With the kernel number, what is not said does not differ. */
	if (d->rdev != id->rdev && (id->rdev || !id->dev))
		return false;
	if (!id->name.n)
		return id->dev || !d->name;
	return strpool_len(&m->strings, d->name) == id->name.n &&
	       !memcmp(strpool_get(&m->strings, d->name), id->name.p, id->name.n);
}

int find_device(struct model *m, const struct device_id *id, u32 *index)
{
	struct loading *l = m->loading;
	u32 name;
	int ret;

	if (same_as_last(m, id)) {
		*index = l->last_device;
		return 0;
	}
	ret = intern_word(m, id->name, &name);
	if (ret)
		return ret;
	*index = lookup(m, id, name);
	if (*index == NONE) {
		ret = grow(&m->device, &l->cap_devices, m->n_devices, sizeof(*m->device));
		if (ret)
			return ret;
		*index = m->n_devices++;
		m->device[*index] = (struct device){ .nsid = id->nsid, .csi = 0xff };
		if (!id->dev && !name && !id->rdev)
			ret = learn_key(m, BY_NSID, id->nsid, *index);
	}
	if (!ret)
		ret = learn(m, *index, id, name);
	l->last_device = *index;
	return ret;
}

/* ---- tasks ---- */

int add_task(struct model *m, u32 tid, u32 pid, struct slice comm, u64 since_ns)
{
	struct task t = { .tid = tid, .pid = pid, .since_ns = since_ns };
	int ret = intern_word(m, comm, &t.comm);

	if (!ret)
		ret = grow(&m->task, &m->loading->cap_tasks, m->n_tasks, sizeof(*m->task));
	if (!ret)
		m->task[m->n_tasks++] = t;
	return ret;
}

static bool is_task(const struct model *m, u32 index, u32 tid, u32 pid, struct slice comm)
{
	const struct task *t = &m->task[index];

	return t->tid == tid && t->pid == pid && strpool_len(&m->strings, t->comm) == comm.n &&
	       (!comm.n || !memcmp(strpool_get(&m->strings, t->comm), comm.p, comm.n));
}

int find_task_row(struct model *m, u32 tid, u32 pid, struct slice comm, u64 ts_ns, u32 *index)
{
	struct loading *l = m->loading;
	u64 key = hash_u64((u64)pid << 32 | tid) ^ hash_bytes(comm.p, comm.n);
	bool is_new;
	u32 *at;
	int ret;

	if (l->last_task == NONE || !is_task(m, l->last_task, tid, pid, comm)) {
		/* Keys of another task push this one to the next key. */
		while ((at = map64_get(&l->task_at, key)) && !is_task(m, *at, tid, pid, comm))
			key++;
		if (!at) {
			ret = add_task(m, tid, pid, comm, ts_ns);
			at = ret ? NULL : map64_put(&l->task_at, key, &is_new);
			if (!at)
				return -ENOMEM;
			*at = m->n_tasks - 1;
		}
		l->last_task = *at;
	}
	*index = l->last_task;
	m->task[*index].since_ns = MIN(m->task[*index].since_ns, ts_ns);
	return 0;
}

/* ---- canonical order ---- */

static bool device_before(const void *arg, u32 x, u32 y)
{
	const struct model *m = arg;
	const struct device *a = &m->device[x], *b = &m->device[y];
	int c = strcmp(strpool_get(&m->strings, a->name), strpool_get(&m->strings, b->name));

	c = c ? c : compare_u64(a->dev, b->dev);
	c = c ? c : compare_u64(a->rdev, b->rdev);
	return (c ? c : compare_u64(a->nsid, b->nsid)) < 0;
}

static bool task_before(const void *arg, u32 x, u32 y)
{
	const struct model *m = arg;
	const struct task *a = &m->task[x], *b = &m->task[y];
	int c = compare_u64(a->tid, b->tid);

	c = c ? c : compare_u64(a->since_ns, b->since_ns);
	c = c ? c : compare_u64(a->pid, b->pid);
	return (c ? c : strcmp(strpool_get(&m->strings, a->comm), strpool_get(&m->strings, b->comm))) < 0;
}

/* Moves the rows of an array into `order`, and gives each old row its new one in *to. */
static int reorder(void *array, u32 n, size_t size, const u32 *order, u32 **to)
{
	char *copy = malloc(n * size);
	u32 i;

	*to = malloc(n * sizeof(**to));
	if (!copy || !*to) {
		free(copy);
		free(*to);
		*to = NULL;
		return -ENOMEM;
	}
	memcpy(copy, array, n * size);
	for (i = 0; i < n; i++) {
		memcpy((char *)array + i * size, copy + order[i] * size, size);
		(*to)[order[i]] = i;
	}
	free(copy);
	return 0;
}

static void renumber(u32 *column, u32 n, const u32 *to)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (column[i] != NONE)
			column[i] = to[column[i]];
}

int sort_devices(struct model *m)
{
	struct loading *l = m->loading;
	u32 *order = NULL, *to = NULL, i;
	int ret = sort_rows(m->n_devices, device_before, m, &order);

	if (!ret && order)
		ret = reorder(m->device, m->n_devices, sizeof(*m->device), order, &to);
	if (!ret && to) {
		renumber(m->cmd.dev, m->cmd.n, to);
		for (i = 0; i < l->n_cmps; i++)
			if (l->cmp[i].dev != NONE)
				l->cmp[i].dev = to[l->cmp[i].dev];
	}
	free(order);
	free(to);
	return ret;
}

/* Whose a thread id is, and from when to when: asked for rows in order of time, it mostly still is. */
struct tenure {
	u32 tid, task; /* NONE: nobody's */
	u64 from_ns, until_ns;
};

#define TENURES 64 /* by tid, a power of two */

/* The task that had the thread id at that time: the last one since before, else the first. */
static u32 task_at(const struct model *m, struct tenure *known, u32 tid, u64 ts_ns)
{
	struct tenure *x = &known[tid % TENURES];
	u32 lo = 0, hi = m->n_tasks;
	bool later, earlier;

	if (x->tid == tid && ts_ns >= x->from_ns && ts_ns < x->until_ns)
		return x->task;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		const struct task *t = &m->task[mid];

		if (t->tid < tid || (t->tid == tid && t->since_ns <= ts_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	earlier = lo && m->task[lo - 1].tid == tid;
	later = lo < m->n_tasks && m->task[lo].tid == tid;
	*x = (struct tenure){ .tid = tid,
			      .task = earlier ? lo - 1
				      : later ? lo
					      : NONE,
			      .from_ns = earlier ? m->task[lo - 1].since_ns : 0,
			      .until_ns = later ? m->task[lo].since_ns : UINT64_MAX };
	return x->task;
}

/* The new number of a task that a row has, or the task that its thread was. */
static void settle_task(const struct model *m, struct tenure *known, u32 *task, u32 tid, u64 ts_ns, const u32 *to)
{
	if (*task == NONE)
		*task = task_at(m, known, tid, ts_ns);
	else if (to)
		*task = to[*task];
}

int sort_tasks(struct model *m)
{
	struct tenure known[TENURES] = {};
	u32 *order = NULL, *to = NULL, i;
	int ret = sort_rows(m->n_tasks, task_before, m, &order);

	if (!ret && order)
		ret = reorder(m->task, m->n_tasks, sizeof(*m->task), order, &to);
	if (!ret && to)
		renumber(m->cmd.task, m->cmd.n, to);
	/* Binary captures name threads apart from their commands. */
	for (i = 0; !ret && m->loading->tasks_missing && i < m->cmd.n; i++)
		if (m->cmd.task[i] == NONE && m->cmd.tid[i])
			m->cmd.task[i] = task_at(m, known, m->cmd.tid[i], m->cmd.ts_ns[i]);
	for (i = 0; !ret && i < m->call.n; i++)
		settle_task(m, known, &m->call.row[i].task, m->call.row[i].ev.tid, m->call.row[i].ev.ts_ns, to);
	for (i = 0; !ret && i < m->uring.n; i++)
		settle_task(m, known, &m->uring.row[i].task, m->uring.row[i].ev.tid, m->uring.row[i].ev.ts_ns, to);
	for (i = 0; !ret && i < m->fault.n; i++)
		settle_task(m, known, &m->fault.row[i].task, m->fault.row[i].ev.tid, m->fault.row[i].ev.ts_ns, to);
	free(order);
	free(to);
	return ret;
}
