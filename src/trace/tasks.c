// SPDX-License-Identifier: Apache-2.0
/* Names of threads, and the children of the processes that are recorded. */
#include "trace/files.h"
#include "trace/ring.h"
#include "trace/tracer.h"
/* The skeleton needs the types of the header. */
#include "trace/tasks.skel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { F_NAMES, F_FOLLOW, F_NUMBERS, N_FACILITIES };

/* Of the first pid namespace: the same on every kernel. */
#define FIRST_PID_NS 0xeffffffc

static u32 own_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? FIRST_PID_NS : (u32)st.st_ino;
}

static void choose(struct tracer *t, const struct trace_options *o, const struct probe *p)
{
	t->facility[F_NAMES] =
		(struct facility){ .name = "names", .hook = "tp_btf/sched_process_exec + task_rename", .on = true };
	t->facility[F_FOLLOW] =
		(struct facility){ .name = "children", .hook = "tp_btf/sched_process_fork + exit", .on = true };
	if (!probe_has_tracepoint(p, "sched_process_exec") || !probe_has_tracepoint(p, "task_rename"))
		facility_off(&t->facility[F_NAMES], "not in this kernel");
	t->facility[F_NUMBERS] = (struct facility){ .name = "container_pids", .hook = "iter/task", .on = true };
	if (own_pid_namespace() == FIRST_PID_NS)
		facility_off(&t->facility[F_NUMBERS], "not asked for");
	if (!o->follow)
		facility_off(&t->facility[F_FOLLOW], "not asked for");
	/* Whether it has the program that touches the rings, which no result depends on. */
	t->variant = true;
	t->n_facilities = N_FACILITIES;
}

static int open_bpf(struct tracer *t, const struct trace_options *o)
{
	struct tasks_bpf *b = tasks_bpf__open();

	(void)o;
	if (!b)
		return -errno;
	t->bpf = b;
	t->obj = b->obj;
	t->skeleton = b->skeleton;
	t->cfg = &b->rodata->cfg;
	t->counters = b->bss->counters;
	b->rodata->list_ns = own_pid_namespace();
	bpf_program__set_autoload(b->progs.list_pids, t->facility[F_NUMBERS].on);
	bpf_program__set_autoload(b->progs.touch_ring, t->variant);
	bpf_program__set_autoload(b->progs.process_exec, t->facility[F_NAMES].on);
	bpf_program__set_autoload(b->progs.task_renamed, t->facility[F_NAMES].on);
	bpf_program__set_autoload(b->progs.process_fork, t->facility[F_FOLLOW].on);
	bpf_program__set_autoload(b->progs.process_exit, t->facility[F_FOLLOW].on);
	return 0;
}

static bool give_up(struct tracer *t, const char *why)
{
	if (!t->facility[F_NUMBERS].on && !t->variant)
		return false;
	/* One at a time: what can be had is had. */
	if (t->variant)
		t->variant = false;
	else
		facility_off(&t->facility[F_NUMBERS], why);
	return true;
}

/* The list is read when it is needed, the others see what happens. */
static int attach(struct tracer *t)
{
	struct tasks_bpf *b = t->bpf;

	tracer_attach_optional(&t->facility[F_NAMES], b->progs.process_exec, &b->links.process_exec,
			       b->progs.task_renamed, &b->links.task_renamed);
	if (!t->facility[F_FOLLOW].on)
		return 0;
	return tracer_attach(b->progs.process_fork, &b->links.process_fork)
		       ?: tracer_attach(b->progs.process_exit, &b->links.process_exit);
}

void tasks_touch_rings(const struct tracer *t, struct rings *r)
{
	const struct tasks_bpf *b = t->bpf;

	if (t->variant)
		rings_touch(r, bpf_program__fd(b->progs.touch_ring));
}

int tasks_first_pid(const struct tracer *t, u32 pid, u32 *first)
{
	const struct tasks_bpf *b = t->bpf;
	struct process_number n;
	struct bpf_link *link;
	int fd, ret = -ESRCH;

	if (own_pid_namespace() == FIRST_PID_NS) {
		*first = pid;
		return 0;
	}
	if (!t->facility[F_NUMBERS].on)
		return -EOPNOTSUPP;
	link = bpf_program__attach_iter(b->progs.list_pids, NULL);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	while (fd >= 0 && ret && read(fd, &n, sizeof(n)) == sizeof(n))
		if (n.number == pid) {
			*first = n.pid;
			ret = 0;
		}
	if (fd >= 0)
		close(fd);
	else
		ret = fd;
	bpf_link__destroy(link);
	return ret;
}

void tasks_note_forks(const struct tracer *t, bool on)
{
	struct tasks_bpf *b = t->bpf;

	b->bss->note_forks = on;
}

int tasks_notes(const struct tracer *t, process_fn fn, void *arg)
{
	const struct tasks_bpf *b = t->bpf;
	int notes = bpf_map__fd(b->maps.notes), filter = bpf_map__fd(b->maps.pid_filter), ret = 0;
	struct process_note note;
	u32 number, *last = NULL;

	while (!ret && !bpf_map_get_next_key(notes, last, &number)) {
		last = &number;
		if (bpf_map_lookup_elem(notes, &number, &note))
			continue;
		/* It may have come into the filter behind its end. */
		if (note.ended)
			bpf_map_delete_elem(filter, &note.pid);
		ret = fn(arg, number, note.parent, note.ended);
	}
	return ret;
}

/* Names a cgroup before the first of its threads. */
static int deliver(struct tracer *t, const void *record, size_t size, trace_fn fn, void *arg)
{
	const struct ev_task *e = record;
	int ret = e->cgroup ? files_cgroup(t->files, e->cgroup, e->ts_ns, fn, arg) : 0;

	return ret ? ret : fn(arg, record, size);
}

static void destroy(struct tracer *t)
{
	tasks_bpf__destroy(t->bpf);
}

const struct tracer_ops tasks_tracer = {
	.name = "tasks",
	.witness = EV_WITNESSES,
	.choose = choose,
	.open = open_bpf,
	.give_up = give_up,
	.attach = attach,
	.kinds = { EV_TASK },
	.deliver = deliver,
	.destroy = destroy,
};
