/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every tracer's programs have in common: the rings, the account, the
 * threads and their names, the filters of tasks.  Rings, names and pid filter
 * are one for all tracers of a recording; each has an account of its own.
 */
#ifndef KVIO_COMMON_BPF_H
#define KVIO_COMMON_BPF_H

#include "trace/kernel.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "capture/event.h"
#include "trace/shared.h"

const volatile struct trace_config cfg = {};

/* Plain memory rather than a map: counting costs one atomic add. */
struct counters counters[MAX_CPUS];

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* The ring of a machine with one group of CPUs, most of them: it need not be looked up. */
struct ring ring SEC(".maps");

/* One ring a group of CPUs; user space makes them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct task_name);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u8);
} pid_filter SEC(".maps");

extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

/*
 * A member behind a pointer that the verifier does not know.  With
 * bpf_rdonly_cast (6.2) it is a plain load, which a kernel in confidentiality
 * lockdown allows as well; before, a helper reads it.  The flag is constant, so
 * only one of the two is ever verified.
 */
#define cast(type, p)		   ((type *)bpf_rdonly_cast(p, bpf_core_type_id_kernel(type)))
#define peek(type, p, member)	   (cfg.can_cast ? cast(type, p)->member : BPF_CORE_READ((type *)(p), member))
/* The same for types of the NVMe driver, whose ids count only when it is built in. */
#define peek_nvme(type, p, member) (cfg.can_cast_nvme ? cast(type, p)->member : BPF_CORE_READ((type *)(p), member))

/* Where the application's command is: up to 6.2 a pointer to it, later the SQE that holds it. */
static __always_inline const void *passthrough_command(struct io_uring_cmd *ioucmd)
{
	if (bpf_core_field_exists(struct io_uring_cmd___sqe, sqe))
		return (const void *)peek(struct io_uring_cmd___sqe, ioucmd, sqe) + SQE_CMD_OFFSET;
	if (bpf_core_field_exists(struct io_uring_cmd___cmd, cmd))
		return peek(struct io_uring_cmd___cmd, ioucmd, cmd);
	return NULL;
}

/* Atomic, since a completion may interrupt us in the middle of an increment. */
static __always_inline void count_by(enum counter c, s64 by)
{
	__sync_fetch_and_add(&counters[bpf_get_smp_processor_id() & (MAX_CPUS - 1)].v[c], by);
}

static __always_inline void count(enum counter c)
{
	count_by(c, 1);
}

static __always_inline void *this_ring(void)
{
	u32 group = bpf_get_smp_processor_id() / CPUS_PER_RING;

	if (cfg.one_ring)
		return &ring;
	return bpf_map_lookup_elem(&rings, &group);
}

/* Wake the reader when a batch is waiting; look at that only now and then. */
static __always_inline u64 wake_flag(void *ring)
{
	u64 stored = counters[bpf_get_smp_processor_id() & (MAX_CPUS - 1)].v[N_STORED];

	if (stored % 16 || bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) < cfg.wake_bytes)
		return BPF_RB_NO_WAKEUP;
	return BPF_RB_FORCE_WAKEUP;
}

/* False when the ring is full.  `now`: the reader is to look at once. */
static __always_inline bool put_flagged(const void *record, const u32 size, bool now)
{
	void *ring = this_ring();
	void *slot;

	if (!ring)
		return false;
	slot = bpf_ringbuf_reserve(ring, size, 0);
	if (!slot)
		return false;
	__builtin_memcpy(slot, record, size);
	bpf_ringbuf_submit(slot, now ? BPF_RB_FORCE_WAKEUP : wake_flag(ring));
	return true;
}

static __always_inline bool put(const void *record, const u32 size)
{
	return put_flagged(record, size, false);
}

struct address addresses[MAX_CPUS];

/* A pointer as a number that can be reckoned with, which the verifier allows of what it reads from memory only. */
static __always_inline u64 number_of(const void *p)
{
	struct address *a = &addresses[bpf_get_smp_processor_id() & (MAX_CPUS - 1)];

	a->v = (u64)p;
	return a->v;
}

/* ---- who ---- */

struct who {
	u32 tid;
	u32 pid;
	struct task_struct *task; /* NULL: the current one ... */
	bool is_away;		  /* ... unless this is set: a task that cannot be looked at now */
};

static __always_inline void who_is_current(struct who *w)
{
	u64 id = bpf_get_current_pid_tgid();

	w->tid = (u32)id;
	w->pid = id >> 32;
	w->task = NULL;
}

/*
 * Lockdown (confidentiality) allows this, but libbpf then turns the call into
 * one of the old helper for any memory, which it does not: what the program
 * has in its memory is not known there.
 */
