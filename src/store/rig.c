// SPDX-License-Identifier: Apache-2.0
#include "store/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/str.h"

#define FILE_BYTES (8ull << 30) /* a new file, unless told; it is sparse */
#define SOFT_XFER  131072u

int load_path_parse(const char *word, enum load_path *path, u32 *n)
{
	static const struct {
		const char *name;
		enum load_path path;
	} counted[] = { { "parallel:", PATH_PARALLEL }, { "multi-ring:", PATH_MULTI_RING } };
	u64 v;
	size_t i;

	*n = 1;
	if (!strcmp(word, "serial") || !strcmp(word, "batched")) {
		*path = word[0] == 's' ? PATH_SERIAL : PATH_BATCHED;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(counted); i++)
		if (str_starts(word, counted[i].name)) {
			*path = counted[i].path;
			if (str_u64(word + strlen(counted[i].name), &v) || !v || v > LOAD_PATH_MAX)
				return -EINVAL;
			*n = (u32)v;
			return 0;
		}
	return -EINVAL;
}

/* ---- layout ---- */

static int choose_xfer(struct rig *r, char *why)
{
	const struct rig_options *o = &r->o;
	u64 align = o->block_align, want = o->max_xfer;

	r->limit = 0;
	r->bound = "max_xfer";
	if (o->engine == IO_URING_CMD)
		r->limit = nvme_max_transfer(&r->guard.ns, r->huge ? IO_HUGE_BYTES : 4096, &r->bound);
	if (!want)
		want = r->limit ? r->limit : SOFT_XFER;
	else if (r->limit && want > r->limit && !o->over_limit)
		want = r->limit;
	else
		r->bound = "max_xfer";
	r->xfer = MAX(want / align, 1ull) * align;
	if (o->max_xfer % align) {
		snprintf(why, GUARD_WHY, "commands of %llu bytes are no multiple of the alignment, %llu",
			 ULL(o->max_xfer), ULL(align));
		return -EINVAL;
	}
	if (r->xfer / r->guard.lba_bytes > 65536 || r->xfer > UINT32_MAX / 2) {
		snprintf(why, GUARD_WHY, "commands of %llu bytes are more than 65536 blocks of %u, or 2 GiB",
			 ULL(r->xfer), r->guard.lba_bytes);
		return -EINVAL;
	}
	return 0;
}

static int choose_layout(struct rig *r, struct kv_layout *l, char *why)
{
	const struct rig_options *o = &r->o;
	u64 slot = o->slot_bytes, need;
	char text[KV_WHY];
	int ret;

	if (o->block_align % r->guard.lba_bytes) {
		snprintf(why, GUARD_WHY, "block_align %llu is no multiple of the %u-byte block of %s",
			 ULL(o->block_align), r->guard.lba_bytes, r->guard.name);
		return -EINVAL;
	}
	ret = kv_slot_bytes(o->payload_bytes, o->header_bytes, o->block_align, &need);
	if (!ret && !slot) {
		ret = kv_slot_bytes(o->payload_bytes, o->header_bytes, 1 << 20, &slot);
		if (!ret)
			ret = kv_round_up(slot, o->block_align, &slot);
	}
	if (ret || slot < need) {
		snprintf(why, GUARD_WHY, "an object of %llu bytes does not fit a slot of %llu", ULL(o->payload_bytes),
			 ULL(slot));
		return -EINVAL;
	}
	*l = (struct kv_layout){
		.meta_bytes = o->meta_bytes,
		.block_align = o->block_align,
		.header_bytes = o->header_bytes,
		.slot_bytes = slot,
		.capacity_bytes = o->capacity_bytes ? MIN(o->capacity_bytes, r->guard.capacity) : r->guard.capacity,
	};
	ret = kv_layout_make(l, text);
	if (ret)
		snprintf(why, GUARD_WHY, "%s (capacity %llu, slots of %llu)", text, ULL(l->capacity_bytes), ULL(slot));
	return ret;
}

/* ---- memory ---- */

static int make_buffers(struct rig *r, char *why)
{
	u64 most = MIN((u64)r->o.batch, (u64)IO_MAX_DEPTH);
	int ret = store_mem_bytes(&r->store, r->o.payload_bytes, &r->stride);

	if (!ret)
		ret = kv_round_up(r->stride, 4096, &r->stride);
	if (ret || r->stride > SIZE_MAX / (most + 1)) {
		snprintf(why, GUARD_WHY, "objects of %llu bytes are too large", ULL(r->o.payload_bytes));
		return -EOVERFLOW;
	}
	r->n_buffers = (u32)MAX(MIN(r->o.memory_bytes / r->stride, most), 1ull);
	r->huge = r->o.huge_pages;
	r->arena = io_buffer_alloc(r->n_buffers * r->stride, &r->huge);
	if (r->arena)
		return 0;
	snprintf(why, GUARD_WHY, "no memory for %u buffers of %llu bytes", r->n_buffers, ULL(r->stride));
	return -ENOMEM;
}

