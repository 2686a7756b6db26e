// SPDX-License-Identifier: Apache-2.0
#include "kv/geometry.h"

#include <errno.h>
#include <stdio.h>

static int mul(u64 *v, u64 by)
{
	return __builtin_mul_overflow(*v, by, v) ? -EOVERFLOW : 0;
}

/* Elements of one layer for one token. */
static u64 layer_elements(const struct kv_model *m)
{
	return m->family == KV_MLA ? m->latent : 2ull * m->kv_heads * m->head_dim;
}

static u32 cached_layers(const struct kv_model *m)
{
	return (m->layers - m->linear_layers) / m->share;
}

int kv_elements(const struct kv_model *m, u64 tokens, u64 *elements)
{
	*elements = layer_elements(m);
	return mul(elements, cached_layers(m)) ? -EOVERFLOW : mul(elements, tokens);
}

int kv_bytes(const struct kv_model *m, u64 tokens, enum kv_dtype dtype, u64 *bytes)
{
	int ret = kv_elements(m, tokens, bytes);

	return ret ? ret : mul(bytes, kv_dtype_bytes(dtype));
}

int kv_needed_bytes(const struct kv_model *m, u64 tokens, enum kv_dtype dtype, u64 *bytes)
{
	u64 windowed = layer_elements(m) * m->sliding_layers, full = layer_elements(m), last = MIN(tokens, m->window);

	if (mul(&full, cached_layers(m) - m->sliding_layers) || mul(&full, tokens) || mul(&windowed, last) ||
	    __builtin_add_overflow(full, windowed, bytes))
		return -EOVERFLOW;
	return mul(bytes, kv_dtype_bytes(dtype));
}

int kv_layer_bytes(const struct kv_model *m, u64 tokens, enum kv_dtype dtype, u64 *bytes)
{
	*bytes = layer_elements(m);
	return mul(bytes, tokens) ? -EOVERFLOW : mul(bytes, kv_dtype_bytes(dtype));
}

int kv_shard(const struct kv_model *m, u64 bytes, u32 ranks, struct kv_shard *s, char *why)
{
	ranks = MAX(ranks, 1u);
	*s = (struct kv_shard){ .objects = ranks, .copies = 1 };
	if (m->family == KV_MLA) {
		s->copies = ranks;
		s->object_bytes = bytes;
	} else if (!m->kv_heads) {
		snprintf(why, KV_WHY, "the number of KV heads is not known");
		return -EINVAL;
	} else if (m->kv_heads >= ranks) {
		if (m->kv_heads % ranks)
			snprintf(why, KV_WHY, "%u KV heads over %u ranks: uneven", m->kv_heads, ranks);
		if (m->kv_heads % ranks)
			return -EINVAL;
		s->object_bytes = bytes / ranks;
	} else {
		if (ranks % m->kv_heads)
			snprintf(why, KV_WHY, "%u ranks are no multiple of the %u KV heads that they would share",
				 ranks, m->kv_heads);
		if (ranks % m->kv_heads)
			return -EINVAL;
		s->copies = ranks / m->kv_heads;
		s->object_bytes = bytes / m->kv_heads;
	}
	return __builtin_mul_overflow(s->object_bytes, ranks, &s->total_bytes) ? -EOVERFLOW : 0;
}
