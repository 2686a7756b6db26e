// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/str.h"
#include "lib/zio.h"
#include "model/arm.h"
#include "model/pftrace.h"
#include "out/html.h"
#include "out/report.h"
#include "out/report_metrics.h"

/* A timeline that unpacks to more than this is not read. */
#define MAX_TRACE_BYTES (8ull << 30)

static const char *opt_label, *opt_out = "-", *opt_html, *opt_prom, *opt_join = "auto",
			      *opt_percentile = PERCENTILE_METHOD;
static const char *opt_json_file, *opt_batch_gap_us;
static const char *opt_ids, *opt_window, *opt_key, *opt_device, *opt_tolerance;
static struct opt_list opt_arms, opt_limits;
static u64 opt_lba, opt_batch_gap = 50000, opt_pid;
static bool opt_json, opt_csv;

static const struct opt opts[] = {
	OPT_GROUP("Input"),
	OPT_STR(0, "label", &opt_label, "TEXT", "name of the capture that the operands make (default capture)"),
	OPT_LIST(0, "arm", &opt_arms, "LABEL=FILE[,FILE...]",
		 "one capture of several (repeatable); each is held against the first; " ARM_QUOTING),
	OPT_CHOICE(0, "join", &opt_join, "auto|trace-id|key|offset|none",
		   "how commands find their objects (default auto: the best that the captures allow)"),
	OPT_SIZE(0, "lba-bytes", &opt_lba, "SIZE",
		 "LBA size, when the capture does not know it (default: what it says)"),
	OPT_GROUP("Part of a capture"),
	OPT_STR(0, "trace-id", &opt_ids, "A[-B]", "only these trace ids"),
	OPT_STR(0, "time-range", &opt_window, "A,B", "only these seconds from the begin"),
	OPT_STR(0, "key", &opt_key, "TEXT", "only objects with this in their key"),
	OPT_STR(0, "device", &opt_device, "NAME", "only this device, by any name of it"),
	OPT_U64(0, "pid", &opt_pid, "PID", "only this process"),
	OPT_GROUP("Figures"),
	OPT_DURATION(0, "batch-gap", &opt_batch_gap, "TIME",
		     "a longer pause in submissions starts a batch (default 50us)"),
	OPT_CHOICE(0, "percentile", &opt_percentile, "nearest-rank|floor",
		   "how percentiles are taken; floor is what older reports do (default nearest-rank)"),
	OPT_STR(0, "tolerance", &opt_tolerance, "PERCENT",
		"by how much the work of two captures may differ to be compared (default 1)"),
	OPT_LIST(0, "fail-if", &opt_limits, "METRIC>NUMBER",
		 "exit with status 1 when this is true, or was not measured (repeatable), such as "
		 "'load.gap_p50_us>50'; 'kvio schema report' lists the metrics"),
	OPT_GROUP("Output"),
	OPT_FLAG(0, "json", &opt_json, "print JSON: one member a capture, times in nanoseconds"),
	OPT_FLAG(0, "csv", &opt_csv, "print one line a figure: label,metric,op,stat,value,n,unit"),
	OPT_STR('o', "output", &opt_out, "FILE", "write to FILE instead of standard output"),
	OPT_STR(0, "html", &opt_html, "FILE", "also write FILE: one page for a browser, with pictures"),
	OPT_STR(0, "prom", &opt_prom, "FILE", "also write FILE for node_exporter's textfile collector"),
	OPT_END,
};

/* As kvio_tp_report has them. */
static const struct opt older_opts[] = {
	OPT_GROUP("As kvio_tp_report"),
	OPT_STR(0, "json", &opt_json_file, "FILE", "also write JSON to FILE"),
	OPT_STR(0, "batch-gap-us", &opt_batch_gap_us, "NUMBER", "--batch-gap in microseconds (default 50)"),
	OPT_END,
};

struct capture {
	struct arm arm;
	struct measure x;
	struct measure_ab ab;
	bool partial; /* a timeline that was drawn with some commands as one */
};

struct captures {
	struct capture *c;
	u32 n;
};

static struct capture *add(struct captures *all)
{
	struct capture *grown = reallocarray(all->c, all->n + 1ul, sizeof(*grown));

	if (!grown)
		bug("out of memory");
	all->c = grown;
	grown[all->n] = (struct capture){};
	return &grown[all->n++];
}

/* ---- loading ---- */

