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
#include "trace/common.bpf.h"
#include "trace/nvme_shared.h"
#include "trace/origin.bpf.h"
#include "trace/overflow.bpf.h"
#include "trace/vector.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct nvme_config nvme = {};

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

/* What was decided when a disk was first seen. */
struct disk {
	u8 wanted;
	u8 kv;
	u8 lba_shift; /* 0 = not known */
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
	while (e.lba_bytes >> d.lba_shift > 1 && d.lba_shift < 31)
		d.lba_shift++;
	d.kv = nvme.kv || e.csi == NVME_CSI_KV;
	d.wanted = !nvme.filter_disk || bpf_map_lookup_elem(&disk_filter, &key);
	if (!d.wanted || put(&e, sizeof(e)))
		bpf_map_update_elem(&disks, &dev, &d, BPF_ANY);
	return d.wanted | d.kv << 1;
}

/* Bit 0: wanted, bit 1: key-value.  dev 0 is the admin queue, which has no disk. */
static __always_inline int disk_of(struct gendisk *gd, struct nvme_ns *ns, u32 dev)
{
	struct disk *d;

	if (!dev)
		return nvme.filter_disk ? 0 : 1;
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

	return end_io && (end_io == nvme.end_io || end_io == nvme.end_io_meta);
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
	struct entry *e = nvme.entry_probe ? bpf_map_lookup_elem(&entries, &ioucmd) : NULL;

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

/* ---- the ranges of a DSM command ---- */

#define OP_DSM	       9
#define REQ_OP_DISCARD 3 /* low byte of cmd_flags: of the block layer, not of an ioctl */

/* As the command carries them, in user memory. */
struct dsm_range {
	u32 attributes;
	u32 nlb;
	u64 slba;
};

struct ranges {
	struct ev_range e;
	u64 bio;  /* of a block request: a bio is a range ... */
	u64 user; /* ... or where they are in the program that sends the command itself */
	u32 lba_shift;
};

/* One a CPU, not on the stack: Linux 6.1 verifies one turn of a loop only, with what the stack is then. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ranges);
} ranges_room SEC(".maps");

static __always_inline struct ranges *room_of_ranges(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&ranges_room, &zero);
}

static long tell_range(u32 i, void *ctx)
{
	struct ranges *r = room_of_ranges();
	struct dsm_range one;
	void *bio;

	if (!r || i > r->e.n)
		return 1;
	bio = (void *)r->bio;
	r->e.index = (u16)i;
	if (bio) {
		r->e.slba = peek(struct bio, bio, bi_iter.bi_sector) >> (r->lba_shift - 9);
		r->e.nlb = peek(struct bio, bio, bi_iter.bi_size) >> r->lba_shift;
		r->bio = (u64)peek(struct bio, bio, bi_next);
	} else if (r->user && !read_user(&one, sizeof(one), (void *)(r->user + i * sizeof(one)))) {
		r->e.slba = one.slba;
		r->e.nlb = one.nlb;
		r->e.attributes = one.attributes;
	} else {
		return 1;
	}
	put(&r->e, sizeof(r->e));
	return 0;
}

/* Before the command itself, which has their number. */
static __noinline int tell_ranges(const struct ev_nvme *c, struct request *req)
{
	struct ranges *r = room_of_ranges();
	const void *command;
	struct disk *d;
	void *io;

	if (!c || !r)
		return 0;
	__builtin_memset(r, 0, sizeof(*r));
	d = bpf_map_lookup_elem(&disks, &c->dev);
	r->lba_shift = d && d->lba_shift >= 9 ? d->lba_shift : 9;
	r->e.kind = EV_RANGE;
	r->e.n = (u8)c->slba;
	r->e.dev = c->dev;
	r->e.ts_ns = c->ts_ns;
	r->e.cid = c->cid;
	r->e.tid = c->tid;
	if ((peek(struct request, req, cmd_flags) & 0xff) == REQ_OP_DISCARD) {
		r->bio = (u64)peek(struct request, req, bio);
	} else if (c->flags & NVME_PASSTHROUGH && bpf_core_type_exists(struct nvme_uring_cmd) &&
		   (u32)bpf_get_current_pid_tgid() == c->tid) {
		io = peek(struct request, req, end_io_data);
		command = passthrough_command(io);
		r->user = command ? peek_nvme(struct nvme_uring_cmd, command, addr) : 0;
	}
	bpf_loop(RANGES_MAX, tell_range, NULL, 0);
	return 0;
}

/* The attempt that a command is which the driver sends again because its drive failed it. */
static __always_inline u8 attempt_of(struct request *req)
{
	void *pdu = (void *)req + bpf_core_type_size(struct request);
	u8 retries = peek_nvme(struct nvme_request, pdu, retries);

	return retries < 255 ? retries + 1 : 255;
}

/*
 * A request that is set up while the map still has it was requeued before it
 * reached the drive (same command, one more attempt), or it ended on a path without
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

static __always_inline bool command_wanted(const struct ev_nvme *c)
{
	if (!nvme.filter_command)
		return true;
	if ((c->flags & NVME_ADMIN) && nvme.no_admin)
		return false;
	return c->bytes >= nvme.min_bytes && c->bytes <= nvme.max_bytes &&
	       (nvme.opcode[c->opcode >> 6 & 3] >> (c->opcode & 63) & 1);
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
	} else if (nvme.passthrough_only) {
		goto filtered;
	} else {
		const struct origin *o = who_made(&w, req, gd, nvme.origins);

		if (o) {
			r.cmd.flags |= NVME_ENTRY;
			r.cmd.wait_ns = r.cmd.ts_ns - o->ns < 0xffffffff ? r.cmd.ts_ns - o->ns : 0xffffffff;
		}
		r.cmd.attempts = attempt_of(req);
	}
	r.cmd.tid = w.tid;

	ns = gd ? req->q->queuedata : NULL;
	if (!command_wanted(&r.cmd) || !task_wanted(&w))
		goto filtered;
	disk = disk_of(gd, ns, r.cmd.dev);
	if (!(disk & 1))
		goto filtered;
	if (disk & 2)
		fill_key(&r, cmd->common.cdw2[0], cmd->common.cdw2[1], cmd->common.cdw14, cmd->common.cdw15);
	tell_task(&w, r.cmd.ts_ns);

	if (!bpf_map_update_elem(&inflight, &key, &r, BPF_NOEXIST)) {
		count(N_SEEN);
		if (r.cmd.opcode == OP_DSM && !(disk & 2) && gd)
			tell_ranges(&r.cmd, req);
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

/* The command as the application wrote it, with its key in case it has one. */
static __noinline int read_refused(struct ev_nvme_kv *r, struct io_uring_cmd *ioucmd)
{
	const void *c = passthrough_command(ioucmd);
	u32 cdw10 = peek_nvme(struct nvme_uring_cmd, c, cdw10), cdw11 = peek_nvme(struct nvme_uring_cmd, c, cdw11);
	u64 bytes;

	fill_key(r, peek_nvme(struct nvme_uring_cmd, c, cdw2), peek_nvme(struct nvme_uring_cmd, c, cdw3),
		 peek_nvme(struct nvme_uring_cmd, c, cdw14), peek_nvme(struct nvme_uring_cmd, c, cdw15));
	fill_command(r, peek_nvme(struct nvme_uring_cmd, c, opcode), peek_nvme(struct nvme_uring_cmd, c, nsid),
		     cdw10 | (u64)cdw11 << 32, peek_nvme(struct nvme_uring_cmd, c, cdw12));
	bytes = peek_nvme(struct nvme_uring_cmd, c, data_len);
	if (is_vec(ioucmd->cmd_op))
		vector_sum(peek_nvme(struct nvme_uring_cmd, c, addr), bytes, &bytes);
	r->cmd.bytes = bytes < 0xffffffff ? bytes : 0xffffffff;
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
	disk = command_wanted(&r.cmd) && task_wanted(&w) ? refused_disk(&r, ioucmd, multipath) : 0;
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
