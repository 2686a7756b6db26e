// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/str.h"
#include "out/plan.h"

/* An older list of sizes grows with the object. */
#define MAX_LISTED (1u << 20)
#define MAX_RANKS  4096u

static const char *opt_model, *opt_dtype, *opt_tp = "1", *opt_op = "both", *opt_repr = "bf16_kv",
					  *opt_scales = "per_tensor";
static u64 opt_layers, opt_kv_heads, opt_head_dim, opt_dtype_bytes, opt_chunk = KV_CHUNK_TOKENS;
static u64 opt_payload = UINT64_MAX, opt_header = KV_HEADER_BYTES, opt_max_xfer, opt_mdts = 131072, opt_lba;
static u64 opt_align, opt_segments, opt_page = 4096, opt_page_tokens = 16, opt_tokens, opt_sequences = 1;
static u64 opt_meta = KV_META_BYTES;
static bool opt_all, opt_json, opt_older;

static const struct opt opts[] = {
	OPT_GROUP("Model"),
	OPT_STR(0, "model", &opt_model, "NAME|FILE|all", "a known model, or the config.json of one (as operands do)"),
	OPT_U64(0, "layers", &opt_layers, "N", "instead of a model: layers,"),
	OPT_U64(0, "kv-heads", &opt_kv_heads, "N", "... KV heads,"),
	OPT_U64(0, "head-dim", &opt_head_dim, "N", "... and elements of a head"),
	OPT_STR(0, "dtype", &opt_dtype, "TYPE[,TYPE...]",
		"of an element: float32, float16, bfloat16 (default), int8, fp8; or all"),
	OPT_U64(0, "dtype-bytes", &opt_dtype_bytes, "N", "the same by its size: 1, 2 or 4"),
	OPT_STR(0, "tp", &opt_tp, "N|A..B|N,N...", "ranks of tensor parallelism (default 1)"),
	OPT_U64(0, "chunk-tokens", &opt_chunk, "N", "tokens in an object (default 256)"),
	OPT_SIZE(0, "payload-bytes", &opt_payload, "SIZE", "no model at all: an object of that size"),
	OPT_GROUP("Representation"),
	OPT_CHOICE(0, "repr", &opt_repr, KV_REPRS, "how K and V are stored (default bf16_kv: both as they are)"),
	OPT_CHOICE(0, "scales", &opt_scales, KV_SCALES, "scales of an 8-bit V (default per_tensor)"),
	OPT_U64(0, "page-tokens", &opt_page_tokens, "N", "tokens in a page of scales (default 16)"),
	OPT_GROUP("Commands"),
	OPT_CHOICE(0, "op", &opt_op, "store|load|both", "which operation (default both)"),
	OPT_SIZE(0, "header-bytes", &opt_header, "SIZE", "header of a slot (default 4096)"),
	OPT_SIZE(0, "mdts-bytes", &opt_mdts, "SIZE", "largest command of the device (default 128KiB)"),
	OPT_SIZE(0, "max-xfer", &opt_max_xfer, "SIZE", "... of the engine (default: no bound)"),
	OPT_U64(0, "max-segments", &opt_segments, "N", "... of the kernel, in pages (default: no bound)"),
	OPT_SIZE(0, "page-bytes", &opt_page, "SIZE", "such a page; 2MiB for huge ones (default 4096)"),
	OPT_SIZE(0, "block-align", &opt_align, "SIZE", "what engines round commands up to (default 4096)"),
	OPT_SIZE(0, "lba-bytes", &opt_lba, "SIZE", "the same, where the engine rounds to the device's blocks"),
	OPT_GROUP("Whole workload"),
	OPT_SIZE(0, "tokens", &opt_tokens, "N", "tokens of a sequence: totals for storing and loading it"),
	OPT_SIZE(0, "sequences", &opt_sequences, "N", "how many of them (default 1)"),
	OPT_SIZE(0, "meta-bytes", &opt_meta, "SIZE", "metadata of the engine (default 1MiB)"),
	OPT_GROUP("Output"),
	OPT_FLAG(0, "json", &opt_json, "print JSON"),
	OPT_OLD(OPT_T_FLAG, "all-models", &opt_all),
	OPT_OLD(OPT_T_FLAG, "all", &opt_all),
	OPT_OLD(OPT_T_FLAG, "older", &opt_older),
	OPT_END,
};

/* What a list or range of options stands for. */
struct choices {
	struct kv_model *model;
	size_t n_models;
	enum kv_dtype dtype[N_KV_DTYPES];
	size_t n_dtypes;
	u32 *ranks;
	size_t n_ranks;
};

static void *grown(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n, size);
	if (!p)
		bug("out of memory");
	return p;
}

static struct kv_model *add_model(struct choices *c)
{
	c->model = grown(c->model, c->n_models + 1, sizeof(*c->model));
	return &c->model[c->n_models++];
}

