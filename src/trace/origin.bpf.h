/* SPDX-License-Identifier: GPL-2.0 */
/* Who made a block request: the same for every tracer that looks at them. */
#ifndef KVIO_ORIGIN_BPF_H
#define KVIO_ORIGIN_BPF_H

#include "trace/common.bpf.h"

/*
 * Who made a block request, which a kernel worker may send later, and when:
 * the first bio of it -> thread.  Of flushes, which merge, the last one on
 * each disk counts.
 */
struct origin {
	u32 tid, pid;
	u64 ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct origin);
} origins SEC(".maps");

#define REQ_OP_DRV_IN 34 /* and above: commands of drivers */
#define REQ_PREFLUSH  (1ull << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH))
/* The key of the flushes of a disk: no bio has such an address. */
#define flush_key(gd) ((u64)(gd)->major << 20 | (gd)->first_minor)

static __always_inline int note_origin(struct bio *bio)
{
	struct who w = {};
	struct origin o;
	struct gendisk *gd;
	u64 key = (u64)bio;

	who_is_current(&w);
	if (!task_wanted(&w)) {
		/* Its memory may have served a bio that was wanted. */
		bpf_map_delete_elem(&origins, &key);
		return 0;
	}
	o.ns = bpf_ktime_get_ns();
	tell_task(&w, o.ns);
	o.tid = w.tid;
	o.pid = w.pid;
	bpf_map_update_elem(&origins, &key, &o, BPF_ANY);
	if (!(bio->bi_opf & REQ_PREFLUSH))
		return 0;
	gd = bio->bi_bdev->bd_disk;
	key = flush_key(gd);
	bpf_map_update_elem(&origins, &key, &o, BPF_ANY);
	return 0;
}

SEC("?tp_btf/block_bio_queue")
int BPF_PROG(bio_queue, struct bio *bio)
{
	return note_origin(bio);
}

/* The front of a bio that is too large is a new one. */
SEC("?tp_btf/block_split")
int BPF_PROG(bio_split, struct bio *bio)
{
	return note_origin(bio);
}

/*
 * The submitter of a block request, also when another thread or a worker of
 * the block layer sends it.  Returns where it was noted; NULL: the thread that
 * runs now is all that is known.
 */
static __always_inline struct origin *who_made(struct who *w, struct request *req, struct gendisk *gd, bool noted)
{
	struct bio *bio = req->bio;
	u64 key = (u64)bio;
	struct origin *o;

	who_is_current(w);
	/* What an ioctl asks for has a bio that no one queued. */
	if (!noted || (u8)req->cmd_flags >= REQ_OP_DRV_IN)
		return NULL;
	if (!bio && gd)
		key = flush_key(gd);
	o = bpf_map_lookup_elem(&origins, &key);
	if (o && w->tid != o->tid) {
		w->tid = o->tid;
		w->pid = o->pid;
		w->is_away = true;
	}
	return o;
}

#endif
