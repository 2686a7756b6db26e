/* SPDX-License-Identifier: Apache-2.0 */
/* Objects into device commands: the only place where one is split. */
#ifndef KVIO_KV_SPLIT_H
#define KVIO_KV_SPLIT_H

#include "kv/config.h"

/* Commands of one size and a shorter last one. */
struct kv_split {
	u64 n;	   /* commands */
	u64 xfer;  /* bytes of all but the last */
	u64 last;  /* bytes of the last, rounded up; 0 without commands */
	u64 bytes; /* on the wire */
};

/*
 * `bytes` in commands of at most `xfer`, the last rounded up to `align`.
 * xfer is a multiple of align (kv_xfer()).  0 or -EOVERFLOW.
 */
int kv_split(struct kv_split *s, u64 bytes, u64 xfer, u64 align);
/* Size of command i of the split. */
static inline u64 kv_split_at(const struct kv_split *s, u64 i)
{
	return i + 1 < s->n ? s->xfer : s->last;
}

/* What bounds one command; 0 = no such bound.  Not all are 0. */
struct kv_limits {
	u64 mdts_bytes;	  /* of the device */
	u64 max_xfer;	  /* of the engine */
	u32 max_segments; /* of the kernel, a page each unless buffers are on huge pages */
	u32 page_bytes;	  /* of such a segment, 0 = 4096 */
	u64 align;	  /* of every command; 0 = 1 */
};

/*
 * The size of a command within the limits.  The bound by segments is rounded
 * down to align; mdts_bytes and max_xfer must be multiples of it.  -EINVAL and
 * why[KV_WHY].
 */
int kv_xfer(const struct kv_limits *l, u64 *xfer, char *why);

/* What an operation puts on the wire. */
enum kv_op { KV_STORE, KV_LOAD, N_KV_OPS };
struct kv_plan {
	struct kv_split header; /* of a store; none of a load */
	struct kv_split payload;
	u32 device_ops; /* 2 or 1: header and payload are submitted apart */
	u64 commands, device_bytes;
};
/* 0 or -EOVERFLOW. */
int kv_plan(struct kv_plan *p, enum kv_op op, u64 payload, u64 header, u64 xfer, u64 align);
/* Size of command i of the plan, header first. */
static inline u64 kv_plan_at(const struct kv_plan *p, u64 i)
{
	return i < p->header.n ? kv_split_at(&p->header, i) : kv_split_at(&p->payload, i - p->header.n);
}
const char *kv_op_name(enum kv_op op);

#endif
