// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/str.h"
#include "out/cost.h"

#define MAX_ROWS 10000u

static const char *opt_model, *opt_dtype = "bfloat16", *opt_sweep;
static const char *opt_bandwidth, *opt_ring_bandwidth, *opt_gpu, *opt_utilisation, *opt_speedup, *opt_params;
static u64 opt_tp = 1, opt_tokens = 16384, opt_chunk = KV_CHUNK_TOKENS, opt_depth = 1, opt_rings = 1;
static u64 opt_cmd_bytes = 131072, opt_latency = 4400, opt_gap = 99000, opt_object, opt_overhead = 165000000;
static bool opt_json, opt_csv;

static const struct opt opts[] = {
	OPT_GROUP("Context"),
	OPT_STR(0, "model", &opt_model, "NAME|FILE|all", "a known model, or a config.json (as operands do)"),
	OPT_U64(0, "tp", &opt_tp, "N", "ranks of tensor parallelism, a GPU each (default 1)"),
	OPT_SIZE(0, "tokens", &opt_tokens, "N", "tokens that are there or not (default 16k)"),
	OPT_U64(0, "chunk-tokens", &opt_chunk, "N", "tokens in an object (default 256)"),
	OPT_CHOICE(0, "dtype", &opt_dtype, KV_DTYPES, "of an element (default bfloat16)"),
	OPT_STR(0, "params", &opt_params, "N", "parameters that a token uses, such as 8e9 (default: the model's)"),
	OPT_GROUP("Load path (default: the published rig)"),
	OPT_STR(0, "bandwidth", &opt_bandwidth, "RATE", "of the device, which all ranks share (default 11.3GB)"),
	OPT_DURATION(0, "latency", &opt_latency, "TIME", "of a command without its transfer (default 4.4us)"),
	OPT_DURATION(0, "gap", &opt_gap, "TIME", "that software adds to each command (default 99us)"),
	OPT_U64(0, "depth", &opt_depth, "N", "commands in flight of a ring (default 1)"),
	OPT_U64(0, "rings", &opt_rings, "N", "rings (default 1)"),
	OPT_STR(0, "ring-bandwidth", &opt_ring_bandwidth, "RATE", "that one ring can carry (default: no bound)"),
	OPT_SIZE(0, "cmd-bytes", &opt_cmd_bytes, "SIZE", "largest command (default 128KiB)"),
	OPT_DURATION(0, "object-overhead", &opt_object, "TIME", "for each object, besides (default 0)"),
	OPT_STR(0, "speedup", &opt_speedup, "X", "a measured gain of the whole path (default 1)"),
	OPT_GROUP("GPU"),
	OPT_STR(0, "gpu-peak", &opt_gpu, "FLOPS", "of one, such as 989e12 (default: that, an H100 in bfloat16)"),
	OPT_STR(0, "utilisation", &opt_utilisation, "SHARE", "of it that is reached (default 0.35)"),
	OPT_DURATION(0, "recompute-overhead", &opt_overhead, "TIME", "whatever the size (default 165ms)"),
	OPT_GROUP("Output"),
	OPT_STR(0, "sweep", &opt_sweep, "VAR=A..B[:STEP]",
		"a line for each value, doubling or by STEP: tokens, depth, rings, bandwidth, gap, latency, cmd-bytes, "
		"tp, utilisation"),
	OPT_FLAG(0, "json", &opt_json, "print JSON"),
	OPT_FLAG(0, "csv", &opt_csv, "print CSV"),
	OPT_END,
};

/* "11.3GB", "4e9", "512MiB": a number above 0 with or without a unit, and at most *end left over. */
static bool parse_number(const char *text, double *out)
{
	static const struct {
		const char *unit;
		double by;
	} units[] = { { "", 1 },	 { "k", 1e3 },	    { "M", 1e6 },      { "G", 1e9 },   { "T", 1e12 },
		      { "kB", 1e3 },	 { "MB", 1e6 },	    { "GB", 1e9 },     { "TB", 1e12 }, { "KiB", 0x1p10 },
		      { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 }, { "B", 1 } };
	char *end;
	size_t i;

	*out = strtod(text, &end);
	if (end == text || !isfinite(*out) || *out <= 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].unit)) {
			*out *= units[i].by;
			return true;
		}
	return false;
}

