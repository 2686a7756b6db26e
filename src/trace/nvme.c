// SPDX-License-Identifier: Apache-2.0
#include "trace/nvme.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "trace/ring.h"
/* The skeleton needs the types of the shared header. */
#include "trace/nvme_shared.h"

#include "trace/nvme.skel.h"

/* Records delivered in one go before ticks and signals get their turn. */
#define BUDGET 65536u

enum { F_COMMANDS, F_ENTRY, F_HEAD_ENTRY, F_OVERFLOW, F_FOLLOW, N_FACILITIES };

struct nvme_trace {
	struct nvme_bpf *bpf;
	struct rings *rings;
	struct facility facility[N_FACILITIES];
	bool can_cast, can_cast_nvme; /* see nvme.bpf.c */
	size_t n_facilities;
};

static char log_text[65536];
static size_t log_n;

const char *nvme_trace_log(void)
{
	return log_text;
}

/* libbpf talks a lot when a load fails; the user gets one line, and this with -v. */
static int keep_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	int n;

	if (level == LIBBPF_DEBUG || log_n >= sizeof(log_text) - 1)
		return 0;
	n = vsnprintf(log_text + log_n, sizeof(log_text) - log_n, fmt, ap);
	if (n > 0)
		log_n = MIN(log_n + (size_t)n, sizeof(log_text) - 1);
	return 0;
}

static void off(struct facility *f, const char *why)
{
	f->on = false;
	snprintf(f->why, sizeof(f->why), "%s", why);
}

/* Which hooks are asked for and there. */
static void choose(struct nvme_trace *t, const struct nvme_trace_options *o, const struct probe *p)
{
	static const char *const hooks[N_FACILITIES] = {
		"tp_btf/nvme_setup_cmd + nvme_complete_rq", "fentry+fexit/nvme_ns_chr_uring_cmd",
		"fentry+fexit/nvme_ns_head_chr_uring_cmd",  "tp_btf/io_uring_cqe_overflow",
		"tp_btf/sched_process_fork + exit",
	};
	static const char *const names[N_FACILITIES] = { "commands", "entry", "entry_multipath", "cq_overflow",
							 "children" };
	struct facility *f = t->facility;
	size_t i;

	for (i = 0; i < N_FACILITIES; i++)
		f[i] = (struct facility){ .name = names[i], .hook = hooks[i], .on = true };
	if (!o->entry_probe) {
		off(&f[F_ENTRY], "not asked for");
		off(&f[F_HEAD_ENTRY], "not asked for");
	} else {
		if (!probe_has_func(p, "nvme_ns_chr_uring_cmd"))
			off(&f[F_ENTRY], "not in this kernel");
		if (!probe_has_func(p, "nvme_ns_head_chr_uring_cmd"))
			off(&f[F_HEAD_ENTRY], "not in this kernel");
	}
	if (!o->cq_overflow)
		off(&f[F_OVERFLOW], "not asked for");
	else if (!probe_has_tracepoint(p, "io_uring_cqe_overflow"))
		off(&f[F_OVERFLOW], "not in this kernel");
	if (!o->follow)
		off(&f[F_FOLLOW], "not asked for");
	t->n_facilities = N_FACILITIES;
	t->can_cast = probe_has_builtin_func(p, "bpf_rdonly_cast");
	t->can_cast_nvme = t->can_cast && probe_has_builtin_tracepoint(p, "nvme_setup_cmd");
}

static int set_up(struct nvme_trace *t, const struct nvme_trace_options *o)
{
	struct nvme_bpf *b = t->bpf;
	struct facility *f = t->facility;
	struct nvme_config *cfg = &b->rodata->cfg;
	u64 ring = ring_size(o->ring_bytes);
	u32 n_rings = rings_count();

	bpf_program__set_autoload(b->progs.ns_enter, f[F_ENTRY].on);
	bpf_program__set_autoload(b->progs.ns_leave, f[F_ENTRY].on);
	bpf_program__set_autoload(b->progs.head_enter, f[F_HEAD_ENTRY].on);
	bpf_program__set_autoload(b->progs.head_leave, f[F_HEAD_ENTRY].on);
	bpf_program__set_autoload(b->progs.cqe_overflow, f[F_OVERFLOW].on);
	bpf_program__set_autoload(b->progs.process_fork, f[F_FOLLOW].on);
	bpf_program__set_autoload(b->progs.process_exit, f[F_FOLLOW].on);

	cfg->wake_bytes = ring / 4;
	cfg->cpus_per_ring = CPUS_PER_RING;
	cfg->passthrough_only = o->passthrough_only;
	cfg->entry_probe = f[F_ENTRY].on || f[F_HEAD_ENTRY].on;
	cfg->kv = o->kv;
	cfg->can_cast = t->can_cast;
	cfg->can_cast_nvme = t->can_cast_nvme;
	cfg->filter_pid = o->n_pids || o->follow;
	cfg->filter_comm = !!o->comm;
	cfg->filter_disk = !!o->n_disks;
	if (o->comm)
		snprintf(cfg->comm, sizeof(cfg->comm), "%s", o->comm);
	if (bpf_map__set_max_entries(b->maps.rings, n_rings) ||
	    bpf_map__set_max_entries(b->maps.inflight, MAX(o->inflight_max, 64u)) ||
	    bpf_map__set_max_entries(b->maps.entries, cfg->entry_probe ? MAX(o->inflight_max, 64u) : 1))
		return -EINVAL;
	return 0;
}

