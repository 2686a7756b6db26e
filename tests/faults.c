// SPDX-License-Identifier: Apache-2.0
/*
 * A known workload on a mapped file, which tells what it did and what the
 * kernel counted: faults FILE WAY COUNT, where WAY is
 *   seq      the first COUNT pages, one load each
 *   rand     COUNT loads of 8 bytes at random places
 *   advised  the same under MADV_RANDOM
 *   write    COUNT stores at random places
 *   threads  two threads that load the same COUNT pages
 *   beside   as seq, while another thread maps and unmaps memory
 *   sigbus   COUNT pages behind the end of the file
 *   direct   COUNT reads of 8 KiB with O_DIRECT at random places
 *   read     COUNT reads of 4 KiB through the page cache, in order
 * The page cache is emptied of the file first, but for "warm-WAY".
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIRECT_BYTES  8192u
#define SYS_CACHESTAT 451 /* of every architecture */

static volatile char *map;
static size_t pages, page_bytes, count;
static unsigned char *touched; /* by page */
static unsigned long long state = 0x9e3779b97f4a7c15ull, sum;
static sigjmp_buf after_fault;

static void die(const char *what)
{
	fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
	exit(1);
}

static size_t random_below(size_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (size_t)(state >> 33) % n;
}

static void load(size_t at)
{
	sum += *(volatile unsigned long long *)(map + at);
	touched[at / page_bytes] = 1;
}

static void *load_all(void *arg)
{
	size_t i;

	(void)arg;
	for (i = 0; i < count; i++)
		(void)map[i * page_bytes];
	return NULL;
}

static volatile bool is_busy, is_done;

static void *map_and_unmap(void *arg)
{
	while (!is_done) {
		void *m = mmap(NULL, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (m == MAP_FAILED || munmap(m, page_bytes))
			die("mmap");
		is_busy = true;
	}
	return arg;
}

/* Its own faults are behind it when it is busy. */
static pthread_t start_mapping(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, map_and_unmap, NULL))
		die("pthread_create");
	while (!is_busy)
		usleep(1000);
	return other;
}

static void on_sigbus(int sig)
{
	(void)sig;
	siglongjmp(after_fault, 1);
}

static size_t behind_the_end(void)
{
	struct sigaction sa = { .sa_handler = on_sigbus };
	volatile size_t i, caught = 0;

	sigaction(SIGBUS, &sa, NULL);
	for (i = 0; i < count; i++) {
		if (sigsetjmp(after_fault, 1))
			caught++;
		else
			(void)map[(pages + i) * page_bytes];
	}
	return caught;
}

static void read_direct(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECT);
	void *buf = NULL;
	size_t i, at;

	if (fd < 0 || posix_memalign(&buf, page_bytes, DIRECT_BYTES))
		die("cannot read directly");
	for (i = 0; i < count; i++) {
		at = random_below(pages - 1);
		if (pread(fd, buf, DIRECT_BYTES, (off_t)(at * page_bytes)) != DIRECT_BYTES)
			die("direct read");
		touched[at] = touched[at + 1] = 1;
	}
	close(fd);
	free(buf);
}

static void read_cached(int fd)
{
	static char buf[4096];
	size_t i;

	for (i = 0; i < count; i++)
		if (pread(fd, buf, sizeof(buf), (off_t)(i * sizeof(buf))) != sizeof(buf))
			die("read");
}

static size_t resident(void)
{
	unsigned char *in = calloc(1, pages);
	size_t i, n = 0;

	if (!in || mincore((void *)map, pages * page_bytes, in))
		die("mincore");
	for (i = 0; i < pages; i++)
		n += in[i] & 1;
	free(in);
	return n;
}

/*
 * Pages in the page cache, those that are still being read as well, and pages
 * that left it for want of memory: cachestat(2), since Linux 6.5.
 */
static bool cached(int fd, size_t *n, size_t *evicted)
{
	struct {
		uint64_t from, bytes;
	} range = { 0, pages * page_bytes };
	uint64_t cache[5]; /* pages: there, dirty, being written, evicted, of these lately */

	if (syscall(SYS_CACHESTAT, fd, &range, cache, 0))
		return false;
	*n = cache[0];
	*evicted = cache[3];
	return true;
}