static double number(const char *option, const char *text, double otherwise)
{
	double v;

	if (!text)
		return otherwise;
	if (!parse_number(text, &v))
		die_usage("--%s '%s' is no number above 0", option, text);
	return v;
}

static double number_of(enum kv_variable v, const char *text)
{
	double x;
	u64 ns;

	/* Times may have units of time; a bare number is seconds. */
	if ((v == KV_VAR_GAP || v == KV_VAR_LATENCY) && !str_ns(text, &ns))
		return (double)ns / 1e9;
	if (!parse_number(text, &x))
		die_usage("--sweep: '%s' is no number above 0", text);
	/* Sizes and tokens in powers of 1024, as everywhere. */
	if ((v == KV_VAR_TOKENS || v == KV_VAR_CMD_BYTES) && !str_size(text, &ns))
		return (double)ns;
	return x;
}

static void fill_machine(struct kv_machine *h)
{
	*h = (struct kv_machine){
		.bandwidth = number("bandwidth", opt_bandwidth, kv_published_machine.bandwidth),
		.latency_s = (double)opt_latency / 1e9,
		.gap_s = (double)opt_gap / 1e9,
		.depth = (double)opt_depth,
		.rings = (double)opt_rings,
		.ring_bandwidth = number("ring-bandwidth", opt_ring_bandwidth, 0),
		.cmd_bytes = (double)opt_cmd_bytes,
		.object_s = (double)opt_object / 1e9,
		.speedup = number("speedup", opt_speedup, 1),
		.gpu_flops = number("gpu-peak", opt_gpu, kv_published_machine.gpu_flops),
		.utilisation = number("utilisation", opt_utilisation, kv_published_machine.utilisation),
		.overhead_s = (double)opt_overhead / 1e9,
	};
}

static void fill_context(struct kv_context *x, const struct kv_model *m)
{
	double params = number("params", opt_params, 0);

	*x = (struct kv_context){ .m = m,
				  .ranks = (u32)opt_tp,
				  .tokens = opt_tokens,
				  .chunk_tokens = opt_chunk,
				  .params = (u64)MIN(params, 1e18) };
	if (kv_dtype_parse(&x->dtype, opt_dtype))
		bug("no dtype '%s'", opt_dtype);
}

static int find_model(struct kv_model *m, const char *name)
{
	char why[KV_WHY];
	const char *near;

	if (!kv_model_find(m, name, &near))
		return 0;
	if (!access(name, F_OK) || str_ends(name, ".json"))
		return kv_model_read(m, name, why) ? err(-1, "cannot use %s: %s", name, why) : 0;
	if (near)
		die_usage("no model '%s', did you mean '%s'?", name, near);
	die_usage("no model '%s': 'kvio plan all' lists them; a config.json works, too", name);
}

static void take(struct cost_row *r)
{
	char why[KV_WHY];

	r->why = NULL;
	if (!kv_cost(&r->c, &r->x, &r->h, why))
		return;
	r->why = strdup(why);
	if (!r->why)
		bug("out of memory");
}

/* ---- one case ---- */

/* Of the models that are known, with this machine and context. */
static const char *smallest_model(const struct cost_row *r, char name[KV_NAME])
{
	struct kv_context x = r->x;
	struct kv_cost c;
	char why[KV_WHY];
	u64 least = UINT64_MAX;
	size_t i;

	for (i = 0; i < kv_table_size(); i++) {
		struct kv_model m;

		if (kv_table_get(&m, i))
			continue;
		x.m = &m;
		x.params = 0;
		if (kv_cost(&c, &x, &r->h, why) || c.ratio >= 1 || m.active_params >= least)
			continue;
		least = m.active_params;
		memcpy(name, m.name, KV_NAME);
	}
	return least == UINT64_MAX ? NULL : name;
}

