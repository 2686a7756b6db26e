// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/heap.h"
#include "trace/around.h"
#include "trace/files.h"
#include "trace/preflight.h"
#include "trace/ring.h"
#include "trace/tracer.h"

/* Records delivered in one go before ticks and signals get their turn. */
#define BUDGET	  65536u
/* How long a record may wait for others, twice this, and what is waited for programs where the kernel cannot tell. */
#define PUSH_NS	  (NSEC_PER_SEC / 10)
#define SETTLE_US 20000

/* The table of tracers, in the order in which they are attached. */
static const struct {
	u32 witness; /* 0: always */
	const struct tracer_ops *ops;
} table[] = {
	{ 0, &tasks_tracer },
	{ TRACE_NVME, &nvme_tracer },
	{ TRACE_SYSCALL, &syscall_tracer },
	{ TRACE_URING, &iouring_tracer },
	{ TRACE_MMAP, &mmap_tracer },
};

struct trace {
	struct tracer tracer[ARRAY_SIZE(table)];
	size_t n;
	struct rings *rings;
	struct files *files;
	struct tracer *takes[256];  /* by kind: who takes it first */
	struct tracer *counts[256]; /* and in whose account it is */
	bool ended;		    /* no program runs any more */
	trace_fn fn;
	void *arg;
	u64 next_push_ns;
	int pids_fd, tasks_fd;
	struct trace_config cfg; /* what all programs are told */
};

static char log_text[1 << 20];
static size_t log_n;

const char *trace_log(void)
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

void facility_off(struct facility *f, const char *why)
{
	f->on = false;
	snprintf(f->why, sizeof(f->why), "%s", why);
}

/* ---- loading ---- */

static void configure(struct trace_config *cfg, const struct trace_options *o, const struct probe *p)
{
	cfg->wake_bytes = ring_size(o->ring_bytes) / 4;
	cfg->one_ring = rings_count() == 1;
	cfg->can_read_user = !preflight_read_kernel();
	cfg->can_cast = probe_has_builtin_func(p, "bpf_rdonly_cast");
	cfg->can_cast_nvme = cfg->can_cast && probe_has_builtin_tracepoint(p, "nvme_setup_cmd");
	cfg->filter_pid = o->n_pids || o->follow;
	cfg->filter_comm = !!o->comm;
	cfg->filter_path = !!o->n_paths;
	cfg->cgroup = o->cgroup;
	cfg->cgroup_level = o->cgroup_level;
	if (o->comm)
		snprintf(cfg->comm, sizeof(cfg->comm), "%s", o->comm);
}

/* What is one for all is made by the first tracer that has it, and used by the others.  Nothing large that is idle. */
static int share_maps(const struct tracer *t, const struct trace *all, u64 ring_bytes)
{
	static const char *const shared[] = { "rings", "ring", "tasks", "files_seen", "pid_filter", "files_unwanted" };
	const u32 entries[ARRAY_SIZE(shared)] = {
		rings_count(),	      (u32)ring_size(rings_count() == 1 ? ring_bytes : 0), 0, 0, !all->cfg.filter_pid,
		!all->cfg.filter_path
	};
	size_t i, k;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(shared) && !ret; i++) {
		struct bpf_map *m = bpf_object__find_map_by_name(t->obj, shared[i]), *made = NULL;

		for (k = 0; k < all->n && m && !made; k++)
			made = bpf_object__find_map_by_name(all->tracer[k].obj, shared[i]);
		if (made)
			ret = bpf_map__reuse_fd(m, bpf_map__fd(made));
		else if (m && entries[i])
			ret = bpf_map__set_max_entries(m, entries[i]);
	}
	return ret;
}

static void destroy(struct tracer *t)
{
	if (t->bpf)
		t->ops->destroy(t);
	t->bpf = NULL;
	t->obj = NULL;
	t->counters = NULL;
}

static int load(struct tracer *t, const struct trace *all, const struct trace_options *o)
{
	int ret = t->ops->open(t, o);

	if (!ret) {
		*t->cfg = all->cfg;
		/* Which file has which number is looked up as records come: then they come one by one, in order. */
		t->cfg->batch = t->unbatched || all->cfg.filter_path ? 1 : BATCH_MAX;
		if (t->batches.empty)
			bpf_program__set_autoload(t->batches.empty, !t->unbatched);
		ret = share_maps(t, all, o->ring_bytes);
	}
	if (!ret)
		ret = bpf_object__load_skeleton(t->skeleton);
	if (ret)
		destroy(t);
	return ret;
}