static int add_table(struct choices *c)
{
	size_t i;

	for (i = 0; i < kv_table_size(); i++)
		if (kv_table_get(add_model(c), i))
			bug("model %zu of the table", i);
	return 0;
}

/* A file when it can be one: names of models have no such file. */
static int add_named(struct choices *c, const char *name)
{
	struct kv_model *m;
	char why[KV_WHY];
	const char *near;

	if (!strcmp(name, "all"))
		return add_table(c);
	m = add_model(c);
	if (!kv_model_find(m, name, &near))
		return 0;
	if (!access(name, F_OK) || str_ends(name, ".json")) {
		if (kv_model_read(m, name, why))
			return err(-1, "cannot use %s: %s", name, why);
		return 0;
	}
	if (near)
		die_usage("no model '%s', did you mean '%s'?  (--model all lists them; a config.json works, too)", name,
			  near);
	die_usage("no model '%s': --model all lists them; a config.json works, too", name);
}

static int choose_models(struct choices *c, int argc, char **argv)
{
	bool dims = opt_layers || opt_kv_heads || opt_head_dim;
	char why[KV_WHY];
	int i, ret = 0;

	if (opt_all)
		opt_model = "all";
	if (opt_payload != UINT64_MAX && (opt_model || opt_all || argc > 1 || dims))
		opt_model = NULL, dims = false, argc = 1;
	if (dims && (opt_model || argc > 1))
		die_usage("a model, or --layers, --kv-heads and --head-dim, but not both");
	if (dims && kv_model_make(add_model(c), opt_layers, opt_kv_heads, opt_head_dim, why))
		die_usage("%s", why);
	if (opt_model)
		ret = add_named(c, opt_model);
	for (i = 1; i < argc && !ret; i++)
		ret = add_named(c, argv[i]);
	if (!ret && !c->n_models && opt_payload == UINT64_MAX)
		die_usage("no model: name one (or 'all'), a config.json, or give --payload-bytes");
	return ret;
}

static void choose_dtypes(struct choices *c)
{
	static const enum kv_dtype by_bytes[] = { [1] = KV_FP8, [2] = KV_BFLOAT16, [4] = KV_FLOAT32 };
	char *list, *word, *rest;
	u32 i;

	if (opt_dtype && opt_dtype_bytes)
		die_usage("--dtype and --dtype-bytes do not go together");
	if (opt_dtype_bytes && (opt_dtype_bytes > 4 || opt_dtype_bytes == 3))
		die_usage("--dtype-bytes %llu is not 1, 2 or 4", (unsigned long long)opt_dtype_bytes);
	if (!opt_dtype) {
		c->dtype[c->n_dtypes++] = opt_dtype_bytes ? by_bytes[opt_dtype_bytes] : KV_BFLOAT16;
		return;
	}
	for (i = 0; !strcmp(opt_dtype, "all") && i < N_KV_DTYPES; i++)
		c->dtype[c->n_dtypes++] = (enum kv_dtype)i;
	if (c->n_dtypes)
		return;
	list = strdup(opt_dtype);
	for (word = list ? strtok_r(list, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest))
		if (c->n_dtypes == N_KV_DTYPES || kv_dtype_parse(&c->dtype[c->n_dtypes++], word))
			die_usage("--dtype '%s' is not of " KV_DTYPES ", or all", word);
	if (!c->n_dtypes)
		die_usage("--dtype names none");
	free(list);
}

static void add_ranks(struct choices *c, const char *text, const char *end)
{
	char word[24];
	u64 n;

	snprintf(word, sizeof(word), "%.*s", (int)MIN(end - text, 20), text);
	if (str_u64(word, &n) || !n || n > MAX_RANKS)
		die_usage("--tp '%s' is no number from 1 to %u", opt_tp, MAX_RANKS);
	c->ranks = grown(c->ranks, c->n_ranks + 1, sizeof(*c->ranks));
	c->ranks[c->n_ranks++] = (u32)n;
}

static void choose_ranks(struct choices *c)
{
	const char *dots = strstr(opt_tp, ".."), *at = opt_tp;
	u32 first, last;

	if (dots) {
		add_ranks(c, opt_tp, dots);
		add_ranks(c, dots + 2, dots + strlen(dots));
		first = c->ranks[0];
		last = c->ranks[1];
		if (last < first)
			die_usage("--tp '%s' ends before it begins", opt_tp);
		c->ranks = grown(c->ranks, last - first + 1, sizeof(*c->ranks));
		for (c->n_ranks = 0; first <= last; first++)
			c->ranks[c->n_ranks++] = first;
		return;
	}
	for (;; at++) {
		size_t n = strcspn(at, ",");

		add_ranks(c, at, at + n);
		at += n;
		if (!*at)
			return;
	}
}