/* ---- queues ---- */

/* What the kernel registers at most, in number and each. */
#define MAX_REGISTERED	     16384u
#define MAX_REGISTERED_BYTES (1ull << 30)

/*
 * A buffer for each command, or none when these are too many.  An object has
 * its header at the front, then its payload; both are cut into commands.
 */
static int list_buffers(const struct rig *r, struct iovec **iov, u32 *n)
{
	u64 header = r->o.header_bytes, whole = 0, each, at;
	u32 i, k = 0;

	*n = 0;
	if (store_mem_bytes(&r->store, r->o.payload_bytes, &whole))
		return -EOVERFLOW;
	each = (header - 1) / r->xfer + 1 + (whole - header - 1) / r->xfer + 1;
	if (each > MAX_REGISTERED / r->n_buffers || r->xfer > MAX_REGISTERED_BYTES)
		return 0;
	*iov = calloc(each * r->n_buffers, sizeof(**iov));
	if (!*iov)
		return -ENOMEM;
	for (i = 0; i < r->n_buffers; i++)
		for (at = 0; at < whole; k++) {
			u64 left = (at < header ? header : whole) - at;

			(*iov)[k] = (struct iovec){ rig_mem(r, i) + at, MIN(left, r->xfer) };
			at += (*iov)[k].iov_len;
		}
	*n = k;
	return 0;
}

static int open_queue(struct rig_worker *w)
{
	const struct rig *r = w->rig;
	const struct io_target t = {
		.fd = r->guard.fd,
		.nsid = r->guard.ns.nsid,
		.lba_bytes = r->guard.lba_bytes,
		.capacity = r->guard.capacity,
	};
	struct io_options o = { .kind = r->o.engine, .depth = r->o.depth };
	struct iovec *iov = NULL;
	int ret;

	if (!r->o.no_fixed_buffers && r->o.engine != IO_POSIX) {
		ret = list_buffers(r, &iov, &o.n_buffers);
		if (ret)
			return ret;
		o.buffer = iov;
	}
	ret = io_queue_open(&w->q, &t, &o);
	free(iov);
	return ret;
}

static void work(struct rig_worker *w)
{
	struct rig *r = w->rig;

	w->ret = batch_run(w->q, r->ops, r->n_ops, w->number, r->n_workers, &r->how, &w->sums, r->stop);
}

/* A ring belongs to the thread that opens it. */
static void *worker_main(void *arg)
{
	struct rig_worker *w = arg;
	struct rig *r = w->rig;

	w->ret = open_queue(w);
	pthread_barrier_wait(&r->end);
	for (;;) {
		pthread_barrier_wait(&r->begin);
		if (r->quit)
			break;
		work(w);
		pthread_barrier_wait(&r->end);
	}
	io_queue_close(w->q);
	return NULL;
}

static const char *ring_error(int ret)
{
	if (ret == -EINVAL)
		return "this kernel's io_uring has no 128-byte entries: passthrough needs Linux 5.19";
	if (ret == -EPERM)
		return "io_uring is switched off here (kernel.io_uring_disabled, or a seccomp filter)";
	if (ret == -ENOSYS)
		return "this kernel has no io_uring: --engine posix does without";
	return strerror(-ret);
}

static int open_queues(struct rig *r, char *why)
{
	u32 i;
	int ret = 0;

	r->n_workers = r->o.path == PATH_MULTI_RING ? r->o.path_n : 1;
	r->worker = calloc(r->n_workers, sizeof(*r->worker));
	if (!r->worker || pthread_barrier_init(&r->begin, NULL, r->n_workers))
		return -ENOMEM;
	if (pthread_barrier_init(&r->end, NULL, r->n_workers)) {
		pthread_barrier_destroy(&r->begin);
		return -ENOMEM;
	}
	r->barriers = true;
	for (i = 0; i < r->n_workers; i++)
		r->worker[i] = (struct rig_worker){ .rig = r, .number = i };
	for (i = 1; i < r->n_workers; i++) {
		ret = -pthread_create(&r->worker[i].thread, NULL, worker_main, &r->worker[i]);
		if (ret) {
			/* Those that run wait for the others for ever. */
			snprintf(why, GUARD_WHY, "cannot start %u threads: %s", r->n_workers, strerror(-ret));
			r->n_workers = i;
			return ret;
		}
		r->worker[i].started = true;
	}
	r->worker[0].ret = open_queue(&r->worker[0]);
	if (r->n_workers > 1)
		pthread_barrier_wait(&r->end);
	for (i = 0; i < r->n_workers; i++)
		if (r->worker[i].ret) {
			snprintf(why, GUARD_WHY, "%s", ring_error(r->worker[i].ret));
			return r->worker[i].ret;
		}
	return 0;
}

