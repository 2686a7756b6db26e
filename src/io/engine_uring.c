// SPDX-License-Identifier: Apache-2.0
/* io_uring: plain reads and writes, and NVMe commands on a char node. */
#include <errno.h>
#include <liburing.h>
#include <linux/nvme_ioctl.h>
#include <stdlib.h>
#include <string.h>

#include "io/engine_work.h"

struct uring {
	struct io_uring ring;
	struct iovec *buffer; /* those registered, in the order of their addresses */
	u32 n_buffers;
	u32 last; /* where the last command's buffer was */
};

static int open_ring(struct uring *u, const struct io_options *o)
{
	/* Completions are run by us when we ask, not by interrupting us; Linux 6.1 and newer. */
	static const u32 how[] = { IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, IORING_SETUP_COOP_TASKRUN,
				   0 };
	u32 big = o->kind == IO_URING_CMD ? IORING_SETUP_SQE128 | IORING_SETUP_CQE32 : 0;
	int ret = -EINVAL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(how) && ret == -EINVAL; i++) {
		struct io_uring_params p = { .flags = big | how[i] };

		/* As many completions as can be in flight fit, so none overflows. */
		ret = io_uring_queue_init_params(o->depth, &u->ring, &p);
	}
	return ret;
}

static int by_address(const void *a, const void *b)
{
	const struct iovec *x = a, *y = b;

	return x->iov_base < y->iov_base ? -1 : x->iov_base > y->iov_base;
}

/* Both save work for each command, neither is needed. */
static int register_all(struct io_queue *q, struct uring *u, const struct io_options *o)
{
	int fd = q->target.fd;

	if (!o->no_fixed_file)
		q->state.fixed_file = !io_uring_register_files(&u->ring, &fd, 1);
	if (!o->n_buffers)
		return 0;
	u->buffer = calloc(o->n_buffers, sizeof(*u->buffer));
	if (!u->buffer)
		return -ENOMEM;
	memcpy(u->buffer, o->buffer, o->n_buffers * sizeof(*u->buffer));
	qsort(u->buffer, o->n_buffers, sizeof(*u->buffer), by_address);
	if (!io_uring_register_buffers(&u->ring, u->buffer, o->n_buffers)) {
		u->n_buffers = o->n_buffers;
		q->state.fixed_buffers = true;
	}
	return 0;
}

static int uring_open(struct io_queue *q, const struct io_options *o)
{
	struct uring *u = calloc(1, sizeof(*u));
	int ret;

	if (!u)
		return -ENOMEM;
	ret = open_ring(u, o);
	if (ret) {
		free(u);
		return ret;
	}
	q->priv = u;
	return register_all(q, u, o);
}

static void uring_close(struct io_queue *q)
{
	struct uring *u = q->priv;

	/* The ring itself goes some time after we do; the file need not. */
	if (q->state.fixed_file)
		io_uring_unregister_files(&u->ring);
	io_uring_queue_exit(&u->ring);
	free(u->buffer);
	free(u);
}

static bool holds(const struct io_queue *q, const struct iovec *v, const u8 *buf, u64 n)
{
	const u8 *begin = v->iov_base, *end = begin + v->iov_len;

	/*
	 * Linux 6.1 refuses a passthrough command that does not reach to the end
	 * of its registered buffer: it counts the pages behind as well.
	 */
	return begin <= buf && (q->kind == IO_URING_CMD ? buf + n == end : buf + n <= end);
}

/* The registered buffer for [buf, buf + n), or -1. */
static int buffer_of(const struct io_queue *q, struct uring *u, const u8 *buf, u64 n)
{
	u32 low = 0, high = u->n_buffers;

	if (!high)
		return -1;
	/* Commands of an object follow each other. */
	if (holds(q, &u->buffer[u->last], buf, n))
		return (int)u->last;
	if (u->last + 1 < u->n_buffers && holds(q, &u->buffer[u->last + 1], buf, n))
		return (int)++u->last;
	while (high - low > 1) {
		u32 mid = (low + high) / 2;

		if ((const u8 *)u->buffer[mid].iov_base <= buf)
			low = mid;
		else
			high = mid;
	}
	if (!holds(q, &u->buffer[low], buf, n))
		return -1;
	u->last = low;
	return (int)low;
}

