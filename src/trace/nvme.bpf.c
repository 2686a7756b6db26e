// SPDX-License-Identifier: GPL-2.0
/*
 * The NVMe tracer: one record a command, written when it completes.
 *
 * nvme_setup_cmd and nvme_complete_rq see every path into the driver.  A
 * request of an io_uring passthrough command is known by its end_io; from its
 * end_io_data come the SQE's user_data and the submitting task.  The entry
 * probe on the char device handlers is optional and adds what only they see:
 * the time of entry, the attempts, and commands refused before the device.
 */
#include "trace/kernel.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "capture/event.h"
#include "trace/nvme_shared.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct nvme_config cfg = {};

/* Plain memory rather than a map: counting costs one atomic add. */
struct counters counters[MAX_CPUS];

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* One ring a group of CPUs; user space makes them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* Commands the driver has: request -> the record in the making. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct ev_nvme_kv);
} inflight SEC(".maps");

/* Passthrough commands that entered a handler and are not with the driver yet. */
struct entry {
	u64 first_ns;
	u32 attempts;
	u8 multipath;
	u8 vec;
	u16 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct entry);
} entries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct task_name);
} tasks SEC(".maps");

/* What was decided when a disk was first seen. */
struct disk {
	u8 wanted;
	u8 kv;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct disk);
} disks SEC(".maps");

struct disk_name {
	char name[32];
};

/* The filters: empty maps are not consulted (cfg says so). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct disk_name);
	__type(value, u8);
} disk_filter SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u8);
} pid_filter SEC(".maps");

/* Set by libbpf to the address, 0 where the kernel has no such function. */
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;
extern const void nvme_uring_cmd_end_io __ksym __weak;
extern const void nvme_uring_cmd_end_io_meta __ksym __weak;

/*
 * A member behind a pointer that the verifier does not know.  With
 * bpf_rdonly_cast (6.2) it is a plain load, which a kernel in confidentiality
 * lockdown allows as well; before, a helper reads it.  The flag is constant, so
 * only one of the two is ever verified.
 */
#define cast(type, p)		   ((type *)bpf_rdonly_cast(p, bpf_core_type_id_kernel(type)))
#define peek(type, p, member)	   (cfg.can_cast ? cast(type, p)->member : BPF_CORE_READ((type *)(p), member))
/* The same for types of the NVMe driver, whose ids count only when it is built in. */
#define peek_nvme(type, p, member) (cfg.can_cast_nvme ? cast(type, p)->member : BPF_CORE_READ((type *)(p), member))

/* Atomic, since a completion may interrupt us in the middle of an increment. */
static __always_inline void count(enum counter c)
{
	__sync_fetch_and_add(&counters[bpf_get_smp_processor_id() & (MAX_CPUS - 1)].v[c], 1);
}

static __always_inline void *this_ring(void)
{
	u32 group = bpf_get_smp_processor_id() / cfg.cpus_per_ring;

	return bpf_map_lookup_elem(&rings, &group);
}

/* Wake the reader when a batch is waiting; look at that only now and then. */
static __always_inline u64 wake_flag(void *ring)
{
	u64 stored = counters[bpf_get_smp_processor_id() & (MAX_CPUS - 1)].v[N_STORED];

	if (stored % 16 || bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) < cfg.wake_bytes)
		return BPF_RB_NO_WAKEUP;
	return BPF_RB_FORCE_WAKEUP;
}

/* False when the ring is full. */
static __always_inline bool put(const void *record, const u32 size)
{
	void *ring = this_ring();
	void *slot;

	if (!ring)
		return false;
	slot = bpf_ringbuf_reserve(ring, size, 0);
	if (!slot)
		return false;
	__builtin_memcpy(slot, record, size);
	bpf_ringbuf_submit(slot, wake_flag(ring));
	return true;
}

static __always_inline bool put_command(const struct ev_nvme_kv *r)
{
	if (r->cmd.kind == EV_NVME_KV)
		return put(r, sizeof(struct ev_nvme_kv));
	return put(&r->cmd, sizeof(struct ev_nvme));
}

