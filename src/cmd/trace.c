// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/str.h"
#include "lib/zio.h"
#include "model/mlperf.h"
#include "out/agent.h"
#include "out/manifest.h"

#define MAX_DEPTH	 16
#define MAX_CHUNK_TOKENS (1u << 20)
#define MAX_RANKS	 4096u

static const char *opt_format = "auto", *opt_policy = "prefix", *opt_scope = "field", *opt_out, *opt_provider;
static const char *opt_model, *opt_tier = "Tier-2", *opt_url, *opt_revision, *opt_license;
static u64 opt_chunk, opt_max, opt_capacity, opt_tp = 1;
static bool opt_json;

static const struct opt opts[] = {
	OPT_GROUP("Input"),
	OPT_CHOICE(0, "format", &opt_format, AGENT_FORMATS, "of the trace (default auto: by its members)"),
	OPT_U64(0, "max-requests", &opt_max, "N", "only the first N"),
	OPT_STR(0, "provider", &opt_provider, "NAME", "only requests to this one (claude, codex)"),
	OPT_CHOICE(0, "session-scope", &opt_scope, "file|field", "what tells sessions apart (default field)"),
	OPT_STR(0, "tier", &opt_tier, "NAME|all", "of an mlperf trace, what to keep (default Tier-2: NVMe)"),
	OPT_GROUP("Cache"),
	OPT_U64(0, "chunk-tokens", &opt_chunk, "N", "tokens in a chunk (default 256; of mooncake 512)"),
	OPT_CHOICE(0, "policy", &opt_policy, "prefix|substring",
		   "what a request finds: chunks up to the first that is not there, or each that is (default prefix)"),
	OPT_U64(0, "capacity-chunks", &opt_capacity, "N",
		"chunks that fit; the least recently used goes (default: all)"),
	OPT_STR(0, "model", &opt_model, "NAME|FILE", "a model, for bytes and commands"),
	OPT_U64(0, "tp", &opt_tp, "N", "ranks: objects of a chunk (default 1)"),
	OPT_GROUP("Output"),
	OPT_STR('o', "output", &opt_out, "FILE", "write the plan (of mlperf the manifest) as JSON"),
	OPT_FLAG(0, "json", &opt_json, "print it instead of the summary"),
	OPT_STR(0, "source-url", &opt_url, "URL", "to be noted in the plan: where the trace is from"),
	OPT_STR(0, "source-revision", &opt_revision, "TEXT", "... which one"),
	OPT_STR(0, "source-license", &opt_license, "TEXT", "... and what one may do with it"),
	OPT_OLD(OPT_T_STR, "out", &opt_out),
	OPT_END,
};

struct files {
	char **path;
	size_t n;
};

static void add_path(struct files *f, const char *path)
{
	char **grown = reallocarray(f->path, f->n + 1, sizeof(*grown));

	if (!grown)
		bug("out of memory");
	f->path = grown;
	f->path[f->n++] = strdup(path);
	if (!f->path[f->n - 1])
		bug("out of memory");
}

static bool is_trace_name(const char *name)
{
	static const char *const ends[] = { ".jsonl", ".jsonl.gz", ".jsonl.zst", ".csv", ".csv.gz", ".csv.zst" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (str_ends(name, ends[i]))
			return true;
	return false;
}

/* A file, or all traces below a directory in the order of their names. */
static int add_operand(struct files *f, const char *path, u32 depth)
{
	struct dirent **entry;
	struct stat st;
	int n, i, ret = 0;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		if (!depth || is_trace_name(path))
			add_path(f, path);
		return 0;
	}
	if (depth > MAX_DEPTH)
		return err(-1, "%s: directories are nested too deep", path);
	n = scandir(path, &entry, NULL, alphasort);
	if (n < 0)
		return err(-errno, "cannot read %s", path);
	for (i = 0; i < n; i++) {
		char below[4096];

		if (*entry[i]->d_name != '.' && !ret &&
		    snprintf(below, sizeof(below), "%s/%s", path, entry[i]->d_name) < (int)sizeof(below))
			ret = add_operand(f, below, depth + 1);
		free(entry[i]);
	}
	free(entry);
	return ret;
}

static int write_json(const struct buf *b)
{
	struct zout *out;
	int ret;

	if (b->failed)
		return err(-ENOMEM, "cannot make the plan");
	if (!opt_out || !strcmp(opt_out, "-")) {
		fwrite(b->p, 1, b->n, stdout);
		return 0;
	}
	ret = zout_open(&out, opt_out, ZIO_BY_NAME);
	if (!ret) {
		zout_write(out, b->p, b->n);
		ret = zout_close(out);
	}
	return ret ? err(ret, "cannot write %s", opt_out) : 0;
}

/* ---- mlperf ---- */

