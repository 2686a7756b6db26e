// SPDX-License-Identifier: Apache-2.0
/*
 * guarded TARGET DESTROY SERIAL ENGINE: what every writer does first, and
 * then the smallest thing that a writer could do.  "-" is not given.  Writes
 * 4 KiB of 0xff at the start and holds the target until standard input ends.
 * Exit status 0 written, 1 refused (the reason is printed).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/nvme_ioctl.h>

#include "io/guard.h"

static const char *given(const char *word)
{
	return strcmp(word, "-") ? word : NULL;
}

static int write_block(struct guard *g, bool passthrough, void *buf)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = 1,
		.nsid = g->ns.nsid,
		.addr = (uintptr_t)buf,
		.data_len = 4096,
		.cdw12 = g->lba_bytes ? 4096 / g->lba_bytes - 1 : 0,
	};

	return passthrough ? ioctl(g->fd, NVME_IOCTL_IO_CMD, &cmd) : pwrite(g->fd, buf, 4096, 0) != 4096;
}

int main(int argc, char **argv)
{
	const struct device_roots roots = DEVICE_ROOTS_SYSTEM;
	struct guard_request r = {};
	char why[GUARD_WHY];
	struct guard g;
	void *buf;

	if (argc != 5)
		return 2;
	r.target = argv[1];
	r.destroy = given(argv[2]);
	r.expect_serial = given(argv[3]);
	r.passthrough = !strcmp(argv[4], "uring_cmd");
	r.file_bytes = 1 << 20;
	if (guard_open(&g, &r, &roots, why)) {
		puts(why);
		return 1;
	}
	buf = aligned_alloc(4096, 4096);
	if (!buf)
		return 2;
	memset(buf, 0xff, 4096);
	if (write_block(&g, r.passthrough, buf))
		return 2;
	puts("written");
	fflush(stdout);
	while (getchar() != EOF)
		;
	guard_close(&g);
	free(buf);
	return 0;
}