static void parse_filter(struct filter *f)
{
	int ret;

	*f = (struct filter){ .key = opt_key, .device = opt_device, .has_pid = opt_pid > 0, .pid = (u32)opt_pid };
	ret = opt_ids ? filter_ids(f, opt_ids) : 0;
	if (ret)
		die_usage("--trace-id '%s' is not A or A-B with A <= B", opt_ids);
	ret = opt_window ? filter_window(f, opt_window) : 0;
	if (ret)
		die_usage("--time-range '%s' is not A,B in seconds with A <= B", opt_window);
	if (opt_pid > UINT32_MAX)
		die_usage("--pid %llu is no process id", (unsigned long long)opt_pid);
}

/* True when the file is a Perfetto trace; what cannot be read is none. */
static bool is_timeline(const char *path)
{
	struct zin *z;
	char head[64];
	ssize_t n;

	/* Standard input can be read once only. */
	if (!strcmp(path, "-") || zin_open(&z, path))
		return false;
	n = zin_read(z, head, sizeof(head));
	zin_close(z);
	return n > 0 && pftrace_sniff(head, (size_t)n);
}

/* The captures of a timeline, each under its label; or the only one under the label given. */
static int load_timeline(struct captures *all, const char *path, const char *label, const struct filter *f)
{
	struct pf_arm *arms = NULL;
	struct pftrace t;
	u32 n = 0, i;
	int ret = pftrace_init(&t, MAX_TRACE_BYTES);

	if (!ret)
		ret = pftrace_load(&t, path);
	if (!ret)
		ret = pftrace_to_model(&t, &arms, &n);
	pftrace_free(&t);
	if (ret)
		return err(ret, "cannot read the timeline %s", path);
	if (!n)
		ret = err(-1, "%s: this timeline has no commands and objects of kvio", path);
	else if (n > 1 && label)
		ret = err(-1, "%s has %u captures: give it as an operand without a label", path, n);
	for (i = 0; i < n && !ret; i++) {
		struct capture *c = add(all);

		c->arm.label = strdup(label ? label : arms[i].label);
		if (!c->arm.label)
			bug("out of memory");
		c->arm.m = arms[i].m;
		model_init(&arms[i].m);
		c->partial = arms[i].grouped;
		if (c->partial)
			warn("%s: %llu slices of '%s' stand for several commands or objects, which are in no figure",
			     path, (unsigned long long)arms[i].grouped, c->arm.label);
		ret = model_cut(&c->arm.m, f);
		if (ret)
			err(ret, "cannot cut %s", path);
	}
	pftrace_arms_free(arms, n);
	return ret;
}

/* Loads the last capture of the list from the files of its arm. */
static int load_files(struct captures *all, const struct filter *f)
{
	struct capture *c = &all->c[all->n - 1];
	const char *failed;
	int ret;

	if (c->arm.n_files == 1 && is_timeline(c->arm.file[0])) {
		struct arm arm = c->arm;

		all->n--;
		ret = load_timeline(all, arm.file[0], arm.label, f);
		model_init(&arm.m);
		arm_free(&arm);
		return ret;
	}
	c->arm.filter = *f;
	if (join_parse(&c->arm.join, opt_join))
		bug("no join '%s'", opt_join);
	ret = arm_load(&c->arm, (u32)opt_lba, &failed);
	if (ret == -EBADMSG && failed)
		return err(-1, "%s: this is no capture: neither .kvt, JSON lines, nor a timeline", failed);
	if (ret && failed)
		return err(ret, "cannot read %s", failed);
	return ret ? err(ret, "cannot work on the capture '%s'", c->arm.label) : 0;
}

static int load_operands(struct captures *all, int argc, char **argv, const struct filter *f)
{
	int i;

	for (i = 1; i < argc; i++)
		if (is_timeline(argv[i])) {
			if (argc > 2)
				die_usage("%s is a timeline, and holds all of its captures: name it alone", argv[i]);
			return load_timeline(all, argv[i], opt_label, f);
		}
	if (argc < 2)
		return 0;
	if (arm_init(&add(all)->arm, opt_label ? opt_label : "capture", (const char *const *)argv + 1, (size_t)argc - 1,
		     false))
		bug("out of memory");
	return load_files(all, f);
}

static int load(struct captures *all, int argc, char **argv)
{
	struct filter f;
	size_t i, k;
	int ret;

	parse_filter(&f);
	if (argc < 2 && !opt_arms.n)
		die_usage("nothing to report on: name a capture");
	for (i = 0; i < opt_arms.n; i++) {
		struct capture *c = add(all);

		ret = arm_parse(&c->arm, opt_arms.item[i]);
		if (ret == -EINVAL || (!ret && !c->arm.n_files))
			die_usage("--arm '%s' is not LABEL=FILE[,FILE...]", opt_arms.item[i]);
		if (ret)
			bug("out of memory");
		arm_free(&c->arm);
		all->n--;
	}
	ret = load_operands(all, argc, argv, &f);
	for (i = 0; i < opt_arms.n && !ret; i++) {
		if (arm_parse(&add(all)->arm, opt_arms.item[i]))
			bug("out of memory");
		ret = load_files(all, &f);
	}
	for (i = 0; i < all->n && !ret; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(all->c[i].arm.label, all->c[k].arm.label))
				die_usage("two captures have the label '%s'", all->c[i].arm.label);
	return ret;
}