static __always_inline void store(const struct ev_nvme_kv *r)
{
	count(put_command(r) ? N_STORED : N_RING_FULL);
}

/* ---- who ---- */

struct who {
	u32 tid;
	u32 pid;
	struct task_struct *task; /* NULL: the current one */
};

static __always_inline void who_is_current(struct who *w)
{
	u64 id = bpf_get_current_pid_tgid();

	w->tid = (u32)id;
	w->pid = id >> 32;
	w->task = NULL;
}

/* The submitter, also when a worker thread issues for it. */
static __always_inline void who_submitted(struct who *w, void *ioucmd)
{
	struct task_struct *t = NULL;

	if (bpf_core_field_exists(struct io_kiocb___task, task)) {
		t = peek(struct io_kiocb___task, ioucmd, task);
	} else if (bpf_core_field_exists(struct io_kiocb___tctx, tctx)) {
		struct io_uring_task *tctx = peek(struct io_kiocb___tctx, ioucmd, tctx);

		t = peek(struct io_uring_task, tctx, task);
	}
	who_is_current(w);
	if (!t || (u64)t == bpf_get_current_task())
		return;
	w->task = t;
	w->tid = peek(struct task_struct, t, pid);
	w->pid = peek(struct task_struct, t, tgid);
}

static __always_inline void comm_of(const struct who *w, char comm[16])
{
	if (!w->task)
		bpf_get_current_comm(comm, 16);
	else if (cfg.can_cast)
		__builtin_memcpy(comm, cast(struct task_struct, w->task)->comm, 16);
	else
		bpf_probe_read_kernel(comm, 16, &w->task->comm);
}

/*
 * Names the thread in the stream: at first sight, and when it has another name
 * a second later (exec, prctl).
 */
static __noinline int tell_task(const struct who *w, u64 now)
{
	struct task_name *known = bpf_map_lookup_elem(&tasks, &w->tid);
	struct ev_task e = { .kind = EV_TASK, .tid = w->tid, .pid = w->pid, .ts_ns = now };
	struct task_name name = { .pid = w->pid, .checked_ns = now };
	const u64 *a, *b;

	if (known && known->pid == w->pid && now - known->checked_ns < TASK_CHECK_NS)
		return 0;
	comm_of(w, name.comm);
	if (known && known->pid == w->pid) {
		known->checked_ns = now;
		a = (const u64 *)known->comm;
		b = (const u64 *)name.comm;
		if (a[0] == b[0] && a[1] == b[1])
			return 0;
	}
	__builtin_memcpy(e.comm, name.comm, sizeof(e.comm));
	if (put(&e, sizeof(e)))
		bpf_map_update_elem(&tasks, &w->tid, &name, BPF_ANY);
	return 0;
}

static __always_inline bool task_wanted(const struct who *w)
{
	if (cfg.filter_pid && !bpf_map_lookup_elem(&pid_filter, &w->pid))
		return false;
	if (cfg.filter_comm) {
		char comm[16] = {};
		int i;

		comm_of(w, comm);
		for (i = 0; i < 16; i++) {
			if (cfg.comm[i] != comm[i])
				return false;
			if (!cfg.comm[i])
				break;
		}
	}
	return true;
}

/* ---- which disk ---- */

static __always_inline void format_of(struct ev_disk *e, struct nvme_ns *ns, struct nvme_ns_head *head)
{
	u32 shift = 0;

	if (bpf_core_field_exists(struct nvme_ns_head___format, lba_shift)) {
		shift = peek_nvme(struct nvme_ns_head___format, head, lba_shift);
		e->ms = peek_nvme(struct nvme_ns_head___format, head, ms);
	} else if (ns && bpf_core_field_exists(struct nvme_ns___format, lba_shift)) {
		shift = peek_nvme(struct nvme_ns___format, ns, lba_shift);
		e->ms = peek_nvme(struct nvme_ns___format, ns, ms);
	}
	e->lba_bytes = shift >= 9 && shift < 31 ? 1u << shift : 0;
}

