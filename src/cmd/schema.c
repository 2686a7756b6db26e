// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "out/report.h"

static const struct opt opts[] = { OPT_END };

/* The formats that describe themselves. */
static const struct format {
	const char *name;
	void (*print)(struct buf *out);
} formats[] = {
	{ "report", report_schema },
};
static const char *const words[] = { "report", NULL };

static int run(int argc, char **argv)
{
	struct buf b = {};
	size_t i;
	int status;

	opt_parse(&cmd_schema, &argc, argv, NULL);
	if (argc != 2)
		die_usage("name one format: report");
	for (i = 0; i < ARRAY_SIZE(formats) && strcmp(formats[i].name, argv[1]);)
		i++;
	if (i == ARRAY_SIZE(formats))
		die_usage("no format '%s': there is report", argv[1]);
	formats[i].print(&b);
	status = b.failed ? EXIT_FAILED : EXIT_OK;
	if (b.failed)
		err(-ENOMEM, "cannot make the schema");
	else
		fwrite(b.p, 1, b.n, stdout);
	buf_free(&b);
	return status;
}

const struct cmd cmd_schema = {
	.name = "schema",
	.summary = "print the schema of a format that kvio writes",
	.usage = "report",
	.description =
		"report: a JSON Schema of 'kvio report --json', and under \"metrics\" every figure that --csv and "
		"--prom write and --fail-if can ask for.",
	.examples = "kvio schema report | jq -r '.metrics[] | .metric'\n    the names of all metrics",
	.words = words,
	.opts = opts,
	.run = run,
};
