// SPDX-License-Identifier: Apache-2.0
/* How fast objects load, by how many load at a time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cmd/cmd.h"
#include "cmd/issue.h"
#include "lib/err.h"
#include "lib/human.h"
#include "lib/progress.h"
#include "lib/str.h"
#include "out/report_json.h"

#define MAX_ROWS 64u
#define BAR	 28u

static struct rig_words words = RIG_WORDS_DEFAULT;
static u64 opt_bytes = 20 << 20, opt_objects = 128, opt_reps = 3;
static const char *opt_workers = "1,2,4,8,16,32", *opt_sem;
static bool opt_json;

static const struct opt opts[] = {
	OPT_GROUP("What is loaded"),
	OPT_SIZE(0, "object-bytes", &opt_bytes, "SIZE", "an object (default 20MiB)"),
	OPT_U64(0, "nobj", &opt_objects, "N", "how many (default 128)"),
	OPT_STR(0, "workers", &opt_workers, "N,N,...",
		"objects that load at a time, each one command after the other (default 1,2,4,8,16,32)"),
	OPT_U64(0, "reps", &opt_reps, "N", "of each, the best counts (default 3)"),
	RIG_OPTS_TARGET(words),
	RIG_OPTS_LAYOUT(words),
	RIG_OPTS_ISSUE(words),
	OPT_GROUP("Output"),
	OPT_STR(0, "sem", &opt_sem, "FILE", "the semantic trace (else $LMCACHE_KVIO_TRACE, which is appended to)"),
	OPT_FLAG(0, "json", &opt_json, "print the result as JSON"),
	OPT_END,
};

struct row {
	u32 workers;
	u64 best_ns; /* of all objects; 0 = none succeeded */
	u64 cpu_ns;  /* of the program, in that time */
	u64 commands;
	u32 most_in_flight;
};

struct probe {
	struct rig rig;
	struct emit emit;
	struct batch_op *ops;
	struct row row[MAX_ROWS];
	u32 n_rows;
	u64 store_ns, failed;
	s32 error; /* the first */
	struct progress progress;
	u64 done;
	bool complete;
};

static void parse_workers(struct probe *p)
{
	const char *at = opt_workers;

	for (;;) {
		size_t n = strcspn(at, ",");
		char word[24];
		u64 v;

		snprintf(word, sizeof(word), "%.*s", (int)MIN(n, 20u), at);
		if (p->n_rows == MAX_ROWS || str_u64(word, &v) || !v || v > IO_MAX_DEPTH)
			die_usage("--workers '%s': up to %u numbers from 1 to %u", opt_workers, MAX_ROWS, IO_MAX_DEPTH);
		p->row[p->n_rows++].workers = (u32)v;
		at += n;
		if (!*at++)
			return;
	}
}

/* ---- running ---- */

static size_t key_of(u64 i, char *key, size_t size)
{
	return (size_t)snprintf(key, size, "kvio%%2Fprobe@0x01000100@0@%016llx", ULL(i + 1));
}

static void emit_ops(struct probe *p, const struct batch_op *ops, u32 n, u64 request)
{
	u32 i;

	for (i = 0; i < n && p->emit.fd >= 0; i++) {
		const struct batch_op *o = &ops[i];
		const struct strpool *keys = &p->rig.store.index.keys;
		const struct emit_op e = { .op = kv_op_name((enum kv_op)o->op),
					   .trace_id = o->trace_id,
					   .key = strpool_get(keys, o->key),
					   .key_len = strpool_len(keys, o->key),
					   .bytes = o->payload_bytes,
					   .slot_offset = o->offset,
					   .start_ns = o->start_ns,
					   .end_ns = o->end_ns ? o->end_ns : o->start_ns,
					   .res = o->res,
					   .request = request };

		if (o->start_ns)
			emit_op(&p->emit, &e);
	}
}

/* What the program and the kernel for it have worked so far. */
static u64 cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u64)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (u64)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* Runs the operations and counts what failed.  Their wall time. */
static int run_ops(struct probe *p, u32 n, u64 request, u64 *took_ns)
{
	u64 before = clock_ns(CLOCK_MONOTONIC);
	int ret = rig_run(&p->rig, p->ops, n, &issue_stop);
	u32 i;

	*took_ns = clock_ns(CLOCK_MONOTONIC) - before;
	for (i = 0; i < n; i++)
		if (p->ops[i].res && p->ops[i].res != -ECANCELED) {
			p->error = p->failed++ ? p->error : p->ops[i].res;
			*took_ns = 0;
		}
	emit_ops(p, p->ops, n, request);
	progress_update(&p->progress, p->done += n);
	return ret;
}

