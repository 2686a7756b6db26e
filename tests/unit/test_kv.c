// SPDX-License-Identifier: Apache-2.0
/* Sizes, splits, layout and keys of the KV cache against vectors of the older tools and of the formulas. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "kv/geometry.h"
#include "kv/key.h"
#include "kv/layout.h"
#include "kv/repr.h"
#include "kv/split.h"
#include "lib/blake2b.h"
#include "lib/sha256.h"

#define DATA "tests/data/kv/"

static json_t *read_json(const char *path)
{
	json_t *doc = json_load_file(path, 0, NULL);

	assert_non_null(doc);
	return doc;
}

static u64 num(const json_t *doc, const char *key)
{
	const json_t *v = json_object_get(doc, key);

	assert_true(json_is_integer(v));
	return (u64)json_integer_value(v);
}

static u64 at(const json_t *row, size_t i)
{
	assert_true(json_is_integer(json_array_get(row, i)));
	return (u64)json_integer_value(json_array_get(row, i));
}

static const char *str(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));

	assert_non_null(s);
	return s;
}

/* The models of the vectors, also those that our table does not have. */
static void model_of(struct kv_model *m, const char *name)
{
	static json_t *geometry;
	char why[KV_WHY];

	if (!geometry)
		geometry = read_json(DATA "geometry.json");
	assert_int_equal(kv_model_parse(m, json_object_get(json_object_get(geometry, "configs"), name), name, why), 0);
}

static void same_sizes(const struct kv_plan *p, const json_t *rle)
{
	const json_t *run;
	u64 at_cmd = 0, k;
	size_t i;

	json_array_foreach(rle, i, run)
		for (k = at(run, 1); k; k--)
			assert_int_equal(kv_plan_at(p, at_cmd++), at(run, 0));
	assert_int_equal(at_cmd, p->commands);
}

static void plans_are_those_of_the_vectors(void **state)
{
	json_t *doc = read_json(DATA "plan.json");
	const json_t *c;
	u32 refused = 0, n = 0;
	size_t i;

	(void)state;
	json_array_foreach(doc, i, c) {
		struct kv_limits l = {};
		char why[KV_WHY];
		struct kv_plan p;
		enum kv_op op;
		u64 xfer;

		if (!i)
			continue;
		n++;
		op = strcmp(json_string_value(json_array_get(c, 0)), "store") ? KV_LOAD : KV_STORE;
		l = (struct kv_limits){ .max_xfer = at(c, 3), .mdts_bytes = at(c, 4), .align = at(c, 5) };
		if (kv_xfer(&l, &xfer, why)) {
			/* The only one: the older tool inflates every command of a size that is not aligned. */
			assert_int_equal(l.mdts_bytes, 100000);
			refused++;
			continue;
		}
		assert_int_equal(kv_plan(&p, op, at(c, 1), at(c, 2), xfer, l.align), 0);
		assert_int_equal(xfer, at(c, 6));
		assert_int_equal(p.device_ops, at(c, 7));
		assert_int_equal(p.commands, at(c, 8));
		assert_int_equal(p.device_bytes, at(c, 9));
		same_sizes(&p, json_array_get(c, 10));
		if (json_is_string(json_array_get(c, 11))) {
			struct kv_shard s;
			struct kv_model m;
			enum kv_dtype dtype;
			u64 bytes;

			model_of(&m, json_string_value(json_array_get(c, 11)));
			assert_int_equal(kv_dtype_parse(&dtype, json_string_value(json_array_get(c, 14))), 0);
			assert_int_equal(kv_bytes(&m, at(c, 13), dtype, &bytes), 0);
			assert_int_equal(kv_shard(&m, bytes, (u32)at(c, 12), &s, why), 0);
			assert_int_equal(s.object_bytes, at(c, 1));
		}
	}
	assert_int_equal(n, 434);
	assert_int_equal(refused, 1);
	json_decref(doc);
}

