// SPDX-License-Identifier: Apache-2.0
#include "kv/layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/blake2b.h"

int kv_round_up(u64 v, u64 align, u64 *out)
{
	u64 rest = align > 1 ? v % align : 0;

	return __builtin_add_overflow(v, rest ? align - rest : 0, out) ? -EOVERFLOW : 0;
}

static int refuse(char *why, const char *text)
{
	snprintf(why, KV_WHY, "%s", text);
	return -EINVAL;
}

int kv_layout_make(struct kv_layout *l, char *why)
{
	u64 align = l->block_align;

	if (!align || (align & (align - 1)))
		return refuse(why, "block_align is no power of two");
	if (l->header_bytes < KV_SLOT_HEADER || l->header_bytes % align)
		return refuse(why, "header_bytes is no multiple of block_align, or less than 24");
	if (l->slot_bytes <= l->header_bytes || l->slot_bytes % align)
		return refuse(why, "slot_bytes is no multiple of block_align, or not more than header_bytes");
	if (l->meta_bytes <= align || l->meta_bytes % align)
		return refuse(why, "meta_bytes is no multiple of block_align, or not more than it");
	l->container_bytes = l->meta_bytes / 2 / align * align;
	/* One block is the container's header. */
	if (l->container_bytes <= align)
		return refuse(why, "meta_bytes has no room for two containers");
	if (l->meta_bytes >= l->capacity_bytes)
		return refuse(why, "the capacity has no room behind the metadata");
	l->container_payload = l->container_bytes - align;
	l->data_base = l->meta_bytes;
	l->slots = (l->capacity_bytes - l->data_base) / l->slot_bytes;
	return l->slots ? 0 : refuse(why, "the capacity has no room for one slot");
}

int kv_slot_bytes(u64 payload, u64 header_bytes, u64 unit, u64 *slot)
{
	return __builtin_add_overflow(payload, header_bytes, slot) ? -EOVERFLOW : kv_round_up(*slot, unit, slot);
}

static void put(u8 *p, u64 v, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		p[i] = (u8)(v >> 8 * i);
}

static u64 get(const u8 *p, u32 bytes)
{
	u64 v = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		v |= (u64)p[i] << 8 * i;
	return v;
}

void kv_slot_header_put(u8 out[KV_SLOT_HEADER], const struct kv_slot_header *h)
{
	memcpy(out, KV_SLOT_MAGIC, 8);
	put(out + 8, h->identity, 8);
	put(out + 16, h->payload_bytes, 8);
}

int kv_slot_header_get(struct kv_slot_header *h, const u8 in[KV_SLOT_HEADER])
{
	if (memcmp(in, KV_SLOT_MAGIC, 8))
		return -EBADMSG;
	*h = (struct kv_slot_header){ .identity = get(in + 8, 8), .payload_bytes = get(in + 16, 8) };
	return 0;
}

void kv_ckpt_header_put(u8 out[KV_CKPT_HEADER], const struct kv_ckpt_header *h)
{
	memcpy(out, KV_CKPT_MAGIC, 8);
	put(out + 8, h->version, 4);
	put(out + 12, h->seq, 8);
	put(out + 20, h->payload_bytes, 8);
	put(out + 28, h->crc, 4);
}

int kv_ckpt_header_get(struct kv_ckpt_header *h, const u8 in[KV_CKPT_HEADER])
{
	if (memcmp(in, KV_CKPT_MAGIC, 8))
		return -EBADMSG;
	*h = (struct kv_ckpt_header){
		.version = (u32)get(in + 8, 4),
		.seq = get(in + 12, 8),
		.payload_bytes = get(in + 20, 8),
		.crc = (u32)get(in + 28, 4),
	};
	return 0;
}

u64 kv_identity(const char *key, size_t n)
{
	u8 digest[8];

	blake2b(digest, sizeof(digest), key, n);
	return get(digest, sizeof(digest));
}

int kv_tag(u64 trace_id, u64 counter, u64 *user_data)
{
	if (trace_id > UINT32_MAX || counter > UINT32_MAX)
		return -ERANGE;
	*user_data = trace_id << 32 | counter;
	return 0;
}