/* First sight of a disk: names it in the stream and decides whether it is wanted. */
static __noinline int meet_disk(struct gendisk *gd, struct nvme_ns *ns, struct nvme_ns_head *head, u32 dev)
{
	struct ev_disk e = { .kind = EV_DISK, .csi = 0xff, .dev = dev };
	struct disk d = { .wanted = 1 };
	struct disk_name key = {};

	if (cfg.can_cast)
		__builtin_memcpy(e.name, cast(struct gendisk, gd)->disk_name, sizeof(e.name));
	else
		BPF_CORE_READ_INTO(&e.name, gd, disk_name);
	if (head) {
		e.csi = peek_nvme(struct nvme_ns_head, head, ids.csi);
		e.nsid = peek_nvme(struct nvme_ns_head, head, ns_id);
		format_of(&e, ns, head);
	}
	__builtin_memcpy(key.name, e.name, sizeof(key.name));
	d.kv = cfg.kv || e.csi == NVME_CSI_KV;
	d.wanted = !cfg.filter_disk || bpf_map_lookup_elem(&disk_filter, &key);
	if (!d.wanted || put(&e, sizeof(e)))
		bpf_map_update_elem(&disks, &dev, &d, BPF_ANY);
	return d.wanted | d.kv << 1;
}

/* Bit 0: wanted, bit 1: key-value.  dev 0 is the admin queue, which has no disk. */
static __always_inline int disk_of(struct gendisk *gd, struct nvme_ns *ns, u32 dev)
{
	struct disk *d;

	if (!dev)
		return cfg.filter_disk ? 0 : 1;
	d = bpf_map_lookup_elem(&disks, &dev);
	if (d)
		return d->wanted | d->kv << 1;
	return meet_disk(gd, ns, ns ? peek_nvme(struct nvme_ns, ns, head) : NULL, dev);
}

static __always_inline u32 dev_of(struct gendisk *gd)
{
	return gd ? (u32)peek(struct gendisk, gd, major) << 20 | peek(struct gendisk, gd, first_minor) : 0;
}

/* ---- the driver ---- */

static __always_inline bool is_passthrough(struct request *req)
{
	u64 end_io = (u64)req->end_io;

	return end_io && (end_io == (u64)&nvme_uring_cmd_end_io || end_io == (u64)&nvme_uring_cmd_end_io_meta);
}

static __always_inline bool is_vec(u32 cmd_op)
{
	return (u8)cmd_op == NVME_URING_CMD_IO_VEC_NR;
}

static __always_inline void fill_command(struct ev_nvme_kv *r, u8 opcode, u32 nsid, u64 slba, u32 cdw12)
{
	r->cmd.kind = EV_NVME;
	r->cmd.opcode = opcode;
	r->cmd.attempts = 1;
	r->cmd.nsid = nsid;
	r->cmd.slba = slba;
	r->cmd.nlb = (u16)cdw12;
}

static __always_inline void fill_key(struct ev_nvme_kv *r, u32 cdw2, u32 cdw3, u32 cdw14, u32 cdw15)
{
	u32 key[4] = { cdw2, cdw3, cdw14, cdw15 };

	r->cmd.kind = EV_NVME_KV;
	__builtin_memcpy(r->key, key, sizeof(key));
}

/* What the entry probe knows of it goes into the record; its entry is done. */
static __always_inline void take_entry(struct ev_nvme *c, u64 ioucmd)
{
	struct entry *e = cfg.entry_probe ? bpf_map_lookup_elem(&entries, &ioucmd) : NULL;

	if (!e) {
		if (is_vec(peek(struct io_uring_cmd, (void *)ioucmd, cmd_op)))
			c->flags |= NVME_VEC;
		return;
	}
	c->flags |= NVME_ENTRY | (e->multipath ? NVME_MULTIPATH : 0) | (e->vec ? NVME_VEC : 0);
	c->attempts = e->attempts < 255 ? e->attempts : 255;
	c->wait_ns = c->ts_ns - e->first_ns < 0xffffffff ? c->ts_ns - e->first_ns : 0xffffffff;
	bpf_map_delete_elem(&entries, &ioucmd);
}