/*
 * Pages of any file on the machine that came in once more so far, after they
 * left for want of memory, or because someone emptied the whole page cache,
 * which may have been all of them.
 */
static size_t come_again(void)
{
	unsigned long long refaulted = 0, dropped = 0;
	FILE *f = fopen("/proc/sys/vm/stat_refresh", "w");
	char line[128];

	/* What each processor has not told yet is added. */
	if (f) {
		fputs("1\n", f);
		fclose(f);
	}
	f = fopen("/proc/vmstat", "r");
	while (f && fgets(line, sizeof(line), f))
		(void)(sscanf(line, "workingset_refault_file %llu", &refaulted) ||
		       sscanf(line, "drop_pagecache %llu", &dropped));
	if (f)
		fclose(f);
	return refaulted + dropped * pages;
}

/* Pages that are on their way come in first: nothing came for a fifth of a second, since a drive may be slow. */
static size_t settled(int fd, size_t *evicted)
{
	size_t n = resident(), before;
	int still;

	for (still = 0; still < 10; still = n == before ? still + 1 : 0) {
		before = n;
		usleep(20000);
		n = resident();
	}
	cached(fd, &n, evicted);
	return n;
}

/* The page cache of the file; what another CPU is still busy with goes the next time. */
static void empty(int fd)
{
	int tries = 200;

	do {
		if (!tries--)
			die("the page cache keeps pages of the file");
		if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
			die("posix_fadvise");
	} while (resident() && !usleep(10000));
}

static void run(const char *path, const char *way, int fd)
{
	pthread_t other;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!strcmp(way, "seq") || !strcmp(way, "beside")) {
			load(i * page_bytes);
		} else if (!strcmp(way, "write")) {
			size_t at = random_below(pages);

			map[at * page_bytes] = 1;
			touched[at] = 1;
		} else if (!strcmp(way, "rand") || !strcmp(way, "advised")) {
			load(random_below(pages * page_bytes / 8) * 8);
		} else {
			break;
		}
	}
	if (!strcmp(way, "threads")) {
		if (pthread_create(&other, NULL, load_all, NULL))
			die("pthread_create");
		load_all(NULL);
		pthread_join(other, NULL);
		memset(touched, 1, count);
	} else if (!strcmp(way, "direct")) {
		read_direct(path);
	} else if (!strcmp(way, "read")) {
		read_cached(fd);
	}
}

int main(int argc, char **argv)
{
	struct rusage a, b;
	pthread_t other = 0;
	const char *way;
	size_t i, distinct = 0, caught = 0, extra, again, there, evicted = 0;
	struct stat st;
	bool warm;
	int fd;

	if (argc != 4)
		return 2;
	warm = !strncmp(argv[2], "warm-", 5);
	way = argv[2] + (warm ? 5 : 0);
	count = strtoul(argv[3], NULL, 10);
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		die(argv[1]);
	pages = (size_t)st.st_size / page_bytes;
	extra = strcmp(way, "sigbus") ? 0 : count;
	touched = calloc(1, pages + 1);
	/* The table is touched before, so that its own faults are not counted. */
	if (!touched)
		die("calloc");
	memset(touched, 0xff, pages + 1);
	memset(touched, 0, pages + 1);
	fsync(fd);
	map = mmap(NULL, (pages + extra) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap");
	if (!warm)
		empty(fd);
	if (!strcmp(way, "advised") && madvise((void *)map, pages * page_bytes, MADV_RANDOM))
		die("madvise");
	again = come_again();
	if (!strcmp(way, "beside"))
		other = start_mapping();
	getrusage(RUSAGE_SELF, &a);
	if (extra)
		caught = behind_the_end();
	else
		run(argv[1], way, fd);
	getrusage(RUSAGE_SELF, &b);
	is_done = true;
	if (other)
		pthread_join(other, NULL);
	for (i = 0; i < pages; i++)
		distinct += touched[i];
	there = settled(fd, &evicted);
	printf("{\"count\":%zu,\"distinct\":%zu,\"minor\":%ld,\"major\":%ld,\"resident\":%zu,\"evicted\":%zu,\"again\":%zu,"
	       "\"caught\":%zu,\"sum\":%llu}\n",
	       count, distinct, b.ru_minflt - a.ru_minflt, b.ru_majflt - a.ru_majflt, there, evicted,
	       come_again() - again, caught, sum);
	return 0;
}
