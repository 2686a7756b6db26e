// SPDX-License-Identifier: Apache-2.0
#include "kv/repr.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SCALE_BYTES 4 /* float32 */

static const char *const repr_names[] = { "bf16_kv", "k16_v8", "v8_only" };
static const char *const scale_names[] = { "per_tensor", "per_page_head" };

static int find(const char *const *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -EINVAL;
}

int kv_repr_parse(enum kv_repr *repr, const char *name)
{
	int i = find(repr_names, ARRAY_SIZE(repr_names), name);

	if (i >= 0)
		*repr = (enum kv_repr)i;
	return MIN(i, 0);
}

int kv_scales_parse(enum kv_scales *scales, const char *name)
{
	int i = find(scale_names, ARRAY_SIZE(scale_names), name);

	if (i >= 0)
		*scales = (enum kv_scales)i;
	return MIN(i, 0);
}

const char *kv_repr_name(enum kv_repr repr)
{
	return repr_names[repr];
}

u64 kv_codec_header_bytes(const char *model, u32 dims)
{
	/* Written empty where they are not known; of these only the model is. */
	static const char *const keys[] = { "model_id",		"model_revision_hash", "tokenizer_hash",
					    "rope_config_hash", "attention_backend",   "kv_layout" };
	u64 n = 8 + 6 * 2 + 7 * 8 + 8ull * dims + 3 * 8 + 2;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		n += 2 + strlen(keys[i]) + 2;
	return n + strlen(model) + 4;
}

static int refuse(char *why, const char *text)
{
	snprintf(why, KV_WHY, "%s", text);
	return -EINVAL;
}

int kv_components(struct kv_components *c, const struct kv_model *m, enum kv_repr repr, enum kv_scales scales,
		  u64 elements, enum kv_dtype dtype, u32 ranks, u64 tokens, u64 page_tokens, char *why)
{
	u64 plane = elements / 2, n_scales = 1, payload;

	*c = (struct kv_components){};
	if (m->family == KV_MLA)
		return refuse(why, "a latent (MLA) has no K and V to tell apart");
	if (elements % 2)
		return refuse(why, "K and V are not of one size");
	if (__builtin_mul_overflow(plane, kv_dtype_bytes(dtype), &c->k))
		return -EOVERFLOW;
	c->v = repr == KV_REPR_PLAIN ? c->k : plane;
	if (repr != KV_REPR_PLAIN) {
		if (scales == KV_SCALE_PAGE_HEAD) {
			if (!page_tokens || tokens % page_tokens)
				return refuse(why, "the tokens of a chunk are no multiple of the page");
			n_scales = tokens / page_tokens * MAX(1u, m->kv_heads / MAX(ranks, 1u));
		}
		c->codec_header = kv_codec_header_bytes(m->name, scales == KV_SCALE_PAGE_HEAD ? 2 : 0);
		c->scales = n_scales * SCALE_BYTES;
	}
	if (repr == KV_REPR_V8_ONLY) {
		c->host_retained = c->k;
		c->k = 0;
	}
	if (__builtin_add_overflow(c->k, c->v, &payload) ||
	    __builtin_add_overflow(payload, c->scales + c->codec_header, &c->payload))
		return -EOVERFLOW;
	return 0;
}
