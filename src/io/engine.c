// SPDX-License-Identifier: Apache-2.0
/* The account of what is in flight. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "io/engine_work.h"
#include "lib/clock.h"
#include "lib/hash.h"

static const char *const kind_names[N_IO_KINDS] = { "posix", "io_uring", "uring_cmd" };

const char *io_kind_name(enum io_kind kind)
{
	return kind_names[kind];
}

int io_kind_parse(enum io_kind *kind, const char *name)
{
	u32 i;

	for (i = 0; i < N_IO_KINDS; i++)
		if (!strcmp(name, kind_names[i])) {
			*kind = (enum io_kind)i;
			return 0;
		}
	return -EINVAL;
}

int io_queue_open(struct io_queue **out, const struct io_target *t, const struct io_options *o)
{
	struct io_queue *q;
	u32 i, buckets = 4;
	int ret;

	*out = NULL;
	if (!o->depth || o->depth > IO_MAX_DEPTH || !t->lba_bytes)
		return -EINVAL;
	while (buckets < 2 * o->depth)
		buckets *= 2;
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->engine = o->kind == IO_POSIX ? &io_engine_posix : &io_engine_uring;
	q->target = *t;
	q->kind = o->kind;
	q->depth = o->depth;
	q->slot = calloc(o->depth, sizeof(*q->slot));
	q->waiting = calloc(o->depth, sizeof(*q->waiting));
	q->bucket = malloc(buckets * sizeof(*q->bucket));
	q->bucket_mask = buckets - 1;
	ret = q->slot && q->waiting && q->bucket ? 0 : -ENOMEM;
	if (!ret) {
		for (i = 0; i < o->depth; i++)
			q->slot[i].next = i + 1 < o->depth ? i + 1 : NO_SLOT;
		memset(q->bucket, 0xff, buckets * sizeof(*q->bucket));
		ret = q->engine->open(q, o);
	}
	if (ret) {
		io_queue_close(q);
		return ret;
	}
	*out = q;
	return 0;
}

void io_queue_close(struct io_queue *q)
{
	if (!q)
		return;
	if (q->priv)
		q->engine->close(q);
	free(q->slot);
	free(q->waiting);
	free(q->bucket);
	free(q);
}

static u32 *bucket_of(struct io_queue *q, u64 user_data)
{
	return &q->bucket[hash_u64(user_data) & q->bucket_mask];
}

/* Where the chain points to the slot of user_data, or to its end. */
static u32 *find(struct io_queue *q, u64 user_data)
{
	u32 *at = bucket_of(q, user_data);

	while (*at != NO_SLOT && q->slot[*at].cmd.user_data != user_data)
		at = &q->slot[*at].next;
	return at;
}

static int wait_in_line(struct io_queue *q, u32 slot)
{
	int ret = q->engine->prepare(q, &q->slot[slot]);

	if (ret)
		return ret;
	q->slot[slot].start_ns = 0;
	q->waiting[(q->waiting_head + q->n_waiting++) % q->depth] = slot;
	return 0;
}

int io_push(struct io_queue *q, const struct io_command *c)
{
	u32 slot = q->free, *at, lba = q->target.lba_bytes;
	int ret;

	if (slot == NO_SLOT)
		return -EBUSY;
	if (!c->bytes || c->bytes % lba || c->offset % lba || c->bytes / lba > 65536)
		return -EINVAL;
	if (c->offset > q->target.capacity || c->bytes > q->target.capacity - c->offset)
		return -ENXIO;
	at = find(q, c->user_data);
	if (*at != NO_SLOT)
		return -EEXIST;
	q->slot[slot].cmd = *c;
	q->slot[slot].moved = 0;
	ret = wait_in_line(q, slot);
	if (ret)
		return ret;
	q->free = q->slot[slot].next;
	q->slot[slot].next = NO_SLOT;
	*at = slot;
	q->state.in_flight++;
	return 0;
}

/* Stamps those that are about to go: the call may block, and the device begins within it. */
static int hand_over(struct io_queue *q, bool wait, u64 timeout_ns, int *waited)
{
	u64 now = q->n_waiting ? clock_ns(CLOCK_MONOTONIC) : 0;
	u32 i;
	int n;

	for (i = 0; i < q->n_waiting; i++) {
		struct io_slot *s = &q->slot[q->waiting[(q->waiting_head + i) % q->depth]];

		/* One that the kernel did not take before still waits since then. */
		if (!s->start_ns)
			s->start_ns = now;
	}
	n = q->engine->submit(q, wait, timeout_ns, waited);
	if (n < 0)
		return n;
	q->waiting_head = (q->waiting_head + (u32)n) % q->depth;
	q->n_waiting -= (u32)n;
	return 0;
}

