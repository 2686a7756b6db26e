/* SPDX-License-Identifier: Apache-2.0 */
/* What the engines share: engine.c keeps the account, the others talk to the kernel. */
#ifndef KVIO_ENGINE_WORK_H
#define KVIO_ENGINE_WORK_H

#include "io/engine.h"

#define NO_SLOT UINT32_MAX

struct io_slot {
	struct io_command cmd;
	u32 moved;    /* bytes done by earlier attempts */
	u32 next;     /* of the chain in `bucket`, or of the free ones */
	u64 start_ns; /* 0 = not with the kernel yet */
};

/* One way to the kernel. */
struct io_engine {
	int (*open)(struct io_queue *q, const struct io_options *o);
	void (*close)(struct io_queue *q);
	/* Writes the rest of the slot's command to the ring.  -EBUSY when that is full. */
	int (*prepare)(struct io_queue *q, struct io_slot *s);
	/*
	 * Hands over at most q->n_waiting prepared commands, in order, and returns
	 * how many; with `wait` also waits for a completion.  *done is set to what
	 * wait gave: 0, -ETIME, -EINTR.
	 */
	int (*submit)(struct io_queue *q, bool wait, u64 timeout_ns, int *waited);
	/* The next completion: true and its user_data and result. */
	bool (*next)(struct io_queue *q, u64 *user_data, s32 *res, u64 *end_ns);
};
extern const struct io_engine io_engine_posix, io_engine_uring;

struct io_queue {
	const struct io_engine *engine;
	struct io_target target;
	enum io_kind kind;
	u32 depth;
	struct io_state state;

	struct io_slot *slot;
	u32 free; /* first free slot */
	u32 *bucket, bucket_mask;
	/* Slots that are prepared and not yet handed over, in order: a ring of `depth`. */
	u32 *waiting, waiting_head, n_waiting;
	void *priv; /* of the engine */
};

#endif