#define read_user(to, bytes, from)     (cfg.can_read_user ? bpf_probe_read_user(to, bytes, from) : -1)
#define read_user_str(to, bytes, from) (cfg.can_read_user ? bpf_probe_read_user_str(to, bytes, from) : -1)

static __always_inline void comm_of(const struct who *w, char comm[16])
{
	if (!w->task)
		bpf_get_current_comm(comm, 16);
	else if (cfg.can_cast)
		__builtin_memcpy(comm, cast(struct task_struct, w->task)->comm, 16);
	else
		bpf_probe_read_kernel(comm, 16, &w->task->comm);
}

#define PID_LEVELS 33 /* MAX_PID_NS_LEVEL and the first */

/* The i-th number of a process, NULL past the innermost. */
static __always_inline struct upid *number_at(struct pid *pid, u32 i)
{
	if (i >= PID_LEVELS || i > peek(struct pid, pid, level))
		return NULL;
	return (struct upid *)(number_of(pid) + bpf_core_field_offset(struct pid, numbers) +
			       (u64)i * bpf_core_type_size(struct upid));
}

/* The number of the thread group in the innermost namespace, 0 when that is the first one. */
static __always_inline u32 inner_pid(struct task_struct *t)
{
	struct task_struct *leader = peek(struct task_struct, t, group_leader);
	struct pid *pid = peek(struct task_struct, leader, thread_pid);
	u32 level = pid ? peek(struct pid, pid, level) : 0;
	struct upid *number = level ? number_at(pid, level) : NULL;

	return number ? (u32)peek(struct upid, number, nr) : 0;
}

/*
 * Names the thread in the stream: at first sight, and when it has another name
 * (tasks.bpf.c forgets when it was looked at; else it is a second later).
 */
__attribute__((unused)) static __noinline int tell_task(const struct who *w, u64 now)
{
	struct task_name *known = bpf_map_lookup_elem(&tasks, &w->tid);
	struct ev_task e = { .kind = EV_TASK, .tid = w->tid, .pid = w->pid, .ts_ns = now };
	struct task_name name = { .pid = w->pid, .checked_ns = now };
	const u64 *a, *b;

	if (known && known->pid == w->pid && now - known->checked_ns < TASK_CHECK_NS)
		return 0;
	/* Its name was told when it was here. */
	if (w->is_away)
		return 0;
	comm_of(w, name.comm);
	if (known && known->pid == w->pid) {
		known->checked_ns = now;
		a = (const u64 *)known->comm;
		b = (const u64 *)name.comm;
		if (a[0] == b[0] && a[1] == b[1])
			return 0;
	}
	e.ns_pid = name.ns_pid = inner_pid(w->task ? w->task : bpf_get_current_task_btf());
	/* A worker that speaks for another has a cgroup of its own. */
	e.cgroup = name.cgroup = w->task ? 0 : bpf_get_current_cgroup_id();
	__builtin_memcpy(e.comm, name.comm, sizeof(e.comm));
	if (put(&e, sizeof(e)))
		bpf_map_update_elem(&tasks, &w->tid, &name, BPF_ANY);
	return 0;
}

/* The cgroup is that of the current task: a worker thread has one of its own. */
static __always_inline bool task_wanted(const struct who *w)
{
	if (cfg.cgroup && (u64)bpf_get_current_ancestor_cgroup_id((int)cfg.cgroup_level) != cfg.cgroup)
		return false;
	if (cfg.filter_pid && !bpf_map_lookup_elem(&pid_filter, &w->pid))
		return false;
	if (cfg.filter_comm) {
		struct task_name *known = w->is_away ? bpf_map_lookup_elem(&tasks, &w->tid) : NULL;
		char comm[16] = {};
		int i;

		if (known)
			__builtin_memcpy(comm, known->comm, sizeof(comm));
		else if (!w->is_away)
			comm_of(w, comm);
		for (i = 0; i < 16; i++) {
			if (cfg.comm[i] != comm[i])
				return false;
			if (!cfg.comm[i])
				break;
		}
	}
	return true;
}

enum decision { UNDECIDED, WANTED, UNWANTED };

/*
 * Whether the current thread is wanted: decided once where that cannot change;
 * a name and a cgroup can.  A process that is added to the filter later has not
 * been stopped by it before.
 */
static __always_inline bool wanted_once(u8 *decision)
{
	struct who w = {};

	if (*decision == UNDECIDED || cfg.filter_comm || cfg.cgroup) {
		who_is_current(&w);
		*decision = w.pid != cfg.self && task_wanted(&w) ? WANTED : UNWANTED;
	}
	return *decision == WANTED;
}

#endif
