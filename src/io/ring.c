// SPDX-License-Identifier: Apache-2.0
#include "io/ring.h"

#include <errno.h>
#include <string.h>

int ring_open(struct ring *r, u32 entries, u32 cq_entries)
{
	struct io_uring_params p = { .flags = IORING_SETUP_SQE128 | IORING_SETUP_CQE32 };

	*r = (struct ring){};
	if (cq_entries) {
		p.flags |= IORING_SETUP_CQSIZE;
		p.cq_entries = cq_entries;
	}
	return io_uring_queue_init_params(entries, &r->uring, &p);
}

void ring_close(struct ring *r)
{
	io_uring_queue_exit(&r->uring);
	*r = (struct ring){};
}

struct nvme_uring_cmd ring_read_cmd(u32 nsid, u64 slba, u32 nlb, void *buf, u32 len)
{
	return (struct nvme_uring_cmd){
		.opcode = 0x02,
		.nsid = nsid,
		.addr = (u64)(uintptr_t)buf,
		.data_len = len,
		.cdw10 = (u32)slba,
		.cdw11 = (u32)(slba >> 32),
		.cdw12 = (nlb - 1) & 0xffff,
	};
}

int ring_push(struct ring *r, int fd, const struct nvme_uring_cmd *cmd, u64 user_data)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);

	if (!sqe)
		return -EBUSY;
	/* The second half of a big entry holds the rest of the command. */
	memset(sqe, 0, 2 * sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = NVME_URING_CMD_IO;
	sqe->user_data = user_data;
	memcpy((u8 *)sqe + offsetof(struct io_uring_sqe, cmd), cmd, sizeof(*cmd));
	r->prepared++;
	return 0;
}

int ring_submit(struct ring *r)
{
	while (r->prepared) {
		int n = io_uring_submit(&r->uring);

		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (!n)
			return -EAGAIN;
		r->prepared -= (u32)n;
		r->in_flight += (u32)n;
	}
	return 0;
}

int ring_reap(struct ring *r, struct ring_done *done, u32 max, u64 timeout_ns)
{
	struct __kernel_timespec ts = {
		.tv_sec = (long long)(timeout_ns / NSEC_PER_SEC),
		.tv_nsec = (long long)(timeout_ns % NSEC_PER_SEC),
	};
	struct io_uring_cqe *cqe;
	u32 n = 0;
	int ret;

	if (!r->in_flight || !max)
		return 0;
	ret = io_uring_wait_cqe_timeout(&r->uring, &cqe, &ts);
	while (!ret && cqe) {
		done[n++] = (struct ring_done){ cqe->user_data, cqe->res };
		io_uring_cqe_seen(&r->uring, cqe);
		r->in_flight--;
		if (n == max || !r->in_flight)
			break;
		/* Also fetches what had overflowed, once there is room. */
		ret = io_uring_peek_cqe(&r->uring, &cqe);
	}
	return n ? (int)n : ret;
}

const char *ring_status_name(s32 res)
{
	static const struct {
		u16 code; /* SCT << 8 | SC */
		const char *name;
	} names[] = {
		{ 0x001, "invalid opcode" },
		{ 0x002, "invalid field in command" },
		{ 0x004, "data transfer error" },
		{ 0x006, "internal error" },
		{ 0x007, "aborted by request" },
		{ 0x00b, "invalid namespace or format" },
		{ 0x013, "invalid PRP offset" },
		{ 0x080, "LBA out of range" },
		{ 0x081, "capacity exceeded" },
		{ 0x082, "namespace not ready" },
		{ 0x281, "unrecovered read error" },
		{ 0x286, "access denied" },
		{ 0x287, "deallocated or unwritten block" },
		{ 0x300, "internal path error" },
		{ 0x370, "host path error" },
		{ 0x371, "aborted by host" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].code == (ring_status_sct(res) << 8 | ring_status_sc(res)))
			return names[i].name;
	return "";
}
