// SPDX-License-Identifier: GPL-2.0
/*
 * The system call tracer: one record a call, written when it returns.
 *
 * At entry only the time is kept, in a slot of the task: the arguments are
 * still in its registers at exit.  Which call it is and where its arguments
 * are is a table that user space fills, so that no number of an architecture
 * stands here.
 */
#include "trace/file.bpf.h"
#include "trace/syscall_shared.h"
#include "trace/vector.bpf.h"

#include "trace/batch.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct syscall_config sc = {};

#define MAP_TASK_STORAGE 29
#define STORAGE_CREATE	 1
#define NO_PREALLOC	 1
#define USER_CS_32	 0x23 /* code segment of a 32-bit x86 program */
#define N_SLOTS		 16384u

/* One cache line. */
struct task_state {
	u64 enter_ns;
	u64 ino;      /* of the file that a close ends */
	u64 files[4]; /* that it used lately, so that most calls ask no map */
	u32 dev;
	u32 told;    /* when its name was looked at, in units of 2^TOLD_SHIFT ns, 0 = never */
	u32 owner;   /* thread id of whom a slot is, 0 = free */
	u8 decision; /* enum decision */
	u8 in_call;
	u16 pad;
};
#define TOLD_SHIFT 20 /* about a millisecond */

/* Most threads have a slot by the lower bits of their number: finding it costs a tenth of a look at their storage. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, N_SLOTS);
	__type(key, u32);
	__type(value, struct task_state);
} slots SEC(".maps");

/* For a thread whose slot is another one's. */
struct {
	__uint(type, MAP_TASK_STORAGE);
	__uint(map_flags, NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} states SEC(".maps");

/* Room for a path, one a CPU: programs of one kind do not nest. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct raw_failed);
} failed SEC(".maps");

/* ---- arguments ---- */

/* The number of the call, negative for one that is not of this kind of program. */
static __always_inline long call_nr(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	struct pt_regs___x86 *x = (void *)regs;

	return x->cs == USER_CS_32 ? -1 : (long)x->orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	return ((struct pt_regs___arm64 *)regs)->syscallno;
#else
#error "which register holds the number of a system call?"
#endif
}

/* The n-th argument, 1 to 6, as it was at entry. */
static __always_inline u64 argument(struct pt_regs *regs, u32 n)
{
#if defined(__TARGET_ARCH_x86)
	struct pt_regs___x86 *x = (void *)regs;

	switch (n) {
	case 1:
		return x->di;
	case 2:
		return x->si;
	case 3:
		return x->dx;
	case 4:
		return x->r10;
	case 5:
		return x->r8;
	case 6:
		return x->r9;
	default:
		return 0;
	}
#elif defined(__TARGET_ARCH_arm64)
	struct pt_regs___arm64 *a = (void *)regs;

	switch (n) {
	case 1:
		return a->orig_x0;
	case 2:
		return a->regs[1];
	case 3:
		return a->regs[2];
	case 4:
		return a->regs[3];
	case 5:
		return a->regs[4];
	case 6:
		return a->regs[5];
	default:
		return 0;
	}
#endif
}

/* ---- the state of a thread ---- */

static __always_inline struct task_state *slot_of(u32 tid)
{
	u32 at = tid & (N_SLOTS - 1);

	return bpf_map_lookup_elem(&slots, &at);
}

/* At entry; a slot that is free becomes the thread's. */
static __always_inline struct task_state *state_at_enter(struct task_struct *t)
{
	u32 tid = (u32)t->pid;
	struct task_state *s = slot_of(tid);

	if (s && (s->owner == tid || !__sync_val_compare_and_swap(&s->owner, 0, tid)))
		return s;
	return bpf_task_storage_get(&states, t, NULL, STORAGE_CREATE);
}

/* The same state at exit: a slot that has become free since is not taken. */
static __always_inline struct task_state *state_at_exit(struct task_struct *t, u64 flags)
{
	u32 tid = (u32)t->pid;
	struct task_state *s = slot_of(tid);

	return s && s->owner == tid ? s : bpf_task_storage_get(&states, t, NULL, flags);
}

/* The thread has this number no longer. */
static __always_inline void give_back(u32 tid)
{
	struct task_state *s = slot_of(tid);

	if (!s || s->owner != tid)
		return;
	s->in_call = s->told = s->dev = 0;
	s->decision = UNDECIDED;
	s->ino = s->enter_ns = 0;
	s->files[0] = s->files[1] = s->files[2] = s->files[3] = 0;
	/* All of the above is seen before this. */
	__sync_fetch_and_and(&s->owner, 0);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(gone, struct task_struct *t)
{
	give_back((u32)t->pid);
	return 0;
}

/* The name that the thread has from now on is told with its next call. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(exec, struct task_struct *t, int old_tid)
{
	struct task_state *s = state_at_exit(t, 0);

	if (s) {
		s->told = 0;
		s->decision = UNDECIDED;
	}
	/* It has become the first thread of its process. */
	if (old_tid != t->pid)
		give_back((u32)old_tid);
	return 0;
}

/* The same of a name that it gives itself, or another thread does. */
SEC("tp_btf/task_rename")
int BPF_PROG(renamed, struct task_struct *t)
{
	struct task_state *s = state_at_exit(t, 0);

	if (s)
		s->told = 0;
	return 0;
}

/* ---- entry ---- */

static __always_inline const volatile struct call_shape *shape_of(long nr)
{
	const volatile struct call_shape *shape = &sc.shape[nr & (MAX_CALL_NR - 1)];

	return (u64)nr < MAX_CALL_NR && shape->call ? shape : NULL;
}

static __always_inline bool is_new_to(struct task_state *s, u64 ino, u32 dev)
{
	u64 key = file_key(ino, dev), *lately = &s->files[(ino ^ ino >> 2 ^ dev) & 3];

	if (*lately == key)
		return false;
	*lately = key;
	return is_new_file(key);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long nr)
{
	const volatile struct call_shape *shape = shape_of(nr);
	struct task_state *s;
	struct file *f;

	if (!shape || shape->flags & CALL_UNWANTED)
		return 0;
	s = state_at_enter(bpf_get_current_task_btf());
	if (!s)
		return 0;
	s->in_call = 1;
	if (!wanted_once(&s->decision))
		return 0;
	s->enter_ns = bpf_ktime_get_ns();
	if (!(shape->flags & CALL_CLOSES))
		return 0;
	s->ino = 0;
	s->dev = 0;
	f = file_of((u32)argument(regs, 1));
	if (!f)
		return 0;
	file_numbers(f, &s->ino, &s->dev);
	/* When it returns there is nothing left to ask. */
	if (is_new_to(s, s->ino, s->dev)) {
		empty_first(this_batch());
		tell_path(f, s->ino, s->dev, s->enter_ns);
	}
	return 0;
}

/* ---- exit ---- */

/* The bytes that a vector asks for. */
static __noinline int sum_vector(struct ev_syscall *r, u64 at, u64 n)
{
	u64 bytes;

	if (!r)
		return 0;
	if (!vector_sum(at, n, &bytes))
		r->flags |= SYSCALL_PARTIAL;
	r->size = bytes;
	return 0;
}

/* Where in the file a call began; one that failed began where the file is. */
static __always_inline void set_offset(struct ev_syscall *r, const volatile struct call_shape *shape,
				       struct pt_regs *regs, struct file *f)
{
	u64 moved = r->ret > 0 ? (u64)r->ret : 0, at;

