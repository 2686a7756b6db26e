// SPDX-License-Identifier: Apache-2.0
#include "kv/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/str.h"
#include "lib/zio.h"

#define MAX_DIMENSION  (1u << 24) /* no dimension of a model is near it */
#define MAX_CONFIG     (16u << 20)
#define GEMMA3_PATTERN 6 /* every so many layers one is full, where a config does not say */

static const struct {
	const char *name;
	u32 bytes;
} dtypes[N_KV_DTYPES] = {
	[KV_FLOAT32] = { "float32", 4 }, [KV_FLOAT16] = { "float16", 2 }, [KV_BFLOAT16] = { "bfloat16", 2 },
	[KV_INT8] = { "int8", 1 },	 [KV_FP8] = { "fp8", 1 },
};

const char *kv_dtype_name(enum kv_dtype dtype)
{
	return dtypes[dtype].name;
}

u32 kv_dtype_bytes(enum kv_dtype dtype)
{
	return dtypes[dtype].bytes;
}

int kv_dtype_parse(enum kv_dtype *dtype, const char *name)
{
	size_t i;

	if (!strncmp(name, "torch.", 6))
		name += 6;
	if (!strcmp(name, "float8"))
		name = "fp8";
	for (i = 0; i < N_KV_DTYPES; i++)
		if (!strcmp(dtypes[i].name, name)) {
			*dtype = (enum kv_dtype)i;
			return 0;
		}
	return -EINVAL;
}

const char *kv_family_name(enum kv_family family)
{
	static const char *const names[] = {
		[KV_MHA] = "mha", [KV_GQA] = "gqa", [KV_GQA_HEAD_DIM] = "gqa_head_dim",
		[KV_MLA] = "mla", [KV_CLA] = "cla",
	};

	return names[family];
}

/* A config being read: the first thing that is wrong stays. */
struct reader {
	const json_t *doc;
	char *why;
	int err;
};

static void __attribute__((format(printf, 2, 3))) complain(struct reader *r, const char *fmt, ...)
{
	va_list ap;

	if (r->err)
		return;
	r->err = -EINVAL;
	va_start(ap, fmt);
	vsnprintf(r->why, KV_WHY, fmt, ap);
	va_end(ap);
}

static bool has(const struct reader *r, const char *key)
{
	const json_t *v = json_object_get(r->doc, key);

	return v && !json_is_null(v);
}

/* A dimension; 0 when it is absent or null. */
static u32 number(struct reader *r, const char *key)
{
	const json_t *v = json_object_get(r->doc, key);
	json_int_t n;

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_integer(v)) {
		complain(r, "%s is not a whole number", key);
		return 0;
	}
	n = json_integer_value(v);
	if (n < 1 || n > MAX_DIMENSION) {
		complain(r, "%s is %lld, not between 1 and %u", key, (long long)n, MAX_DIMENSION);
		return 0;
	}
	return (u32)n;
}

static u32 needed(struct reader *r, const char *key)
{
	u32 n = number(r, key);

	if (!n)
		complain(r, "%s is missing", key);
	return n;
}

static bool flag(const struct reader *r, const char *key, bool otherwise)
{
	const json_t *v = json_object_get(r->doc, key);

	return json_is_boolean(v) ? json_is_true(v) : otherwise;
}

static const char *text(const struct reader *r, const char *key)
{
	const json_t *v = json_object_get(r->doc, key);

	return json_is_string(v) ? json_string_value(v) : "";
}

/* ---- layers that do not keep all tokens ---- */

/* "layer_types" names the kind of each layer. */
static void read_layer_types(struct reader *r, struct kv_model *m)
{
	const json_t *types = json_object_get(r->doc, "layer_types"), *v;
	size_t i;

	if (json_array_size(types) != m->layers) {
		complain(r, "layer_types has %zu entries for %u layers", json_array_size(types), m->layers);
		return;
	}
	json_array_foreach(types, i, v) {
		const char *kind = json_is_string(v) ? json_string_value(v) : "";

		if (!strcmp(kind, "full_attention") || !strcmp(kind, "attention"))
			continue;
		if (!strcmp(kind, "sliding_attention") || !strcmp(kind, "chunked_attention"))
			m->sliding_layers++;
		else if (!strcmp(kind, "linear_attention") || !strcmp(kind, "mamba"))
			m->linear_layers++;
		else
			complain(r, "layer_types[%zu] is no kind of layer that is known", i);
	}
}

