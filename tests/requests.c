// SPDX-License-Identifier: Apache-2.0
/*
 * Sends io_uring requests of every kind that the tests look at, with known
 * arguments and user_data: requests DIRECTORY all.  "probe" only tells whether a
 * ring can be made.  requests DEVICE direct: to a block device, past the page
 * cache, beside the system calls that do the same; requests DEVICE errors:
 * reads of a block that fails; requests - nops: 20,011 that do nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

static struct io_uring ring;
static char block[16384];

static void need(long ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "requests: %s: %s\n", what, strerror((int)-ret));
	exit(1);
}

static struct io_uring_sqe *sqe(void)
{
	struct io_uring_sqe *s = io_uring_get_sqe(&ring);

	if (!s)
		need(-EBUSY, "a submission queue entry");
	return s;
}

/* Sends what was prepared and waits for all of it. */
static void run(unsigned n)
{
	struct io_uring_cqe *cqe;

	need(io_uring_submit(&ring), "submit");
	while (n--) {
		need(io_uring_wait_cqe(&ring, &cqe), "wait");
		io_uring_cqe_seen(&ring, cqe);
	}
}

#define ONE(id, prep, ...)                       \
	do {                                     \
		struct io_uring_sqe *s_ = sqe(); \
                                                 \
		prep(s_, ##__VA_ARGS__);         \
		s_->user_data = id;              \
		run(1);                          \
	} while (0)

static void kinds(const char *dir)
{
	static struct iovec v[1024];
	char path[4096];
	int fd, i;

	for (i = 0; i < 1024; i++)
		v[i] = (struct iovec){ block, 16 };
	snprintf(path, sizeof(path), "%s/requests", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	need(fd < 0 ? -errno : 0, path);
	ONE(100, io_uring_prep_writev, fd, v, 64, 0);
	ONE(101, io_uring_prep_readv, fd, v, 1024, 16);
	ONE(102, io_uring_prep_read, fd, block, 24, 1000);
	need(lseek(fd, 0, SEEK_END), "lseek");
	ONE(103, io_uring_prep_read, fd, block, 100, (__u64)-1);
	ONE(104, io_uring_prep_read, fd, block, 100, 5000000000);
	ONE(105, io_uring_prep_fsync, fd, 0);
	ONE(106, io_uring_prep_fallocate, fd, 0, 65536, 4096);
	ONE(107, io_uring_prep_read, 1000, block, 10, 0);
	ONE(108, io_uring_prep_nop);
	ONE(18446744073709551615ull, io_uring_prep_nop);
}

/* Three links, the first of which fails. */
static void chain(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		struct io_uring_sqe *s = sqe();

		io_uring_prep_read(s, 1000, block, 10, 0);
		if (i < 2)
			s->flags |= IOSQE_IO_LINK;
		s->user_data = 200u + (unsigned)i;
	}
	run(3);
}

/* 32 completions into a queue of 8 that nobody reads. */
static void overflow(void)
{
	struct io_uring_params p = { .flags = IORING_SETUP_CQSIZE, .cq_entries = 8 };
	struct io_uring small;
	int i, j;

	need(io_uring_queue_init_params(8, &small, &p), "a small ring");
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 8; j++)
			io_uring_prep_nop(io_uring_get_sqe(&small));
		io_uring_submit(&small);
	}
	io_uring_queue_exit(&small);
}

#define PIECE  4096u
#define PIECES 64u
#define MIB    1048576

static int open_direct(const char *path, char **buf)
{
	int fd = open(path, O_RDWR | O_DIRECT);

	need(fd < 0 ? -errno : 0, path);
	need(-posix_memalign((void **)buf, PIECE, PIECES * PIECE), "memory");
	return fd;
}

static void link_to_next(struct io_uring_sqe *s, unsigned id)
{
	s->flags |= IOSQE_IO_LINK;
	s->user_data = id;
}

/* Chains of a write, a flush and a read. */
static void links(int fd, char *buf)
{
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct io_uring_sqe *s = sqe();

		io_uring_prep_write(s, fd, buf, PIECE, 8 * MIB + i * PIECE);
		link_to_next(s, 500 + 10 * i);
		s = sqe();
		io_uring_prep_fsync(s, fd, 0);
		link_to_next(s, 501 + 10 * i);
		s = sqe();
		io_uring_prep_read(s, fd, buf, PIECE, 8 * MIB + i * PIECE);
		s->user_data = 502 + 10 * i;
		run(3);
	}
}

