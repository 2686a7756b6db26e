/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decides the size of a model's KV cache, read from a Hugging Face
 * config.json or from the table of known models, which has the same members.
 * The family follows from the members of the config only, never from a name.
 */
#ifndef KVIO_KV_CONFIG_H
#define KVIO_KV_CONFIG_H

#include <jansson.h>

#include "lib/types.h"

enum kv_family {
	KV_MHA,		 /* as many KV heads as attention heads */
	KV_GQA,		 /* fewer, of hidden_size / num_attention_heads */
	KV_GQA_HEAD_DIM, /* heads of an explicit head_dim */
	KV_MLA,		 /* one latent for all heads: kv_lora_rank + qk_rope_head_dim */
	KV_CLA,		 /* cla_share_factor layers share one cache */
};
const char *kv_family_name(enum kv_family family);

enum kv_dtype { KV_FLOAT32, KV_FLOAT16, KV_BFLOAT16, KV_INT8, KV_FP8, N_KV_DTYPES };
#define KV_DTYPES "float32|float16|bfloat16|int8|fp8|float8"
/* -EINVAL when there is no such dtype; "float8" is fp8, and "torch." may stand in front. */
int kv_dtype_parse(enum kv_dtype *dtype, const char *name);
const char *kv_dtype_name(enum kv_dtype dtype);
u32 kv_dtype_bytes(enum kv_dtype dtype);

#define KV_NAME 128 /* bytes of a model's name, cut when it is longer */
#define KV_WHY	200 /* bytes of a sentence that says what is wrong */

struct kv_model {
	char name[KV_NAME];
	enum kv_family family;
	u32 layers; /* all of them */
	u32 hidden, heads, kv_heads, head_dim;
	u32 latent;	    /* KV_MLA: elements per token and layer */
	u32 share;	    /* layers to one cache; 1 but for KV_CLA */
	u32 linear_layers;  /* without a cache that grows with the tokens */
	u32 sliding_layers; /* that look back `window` tokens only */
	u32 window;
	u64 active_params;     /* used for one token; 0 unknown */
	bool params_estimated; /* computed from the dimensions, not told */
};

/*
 * A model from its config; `name` for outputs.  A config of several
 * modalities has its language model in "text_config".  0, or -EINVAL and in
 * why[KV_WHY] which member is missing, is no whole number, or does not fit the
 * others; nothing is guessed.
 */
int kv_model_parse(struct kv_model *m, const json_t *config, const char *name, char *why);
/* From a file: also -errno of the file, -EFBIG above 16 MiB, -EBADMSG when it is no JSON object. */
int kv_model_read(struct kv_model *m, const char *path, char *why);

/*
 * The table.  A model is found by its whole name, by what stands behind the
 * '/', or by an alias, whatever the case.  -ENOENT; *near is then the nearest
 * name or NULL.
 */
int kv_model_find(struct kv_model *m, const char *name, const char **near);
/* Number of models in the table, and the i-th one's config. */
size_t kv_table_size(void);
int kv_table_get(struct kv_model *m, size_t i);

/* A model of bare dimensions, as older command lines give them.  -EINVAL and why[]. */
int kv_model_make(struct kv_model *m, u64 layers, u64 kv_heads, u64 head_dim, char *why);

#endif