static size_t find_crossings(const struct cost_row *r, struct cost_crossing out[4], char name[KV_NAME])
{
	static const struct {
		enum kv_variable v;
		const char *unit;
		double from, to, per;
	} looked[] = { { KV_VAR_TOKENS, "tokens", 256, 1 << 20, 1 },
		       { KV_VAR_DEPTH, "commands", 1, 1024, 1 },
		       { KV_VAR_BANDWIDTH, "GB/s", 1e8, 1e12, 1e9 } };
	size_t n = 0;

	for (; n < ARRAY_SIZE(looked); n++) {
		struct cost_crossing *k = &out[n];

		*k = (struct cost_crossing){ .name = kv_variable_name(looked[n].v),
					     .unit = looked[n].unit,
					     .from = looked[n].from / looked[n].per,
					     .to = looked[n].to / looked[n].per };
		k->found = !kv_crossover(&r->x, &r->h, looked[n].v, MAX(looked[n].from, n ? 0 : (double)opt_chunk),
					 looked[n].to, &k->value, &k->below);
		k->value /= looked[n].per;
	}
	out[n] = (struct cost_crossing){ .name = "model", .model = smallest_model(r, name) };
	return n + (out[n].model != NULL);
}

/* ---- several ---- */

struct rows {
	struct cost_row *row;
	size_t n;
};

static struct cost_row *add_row(struct rows *rows, const struct cost_row *like)
{
	if (!(rows->n & (rows->n - 1))) {
		rows->row = reallocarray(rows->row, rows->n ? rows->n * 2 : 1, sizeof(*rows->row));
		if (!rows->row)
			bug("out of memory");
	}
	rows->row[rows->n] = *like;
	return &rows->row[rows->n++];
}

static enum kv_variable sweep(struct rows *rows, const struct cost_row *base)
{
	char *text = strdup(opt_sweep), *at = text ? strchr(text, '=') : NULL, *dots = at ? strstr(at, "..") : NULL;
	char *colon = dots ? strchr(dots, ':') : NULL;
	double value, last, step;
	enum kv_variable v;

	if (!dots)
		die_usage("--sweep '%s' is not VAR=A..B", opt_sweep);
	*at++ = '\0';
	*dots = '\0';
	if (colon)
		*colon++ = '\0';
	if (kv_variable_parse(&v, text))
		die_usage("--sweep: no variable '%s'", text);
	value = number_of(v, at);
	last = number_of(v, dots + 2);
	step = colon ? number_of(v, colon) : 0;
	if (last < value)
		die_usage("--sweep '%s' ends before it begins", opt_sweep);
	for (; value <= last * (1 + 1e-12); value = step > 0 ? value + step : value * 2) {
		struct cost_row *r = add_row(rows, base);

		if (rows->n > MAX_ROWS)
			die_usage("--sweep '%s' has more than %u values", opt_sweep, MAX_ROWS);
		r->value = value;
		kv_variable_set(&r->x, &r->h, v, value);
		take(r);
	}
	free(text);
	return v;
}

static void compare_models(struct rows *rows, const struct kv_model *m, size_t n, const struct cost_row *base)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct cost_row *r = add_row(rows, base);

		r->x.m = &m[i];
		take(r);
	}
}