/* Reads that the end of the device cuts in half; one breaks its chain. */
static void ends(int fd, char *buf)
{
	off_t half = lseek(fd, 0, SEEK_END) - PIECE;
	struct io_uring_sqe *s;
	unsigned i;

	for (i = 0; i < 3; i++)
		ONE(600 + i, io_uring_prep_read, fd, buf, 2 * PIECE, (__u64)half);
	for (i = 0; i < 4; i++)
		need(pread(fd, buf, 2 * PIECE, half) == PIECE ? 0 : -EIO, "a read at the end");
	s = sqe();
	io_uring_prep_read(s, fd, buf, 2 * PIECE, (__u64)half);
	link_to_next(s, 603);
	io_uring_prep_nop(s = sqe());
	s->user_data = 604;
	run(2);
}

static void direct(const char *path)
{
	struct iovec v[PIECES];
	unsigned i;
	char *buf;
	int fd = open_direct(path, &buf);

	/* Nothing that lies side by side in memory. */
	for (i = 0; i < PIECES; i++)
		v[i] = (struct iovec){ buf + (PIECES - 1 - i) * PIECE, PIECE };
	for (i = 0; i < 7; i++)
		ONE(400 + i, io_uring_prep_readv, fd, v, PIECES, i * MIB);
	for (i = 0; i < 5; i++)
		need(preadv2(fd, v, PIECES, i * MIB, 0) == PIECES * PIECE ? 0 : -EIO, "preadv2");
	links(fd, buf);
	ends(fd, buf);
	for (i = 0; i < 2; i++)
		ONE(700 + i, io_uring_prep_fallocate, fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, i * MIB, MIB / 4);
	for (i = 0; i < 3; i++)
		need(fallocate(fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, i * MIB, MIB / 4) ? -errno : 0,
		     "fallocate");
}

/* The second MiB begins with what cannot be read, and no flush ends well. */
static void errors(const char *path)
{
	char *buf;
	int fd = open_direct(path, &buf), i;

	for (i = 0; i < 3; i++) {
		ONE(800u + (unsigned)i, io_uring_prep_read, fd, buf, PIECE, MIB);
		ONE(810u + (unsigned)i, io_uring_prep_read, fd, buf, PIECE, MIB + PIECE);
	}
	/* Without a write there would be nothing to flush. */
	ONE(820, io_uring_prep_write, fd, buf, PIECE, 2 * MIB);
	ONE(821, io_uring_prep_fsync, fd, 0);
	for (i = 0; i < 2; i++)
		if (pread(fd, buf, PIECE, MIB) != -1 || errno != ENODATA)
			need(-EINVAL, "a read that must fail");
	if (fsync(fd) != -1 || errno != ENODATA)
		need(-EINVAL, "a flush that must fail");
}

static void nops(void)
{
	int i, j;

	for (i = 0; i < 20011; i += j) {
		for (j = 0; j < 8 && i + j < 20011; j++)
			io_uring_prep_nop(sqe());
		run((unsigned)j);
	}
}

/* A worker that names itself, as those of servers do. */
static void renamed(void)
{
	prctl(PR_SET_NAME, "first");
	ONE(310, io_uring_prep_nop);
	prctl(PR_SET_NAME, "second");
	ONE(311, io_uring_prep_nop);
}

/* A poll of a pipe into which nothing is ever written; then its parent, who records it, may end. */
static void hang(void)
{
	struct io_uring_sqe *s;
	int pipes[2];

	need(pipe(pipes) ? -errno : 0, "pipe");
	s = sqe();
	io_uring_prep_poll_add(s, pipes[0], POLLIN);
	s->user_data = 300;
	need(io_uring_submit(&ring), "submit");
	kill(getppid(), SIGTERM);
	pause();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	need(io_uring_queue_init(8, &ring, 0), "a ring");
	if (!strcmp(argv[2], "probe"))
		return 0;
	if (!strcmp(argv[2], "hang")) {
		hang();
		return 0;
	}
	if (!strcmp(argv[2], "direct")) {
		direct(argv[1]);
		return 0;
	}
	if (!strcmp(argv[2], "errors")) {
		errors(argv[1]);
		return 0;
	}
	if (!strcmp(argv[2], "nops")) {
		nops();
		return 0;
	}
	kinds(argv[1]);
	renamed();
	chain();
	overflow();
	return 0;
}
