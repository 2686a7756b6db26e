/* SPDX-License-Identifier: Apache-2.0 */
/* A program to be observed: started in two steps, so that nothing of it is missed. */
#ifndef KVIO_CHILD_H
#define KVIO_CHILD_H

#include <sys/types.h>

struct child {
	pid_t pid;
	int gate;  /* write end: closing it lets the child go on to exec */
	int error; /* read end: the errno of a failed exec */
};

/* Forks; the child waits at the gate.  0 or -errno. */
int child_prepare(struct child *c, char **argv);
/* Opens the gate and waits for exec.  0, or -errno of exec (the child is then gone). */
int child_start(struct child *c);
/* Reaps it: 1 and *status (as of waitpid) when it has ended, 0 while it runs, -errno. */
int child_poll(struct child *c, int *status);
/* Ends a child that never started. */
void child_cancel(struct child *c);
/* The exit status that a shell would give: 128 + signal when it was killed. */
int child_exit_code(int status);

#endif