static bool is_mlperf(const char *path)
{
	char head[1024];
	struct zin *z;
	ssize_t n;

	if (strcmp(opt_format, "auto"))
		return !strcmp(opt_format, "mlperf");
	if (!strcmp(path, "-") || zin_open(&z, path))
		return false;
	n = zin_read(z, head, sizeof(head));
	zin_close(z);
	return n > 0 && mlperf_is_head(head, strcspn(head, "\n") < (size_t)n ? strcspn(head, "\n") : (size_t)n);
}

static void tell_mlperf(const struct kv_manifest *m, const struct mlperf_counts *c)
{
	u64 n[N_KV_DO] = {}, bytes[N_KV_DO] = {};
	u32 i;

	for (i = 0; i < m->n_operations; i++) {
		n[m->operation[i].op]++;
		bytes[m->operation[i].op] += m->operation[i].bytes;
	}
	printf("trace      mlperf, %llu operations, %llu of other tiers\n", (unsigned long long)c->rows,
	       (unsigned long long)c->other_tier);
	printf("objects    %u\n", m->n_objects);
	for (i = 0; i < N_KV_DO; i++)
		if (n[i])
			printf("%-10s %llu, %llu B\n", kv_manifest_op_name((enum kv_manifest_op)i),
			       (unsigned long long)n[i], (unsigned long long)bytes[i]);
}

static int run_mlperf(const char *path)
{
	struct mlperf_counts c;
	struct kv_manifest m = { .device = { .use_uring_cmd = true, .mdts_bytes = 131072, .block_align = 4096 } };
	struct buf b = {};
	char source[256];
	const char *base = strrchr(path, '/');
	int ret = mlperf_read(&m, path, strcmp(opt_tier, "all") ? opt_tier : NULL, &c), status = EXIT_FAILED;

	snprintf(source, sizeof(source), "kvio trace: %s", base ? base + 1 : path);
	m.engine = strpool_add(&m.strings, "uring_cmd", 9);
	m.source = strpool_add(&m.strings, source, strlen(source));
	if (ret == -EBADMSG) {
		err(-1, "%s has no columns Timestamp, Operation and Object_Size_Bytes", path);
	} else if (ret) {
		err(ret, "cannot read %s", path);
	} else if (!m.n_operations) {
		err(-1, "%s: no operation of %s among %llu rows", path, opt_tier, (unsigned long long)c.rows);
	} else {
		manifest_json(&b, &m, 2);
		if (!opt_json)
			tell_mlperf(&m, &c);
		status = (opt_json || opt_out) && write_json(&b) ? EXIT_FAILED : EXIT_OK;
	}
	if (!status && (c.malformed || c.unknown_ops || c.cut)) {
		warn("%llu rows could not be read, the first in line %llu; %llu have an operation that is not known%s",
		     (unsigned long long)c.malformed, (unsigned long long)c.first_bad_line,
		     (unsigned long long)c.unknown_ops, c.cut ? "; the end is cut" : "");
		status = EXIT_INCOMPLETE;
	}
	buf_free(&b);
	kv_manifest_free(&m);
	return status;
}

/* ---- agents ---- */

static int find_model(struct kv_model *m)
{
	char why[KV_WHY];
	const char *near;

	if (!kv_model_find(m, opt_model, &near))
		return 0;
	if (str_ends(opt_model, ".json"))
		return kv_model_read(m, opt_model, why) ? err(-1, "cannot use %s: %s", opt_model, why) : 0;
	die_usage("no model '%s': 'kvio plan all' lists them; a config.json works, too", opt_model);
}

/* What one object of the model makes. */
static int project(struct kv_projection *p, struct kv_model *m, u64 chunk_tokens)
{
	struct kv_query q = { .m = m,
			      .dtype = KV_BFLOAT16,
			      .ranks = (u32)opt_tp,
			      .chunk_tokens = chunk_tokens,
			      .limits = { .mdts_bytes = 131072, .align = KV_BLOCK_ALIGN },
			      .header_bytes = KV_HEADER_BYTES };
	char why[KV_WHY];

	if (find_model(m))
		return -1;
	return kv_project(p, &q, why) ? err(-1, "no projection: %s", why) : 0;
}

static int read_all(struct agent_trace *t, const struct files *f)
{
	size_t i;
	int ret;

	for (i = 0; i < f->n; i++) {
		ret = agent_read(t, f->path[i]);
		if (ret == -EINVAL)
			return err(-1, "%s: %s", f->path[i], t->why);
		if (ret)
			return err(ret, "cannot read %s", f->path[i]);
	}
	return t->n ? 0 : err(-1, "%s: no request in it", f->path[0]);
}

