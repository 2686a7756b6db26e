// SPDX-License-Identifier: Apache-2.0
/* KV-cache offload IO of a model that is not there, on a real device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/issue.h"
#include "kv/geometry.h"
#include "kv/key.h"
#include "kv/requests.h"
#include "kv/tokens.h"
#include "lib/err.h"
#include "lib/hash.h"
#include "lib/progress.h"
#include "lib/zio.h"
#include "model/agent.h"
#include "out/manifest.h"

#define NOT_GIVEN UINT64_MAX

static struct rig_words words = RIG_WORDS_DEFAULT;
static struct index_words kept;
static const char *opt_model, *opt_dtype = "bfloat16", *opt_sem, *opt_record, *opt_sigma = "1.0", *opt_hit = "0.5";
static const char *opt_trace, *opt_agent, *opt_speed = "0";
static u64 opt_chunk = KV_CHUNK_TOKENS, opt_tp = 1, opt_payload, opt_requests = 200, opt_median = 1024;
static u64 opt_seed = 1234, opt_chunks, opt_passes = 1, opt_warmup, opt_turns, opt_sessions = 8;
static bool opt_json, opt_no_evict;

static const struct opt opts[] = {
	OPT_GROUP("Objects"),
	OPT_STR(0, "model", &opt_model, "NAME|FILE", "a known model, or the config.json of one"),
	OPT_STR(0, "dtype", &opt_dtype, "TYPE", "of an element (default bfloat16)"),
	OPT_U64(0, "chunk-tokens", &opt_chunk, "N", "tokens in an object (default 256)"),
	OPT_U64(0, "tp", &opt_tp, "N", "ranks of tensor parallelism: as many objects a chunk (default 1)"),
	OPT_SIZE(0, "payload-bytes", &opt_payload, "SIZE", "no model at all: objects of that size"),
	OPT_GROUP("Requests"),
	OPT_U64(0, "requests", &opt_requests, "N", "how many (default 200)"),
	OPT_U64(0, "median-tokens", &opt_median, "N", "of a prompt, lognormal (default 1024)"),
	OPT_STR(0, "sigma", &opt_sigma, "X", "... its spread (default 1.0)"),
	OPT_STR(0, "trace", &opt_trace, "FILE",
		"prompts as long as these: a number a line, or JSON with num_tokens, prompt_tokens, ..."),
	OPT_STR(0, "agent-trace", &opt_agent, "FILE",
		"requests of an agent's or serving system's trace (as kvio trace reads), through a cache that is as large "
		"as the device"),
	OPT_STR(0, "speed", &opt_speed, "X",
		"... 0: one after the other (default); 1: at their times; 2: twice as fast"),
	OPT_STR(0, "hit-rate", &opt_hit, "X", "share of requests that load instead of store (default 0.5)"),
	OPT_U64(0, "turns", &opt_turns, "N", "sessions of so many turns: each loads its prefix, stores what is new"),
	OPT_U64(0, "sessions", &opt_sessions, "N", "... so many at a time (default 8)"),
	OPT_U64(0, "num-chunks", &opt_chunks, "N", "instead: store N chunks, then load them"),
	OPT_U64(0, "passes", &opt_passes, "N", "... so many times, each with chunks of its own (default 1)"),
	OPT_U64(0, "warmup", &opt_warmup, "N", "requests (or passes) that are not measured (default 0)"),
	OPT_U64(0, "seed", &opt_seed, "N", "the same seed, the same requests (default 1234)"),
	OPT_FLAG(0, "no-evict", &opt_no_evict, "when the device is full stores fail; else the oldest chunk goes"),
	RIG_OPTS_TARGET(words),
	RIG_OPTS_LAYOUT(words),
	RIG_OPTS_ISSUE(words),
	RIG_OPTS_SAFETY(words),
	INDEX_OPTS(kept),
	OPT_GROUP("Output"),
	OPT_STR(0, "sem", &opt_sem, "FILE", "the semantic trace (else $LMCACHE_KVIO_TRACE, which is appended to)"),
	OPT_STR(0, "record", &opt_record, "FILE", "the manifest, for kvio replay"),
	OPT_FLAG(0, "json", &opt_json, "print the result as JSON"),
	OPT_OLD(OPT_T_STR, "sem-out", &opt_sem),
	OPT_OLD(OPT_T_U64, "num-requests", &opt_requests),
	OPT_OLD(OPT_T_U64, "iters", &opt_passes),
	OPT_END,
};

/* ---- options ---- */