static void fill(struct plan_row *r, const struct kv_model *m, enum kv_dtype dtype, u32 ranks)
{
	char why[KV_WHY];

	r->q = (struct kv_query){
		.m = m,
		.dtype = dtype,
		.ranks = ranks,
		.chunk_tokens = opt_chunk,
		.payload = opt_payload,
		.page_tokens = opt_page_tokens,
		.limits = { opt_mdts, opt_max_xfer, (u32)opt_segments, (u32)opt_page,
			    opt_align ? opt_align
			    : opt_lba ? opt_lba
				      : KV_BLOCK_ALIGN },
		.header_bytes = opt_header,
		.tokens = opt_tokens,
		.sequences = opt_sequences,
		.meta_bytes = opt_meta,
	};
	if (kv_repr_parse(&r->q.repr, opt_repr) || kv_scales_parse(&r->q.scales, opt_scales))
		bug("no representation '%s'", opt_repr);
	r->op[KV_STORE] = strcmp(opt_op, "load") != 0;
	r->op[KV_LOAD] = strcmp(opt_op, "store") != 0;
	r->why = NULL;
	if (kv_project(&r->p, &r->q, why)) {
		r->why = strdup(why);
		if (!r->why)
			bug("out of memory");
	}
}

static struct plan_row *project(const struct choices *c, size_t *n)
{
	size_t i, d, k, n_models = MAX(c->n_models, (size_t)1);
	struct plan_row *rows = grown(NULL, n_models * c->n_dtypes * c->n_ranks, sizeof(*rows));

	*n = 0;
	for (i = 0; i < n_models; i++)
		for (d = 0; d < c->n_dtypes; d++)
			for (k = 0; k < c->n_ranks; k++)
				fill(&rows[(*n)++], c->n_models ? &c->model[i] : NULL, c->dtype[d], c->ranks[k]);
	return rows;
}

/* Of many a line each, which also says why there is no projection. */
static int print(const struct plan_row *rows, size_t n)
{
	enum kv_op op = strcmp(opt_op, "load") ? KV_STORE : KV_LOAD;
	struct buf b = {};
	int status = EXIT_OK;

	if (n == 1 && rows->why && !opt_json) {
		err(-1, "no projection: %s", rows->why);
		return EXIT_FAILED;
	}
	if (opt_json || (opt_older && n > 1))
		plan_json(&b, rows, n);
	else if (opt_older && rows->p.plan[op].commands > MAX_LISTED)
		status = err(-1, "%llu sizes are too many for the older list: use kvio plan",
			     (unsigned long long)rows->p.plan[op].commands);
	else if (opt_older)
		plan_json_older(&b, rows, op);
	else if (n == 1)
		plan_text(&b, rows);
	else
		plan_table(&b, rows, n);
	if (b.failed)
		status = err(-ENOMEM, "cannot print the plan");
	else
		fwrite(b.p, 1, b.n, stdout);
	buf_free(&b);
	return status || (n == 1 && rows->why) ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct choices c = {};
	struct plan_row *rows;
	int status = EXIT_FAILED;
	size_t n, i;

	opt_parse(&cmd_plan, &argc, argv, NULL);
	if (!opt_chunk)
		die_usage("--chunk-tokens is 0");
	if (opt_segments > UINT32_MAX || !opt_page || opt_page > UINT32_MAX)
		die_usage("--max-segments or --page-bytes is no such number");
	choose_dtypes(&c);
	choose_ranks(&c);
	if (!choose_models(&c, argc, argv)) {
		rows = project(&c, &n);
		status = print(rows, n);
		for (i = 0; i < n; i++)
			free((char *)rows[i].why);
		free(rows);
	}
	free(c.model);
	free(c.ranks);
	return status;
}

const struct cmd cmd_plan = {
	.name = "plan",
	.summary = "project the device commands that a model's KV cache makes",
	.usage = "MODEL|CONFIG.json|all... [--tp N] [--dtype TYPE] [--json]\n"
		 "--payload-bytes SIZE [--op store|load]",
	.description =
		"From a model's dimensions to what a device sees: bytes of a token, a chunk and a rank's object, and "
		"the commands that store and load it, in exact whole numbers.  A model is one of the table ('kvio plan "
		"all'), or a Hugging Face config.json, from whose members the family follows: MHA, GQA, explicit "
		"head_dim, MLA, CLA, and which layers have a window or no cache.\n"
		"\n"
		"A command is as large as the device (--mdts-bytes), the engine (--max-xfer) and the kernel "
		"(--max-segments) let it be.  The last one is rounded up to --block-align, for engines pad payloads to "
		"it, not to the blocks of the device.\n"
		"\n"
		"Several models, ranks or dtypes make a table, a line each; one that cannot be says why.",
	.examples = "kvio plan Llama-3.1-70B --tp 4\n    objects and commands of a chunk\n"
		    "kvio plan all --tp 1..16 --dtype all --json\n    the whole table\n"
		    "kvio plan ./config.json --tokens 32k --sequences 100\n    what a workload needs",
	.opts = opts,
	.run = run,
};
