// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a program while programs that return at once are on the hooks of a
 * tracer: what being hooked costs by itself.
 *   floor syscall|iouring COMMAND...
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "trace/probe.h"

#include "bench/floor.skel.h"

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static int attach(struct floor_bpf *bpf, bool syscalls)
{
	struct probe *p;
	int ret = probe_open(&p);
	bool newer;

	if (ret)
		return ret;
	newer = probe_has_tracepoint(p, "io_uring_submit_req");
	probe_close(p);
	bpf_program__set_autoload(bpf->progs.sys_enter, syscalls);
	bpf_program__set_autoload(bpf->progs.sys_exit, syscalls);
	bpf_program__set_autoload(bpf->progs.submit_req, !syscalls && newer);
	bpf_program__set_autoload(bpf->progs.submit_sqe, !syscalls && !newer);
	bpf_program__set_autoload(bpf->progs.complete, !syscalls);
	ret = floor_bpf__load(bpf);
	return ret ? ret : floor_bpf__attach(bpf);
}

int main(int argc, char **argv)
{
	struct floor_bpf *bpf;
	int status, ret;
	pid_t pid;

	if (argc < 3 || (strcmp(argv[1], "syscall") && strcmp(argv[1], "iouring")))
		return err(EXIT_USAGE, "usage: floor syscall|iouring COMMAND...");
	libbpf_set_print(quiet);
	bpf = floor_bpf__open();
	ret = bpf ? attach(bpf, !strcmp(argv[1], "syscall")) : -1;
	if (ret)
		return err(EXIT_FAILED, "the programs do not load or attach: %s", strerror(-ret));
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return err(EXIT_FAILED, "cannot start %s", argv[2]);
	floor_bpf__destroy(bpf);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}
