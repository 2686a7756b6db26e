// SPDX-License-Identifier: GPL-2.0
/*
 * The io_uring tracer: one record a request, written when its completion is
 * posted.
 *
 * Requests under way stand in a table in plain memory, by the address of the
 * request: a slot is taken with one compare-and-swap, which is several times
 * cheaper than a hash map, and any CPU may complete any request.  The program
 * that is traced has the cache full of its own data, so what counts is how many
 * lines are touched: the keys of all slots that a request may have are one.
 */
#include "trace/file.bpf.h"
#include "trace/iouring_shared.h"
#include "trace/overflow.bpf.h"
#include "trace/vector.bpf.h"

#include "trace/batch.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* From the kernel's ABI. */
enum {
	OP_READV = 1,
	OP_WRITEV = 2,
	OP_FSYNC = 3,
	OP_READ_FIXED = 4,
	OP_WRITE_FIXED = 5,
	OP_SYNC_FILE_RANGE = 8,
	OP_FALLOCATE = 17,
	OP_READ = 22,
	OP_WRITE = 23,
	OP_URING_CMD = 46,
	OP_READ_MULTISHOT = 49,
	OP_READV_FIXED = 60,
	OP_WRITEV_FIXED = 61,
};
#define SETUP_SQPOLL	  2
#define CQE_MORE	  2
#define NVME_URING_CMD_IO 0x80 /* low byte of the ioctl numbers */
#define KNOWN_SLOTS	  4096
#define KNOWN_SHIFT	  20 /* about a millisecond */

const volatile struct iouring_config uc = {};

struct uring_table under_way;

/*
 * When a thread was looked at that is wanted: its number, and the time below.
 * Who comes in between is looked at again.
 */
u64 known[KNOWN_SLOTS];

/* ---- the table ---- */

static __always_inline u32 slot_at(u64 key, u32 i)
{
	u32 first = (u32)((key >> 6) * 0x9e3779b1u >> 8) & ~(URING_PROBES - 1);

	return (first + i) & (URING_SLOTS - 1);
}

/* The slot of a request, or NO_SLOT. */
static __always_inline u32 find_slot(u64 key)
{
	u32 i;

#pragma unroll
	for (i = 0; i < URING_PROBES; i++)
		if (under_way.key[slot_at(key, i)] == key)
			return slot_at(key, i);
	return NO_SLOT;
}

/* A free slot for the request, which is its own from now on, or NO_SLOT. */
static __always_inline u32 take_slot(u64 key)
{
	u32 i;

#pragma unroll
	for (i = 0; i < URING_PROBES; i++) {
		u64 *k = &under_way.key[slot_at(key, i)];

		if (!*k && !__sync_val_compare_and_swap(k, 0, key))
			return slot_at(key, i);
	}
	return NO_SLOT;
}

static __always_inline struct ev_uring *request_of(u32 slot)
{
	return &under_way.ev[slot & (URING_SLOTS - 1)];
}

static __always_inline void free_slot(u32 slot)
{
	under_way.key[slot & (URING_SLOTS - 1)] = 0;
}

/* ---- what a request asks for ---- */

static __always_inline bool is_vector(u8 opcode)
{
	return opcode == OP_READV || opcode == OP_WRITEV || opcode == OP_READV_FIXED || opcode == OP_WRITEV_FIXED;
}

static __always_inline bool is_rw(u8 opcode)
{
	return is_vector(opcode) || opcode == OP_READ || opcode == OP_WRITE || opcode == OP_READ_FIXED ||
	       opcode == OP_WRITE_FIXED || opcode == OP_READ_MULTISHOT;
}

static __noinline int set_rw(struct ev_uring *r, void *req)
{
	u64 bytes;

	if (!r)
		return 0;
	r->offset = (u64)peek(struct io_rw, req, kiocb.ki_pos);
	r->size = peek(struct io_rw, req, len);
	if (r->offset == ~0ull) {
		r->offset = 0;
		r->flags |= URING_POSITION;
	} else {
		r->flags |= URING_OFFSET;
	}
	if (!is_vector(r->opcode))
		return 0;
	r->sub = (u32)r->size;
	if (!vector_sum(peek(struct io_rw, req, addr), r->size, &bytes))
		r->flags |= URING_PARTIAL;
	r->size = bytes;
	return 0;
}

static __noinline int set_range(struct ev_uring *r, void *req)
{
	if (!r)
		return 0;
	r->offset = (u64)peek(struct io_sync, req, off);
	r->size = (u64)peek(struct io_sync, req, len);
	r->flags |= URING_OFFSET;
	return 0;
}

/* NVMe passthrough: anything else has a layout of its own. */
static __noinline int set_passthrough(struct ev_uring *r, struct io_uring_cmd *ioucmd)
{
	u32 op = peek(struct io_uring_cmd, ioucmd, cmd_op);
	const void *c;
	u64 bytes;

	/* Without an NVMe driver there is no such type. */
	if (!bpf_core_type_exists(struct nvme_uring_cmd) || !r || (op >> 8 & 0xff) != 'N' ||
	    (op & 0xff) < NVME_URING_CMD_IO)
		return 0;
	c = passthrough_command(ioucmd);
	if (!c)
		return 0;
	r->sub = peek_nvme(struct nvme_uring_cmd, c, opcode);
	/* Of a vector the number of its elements. */
	r->size = peek_nvme(struct nvme_uring_cmd, c, data_len);
	if ((u8)op == NVME_URING_CMD_IO_VEC_NR) {
		if (!vector_sum(peek_nvme(struct nvme_uring_cmd, c, addr), r->size, &bytes))
			r->flags |= URING_PARTIAL;
		r->size = bytes;
	}
	r->offset = peek_nvme(struct nvme_uring_cmd, c, cdw10) | (u64)peek_nvme(struct nvme_uring_cmd, c, cdw11) << 32;
	return 0;
}

