// SPDX-License-Identifier: Apache-2.0
/* The io_uring tracer: see iouring.bpf.c. */
#include <errno.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "trace/file_shared.h"
#include "trace/files.h"
#include "trace/tracer.h"
/* The skeleton needs the types of the shared header. */
#include "trace/iouring_shared.h"

#include "trace/iouring.skel.h"

enum { F_REQUESTS, F_PUNTED, F_OVERFLOW, N_FACILITIES };

static const char *missing(const struct probe *p)
{
	if (probe_has_tracepoint(p, "io_uring_complete") &&
	    (probe_has_tracepoint(p, "io_uring_submit_req") || probe_has_tracepoint(p, "io_uring_submit_sqe")))
		return NULL;
	return "this kernel has no io_uring tracepoints (CONFIG_IO_URING)";
}

static void choose(struct tracer *t, const struct trace_options *o, const struct probe *p)
{
	struct facility *f = t->facility;
	bool newer = probe_has_tracepoint(p, "io_uring_submit_req");

	f[F_REQUESTS] = (struct facility){ .name = "requests",
					   .hook = newer ? "tp_btf/io_uring_submit_req + io_uring_complete"
							 : "tp_btf/io_uring_submit_sqe + io_uring_complete",
					   .on = true };
	f[F_PUNTED] = (struct facility){ .name = "punted", .hook = "tp_btf/io_uring_queue_async_work", .on = true };
	f[F_OVERFLOW] = (struct facility){ .name = "cq_overflow", .hook = "tp_btf/io_uring_cqe_overflow", .on = true };
	if (!probe_has_tracepoint(p, "io_uring_queue_async_work"))
		facility_off(&f[F_PUNTED], "not in this kernel");
	if (!probe_has_tracepoint(p, "io_uring_cqe_overflow"))
		facility_off(&f[F_OVERFLOW], "not in this kernel");
	else if (!o->cq_overflow || o->witnesses & TRACE_NVME)
		facility_off(&f[F_OVERFLOW], "not asked for");
	t->n_facilities = N_FACILITIES;
	t->variant = newer;
}

static int open_bpf(struct tracer *t, const struct trace_options *o)
{
	struct iouring_bpf *b = iouring_bpf__open();
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
				       .record_bytes = sizeof(struct ev_uring),
				       .empty = b->progs.empty_batch };
	for (i = 0; i < ARRAY_SIZE(o->requests); i++)
		b->rodata->uc.opcode[i] = o->by_op ? o->requests[i] : UINT64_MAX;
	b->rodata->uc.min_bytes = o->min_bytes;
	b->rodata->uc.max_bytes = o->max_bytes ? o->max_bytes : UINT64_MAX;
	bpf_program__set_autoload(b->progs.submit_req, t->variant);
	bpf_program__set_autoload(b->progs.submit_sqe, !t->variant);
	bpf_program__set_autoload(b->progs.punted, t->facility[F_PUNTED].on);
	bpf_program__set_autoload(b->progs.cqe_overflow, t->facility[F_OVERFLOW].on);
	return 0;
}

static bool give_up(struct tracer *t, const char *why)
{
	struct facility *f = t->facility;

	if (!f[F_PUNTED].on && !f[F_OVERFLOW].on)
		return false;
	if (f[F_PUNTED].on)
		facility_off(&f[F_PUNTED], why);
	if (f[F_OVERFLOW].on)
		facility_off(&f[F_OVERFLOW], why);
	return true;
}

/* Completions first, so that no request can be seen without its end. */
static int attach(struct tracer *t)
{
	struct iouring_bpf *b = t->bpf;
	int ret = tracer_attach(b->progs.complete, &b->links.complete);

	if (!ret)
		ret = tracer_attach(b->progs.gone, &b->links.gone);
	if (!ret)
		ret = tracer_attach(b->progs.exec, &b->links.exec);
	if (!ret)
		ret = tracer_attach(b->progs.renamed, &b->links.renamed);
	tracer_attach_optional(&t->facility[F_PUNTED], b->progs.punted, &b->links.punted, NULL, NULL);
	tracer_attach_optional(&t->facility[F_OVERFLOW], b->progs.cqe_overflow, &b->links.cqe_overflow, NULL, NULL);
	if (ret)
		return ret;
	if (t->variant)
		return tracer_attach(b->progs.submit_req, &b->links.submit_req);
	return tracer_attach(b->progs.submit_sqe, &b->links.submit_sqe);
}

static void detach(struct tracer *t)
{
	struct iouring_bpf *b = t->bpf;

	bpf_link__destroy(b->links.submit_req);
	bpf_link__destroy(b->links.submit_sqe);
	b->links.submit_req = b->links.submit_sqe = NULL;
}

static s64 in_flight(const struct tracer *t, u64 min_age_ns, trace_fn fn, void *arg)
{
	const struct iouring_bpf *b = t->bpf;
	u64 now = clock_ns(CLOCK_MONOTONIC);
	s64 n = 0;
	u32 i;

	for (i = 0; i < URING_SLOTS; i++) {
		struct ev_uring e;
		int ret;

		if (!__atomic_load_n(&b->bss->under_way.key[i], __ATOMIC_ACQUIRE))
			continue;
		e = b->bss->under_way.ev[i];
		if (e.kind != EV_URING || now - MIN(e.ts_ns, now) < min_age_ns)
			continue;
		e.flags |= URING_UNFINISHED;
		e.lat_ns = now - MIN(e.ts_ns, now);
		ret = fn(arg, &e, sizeof(e));
		if (ret)
			return ret < 0 ? ret : -ECANCELED;
		n++;
	}
	return n;
}

static bool busy(const struct tracer *t)
{
	const struct iouring_bpf *b = t->bpf;
	u32 i;

	for (i = 0; i < URING_SLOTS; i++)
		if (__atomic_load_n(&b->bss->under_way.key[i], __ATOMIC_RELAXED))
			return true;
	return false;
}

static int one_request(struct tracer *t, const struct ev_uring *e, trace_fn fn, void *arg)
{
	int ret = 0;

	/* An index of a registered file says nothing to others. */
	if (e->flags & URING_FILE)
		ret = files_met(t->files, e->dev, e->ino, e->tid, e->sqe_flags & 1 ? -1 : e->fd, e->ts_ns, fn, arg);
	if (!ret && !files_wanted(t->files, e->flags & URING_FILE, e->dev, e->ino)) {
		t->taken.unwanted++;
		return 0;
	}
	return ret ? ret : fn(arg, e, sizeof(*e));
}

static int deliver(struct tracer *t, const void *record, size_t size, trace_fn fn, void *arg)
{
	const struct ev_uring *e = record;
	int ret = 0;

	if (e->kind == RAW_PATH)
		return files_path(t->files, record, fn, arg);
	for (; size >= sizeof(*e) && !ret; size -= sizeof(*e))
		ret = one_request(t, e++, fn, arg);
	return ret;
}

static void destroy(struct tracer *t)
{
	iouring_bpf__destroy(t->bpf);
}

const struct tracer_ops iouring_tracer = {
	.name = "iouring",
	.witness = EV_WITNESS_URING,
	.missing = missing,
	.choose = choose,
	.open = open_bpf,
	.give_up = give_up,
	.attach = attach,
	.detach = detach,
	.stored = { EV_URING, EV_CQ_OVERFLOW },
	.kinds = { EV_URING, RAW_PATH },
	.deliver = deliver,
	.in_flight = in_flight,
	.busy = busy,
	.destroy = destroy,
};