/* As many at a time as there are buffers. */
static int store_all(struct probe *p)
{
	struct rig *r = &p->rig;
	u64 i = 0, took;
	int ret = 0;

	while (i < opt_objects && !ret && !issue_stop) {
		u32 n;

		for (n = 0; i < opt_objects && n < r->n_buffers && !ret; n++, i++) {
			char key[64];
			size_t len = key_of(i, key, sizeof(key));

			ret = store_put(&r->store, &p->ops[n], key, len, opt_bytes, rig_mem(r, n));
		}
		if (ret)
			return err(ret, "object %llu of %llu has no place", ULL(i), ULL(opt_objects));
		ret = run_ops(p, n, 0, &took);
		p->store_ns += took;
	}
	return ret;
}

/* Nobody looks at the data, so objects may share a buffer, and all of them are one call. */
static int load_all(struct probe *p, struct row *row, u64 request)
{
	struct rig *r = &p->rig;
	struct batch_sums *sums = &r->worker[0].sums;
	u64 i, took, begun, cpu;
	int ret;

	for (i = 0; i < opt_objects; i++) {
		char key[64];
		size_t len = key_of(i, key, sizeof(key));

		ret = store_load(&r->store, &p->ops[i], key, len, rig_mem(r, (u32)(i % r->n_buffers)));
		if (ret)
			return err(ret, "object %llu is not there", ULL(i));
	}
	r->o.path = PATH_PARALLEL;
	r->o.path_n = row->workers;
	sums->most_in_flight = 0;
	begun = sums->of[KV_LOAD].commands;
	cpu = cpu_ns();
	ret = run_ops(p, (u32)opt_objects, request, &took);
	cpu = cpu_ns() - cpu;
	row->most_in_flight = MAX(row->most_in_flight, sums->most_in_flight);
	if (took && !ret && !issue_stop && (!row->best_ns || took < row->best_ns)) {
		row->best_ns = took;
		row->cpu_ns = cpu;
		row->commands = sums->of[KV_LOAD].commands - begun;
	}
	return ret;
}

static int run_all(struct probe *p)
{
	u64 request = 1, rep;
	int ret;
	u32 i;

	progress_start(&p->progress, stderr, verbosity < 0, opt_objects * (1 + p->n_rows * opt_reps), "objects");
	ret = store_all(p);
	/* Once through all of them and again, so that a drift of the drive does not look like a difference. */
	for (rep = 0; rep < opt_reps && !ret && !issue_stop && !p->failed; rep++)
		for (i = 0; i < p->n_rows && !ret && !issue_stop; i++)
			ret = load_all(p, &p->row[i], request++);
	progress_end(&p->progress);
	p->complete = !ret && !issue_stop;
	return ret;
}

/* ---- output ---- */

static double gbs(u64 ns)
{
	return ns ? (double)(opt_objects * opt_bytes) / (double)ns : 0;
}

static void text(struct buf *b, const struct probe *p)
{
	char object[32], xfer[32], wall[32], cpu[32];
	double best = 0;
	u32 i, k;

	for (i = 0; i < p->n_rows; i++)
		best = MAX(best, gbs(p->row[i].best_ns));
	buf_printf(b, "%llu objects of %s on %s by %s, commands of %s (bound by %s); stored with %.2f GB/s\n",
		   ULL(opt_objects), human_bytes(object, sizeof(object), opt_bytes), p->rig.guard.node,
		   io_kind_name(p->rig.o.engine), human_bytes(xfer, sizeof(xfer), p->rig.xfer), p->rig.bound,
		   gbs(p->store_ns));
	buf_printf(b, "%8s %6s %10s %8s %10s %9s\n", "at once", "depth", "wall", "GB/s", "CPU/cmd", "vs first");
	for (i = 0; i < p->n_rows; i++) {
		const struct row *r = &p->row[i];

		if (!r->best_ns) {
			buf_printf(b, "%8u      -          -        -          -         -\n", r->workers);
			continue;
		}
		buf_printf(b, "%8u %6u %10s %8.2f %10s ", r->workers, r->most_in_flight,
			   human_ns(wall, sizeof(wall), r->best_ns), gbs(r->best_ns),
			   human_ns(cpu, sizeof(cpu), r->commands ? r->cpu_ns / r->commands : 0));
		if (p->row[0].best_ns)
			buf_printf(b, "%8.2fx ", (double)p->row[0].best_ns / (double)r->best_ns);
		for (k = 0; k < (u32)(gbs(r->best_ns) / best * BAR + 0.5); k++)
			buf_byte(b, '#');
		buf_byte(b, '\n');
	}
}