static __always_inline void set_request(struct ev_uring *r, struct io_kiocb *req)
{
	struct io_ring_ctx *ctx = req->ctx;

	r->kind = EV_URING;
	r->opcode = req->opcode;
	r->sqe_flags = (u8)req->flags;
	r->user_data = req->cqe.user_data;
	r->fd = req->cqe.fd;
	r->ring = (u32)(number_of(ctx) >> 6) * 0x9e3779b1u;
	if (ctx->flags & SETUP_SQPOLL)
		r->flags |= URING_SQPOLL;
	if (is_rw(r->opcode))
		set_rw(r, req);
	else if (r->opcode == OP_FSYNC || r->opcode == OP_SYNC_FILE_RANGE || r->opcode == OP_FALLOCATE)
		set_range(r, req);
	else if (r->opcode == OP_URING_CMD)
		set_passthrough(r, (struct io_uring_cmd *)req);
}

/* ---- hooks ---- */

/* Whether the current thread is wanted; its name is told.  A name and a cgroup can change at any time. */
static __always_inline bool is_wanted(u32 *tid, u64 now)
{
	u32 at = (u32)(now >> KNOWN_SHIFT);
	struct who w = {};
	u64 *last;

	who_is_current(&w);
	*tid = w.tid;
	last = &known[w.tid & (KNOWN_SLOTS - 1)];
	if (*last >> 32 == w.tid && at - (u32)*last <= TASK_CHECK_NS >> KNOWN_SHIFT && !cfg.filter_comm && !cfg.cgroup)
		return true;
	if (w.pid == cfg.self || !task_wanted(&w))
		return false;
	*last = (u64)w.tid << 32 | at;
	empty_first(this_batch());
	tell_task(&w, now);
	return true;
}

/* The number is another thread's from now on, or the name another one. */
static __always_inline void forget(u32 tid)
{
	u64 *last = &known[tid & (KNOWN_SLOTS - 1)];

	if (*last >> 32 == tid)
		*last = 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(gone, struct task_struct *t)
{
	forget((u32)t->pid);
	return 0;
}

/* It has another name now, and another number when it was not the leader, whose end was seen. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(exec, struct task_struct *t, int old_tid)
{
	forget((u32)old_tid);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(renamed, struct task_struct *t)
{
	forget((u32)t->pid);
	return 0;
}

/* Its memory serves another request now: no completion of it was posted, as with IOSQE_CQE_SKIP_SUCCESS. */
static __noinline int give_up(u32 slot, u64 now)
{
	struct ev_uring *r = request_of(slot);
	struct batch *b = this_batch();

	r->flags |= URING_UNFINISHED;
	r->lat_ns = now - r->ts_ns;
	batch_store(b, r, false, false);
	free_slot(slot);
	return 0;
}

static __always_inline int submitted(struct io_kiocb *req)
{
	u64 now = bpf_ktime_get_ns(), key = number_of(req);
	struct ev_uring r = {};
	u32 slot = find_slot(key), tid;

	if (slot != NO_SLOT)
		give_up(slot, now);
	count(N_SEEN);
	if (!is_wanted(&tid, now)) {
		count(N_FILTERED);
		return 0;
	}
	set_request(&r, req);
	if (!(uc.opcode[r.opcode >> 6] >> (r.opcode & 63) & 1) || r.size < uc.min_bytes || r.size > uc.max_bytes) {
		count(N_FILTERED);
		return 0;
	}
	r.ts_ns = now;
	r.tid = tid;
	slot = take_slot(key);
	if (slot == NO_SLOT) {
		count(N_MAP_FULL);
		return 0;
	}
	*request_of(slot) = r;
	return 0;
}

/* From 6.3 on. */
SEC("?tp_btf/io_uring_submit_req")
int BPF_PROG(submit_req, struct io_kiocb *req)
{
	return submitted(req);
}

SEC("?tp_btf/io_uring_submit_sqe")
int BPF_PROG(submit_sqe, struct io_kiocb *req)
{
	return submitted(req);
}

SEC("?tp_btf/io_uring_queue_async_work")
int BPF_PROG(punted, struct io_kiocb *req)
{
	u32 slot = find_slot(number_of(req));

	if (slot != NO_SLOT)
		request_of(slot)->flags |= URING_PUNTED;
	return 0;
}

/* The result stands in the request whatever the hook's own arguments are: they changed in 6.16. */
SEC("tp_btf/io_uring_complete")
int BPF_PROG(complete, void *ring_ctx, void *req)
{
	u32 slot = find_slot((u64)req), cqe_flags;
	struct batch *b = this_batch();
	bool is_new = false;
	struct ev_uring *r;
	struct file *f;

	if (!req || slot == NO_SLOT)
		return 0;
	r = request_of(slot);
	cqe_flags = peek(struct io_kiocb, req, cqe.flags);
	/* There will be another one. */
	if (cqe_flags & CQE_MORE)
		return 0;
	r->cqe_flags = cqe_flags;
	r->lat_ns = bpf_ktime_get_ns() - r->ts_ns;
	r->res = peek(struct io_kiocb, req, cqe.res);
	f = peek(struct io_kiocb, req, file);
	if (f) {
		file_numbers(f, &r->ino, &r->dev);
		r->flags |= URING_FILE;
	}
	if (f && !file_wanted(file_key(r->ino, r->dev))) {
		count(N_FILTERED);
	} else {
		if (f && is_new_file(file_key(r->ino, r->dev))) {
			empty_first(b);
			is_new = !tell_path(f, r->ino, r->dev, r->ts_ns);
		}
		batch_store(b, r, false, is_new);
	}
	free_slot(slot);
	return 0;
}
