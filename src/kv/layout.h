/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the raw_block engine puts objects on a device, and what the few bytes
 * are that it puts beside them.  All numbers on the device are little-endian.
 *
 *   0                  checkpoint container 0: header block, JSON
 *   meta_bytes / 2     checkpoint container 1, rounded down to block_align
 *   meta_bytes         slot 0, slot 1, ...: header_bytes, then the payload
 */
#ifndef KVIO_KV_LAYOUT_H
#define KVIO_KV_LAYOUT_H

#include "kv/config.h"

#define KV_SLOT_MAGIC	    "LMCBLK01"
#define KV_CKPT_MAGIC	    "LMCIDX01"
#define KV_CKPT_VERSION	    1u
#define KV_SLOT_HEADER	    24u /* bytes that are used of a slot's header */
#define KV_CKPT_HEADER	    32u /* ... of a container's */
#define KV_META_BYTES	    (1u << 20)
#define KV_HEADER_BYTES	    4096u
#define KV_BLOCK_ALIGN	    4096u
/* Of one object in the JSON of a checkpoint, about. */
#define KV_CKPT_ENTRY_BYTES 200u

/* v rounded up to a multiple of `align` (0 = 1).  0 or -EOVERFLOW. */
int kv_round_up(u64 v, u64 align, u64 *out);

struct kv_layout {
	u64 meta_bytes, block_align, header_bytes, slot_bytes, capacity_bytes;
	/* kv_layout_make() fills these. */
	u64 container_bytes;   /* of each of the two; container 1 starts there */
	u64 container_payload; /* JSON that fits one */
	u64 data_base;	       /* slot 0 */
	u64 slots;
};
/* The rest of a layout from its first five members.  -EINVAL and why[KV_WHY]. */
int kv_layout_make(struct kv_layout *l, char *why);
static inline u64 kv_slot_offset(const struct kv_layout *l, u64 slot)
{
	return l->data_base + slot * l->slot_bytes;
}

/* A slot for a payload: in whole `unit`s, 1 MiB by generators and block_align by manifests.  0 or -EOVERFLOW. */
int kv_slot_bytes(u64 payload, u64 header_bytes, u64 unit, u64 *slot);

/* The used part of the header of a slot; the rest of it is zero. */
struct kv_slot_header {
	u64 identity;	   /* kv_identity() */
	u64 payload_bytes; /* as the application wrote it, not rounded */
};
void kv_slot_header_put(u8 out[KV_SLOT_HEADER], const struct kv_slot_header *h);
/* -EBADMSG when the magic is another one. */
int kv_slot_header_get(struct kv_slot_header *h, const u8 in[KV_SLOT_HEADER]);

/* The header of a checkpoint container. */
struct kv_ckpt_header {
	u32 version, crc; /* CRC-32 of the payload */
	u64 seq;	  /* of two sound containers the higher one counts */
	u64 payload_bytes;
};
void kv_ckpt_header_put(u8 out[KV_CKPT_HEADER], const struct kv_ckpt_header *h);
/* -EBADMSG when the magic is another one. */
int kv_ckpt_header_get(struct kv_ckpt_header *h, const u8 in[KV_CKPT_HEADER]);
/* The container that checkpoint number `seq` (from 1) is written to. */
static inline u32 kv_ckpt_container(u64 seq)
{
	return (u32)((seq - 1) % 2);
}

/* The slot identity of an object key: BLAKE2b of 8 bytes over it. */
u64 kv_identity(const char *key, size_t n);

/*
 * user_data of a command: the trace id of its operation in the high half, the
 * number of the submission in the low one; trace id 0 is untagged.  Both are
 * of 32 bits: kv_tag() refuses to wrap.
 */
int kv_tag(u64 trace_id, u64 counter, u64 *user_data); /* -ERANGE */
static inline u32 kv_tag_trace_id(u64 user_data)
{
	return (u32)(user_data >> 32);
}

#endif