static double real(const char *name, const char *text, double low, double high)
{
	char *end;
	double v = strtod(text, &end);

	if (!*text || *end || !(v >= low && v <= high))
		die_usage("--%s '%s' is no number from %g to %g", name, text, low, high);
	return v;
}

static u32 small(const char *name, u64 v, u64 low, u64 high)
{
	if (v < low || v > high)
		die_usage("--%s %llu is not %llu to %llu", name, ULL(v), ULL(low), ULL(high));
	return (u32)v;
}

/* What an object is: its bytes, and the words for it. */
struct object_kind {
	char model[KV_NAME];
	char shape[64];
	const char *dtype;
	u64 bytes;
	u32 ranks;
};

static int choose_object(struct object_kind *k)
{
	struct kv_shard shard;
	struct kv_model m;
	enum kv_dtype dtype;
	const char *near;
	char why[KV_WHY];
	u64 bytes;

	*k = (struct object_kind){ .ranks = small("tp", opt_tp, 1, 255), .bytes = opt_payload };
	if (!opt_model == !opt_payload)
		die_usage("give --model or --payload-bytes, one of them");
	if (!opt_model) {
		snprintf(k->model, sizeof(k->model), "kvoffload");
		return 0;
	}
	if (kv_dtype_parse(&dtype, opt_dtype))
		die_usage("--dtype '%s' is not of " KV_DTYPES, opt_dtype);
	if (!opt_chunk)
		die_usage("--chunk-tokens is 0");
	if (kv_model_find(&m, opt_model, &near)) {
		if (access(opt_model, F_OK))
			die_usage("no model '%s'%s%s%s (kvio plan all lists them; a config.json works, too)", opt_model,
				  near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
		if (kv_model_read(&m, opt_model, why))
			return err(-1, "cannot use %s: %s", opt_model, why);
	}
	if (kv_bytes(&m, opt_chunk, dtype, &bytes))
		return err(-1, "a chunk of %llu tokens is too large", ULL(opt_chunk));
	if (kv_shard(&m, bytes, k->ranks, &shard, why))
		return err(-1, "no objects of %s: %s", m.name, why);
	k->bytes = shard.object_bytes;
	k->dtype = kv_dtype_name(dtype);
	snprintf(k->model, sizeof(k->model), "%s", m.name);
	/* Of one rank, as engines have it: K and V, layers, tokens, heads, elements; a latent has no heads. */
	if (m.family == KV_MLA)
		snprintf(k->shape, sizeof(k->shape), "[1,%u,%llu,%u]", m.layers, ULL(opt_chunk), m.latent);
	else
		snprintf(k->shape, sizeof(k->shape), "[2,%u,%llu,%u,%u]", m.layers / m.share, ULL(opt_chunk),
			 MAX(m.kv_heads / k->ranks, 1u), m.head_dim);
	return 0;
}

/* ---- running ---- */

struct workload {
	struct rig rig;
	struct emit emit;
	struct kv_manifest manifest;
	struct zout *record; /* where the manifest goes, until it is written */
	struct work work;
	struct issue_recovered recovery;
	struct object_kind kind;
	struct kv_requests requests;
	u64 *tokens; /* of --trace */
	size_t n_tokens;
	struct agent_trace agent;
	struct kv_cache cache; /* what it makes of the agent's requests */
	struct work_object *objects;
	char *keys; /* of these, KEY_ROOM each */
	u64 n_objects;
	struct work_report report;
	struct progress progress;
};

static struct kv_requests_options requests_options(const struct workload *w, u64 capacity_chunks)
{
	struct kv_requests_options o = {
		.kind = opt_chunks  ? KV_STORE_LOAD
			: opt_turns ? KV_SESSIONS
				    : KV_RANDOM,
		.seed = opt_seed,
		.chunk_tokens = MAX(opt_chunk, 1ull),
		.median_tokens = (double)opt_median,
		.sigma = real("sigma", opt_sigma, 0, 10),
		.hit_rate = real("hit-rate", opt_hit, 0, 1),
		.sessions = small("sessions", opt_sessions, 1, 1 << 20),
		.turns = small("turns", opt_turns, 0, 1 << 20),
		.chunks = opt_chunks,
		.capacity = opt_no_evict ? 0 : capacity_chunks,
		.tokens = w->tokens,
		.n_tokens = w->n_tokens,
	};

	if (!opt_median)
		die_usage("--median-tokens is 0");
	return o;
}

static int read_tokens(struct workload *w)
{
	char why[KV_WHY];
	int ret;

	if ((opt_trace != NULL) + (opt_agent != NULL) + (opt_chunks != 0) > 1)
		die_usage("--trace, --agent-trace and --num-chunks do not go together");
	if (!opt_trace)
		return 0;
	ret = kv_tokens_read(opt_trace, &w->tokens, &w->n_tokens, why);
	if (ret == -EINVAL)
		return err(-1, "cannot use %s: %s", opt_trace, why);
	return ret ? err(ret, "cannot read %s", opt_trace) : 0;
}

#define KEY_ROOM (KV_NAME * 3 + 64)

static int room_for(struct workload *w, u64 n)
{
	struct work_object *o;
	char *keys;

	if (n > UINT32_MAX)
		return -EOVERFLOW;
	if (n <= w->n_objects)
		return 0;
	o = reallocarray(w->objects, n, sizeof(*o));
	if (!o)
		return -ENOMEM;
	w->objects = o;
	keys = reallocarray(w->keys, n, KEY_ROOM);
	if (!keys)
		return -ENOMEM;
	w->keys = keys;
	w->n_objects = n;
	return 0;
}

/* The hash of a chunk, in hex: the agent's own, or one of this seed. */
static void chunk_hash(const struct workload *w, u64 chunk, char hash[65])
{
	const u8 *key = (const u8 *)strpool_get(&w->agent.keys, opt_agent ? (u32)chunk : 0);
	u32 i;

	if (opt_agent)
		for (i = 0; i < SHA256_BYTES; i++)
			snprintf(hash + 2 * i, 3, "%02x", key[i]);
	else
		snprintf(hash, 65, "%016llx%016llx", ULL(hash_u64(opt_seed * 2 + 1)), ULL(hash_u64(chunk + 1)));
}

/* Object number k: that of a rank of the chunk. */
static int make_object(struct workload *w, u64 k, u64 chunk, u32 rank, struct buf *b)
{
	u8 ranks = (u8)w->kind.ranks;
	char hash[65];

	chunk_hash(w, chunk, hash);
	buf_reset(b);
	key_make(b, w->kind.model, key_rank(ranks, (u8)rank, ranks, (u8)rank), "0", hash, "");
	if (b->failed || b->n > KEY_ROOM)
		return -ENOMEM;
	memcpy(w->keys + k * KEY_ROOM, b->p, b->n);
	w->objects[k] = (struct work_object){ w->keys + k * KEY_ROOM, b->n, w->kind.bytes, rank };
	return 0;
}

/* The objects of these chunks (or of n from `first` on), each rank's. */
static int make_objects(struct workload *w, const u64 *chunk, u64 first, u64 n)
{
	int ret = room_for(w, n * w->kind.ranks);
	struct buf b = {};
	u64 i, k = 0;
	u32 rank;

	for (i = 0; i < n && !ret; i++)
		for (rank = 0; rank < w->kind.ranks && !ret; rank++)
			ret = make_object(w, k++, chunk ? chunk[i] : first + i, rank, &b);
	buf_free(&b);
	return ret;
}

static int delete_chunk(struct workload *w, u64 chunk, u64 request)
{
	int ret = make_objects(w, NULL, chunk, 1);
	u32 k;

	for (k = 0; k < w->kind.ranks && !ret; k++)
		ret = work_delete(&w->work, &w->objects[k], request);
	return ret;
}

static int run_request(struct workload *w, const struct kv_request *r)
{
	u32 ranks = w->kind.ranks;
	u64 i;
	int ret = make_objects(w, r->load, 0, r->n_load);

	if (!ret)
		ret = work_do(&w->work, KV_LOAD, w->objects, (u32)r->n_load * ranks, r->index);
	for (i = 0; i < r->n_evict && !ret; i++)
		ret = delete_chunk(w, r->evict_first + i, r->index);
	if (!ret)
		ret = make_objects(w, r->store, 0, r->n_store);
	if (!ret)
		ret = work_do(&w->work, KV_STORE, w->objects, (u32)r->n_store * ranks, r->index);
	return ret;
}

static int run_requests(struct workload *w)
{
	u64 each = opt_chunks ? 2 : 1, n = (opt_chunks ? opt_passes : opt_requests), i;
	struct work_report *p = &w->report;
	struct kv_request r;
	int ret = 0;

	if (__builtin_add_overflow(n, opt_warmup, &n) || n > UINT32_MAX)
		die_usage("too many requests");
	progress_start(&w->progress, stderr, verbosity < 0, n * each, "requests");
	for (i = 0; i < n * each && !ret && !issue_stop; i++) {
		w->work.counting = i >= opt_warmup * each;
		ret = kv_requests_next(&w->requests, &r);
		if (!ret)
			ret = run_request(w, &r);
		if (w->work.counting) {
			p->requests++;
			p->hits += r.hit;
			p->tokens += r.tokens;
		}
		progress_update(&w->progress, i + 1);
	}
	progress_end(&w->progress);
	p->complete = i == n * each && !issue_stop && !ret;
	return ret;
}

/* ---- an agent's requests ---- */

static int read_agent(struct workload *w, u64 capacity)
{
	struct agent_trace *t = &w->agent;
	int ret;

	t->o.chunk_tokens = opt_chunk;
	ret = agent_read(t, opt_agent);
	if (ret == -EINVAL)
		return err(-1, "cannot use %s: %s", opt_agent, t->why);
	w->cache.capacity = capacity;
	if (!ret)
		ret = agent_run(t, &w->cache);
	if (ret)
		return err(ret, "cannot read %s", opt_agent);
	if (t->cut)
		warn("the last line of %s is cut: left out", opt_agent);
	return t->n ? 0 : err(-1, "%s has no requests", opt_agent);
}

/* Operations of one kind that follow each other are one call. */
static int run_agent_request(struct workload *w, const struct agent_request *q, u64 index)
{
	const struct kv_agent_op *op = w->cache.op + q->first_op;
	u64 *chunk = calloc(q->n_ops + 1, sizeof(*chunk));
	u64 i, n;
	int ret = chunk ? 0 : -ENOMEM;

	for (i = 0; i < q->n_ops && !ret && !issue_stop; i += n) {
		for (n = 0; i + n < q->n_ops && op[i + n].op == op[i].op; n++)
			chunk[n] = op[i + n].key;
		if (op[i].op == KV_AGENT_DELETE) {
			n = 1;
			ret = delete_chunk(w, chunk[0], index);
			continue;
		}
		ret = make_objects(w, chunk, 0, n);
		if (!ret)
			ret = work_do(&w->work, op[i].op == KV_AGENT_LOAD ? KV_LOAD : KV_STORE, w->objects,
				      (u32)n * w->kind.ranks, index);
	}
	free(chunk);
	return ret;
}

/* What was there before the first request: stored, and not measured. */
static int store_warm(struct workload *w)
{
	u32 i, step = MAX(w->rig.n_buffers / w->kind.ranks, 1u);
	int ret = 0;

	w->work.counting = false;
	for (i = 0; i < w->cache.n_warm && !ret && !issue_stop; i += step) {
		u64 chunk[4096];
		u32 n = MIN(MIN(step, w->cache.n_warm - i), (u32)ARRAY_SIZE(chunk)), k;

		for (k = 0; k < n; k++)
			chunk[k] = w->cache.warm[i + k];
		ret = make_objects(w, chunk, 0, n);
		if (!ret)
			ret = work_do(&w->work, KV_STORE, w->objects, n * w->kind.ranks, 0);
	}
	return ret;
}

static int run_agent(struct workload *w)
{
	double speed = real("speed", opt_speed, 0, 1e6);
	const struct agent_request *q = w->agent.request;
	struct work_report *p = &w->report;
	int ret = store_warm(w);
	u64 start, i;

	progress_start(&w->progress, stderr, verbosity < 0, w->agent.n, "requests");
	start = clock_ns(CLOCK_MONOTONIC);
	for (i = 0; i < w->agent.n && !ret && !issue_stop; i++) {
		w->work.counting = i >= opt_warmup;
		if (speed > 0 && q[i].has_time)
			issue_wait(start + (u64)((double)(q[i].time_ns - q[0].time_ns) / speed));
		ret = run_agent_request(w, &q[i], i);
		if (w->work.counting) {
			p->requests++;
			p->hits += q[i].n_ops && w->cache.op[q[i].first_op].op == KV_AGENT_LOAD;
			p->tokens += q[i].input_tokens;
		}
		progress_update(&w->progress, i + 1);
	}
	progress_end(&w->progress);
	p->complete = i == w->agent.n && !issue_stop && !ret;
	return ret;
}

/* ---- the manifest ---- */

static void begin_manifest(struct workload *w)
{
	struct kv_manifest *m = &w->manifest;
	const struct kv_layout *l = &w->rig.store.o.layout;
	const char *engine = io_kind_name(w->rig.o.engine);

	m->version = 2;
	m->source = strpool_add(&m->strings, "kvio workload", 13);
	m->model = strpool_add(&m->strings, w->kind.model, strlen(w->kind.model));
	m->engine = strpool_add(&m->strings, engine, strlen(engine));
	if (w->kind.shape[0]) {
		m->shape = strpool_add(&m->strings, w->kind.shape, strlen(w->kind.shape));
		m->dtype = strpool_add(&m->strings, w->kind.dtype, strlen(w->kind.dtype));
	}
	m->device = (struct kv_device_geometry){
		.use_uring_cmd = w->rig.o.engine == IO_URING_CMD,
		.mdts_bytes = w->rig.xfer,
		.block_align = l->block_align,
		.header_bytes = l->header_bytes,
		.slot_bytes = l->slot_bytes,
		.capacity_bytes = l->capacity_bytes,
	};
	w->work.manifest = m;
}

static int write_manifest(struct workload *w)
{
	struct buf b = {};
	int ret;

	manifest_json(&b, &w->manifest, 2);
	ret = b.failed ? -ENOMEM : zout_write(w->record, b.p, b.n);
	if (ret)
		zout_abort(w->record);
	else
		ret = zout_close(w->record);
	w->record = NULL;
	buf_free(&b);
	return ret ? err(ret, "cannot write %s", opt_record) : 0;
}

/* ---- the whole ---- */

static int report(struct workload *w, int ret)
{
	struct work_report *p = &w->report;
	struct buf b = {};
	int status;

	p->command = "workload";
	p->rig = &w->rig;
	p->work = &w->work;
	p->recovered = &w->recovery.found;
	p->checked = kept.check ? &w->recovery.checked : NULL;
	p->model = w->kind.model;
	p->dtype = w->kind.dtype;
	p->chunk_tokens = w->kind.dtype ? opt_chunk : 0;
	p->ranks = w->kind.ranks;
	p->load_path = words.path;
	p->failed = ret && ret != -ETIME;
	if (ret && ret != -ETIME)
		err(MIN(ret, -1), "the run ended early");
	work_report_hanging(&b, p);
	issue_tell(&b);
	status = work_report_bad(p) ? EXIT_FAILED : !p->complete ? EXIT_INCOMPLETE : EXIT_OK;
	if (opt_json)
		work_report_json(&b, p);
	else
		work_report_text(&b, p);
	return issue_print(&b, status);
}

static int open_all(struct workload *w)
{
	struct rig_options o;
	struct kv_requests_options requests;
	char why[GUARD_WHY];
	int ret;

	if (kept.check && !words.sum && !words.check_header && !words.verify)
		die_usage("--check-recovered needs something to check by: --payload-sum, --check-header or --verify");
	if (choose_object(&w->kind) || read_tokens(w))
		return EXIT_FAILED;
	if (rig_options_make(&o, &words, w->kind.bytes, why))
		die_usage("%s", why);
	requests_options(w, 0);
	real("speed", opt_speed, 0, 1e6);
	ret = issue_open(&w->rig, &o);
	if (ret)
		return ret;
	requests = requests_options(w, w->rig.store.o.layout.slots / w->kind.ranks);
	if (!requests.capacity && !opt_no_evict) {
		err(0, "not one chunk of %u objects fits the %llu slots of %s", w->kind.ranks,
		    ULL(w->rig.store.o.layout.slots), w->rig.guard.node);
		return EXIT_FAILED;
	}
	w->work.rig = &w->rig;
	w->work.stop = &issue_stop;
	w->work.verify = words.verify;
	w->work.evict = !opt_no_evict;
	w->work.shape = w->kind.shape[0] ? w->kind.shape : NULL;
	w->work.dtype = w->kind.dtype;
	if (work_init(&w->work) || kv_requests_init(&w->requests, &requests)) {
		err(-ENOMEM, "cannot begin");
		return EXIT_FAILED;
	}
	if (opt_agent && read_agent(w, requests.capacity))
		return EXIT_FAILED;
	/* What cannot be written is to be known before all the IO. */
	ret = opt_record ? zout_open(&w->record, opt_record, ZIO_BY_NAME) : 0;
	if (ret) {
		err(ret, "cannot write %s", opt_record);
		return EXIT_FAILED;
	}
	if (opt_record)
		begin_manifest(w);
	if (issue_recover(&w->recovery, &kept, &w->work))
		return EXIT_FAILED;
	if (issue_begin_trace(&w->emit, opt_sem, &w->rig, "kvio workload"))
		return EXIT_FAILED;
	w->work.emit = w->emit.fd >= 0 ? &w->emit : NULL;
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct workload *w = calloc(1, sizeof(*w));
	int status, ret;

	opt_parse(&cmd_workload, &argc, argv, NULL);
	if (argc > 1)
		die_usage("unexpected operand '%s'", argv[1]);
	if (!w)
		bug("out of memory");
	w->rig.guard.fd = w->rig.guard.claim_fd = w->emit.fd = -1;
	status = open_all(w);
	if (status)
		goto out;
	issue_catch_signals();
	ret = issue_check_recovered(&w->recovery, &kept, &w->work);
	if (!ret)
		ret = opt_agent ? run_agent(w) : run_requests(w);
	status = issue_last_checkpoint(&kept, &w->work);
	ret = report(w, ret);
	status = ret ? ret : status;
	if (opt_record && write_manifest(w))
		status = EXIT_FAILED;
out:
	if (w->record)
		zout_abort(w->record);
	status = issue_end_trace(&w->emit, status);
	kv_requests_free(&w->requests);
	kv_cache_free(&w->cache);
	agent_free(&w->agent);
	free(w->tokens);
	work_free(&w->work);
	kv_manifest_free(&w->manifest);
	rig_close(&w->rig);
	free(w->objects);
	free(w->keys);
	free(w);
	return status;
}

const struct cmd cmd_workload = {
	.name = "workload",
	.summary = "issue a model's KV-cache offload IO on a device or file",
	.usage = "--model NAME --device NODE --yes-destroy-data=NODE [...]\n"
		 "--model NAME --device FILE [OPTIONS]",
	.description =
		"Stores and loads the KV-cache objects of a model through the raw_block layout, with no GPU and no model: "
		"the sizes are exact, the requests are made up (lognormal prompts, a hit rate; sessions of several "
		"turns; or so many chunks stored and loaded) or have the lengths of a trace. Each rank of tensor "
		"parallelism has an object of its own.\n\n"
		"ALL DATA OF THE TARGET IS OVERWRITTEN. A disk is refused that is mounted, partitioned, held, swapped on, "
		"in use, read-only, carries any signature or the root file system; and --yes-destroy-data has to name it.\n\n"
		"Commands carry user_data = trace id << 32 | number, so that 'kvio record uring-cmd -- kvio workload "
		"--sem FILE ...' and 'kvio validate' tie each of them to its object.\n\n"
		"Exit status: 0 all done, 1 something failed or was wrong, 2 usage, 3 stopped early or a command hung.",
	.examples = "kvio workload --model Llama-3.1-8B --device /tmp/store --num-chunks 4 --verify\n"
		    "    into a sparse file\n"
		    "kvio workload --model Llama-3.1-70B --tp 4 --device /dev/ng0n1 --yes-destroy-data=ng0n1\n"
		    "    200 requests on a drive\n"
		    "kvio workload --model Llama-3.1-8B --device /tmp/store --load-path serial\n"
		    "    loads one command at a time: what a QD~1 bug costs\n",
	.opts = opts,
	.run = run,
};
