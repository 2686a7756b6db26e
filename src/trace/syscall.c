// SPDX-License-Identifier: Apache-2.0
/* The system call tracer: see syscall.bpf.c.  Here: which calls there are. */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "trace/file_shared.h"
#include "trace/files.h"
#include "trace/tracer.h"
/* The skeleton needs the types of the shared header. */
#include "trace/syscall_shared.h"

#include "trace/syscall.skel.h"

#define FAILED_SLOTS 4096u

/* A path that could not be opened: the record of the call comes soon, with those of other threads between. */
struct failed {
	u64 ino, ts_ns;
	u32 tid;
};

struct state {
	struct failed failed[FAILED_SLOTS]; /* by thread */
};

static const struct {
	u16 nr;
	struct call_shape shape;
} calls[] = {
	{ SYS_read, { .call = CALL_READ, .fd = 1, .size = 3, .flags = CALL_AT_POSITION } },
	{ SYS_write, { .call = CALL_WRITE, .fd = 1, .size = 3, .flags = CALL_AT_POSITION } },
	{ SYS_pread64, { .call = CALL_PREAD64, .fd = 1, .size = 3, .offset = 4 } },
	{ SYS_pwrite64, { .call = CALL_PWRITE64, .fd = 1, .size = 3, .offset = 4 } },
	{ SYS_readv, { .call = CALL_READV, .fd = 1, .size = 3, .flags = CALL_VECTOR | CALL_AT_POSITION } },
	{ SYS_writev, { .call = CALL_WRITEV, .fd = 1, .size = 3, .flags = CALL_VECTOR | CALL_AT_POSITION } },
	{ SYS_preadv, { .call = CALL_PREADV, .fd = 1, .size = 3, .offset = 4, .flags = CALL_VECTOR } },
	{ SYS_pwritev, { .call = CALL_PWRITEV, .fd = 1, .size = 3, .offset = 4, .flags = CALL_VECTOR } },
	{ SYS_preadv2,
	  { .call = CALL_PREADV2, .fd = 1, .size = 3, .offset = 4, .arg = 6, .flags = CALL_VECTOR | CALL_AT_POSITION } },
	{ SYS_pwritev2,
	  { .call = CALL_PWRITEV2, .fd = 1, .size = 3, .offset = 4, .arg = 6, .flags = CALL_VECTOR | CALL_AT_POSITION } },
#ifdef SYS_open /* not on newer architectures */
	{ SYS_open, { .call = CALL_OPEN, .arg = 2, .fd2 = 3, .flags = CALL_OPENS | CALL_RETURNS_FILE } },
	{ SYS_creat, { .call = CALL_CREAT, .fd2 = 2, .flags = CALL_OPENS | CALL_RETURNS_FILE } },
	{ SYS_dup2, { .call = CALL_DUP2, .fd = 1, .fd2 = 2, .flags = CALL_RETURNS_FILE } },
#endif
	{ SYS_openat, { .call = CALL_OPENAT, .fd = 1, .arg = 3, .fd2 = 4, .flags = CALL_OPENS | CALL_RETURNS_FILE } },
	{ SYS_openat2,
	  { .call = CALL_OPENAT2, .fd = 1, .arg = 3, .flags = CALL_OPENS | CALL_RETURNS_FILE | CALL_HOW } },
	{ SYS_close, { .call = CALL_CLOSE, .fd = 1, .flags = CALL_CLOSES } },
	{ SYS_dup, { .call = CALL_DUP, .fd = 1, .flags = CALL_RETURNS_FILE } },
	{ SYS_dup3, { .call = CALL_DUP3, .fd = 1, .arg = 3, .fd2 = 2, .flags = CALL_RETURNS_FILE } },
	{ SYS_lseek, { .call = CALL_LSEEK, .fd = 1, .offset = 2, .arg = 3 } },
	{ SYS_fsync, { .call = CALL_FSYNC, .fd = 1 } },
	{ SYS_fdatasync, { .call = CALL_FDATASYNC, .fd = 1 } },
	{ SYS_sync_file_range, { .call = CALL_SYNC_FILE_RANGE, .fd = 1, .offset = 2, .size = 3, .arg = 4 } },
	{ SYS_fallocate, { .call = CALL_FALLOCATE, .fd = 1, .arg = 2, .offset = 3, .size = 4 } },
	{ SYS_mmap, { .call = CALL_MMAP, .fd = 5, .offset = 6, .size = 2, .arg = 4, .fd2 = 3 } },
	{ SYS_munmap, { .call = CALL_MUNMAP, .offset = 1, .size = 2 } },
	{ SYS_msync, { .call = CALL_MSYNC, .offset = 1, .size = 2, .arg = 3 } },
	{ SYS_copy_file_range,
	  { .call = CALL_COPY_FILE_RANGE,
	    .fd = 1,
	    .offset = 2,
	    .fd2 = 3,
	    .size = 5,
	    .arg = 6,
	    .flags = CALL_OFFSET_AT | CALL_AT_POSITION } },
	{ SYS_sendfile,
	  { .call = CALL_SENDFILE,
	    .fd2 = 1,
	    .fd = 2,
	    .offset = 3,
	    .size = 4,
	    .flags = CALL_OFFSET_AT | CALL_AT_POSITION } },
	{ SYS_io_uring_enter, { .call = CALL_IO_URING_ENTER, .fd = 1, .size = 2, .fd2 = 3, .arg = 4 } },
};

