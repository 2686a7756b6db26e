// SPDX-License-Identifier: Apache-2.0
/*
 * A process below which there is always one more: each forks the next one,
 * reads 600 bytes of FILE at its own number, and ends, so that who is looked at
 * is gone already.  As the first process of a container it is the parent of
 * those whose parent has ended.  Ends some steps after the file STOP is there;
 * prints the number of the last one.
 *	forks FILE STOP
 */
#define STEPS	200
#define AT_MOST 1000000

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char buf[600];
	long i, last = AT_MOST;
	int fd;

	if (argc != 3 || prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 2;
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		return 1;
	if (fork()) {
		while (wait(NULL) > 0)
			;
		return 0;
	}
	for (i = 0; i < last; i++) {
		if (last == AT_MOST && !access(argv[2], F_OK))
			last = i + STEPS;
		if (fork() > 0) {
			if (pread(fd, buf, sizeof(buf), i) < 0)
				return 1;
			_exit(0);
		}
	}
	printf("%ld\n", last - 1);
	return 0;
}
