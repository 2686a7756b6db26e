/* SPDX-License-Identifier: GPL-2.0 */
/* The page fault tracer: requests to block devices. */
#ifndef KVIO_MMAP_BLOCK_BPF_H
#define KVIO_MMAP_BLOCK_BPF_H

#include "trace/mmap_state.bpf.h"
#include "trace/origin.bpf.h"

static __always_inline u32 size_class(u64 bytes)
{
	u64 v = bytes >> 9;
	u32 i, n = 0;

#pragma unroll
	for (i = 1; i < EV_BLOCK_SIZES; i++)
		n += v >> i ? 1 : 0;
	return n;
}

static __always_inline void extremes(struct block_sums *b, u64 bytes)
{
	u32 i;

#pragma unroll
	for (i = 0; i < 4; i++) {
		u64 was = b->min_bytes;

		if (was <= bytes || __sync_val_compare_and_swap(&b->min_bytes, was, bytes) == was)
			break;
	}
#pragma unroll
	for (i = 0; i < 4; i++) {
		u64 was = b->max_bytes;

		if (was >= bytes || __sync_val_compare_and_swap(&b->max_bytes, was, bytes) == was)
			break;
	}
}

/* Adds a request to the sums of its device, or takes it away: by is 1 or -1. */
static __always_inline int add_request(struct request *rq, s64 by)
{
	struct block_sums none = { .min_bytes = ~0ull }, *b;
	struct gendisk *gd = rq->q->disk;
	u32 op = rq->cmd_flags & 0xff, *unit;
	u64 bytes = rq->__data_len, at = rq->__sector << 9, iu;
	struct block_id id = {};
	struct who w = {};

	/* Reads and writes only; a flush has no data. */
	if (op > 1 || !bytes || !gd)
		return 0;
	count_by(N_SEEN, by);
	who_made(&w, rq, gd, mm.origins);
	if (!task_wanted(&w)) {
		count_by(N_FILTERED, by);
		return 0;
	}
	id.dev = (u32)gd->major << 20 | gd->first_minor;
	id.write = op;
	b = bpf_map_lookup_elem(&blocks, &id);
	if (!b) {
		bpf_map_update_elem(&blocks, &id, &none, BPF_NOEXIST);
		b = bpf_map_lookup_elem(&blocks, &id);
	}
	count_by(b ? N_STORED : N_MAP_FULL, by);
	if (!b)
		return 0;
	__sync_fetch_and_add(&b->requests, by);
	__sync_fetch_and_add(&b->bytes, by * bytes);
	__sync_fetch_and_add(&b->hist[size_class(bytes)], by);
	extremes(b, bytes);
	unit = bpf_map_lookup_elem(&units, &id.dev);
	iu = unit ? *unit : 0;
	if (iu) {
		__sync_fetch_and_add(&b->iu_bytes, by * (((at + bytes - 1) / iu - at / iu + 1) * iu));
		if (bytes < iu)
			__sync_fetch_and_add(&b->sub_iu, by);
	}
	return 0;
}

SEC("?tp_btf/block_rq_issue")
int BPF_PROG(issued, struct request *rq)
{
	return add_request(rq, 1);
}

/* The device had no room for it: it will be issued once more. */
SEC("?tp_btf/block_rq_requeue")
int BPF_PROG(requeued, struct request *rq)
{
	return add_request(rq, -1);
}

#endif