static const char *missing(const struct probe *p)
{
	if (probe_has_tracepoint(p, "sys_enter") && probe_has_tracepoint(p, "sys_exit"))
		return NULL;
	return "this kernel has no system call tracepoints (CONFIG_FTRACE_SYSCALLS)";
}

static void choose(struct tracer *t, const struct trace_options *o, const struct probe *p)
{
	(void)o;
	(void)p;
	t->facility[0] = (struct facility){ .name = "syscalls", .hook = "tp_btf/sys_enter + sys_exit", .on = true };
	t->n_facilities = 1;
}

static int open_bpf(struct tracer *t, const struct trace_options *o)
{
	struct syscall_bpf *b = syscall_bpf__open();
	size_t i;

	if (!b)
		return -errno;
	t->bpf = b;
	t->obj = b->obj;
	t->skeleton = b->skeleton;
	t->cfg = &b->rodata->cfg;
	t->counters = b->bss->counters;
	t->batches = (struct batches){ .first = b->bss->batches,
				       .bytes = sizeof(b->bss->batches[0]),
				       .record_bytes = sizeof(struct ev_syscall),
				       .empty = b->progs.empty_batch };
	b->rodata->sc.min_bytes = o->min_bytes;
	b->rodata->sc.max_bytes = o->max_bytes ? o->max_bytes : UINT64_MAX;
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		struct call_shape *shape = &b->rodata->sc.shape[calls[i].nr];

		if (calls[i].nr >= MAX_CALL_NR)
			continue;
		*shape = calls[i].shape;
		if (o->by_op && !(o->calls >> shape->call & 1))
			shape->flags |= CALL_UNWANTED;
	}
	return 0;
}

static int prepare(struct tracer *t, const struct trace_options *o)
{
	(void)o;
	t->state = calloc(1, sizeof(struct state));
	return t->state ? 0 : -ENOMEM;
}

/* Exits first, so that no call can be entered without its end. */
static int attach(struct tracer *t)
{
	struct syscall_bpf *b = t->bpf;
	int ret = tracer_attach(b->progs.leave, &b->links.leave);

	if (!ret)
		ret = tracer_attach(b->progs.gone, &b->links.gone);
	if (!ret)
		ret = tracer_attach(b->progs.exec, &b->links.exec);
	if (!ret)
		ret = tracer_attach(b->progs.renamed, &b->links.renamed);
	return ret ? ret : tracer_attach(b->progs.enter, &b->links.enter);
}

/* ---- records ---- */

static struct failed *failed_of(const struct tracer *t, u32 tid)
{
	return &((struct state *)t->state)->failed[tid & (FAILED_SLOTS - 1)];
}

static int failed(const struct tracer *t, const struct raw_failed *o, trace_fn fn, void *arg)
{
	struct failed *f = failed_of(t, o->tid);

	f->ts_ns = o->ts_ns;
	f->tid = o->tid;
	return files_failed(t->files, o, &f->ino, fn, arg);
}

/* The descriptor that stands for the file of the call. */
static s32 fd_of(const struct ev_syscall *c)
{
	return c->call == CALL_DUP || c->call == CALL_DUP2 || c->call == CALL_DUP3 ? (s32)c->ret : c->fd;
}

static int one_call(struct tracer *t, const struct ev_syscall *c, trace_fn fn, void *arg)
{
	const struct failed *f = failed_of(t, c->tid);
	struct ev_syscall copy;
	int ret = 0;

	if (c->flags & SYSCALL_FILE)
		ret = files_met(t->files, c->dev, c->ino, c->tid, fd_of(c), c->ts_ns, fn, arg);
	if (c->ret < 0 && f->ts_ns == c->ts_ns && f->tid == c->tid) {
		copy = *c;
		copy.flags |= SYSCALL_FILE;
		copy.dev = EV_DEV_NO_FILE;
		copy.ino = f->ino;
		c = &copy;
	}
	if (!ret && !files_wanted(t->files, c->flags & SYSCALL_FILE, c->dev, c->ino)) {
		t->taken.unwanted++;
		return 0;
	}
	return ret ? ret : fn(arg, c, sizeof(*c));
}

static int calls_of(struct tracer *t, const struct ev_syscall *c, size_t n, trace_fn fn, void *arg)
{
	int ret = 0;

	for (; n && !ret; n--)
		ret = one_call(t, c++, fn, arg);
	return ret;
}

static int deliver(struct tracer *t, const void *record, size_t size, trace_fn fn, void *arg)
{
	const struct ev_syscall *c = record;

	if (c->kind == RAW_FAILED)
		return failed(t, record, fn, arg);
	if (c->kind == RAW_PATH)
		return files_path(t->files, record, fn, arg);
	return calls_of(t, c, size / sizeof(*c), fn, arg);
}

static void destroy(struct tracer *t)
{
	free(t->state);
	t->state = NULL;
	syscall_bpf__destroy(t->bpf);
}

const struct tracer_ops syscall_tracer = {
	.name = "syscall",
	.witness = EV_WITNESS_SYSCALL,
	.missing = missing,
	.choose = choose,
	.open = open_bpf,
	.prepare = prepare,
	.attach = attach,
	.stored = { EV_SYSCALL },
	.kinds = { EV_SYSCALL, RAW_FAILED, RAW_PATH },
	.deliver = deliver,
	.destroy = destroy,
};