static int print(const struct rows *rows, const char *what, const struct kv_model *one)
{
	struct cost_crossing crossing[4];
	char name[KV_NAME];
	struct buf b = {};
	size_t n = 0;

	if (!rows->n)
		bug("no rows");
	if (rows->n == 1 && rows->row->why && !opt_json)
		return err(-1, "no figure: %s", rows->row->why);
	if (one && !what && !rows->row->why)
		n = find_crossings(rows->row, crossing, name);
	if (opt_json)
		cost_json(&b, what, rows->row, rows->n, crossing, n);
	else if (opt_csv)
		cost_csv(&b, what, rows->row, rows->n);
	else if (one && !what)
		cost_text(&b, rows->row, crossing, n);
	else
		cost_table(&b, what, rows->row, rows->n);
	if (b.failed) {
		buf_free(&b);
		return err(-ENOMEM, "cannot print the figures");
	}
	fwrite(b.p, 1, b.n, stdout);
	buf_free(&b);
	return rows->n == 1 && rows->row->why ? -1 : 0;
}

static int load_models(struct kv_model **m, size_t *n, int argc, char **argv)
{
	const char *only = opt_model ? opt_model : argc == 2 ? argv[1] : "";
	size_t i;
	int k, ret = 0;

	if (opt_model && argc > 1)
		die_usage("--model and an operand: name models one way");
	if (!opt_model && argc < 2)
		die_usage("no model: name one, or 'all', or a config.json");
	if (!strcmp(only, "all")) {
		*n = kv_table_size();
		*m = calloc(*n, sizeof(**m));
		for (i = 0; *m && i < *n; i++)
			if (kv_table_get(&(*m)[i], i))
				bug("model %zu of the table", i);
	} else {
		*n = opt_model ? 1 : (size_t)argc - 1;
		*m = calloc(*n, sizeof(**m));
		for (k = 0; *m && (size_t)k < *n && !ret; k++)
			ret = find_model(&(*m)[k], *only ? only : argv[k + 1]);
	}
	if (!*m)
		bug("out of memory");
	return ret;
}

static int run(int argc, char **argv)
{
	struct cost_row base = {};
	struct kv_model *m = NULL;
	struct rows rows = {};
	const char *what = NULL;
	int status = EXIT_FAILED;
	size_t n = 0, i;

	opt_parse(&cmd_model, &argc, argv, NULL);
	if (opt_json && opt_csv)
		die_usage("--json and --csv do not go together");
	if (!opt_tp || opt_tp > UINT32_MAX)
		die_usage("--tp %llu is no number of ranks", (unsigned long long)opt_tp);
	fill_machine(&base.h);
	if (!load_models(&m, &n, argc, argv)) {
		fill_context(&base.x, &m[0]);
		if (opt_sweep && n > 1)
			die_usage("--sweep is of one model");
		if (opt_sweep)
			what = kv_variable_name(sweep(&rows, &base));
		else
			compare_models(&rows, m, n, &base);
		status = print(&rows, what, n == 1 ? m : NULL) ? EXIT_FAILED : EXIT_OK;
	}
	for (i = 0; i < rows.n; i++)
		free((char *)rows.row[i].why);
	free(rows.row);
	free(m);
	return status;
}

const struct cmd cmd_model = {
	.name = "model",
	.summary = "estimate: load a KV cache, or compute it again?",
	.usage = "MODEL|CONFIG.json|all... [--tp N] [--tokens N] [--json|--csv]\n"
		 "MODEL --sweep VAR=A..B[:STEP] [--json | --csv]",
	.description =
		"Loading takes the longest of three: commands that wait for each other, what rings carry, what the "
		"device gives.  Recomputing takes the operations of weights and attention at the share of the GPUs' peak "
		"that is reached, and an overhead.  R is load / recompute: below 1 loading is faster.  For one model it "
		"also says where R turns: context, depth, bandwidth, the smallest model.\n"
		"\n"
		"The defaults are the rig of the published crossover measurements, on which they were fitted: they are "
		"estimates, and directional.  Formulas and fit are in docs/kv-model.md.",
	.examples = "kvio model Llama-3.1-70B --tp 4 --tokens 14848\n    R of one case, and where it turns\n"
		    "kvio model Llama-3.1-8B --tp 4 --sweep depth=1..64\n    what a deeper queue gives\n"
		    "kvio model all --tp 8 --speedup 2.8 --csv\n    every known model",
	.opts = opts,
	.run = run,
};
