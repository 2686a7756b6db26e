// SPDX-License-Identifier: Apache-2.0
/*
 * Sends NVMe commands that no read or write makes, a known number of each, by
 * ioctl and by io_uring: passthru WHAT NODE, where WHAT is
 *   compare  3 that match and 2 that do not by ioctl, 5 and 4 by io_uring
 *   ranges   discards of 1 to 5 ranges by ioctl, of 6 to 9 by io_uring
 *   zones    appends, 3 by ioctl and 7 by io_uring; one open, close, finish, reset and report each
 *   errors   2 reads of a block that fails by ioctl, 3 by io_uring
 *   vectors  5 reads of 128 KiB into 32 pieces by io_uring, 3 of 256 KiB into 64, which the kernel refuses
 * What the drive answers is checked here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "io/ring.h"

enum {
	OP_READ = 2,
	OP_WRITE = 1,
	OP_COMPARE = 5,
	OP_DSM = 9,
	OP_ZONE_SEND = 0x79,
	OP_ZONE_RECEIVE = 0x7a,
	OP_ZONE_APPEND = 0x7d
};
enum { ZONE_CLOSE = 1, ZONE_FINISH, ZONE_OPEN, ZONE_RESET };
enum { UNRECOVERED_READ = 0x281, COMPARE_FAILED = 0x285 };
#define STATUS	    0x7ff /* type and code */
#define BLOCK	    4096u
#define DSM_DISCARD 4u
#define BAD_BLOCK   256u
#define SECOND_ZONE 1024u /* of 4 MiB */

struct dsm_range {
	unsigned attributes, nlb;
	unsigned long long slba;
};

static struct ring ring;
static int fd, nsid;
static char *buf;
static unsigned long long user_data = 1000;

static void die(const char *what, long ret)
{
	fprintf(stderr, "passthru: %s: %ld\n", what, ret);
	exit(1);
}

static long by_ioctl(const struct nvme_uring_cmd *c)
{
	struct nvme_passthru_cmd p;
	int ret;

	_Static_assert(sizeof(p) == sizeof(*c), "they differ in the last member only");
	memcpy(&p, c, sizeof(p));
	ret = ioctl(fd, NVME_IOCTL_IO_CMD, &p);
	return ret < 0 ? -errno : ret;
}

static long by_ring(const struct nvme_uring_cmd *c)
{
	struct ring_done done = {};
	int ret = ring_push(&ring, fd, c, user_data++);

	if (!ret)
		ret = ring_submit(&ring);
	while (!ret || ret == -EINTR)
		ret = ring_reap(&ring, &done, 1, 60000000000ull);
	return ret < 0 ? ret : done.res;
}

/* Sends the command n times; each must end with this status. */
static void pass(bool ioctl_way, int n, struct nvme_uring_cmd c, int wanted)
{
	c.nsid = (__u32)nsid;
	if (c.data_len)
		c.addr = (__u64)(uintptr_t)buf;
	while (n--) {
		long ret = ioctl_way ? by_ioctl(&c) : by_ring(&c);

		if (ret < 0 || (ret & STATUS) != wanted)
			die(ioctl_way ? "ioctl" : "io_uring", ret);
	}
}

static struct nvme_uring_cmd io(int opcode, unsigned slba, unsigned nlb)
{
	return (struct nvme_uring_cmd){
		.opcode = (__u8)opcode, .cdw10 = slba, .cdw12 = nlb - 1, .data_len = nlb * BLOCK
	};
}

static void compare(void)
{
	int way;

	memset(buf, 0x5a, 2 * BLOCK);
	pass(true, 1, io(OP_WRITE, 16, 2), 0);
	for (way = 0; way < 2; way++) {
		memset(buf, 0x5a, 2 * BLOCK);
		pass(!way, way ? 5 : 3, io(OP_COMPARE, 16, 2), 0);
		buf[BLOCK + 1] = 0;
		pass(!way, way ? 4 : 2, io(OP_COMPARE, 16, 2), COMPARE_FAILED);
	}
}