static void shards_are_those_of_the_vectors(const struct kv_model *m, u64 bytes, const json_t *tp)
{
	const char *ranks;
	json_t *want;

	json_object_foreach((json_t *)tp, ranks, want) {
		u32 n = (u32)strtoul(ranks, NULL, 10);
		struct kv_shard s;
		char why[KV_WHY];
		int ret = kv_shard(m, bytes, n, &s, why);

		if (json_is_null(want)) {
			assert_int_equal(ret, -EINVAL);
			continue;
		}
		/* Serving engines refuse what the older projection takes: ranks that do not share heads evenly. */
		if (m->family != KV_MLA && m->kv_heads < n && n % m->kv_heads) {
			assert_int_equal(ret, -EINVAL);
			continue;
		}
		assert_int_equal(ret, 0);
		assert_int_equal(s.object_bytes, at(want, 0));
		assert_int_equal(s.objects, at(want, 1));
		assert_int_equal(s.total_bytes, at(want, 2));
	}
}

static void sizes_are_those_of_the_vectors(void **state)
{
	json_t *doc = read_json(DATA "geometry.json"), *row, *in, *out;
	size_t i, n = 0;

	(void)state;
	json_array_foreach(json_object_get(doc, "geometry"), i, row) {
		struct kv_model m;
		enum kv_dtype dtype;
		u64 elements, bytes;

		n++;
		model_of(&m, json_string_value(json_array_get(row, 0)));
		assert_int_equal(kv_dtype_parse(&dtype, json_string_value(json_array_get(row, 2))), 0);
		assert_int_equal(kv_elements(&m, at(row, 1), &elements), 0);
		assert_int_equal(elements, at(row, 3));
		assert_int_equal(kv_bytes(&m, at(row, 1), dtype, &bytes), 0);
		assert_int_equal(bytes, at(row, 4));
		shards_are_those_of_the_vectors(&m, bytes, json_array_get(row, 5));
	}
	assert_int_equal(n, 164);
	json_array_foreach(json_object_get(doc, "kv_io_size"), i, row) {
		struct kv_model m;
		char why[KV_WHY];
		u64 bytes;

		in = json_object_get(row, "in");
		out = json_object_get(row, "out");
		assert_int_equal(kv_model_make(&m, num(in, "layers"), num(in, "kv_heads"), num(in, "head_dim"), why),
				 0);
		assert_int_equal(kv_bytes(&m, 1, KV_BFLOAT16, &bytes), 0);
		assert_int_equal(bytes, num(out, "per_token_bytes"));
		assert_int_equal(kv_bytes(&m, num(in, "chunk_tokens"), KV_BFLOAT16, &bytes), 0);
		assert_int_equal(bytes, num(out, "full_chunk_bytes"));
		assert_int_equal(kv_layer_bytes(&m, num(in, "chunk_tokens"), KV_BFLOAT16, &bytes), 0);
		assert_int_equal(bytes, num(out, "per_layer_chunk_bytes"));
	}
	json_decref(doc);
}

/* Our table and the vectors have the same dimensions and families. */
static void the_table_agrees_with_the_vectors(void **state)
{
	json_t *doc = read_json(DATA "geometry.json"), *config;
	u32 found = 0, absent = 0;
	const char *name, *near;

	(void)state;
	json_object_foreach(json_object_get(doc, "configs"), name, config) {
		struct kv_model m, want;

		model_of(&want, name);
		if (kv_model_find(&m, name, &near)) {
			absent++;
			continue;
		}
		found++;
		assert_string_equal(m.name, name);
		/* The older tools call heads explicit by the model's name, also where they are the usual ones. */
		if (m.family != KV_GQA || (u64)m.head_dim * m.heads != m.hidden)
			assert_string_equal(kv_family_name(m.family), str(config, "family"));
		assert_int_equal(m.layers, want.layers);
		assert_int_equal(m.hidden, want.hidden);
		assert_int_equal(m.heads, want.heads);
		assert_int_equal(m.kv_heads, want.kv_heads);
		assert_int_equal(m.head_dim, want.head_dim);
		assert_int_equal(m.latent, want.latent);
		assert_int_equal(m.share, want.share);
		assert_true(m.active_params > 0);
	}
	assert_int_equal(found, kv_table_size());
	assert_int_equal(found, 40);
	assert_int_equal(absent, 1); /* one whose source could not be seen */
	json_decref(doc);
}

