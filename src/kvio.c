// SPDX-License-Identifier: Apache-2.0
/* The command table, and the names of the older tools that select from it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/str.h"

/* clang-format off */
const struct cmd *const commands[] = {
	&cmd_cat,
	&cmd_completion,
	&cmd_doctor,
	&cmd_help,
	&cmd_loadpath,
	&cmd_manifest,
	&cmd_model,
	&cmd_perfetto,
	&cmd_plan,
	&cmd_probe,
	&cmd_record,
	&cmd_replay,
	&cmd_report,
	&cmd_run,
	&cmd_schema,
	&cmd_smoke,
	&cmd_sql,
	&cmd_sweep,
	&cmd_top,
	&cmd_trace,
	&cmd_validate,
	&cmd_version,
	&cmd_workload,
};
/* clang-format on */
const size_t n_commands = ARRAY_SIZE(commands);
const char kvio_version[] = KVIO_VERSION;

/* argv[0] of an older tool -> the command and its first operand. */
static const struct alias {
	const char *name;
	const char *command;
	const char *operand;
} aliases[] = {
	{ "kvio2perfetto", "perfetto", NULL },
	{ "analyze_load_path", "loadpath", NULL },
	{ "kv_io_size", "plan", NULL },
	{ "kvio_plan", "plan", "--older" },
	{ "iouring_monitor", "record", "iouring" },
	{ "mmap_readamp", "record", "mmap,syscall" },
	{ "nvme_tp_monitor", "record", "nvme" },
	{ "kvio_sem2manifest", "manifest", "--schema=1" },
	{ "kvio_tp_report", "report", NULL },
	{ "kvio_validate", "validate", NULL },
	{ "nvme_uring_cmd_monitor", "record", "uring-cmd" },
	{ "nvme_uring_cmd_smoke", "smoke", NULL },
	{ "syscall_monitor", "record", "syscall" },
};

const struct cmd *command_find(const char *name)
{
	size_t i;

	for (i = 0; i < n_commands; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "kvio %s", cmd->name);
	err_set_name(name);
	ret = cmd->run(argc, argv);
	/* A full disk under stdout must not look like success. */
	if (fflush(stdout) || ferror(stdout)) {
		err(-1, "cannot write to standard output");
		ret = ret ? ret : EXIT_FAILED;
	}
	return ret;
}

static int run_alias(const struct alias *a, int argc, char **argv)
{
	char **args = calloc((size_t)argc + 2, sizeof(*args));
	int i, n = 0, ret;

	if (!args)
		return EXIT_FAILED;
	args[n++] = argv[0];
	if (a->operand)
		args[n++] = (char *)a->operand;
	for (i = 1; i < argc; i++)
		args[n++] = argv[i];
	opt_set_older();
	ret = run(command_find(a->command), n, args);
	free(args);
	return ret;
}

static void __attribute__((noreturn)) die_unknown(const char *name)
{
	const char *names[ARRAY_SIZE(commands)];
	const char *near;
	size_t i;

	for (i = 0; i < n_commands; i++)
		names[i] = commands[i]->name;
	near = str_nearest(name, names, n_commands);
	if (near)
		die_usage("unknown command '%s', did you mean '%s'?", name, near);
	die_usage("unknown command '%s'", name);
}

int main(int argc, char **argv)
{
	const char *base = argc ? strrchr(argv[0], '/') : NULL;
	const struct cmd *cmd;
	size_t i;

	/* A closed pipe is an error of write(2), reported like any other. */
	signal(SIGPIPE, SIG_IGN);
	base = base ? base + 1 : argc ? argv[0] : "kvio";
	for (i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcmp(base, aliases[i].name))
			return run_alias(&aliases[i], argc, argv);

	if (argc < 2)
		return run(&cmd_help, argc, argv) ? EXIT_FAILED : EXIT_USAGE;
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		argv[1] = "help";
	else if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		argv[1] = "version";
	cmd = command_find(argv[1]);
	if (!cmd)
		die_unknown(argv[1]);
	return run(cmd, argc - 1, argv + 1);
}
