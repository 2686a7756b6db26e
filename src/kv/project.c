// SPDX-License-Identifier: Apache-2.0
#include "kv/project.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int mul(u64 a, u64 b, u64 *out)
{
	return __builtin_mul_overflow(a, b, out) ? -EOVERFLOW : 0;
}

/* The object of one rank: its parts. */
static int project_object(struct kv_projection *p, const struct kv_query *q, char *why)
{
	u64 elements;
	int ret;

	if (!q->m) {
		p->shard = (struct kv_shard){
			.objects = 1, .copies = 1, .object_bytes = q->payload, .total_bytes = q->payload
		};
		p->part.payload = q->payload;
		return 0;
	}
	ret = kv_bytes(q->m, 1, q->dtype, &p->token_bytes);
	if (!ret)
		ret = kv_bytes(q->m, q->chunk_tokens, q->dtype, &p->chunk_bytes);
	if (!ret)
		ret = kv_layer_bytes(q->m, q->chunk_tokens, q->dtype, &p->layer_bytes);
	if (!ret)
		ret = kv_shard(q->m, p->chunk_bytes, q->ranks, &p->shard, why);
	if (ret)
		return ret;
	p->part.payload = p->shard.object_bytes;
	elements = p->shard.object_bytes / kv_dtype_bytes(q->dtype);
	if (q->m->family != KV_MLA || q->repr != KV_REPR_PLAIN)
		ret = kv_components(&p->part, q->m, q->repr, q->scales, elements, q->dtype, q->ranks, q->chunk_tokens,
				    q->page_tokens, why);
	return ret;
}

static int project_index(struct kv_projection *p, const struct kv_query *q)
{
	struct kv_workload *w = &p->work;
	u64 align = MAX(q->limits.align, 1ull), half = q->meta_bytes / 2 / align * align;
	struct kv_split json;
	int ret = mul(w->objects, KV_CKPT_ENTRY_BYTES, &w->index_bytes);

	w->index_room = half > align ? half - align : 0;
	if (!ret)
		ret = kv_split(&json, w->index_bytes, p->xfer, align);
	if (!ret)
		w->checkpoint_commands = json.n + 1;
	return ret;
}

static int project_workload(struct kv_projection *p, const struct kv_query *q)
{
	struct kv_workload *w = &p->work;
	u64 slots;
	u32 op;
	int ret;

	w->chunks = q->tokens / q->chunk_tokens;
	w->ignored_tokens = q->tokens % q->chunk_tokens;
	if (mul(w->chunks, q->sequences, &w->objects) || mul(w->objects, p->shard.objects, &w->objects))
		return -EOVERFLOW;
	for (op = 0; op < N_KV_OPS; op++)
		if (mul(w->objects, p->plan[op].commands, &w->commands[op]) ||
		    mul(w->objects, p->plan[op].device_bytes, &w->device_bytes[op]))
			return -EOVERFLOW;
	if (q->m) {
		ret = kv_needed_bytes(q->m, w->chunks * q->chunk_tokens, q->dtype, &w->needed_bytes);
		if (ret || mul(w->needed_bytes, q->sequences, &w->needed_bytes))
			return -EOVERFLOW;
	}
	ret = kv_slot_bytes(p->part.payload, q->header_bytes, 1 << 20, &w->slot_bytes);
	if (ret || mul(w->objects, w->slot_bytes, &slots) ||
	    __builtin_add_overflow(slots, q->meta_bytes, &w->capacity_bytes))
		return -EOVERFLOW;
	return project_index(p, q);
}

int kv_project(struct kv_projection *p, const struct kv_query *q, char *why)
{
	u64 padded;
	u32 op;
	int ret;

	*p = (struct kv_projection){};
	ret = project_object(p, q, why);
	if (!ret)
		ret = kv_xfer(&q->limits, &p->xfer, why);
	for (op = 0; op < N_KV_OPS && !ret; op++)
		ret = kv_plan(&p->plan[op], (enum kv_op)op, p->part.payload, q->header_bytes, p->xfer, q->limits.align);
	if (!ret)
		ret = kv_round_up(p->part.payload, q->limits.align, &padded);
	if (!ret)
		p->padding = padded - p->part.payload;
	if (!ret && q->tokens)
		ret = project_workload(p, q);
	if (ret == -EOVERFLOW)
		snprintf(why, KV_WHY, "the numbers are too large");
	return ret;
}