static void names_are_found(void **state)
{
	struct kv_model m;
	const char *near;

	(void)state;
	assert_int_equal(kv_model_find(&m, "llama-3.1-8b", &near), 0);
	assert_string_equal(m.name, "meta-llama/Llama-3.1-8B-Instruct");
	assert_int_equal(kv_model_find(&m, "Qwen3-8B", &near), 0);
	assert_int_equal(kv_model_find(&m, "qwen/qwen3-8b", &near), 0);
	assert_int_equal(kv_model_find(&m, "Qwen3-8X", &near), -ENOENT);
	assert_non_null(near);
	assert_int_equal(kv_model_find(&m, "", &near), -ENOENT);
}

/* ---- configs ---- */

static int parse(struct kv_model *m, const char *text, char *why)
{
	json_t *doc = json_loads(text, 0, NULL);
	int ret;

	assert_non_null(doc);
	ret = kv_model_parse(m, doc, "test", why);
	json_decref(doc);
	return ret;
}

#define BASE "\"num_hidden_layers\": 32, \"hidden_size\": 4096, \"num_attention_heads\": 32"

static void families_follow_from_members(void **state)
{
	static const struct {
		const char *config;
		enum kv_family family;
		u64 per_token;
	} cases[] = {
		{ "{" BASE "}", KV_MHA, 262144 },
		{ "{" BASE ", \"num_key_value_heads\": null}", KV_MHA, 262144 },
		{ "{" BASE ", \"num_key_value_heads\": 8}", KV_GQA, 65536 },
		{ "{" BASE ", \"num_key_value_heads\": 8, \"head_dim\": 128}", KV_GQA, 65536 },
		{ "{" BASE ", \"num_key_value_heads\": 8, \"head_dim\": 64}", KV_GQA_HEAD_DIM, 32768 },
		{ "{" BASE ", \"kv_lora_rank\": 512, \"qk_rope_head_dim\": 64}", KV_MLA, 32 * 576 },
		{ "{" BASE ", \"kv_lora_rank\": null, \"qk_rope_head_dim\": 64}", KV_MHA, 262144 },
		{ "{" BASE ", \"num_key_value_heads\": 8, \"cla_share_factor\": 2}", KV_CLA, 32768 },
		/* The older tools take each of these three for CLA. */
		{ "{" BASE ", \"num_key_value_heads\": 8, \"cla_share_factor\": 1}", KV_GQA, 65536 },
		{ "{" BASE ", \"num_key_value_heads\": 8, \"cla_share_factor\": null}", KV_GQA, 65536 },
		{ "{" BASE ", \"num_key_value_heads\": 8, \"cla_share_factor\": 2, \"use_cla\": false}", KV_GQA,
		  65536 },
		{ "{\"text_config\": {" BASE ", \"num_key_value_heads\": 8}}", KV_GQA, 65536 },
	};
	struct kv_model m;
	char why[KV_WHY];
	u64 n;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(&m, cases[i].config, why), 0);
		assert_int_equal(m.family, cases[i].family);
		assert_int_equal(kv_elements(&m, 1, &n), 0);
		assert_int_equal(n, cases[i].per_token);
	}
}