/*
 * A request that is set up while the map still has it was requeued or retried
 * by the driver (same command, one more attempt), or it ended on a path without
 * nvme_complete_rq and its memory serves another command: then the old one is
 * stored as it is, without a completion.  True when it is the same command.
 */
static __always_inline bool same_command(struct ev_nvme_kv *was, const struct ev_nvme_kv *r)
{
	if (was->cmd.user_data == r->cmd.user_data && was->cmd.slba == r->cmd.slba && was->cmd.bytes == r->cmd.bytes &&
	    was->cmd.opcode == r->cmd.opcode && was->cmd.dev == r->cmd.dev)
		return true;
	was->cmd.flags |= NVME_IN_FLIGHT;
	was->cmd.lat_ns = r->cmd.ts_ns - was->cmd.ts_ns;
	store(was);
	return false;
}

SEC("tp_btf/nvme_setup_cmd")
int BPF_PROG(setup_cmd, struct request *req, struct nvme_command *cmd)
{
	struct gendisk *gd = req->q->disk;
	struct ev_nvme_kv r = {}, *was;
	struct nvme_ns *ns;
	struct who w = {};
	u64 key = (u64)req;
	int disk;

	r.cmd.ts_ns = bpf_ktime_get_ns();
	fill_command(&r, cmd->common.opcode, cmd->common.nsid, cmd->common.cdw10 | (u64)cmd->common.cdw11 << 32,
		     cmd->common.cdw12);
	r.cmd.bytes = req->__data_len;
	r.cmd.cid = cmd->common.command_id;
	r.cmd.hwq = (u16)req->mq_hctx->queue_num;
	if (gd)
		r.cmd.dev = (u32)gd->major << 20 | gd->first_minor;
	else
		r.cmd.flags |= NVME_ADMIN;
	if (is_passthrough(req)) {
		void *io = req->end_io_data;

		r.cmd.flags |= NVME_PASSTHROUGH;
		r.cmd.user_data = peek(struct io_kiocb, io, cqe.user_data);
		take_entry(&r.cmd, (u64)io);
		who_submitted(&w, io);
	} else if (cfg.passthrough_only) {
		goto filtered;
	} else {
		who_is_current(&w);
	}
	r.cmd.tid = w.tid;

	ns = gd ? req->q->queuedata : NULL;
	if (!task_wanted(&w))
		goto filtered;
	disk = disk_of(gd, ns, r.cmd.dev);
	if (!(disk & 1))
		goto filtered;
	if (disk & 2)
		fill_key(&r, cmd->common.cdw2[0], cmd->common.cdw2[1], cmd->common.cdw14, cmd->common.cdw15);
	tell_task(&w, r.cmd.ts_ns);

	if (!bpf_map_update_elem(&inflight, &key, &r, BPF_NOEXIST)) {
		count(N_SEEN);
		return 0;
	}
	was = bpf_map_lookup_elem(&inflight, &key);
	if (was && was->cmd.kind && same_command(was, &r)) {
		if (was->cmd.attempts < 255)
			was->cmd.attempts++;
		was->cmd.cid = r.cmd.cid;
		return 0;
	}
	count(N_SEEN);
	if (!was || bpf_map_update_elem(&inflight, &key, &r, BPF_ANY))
		count(N_MAP_FULL);
	return 0;

filtered:
	/* A requeue of one that passed before, or the end of what its memory served then. */
	was = bpf_map_lookup_elem(&inflight, &key);
	if (was && was->cmd.kind) {
		if (same_command(was, &r))
			return 0;
		was->cmd.kind = 0;
		bpf_map_delete_elem(&inflight, &key);
	}
	count(N_SEEN);
	count(N_FILTERED);
	return 0;
}

