/* SPDX-License-Identifier: Apache-2.0 */
/* What the benches share: a piece of work in a process of its own, several times, and the best run. */
#ifndef KVIO_BENCH_RUN_H
#define KVIO_BENCH_RUN_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"

struct run {
	double cpu_s, wall_s, rss_mb;
	u64 items; /* what the work says it did; 0 = it failed */
};

static inline double timeval_s(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Runs work(arg) once in a child.  A child that is not to be seen is timed as a whole. */
static inline struct run run_once(u64 (*work)(void *), void *arg)
{
	struct run r = {};
	struct rusage u;
	u64 began;
	int fd[2], status;
	pid_t pid;

	if (pipe(fd))
		return r;
	began = clock_ns(CLOCK_MONOTONIC);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		u64 n = work(arg);

		_exit(write(fd[1], &n, sizeof(n)) != sizeof(n));
	}
	close(fd[1]);
	if (pid < 0 || wait4(pid, &status, 0, &u) != pid || status || read(fd[0], &r.items, sizeof(r.items)) < 0)
		r.items = 0;
	r.wall_s = (double)(clock_ns(CLOCK_MONOTONIC) - began) / 1e9;
	r.cpu_s = timeval_s(u.ru_utime) + timeval_s(u.ru_stime);
	r.rss_mb = (double)u.ru_maxrss / 1024;
	close(fd[0]);
	return r;
}

/* The run with the least CPU time of `rounds`. */
static inline struct run run_best(int rounds, u64 (*work)(void *), void *arg)
{
	struct run best = {}, r;

	while (rounds-- > 0) {
		r = run_once(work, arg);
		if (!r.items)
			return r;
		if (!best.items || r.cpu_s < best.cpu_s)
			best = r;
	}
	return best;
}

/* A program with its arguments and no output; items is 1 when it succeeded. */
static inline struct run run_program(char **args)
{
	struct run r = {};
	u64 began = clock_ns(CLOCK_MONOTONIC);
	struct rusage u;
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
			execv(args[0], args);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &u) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return r;
	r.wall_s = (double)(clock_ns(CLOCK_MONOTONIC) - began) / 1e9;
	r.cpu_s = timeval_s(u.ru_utime) + timeval_s(u.ru_stime);
	r.rss_mb = (double)u.ru_maxrss / 1024;
	r.items = 1;
	return r;
}

#endif