static int print(const struct agent_context *x)
{
	struct buf b = {};
	int ret = 0;

	if (!opt_json) {
		agent_text(&b, x);
		fwrite(b.p, 1, b.n, stdout);
	}
	buf_reset(&b);
	if (opt_json || opt_out) {
		agent_json(&b, x);
		ret = write_json(&b);
	}
	buf_free(&b);
	return ret;
}

static int run_agents(const struct files *f)
{
	struct agent_trace t = { .o = { .session_is_file = !strcmp(opt_scope, "file"),
					.chained = !strcmp(opt_policy, "prefix"),
					.chunk_tokens = opt_chunk,
					.max_requests = opt_max,
					.provider = opt_provider } };
	struct kv_cache c = { .capacity = opt_capacity,
			      .lookup = strcmp(opt_policy, "prefix") ? KV_LOOKUP_ALL : KV_LOOKUP_PREFIX };
	struct agent_context x = { .t = &t,
				   .c = &c,
				   .ranks = (u32)opt_tp,
				   .source_url = opt_url,
				   .source_revision = opt_revision,
				   .source_license = opt_license };
	struct kv_projection p;
	struct kv_model m;
	int ret, status = EXIT_FAILED;

	for (t.o.format = AGENT_TRACELAB; t.o.format; t.o.format--)
		if (!strcmp(agent_format_name(t.o.format), opt_format))
			break;
	if (!read_all(&t, f)) {
		ret = opt_model ? project(&p, &m, t.o.chunk_tokens) : 0;
		x.p = opt_model ? &p : NULL;
		if (!ret && agent_run(&t, &c))
			ret = err(-ENOMEM, "cannot run the trace");
		if (!ret)
			ret = print(&x);
		status = ret ? EXIT_FAILED : EXIT_OK;
	}
	if (!status && t.cut) {
		warn("a file ends within a line, which was left out");
		status = EXIT_INCOMPLETE;
	}
	kv_cache_free(&c);
	agent_free(&t);
	return status;
}

static int run(int argc, char **argv)
{
	struct files f = {};
	int i, status = EXIT_FAILED;
	size_t k;

	opt_parse(&cmd_trace, &argc, argv, NULL);
	if (argc < 2)
		die_usage("nothing to read: name a trace, or a directory of traces");
	if (opt_chunk > MAX_CHUNK_TOKENS)
		die_usage("--chunk-tokens %llu is more than %u", (unsigned long long)opt_chunk, MAX_CHUNK_TOKENS);
	if (!opt_tp || opt_tp > MAX_RANKS)
		die_usage("--tp %llu is no number from 1 to %u", (unsigned long long)opt_tp, MAX_RANKS);
	for (i = 1; i < argc; i++)
		if (add_operand(&f, argv[i], 0))
			goto out;
	if (!f.n)
		err(-1, "%s: no trace in it", argv[1]);
	else if (!is_mlperf(f.path[0]))
		status = run_agents(&f);
	else if (f.n > 1)
		err(-1, "an mlperf trace is one file: name it alone");
	else
		status = run_mlperf(f.path[0]);
out:
	for (k = 0; k < f.n; k++)
		free(f.path[k]);
	free(f.path);
	return status;
}

const struct cmd cmd_trace = {
	.name = "trace",
	.summary = "turn traces of agents and benchmarks into cache plans",
	.usage = "TRACE|DIRECTORY... [-o PLAN.json] [--capacity-chunks N]\n"
		 "MLPERF.csv[.zst] [-o MANIFEST.json] [--tier NAME|all]",
	.description =
		"Runs the requests of a trace through a cache of chunks, and tells what each loads and stores, and what "
		"is deleted for it.  A prefix lookup stops at the first chunk that is not there, as engines do.\n"
		"\n"
		"tokens: session_id and token_ids; a chunk is the SHA-256 of its token ids, and of the chunk before it "
		"with --policy prefix.  hashes: session_id and chunk_keys of 64 hex digits.  mooncake: the open traces, "
		"hash_ids of 512 tokens each.  tracelab: session_id, provider, input_tokens_total, prefix_tokens; what "
		"was found is told.  Prompts as text have to be tokenised first.\n"
		"\n"
		"mlperf: the --io-trace-log of MLPerf Storage's KV cache benchmark becomes a manifest, with objects, order "
		"and times.\n"
		"\n"
		"Names of sessions and directories do not go into a plan.  The status is 1 when a line is not of the "
		"format, and 3 when the end of a file is cut or rows could not be read.",
	.examples =
		"kvio trace conversation_trace.jsonl --capacity-chunks 100000\n    how often a cache of that size is hit\n"
		"kvio trace agents/ --model Llama-3.1-70B --tp 4 -o plan.json\n    a plan, and its bytes\n"
		"kvio trace kv_trace.csv.zst -o run.json\n    an MLPerf trace that can be replayed",
	.opts = opts,
	.run = run,
};
