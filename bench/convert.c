// SPDX-License-Identifier: Apache-2.0
/* `kvio perfetto` as a user runs it, on what bench/gen made: convert KVIO DIR [ROUNDS]. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "run.h"

static char out[4096 + 16];

/* Never returns when it works: the child becomes the program. */
static u64 become(void *arg)
{
	int null = open("/dev/null", O_WRONLY);

	if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
		execv(*(char **)arg, arg);
	return 0;
}

/* As run_once(), with the exit status for the items. */
static struct run run_program(char **args)
{
	struct run r = {};
	u64 began = clock_ns(CLOCK_MONOTONIC);
	struct rusage u;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit((int)become(args) + 127);
	if (pid < 0 || wait4(pid, &status, 0, &u) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return r;
	r.wall_s = (double)(clock_ns(CLOCK_MONOTONIC) - began) / 1e9;
	r.cpu_s = timeval_s(u.ru_utime) + timeval_s(u.ru_stime);
	r.rss_mb = (double)u.ru_maxrss / 1024;
	r.items = 1;
	return r;
}

/* Megabytes of the output, which is removed. */
static double take_size(void)
{
	struct stat st = {};

	stat(out, &st);
	unlink(out);
	return (double)st.st_size / 1e6;
}

int main(int argc, char **argv)
{
	char device[4096], semantic[4096];
	char *args[] = { argv[1], "perfetto", "--ebpf", device, "--sem", semantic, "-o", out, NULL };
	int rounds = argc > 3 ? atoi(argv[3]) : 5;
	struct run best = {}, r;

	err_set_name("bench convert");
	if (argc < 3)
		return err(EXIT_USAGE, "usage: convert KVIO DIR [ROUNDS]");
	snprintf(device, sizeof(device), "%s/ebpf.jsonl", argv[2]);
	snprintf(semantic, sizeof(semantic), "%s/sem.jsonl", argv[2]);
	snprintf(out, 4096, "%s/out.pftrace", argv[2]);
	while (rounds-- > 0) {
		r = run_program(args);
		if (!r.items)
			return err(EXIT_FAILED, "%s perfetto failed", argv[1]);
		if (!best.items || r.cpu_s < best.cpu_s)
			best = r;
	}
	printf("convert.cpu_s %.3f\nconvert.wall_s %.3f\nconvert.rss_mb %.1f\nconvert.out_mb %.1f\n", best.cpu_s,
	       best.wall_s, best.rss_mb, take_size());
	strcat(out, ".gz");
	r = run_program(args);
	if (!r.items)
		return err(EXIT_FAILED, "%s perfetto -o x.gz failed", argv[1]);
	printf("convert.gz.cpu_s %.3f\nconvert.gz.out_mb %.1f\n", r.cpu_s, take_size());
	return 0;
}