/* With all hooks; then without those that kernels refuse most often. */
static int load_with_fallback(struct tracer *t, const struct trace *all, const struct trace_options *o)
{
	int ret = load(t, all, o);
	char why[80];

	snprintf(why, sizeof(why), "refused by the kernel (%s)", strerror(-ret));
	if (ret && t->batches.empty) {
		t->unbatched = true;
		ret = load(t, all, o);
	}
	while (ret && t->ops->give_up && t->ops->give_up(t, why))
		ret = load(t, all, o);
	return ret;
}

/* All that is asked of the kernel's types, which take megabytes while they are there. */
static int choose(struct trace *t, const struct trace_options *o, char *why, size_t n_why)
{
	struct tracer *r = t->tracer;
	struct probe *p = NULL;
	const char *missing = NULL;
	int ret = probe_open(&p);
	size_t i;

	if (!ret && !probe_privileged())
		ret = -EPERM;
	if (ret)
		probe_explain(ret, "", why, n_why);
	else
		configure(&t->cfg, o, p);
	for (i = 0; i < ARRAY_SIZE(table) && !ret && !missing; i++) {
		if (table[i].witness && !(o->witnesses & table[i].witness))
			continue;
		missing = table[i].ops->missing ? table[i].ops->missing(p) : NULL;
		if (missing)
			break;
		r->ops = table[i].ops;
		r->files = t->files;
		r->ops->choose(r, o, p);
		r++;
	}
	if (missing) {
		snprintf(why, n_why, "%s", missing);
		ret = -ENODEV;
	}
	probe_close(p);
	return ret;
}

static int add_tracer(struct trace *t, struct tracer *r, const struct trace_options *o, char *why, size_t n_why)
{
	const struct tracer_ops *ops = r->ops;
	int ret = load_with_fallback(r, t, o);
	size_t i;

	if (ret) {
		probe_explain(ret, log_text, why, n_why);
		return ret;
	}
	for (i = 0; i < ARRAY_SIZE(ops->kinds) && ops->kinds[i]; i++)
		t->takes[ops->kinds[i]] = r;
	for (i = 0; i < ARRAY_SIZE(ops->stored) && ops->stored[i]; i++)
		if (!t->counts[ops->stored[i]])
			t->counts[ops->stored[i]] = r;
	/* Of the first, which lists processes: the others are told who we are. */
	if (!t->n++ && tasks_first_pid(r, (u32)getpid(), &t->cfg.self))
		t->cfg.self = 0;
	return ops->prepare ? ops->prepare(r, o) : 0;
}

/* A record of the ring holds several when they were put there together. */
static u64 records_of(const struct tracer *t, size_t size)
{
	return t->batches.first && size > t->batches.record_bytes ? size / t->batches.record_bytes : 1;
}

static int on_record(void *arg, const void *record, size_t size)
{
	struct trace *t = arg;
	u8 kind = *(const u8 *)record;
	struct tracer *takes = t->takes[kind], *counts = t->counts[kind];
	int ret = takes ? takes->ops->deliver(takes, record, size, t->fn, t->arg) : t->fn(t->arg, record, size);

	if (counts && !ret)
		counts->taken.records += records_of(counts, size);
	return ret;
}

static int open_shared(struct trace *t, const struct trace_options *o)
{
	struct bpf_object *first = t->tracer->obj;
	size_t i, ended = 0;
	int ret;

	t->pids_fd = bpf_object__find_map_fd_by_name(first, "pid_filter");
	t->tasks_fd = bpf_object__find_map_fd_by_name(first, "tasks");
	for (i = 0; i < t->n; i++)
		files_set_map(t->files, bpf_object__find_map_fd_by_name(t->tracer[i].obj, "files_unwanted"));
	ret = rings_open(&t->rings, bpf_object__find_map_fd_by_name(first, rings_count() == 1 ? "ring" : "rings"),
			 o->ring_bytes, on_record, t);
	if (!ret)
		tasks_touch_rings(&t->tracer[0], t->rings);
	for (i = 0; i < o->n_pids && !ret; i++) {
		ret = trace_add_pid(t, (pid_t)o->pids[i]);
		/* Children come and go; one process has to be there. */
		if (ret == -ESRCH && o->follow && ++ended < o->n_pids)
			ret = 0;
	}
	return ret;
}

