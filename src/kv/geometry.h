/* SPDX-License-Identifier: Apache-2.0 */
/* How large KV caches are: exact whole numbers, or an error. */
#ifndef KVIO_KV_GEOMETRY_H
#define KVIO_KV_GEOMETRY_H

#include "kv/config.h"

#define KV_CHUNK_TOKENS 256 /* tokens in an object, unless told */

/*
 * Elements that the cache of `tokens` tokens holds, each layer all of them:
 *   MHA, GQA, head_dim   2 * layers * tokens * kv_heads * head_dim
 *   MLA                  layers * tokens * (kv_lora_rank + qk_rope_head_dim)
 *   CLA                  2 * layers / share * tokens * kv_heads * head_dim
 * Layers without a cache that grows count for nothing.  This is what is stored
 * of a chunk: layers with a window are stored whole as well.  0 or -EOVERFLOW.
 */
int kv_elements(const struct kv_model *m, u64 tokens, u64 *elements);
/* The same in bytes. */
int kv_bytes(const struct kv_model *m, u64 tokens, enum kv_dtype dtype, u64 *bytes);
/* What generation needs of a context: layers with a window only their last tokens.  0 or -EOVERFLOW. */
int kv_needed_bytes(const struct kv_model *m, u64 tokens, enum kv_dtype dtype, u64 *bytes);
/* Both K and V of one layer.  0 or -EOVERFLOW. */
int kv_layer_bytes(const struct kv_model *m, u64 tokens, enum kv_dtype dtype, u64 *bytes);

/* The objects that a chunk is stored as, one a rank. */
struct kv_shard {
	u32 objects; /* equal to the ranks */
	u32 copies;  /* ranks that hold the same heads */
	u64 object_bytes;
	u64 total_bytes; /* of all objects of the chunk */
};

/*
 * The shards of `bytes` (all heads) over `ranks` ranks.  Fewer heads than
 * ranks are replicated; a latent is on every rank.  -EINVAL and why[KV_WHY]
 * when heads and ranks do not divide, -EOVERFLOW.
 */
int kv_shard(const struct kv_model *m, u64 bytes, u32 ranks, struct kv_shard *s, char *why);

#endif
