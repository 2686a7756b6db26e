// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/shared.h"

struct rings {
	struct ring_buffer *rb;
	int (*fn)(void *arg, const void *record, size_t size);
	void *arg;
	u32 left; /* of the budget */
	u32 n;
	int fd[];
};

u32 rings_count(void)
{
	int cpus = libbpf_num_possible_cpus();

	return cpus > 0 ? (u32)(cpus + CPUS_PER_RING - 1) / CPUS_PER_RING : 1;
}

u64 ring_size(u64 bytes)
{
	u64 size = (u64)sysconf(_SC_PAGESIZE);

	while (size < bytes && size < 1ull << 30)
		size *= 2;
	return size;
}

static int on_record(void *arg, void *record, size_t size)
{
	struct rings *r = arg;
	int ret = r->fn(r->arg, record, size);

	if (ret)
		return ret < 0 ? ret : -ECANCELED;
	/* libbpf counts this record as consumed even though it stops here. */
	return --r->left ? 0 : -EINTR;
}

/* The ring of group i: the only one is there. */
static int ring_of(u32 i, int map_fd, u64 bytes)
{
	int fd, ret;

	if (rings_count() == 1) {
		fd = fcntl(map_fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "events", 0, 0, (u32)bytes, NULL);
	ret = fd < 0 ? 0 : bpf_map_update_elem(map_fd, &i, &fd, BPF_ANY);
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

static int add_ring(struct rings *r, int map_fd, u32 i, u64 bytes)
{
	r->fd[i] = ring_of(i, map_fd, bytes);
	if (r->fd[i] < 0)
		return r->fd[i];
	if (r->rb)
		return ring_buffer__add(r->rb, r->fd[i], on_record, r);
	r->rb = ring_buffer__new(r->fd[i], on_record, r, NULL);
	return r->rb ? 0 : -errno;
}

int rings_open(struct rings **out, int map_fd, u64 bytes_each, int (*fn)(void *arg, const void *record, size_t size),
	       void *arg)
{
	u32 n = rings_count(), i;
	struct rings *r = calloc(1, sizeof(*r) + n * sizeof(r->fd[0]));
	int ret = 0;

	if (!r)
		return -ENOMEM;
	r->fn = fn;
	r->arg = arg;
	r->n = n;
	for (i = 0; i < n; i++)
		r->fd[i] = -1;
	for (i = 0; i < n && !ret; i++)
		ret = add_ring(r, map_fd, i, ring_size(bytes_each));
	if (ret)
		rings_close(r);
	else
		*out = r;
	return ret;
}

void rings_touch(struct rings *r, int prog_fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU);
	u32 i;

	for (i = 0; i < r->n; i++) {
		opts.cpu = i * CPUS_PER_RING;
		while (!bpf_prog_test_run_opts(prog_fd, &opts) && opts.retval == TOUCH_PAGES)
			;
	}
	/* All of it was discarded, so there is nothing to deliver. */
	ring_buffer__consume(r->rb);
}

int rings_consume(struct rings *r, int timeout_ms, u32 budget)
{
	int ret;

	r->left = budget;
	/* Records below the wake-up threshold do not wake epoll, so look first. */
	ret = ring_buffer__consume(r->rb);
	if (ret == 0 && timeout_ms)
		ret = ring_buffer__poll(r->rb, timeout_ms);
	if (ret == -EINTR)
		return r->left ? 0 : 1;
	return ret < 0 ? ret : 0;
}

void rings_close(struct rings *r)
{
	u32 i;

	if (!r)
		return;
	ring_buffer__free(r->rb);
	for (i = 0; i < r->n; i++)
		if (r->fd[i] >= 0)
			close(r->fd[i]);
	free(r);
}
