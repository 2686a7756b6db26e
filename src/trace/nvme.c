// SPDX-License-Identifier: Apache-2.0
/* The NVMe tracer: see nvme.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/clock.h"
#include "trace/symbol.h"
#include "trace/tracer.h"
/* The skeleton needs the types of the shared header. */
#include "trace/nvme_shared.h"

#include "trace/nvme.skel.h"

enum { F_COMMANDS, F_ENTRY, F_HEAD_ENTRY, F_OVERFLOW, F_ORIGINS, N_FACILITIES };

static const char *missing(const struct probe *p)
{
	if (probe_has_tracepoint(p, "nvme_setup_cmd") && probe_has_tracepoint(p, "nvme_complete_rq"))
		return NULL;
	return "no NVMe driver in this kernel (no nvme_setup_cmd tracepoint in its BTF): is there an NVMe drive, is nvme_core loaded?";
}

/* Which hooks are asked for and there. */
static void choose(struct tracer *t, const struct trace_options *o, const struct probe *p)
{
	static const char *const hooks[N_FACILITIES] = {
		"tp_btf/nvme_setup_cmd + nvme_complete_rq", "fentry+fexit/nvme_ns_chr_uring_cmd",
		"fentry+fexit/nvme_ns_head_chr_uring_cmd",  "tp_btf/io_uring_cqe_overflow",
		"tp_btf/block_bio_queue + block_split",
	};
	static const char *const names[N_FACILITIES] = { "commands", "entry", "entry_multipath", "cq_overflow",
							 "block_origins" };
	struct facility *f = t->facility;
	size_t i;

	for (i = 0; i < N_FACILITIES; i++)
		f[i] = (struct facility){ .name = names[i], .hook = hooks[i], .on = true };
	if (!o->nvme.entry_probe) {
		facility_off(&f[F_ENTRY], "not asked for");
		facility_off(&f[F_HEAD_ENTRY], "not asked for");
	} else {
		if (!probe_has_func(p, "nvme_ns_chr_uring_cmd"))
			facility_off(&f[F_ENTRY], "not in this kernel");
		if (!probe_has_func(p, "nvme_ns_head_chr_uring_cmd"))
			facility_off(&f[F_HEAD_ENTRY], "not in this kernel");
	}
	if (!o->cq_overflow)
		facility_off(&f[F_OVERFLOW], "not asked for");
	else if (!probe_has_tracepoint(p, "io_uring_cqe_overflow"))
		facility_off(&f[F_OVERFLOW], "not in this kernel");
	if (o->nvme.passthrough_only)
		facility_off(&f[F_ORIGINS], "not asked for");
	else if (!probe_has_tracepoint(p, "block_bio_queue") || !probe_has_tracepoint(p, "block_split"))
		facility_off(&f[F_ORIGINS], "not in this kernel");
	t->n_facilities = N_FACILITIES;
}

static void set_filters(struct nvme_config *cfg, const struct trace_options *o)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cfg->opcode); i++)
		cfg->opcode[i] = o->by_op ? o->nvme.opcode[i] : UINT64_MAX;
	cfg->min_bytes = (u32)MIN(o->min_bytes, (u64)UINT32_MAX);
	cfg->max_bytes = o->max_bytes ? (u32)MIN(o->max_bytes, (u64)UINT32_MAX) : UINT32_MAX;
	cfg->no_admin = o->nvme.no_admin || o->by_op;
	cfg->filter_command = cfg->no_admin || o->min_bytes || o->max_bytes;
	cfg->filter_disk = !!o->nvme.n_disks;
}

static int open_bpf(struct tracer *t, const struct trace_options *o)
{
	const struct facility *f = t->facility;
	struct nvme_bpf *b = nvme_bpf__open();
	struct nvme_config *cfg;
	u32 entries;

	if (!b)
		return -errno;
	t->bpf = b;
	t->obj = b->obj;
	t->skeleton = b->skeleton;
	t->cfg = &b->rodata->cfg;
	t->counters = b->bss->counters;
	bpf_program__set_autoload(b->progs.ns_enter, f[F_ENTRY].on);
	bpf_program__set_autoload(b->progs.ns_leave, f[F_ENTRY].on);
	bpf_program__set_autoload(b->progs.head_enter, f[F_HEAD_ENTRY].on);
	bpf_program__set_autoload(b->progs.head_leave, f[F_HEAD_ENTRY].on);
	bpf_program__set_autoload(b->progs.cqe_overflow, f[F_OVERFLOW].on);
	bpf_program__set_autoload(b->progs.bio_queue, f[F_ORIGINS].on);
	bpf_program__set_autoload(b->progs.bio_split, f[F_ORIGINS].on);

	cfg = &b->rodata->nvme;
	cfg->passthrough_only = o->nvme.passthrough_only;
	cfg->origins = f[F_ORIGINS].on;
	cfg->entry_probe = f[F_ENTRY].on || f[F_HEAD_ENTRY].on;
	cfg->kv = o->nvme.kv;
	cfg->end_io = symbol_address("nvme_uring_cmd_end_io");
	cfg->end_io_meta = symbol_address("nvme_uring_cmd_end_io_meta");
	set_filters(cfg, o);
	entries = MAX(o->nvme.inflight_max, 64u);
	if (bpf_map__set_max_entries(b->maps.inflight, entries) ||
	    bpf_map__set_max_entries(b->maps.entries, cfg->entry_probe ? entries : 1) ||
	    bpf_map__set_max_entries(b->maps.origins, cfg->origins ? 65536 : 1))
		return -EINVAL;
	return 0;
}

