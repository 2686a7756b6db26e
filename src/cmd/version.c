// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cmd/cmd.h"
#include "lib/err.h"

static bool want_json;

static const struct opt opts[] = {
	OPT_FLAG(0, "json", &want_json, "print a JSON object"),
	OPT_END,
};

static int run(int argc, char **argv)
{
	opt_parse(&cmd_version, &argc, argv, NULL);
	if (argc > 1)
		die_usage("unexpected operand '%s'", argv[1]);
	if (want_json)
		printf("{\"name\":\"kvio\",\"version\":\"%s\",\"tracers\":%s}\n", kvio_version,
		       KVIO_BPF ? "true" : "false");
	else
		printf("kvio %s%s\n", kvio_version, KVIO_BPF ? "" : " (without tracers)");
	return EXIT_OK;
}

const struct cmd cmd_version = {
	.name = "version",
	.summary = "print the version",
	.usage = "[--json]",
	.examples = "kvio version\n    print the version of this build",
	.opts = opts,
	.run = run,
};
