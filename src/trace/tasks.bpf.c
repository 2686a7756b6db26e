// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the names of threads right when they become another program, and the
 * pid filter in step with the process tree of `-- CMD`.
 */
#include "trace/common.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *t)
{
	u32 tid = t->pid;

	/* Its next event tells the new name. */
	bpf_map_delete_elem(&tasks, &tid);
	return 0;
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid;
	u8 yes = 1;

	if (from != to && bpf_map_lookup_elem(&pid_filter, &from) &&
	    bpf_map_update_elem(&pid_filter, &to, &yes, BPF_ANY))
		count(N_PID_FULL);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *t)
{
	u32 pid = t->tgid;

	/* The last thread: the number may be another program's soon. */
	if (t->signal->live.counter == 0)
		bpf_map_delete_elem(&pid_filter, &pid);
	return 0;
}
