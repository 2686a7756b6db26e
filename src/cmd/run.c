// SPDX-License-Identifier: Apache-2.0
/* Records a command that issues IO, and goes on to the results: four commands in one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/str.h"

static const char *opt_out, *opt_witness;

static const struct opt opts[] = {
	OPT_STR('o', "output", &opt_out, "DIR", "a new directory for all of it"),
	OPT_STR(0, "witness", &opt_witness, "NAME[,NAME...]",
		"what to record (default: uring-cmd on a char node, nvme on a disk, iouring for a file)"),
	OPT_END,
};

struct files {
	char capture[PATH_MAX], sem[PATH_MAX], manifest[PATH_MAX], result[PATH_MAX], grade[PATH_MAX],
		timeline[PATH_MAX], report[PATH_MAX];
};

/* Runs this program with these arguments; its standard output goes to `out` when that is not NULL.  Its exit status. */
static int run_self(char **argv, const char *out)
{
	int status, fd = -1;
	pid_t pid;

	if (out && (fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0) {
		err(-errno, "cannot write %s", out);
		return EXIT_FAILED;
	}
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (fd < 0 || dup2(fd, STDOUT_FILENO) >= 0)
			execv("/proc/self/exe", argv);
		_exit(127);
	}
	if (fd >= 0)
		close(fd);
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		err(-errno, "cannot run %s %s", argv[0], argv[1]);
		return EXIT_FAILED;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* The value of --NAME in what the user gave to the command, or NULL. */
static const char *value_of(char **args, const char *name)
{
	size_t n = strlen(name);

	for (; *args; args++) {
		if (!strcmp(*args, name))
			return args[1];
		if (str_starts(*args, name) && (*args)[n] == '=')
			return *args + n + 1;
	}
	return NULL;
}

static const char *choose_witness(char **args)
{
	const char *device = value_of(args, "--device");
	struct stat st;

	if (opt_witness)
		return opt_witness;
	if (!device)
		die_usage("the command has no --device");
	if (stat(device, &st) || S_ISREG(st.st_mode))
		return "iouring";
	return S_ISCHR(st.st_mode) ? "uring-cmd" : "nvme";
}

static void make_paths(struct files *f)
{
	const struct {
		char *path;
		const char *name;
	} names[] = { { f->capture, "run.kvt" },    { f->sem, "sem.jsonl" },	  { f->manifest, "manifest.json" },
		      { f->result, "result.json" }, { f->grade, "validate.txt" }, { f->timeline, "run.pftrace" },
		      { f->report, "report.txt" } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (snprintf(names[i].path, PATH_MAX, "%s/%s", opt_out, names[i].name) >= PATH_MAX)
			die_usage("the name of the directory is too long");
}

/* kvio record WITNESS -o run.kvt -- kvio COMMAND ARGS --sem sem.jsonl [--record manifest.json] --json */
static int record(const struct files *f, const char *witness, char **args)
{
	bool keeps_manifest = !strcmp(args[0], "workload");
	size_t n = 0, i = 0;
	char **argv, self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int status;

	while (args[n])
		n++;
	argv = calloc(n + 16, sizeof(*argv));
	if (!argv || len < 0)
		bug("no memory, or no /proc");
	self[len] = '\0';
	argv[i++] = "kvio";
	argv[i++] = "record";
	argv[i++] = (char *)witness;
	argv[i++] = "-q";
	argv[i++] = "-o";
	argv[i++] = (char *)f->capture;
	argv[i++] = "--";
	argv[i++] = self;
	for (n = 0; args[n]; n++)
		argv[i++] = args[n];
	argv[i++] = "--json";
	argv[i++] = "--sem";
	argv[i++] = (char *)f->sem;
	if (keeps_manifest) {
		argv[i++] = "--record";
		argv[i++] = (char *)f->manifest;
	}
	status = run_self(argv, f->result);
	free(argv);
	return status;
}

static int further(const char *command, const struct files *f, const char *out)
{
	char *argv[] = { "kvio", (char *)command, (char *)f->capture, (char *)f->sem, "-o", (char *)out, NULL };

	return run_self(argv, NULL);
}

static int run_all(char **args)
{
	const char *witness = choose_witness(args);
	bool nvme = strstr(witness, "uring-cmd") || strstr(witness, "nvme");
	struct files f;
	int status, worst, ret;

	make_paths(&f);
	if (mkdir(opt_out, 0700)) {
		err(-errno, "cannot make %s", opt_out);
		return EXIT_FAILED;
	}
	worst = status = record(&f, witness, args);
	if (access(f.capture, F_OK) || access(f.sem, F_OK)) {
		/* Nothing was issued, and the reason was told. */
		unlink(f.capture);
		unlink(f.result);
		unlink(f.sem);
		unlink(f.manifest);
		rmdir(opt_out);
		return status ? status : EXIT_FAILED;
	}
	note("%s: %s", args[0], status ? "failed" : "done");
	if (nvme) {
		ret = further("validate", &f, f.grade);
		note("validate: %s -> %s",
		     !ret		      ? "exact"
		     : ret == EXIT_INCOMPLETE ? "incomplete"
					      : "not exact",
		     f.grade);
		worst = worst ? worst : ret;
	} else {
		note("validate: left out, for no NVMe commands were recorded");
	}
	ret = further("perfetto", &f, f.timeline);
	worst = worst ? worst : ret;
	ret = further("report", &f, f.report);
	worst = worst ? worst : ret;
	note("%s, %s, %s, %s", f.result, f.capture, f.timeline, f.report);
	return worst;
}

/* Our options are taken out wherever they stand; all others are those of the command. */
static int run(int argc, char **argv)
{
	static const char *const known[] = { "workload", "replay", "probe", "sweep" };
	char **ours = calloc((size_t)argc + 1, sizeof(*ours)), **theirs = calloc((size_t)argc + 1, sizeof(*theirs));
	int i, n = 0, m = 0, status;
	size_t k;

	if (!ours || !theirs)
		bug("out of memory");
	ours[n++] = argv[0];
	for (i = 1; i < argc; i++) {
		bool pair = !strcmp(argv[i], "-o") || !strcmp(argv[i], "--output") || !strcmp(argv[i], "--witness");
		bool help = !m && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") || !strcmp(argv[i], "-q"));

		if (pair || help || str_starts(argv[i], "--output=") || str_starts(argv[i], "--witness=")) {
			ours[n++] = argv[i];
			if (pair && i + 1 < argc)
				ours[n++] = argv[++i];
		} else {
			theirs[m++] = argv[i];
		}
	}
	opt_parse(&cmd_run, &n, ours, NULL);
	if (!m)
		die_usage("which command is to be run: workload, replay, probe or sweep?");
	for (k = 0; k < ARRAY_SIZE(known) && strcmp(theirs[0], known[k]); k++)
		;
	if (k == ARRAY_SIZE(known) || !command_find(theirs[0]))
		die_usage("'%s' is not a command that issues KV IO: workload, replay, probe or sweep", theirs[0]);
	for (i = 1; i < m; i++)
		if (!strcmp(theirs[i], "--help") || !strcmp(theirs[i], "-h")) {
			char *help[] = { "kvio", theirs[0], "--help", NULL };

			return run_self(help, NULL);
		}
	if (!opt_out)
		die_usage("-o DIR is missing: where the results go");
	status = run_all(theirs);
	free(ours);
	free(theirs);
	return status;
}

const struct cmd cmd_run = {
	.name = "run",
	.summary = "issue KV IO, record it, and go on to the results",
	.usage = "workload|replay|probe|sweep [ITS OPTIONS] -o DIR",
	.description =
		"Records a command of kvio that issues IO and makes of it all that there is to be seen: the capture "
		"(run.kvt), the semantic trace (sem.jsonl), the manifest (manifest.json), the command's own result "
		"(result.json), the grade of each object (validate.txt), the timeline (run.pftrace) and the report "
		"(report.txt). The same can be done step by step with record, validate, perfetto and report.\n\n"
		"It takes root, as recording does. Exit status: that of the first of them that is not 0.",
	.examples = "kvio run workload --model Llama-3.1-8B --device /dev/ng0n1 \\\n"
		    "     --yes-destroy-data=ng0n1 -o run1\n"
		    "    from a model to a timeline\n"
		    "kvio run replay run1/manifest.json --device /dev/ng0n1 \\\n"
		    "     --yes-destroy-data=ng0n1 -o run2\n"
		    "    the same again",
	.opts = opts,
	.run = run,
};