static int fill_filters(struct nvme_trace *t, const struct nvme_trace_options *o)
{
	int fd = bpf_map__fd(t->bpf->maps.disk_filter);
	u8 yes = 1;
	size_t i;
	int ret;

	for (i = 0; i < o->n_pids; i++) {
		ret = nvme_trace_add_pid(t, (pid_t)o->pids[i]);
		if (ret)
			return ret;
	}
	for (i = 0; i < o->n_disks; i++) {
		char name[32] = "";

		snprintf(name, sizeof(name), "%s", o->disks[i]);
		ret = bpf_map_update_elem(fd, name, &yes, BPF_ANY);
		if (ret)
			return ret;
	}
	return 0;
}

static int load(struct nvme_trace *t, const struct nvme_trace_options *o)
{
	int ret;

	t->bpf = nvme_bpf__open();
	if (!t->bpf)
		return -errno;
	ret = set_up(t, o);
	if (!ret)
		ret = nvme_bpf__load(t->bpf);
	if (ret) {
		nvme_bpf__destroy(t->bpf);
		t->bpf = NULL;
	}
	return ret;
}

/* With all hooks; then without those that kernels refuse most often. */
static int load_with_fallback(struct nvme_trace *t, const struct nvme_trace_options *o)
{
	struct facility *f = t->facility;
	int first = load(t, o), ret = first;
	char why[80];

	snprintf(why, sizeof(why), "refused by the kernel (%s)", strerror(-first));
	if (ret && (f[F_ENTRY].on || f[F_HEAD_ENTRY].on)) {
		off(&f[F_ENTRY], why);
		off(&f[F_HEAD_ENTRY], why);
		ret = load(t, o);
	}
	if (ret && f[F_OVERFLOW].on) {
		off(&f[F_OVERFLOW], why);
		ret = load(t, o);
	}
	return ret;
}

int nvme_trace_open(struct nvme_trace **out, const struct nvme_trace_options *o, nvme_trace_fn fn, void *arg, char *why,
		    size_t n_why)
{
	struct nvme_trace *t = calloc(1, sizeof(*t));
	struct probe *p = NULL;
	int ret = -ENOMEM;

	snprintf(why, n_why, "out of memory");
	if (!t)
		return ret;
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(keep_log);
	ret = probe_open(&p);
	if (!ret && !probe_privileged())
		ret = -EPERM;
	if (ret) {
		probe_explain(ret, "", why, n_why);
		goto out;
	}
	if (!probe_has_tracepoint(p, "nvme_setup_cmd") || !probe_has_tracepoint(p, "nvme_complete_rq")) {
		ret = -ENODEV;
		snprintf(
			why, n_why,
			"no NVMe driver in this kernel (no nvme_setup_cmd tracepoint in its BTF): is there an NVMe drive, is nvme_core loaded?");
		goto out;
	}
	choose(t, o, p);
	ret = load_with_fallback(t, o);
	if (ret) {
		probe_explain(ret, log_text, why, n_why);
		goto out;
	}
	ret = rings_open(&t->rings, bpf_map__fd(t->bpf->maps.rings), o->ring_bytes, fn, arg);
	if (!ret)
		ret = fill_filters(t, o);
	if (ret)
		probe_explain(ret, log_text, why, n_why);
out:
	probe_close(p);
	if (ret)
		nvme_trace_close(t);
	else
		*out = t;
	return ret;
}

static int attach_one(struct bpf_program *prog, struct bpf_link **link)
{
	*link = bpf_program__attach(prog);
	return *link ? 0 : -errno;
}

/* Attaches both programs of an optional facility, or neither. */
static void attach_optional(struct facility *f, struct bpf_program *a, struct bpf_link **la, struct bpf_program *b,
			    struct bpf_link **lb)
{
	int ret;

	if (!f->on)
		return;
	ret = attach_one(a, la);
	if (!ret && b)
		ret = attach_one(b, lb);
	if (!ret)
		return;
	bpf_link__destroy(*la);
	*la = NULL;
	snprintf(f->why, sizeof(f->why), "cannot attach (%s)", strerror(-ret));
	f->on = false;
}