SEC("tp_btf/nvme_complete_rq")
int BPF_PROG(complete_rq, struct request *req)
{
	u64 key = (u64)req;
	struct ev_nvme_kv *r = bpf_map_lookup_elem(&inflight, &key);
	void *pdu;

	if (!r || !r->cmd.kind)
		return 0;
	pdu = (void *)req + bpf_core_type_size(struct request);
	r->cmd.lat_ns = bpf_ktime_get_ns() - r->cmd.ts_ns;
	r->cmd.status = peek_nvme(struct nvme_request, pdu, status);
	store(r);
	/* A deletion that meets a lock on this CPU fails (-EBUSY): the mark makes the entry free all the same. */
	r->cmd.kind = 0;
	bpf_map_delete_elem(&inflight, &key);
	return 0;
}

/* ---- the entry probe ---- */

/* Without IO_URING_F_NONBLOCK a worker tries again what was turned away with EAGAIN. */
static __always_inline bool is_retry(u32 issue_flags)
{
	return !(issue_flags & (u32)bpf_core_enum_value(enum io_uring_cmd_flags, IO_URING_F_NONBLOCK));
}

static __always_inline int enter(struct io_uring_cmd *ioucmd, u32 issue_flags, u8 multipath)
{
	struct entry e = { .first_ns = bpf_ktime_get_ns(), .attempts = 1, .multipath = multipath };
	struct entry *known = NULL;
	u64 key = (u64)ioucmd;

	if (is_retry(issue_flags))
		known = bpf_map_lookup_elem(&entries, &key);
	if (known) {
		known->attempts++;
		return 0;
	}
	e.vec = is_vec(ioucmd->cmd_op);
	if (bpf_map_update_elem(&entries, &key, &e, BPF_ANY))
		count(N_ENTRY_FULL);
	return 0;
}

/* Where the application's command is: up to 6.2 a pointer to it, later the SQE that holds it. */
static __always_inline const void *passthrough_command(struct io_uring_cmd *ioucmd)
{
	if (bpf_core_field_exists(struct io_uring_cmd___sqe, sqe))
		return (const void *)peek(struct io_uring_cmd___sqe, ioucmd, sqe) + SQE_CMD_OFFSET;
	if (bpf_core_field_exists(struct io_uring_cmd___cmd, cmd))
		return peek(struct io_uring_cmd___cmd, ioucmd, cmd);
	return NULL;
}

/* The command as the application wrote it, with its key in case it has one. */
static __noinline int read_refused(struct ev_nvme_kv *r, struct io_uring_cmd *ioucmd)
{
	const void *c = passthrough_command(ioucmd);
	u32 cdw10 = peek_nvme(struct nvme_uring_cmd, c, cdw10), cdw11 = peek_nvme(struct nvme_uring_cmd, c, cdw11);

	fill_key(r, peek_nvme(struct nvme_uring_cmd, c, cdw2), peek_nvme(struct nvme_uring_cmd, c, cdw3),
		 peek_nvme(struct nvme_uring_cmd, c, cdw14), peek_nvme(struct nvme_uring_cmd, c, cdw15));
	fill_command(r, peek_nvme(struct nvme_uring_cmd, c, opcode), peek_nvme(struct nvme_uring_cmd, c, nsid),
		     cdw10 | (u64)cdw11 << 32, peek_nvme(struct nvme_uring_cmd, c, cdw12));
	r->cmd.bytes = peek_nvme(struct nvme_uring_cmd, c, data_len);
	r->cmd.flags = NVME_PASSTHROUGH | NVME_REFUSED;
	r->cmd.hwq = 0xffff;
	r->cmd.user_data = peek(struct io_kiocb, ioucmd, cqe.user_data);
	return 0;
}

static __noinline int refused_disk(struct ev_nvme_kv *r, struct io_uring_cmd *ioucmd, u32 multipath)
{
	void *cdev = ioucmd->file->f_inode->i_cdev;
	struct nvme_ns_head *head;
	struct nvme_ns *ns;
	struct disk *known;
	struct gendisk *gd;

	if (!cdev)
		return disk_of(NULL, NULL, 0);
	if (!multipath) {
		ns = cdev - bpf_core_field_offset(struct nvme_ns, cdev);
		gd = peek_nvme(struct nvme_ns, ns, disk);
		r->cmd.dev = dev_of(gd);
		return disk_of(gd, ns, r->cmd.dev);
	}
	/* No path was chosen yet: the disk is the head's. */
	head = cdev - bpf_core_field_offset(struct nvme_ns_head, cdev);
	gd = peek_nvme(struct nvme_ns_head, head, disk);
	r->cmd.dev = dev_of(gd);
	known = r->cmd.dev ? bpf_map_lookup_elem(&disks, &r->cmd.dev) : NULL;
	return known ? known->wanted | known->kv << 1 : meet_disk(gd, NULL, head, r->cmd.dev);
}