static void windows_and_linear_layers(void **state)
{
	static const struct {
		const char *config;
		u32 sliding, linear, window;
	} cases[] = {
		{ "{" BASE ", \"model_type\": \"gemma2\", \"sliding_window\": 4096}", 16, 0, 4096 },
		{ "{" BASE ", \"model_type\": \"gemma3_text\", \"sliding_window\": 1024}", 27, 0, 1024 },
		{ "{" BASE ", \"model_type\": \"mistral\", \"sliding_window\": 4096}", 32, 0, 4096 },
		{ "{" BASE ", \"model_type\": \"mistral\", \"sliding_window\": null}", 0, 0, 0 },
		{ "{" BASE ", \"model_type\": \"qwen2\", \"sliding_window\": 4096, \"use_sliding_window\": false}", 0,
		  0, 0 },
		{ "{" BASE ", \"model_type\": \"qwen2\", \"sliding_window\": 4096, \"use_sliding_window\": true, "
		  "\"max_window_layers\": 28}",
		  4, 0, 4096 },
		{ "{\"num_hidden_layers\": 4, \"hidden_size\": 64, \"num_attention_heads\": 4, \"sliding_window\": 8, "
		  "\"layer_types\": [\"linear_attention\", \"full_attention\", \"sliding_attention\", \"full_attention\"]}",
		  1, 1, 8 },
		{ "{" BASE ", \"full_attention_interval\": 4}", 0, 24, 0 },
		{ "{" BASE ", \"model_type\": \"llama4_text\", \"attention_chunk_size\": 8192}", 0, 0, 0 },
		{ "{" BASE ", \"hybrid_override_pattern\": \"M-M-M-M*M-M-M-M*M-M-M-M*M-M-M-M-\"}", 0, 29, 0 },
	};
	struct kv_model m;
	char why[KV_WHY];
	u64 all, needed;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(&m, cases[i].config, why), 0);
		assert_int_equal(m.sliding_layers, cases[i].sliding);
		assert_int_equal(m.linear_layers, cases[i].linear);
		assert_int_equal(m.window, cases[i].window);
	}
	/* 3 layers with a cache, one of which needs 8 tokens of 100: 2 * 4 * 16 elements each. */
	assert_int_equal(parse(&m, cases[6].config, why), 0);
	assert_int_equal(kv_bytes(&m, 100, KV_FP8, &all), 0);
	assert_int_equal(all, 3 * 128 * 100);
	assert_int_equal(kv_needed_bytes(&m, 100, KV_FP8, &needed), 0);
	assert_int_equal(needed, 2 * 128 * 100 + 128 * 8);
	assert_int_equal(kv_needed_bytes(&m, 5, KV_FP8, &needed), 0);
	assert_int_equal(needed, 3 * 128 * 5);
}

static void bad_configs_are_refused_with_the_reason(void **state)
{
	static const struct {
		const char *config, *why;
	} cases[] = {
		{ "[]", "no JSON object" },
		{ "{}", "num_hidden_layers is missing" },
		{ "{\"num_hidden_layers\": 32}", "hidden_size is missing" },
		{ "{\"num_hidden_layers\": -1}", "num_hidden_layers is -1" },
		{ "{\"num_hidden_layers\": 0}", "num_hidden_layers is 0" },
		{ "{\"num_hidden_layers\": 32.5}", "not a whole number" },
		{ "{\"num_hidden_layers\": \"32\"}", "not a whole number" },
		{ "{\"num_hidden_layers\": true}", "not a whole number" },
		{ "{\"num_hidden_layers\": [32]}", "not a whole number" },
		{ "{\"num_hidden_layers\": 9223372036854775807}", "not between" },
		{ "{" BASE ", \"num_key_value_heads\": 7}", "no multiple of num_key_value_heads" },
		{ "{" BASE ", \"num_key_value_heads\": -8}", "num_key_value_heads is -8" },
		{ "{" BASE ", \"head_dim\": \"x\"}", "head_dim is not a whole number" },
		{ "{\"num_hidden_layers\": 32, \"hidden_size\": 4096, \"num_attention_heads\": 24}",
		  "there is no head_dim" },
		{ "{" BASE ", \"hybrid_override_pattern\": \"M*\"}", "2 letters for 32 layers" },
		{ "{" BASE ", \"cla_share_factor\": 5}", "no multiple of cla_share_factor" },
		{ "{" BASE ", \"layer_types\": [\"full_attention\"]}", "1 entries for 32 layers" },
		{ "{\"num_hidden_layers\": 1, \"hidden_size\": 64, \"num_attention_heads\": 4, \"layer_types\": [\"odd\"]}",
		  "no kind of layer" },
		{ "{\"num_hidden_layers\": 1, \"hidden_size\": 64, \"num_attention_heads\": 4, \"layer_types\": "
		  "[\"sliding_attention\"]}",
		  "sliding_window is missing" },
	};
	struct kv_model m;
	char why[KV_WHY];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(&m, cases[i].config, why), -EINVAL);
		if (!strstr(why, cases[i].why))
			fail_msg("%s: '%s' has no '%s'", cases[i].config, why, cases[i].why);
	}
}

