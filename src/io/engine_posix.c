// SPDX-License-Identifier: Apache-2.0
/* pread and pwrite: what is pushed is done, in order, when it is submitted. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/engine_work.h"
#include "lib/clock.h"

/* Results that were not taken yet: a ring of `depth`. */
struct posix {
	struct result {
		u64 user_data, end_ns;
		s32 res;
	} * result;
	u32 head, n;
};

static int posix_open(struct io_queue *q, const struct io_options *o)
{
	struct posix *p = calloc(1, sizeof(*p));

	q->priv = p;
	if (p)
		p->result = calloc(o->depth, sizeof(*p->result));
	return p && p->result ? 0 : -ENOMEM;
}

static void posix_close(struct io_queue *q)
{
	struct posix *p = q->priv;

	free(p->result);
	free(p);
}

static int posix_prepare(struct io_queue *q, struct io_slot *s)
{
	(void)q, (void)s;
	return 0;
}

static s32 transfer(const struct io_queue *q, const struct io_slot *s)
{
	u8 *buf = (u8 *)s->cmd.buf + s->moved;
	u64 n = s->cmd.bytes - s->moved;
	off_t at = (off_t)(s->cmd.offset + s->moved);
	ssize_t ret = s->cmd.write ? pwrite(q->target.fd, buf, n, at) : pread(q->target.fd, buf, n, at);

	return ret < 0 ? -errno : (s32)ret;
}

/* Each for itself: its start is when its turn comes. */
static int posix_submit(struct io_queue *q, bool wait, u64 timeout_ns, int *waited)
{
	struct posix *p = q->priv;
	u32 i;

	(void)wait, (void)timeout_ns;
	*waited = 0;
	for (i = 0; i < q->n_waiting; i++) {
		struct io_slot *s = &q->slot[q->waiting[(q->waiting_head + i) % q->depth]];
		struct result *r = &p->result[(p->head + p->n++) % q->depth];

		if (!s->moved)
			s->start_ns = clock_ns(CLOCK_MONOTONIC);
		r->user_data = s->cmd.user_data;
		r->res = transfer(q, s);
		r->end_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return (int)i;
}

static bool posix_next(struct io_queue *q, u64 *user_data, s32 *res, u64 *end_ns)
{
	struct posix *p = q->priv;
	const struct result *r = &p->result[p->head];

	if (!p->n)
		return false;
	*user_data = r->user_data;
	*res = r->res;
	*end_ns = r->end_ns;
	p->head = (p->head + 1) % q->depth;
	p->n--;
	return true;
}

const struct io_engine io_engine_posix = { posix_open, posix_close, posix_prepare, posix_submit, posix_next };
