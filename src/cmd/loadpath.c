// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "out/loadpath.h"

static const char *opt_join = "auto", *opt_op = "load", *opt_label;
static bool opt_json;

static const struct opt opts[] = {
	OPT_CHOICE(0, "op", &opt_op, "load|store", "which commands: reads or writes of objects (default load)"),
	OPT_CHOICE(0, "join", &opt_join, "auto|trace-id|key|offset",
		   "how commands find their objects (default auto: the best that the captures allow)"),
	OPT_STR(0, "label", &opt_label, "TEXT", "a title"),
	OPT_FLAG(0, "json", &opt_json, "print JSON"),
	OPT_END,
};

static int load(struct model *m, struct semantic *s, int n, char **file)
{
	struct join_options join = {};
	const char *failed;
	int ret;

	if (join_parse(&join.kind, opt_join))
		bug("no join '%s'", opt_join);
	ret = semantic_load(s, m, (const char *const *)file, (size_t)n, &join, &failed);
	if (ret == -EBADMSG && failed)
		return err(-1, "%s: this is no capture: neither .kvt nor JSON lines", failed);
	return ret ? err(ret, failed ? "cannot read %s" : "cannot work on the captures", failed) : 0;
}

static int analyse(const struct model *m, const struct semantic *s)
{
	struct loadpath p;
	struct health h;
	struct loadpath_context c = { .m = m, .p = &p, .health = &h, .label = opt_label };
	struct buf b = {};
	int ret, status = EXIT_FAILED;

	c.way = strcmp(opt_op, "store") ? DIR_READ : DIR_WRITE;
	health_take(&h, m);
	ret = loadpath_take(&p, m, s, c.way);
	if (ret) {
		err(ret, "cannot analyse the capture");
	} else {
		if (opt_json)
			loadpath_json(&b, &c);
		else
			loadpath_text(&b, &c);
		fwrite(b.p, 1, b.n, stdout);
		status = p.cmds && !h.lossy && !h.incomplete ? EXIT_OK : EXIT_INCOMPLETE;
		if (!p.cmds)
			warn("no %s of an object to look at", c.way == DIR_READ ? "read" : "write");
		else if (status)
			warn("the capture is incomplete, or does not say whether it is");
		if (b.failed) {
			err(-ENOMEM, "cannot print the figures");
			status = EXIT_FAILED;
		}
	}
	buf_free(&b);
	loadpath_free(&p);
	return status;
}

/* The older tool has its title as the third operand. */
static int take_label(int argc, char **argv)
{
	struct stat st;

	if (argc == 4 && !opt_label && stat(argv[3], &st)) {
		opt_label = argv[3];
		return 3;
	}
	return argc;
}

static int run(int argc, char **argv)
{
	struct semantic s = {};
	struct model m;
	int status = EXIT_FAILED;

	opt_parse(&cmd_loadpath, &argc, argv, NULL);
	argc = take_label(argc, argv);
	if (argc < 2)
		die_usage("nothing to look at: name a capture and its semantic trace");
	model_init(&m);
	if (!load(&m, &s, argc - 1, argv + 1))
		status = analyse(&m, &s);
	model_free(&m);
	semantic_free(&s);
	return status;
}

const struct cmd cmd_loadpath = {
	.name = "loadpath",
	.summary = "show how the commands of objects follow each other",
	.usage = "CAPTURE SEMANTIC [LABEL] [--op load|store] [--json]",
	.description =
		"Who submits the commands of objects, how often a command is followed by one of the same object, the gap "
		"between submissions, how many objects and commands are in flight at once, from submission to "
		"completion, and what that makes.  'kvio report' gives the verdict; this is the shape.\n"
		"\n"
		"The status is 3 when there is no such command, or the capture is incomplete.",
	.examples = "kvio loadpath run.kvt sem.jsonl\n    loads of a recording\n"
		    "kvio loadpath run.kvt sem.jsonl --op store --json\n    its stores, for scripts",
	.opts = opts,
	.run = run,
};