static void nothing_overflows(void **state)
{
	static const char huge[] = "{\"num_hidden_layers\": 16777216, \"hidden_size\": 16777216, "
				   "\"num_attention_heads\": 16777216, \"head_dim\": 16777216}";
	struct kv_model m;
	struct kv_split s;
	struct kv_plan p;
	char why[KV_WHY];
	u64 n;

	(void)state;
	assert_int_equal(parse(&m, huge, why), 0);
	assert_int_equal(kv_elements(&m, 1, &n), -EOVERFLOW);
	assert_int_equal(kv_bytes(&m, UINT64_MAX, KV_FLOAT32, &n), -EOVERFLOW);
	assert_int_equal(kv_needed_bytes(&m, UINT64_MAX, KV_FLOAT32, &n), -EOVERFLOW);
	assert_int_equal(kv_split(&s, UINT64_MAX, 131072, 4096), -EOVERFLOW);
	assert_int_equal(kv_plan(&p, KV_STORE, UINT64_MAX - 4095, 4096, 131072, 4096), -EOVERFLOW);
	assert_int_equal(kv_slot_bytes(UINT64_MAX, 4096, 1 << 20, &n), -EOVERFLOW);
}

static void limits_bound_a_command(void **state)
{
	static const struct {
		struct kv_limits l;
		u64 xfer; /* 0 = refused */
	} cases[] = {
		{ { .mdts_bytes = 131072 }, 131072 },
		{ { .mdts_bytes = 131072, .max_xfer = 65536 }, 65536 },
		{ { .mdts_bytes = 131072, .max_xfer = 262144 }, 131072 },
		{ { .max_xfer = 262144 }, 262144 },
		{ { .mdts_bytes = 1 << 20, .max_segments = 127, .align = 4096 }, 127 * 4096 },
		{ { .mdts_bytes = 1 << 20, .max_segments = 127, .align = 131072 }, 3 * 131072 },
		{ { .mdts_bytes = 1 << 20, .max_segments = 16, .align = 131072 }, 131072 },
		{ { .mdts_bytes = 1 << 20, .max_segments = 2, .page_bytes = 1 << 21 }, 1 << 20 },
		{ { .mdts_bytes = 100000, .align = 4096 }, 0 },
		{ { .mdts_bytes = 0 }, 0 },
	};
	char why[KV_WHY];
	u64 xfer;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		int ret = kv_xfer(&cases[i].l, &xfer, why);

		assert_int_equal(ret, cases[i].xfer ? 0 : -EINVAL);
		if (!ret)
			assert_int_equal(xfer, cases[i].xfer);
	}
}

/* ---- layout ---- */

static void assert_hex(const u8 *p, size_t n, const char *hex)
{
	struct buf b = {};

	buf_hexbytes(&b, p, n);
	assert_int_equal(b.n, strlen(hex));
	assert_memory_equal(b.p, hex, b.n);
	buf_free(&b);
}

static void keys_and_headers_are_those_of_the_vectors(void **state)
{
	json_t *doc = read_json(DATA "layout.json"), *row, *f;
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(doc, "object_keys"), i, row) {
		static const char *const identities[] = { "slot_identity_u64", "slot_identity_4field_u64" };
		static const char *const keys[] = { "encoded", "encoded_4field_group0" };
		u8 header[KV_SLOT_HEADER];
		struct kv_slot_header h;
		u32 k;

		f = json_object_get(row, "kv_rank_fields");
		assert_int_equal(key_rank((u8)num(f, "world_size"), (u8)num(f, "global_rank"),
					  (u8)num(f, "local_world_size"), (u8)num(f, "local_rank")),
				 num(row, "kv_rank"));
		for (k = 0; k < 2; k++) {
			struct buf b = {};

			key_make(&b, str(row, "model"), (u32)num(row, "kv_rank"), k ? "0" : NULL,
				 str(row, "chunk_hash_hex"), str(row, "cache_salt"));
			assert_int_equal(b.n, strlen(str(row, keys[k])));
			assert_memory_equal(b.p, str(row, keys[k]), b.n);
			assert_int_equal(kv_identity(b.p, b.n), strtoull(str(row, identities[k]), NULL, 16));
			h = (struct kv_slot_header){ kv_identity(b.p, b.n), 20971520 };
			buf_free(&b);
			if (k)
				continue;
			kv_slot_header_put(header, &h);
			assert_hex(header, sizeof(header), str(row, "slot_header_first_24_hex_payload_20971520"));
			assert_int_equal(kv_slot_header_get(&h, header), 0);
			assert_int_equal(h.payload_bytes, 20971520);
		}
		header[0] ^= 1;
		assert_int_equal(kv_slot_header_get(&h, header), -EBADMSG);
	}
	assert_int_equal(i, 5);
	json_decref(doc);
}