/* ---- figures ---- */

static int measure(struct captures *all, double tolerance)
{
	struct measure_options o = {
		.batch_gap_ns = opt_batch_gap,
		.method = strcmp(opt_percentile, PERCENTILE_METHOD) ? PERCENTILE_FLOOR : PERCENTILE_NEAREST,
	};
	struct capture *base = all->c;
	u32 i;
	int ret;

	for (i = 0; i < all->n; i++) {
		struct capture *c = &all->c[i];

		ret = measure_take(&c->x, &c->arm.m, &o);
		if (ret)
			return err(ret, "cannot work on the capture '%s'", c->arm.label);
		if (i)
			ret = measure_compare(&c->ab, &base->arm.m, &base->x, &c->arm.m, &c->x, tolerance);
		if (ret)
			return err(ret, "cannot compare '%s' with '%s'", c->arm.label, base->arm.label);
	}
	return 0;
}

static double parse_tolerance(void)
{
	double percent;
	char *end;

	if (!opt_tolerance)
		return AB_TOLERANCE;
	percent = strtod(opt_tolerance, &end);
	end += *end == '%';
	if (end == opt_tolerance || *end || !isfinite(percent) || percent < 0 || percent > 100)
		die_usage("--tolerance '%s' is no per cent from 0 to 100", opt_tolerance);
	return percent / 100;
}

/* --batch-gap as its older name has it. */
static void parse_gap_us(void)
{
	char text[32];

	if (!opt_batch_gap_us)
		return;
	snprintf(text, sizeof(text), "%.20sus", opt_batch_gap_us);
	if (str_ns(text, &opt_batch_gap))
		die_usage("--batch-gap-us '%s' is no number of microseconds", opt_batch_gap_us);
}

static struct report_limit *parse_limits(void)
{
	struct report_limit *l = calloc(opt_limits.n + 1, sizeof(*l));
	char *near;
	size_t i;

	if (!l)
		bug("out of memory");
	for (i = 0; i < opt_limits.n; i++) {
		const char *text = opt_limits.item[i];
		int ret = report_limit_parse(&l[i], text, &near);

		if (ret == -EINVAL)
			die_usage("--fail-if '%s' is not METRIC>NUMBER (or >= < <= == !=)", text);
		if (ret && near)
			die_usage("--fail-if: no metric '%s', did you mean '%s'?", l[i].path, near);
		if (ret)
			die_usage("--fail-if: no metric '%s': 'kvio schema report' lists them", l[i].path);
	}
	return l;
}

/* ---- output ---- */

static int write_out(const struct buf *b, const char *path)
{
	struct zout *out;
	int ret;

	if (b->failed)
		return err(-ENOMEM, "cannot make the report");
	if (!strcmp(path, "-")) {
		fwrite(b->p, 1, b->n, stdout);
		return 0;
	}
	ret = zout_open(&out, path, ZIO_BY_NAME);
	if (!ret) {
		zout_write(out, b->p, b->n);
		ret = zout_close(out);
	}
	return ret ? err(ret, "cannot write %s", path) : 0;
}

static int write_html(const struct report_arm *arms, u32 n)
{
	struct buf b = {};
	int ret = html_write(&b, arms, n);

	ret = ret ? err(ret, "cannot make the page") : write_out(&b, opt_html);
	buf_free(&b);
	return ret;
}

static int write_json(const struct report_arm *arms, u32 n)
{
	struct buf b = {};
	int ret;

	report_json(&b, arms, n);
	ret = write_out(&b, opt_json_file);
	buf_free(&b);
	return ret;
}

/* The collector runs as another user. */
static int write_prom(const struct report_arm *arms, u32 n)
{
	mode_t mask = umask(0);
	struct buf b = {};
	int ret;

	umask(mask);
	report_prom(&b, arms, n);
	ret = write_out(&b, opt_prom);
	if (!ret && strcmp(opt_prom, "-") && chmod(opt_prom, 0666 & ~mask))
		ret = err(-errno, "cannot make %s readable", opt_prom);
	buf_free(&b);
	return ret;
}

