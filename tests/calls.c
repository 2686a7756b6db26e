// SPDX-License-Identifier: Apache-2.0
/*
 * Makes every system call that the tracer knows, a known number of times with
 * known arguments, on a file in the given directory.  The tests compare what
 * was recorded with this list and with strace.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK 4096

static char block[BLOCK];

static void need(long ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "calls: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* 13 writes of a block, 11 reads of half of one, one that fails, one at the end of the file. */
static void plain(int fd)
{
	int i;

	for (i = 0; i < 13; i++)
		need(write(fd, block, BLOCK), "write");
	need(lseek(fd, 100, SEEK_SET), "lseek");
	for (i = 0; i < 11; i++)
		need(read(fd, block, BLOCK / 2), "read");
	need(lseek(fd, 0, SEEK_END), "lseek");
	need(read(fd, block, 7), "read at the end");
	if (read(-1, block, 5) != -1)
		need(-1, "a read that must fail");
}

static void positional(int fd)
{
	int i;

	for (i = 0; i < 7; i++)
		need(pwrite(fd, block, 512, i * 1000), "pwrite");
	for (i = 0; i < 5; i++)
		need(pread(fd, block, 300, 5000000000 + i), "pread");
}

/* Vectors of 3, of 64 and of 1024 elements. */
static void vectored(int fd)
{
	static struct iovec v[1024];
	int i;

	for (i = 0; i < 1024; i++)
		v[i] = (struct iovec){ block, 16 };
	need(pwritev(fd, v, 64, 4096), "pwritev");
	need(preadv(fd, v, 1024, 0), "preadv");
	need(preadv2(fd, v, 3, 8, 0), "preadv2");
	need(lseek(fd, 640, SEEK_SET), "lseek");
	need(preadv2(fd, v, 3, -1, 0), "preadv2 at the position");
	need(pwritev2(fd, v, 2, 16, RWF_DSYNC), "pwritev2");
	need(readv(fd, v, 2), "readv");
	need(writev(fd, v, 64), "writev");
}

/* Opens that fail, below a descriptor that is a pipe's soon. */
static void nothing(void)
{
	int dir = open("/dev", O_PATH | O_DIRECTORY), twin, pipes[2], i;

	need(dir, "open /dev");
	for (i = 0; i < 50; i++) {
		twin = dup(dir);
		if (openat(twin, "kvio-none", O_RDONLY) != -1)
			need(-1, "an open that must fail");
		close(twin);
		need(pipe(pipes), "pipe");
		close(pipes[0]);
		close(pipes[1]);
	}
	close(dir);
}

static void files(const char *dir, int fd)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0640 };
	char path[4096], longer[700];
	int a, b;

	snprintf(path, sizeof(path), "%s/second", dir);
	a = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	need(a, "openat2");
	b = dup(a);
	need(b, "dup");
	need(dup2(a, b), "dup2");
	need(dup3(a, b, O_CLOEXEC), "dup3");
	need(close(b), "close");
	need(fsync(fd), "fsync");
	need(fdatasync(fd), "fdatasync");
	need(sync_file_range(fd, 4096, 8192, SYNC_FILE_RANGE_WRITE), "sync_file_range");
	need(fallocate(a, FALLOC_FL_KEEP_SIZE, 65536, 4096), "fallocate");
	need(lseek(fd, 0, SEEK_SET), "lseek");
	need(copy_file_range(fd, &(off64_t){ 4096 }, a, &(off64_t){ 0 }, 2000, 0), "copy_file_range");
	need(sendfile(a, fd, &(off_t){ 8192 }, 1000), "sendfile");
	need(close(a), "close");
	/* A path of more than one piece, relative to the working directory, that is not there. */
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	for (a = 200; a < 600; a += 200)
		longer[a] = '/';
	if (open(longer, O_RDONLY | O_CLOEXEC) != -1)
		need(-1, "an open that must fail");
}

static void mapped(int fd)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);

	if (p == MAP_FAILED)
		need(-1, "mmap");
	p[0] = 1;
	need(msync(p, 8192, MS_SYNC), "msync");
	need(munmap(p, 8192), "munmap");
}

static void *thread(void *arg)
{
	int fd = *(int *)arg, i;

	for (i = 0; i < 17; i++)
		need(pread(fd, block, 64, 64 * i), "pread in a thread");
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096];
	pthread_t t;
	pid_t child;
	int fd, status;

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "%s/first \"file\"\n", argv[1]);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	need(fd, "open");
	plain(fd);
	positional(fd);
	vectored(fd);
	files(argv[1], fd);
	nothing();
	mapped(fd);
	if (pthread_create(&t, NULL, thread, &fd) || pthread_join(t, NULL))
		need(-1, "a thread");
	child = fork();
	need(child, "fork");
	if (!child) {
		need(pwrite(fd, block, 19, 23), "pwrite in a child");
		_exit(0);
	}
	need(waitpid(child, &status, 0), "waitpid");
	return status ? 1 : 0;
}