int trace_open(struct trace **out, const struct trace_options *o, trace_fn fn, void *arg, char *why, size_t n_why)
{
	struct trace *t = calloc(1, sizeof(*t));
	int ret = -ENOMEM;
	size_t i;

	snprintf(why, n_why, "out of memory");
	if (!t)
		return ret;
	t->fn = fn;
	t->files = files_new(o->paths, o->n_paths);
	t->arg = arg;
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(keep_log);
	/* For each object libbpf reads all types of the kernel anew: twice 5 MB. */
	heap_keep();
	ret = t->files ? choose(t, o, why, n_why) : -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(table) && t->tracer[i].ops && !ret; i++)
		ret = add_tracer(t, &t->tracer[i], o, why, n_why);
	if (ret)
		goto out;
	ret = open_shared(t, o);
	if (ret == -EOPNOTSUPP)
		snprintf(
			why, n_why,
			"process ids here are not the kernel's, and it does not list them: following processes needs the "
			"host's pid namespace (docker --pid=host, hostPID: true)");
	else if (ret == -ESRCH)
		snprintf(why, n_why, "a process of --pid has ended");
	else if (ret)
		probe_explain(ret, log_text, why, n_why);
out:
	heap_release();
	if (ret)
		trace_close(t);
	else
		*out = t;
	return ret;
}

/* ---- attaching ---- */

int tracer_attach(struct bpf_program *prog, struct bpf_link **link)
{
	*link = bpf_program__attach(prog);
	return *link ? 0 : -errno;
}

void tracer_attach_optional(struct facility *f, struct bpf_program *a, struct bpf_link **la, struct bpf_program *b,
			    struct bpf_link **lb)
{
	char why[80];
	int ret;

	if (!f->on)
		return;
	ret = tracer_attach(a, la);
	if (!ret && b)
		ret = tracer_attach(b, lb);
	if (!ret)
		return;
	bpf_link__destroy(*la);
	*la = NULL;
	snprintf(why, sizeof(why), "cannot attach (%s)", strerror(-ret));
	facility_off(f, why);
}

int trace_attach(struct trace *t)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < t->n && !ret; i++) {
		struct tracer *r = &t->tracer[i];

		ret = r->ops->attach ? r->ops->attach(r) : bpf_object__attach_skeleton(r->skeleton);
	}
	return ret;
}

int trace_first_pid(const struct trace *t, pid_t pid, u32 *first)
{
	return tasks_first_pid(&t->tracer[0], (u32)pid, first);
}

int trace_add_pid(struct trace *t, pid_t pid)
{
	u32 key;
	u8 yes = 1;
	int ret = trace_first_pid(t, pid, &key);

	return ret ? ret : bpf_map_update_elem(t->pids_fd, &key, &yes, BPF_ANY);
}

void trace_note_forks(struct trace *t, bool on)
{
	tasks_note_forks(&t->tracer[0], on);
}

int trace_notes(const struct trace *t, process_fn fn, void *arg)
{
	return tasks_notes(&t->tracer[0], fn, arg);
}

const struct facility *trace_facility(const struct trace *t, size_t i)
{
	size_t k;

	for (k = 0; k < t->n; i -= t->tracer[k++].n_facilities)
		if (i < t->tracer[k].n_facilities)
			return &t->tracer[k].facility[i];
	return NULL;
}

void trace_detach(struct trace *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		struct tracer *r = &t->tracer[i];

		if (r->ops->detach)
			r->ops->detach(r);
		bpf_object__detach_skeleton(r->skeleton);
	}
	/* One that still runs elsewhere would put its record behind the drain: a grace period waits for it. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(SETTLE_US);
	t->ended = true;
}

/* ---- what comes in ---- */

/* Now and then, records that wait for more of their kind are put into the ring. */
static void push(struct trace *t)
{
	u64 now = clock_ns(CLOCK_MONOTONIC);
	size_t i;

	if (now < t->next_push_ns)
		return;
	t->next_push_ns = now + PUSH_NS;
	for (i = 0; i < t->n; i++)
		batches_push(&t->tracer[i].batches);
}

int trace_consume(struct trace *t, int timeout_ms)
{
	push(t);
	return rings_consume(t->rings, timeout_ms, BUDGET);
}

int trace_drain(struct trace *t)
{
	size_t i;
	int ret;

	do
		ret = rings_consume(t->rings, 0, BUDGET);
	while (ret > 0);
	for (i = 0; i < t->n && !ret; i++)
		ret = batches_rest(&t->tracer[i].batches, on_record, t);
	return ret;
}