/* Without that list the model's type says which layers have a window. */
static void read_window_pattern(struct reader *r, struct kv_model *m)
{
	const char *type = text(r, "model_type");
	u32 every = number(r, "sliding_window_pattern");

	if (!m->window)
		return;
	if (every || str_starts(type, "gemma3")) {
		every = every ? every : GEMMA3_PATTERN;
		m->sliding_layers = m->layers - m->layers / every;
	} else if (!strcmp(type, "gemma2") || !strcmp(type, "gpt_oss")) {
		m->sliding_layers = (m->layers + 1) / 2;
	} else if (str_starts(type, "qwen")) {
		/* Of layers from max_window_layers on, when it is switched on at all. */
		u32 full = flag(r, "use_sliding_window", false) ? number(r, "max_window_layers") : m->layers;

		m->sliding_layers = full < m->layers ? m->layers - full : 0;
	} else if (flag(r, "use_sliding_window", true)) {
		m->sliding_layers = m->layers;
	}
}

static void read_layers(struct reader *r, struct kv_model *m)
{
	u32 every;
	const char *pattern = text(r, "hybrid_override_pattern");

	m->window = number(r, "sliding_window");
	if (json_is_array(json_object_get(r->doc, "layer_types"))) {
		if (!m->window)
			m->window = number(r, "attention_chunk_size");
		read_layer_types(r, m);
	} else if (*pattern) {
		/* A letter a layer: '*' is attention, others keep no cache that grows. */
		if (strlen(pattern) != m->layers)
			complain(r, "hybrid_override_pattern has %zu letters for %u layers", strlen(pattern),
				 m->layers);
		for (; *pattern && !r->err; pattern++)
			m->linear_layers += *pattern != '*';
	} else if (has(r, "attn_layer_period")) {
		every = number(r, "attn_layer_period");
		if (every)
			m->linear_layers = m->layers - m->layers / every;
	} else if (has(r, "full_attention_interval")) {
		every = number(r, "full_attention_interval");
		if (every)
			m->linear_layers = m->layers - m->layers / every;
	} else {
		read_window_pattern(r, m);
	}
	if (m->sliding_layers && !m->window)
		complain(r, "layer_types has sliding layers, but sliding_window is missing");
	if (!m->sliding_layers)
		m->window = 0;
}

/* ---- families ---- */

static u32 default_head_dim(struct reader *r, const struct kv_model *m)
{
	if (!m->hidden || !m->heads)
		return 0;
	if (m->hidden % m->heads) {
		complain(r, "hidden_size %u is no multiple of num_attention_heads %u, and there is no head_dim",
			 m->hidden, m->heads);
		return 0;
	}
	return m->hidden / m->heads;
}

static void read_heads(struct reader *r, struct kv_model *m)
{
	u32 explicit = number(r, "head_dim");

	m->kv_heads = number(r, "num_key_value_heads");
	if (!m->kv_heads)
		m->kv_heads = m->heads;
	if (m->heads && m->kv_heads && m->heads % m->kv_heads)
		complain(r, "num_attention_heads %u is no multiple of num_key_value_heads %u", m->heads, m->kv_heads);
	m->head_dim = explicit ? explicit : default_head_dim(r, m);
	if (explicit && (!m->hidden || !m->heads || (u64) explicit * m->heads != m->hidden))
		m->family = KV_GQA_HEAD_DIM;
	else
		m->family = m->kv_heads == m->heads ? KV_MHA : KV_GQA;
}

static void read_family(struct reader *r, struct kv_model *m)
{
	u32 rank = number(r, "kv_lora_rank"), rope = number(r, "qk_rope_head_dim");
	u32 share = flag(r, "use_cla", has(r, "cla_share_factor")) ? number(r, "cla_share_factor") : 0;

	if (rank && rope) {
		m->family = KV_MLA;
		m->latent = rank + rope;
		m->head_dim = m->heads ? m->hidden / m->heads : 0;
		return;
	}
	read_heads(r, m);
	if (share <= 1)
		return;
	m->family = KV_CLA;
	m->share = share;
	if (m->layers % share)
		complain(r, "num_hidden_layers %u is no multiple of cla_share_factor %u", m->layers, share);
	if (m->sliding_layers || m->linear_layers)
		complain(r, "layers that share a cache and layers of several kinds do not go together");
}

/* ---- parameters ---- */

/*
 * Weights that one token passes, from the dimensions: attention, the experts
 * that are chosen, the embeddings.  0 when the config does not have them all.
 */
