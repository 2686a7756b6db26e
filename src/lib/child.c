// SPDX-License-Identifier: Apache-2.0
#include "lib/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* By calls that no tracer records, which would be the program's: it may get here when recording has begun. */
static void __attribute__((noreturn)) run(const int gate[2], int error, char **argv)
{
	struct pollfd opens = { .fd = gate[0] };
	sigset_t none;
	int ret;

	if (close_range((unsigned)gate[1], (unsigned)gate[1], 0))
		close(gate[1]);
	/* A closed gate means "go", also by the parent's death. */
	while (poll(&opens, 1, -1) < 0 && errno == EINTR)
		;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	ret = errno;
	if (write(error, &ret, sizeof(ret)) < 0)
		_exit(126);
	_exit(127);
}

int child_prepare(struct child *c, char **argv)
{
	int gate[2], error[2];

	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	if (pipe2(error, O_CLOEXEC)) {
		close(gate[0]);
		close(gate[1]);
		return -errno;
	}
	c->pid = fork();
	if (c->pid == 0)
		run(gate, error[1], argv);
	close(gate[0]);
	close(error[1]);
	c->gate = gate[1];
	c->error = error[0];
	return c->pid < 0 ? -errno : 0;
}

int child_start(struct child *c)
{
	int ret = 0, status;
	ssize_t n;

	close(c->gate);
	do
		n = read(c->error, &ret, sizeof(ret));
	while (n < 0 && errno == EINTR);
	close(c->error);
	if (n != (ssize_t)sizeof(ret))
		return 0;
	waitpid(c->pid, &status, 0);
	return -ret;
}

int child_poll(struct child *c, int *status)
{
	pid_t pid = waitpid(c->pid, status, WNOHANG);

	if (pid < 0)
		return errno == EINTR ? 0 : -errno;
	return pid == c->pid;
}

void child_cancel(struct child *c)
{
	int status;

	kill(c->pid, SIGKILL);
	waitpid(c->pid, &status, 0);
	close(c->gate);
	close(c->error);
}

int child_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