/* A handler that returned an error: the command never became a request. */
static __always_inline int refused(struct io_uring_cmd *ioucmd, u32 multipath, int ret)
{
	struct ev_nvme_kv r = {};
	struct who w = {};
	int disk;

	read_refused(&r, ioucmd);
	r.cmd.status = (u16)-ret;
	/* It began at its entry, was refused now, and had no time on a device. */
	r.cmd.ts_ns = bpf_ktime_get_ns();
	take_entry(&r.cmd, (u64)ioucmd);
	r.cmd.lat_ns = r.cmd.wait_ns;
	r.cmd.ts_ns -= r.cmd.wait_ns;
	r.cmd.wait_ns = 0;

	who_submitted(&w, ioucmd);
	r.cmd.tid = w.tid;
	count(N_SEEN);
	disk = task_wanted(&w) ? refused_disk(&r, ioucmd, multipath) : 0;
	if (!(disk & 1)) {
		count(N_FILTERED);
		return 0;
	}
	if (disk & 2)
		r.cmd.kind = EV_NVME_KV;
	tell_task(&w, r.cmd.ts_ns);
	store(&r);
	return 0;
}

static __always_inline int leave(struct io_uring_cmd *ioucmd, u32 multipath, int ret)
{
	if (ret >= 0 || ret == -EIOCBQUEUED || ret == -EAGAIN)
		return 0;
	return refused(ioucmd, multipath, ret);
}

SEC("?fentry/nvme_ns_chr_uring_cmd")
int BPF_PROG(ns_enter, struct io_uring_cmd *ioucmd, u32 issue_flags)
{
	return enter(ioucmd, issue_flags, 0);
}

SEC("?fexit/nvme_ns_chr_uring_cmd")
int BPF_PROG(ns_leave, struct io_uring_cmd *ioucmd, u32 issue_flags, int ret)
{
	return leave(ioucmd, 0, ret);
}

SEC("?fentry/nvme_ns_head_chr_uring_cmd")
int BPF_PROG(head_enter, struct io_uring_cmd *ioucmd, u32 issue_flags)
{
	return enter(ioucmd, issue_flags, 1);
}

SEC("?fexit/nvme_ns_head_chr_uring_cmd")
int BPF_PROG(head_leave, struct io_uring_cmd *ioucmd, u32 issue_flags, int ret)
{
	return leave(ioucmd, 1, ret);
}

/* ---- completion queue overflow ---- */

SEC("?tp_btf/io_uring_cqe_overflow")
int BPF_PROG(cqe_overflow, void *ring_ctx, u64 user_data, s32 res)
{
	struct ev_cq_overflow e = { .kind = EV_CQ_OVERFLOW, .res = res, .user_data = user_data };
	struct who w = {};

	e.ts_ns = bpf_ktime_get_ns();
	who_is_current(&w);
	e.tid = w.tid;
	count(N_SEEN);
	if (!task_wanted(&w)) {
		count(N_FILTERED);
		return 0;
	}
	tell_task(&w, e.ts_ns);
	count(put(&e, sizeof(e)) ? N_STORED : N_RING_FULL);
	return 0;
}

/* ---- the process tree of `-- CMD` ---- */

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid;
	u8 yes = 1;

	if (from != to && bpf_map_lookup_elem(&pid_filter, &from) &&
	    bpf_map_update_elem(&pid_filter, &to, &yes, BPF_ANY))
		count(N_PID_FULL);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *t)
{
	u32 pid = t->tgid;

	/* The last thread: the number may be another program's soon. */
	if (t->signal->live.counter == 0)
		bpf_map_delete_elem(&pid_filter, &pid);
	return 0;
}
