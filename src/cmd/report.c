// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/zio.h"
#include "model/arm.h"
#include "out/report.h"

static const char *opt_label = "capture", *opt_out = "-";
static struct opt_list opt_arms;
static u64 opt_lba, opt_batch_gap = 50000;
static bool opt_json;

static const struct opt opts[] = {
	OPT_STR(0, "label", &opt_label, "TEXT", "name of the capture that the operands make (default capture)"),
	OPT_LIST(0, "arm", &opt_arms, "LABEL=FILE[,FILE...]",
		 "one capture of several (repeatable); each is held against the first"),
	OPT_FLAG(0, "json", &opt_json, "print JSON: one member a capture, times in nanoseconds"),
	OPT_STR('o', "output", &opt_out, "FILE", "write to FILE instead of standard output"),
	OPT_DURATION(0, "batch-gap", &opt_batch_gap, "TIME",
		     "a longer pause in submissions starts a batch (default 50us)"),
	OPT_SIZE(0, "lba-bytes", &opt_lba, "SIZE",
		 "LBA size, when the capture does not know it (default: what it says)"),
	OPT_END,
};

struct capture {
	struct arm arm;
	struct measure x;
	struct measure_ab ab;
};

static struct capture *parse(int argc, char **argv, u32 *n)
{
	u32 first = argc > 1, i, k;
	struct capture *c;
	int ret = 0;

	*n = first + (u32)opt_arms.n;
	if (!*n)
		die_usage("nothing to report on: name a capture");
	c = calloc(*n + 1ul, sizeof(*c));
	if (!c)
		bug("out of memory");
	if (first)
		ret = arm_init(&c[0].arm, opt_label, (const char *const *)argv + 1, (size_t)argc - 1, false);
	for (i = first; i < *n && !ret; i++) {
		ret = arm_parse(&c[i].arm, opt_arms.item[i - first]);
		if (ret == -EINVAL || (!ret && !c[i].arm.n_files))
			die_usage("--arm '%s' is not LABEL=FILE[,FILE...]", opt_arms.item[i - first]);
	}
	if (ret)
		bug("out of memory");
	for (i = 0; i < *n; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(c[i].arm.label, c[k].arm.label))
				die_usage("two captures have the label '%s'", c[i].arm.label);
	return c;
}

static int load(struct capture *c, const struct measure_options *o)
{
	const char *failed;
	int ret = arm_load(&c->arm, (u32)opt_lba, &failed);

	if (ret == -EBADMSG && failed)
		return err(-1, "%s: this is no capture: neither .kvt nor JSON lines", failed);
	if (ret && failed)
		return err(ret, "cannot read %s", failed);
	if (!ret)
		ret = measure_take(&c->x, &c->arm.m, o);
	return ret ? err(ret, "cannot work on the capture '%s'", c->arm.label) : 0;
}

static int write_out(const struct buf *b)
{
	struct zout *out;
	int ret;

	if (b->failed)
		return err(-ENOMEM, "cannot make the report");
	if (!strcmp(opt_out, "-")) {
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

static int report(const struct capture *c, u32 n)
{
	struct report_arm *arms = calloc(n + 1ul, sizeof(*arms));
	int status = EXIT_OK;
	struct buf b = {};
	u32 i;

	if (!arms) {
		err(-ENOMEM, "cannot make the report");
		return EXIT_FAILED;
	}
	for (i = 0; i < n; i++) {
		arms[i] = (struct report_arm){ c[i].arm.label, &c[i].arm.m, &c[i].x, i ? &c[i].ab : NULL };
		if (report_incomplete(&c[i].x))
			status = EXIT_INCOMPLETE;
	}
	if (opt_json)
		report_json(&b, arms, n);
	else
		report_text(&b, arms, n);
	if (write_out(&b))
		status = EXIT_FAILED;
	free(arms);
	buf_free(&b);
	return status;
}

static int run(int argc, char **argv)
{
	struct measure_options o;
	struct capture *c;
	int status = EXIT_FAILED, ret = 0;
	u32 n, i;

	opt_parse(&cmd_report, &argc, argv, NULL);
	if (opt_lba > UINT32_MAX)
		die_usage("--lba-bytes %llu is no LBA size", (unsigned long long)opt_lba);
	o.batch_gap_ns = opt_batch_gap;
	c = parse(argc, argv, &n);
	for (i = 0; i < n && !ret; i++)
		ret = load(&c[i], &o);
	for (i = 1; i < n && !ret; i++) {
		ret = measure_compare(&c[i].ab, &c[0].arm.m, &c[0].x, &c[i].arm.m, &c[i].x);
		if (ret)
			err(ret, "cannot compare '%s' with '%s'", c[i].arm.label, c[0].arm.label);
	}
	if (!ret)
		status = report(c, n);
	for (i = 0; i < n; i++) {
		measure_ab_free(&c[i].ab);
		measure_free(&c[i].x);
		arm_free(&c[i].arm);
	}
	free(c);
	free(opt_arms.item);
	return status;
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "explain a capture: verdict, latencies, queue depth, objects",
	.usage = "CAPTURE [SEMANTIC...] [--json] [-o FILE]\n"
		 "--arm LABEL=FILE[,FILE...] [--arm ...]",
	.description = "Prints what a capture shows, the verdict first: does the application wait for each command "
		       "(QD~1) or keep the device busy?  Latency of commands that succeeded, depth, objects, losses. "
		       "Operands are all files of one capture, in any order, plain or compressed.\n"
		       "\n"
		       "The status is 3 when the data is incomplete: events were lost while recording, the input is "
		       "cut or damaged, or there is nothing in it.",
	.examples =
		"kvio report run.kvt sem.jsonl\n    what one capture shows\n"
		"kvio report --arm before=a.kvt,a.jsonl --arm after=b.kvt,b.jsonl\n    two captures of the same work",
	.opts = opts,
	.run = run,
};
