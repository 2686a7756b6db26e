// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/str.h"

static bool want_man, want_names;

static const struct opt opts[] = {
	OPT_FLAG(0, "man", &want_man, "print the man page (roff) of COMMAND"),
	OPT_FLAG(0, "names", &want_names, "print the names of the commands, one a line"),
	OPT_END,
};

static void print_overview(void)
{
	size_t i;

	printf("kvio sees, explains and reproduces the storage IO of real programs.\n\n"
	       "Usage: kvio COMMAND [OPTIONS] [OPERANDS]\n\nCommands:\n");
	for (i = 0; i < n_commands; i++)
		printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
	printf("\n'kvio COMMAND --help' explains a command and shows examples.\n");
}

static int run(int argc, char **argv)
{
	const struct cmd *cmd;

	opt_parse(&cmd_help, &argc, argv, NULL);
	if (want_names) {
		size_t i;

		for (i = 0; i < n_commands; i++)
			puts(commands[i]->name);
		return EXIT_OK;
	}
	if (argc < 2) {
		if (want_man)
			die_usage("--man needs a command");
		print_overview();
		return EXIT_OK;
	}
	if (argc > 2)
		die_usage("one command at a time");
	cmd = command_find(argv[1]);
	if (!cmd)
		die_usage("unknown command '%s'", argv[1]);
	if (want_man)
		opt_print_man(stdout, cmd, kvio_version);
	else
		opt_print_help(stdout, cmd);
	return EXIT_OK;
}

const struct cmd cmd_help = {
	.name = "help",
	.summary = "list the commands, or explain one",
	.usage = "[COMMAND]\n--man COMMAND\n--names",
	.examples = "kvio help record\n    the same as 'kvio record --help'",
	.opts = opts,
	.run = run,
};