	if (shape->flags & CALL_OFFSET_AT) {
		at = argument(regs, shape->offset);
		if (at) {
			if (!read_user(&r->offset, sizeof(r->offset), (void *)at)) {
				r->offset -= moved;
				r->flags |= SYSCALL_OFFSET;
			}
			return;
		}
	} else if (shape->offset) {
		r->offset = argument(regs, shape->offset);
		/* preadv2 and pwritev2 with -1 go by the position. */
		if (!(shape->flags & CALL_AT_POSITION) || (s64)r->offset != -1) {
			r->flags |= SYSCALL_OFFSET;
			return;
		}
	}
	if (!(shape->flags & CALL_AT_POSITION))
		return;
	r->offset = 0;
	if (f && has_position(f)) {
		r->offset = (u64)peek(struct file, f, f_pos) - moved;
		r->flags |= SYSCALL_OFFSET;
	}
}

/* Sends the path that could not be opened, as long as it is. */
static __noinline int tell_failed(const struct ev_syscall *r, const char *path)
{
	u32 zero = 0;
	struct raw_failed *o = bpf_map_lookup_elem(&failed, &zero);
	void *ring = this_ring();
	struct file *dir;
	long n;

	if (!o || !ring || !r)
		return 0;
	n = read_user_str(o->path, sizeof(o->path), path);
	if (n <= 1 || n > CALL_PATH_MAX)
		return 0;
	o->dir_ino = o->dir_dev = 0;
	dir = r->fd >= 0 ? file_of((u32)r->fd) : NULL;
	if (dir)
		file_numbers(dir, &o->dir_ino, &o->dir_dev);
	o->kind = RAW_FAILED;
	o->dirfd = r->fd;
	o->ts_ns = r->ts_ns;
	o->tid = r->tid;
	o->pid = bpf_get_current_pid_tgid() >> 32;
	o->n = (u32)n - 1;
	bpf_ringbuf_output(ring, o, __builtin_offsetof(struct raw_failed, path) + (n & (CALL_PATH_MAX * 2 - 1)), 0);
	return 0;
}

static __always_inline void set_arguments(struct ev_syscall *r, const volatile struct call_shape *shape,
					  struct pt_regs *regs)
{
	u64 how[2];

