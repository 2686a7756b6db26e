// SPDX-License-Identifier: Apache-2.0
/* Names of threads, and the children of the processes that are recorded. */
#include "trace/tracer.h"
/* The skeleton needs the types of the header. */
#include "trace/tasks.skel.h"

#include <errno.h>

enum { F_NAMES, F_FOLLOW, N_FACILITIES };

static void choose(struct tracer *t, const struct trace_options *o, const struct probe *p)
{
	t->facility[F_NAMES] =
		(struct facility){ .name = "names_after_exec", .hook = "tp_btf/sched_process_exec", .on = true };
	t->facility[F_FOLLOW] =
		(struct facility){ .name = "children", .hook = "tp_btf/sched_process_fork + exit", .on = true };
	if (!probe_has_tracepoint(p, "sched_process_exec"))
		facility_off(&t->facility[F_NAMES], "not in this kernel");
	if (!o->follow)
		facility_off(&t->facility[F_FOLLOW], "not asked for");
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
	bpf_program__set_autoload(b->progs.process_exec, t->facility[F_NAMES].on);
	bpf_program__set_autoload(b->progs.process_fork, t->facility[F_FOLLOW].on);
	bpf_program__set_autoload(b->progs.process_exit, t->facility[F_FOLLOW].on);
	return 0;
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
	.destroy = destroy,
};