int nvme_trace_attach(struct nvme_trace *t)
{
	struct nvme_bpf *b = t->bpf;
	struct facility *f = t->facility;
	int ret;

	/* Completions first, so that no command can be seen without its end. */
	ret = attach_one(b->progs.complete_rq, &b->links.complete_rq);
	attach_optional(&f[F_FOLLOW], b->progs.process_exit, &b->links.process_exit, b->progs.process_fork,
			&b->links.process_fork);
	attach_optional(&f[F_OVERFLOW], b->progs.cqe_overflow, &b->links.cqe_overflow, NULL, NULL);
	attach_optional(&f[F_ENTRY], b->progs.ns_leave, &b->links.ns_leave, b->progs.ns_enter, &b->links.ns_enter);
	attach_optional(&f[F_HEAD_ENTRY], b->progs.head_leave, &b->links.head_leave, b->progs.head_enter,
			&b->links.head_enter);
	if (!ret)
		ret = attach_one(b->progs.setup_cmd, &b->links.setup_cmd);
	return ret;
}

int nvme_trace_add_pid(struct nvme_trace *t, pid_t pid)
{
	u32 key = (u32)pid;
	u8 yes = 1;

	return bpf_map_update_elem(bpf_map__fd(t->bpf->maps.pid_filter), &key, &yes, BPF_ANY);
}

const struct facility *nvme_trace_facilities(const struct nvme_trace *t, size_t *n)
{
	*n = t->n_facilities;
	return t->facility;
}

int nvme_trace_consume(struct nvme_trace *t, int timeout_ms)
{
	return rings_consume(t->rings, timeout_ms, BUDGET);
}

int nvme_trace_drain(struct nvme_trace *t)
{
	int ret;

	do
		ret = rings_consume(t->rings, 0, BUDGET);
	while (ret > 0);
	return ret;
}

s64 nvme_trace_in_flight(const struct nvme_trace *t, u64 min_age_ns, nvme_trace_fn fn, void *arg)
{
	int fd = bpf_map__fd(t->bpf->maps.inflight);
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

bool nvme_trace_busy(const struct nvme_trace *t)
{
	int fd = bpf_map__fd(t->bpf->maps.inflight);
	u64 key, *prev = NULL;
	struct ev_nvme_kv r;

	while (!bpf_map_get_next_key(fd, prev, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &r) && r.cmd.kind)
			return true;
		prev = &key;
	}
	return false;
}

bool nvme_trace_find_task(void *arg, u32 tid, struct ev_task *e)
{
	const struct nvme_trace *t = arg;
	struct task_name name;

	if (bpf_map_lookup_elem(bpf_map__fd(t->bpf->maps.tasks), &tid, &name))
		return false;
	e->pid = name.pid;
	memcpy(e->comm, name.comm, sizeof(e->comm));
	return true;
}

void nvme_trace_detach(struct nvme_trace *t)
{
	/* New commands first: what is under way may still complete and be stored. */
	bpf_link__destroy(t->bpf->links.setup_cmd);
	t->bpf->links.setup_cmd = NULL;
	nvme_bpf__detach(t->bpf);
}

/* What the kernel counts of a program; all zero when it was not loaded. */
static void run_info(const struct bpf_program *prog, struct bpf_prog_info *info)
{
	u32 len = sizeof(*info);
	int fd = bpf_program__fd(prog);

	memset(info, 0, sizeof(*info));
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, info, &len))
		memset(info, 0, sizeof(*info));
}

static u64 missed_runs(const struct nvme_trace *t)
{
	struct bpf_program *prog;
	struct bpf_prog_info info;
	u64 n = 0;

	bpf_object__for_each_program(prog, t->bpf->obj) {
		run_info(prog, &info);
		n += info.recursion_misses;
	}
	return n;
}

bool nvme_trace_cost(const struct nvme_trace *t, u32 i, const char **name, u64 *runs, u64 *run_ns)
{
	struct bpf_program *prog;
	struct bpf_prog_info info;

	bpf_object__for_each_program(prog, t->bpf->obj) {
		if (i--)
			continue;
		run_info(prog, &info);
		*name = bpf_program__name(prog);
		*runs = info.run_cnt;
		*run_ns = info.run_time_ns;
		return true;
	}
	return false;
}

void nvme_trace_account(const struct nvme_trace *t, struct ev_loss *loss, struct nvme_trace_extra *extra)
{
	u64 sum[N_COUNTERS] = {};
	u32 cpu, c;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		for (c = 0; c < N_COUNTERS; c++)
			sum[c] += __atomic_load_n(&t->bpf->bss->counters[cpu].v[c], __ATOMIC_RELAXED);
	*loss = (struct ev_loss){
		.kind = EV_LOSS,
		.ts_ns = clock_ns(CLOCK_MONOTONIC),
		.seen = sum[N_SEEN],
		.stored = sum[N_STORED],
		.ring_full = sum[N_RING_FULL],
		.map_full = sum[N_MAP_FULL],
		.hook_missed = missed_runs(t),
		.filtered = sum[N_FILTERED],
	};
	if (extra)
		*extra = (struct nvme_trace_extra){ .entry_full = sum[N_ENTRY_FULL], .pid_full = sum[N_PID_FULL] };
}

void nvme_trace_close(struct nvme_trace *t)
{
	if (!t)
		return;
	rings_close(t->rings);
	nvme_bpf__destroy(t->bpf);
	free(t);
}