static int prepare(struct tracer *t, const struct trace_options *o)
{
	struct nvme_bpf *b = t->bpf;
	u8 yes = 1;
	size_t i;
	int ret = 0;

	for (i = 0; i < o->nvme.n_disks && !ret; i++) {
		char name[32] = "";

		snprintf(name, sizeof(name), "%s", o->nvme.disks[i]);
		ret = bpf_map_update_elem(bpf_map__fd(b->maps.disk_filter), name, &yes, BPF_ANY);
	}
	return ret;
}

static bool give_up(struct tracer *t, const char *why)
{
	struct facility *f = t->facility;

	if (f[F_ENTRY].on || f[F_HEAD_ENTRY].on) {
		facility_off(&f[F_ENTRY], why);
		facility_off(&f[F_HEAD_ENTRY], why);
		return true;
	}
	if (f[F_OVERFLOW].on) {
		facility_off(&f[F_OVERFLOW], why);
		return true;
	}
	return false;
}

static int attach(struct tracer *t)
{
	struct nvme_bpf *b = t->bpf;
	struct facility *f = t->facility;
	int ret;

	/* Completions first, so that no command can be seen without its end. */
	ret = tracer_attach(b->progs.complete_rq, &b->links.complete_rq);
	tracer_attach_optional(&f[F_OVERFLOW], b->progs.cqe_overflow, &b->links.cqe_overflow, NULL, NULL);
	tracer_attach_optional(&f[F_ORIGINS], b->progs.bio_queue, &b->links.bio_queue, b->progs.bio_split,
			       &b->links.bio_split);
	tracer_attach_optional(&f[F_ENTRY], b->progs.ns_leave, &b->links.ns_leave, b->progs.ns_enter,
			       &b->links.ns_enter);
	tracer_attach_optional(&f[F_HEAD_ENTRY], b->progs.head_leave, &b->links.head_leave, b->progs.head_enter,
			       &b->links.head_enter);
	if (!ret)
		ret = tracer_attach(b->progs.setup_cmd, &b->links.setup_cmd);
	return ret;
}

/* New commands first: what is under way may still complete and be stored. */
static void detach(struct tracer *t)
{
	struct nvme_bpf *b = t->bpf;

	bpf_link__destroy(b->links.setup_cmd);
	b->links.setup_cmd = NULL;
}

static s64 in_flight(const struct tracer *t, u64 min_age_ns, trace_fn fn, void *arg)
{
	const struct nvme_bpf *b = t->bpf;
	int fd = bpf_map__fd(b->maps.inflight);
	u64 now = clock_ns(CLOCK_MONOTONIC);
	u64 key, next, *prev = NULL;
	s64 n = 0;

	/* A key that goes away meanwhile restarts the walk: bounded by the map's size. */
	while (!bpf_map_get_next_key(fd, prev, &next)) {
		struct ev_nvme_kv r;
		int ret;

		key = next;
		prev = &key;
		if (bpf_map_lookup_elem(fd, &key, &r) || !r.cmd.kind || now - MIN(r.cmd.ts_ns, now) < min_age_ns)
			continue;
		r.cmd.flags |= NVME_IN_FLIGHT;
		r.cmd.lat_ns = now - MIN(r.cmd.ts_ns, now);
		ret = fn(arg, &r, r.cmd.kind == EV_NVME_KV ? sizeof(r) : sizeof(r.cmd));
		if (ret)
			return ret < 0 ? ret : -ECANCELED;
		n++;
	}
	return n;
}

static bool busy(const struct tracer *t)
{
	const struct nvme_bpf *b = t->bpf;
	int fd = bpf_map__fd(b->maps.inflight);
	u64 key, *prev = NULL;
	struct ev_nvme_kv r;

	while (!bpf_map_get_next_key(fd, prev, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &r) && r.cmd.kind)
			return true;
		prev = &key;
	}
	return false;
}

static void destroy(struct tracer *t)
{
	nvme_bpf__destroy(t->bpf);
}

const struct tracer_ops nvme_tracer = {
	.name = "nvme",
	.witness = EV_WITNESS_NVME,
	.missing = missing,
	.choose = choose,
	.open = open_bpf,
	.prepare = prepare,
	.give_up = give_up,
	.attach = attach,
	.detach = detach,
	.stored = { EV_NVME, EV_NVME_KV, EV_CQ_OVERFLOW },
	.in_flight = in_flight,
	.busy = busy,
	.destroy = destroy,
};
