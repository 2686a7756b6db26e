// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cmd/cmd.h"
#include "lib/err.h"

static const struct opt opts[] = { OPT_END };
static const char *const words[] = { "bash", "zsh", "fish", NULL };

static int run(int argc, char **argv)
{
	opt_parse(&cmd_completion, &argc, argv, NULL);
	if (argc != 2)
		die_usage("name one shell: bash, zsh or fish");
	if (opt_print_completion(stdout, argv[1], commands, n_commands))
		die_usage("no completion for '%s', only for bash, zsh and fish", argv[1]);
	return EXIT_OK;
}

const struct cmd cmd_completion = {
	.name = "completion",
	.summary = "print a shell completion script",
	.usage = "bash|zsh|fish",
	.examples = "source <(kvio completion bash)\n    complete kvio in this shell",
	.words = words,
	.opts = opts,
	.run = run,
};