s64 trace_in_flight(const struct trace *t, u64 min_age_ns, trace_fn fn, void *arg)
{
	s64 n = 0, ret;
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (!t->tracer[i].ops->in_flight)
			continue;
		ret = t->tracer[i].ops->in_flight(&t->tracer[i], min_age_ns, fn, arg);
		if (ret < 0)
			return ret;
		n += ret;
	}
	return n;
}

int trace_sums(struct trace *t, bool all, trace_fn fn, void *arg)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < t->n && !ret; i++)
		if (t->tracer[i].ops->sums)
			ret = t->tracer[i].ops->sums(&t->tracer[i], all, fn, arg);
	return ret;
}

void trace_abandon(void)
{
	around_restore();
}

bool trace_busy(const struct trace *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->tracer[i].ops->busy && t->tracer[i].ops->busy(&t->tracer[i]))
			return true;
	return false;
}

bool trace_find_task(void *arg, u32 tid, struct ev_task *e)
{
	const struct trace *t = arg;
	struct task_name name;

	if (bpf_map_lookup_elem(t->tasks_fd, &tid, &name))
		return false;
	e->pid = name.pid;
	e->ns_pid = name.ns_pid;
	e->cgroup = name.cgroup;
	memcpy(e->comm, name.comm, sizeof(e->comm));
	return true;
}

/* ---- the account ---- */

/* What the kernel counts of a program; all zero when it was not loaded. */
static void run_info(const struct bpf_program *prog, struct bpf_prog_info *info)
{
	u32 len = sizeof(*info);
	int fd = bpf_program__fd(prog);

	memset(info, 0, sizeof(*info));
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, info, &len))
		memset(info, 0, sizeof(*info));
}

static u64 missed_runs(const struct tracer *t)
{
	struct bpf_program *prog;
	struct bpf_prog_info info;
	u64 n = 0;

	bpf_object__for_each_program(prog, t->obj) {
		run_info(prog, &info);
		n += info.recursion_misses;
	}
	return n;
}

bool trace_cost(const struct trace *t, u32 i, const char **name, u64 *runs, u64 *run_ns)
{
	struct bpf_program *prog;
	struct bpf_prog_info info;
	size_t k;

	for (k = 0; k < t->n; k++) {
		bpf_object__for_each_program(prog, t->tracer[k].obj) {
			if (i--)
				continue;
			run_info(prog, &info);
			*name = bpf_program__name(prog);
			*runs = info.run_cnt;
			*run_ns = info.run_time_ns;
			return true;
		}
	}
	return false;
}

static u64 total(const struct tracer *t, enum counter c)
{
	u64 sum = 0;
	u32 cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		sum += __atomic_load_n(&t->counters[cpu].v[c], __ATOMIC_RELAXED);
	return sum;
}

bool trace_account(const struct trace *t, size_t i, struct ev_loss *loss)
{
	const struct tracer *r;
	size_t k;

	for (k = 0; k < t->n; k++)
		if (t->tracer[k].ops->witness != EV_WITNESSES && !i--)
			break;
	if (k == t->n)
		return false;
	r = &t->tracer[k];
	*loss = (struct ev_loss){
		.kind = EV_LOSS,
		.witness = r->ops->witness,
		.ts_ns = clock_ns(CLOCK_MONOTONIC),
		.seen = total(r, N_SEEN),
		.ring_full = total(r, N_RING_FULL),
		.map_full = total(r, N_MAP_FULL),
		.hook_missed = missed_runs(r),
	};
	taken_account(loss, &r->taken, total(r, N_STORED) + batches_waiting(&r->batches), total(r, N_FILTERED),
		      t->ended);
	return true;
}

void trace_extra(const struct trace *t, struct trace_extra *extra)
{
	size_t i;

	*extra = (struct trace_extra){};
	for (i = 0; i < t->n; i++) {
		extra->entry_full += total(&t->tracer[i], N_ENTRY_FULL);
		extra->pid_full += total(&t->tracer[i], N_PID_FULL);
		extra->foreign += total(&t->tracer[i], N_FOREIGN);
	}
}

void trace_close(struct trace *t)
{
	size_t i;

	if (!t)
		return;
	rings_close(t->rings);
	files_free(t->files);
	for (i = 0; i < ARRAY_SIZE(t->tracer); i++)
		if (t->tracer[i].ops) {
			destroy(&t->tracer[i]);
			if (t->tracer[i].ops->close)
				t->tracer[i].ops->close(&t->tracer[i]);
		}
	free(t);
}