static void checkpoints_are_those_of_the_vectors(void **state)
{
	json_t *doc = read_json(DATA "layout.json"), *c = json_object_get(doc, "checkpoint_header");
	const char *payload = str(c, "payload_utf8");
	struct kv_ckpt_header h = { .version = KV_CKPT_VERSION,
				    .seq = num(c, "seq"),
				    .payload_bytes = strlen(payload),
				    .crc = (u32)crc32(0, (const Bytef *)payload, (uInt)strlen(payload)) },
			      back;
	u8 bytes[KV_CKPT_HEADER];

	(void)state;
	assert_int_equal(h.crc, num(c, "crc32"));
	kv_ckpt_header_put(bytes, &h);
	assert_hex(bytes, sizeof(bytes), str(c, "header_hex"));
	assert_int_equal(kv_ckpt_header_get(&back, bytes), 0);
	assert_memory_equal(&back, &h, sizeof(h));
	bytes[3] ^= 1;
	assert_int_equal(kv_ckpt_header_get(&back, bytes), -EBADMSG);
	assert_int_equal(kv_ckpt_container(1), 0);
	assert_int_equal(kv_ckpt_container(2), 1);
	json_decref(doc);
}

static void layouts_are_those_of_the_vectors(void **state)
{
	json_t *doc = read_json(DATA "layout.json"), *row, *in, *out;
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(doc, "layouts"), i, row) {
		struct kv_layout l;
		char why[KV_WHY];

		in = json_object_get(row, "in");
		out = json_object_get(row, "out");
		l = (struct kv_layout){ .meta_bytes = num(in, "meta_total_bytes"),
					.block_align = num(in, "block_align"),
					.header_bytes = num(in, "header_bytes"),
					.slot_bytes = num(in, "slot_bytes"),
					.capacity_bytes = num(in, "capacity_bytes") };
		assert_int_equal(kv_layout_make(&l, why), 0);
		assert_int_equal(l.container_bytes, num(out, "meta_container_bytes"));
		assert_int_equal(l.container_payload, num(out, "meta_payload_capacity"));
		assert_int_equal(l.data_base, num(out, "data_base_offset"));
		assert_int_equal(l.slots, num(out, "max_slots"));
		assert_int_equal(kv_slot_offset(&l, 0), num(out, "slot0_offset"));
		assert_int_equal(kv_slot_offset(&l, 0) + l.header_bytes, num(out, "slot0_payload_offset"));
		assert_int_equal(kv_slot_offset(&l, 5), num(out, "slot5_offset"));
	}
	assert_int_equal(i, 3);
	json_array_foreach(json_object_get(doc, "generator_slot_rounding"), i, row) {
		u64 slot;

		assert_int_equal(kv_slot_bytes(num(row, "payload"), num(row, "header"), 1 << 20, &slot), 0);
		assert_int_equal(slot, num(row, "slot_mib_rounded"));
	}
	json_decref(doc);
}

static void layouts_that_cannot_be(void **state)
{
	static const struct kv_layout good = { 1 << 20, 4096, 4096, 8192, 1 << 30 };
	static const struct kv_layout bad[] = {
		{ 1 << 20, 0, 4096, 8192, 1 << 30 },	{ 1 << 20, 6000, 6000, 12000, 1 << 30 },
		{ 1 << 20, 16, 16, 8192, 1 << 30 },	{ 1 << 20, 4096, 5000, 8192, 1 << 30 },
		{ 1 << 20, 4096, 4096, 4096, 1 << 30 }, { 1 << 20, 4096, 4096, 8193, 1 << 30 },
		{ 4096, 4096, 4096, 8192, 1 << 30 },	{ 12288, 4096, 4096, 8192, 1 << 30 },
		{ 1 << 20, 4096, 4096, 8192, 1 << 20 }, { 1 << 20, 4096, 4096, 8192, (1 << 20) + 8191 },
	};
	struct kv_layout l = good;
	char why[KV_WHY];
	size_t i;

	(void)state;
	assert_int_equal(kv_layout_make(&l, why), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		l = bad[i];
		assert_int_equal(kv_layout_make(&l, why), -EINVAL);
	}
}