static void json(struct buf *b, const struct probe *p)
{
	struct json j = { .b = b };
	u32 i;

	jw_open(&j, '{');
	jw_string(&j, "schema", "kvio_probe");
	jw_number(&j, "schema_version", 1);
	jw_string(&j, "node", p->rig.guard.node);
	jw_string(&j, "engine", io_kind_name(p->rig.o.engine));
	jw_number(&j, "object_bytes", opt_bytes);
	jw_number(&j, "objects", opt_objects);
	jw_number(&j, "command_bytes", p->rig.xfer);
	jw_string(&j, "bound_by", p->rig.bound);
	jw_number(&j, "reps", opt_reps);
	jw_number(&j, "store_ns", p->store_ns);
	jw_bool(&j, "complete", p->complete);
	jw_number(&j, "failed", p->failed);
	jw_array(&j, "rows");
	for (i = 0; i < p->n_rows; i++) {
		jw_item(&j);
		jw_open(&j, '{');
		jw_number(&j, "workers", p->row[i].workers);
		jw_number(&j, "most_in_flight", p->row[i].most_in_flight);
		jw_number_of(&j, "best_ns", p->row[i].best_ns, p->row[i].best_ns);
		jw_number_of(&j, "commands", p->row[i].commands, p->row[i].best_ns);
		jw_number_of(&j, "cpu_ns", p->row[i].cpu_ns, p->row[i].best_ns);
		jw_real_of(&j, "gigabytes_per_second", gbs(p->row[i].best_ns), p->row[i].best_ns);
		jw_close(&j, '}');
	}
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_byte(b, '\n');
}

static int report(const struct probe *p, int ret)
{
	struct buf b = {};
	char why[121];
	int status = EXIT_OK;

	if (ret && ret != -ETIME)
		err(MIN(ret, -1), "the run ended early");
	if (ret == -ETIME)
		err(0, "a command is not done after %llu s: the result is partial",
		    ULL(words.timeout_ns / NSEC_PER_SEC));
	if (p->failed) {
		emit_error_text(p->error, why, sizeof(why));
		err(0, "%llu operations failed, the first: %s", ULL(p->failed), why);
	}
	if (!p->complete)
		status = EXIT_INCOMPLETE;
	if (p->failed || (ret && ret != -ETIME))
		status = EXIT_FAILED;
	if (opt_json)
		json(&b, p);
	else
		text(&b, p);
	return issue_print(&b, status);
}

static int open_all(struct probe *p)
{
	char why[GUARD_WHY];
	struct rig_options o;
	int ret;

	if (rig_options_make(&o, &words, opt_bytes, why))
		die_usage("%s", why);
	if (o.path != PATH_BATCHED)
		die_usage("--load-path is what the probe varies: --workers");
	ret = issue_open(&p->rig, &o);
	if (ret)
		return ret;
	if (opt_objects > p->rig.store.o.layout.slots) {
		err(0, "%llu objects do not fit the %llu slots of %s (--nobj, --capacity-bytes)", ULL(opt_objects),
		    ULL(p->rig.store.o.layout.slots), p->rig.guard.node);
		return EXIT_FAILED;
	}
	p->ops = calloc(MAX(opt_objects, (u64)p->rig.n_buffers), sizeof(*p->ops));
	if (!p->ops) {
		err(-ENOMEM, "cannot begin");
		return EXIT_FAILED;
	}
	if (issue_begin_trace(&p->emit, opt_sem, &p->rig, "kvio probe"))
		return EXIT_FAILED;
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct probe *p = calloc(1, sizeof(*p));
	int status, ret;

	opt_parse(&cmd_probe, &argc, argv, NULL);
	if (argc > 1)
		die_usage("unexpected operand '%s'", argv[1]);
	if (!p)
		bug("out of memory");
	p->rig.guard.fd = p->rig.guard.claim_fd = p->emit.fd = -1;
	parse_workers(p);
	if (!opt_objects || opt_objects > 1 << 24 || !opt_reps || opt_reps > 1000)
		die_usage("--nobj must be 1 to 16777216, --reps 1 to 1000");
	status = open_all(p);
	if (!status) {
		issue_catch_signals();
		ret = run_all(p);
		status = report(p, ret);
	}
	status = issue_end_trace(&p->emit, status);
	rig_close(&p->rig);
	free(p->ops);
	free(p);
	return status;
}

const struct cmd cmd_probe = {
	.name = "probe",
	.summary = "how fast objects load, by how many load at a time",
	.usage = "--device NODE --yes-destroy-data=NODE [OPTIONS]\n"
		 "--device FILE [OPTIONS]",
	.description =
		"Stores objects, then loads all of them 1, 2, 4, ... at a time, each one command after the other, and "
		"prints the best wall time of each, and what the processor worked for a command then. It shows where a drive has enough of it, and what a serial load path "
		"leaves unused. Only the loads are timed; a run in which something failed has no time.\n\n"
		"ALL DATA OF THE TARGET IS OVERWRITTEN, guarded as by 'kvio workload'.\n\n"
		"Exit status: 0 all done, 1 something failed, 2 usage, 3 stopped early or a command hung.",
	.examples = "kvio probe --device /dev/ng0n1 --yes-destroy-data=ng0n1\n"
		    "    128 objects of 20 MiB, 1 to 32 at a time\n"
		    "kvio probe --device /tmp/store --object-bytes 1M --workers 1,8 --json\n"
		    "    on a file",
	.opts = opts,
	.run = run,
};