/* The i-th range of a discard is i + 1 blocks long, 100 blocks from the one before. */
static void ranges(void)
{
	struct dsm_range *r = (struct dsm_range *)buf;
	unsigned n, i;

	for (n = 1; n <= 9; n++) {
		struct nvme_uring_cmd c = { .opcode = OP_DSM, .cdw10 = n - 1, .cdw11 = DSM_DISCARD };

		for (i = 0; i < n; i++)
			r[i] = (struct dsm_range){ .nlb = i + 1, .slba = 1000 * n + 100 * i };
		c.data_len = n * (unsigned)sizeof(*r);
		pass(n <= 5, 1, c, 0);
	}
}

static void zones(void)
{
	static const int actions[] = { ZONE_OPEN, ZONE_CLOSE, ZONE_FINISH, ZONE_RESET };
	struct nvme_uring_cmd report = { .opcode = OP_ZONE_RECEIVE, .cdw12 = BLOCK / 4 - 1, .data_len = BLOCK };
	size_t i, way;

	for (way = 0; way < 2; way++) {
		pass(!way, way ? 7 : 3, io(OP_ZONE_APPEND, SECOND_ZONE, 2), 0);
		for (i = 0; i < sizeof(actions) / sizeof(*actions); i++)
			pass(!way, 1,
			     (struct nvme_uring_cmd){
				     .opcode = OP_ZONE_SEND, .cdw10 = SECOND_ZONE, .cdw13 = (__u32)actions[i] },
			     0);
		pass(!way, 1, report, 0);
	}
}

static void errors(void)
{
	pass(true, 2, io(OP_READ, BAD_BLOCK, 1), UNRECOVERED_READ);
	pass(false, 3, io(OP_READ, BAD_BLOCK, 1), UNRECOVERED_READ);
}

/* Each piece is the same block of memory. */
static void read_pieces(unsigned pieces, int n, long wanted)
{
	struct iovec v[64];
	struct nvme_uring_cmd c = io(OP_READ, 4096, pieces);
	unsigned i;

	for (i = 0; i < pieces; i++)
		v[i] = (struct iovec){ buf, BLOCK };
	c.nsid = (__u32)nsid;
	c.addr = (__u64)(uintptr_t)v;
	c.data_len = pieces;
	while (n--) {
		struct ring_done done = {};
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring.uring);
		int ret;

		if (!sqe)
			die("a submission queue entry", -EBUSY);
		memset(sqe, 0, 2 * sizeof(*sqe));
		sqe->opcode = IORING_OP_URING_CMD;
		sqe->fd = fd;
		sqe->cmd_op = NVME_URING_CMD_IO_VEC;
		sqe->user_data = user_data++;
		memcpy(sqe->cmd, &c, sizeof(c));
		ring.prepared++;
		ret = ring_submit(&ring);
		if (!ret)
			ret = ring_reap(&ring, &done, 1, 60000000000ull);
		if (ret != 1 || done.res != wanted)
			die("a vector", ret == 1 ? done.res : ret);
	}
}

static void vectors(void)
{
	read_pieces(32, 5, 0);
	read_pieces(64, 3, -EINVAL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = { { "compare", compare },
		     { "ranges", ranges },
		     { "zones", zones },
		     { "errors", errors },
		     { "vectors", vectors } };
	size_t i;

	if (argc != 3)
		return 2;
	fd = open(argv[2], O_RDWR);
	nsid = fd < 0 ? -1 : ioctl(fd, NVME_IOCTL_ID);
	if (nsid < 0)
		die(argv[2], -errno);
	if (ring_open(&ring, 8, 0) || posix_memalign((void **)&buf, BLOCK, 4 * BLOCK))
		die("a ring", -errno);
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			ring_close(&ring);
			return 0;
		}
	return 2;
}
