// SPDX-License-Identifier: Apache-2.0
/*
 * Threads whose numbers a tracer could mix up: two of the same lower bits, one
 * that another process had before, one that exec gives another number.  A
 * tracer of this process alone sees the reads of 500 bytes and a few, the
 * reads of 600 and a few are other processes'.  Where there are few reads, as
 * many io_uring requests that do nothing have their size as user_data.  Up to
 * 507 the name is `numbers`, behind the first exec it is `exe`.
 *	numbers FILE	exit status 4: this system gives no chosen numbers;
 *			5: another process has one of them just now
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAME_SLOT 16384 /* numbers of this distance have one slot in syscall.bpf.c and iouring.bpf.c */
#define FEW	  10

static char buf[1024];
static int fd;
static struct io_uring ring;
static bool has_ring;

static void open_ring(void)
{
	has_ring = !io_uring_queue_init(4, &ring, 0);
}

/* By hand, for threads without a C library; it completes while it is sent. */
static void request(long user_data)
{
	unsigned tail = *ring.sq.ktail, at = tail & *ring.sq.kring_mask;

	ring.sq.sqes[at] = (struct io_uring_sqe){ .opcode = IORING_OP_NOP, .user_data = (uint64_t)user_data };
	ring.sq.array[at] = at;
	__atomic_store_n(ring.sq.ktail, tail + 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, ring.ring_fd, 1, 0, 0, NULL, 0);
	__atomic_store_n(ring.cq.khead, *ring.cq.ktail, __ATOMIC_RELEASE);
}

static void reads(long n, long size)
{
	bool also = has_ring && n <= FEW;

	while (n--) {
		syscall(SYS_pread64, fd, buf, size, 0);
		if (also)
			request(size);
	}
}

static long new_task(pid_t number, uint64_t flags, void *stack, size_t bytes)
{
	struct clone_args a = {
		.flags = flags,
		.exit_signal = flags & CLONE_THREAD ? 0 : SIGCHLD,
		.stack = (uintptr_t)stack,
		.stack_size = bytes,
		.set_tid = (uintptr_t)&number,
		.set_tid_size = 1,
	};

	return syscall(SYS_clone3, &a, sizeof(a));
}

static void need(long ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "numbers: %s: %s\n", what, strerror(errno));
	exit(errno == EPERM || errno == ENOSYS ? 4 : errno == EEXIST ? 5 : 1);
}

/* Another process, of that number, that reads; the child's id. */
static pid_t process(pid_t number, long n, long size)
{
	long pid = new_task(number, 0, NULL, 0);

	need(pid, "clone3");
	if (pid)
		return (pid_t)pid;
	/* Its parent's ring would send as its parent. */
	open_ring();
	reads(n, size);
	_exit(0);
}

struct job {
	long n, size;
	char **exec; /* what the thread becomes in the end */
};

/* A thread has no C library of its own: it makes system calls only, by the stack that it was given. */
static __attribute__((noreturn)) void thread_main(const struct job *j)
{
	reads(j->n, j->size);
	if (j->exec)
		syscall(SYS_execve, "/proc/self/exe", j->exec, NULL);
	syscall(SYS_exit, 0);
	__builtin_unreachable();
}

static void thread(pid_t number, const struct job *j)
{
	static char stack[65536] __attribute__((aligned(64)));
	const uint64_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	static const struct job *volatile job;
	static struct clone_args a;
	static pid_t set;
	long ret;

	job = j;
	set = number;
	a = (struct clone_args){ .flags = flags,
				 .stack = (uintptr_t)stack,
				 .stack_size = sizeof(stack),
				 .set_tid = (uintptr_t)&set,
				 .set_tid_size = 1 };
#if defined(__x86_64__)
	__asm__ volatile("syscall\n"
			 "test %%rax, %%rax\n"
			 "jnz 1f\n"
			 "mov %4, %%rdi\n"
			 "call *%5\n"
			 "1:"
			 : "=a"(ret)
			 : "a"((long)SYS_clone3), "D"(&a), "S"(sizeof(a)), "r"((const struct job *)job),
			   "r"(thread_main)
			 : "rcx", "r11", "memory");
#else
	errno = ENOSYS;
	ret = -1;
#endif
	errno = ret < 0 && ret > -4096 ? (int)-ret : errno;
	need(ret, "clone3 of a thread");
}

static void until_gone(pid_t number)
{
	while (!syscall(SYS_tgkill, getpid(), number, 0))
		usleep(1000);
}

/* Mostly free: of a busy machine another process may have it. */
static pid_t number_near(pid_t distance)
{
	return getpid() > SAME_SLOT ? getpid() - distance : getpid() + distance;
}

/* Another process of that number, from begin to end. */
static void other_process(pid_t number, long n, long size)
{
	waitpid(process(number, n, size), NULL, 0);
}

int main(int argc, char **argv)
{
	char *first[] = { "numbers", argv[1], "first", NULL }, *after[] = { "numbers", argv[1], "after", NULL };
	const struct job often = { .n = 1000, .size = 502 }, some = { .n = FEW, .size = 501 },
			 exec = { .n = FEW, .size = 504, .exec = after };
	pid_t same = number_near(SAME_SLOT), other = number_near(300), former = number_near(301), pid;

	if (argc < 2)
		return 2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	need(fd, argv[1]);
	open_ring();
	if (argc < 3) {
		reads(FEW, 507);
		execv("/proc/self/exe", first);
		need(-1, "execv");
	}
	if (!strcmp(argv[2], "after")) { /* the number that the thread had is another process's */
		other_process(former, FEW, 602);
		reads(FEW, 505);
		return 0;
	}
	reads(FEW, 508);
	other_process(same, FEW, 603);
	pid = process(same, 1000, 600);
	reads(1000, 500);
	waitpid(pid, NULL, 0);
	thread(same, &often);
	reads(1000, 503);
	until_gone(same);
	other_process(other, FEW, 601);
	thread(other, &some);
	until_gone(other);
	other_process(other, FEW, 604);
	thread(former, &exec);
	pause();
	return 1;
}