int io_submit(struct io_queue *q)
{
	int waited;

	return q->n_waiting ? hand_over(q, false, 0, &waited) : 0;
}

/* What is not over yet is handed in again: true when it was. */
static bool goes_on(struct io_queue *q, u32 slot, s32 *res)
{
	struct io_slot *s = &q->slot[slot];
	u64 start_ns = s->start_ns;

	if (*res == -EAGAIN || *res == -EINTR) {
		/* A busy device, or a signal: nothing moved. */
	} else if (q->kind == IO_URING_CMD || *res < 0) {
		return false;
	} else if (!*res) {
		*res = -EIO; /* the end of the file, within what was its size */
		return false;
	} else {
		s->moved += (u32)*res;
		if (s->moved >= s->cmd.bytes) {
			*res = 0;
			return false;
		}
	}
	if (wait_in_line(q, slot))
		return false;
	s->start_ns = start_ns;
	q->state.resubmitted++;
	return true;
}

/* 1 and *d, 0 when the command goes on, -EPROTO. */
static int finish(struct io_queue *q, u64 user_data, s32 res, u64 end_ns, struct io_done *d)
{
	u32 *at = find(q, user_data), slot = *at;

	if (slot == NO_SLOT)
		return -EPROTO;
	if (goes_on(q, slot, &res))
		return 0;
	*at = q->slot[slot].next;
	*d = (struct io_done){ q->slot[slot].cmd, res, end_ns - q->slot[slot].start_ns };
	q->slot[slot].next = q->free;
	q->slot[slot].start_ns = 0;
	q->free = slot;
	q->state.in_flight--;
	return 1;
}

int io_reap(struct io_queue *q, struct io_done *done, u32 max, u64 timeout_ns)
{
	int ret, waited = 0;
	u64 user_data, end_ns;
	bool any = false;
	u32 n = 0;
	s32 res;

	if (!q->state.in_flight || !max)
		return 0;
	ret = hand_over(q, true, timeout_ns, &waited);
	if (ret)
		return ret;
	end_ns = clock_ns(CLOCK_MONOTONIC);
	while (n < max && q->engine->next(q, &user_data, &res, &end_ns)) {
		ret = finish(q, user_data, res, end_ns, &done[n]);
		if (ret < 0)
			return ret;
		n += (u32)ret;
		any = true;
	}
	/* When all of them go on it is as if the wait had been interrupted. */
	return n ? (int)n : any ? -EINTR : waited ? waited : -ETIME;
}

struct io_state io_queue_state(const struct io_queue *q)
{
	struct io_state s = q->state;
	u32 b, i;

	for (b = 0; b <= q->bucket_mask; b++)
		for (i = q->bucket[b]; i != NO_SLOT; i = q->slot[i].next)
			if (q->slot[i].start_ns && (!s.oldest_ns || q->slot[i].start_ns < s.oldest_ns))
				s.oldest_ns = q->slot[i].start_ns;
	return s;
}

u32 io_queue_in_flight(const struct io_queue *q)
{
	return q->state.in_flight;
}

bool io_queue_full(const struct io_queue *q)
{
	return q->free == NO_SLOT;
}

void io_queue_each(const struct io_queue *q, void (*fn)(void *arg, const struct io_command *c, u64 start_ns), void *arg)
{
	u32 b, i;

	for (b = 0; b <= q->bucket_mask; b++)
		for (i = q->bucket[b]; i != NO_SLOT; i = q->slot[i].next)
			fn(arg, &q->slot[i].cmd, q->slot[i].start_ns);
}

/* Whole huge pages in any case, so that the size to free does not depend on what was got. */
static size_t whole(size_t bytes)
{
	return (bytes + IO_HUGE_BYTES - 1) / IO_HUGE_BYTES * IO_HUGE_BYTES;
}

void *io_buffer_alloc(size_t bytes, bool *huge)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	void *p = MAP_FAILED;

	if (!bytes || bytes > SIZE_MAX - IO_HUGE_BYTES)
		return NULL;
	if (*huge)
		p = mmap(NULL, whole(bytes), PROT_READ | PROT_WRITE, flags | MAP_HUGETLB | 21 << MAP_HUGE_SHIFT, -1, 0);
	*huge = p != MAP_FAILED;
	if (p == MAP_FAILED)
		p = mmap(NULL, whole(bytes), PROT_READ | PROT_WRITE, flags, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void io_buffer_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, whole(bytes));
}