static u64 estimate_params(struct reader *r, const struct kv_model *m)
{
	u64 h = m->hidden, l = m->layers, vocab = number(r, "vocab_size");
	u64 inner = number(r, "intermediate_size"), experts = number(r, "num_experts_per_tok"), shared;
	u64 expert_inner = number(r, "moe_intermediate_size");
	double attention, mlp;

	if (!h || !inner || !vocab || m->family == KV_MLA)
		return 0;
	if (!expert_inner)
		expert_inner = inner;
	shared = number(r, "n_shared_experts");
	attention = 2.0 * (double)h * m->head_dim * (m->heads + m->kv_heads);
	mlp = 3.0 * (double)h * (experts ? (double)expert_inner * (double)(experts + shared) : (double)inner);
	return (u64)((double)l * (attention + mlp) +
		     (double)vocab * (double)h * (flag(r, "tie_word_embeddings", false) ? 1 : 2));
}

static void read_params(struct reader *r, struct kv_model *m)
{
	const json_t *v = json_object_get(r->doc, "active_parameters");

	if (json_is_integer(v) && json_integer_value(v) > 0) {
		m->active_params = (u64)json_integer_value(v);
		return;
	}
	m->active_params = estimate_params(r, m);
	m->params_estimated = m->active_params > 0;
}

int kv_model_parse(struct kv_model *m, const json_t *config, const char *name, char *why)
{
	struct reader r = { .doc = config, .why = why };

	*m = (struct kv_model){ .share = 1 };
	snprintf(m->name, sizeof(m->name), "%s", name);
	if (!json_is_object(config)) {
		complain(&r, "it is no JSON object");
		return r.err;
	}
	if (!has(&r, "num_hidden_layers") && json_is_object(json_object_get(config, "text_config")))
		r.doc = json_object_get(config, "text_config");
	m->layers = needed(&r, "num_hidden_layers");
	m->hidden = needed(&r, "hidden_size");
	m->heads = needed(&r, "num_attention_heads");
	if (!r.err)
		read_layers(&r, m);
	if (!r.err)
		read_family(&r, m);
	if (!r.err)
		read_params(&r, m);
	return r.err;
}

int kv_model_make(struct kv_model *m, u64 layers, u64 kv_heads, u64 head_dim, char *why)
{
	struct reader r = { .why = why };
	const struct {
		const char *name;
		u64 v;
	} all[] = { { "layers", layers }, { "kv-heads", kv_heads }, { "head-dim", head_dim } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (!all[i].v || all[i].v > MAX_DIMENSION)
			complain(&r, "--%s is %llu, not between 1 and %u", all[i].name, (unsigned long long)all[i].v,
				 MAX_DIMENSION);
	if (r.err)
		return r.err;
	*m = (struct kv_model){ .name = "given",
				.family = KV_GQA_HEAD_DIM,
				.layers = (u32)layers,
				.kv_heads = (u32)kv_heads,
				.head_dim = (u32)head_dim,
				.share = 1 };
	return 0;
}

/* ---- files ---- */

static int read_file(struct buf *b, const char *path)
{
	struct zin *z;
	ssize_t got = 0;
	int ret = zin_open(&z, path);

	if (ret)
		return ret;
	while (!ret && (got = buf_room(b, 65536) ? zin_read(z, b->p + b->n, 65536) : -ENOMEM)) {
		if (got < 0)
			ret = (int)got;
		else if ((b->n += (size_t)got) > MAX_CONFIG)
			ret = -EFBIG;
	}
	if (!ret && zin_defect(z))
		ret = -EBADMSG;
	zin_close(z);
	return ret;
}

int kv_model_read(struct kv_model *m, const char *path, char *why)
{
	const char *base = strrchr(path, '/');
	struct buf b = {};
	json_error_t e;
	json_t *doc;
	int ret = read_file(&b, path);

	if (ret) {
		snprintf(why, KV_WHY, "%s", ret == -EBADMSG ? "its compressed data is cut or damaged" : strerror(-ret));
		buf_free(&b);
		return ret;
	}
	doc = json_loadb(b.n ? b.p : "", b.n, 0, &e);
	buf_free(&b);
	if (!doc) {
		snprintf(why, KV_WHY, "line %d is no JSON: %.120s", e.line, e.text);
		return -EBADMSG;
	}
	if (has(&(struct reader){ .doc = doc }, "_name_or_path"))
		ret = kv_model_parse(m, doc, text(&(struct reader){ .doc = doc }, "_name_or_path"), why);
	else
		ret = kv_model_parse(m, doc, base ? base + 1 : path, why);
	json_decref(doc);
	return ret;
}