static void tags_do_not_wrap(void **state)
{
	u64 ud;

	(void)state;
	assert_int_equal(kv_tag(5, 9, &ud), 0);
	assert_int_equal(ud, 21474836489ull);
	assert_int_equal(kv_tag_trace_id(ud), 5);
	assert_int_equal(kv_tag(UINT32_MAX, UINT32_MAX, &ud), 0);
	assert_int_equal(ud, UINT64_MAX);
	assert_int_equal(kv_tag(1ull << 32, 1, &ud), -ERANGE);
	assert_int_equal(kv_tag(1, 1ull << 32, &ud), -ERANGE);
}

/* ---- representations ---- */

static u64 part(const json_t *row, const char *key)
{
	const json_t *v = json_object_get(json_object_get(row, "components"), key);

	return (u64)json_integer_value(v);
}

static void representations_are_those_of_the_vectors(void **state)
{
	json_t *doc = read_json(DATA "representation.json"), *row;
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(doc, "rows"), i, row) {
		u32 ranks = (u32)num(row, "tp");
		u64 elements, tokens = num(row, "chunk_tokens"), padded;
		struct kv_components c;
		struct kv_shard s;
		struct kv_model m;
		enum kv_repr repr;
		enum kv_scales scales;
		char why[KV_WHY];

		model_of(&m, str(row, "model"));
		assert_int_equal(kv_repr_parse(&repr, str(row, "representation")), 0);
		assert_int_equal(kv_scales_parse(&scales, str(row, "scale_scope")), 0);
		assert_int_equal(kv_elements(&m, tokens, &elements), 0);
		assert_int_equal(kv_shard(&m, elements, ranks, &s, why), 0);
		assert_int_equal(kv_components(&c, &m, repr, scales, s.object_bytes, KV_BFLOAT16, ranks, tokens,
					       num(row, "page_size"), why),
				 0);
		assert_int_equal(c.k, part(row, "k"));
		assert_int_equal(c.v, part(row, "v"));
		assert_int_equal(c.scales, part(row, "scales"));
		assert_int_equal(c.codec_header, part(row, "codec_header"));
		assert_int_equal(c.payload, num(row, "payload_bytes"));
		assert_int_equal(c.host_retained, num(row, "host_retained_bytes"));
		assert_int_equal(kv_round_up(c.payload, 4096, &padded), 0);
		assert_int_equal(padded - c.payload, num(row, "padding_to_4096"));
		assert_int_equal(padded + 4096, num(row, "physical_extent_4096"));
	}
	assert_int_equal(i, 30);
	json_decref(doc);
}

static void a_latent_has_no_planes(void **state)
{
	struct kv_components c;
	struct kv_model m;
	char why[KV_WHY];

	(void)state;
	model_of(&m, "deepseek-ai/DeepSeek-V3");
	assert_int_equal(kv_components(&c, &m, KV_REPR_K16_V8, KV_SCALE_TENSOR, 100, KV_BFLOAT16, 1, 256, 16, why),
			 -EINVAL);
	model_of(&m, "Qwen/Qwen3-8B");
	assert_int_equal(kv_components(&c, &m, KV_REPR_K16_V8, KV_SCALE_PAGE_HEAD, 100, KV_BFLOAT16, 1, 250, 16, why),
			 -EINVAL);
	assert_int_equal(kv_components(&c, &m, KV_REPR_K16_V8, KV_SCALE_PAGE_HEAD, 100, KV_BFLOAT16, 1, 250, 0, why),
			 -EINVAL);
}

/* ---- digests ---- */