/* ---- the whole ---- */

int rig_open(struct rig *r, const struct rig_options *o, const struct device_roots *roots, char *why)
{
	struct guard_request target = o->target;
	struct store_options s = {
		.timeout_ns = o->timeout_ns,
		.header_last = o->header_last,
		.payload_sum = o->payload_sum,
		.check_header = o->check_header,
	};
	int ret;

	*r = (struct rig){ .o = *o, .guard = { .fd = -1, .claim_fd = -1 } };
	target.passthrough = o->engine == IO_URING_CMD;
	if (!target.file_bytes)
		target.file_bytes = o->capacity_bytes ? o->capacity_bytes : FILE_BYTES;
	ret = guard_open(&r->guard, &target, roots, why);
	if (ret)
		return ret;
	ret = choose_layout(r, &s.layout, why);
	if (ret)
		return ret;
	s.device_path = r->guard.node;
	store_init(&r->store, &s);
	ret = make_buffers(r, why);
	if (!ret)
		ret = choose_xfer(r, why);
	if (ret)
		return ret;
	r->store.o.xfer = r->store.how.xfer = r->xfer;
	ret = open_queues(r, why);
	if (ret == -ENOMEM && !r->barriers)
		snprintf(why, GUARD_WHY, "no memory for queues");
	return ret;
}

void rig_close(struct rig *r)
{
	bool failed_start = false;
	u32 i;

	r->quit = true;
	for (i = 1; i < r->n_workers; i++)
		failed_start |= !r->worker[i].started;
	if (r->barriers && r->n_workers > 1 && !failed_start) {
		pthread_barrier_wait(&r->begin);
		for (i = 1; i < r->n_workers; i++)
			pthread_join(r->worker[i].thread, NULL);
	}
	if (r->worker)
		io_queue_close(r->worker[0].q);
	if (r->barriers) {
		pthread_barrier_destroy(&r->begin);
		pthread_barrier_destroy(&r->end);
	}
	free(r->worker);
	if (!r->wedged)
		io_buffer_free(r->arena, r->n_buffers * r->stride);
	store_free(&r->store);
	/* A file that was made for nothing goes again. */
	if (r->used)
		guard_close(&r->guard);
	else
		guard_discard(&r->guard);
}

int rig_run(struct rig *r, struct batch_op *ops, u32 n, const volatile sig_atomic_t *stop)
{
	u32 i;
	int ret = 0, end;

	if (!n)
		return 0;
	r->used = true;
	r->ops = ops;
	r->n_ops = n;
	r->stop = stop;
	r->how = r->store.how;
	r->how.objects = r->how.window = 0;
	if (ops->op == KV_LOAD && (r->o.path == PATH_SERIAL || r->o.path == PATH_PARALLEL)) {
		r->how.objects = r->o.path == PATH_SERIAL ? 1 : r->o.path_n;
		r->how.window = 1;
	}
	if (r->n_workers > 1)
		pthread_barrier_wait(&r->begin);
	work(&r->worker[0]);
	if (r->n_workers > 1)
		pthread_barrier_wait(&r->end);
	for (i = 0; i < r->n_workers; i++) {
		if (r->worker[i].ret && !ret)
			ret = r->worker[i].ret;
		r->wedged |= io_queue_in_flight(r->worker[i].q) != 0;
	}
	end = store_end(&r->store, ops, n);
	return ret ? ret : end;
}

void rig_sums(const struct rig *r, struct batch_sums *s)
{
	u32 i;

	*s = (struct batch_sums){};
	for (i = 0; i < r->n_workers; i++)
		batch_sums_add(s, &r->worker[i].sums);
}

struct io_state rig_state(const struct rig *r)
{
	struct io_state all = { .fixed_file = true, .fixed_buffers = true };
	u32 i;

	for (i = 0; i < r->n_workers; i++) {
		struct io_state s = io_queue_state(r->worker[i].q);

		all.in_flight += s.in_flight;
		all.resubmitted += s.resubmitted;
		all.fixed_file &= s.fixed_file;
		all.fixed_buffers &= s.fixed_buffers;
		if (s.oldest_ns && (!all.oldest_ns || s.oldest_ns < all.oldest_ns))
			all.oldest_ns = s.oldest_ns;
	}
	return all;
}