static void prepare_rw(struct io_uring_sqe *sqe, const struct io_slot *s, int index)
{
	const struct io_command *c = &s->cmd;
	u8 *buf = (u8 *)c->buf + s->moved;
	u32 n = c->bytes - s->moved;
	u64 at = c->offset + s->moved;

	if (c->write && index >= 0)
		io_uring_prep_write_fixed(sqe, 0, buf, n, at, index);
	else if (c->write)
		io_uring_prep_write(sqe, 0, buf, n, at);
	else if (index >= 0)
		io_uring_prep_read_fixed(sqe, 0, buf, n, at, index);
	else
		io_uring_prep_read(sqe, 0, buf, n, at);
}

static void prepare_nvme(const struct io_queue *q, struct io_uring_sqe *sqe, const struct io_slot *s, int index)
{
	const struct io_command *c = &s->cmd;
	u64 slba = c->offset / q->target.lba_bytes;
	struct nvme_uring_cmd cmd = {
		.opcode = c->write ? 0x01 : 0x02,
		.nsid = q->target.nsid,
		.addr = (u64)(uintptr_t)c->buf,
		.data_len = c->bytes,
		.cdw10 = (u32)slba,
		.cdw11 = (u32)(slba >> 32),
		.cdw12 = c->bytes / q->target.lba_bytes - 1,
	};

	/* The second half of a big entry holds the rest of the command. */
	memset(sqe, 0, 2 * sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->cmd_op = NVME_URING_CMD_IO;
	if (index >= 0) {
		sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
		sqe->buf_index = (u16)index;
	}
	memcpy((u8 *)sqe + offsetof(struct io_uring_sqe, cmd), &cmd, sizeof(cmd));
}

static int uring_prepare(struct io_queue *q, struct io_slot *s)
{
	struct uring *u = q->priv;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
	int index;

	if (!sqe)
		return -EBUSY;
	index = buffer_of(q, u, s->cmd.buf, s->cmd.bytes);
	if (q->kind == IO_URING_CMD)
		prepare_nvme(q, sqe, s, index);
	else
		prepare_rw(sqe, s, index);
	sqe->fd = q->target.fd;
	if (q->state.fixed_file) {
		sqe->fd = 0;
		sqe->flags |= IOSQE_FIXED_FILE;
	}
	sqe->user_data = s->cmd.user_data;
	return 0;
}

static int uring_submit(struct io_queue *q, bool wait, u64 timeout_ns, int *waited)
{
	struct __kernel_timespec ts = { (long long)(timeout_ns / NSEC_PER_SEC),
					(long long)(timeout_ns % NSEC_PER_SEC) };
	struct uring *u = q->priv;
	struct io_uring_cqe *cqe;
	u32 left;
	int ret;

	*waited = 0;
	/* One call for both; what is done already needs none to be taken. */
	if (wait && (q->n_waiting || !io_uring_cq_ready(&u->ring)))
		ret = io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &ts, NULL);
	else
		ret = io_uring_submit(&u->ring);
	/* The ring knows better than the return value, which may be that of the wait. */
	left = io_uring_sq_ready(&u->ring);
	if (wait && (ret == -ETIME || ret == -EINTR))
		*waited = ret;
	else if (ret < 0 && ret != -EINTR && ret != -EAGAIN && ret != -EBUSY)
		return ret;
	return (int)(q->n_waiting - left);
}

static bool uring_next(struct io_queue *q, u64 *user_data, s32 *res, u64 *end_ns)
{
	struct uring *u = q->priv;
	struct io_uring_cqe *cqe;

	(void)end_ns;
	if (!io_uring_cq_ready(&u->ring) || io_uring_peek_cqe(&u->ring, &cqe) || !cqe)
		return false;
	*user_data = cqe->user_data;
	*res = cqe->res;
	io_uring_cqe_seen(&u->ring, cqe);
	return true;
}

const struct io_engine io_engine_uring = { uring_open, uring_close, uring_prepare, uring_submit, uring_next };