static void digests(void **state)
{
	static const struct {
		size_t n;
		const char *sha, *blake;
	} cases[] = {
		{ 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		  "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419d25e1031afee585313896444934eb04b90"
		  "3a685b1448b755d56f701afe9be2ce" },
		{ 3, "ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc",
		  "40a374727302d9a4769c17b5f409ff32f58aa24ff122d7603e4fda1509e919d4107a52c57570a6d94e50967aea573b11f86f473f537565c66f7039830a85d186" },
		{ 55, "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59",
		  "659858f0b5c9edab5b94fd732f6e6b17c51cc096104f09beb3afc3aa467c2ecf885c4c6541effa9023d3b5738ae5a14d867e15db06fe1f9d1127b77e1aabb516" },
		{ 56, "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562",
		  "26cca0126f5d1a813c62e5c71001c046f9c92095704550be5873a495a999ad010a4f79491f24f286500adce1a137bc2084e4949f5b7294cefe51ecaff8e95cba" },
		{ 63, "29af2686fd53374a36b0846694cc342177e428d1647515f078784d69cdb9e488",
		  "d10bf9a15b1c9fc8d41f89bb140bf0be08d2f3666176d13baac4d381358ad074c9d4748c300520eb026daeaea7c5b158892fde4e8ec17dc998dcd507df26eb63" },
		{ 64, "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108",
		  "2fc6e69fa26a89a5ed269092cb9b2a449a4409a7a44011eecad13d7c4b0456602d402fa5844f1a7a758136ce3d5d8d0e8b86921ffff4f692dd95bdc8e5ff0052" },
		{ 65, "4bfd2c8b6f1eec7a2afeb48b934ee4b2694182027e6d0fc075074f2fabb31781",
		  "fcbe8be7dcb49a32dbdf239459e26308b84dff1ea480df8d104eeff34b46fae98627b450c2267d48c0946a697c5b59531452ac0484f1c84e3a33d0c339bb2e28" },
		{ 127, "92ca0fa6651ee2f97b884b7246a562fa71250fedefe5ebf270d31c546bfea976",
		  "b6292669ccd38d5f01caae96ba272c76a879a45743afa0725d83b9ebb26665b731f1848c52f11972b6644f554c064fa90780dbbbf3a89d4fc31f67df3e5857ef" },
		{ 128, "471fb943aa23c511f6f72f8d1652d9c880cfa392ad80503120547703e56a2be5",
		  "2319e3789c47e2daa5fe807f61bec2a1a6537fa03f19ff32e87eecbfd64b7e0e8ccff439ac333b040f19b0c4ddd11a61e24ac1fe0f10a039806c5dcc0da3d115" },
		{ 129, "5099c6a56203f9687f7d33f4bfdf576d31dc91f6b695ecea38b2770c87631135",
		  "f59711d44a031d5f97a9413c065d1e614c417ede998590325f49bad2fd444d3e4418be19aec4e11449ac1a57207898bc57d76a1bcf3566292c20c683a5c4648f" },
		{ 256, "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880",
		  "1ecc896f34d3f9cac484c73f75f6a5fb58ee6784be41b35f46067b9c65c63a6794d3d744112c653f73dd7deb6666204c5a9bfa5b46081fc10fdbe7884fa5cbf8" },
		{ 300, "7728ae2f2c36e2aaafbe79ca14c87ae2f89e7c88c4390ecbbf82dce88706958d",
		  "d9cf5983dc6b34c0fa1f0226926855ad3eccd2bcdcd8f8053b9a80664d33b5afcc32fd21c70ea14f4ef50ca97c3203c4d1803159f0e01bb6cb1d1c83db52b63c" },
	};
	u8 data[300], out[64];
	struct sha256 s;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (u8)i;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		blake2b(out, 64, data, cases[i].n);
		assert_hex(out, 64, cases[i].blake);
		sha256_init(&s);
		for (k = 0; k < cases[i].n; k += 7)
			sha256_add(&s, data + k, MIN((size_t)7, cases[i].n - k));
		sha256_end(&s, out);
		assert_hex(out, 32, cases[i].sha);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_are_those_of_the_vectors),
		cmocka_unit_test(sizes_are_those_of_the_vectors),
		cmocka_unit_test(the_table_agrees_with_the_vectors),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(families_follow_from_members),
		cmocka_unit_test(windows_and_linear_layers),
		cmocka_unit_test(bad_configs_are_refused_with_the_reason),
		cmocka_unit_test(nothing_overflows),
		cmocka_unit_test(limits_bound_a_command),
		cmocka_unit_test(keys_and_headers_are_those_of_the_vectors),
		cmocka_unit_test(checkpoints_are_those_of_the_vectors),
		cmocka_unit_test(layouts_are_those_of_the_vectors),
		cmocka_unit_test(layouts_that_cannot_be),
		cmocka_unit_test(tags_do_not_wrap),
		cmocka_unit_test(representations_are_those_of_the_vectors),
		cmocka_unit_test(a_latent_has_no_planes),
		cmocka_unit_test(digests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
