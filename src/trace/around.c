// SPDX-License-Identifier: Apache-2.0
#include "trace/around.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "/sys/kernel/debug/fault_around_bytes";
static char before[32];
static volatile size_t n_before; /* 0: nothing to restore */

int around_off(void)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), ret = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, before, sizeof(before));
	/* A single page is the least: no other is mapped then. */
	if (n <= 0 || write(fd, "1\n", 2) != 2)
		ret = errno ? -errno : -EIO;
	else
		n_before = (size_t)n;
	close(fd);
	return ret;
}

void around_restore(void)
{
	int fd = n_before ? open(path, O_WRONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	if (write(fd, before, n_before) == (ssize_t)n_before)
		n_before = 0;
	close(fd);
}
