// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the names of threads right when they become another program, and the
 * pid filter in step with the process tree of `-- CMD`.  As what is there with
 * every tracer, it prepares the rings, too.
 */
#include "trace/common.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* The pid namespace whose numbers the list has; set before load. */
const volatile u32 list_ns = 0;

#define NO_PREALLOC 1

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

/* The number that a process has in that namespace, 0 for none. */
static __always_inline u32 listed_number(struct pid *pid)
{
	struct pid_namespace *ns;
	struct upid *number;
	u32 i;

	for (i = 0; i < PID_LEVELS && pid; i++) {
		number = number_at(pid, i);
		if (!number)
			break;
		ns = peek(struct upid, number, ns);
		if (peek(struct pid_namespace, ns, ns.inum) == list_ns)
			return (u32)peek(struct upid, number, nr);
	}
	return 0;
}

/* All processes with their numbers in that namespace: user space reads it as a file. */
SEC("?iter/task")
int list_pids(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct process_number n = {};

	if (!t || t->pid != t->tgid)
		return 0;
	n.pid = (u32)t->tgid;
	n.number = listed_number(t->thread_pid);
	if (n.number)
		bpf_seq_write(ctx->meta->seq, &n, sizeof(n));
	return 0;
}

/* Run by user space on a CPU of each ring: how many pages it touched, less than TOUCH_PAGES when those were all. */
SEC("?raw_tp")
int touch_ring(void *ctx)
{
	void *ring = this_ring(), *page;
	int i;

	for (i = 0; i < TOUCH_PAGES && ring; i++) {
		page = bpf_ringbuf_reserve(ring, TOUCH_BYTES, 0);
		if (!page)
			break;
		bpf_ringbuf_discard(page, BPF_RB_NO_WAKEUP);
	}
	return i;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *t)
{
	u32 tid = t->pid;

	/* Its next event tells the new name. */
	bpf_map_delete_elem(&tasks, &tid);
	return 0;
}

/* From prctl, pthread_setname_np, exec: the name is set behind this, and its next event tells it. */
SEC("tp_btf/task_rename")
int BPF_PROG(task_renamed, struct task_struct *t)
{
	u32 tid = t->pid;
	struct task_name *known = bpf_map_lookup_elem(&tasks, &tid);

	if (known)
		known->checked_ns = 0;
	return 0;
}

/* While user space looks at the processes that are there: who began and ended meanwhile, by number in the namespace. */
volatile u8 note_forks;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, struct process_note);
} notes SEC(".maps");

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid, number = 0;
	struct process_note note = { .pid = to };
	u8 yes = 1;

	if (from == to)
		return 0;
	/* In this order: user space has the parent in the filter first and looks at the notes then. */
	if (note_forks) {
		number = listed_number(child->thread_pid);
		note.parent = listed_number(parent->group_leader->thread_pid);
		if (number && bpf_map_update_elem(&notes, &number, &note, BPF_ANY))
			count(N_PID_FULL);
	}
	if (!bpf_map_lookup_elem(&pid_filter, &from))
		return 0;
	if (bpf_map_update_elem(&pid_filter, &to, &yes, BPF_ANY))
		count(N_PID_FULL);
	if (number)
		bpf_map_delete_elem(&notes, &number);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *t)
{
	struct process_note note = { .pid = t->tgid, .ended = 1 };
	u32 number;

	if (t->signal->live.counter)
		return 0;
	if (note_forks) {
		number = listed_number(t->group_leader->thread_pid);
		note.parent = listed_number(t->real_parent->group_leader->thread_pid);
		if (number && bpf_map_update_elem(&notes, &number, &note, BPF_ANY))
			count(N_PID_FULL);
	}
	/* The last thread: the number may be another program's soon. */
	bpf_map_delete_elem(&pid_filter, &note.pid);
	return 0;
}