/* Says which thresholds are true; how many. */
static u32 check_limits(const struct report_limit *l, const struct report_arm *arms, u32 n)
{
	struct buf b = {};
	u32 broken = 0;
	char *line, *next;
	size_t i;

	for (i = 0; i < opt_limits.n; i++)
		broken += report_limit_check(&b, &l[i], arms, n);
	buf_byte(&b, '\0');
	for (line = b.failed ? NULL : b.p; line && *line; line = next) {
		next = strchr(line, '\n') + 1;
		next[-1] = '\0';
		err(0, "%s", line);
	}
	buf_free(&b);
	return broken;
}

static int report(const struct captures *all, const struct report_limit *limits)
{
	struct report_arm *arms = calloc(all->n + 1ul, sizeof(*arms));
	int status = EXIT_OK;
	struct buf b = {};
	u32 i;

	if (!arms)
		bug("out of memory");
	for (i = 0; i < all->n; i++) {
		const struct capture *c = &all->c[i];

		arms[i] = (struct report_arm){ c->arm.label, &c->arm.m, &c->x, i ? &c->ab : NULL };
		if (report_incomplete(&c->x) || c->partial)
			status = EXIT_INCOMPLETE;
	}
	if (opt_json)
		report_json(&b, arms, all->n);
	else if (opt_csv)
		report_csv(&b, arms, all->n);
	else
		report_text(&b, arms, all->n);
	if (write_out(&b, opt_out) || (opt_json_file && write_json(arms, all->n)) ||
	    (opt_html && write_html(arms, all->n)) || (opt_prom && write_prom(arms, all->n)) ||
	    check_limits(limits, arms, all->n))
		status = EXIT_FAILED;
	free(arms);
	buf_free(&b);
	return status;
}

static int run(int argc, char **argv)
{
	struct captures all = {};
	struct report_limit *limits;
	int status = EXIT_FAILED;
	double tolerance;
	u32 i;

	opt_parse(&cmd_report, &argc, argv, NULL);
	if (opt_lba > UINT32_MAX)
		die_usage("--lba-bytes %llu is no LBA size", (unsigned long long)opt_lba);
	if (opt_json && opt_csv)
		die_usage("--json and --csv do not go together");
	parse_gap_us();
	tolerance = parse_tolerance();
	limits = parse_limits();
	if (!load(&all, argc, argv) && !measure(&all, tolerance))
		status = report(&all, limits);
	for (i = 0; i < all.n; i++) {
		measure_free(&all.c[i].x);
		arm_free(&all.c[i].arm);
	}
	free(all.c);
	free(limits);
	free(opt_arms.item);
	free(opt_limits.item);
	return status;
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "explain a capture: verdict, latencies, queue depth, objects",
	.usage = "CAPTURE [SEMANTIC...] [--json | --csv] [-o FILE]\n"
		 "TIMELINE.pftrace [--json | --csv] [-o FILE]\n"
		 "--arm LABEL=FILE[,FILE...] [--arm ...]",
	.description =
		"Prints what a capture shows, the verdict first: does the application wait for each command "
		"(QD~1) or keep the device busy, what is it that stops it, and what does that cost?  Latency of "
		"commands that succeeded, depth, objects, shards, requests, losses.  Operands are all files of one "
		"capture, in any order, plain or compressed, or one timeline of 'kvio perfetto' or of the older "
		"converter.\n"
		"\n"
		"Captures after the first are held against it: the same work, within --tolerance, or not; the same "
		"object in both, with a 95 % interval of the median.\n"
		"\n"
		"A metric of --fail-if is WHAT.METRIC, with a statistic (min, p25, p50, p95, p99, max, sum) when it is "
		"a distribution and a unit (ns, us, ms, s) when it is a time: read.lat_p99_us, load.gap_p50_us, "
		"store.span_p99_ms, load.lost_share, all.throughput_gbs, loss.dropped, shards.barrier_p50_us, "
		"load.ratio.\n"
		"\n"
		"The status is 3 when the data is incomplete: events were lost while recording, the input is "
		"cut or damaged, or there is nothing in it; 1 when a threshold of --fail-if is true.",
	.examples =
		"kvio report run.kvt sem.jsonl\n    what one capture shows\n"
		"kvio report --arm before=a.kvt,a.jsonl --arm after=b.kvt,b.jsonl\n    two captures of the same work\n"
		"kvio report run.kvt sem.jsonl --fail-if 'load.gap_p50_us>50'\n"
		"    a gate for the tests of an engine",
	.opts = opts,
	.older = older_opts,
	.run = run,
};
