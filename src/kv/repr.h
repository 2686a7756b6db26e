/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the planes of an object are represented.  A packed object is a codec
 * header, then K, V, and the scales of V, without gaps:
 *   bf16_kv   K and V at the model's dtype, no header
 *   k16_v8    K at the model's dtype, V in one byte an element
 *   v8_only   the same without K, which the host keeps
 */
#ifndef KVIO_KV_REPR_H
#define KVIO_KV_REPR_H

#include "kv/geometry.h"

enum kv_repr { KV_REPR_PLAIN, KV_REPR_K16_V8, KV_REPR_V8_ONLY };
#define KV_REPRS "bf16_kv|k16_v8|v8_only"
enum kv_scales { KV_SCALE_TENSOR, KV_SCALE_PAGE_HEAD };
#define KV_SCALES "per_tensor|per_page_head"
int kv_repr_parse(enum kv_repr *repr, const char *name);       /* -EINVAL */
int kv_scales_parse(enum kv_scales *scales, const char *name); /* -EINVAL */
const char *kv_repr_name(enum kv_repr repr);

/* Bytes of one object by what they are; in this order on the wire. */
struct kv_components {
	u64 codec_header, k, v, scales;
	u64 payload;	   /* their sum */
	u64 host_retained; /* not stored */
};

/*
 * The object of one rank: `elements` in all, of which half are K.  The codec
 * header names the model.  -EINVAL and why[KV_WHY] where K and V are not two
 * planes, or pages do not divide the tokens; -EOVERFLOW.
 */
int kv_components(struct kv_components *c, const struct kv_model *m, enum kv_repr repr, enum kv_scales scales,
		  u64 elements, enum kv_dtype dtype, u32 ranks, u64 tokens, u64 page_tokens, char *why);

/* Length of the codec header for a scale of `dims` dimensions. */
u64 kv_codec_header_bytes(const char *model, u32 dims);

#endif