	r->call = shape->call;
	r->fd = shape->fd ? (s32)argument(regs, shape->fd) : shape->flags & CALL_OPENS ? -100 : -1;
	r->size = argument(regs, shape->size);
	r->arg = (u32)argument(regs, shape->arg);
	r->fd2 = (s32)argument(regs, shape->fd2);
	if (shape->flags & CALL_VECTOR)
		sum_vector(r, argument(regs, 2), r->size);
	if (shape->flags & CALL_HOW) {
		r->arg = r->fd2 = 0;
		if (!read_user(how, sizeof(how), (void *)argument(regs, shape->arg))) {
			r->arg = (u32)how[0];
			r->fd2 = (s32)how[1];
		}
	}
}

/* The file, where it is there now. */
static __always_inline struct file *set_file(struct ev_syscall *r, const volatile struct call_shape *shape,
					     struct pt_regs *regs, const struct task_state *s)
{
	bool other = shape->flags & CALL_RETURNS_FILE;
	s64 fd = other ? r->ret : r->fd;
	struct file *f = fd >= 0 ? file_of((u32)fd) : NULL;

	if (f) {
		file_numbers(f, &r->ino, &r->dev);
		r->flags |= SYSCALL_FILE;
	} else if ((shape->flags & CALL_CLOSES) && s->ino) {
		r->ino = s->ino;
		r->dev = s->dev;
		r->flags |= SYSCALL_FILE;
	}
	set_offset(r, shape, regs, f);
	return f;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs, long ret)
{
	const volatile struct call_shape *shape = shape_of(call_nr(regs));
	struct ev_syscall r = { .kind = EV_SYSCALL };
	struct task_struct *t;
	struct task_state *s;
	struct batch *b = this_batch();
	struct file *f;
	bool entered, is_new = false;
	u64 now;

	if (!shape)
		return 0;
	count(N_SEEN);
	/* What opens says of a file whether it is another one now. */
	if (shape->flags & CALL_UNWANTED && !(cfg.filter_path && shape->flags & CALL_OPENS)) {
		count(N_FILTERED);
		return 0;
	}
	t = bpf_get_current_task_btf();
	s = state_at_exit(t, STORAGE_CREATE);
	if (!s) {
		count(N_MAP_FULL);
		return 0;
	}
	entered = s->in_call;
	s->in_call = 0;
	if (!wanted_once(&s->decision)) {
		count(N_FILTERED);
		return 0;
	}
	now = bpf_ktime_get_ns();
	r.ts_ns = entered ? s->enter_ns : now;
	r.lat_ns = now - r.ts_ns;
	r.flags = entered ? 0 : SYSCALL_NO_ENTER;
	r.ret = ret;
	r.tid = (u32)t->pid;
	set_arguments(&r, shape, regs);
	f = set_file(&r, shape, regs, s);
	if (shape->flags & CALL_OPENS) {
		empty_first(b);
		if (r.flags & SYSCALL_FILE)
			file_opened(file_key(r.ino, r.dev), r.ts_ns);
		else
			tell_failed(&r, (const char *)argument(regs, shape->fd ? 2 : 1));
	}
	if (shape->flags & CALL_UNWANTED || r.size < sc.min_bytes || r.size > sc.max_bytes ||
	    (r.flags & SYSCALL_FILE && !file_wanted(file_key(r.ino, r.dev)))) {
		count(N_FILTERED);
		return 0;
	}
	if (!s->told || (u32)(now >> TOLD_SHIFT) - s->told > TASK_CHECK_NS >> TOLD_SHIFT) {
		struct who w = {};

		who_is_current(&w);
		empty_first(b);
		tell_task(&w, r.ts_ns);
		s->told = (u32)(now >> TOLD_SHIFT) ?: 1;
	}
	if (r.flags & SYSCALL_FILE)
		is_new = is_new_to(s, r.ino, r.dev);
	if (f && (is_new || shape->flags & CALL_OPENS)) {
		empty_first(b);
		is_new = !tell_path(f, r.ino, r.dev, r.ts_ns);
	}
	/* The thread may be on another CPU when it fails to open the next one. */
	batch_store(b, &r, shape->flags & CALL_OPENS, is_new);
	return 0;
}
