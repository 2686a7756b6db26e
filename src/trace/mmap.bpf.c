// SPDX-License-Identifier: GPL-2.0
/*
 * The page fault tracer: one record a fault on a mapped file, and sums of what
 * came into the page cache and went to the block devices.
 *
 * A fault is what the kernel counts as one: from its first attempt to its last.
 * handle_mm_fault sees every attempt with its mapping and its result.  Where
 * functions cannot be traced, the kernel's own counters of minor and major
 * faults, taken as events, end a fault, and tracepoints tell the rest.
 */
#include "trace/mmap_block.bpf.h"
#include "trace/mmap_cache.bpf.h"
#include "trace/mmap_folio.bpf.h"
#include "trace/mmap_state.bpf.h"
#include "trace/mmap_vma.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define MAX_AROUND 64 /* pages of a fault-around that are looked at */

/* From the kernel, the same since 5.10. */
enum {
	FAULT_FLAG_WRITE = 0x1,
	FAULT_FLAG_TRIED = 0x20,
	FAULT_FLAG_USER = 0x40,
	FAULT_FLAG_INSTRUCTION = 0x100,
	VM_FAULT_MAJOR = 0x4,
	VM_FAULT_RETRY = 0x400,
	VM_FAULT_ERROR = 0x873,
};

static __always_inline u64 page_of(u64 address)
{
	return address >> mm.page_shift;
}

/* The fault has ended: it is counted and recorded. */
static __noinline int end_fault(struct task_state *s, u64 now)
{
	struct raw_fault raw = {};
	struct ev_fault *r = &raw.ev;
	struct who w = {};

	if (!s)
		return 0;
	s->open = 0;
	s->window = 0;
	count(N_SEEN);
	*r = s->ev;
	if (!r->kind) {
		count(N_FILTERED);
		return 0;
	}
	who_is_current(&w);
	raw.pid = w.pid;
	r->lat_ns = r->flags & FAULT_NO_TIME ? 0 : now - r->ts_ns;
	tell_task(&w, r->ts_ns);
	meet_inode(NULL, r->ino, r->dev, r->address);
	count(put(&raw, sizeof(raw)) ? N_STORED : N_RING_FULL);
	return 0;
}

static __always_inline void begin_fault(struct task_state *s, u64 address, u64 now)
{
	s->open = 1;
	s->window = 0;
	s->around = 0;
	s->page_faults = 0;
	__builtin_memset(&s->ev, 0, sizeof(s->ev));
	s->ev.ts_ns = now;
	s->ev.address = address;
}

static __always_inline void set_fault(struct ev_fault *r, struct vm_area_struct *vma, struct file *f)
{
	r->kind = EV_FAULT;
	r->tid = (u32)bpf_get_current_pid_tgid();
	r->offset = (peek(struct vm_area_struct, vma, vm_pgoff) + page_of(r->address) -
		     page_of(peek(struct vm_area_struct, vma, vm_start)))
		    << mm.page_shift;
	r->mapped = 1;
	mapping_numbers(f, &r->ino, &r->dev);
}

SEC("?fentry/handle_mm_fault")
int BPF_PROG(fault_enter, struct vm_area_struct *vma, unsigned long address, u32 flags)
{
	struct file *f = vma->vm_file;
	struct task_state *s;
	u64 now;

	if (!f)
		return 0;
	s = this_state();
	if (!s) {
		count(N_SEEN);
		count(N_MAP_FULL);
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (s->open) {
		/* Once more. */
		if (page_of(s->ev.address) == page_of(address))
			return 0;
		s->ev.flags |= FAULT_UNFINISHED;
		end_fault(s, now);
	}
	begin_fault(s, address, now);
	if (!wanted_once(&s->decision))
		return 0;
	set_fault(&s->ev, vma, f);
	meet_file(f, s->ev.ino, s->ev.dev, now);
	if (flags & FAULT_FLAG_WRITE)
		s->ev.flags |= FAULT_WRITE;
	if (flags & FAULT_FLAG_INSTRUCTION)
		s->ev.flags |= FAULT_EXEC;
	if (!(flags & FAULT_FLAG_USER))
		s->ev.flags |= FAULT_KERNEL;
	return 0;
}

SEC("?fexit/handle_mm_fault")
int BPF_PROG(fault_leave, struct vm_area_struct *vma, unsigned long address, u32 flags, struct pt_regs *regs, u32 ret)
{
	struct task_state *s = bpf_task_storage_get(&states, bpf_get_current_task_btf(), NULL, 0);

	if (!s || !s->open || page_of(s->ev.address) != page_of(address))
		return 0;
	if (ret & VM_FAULT_ERROR) {
		s->ev.flags |= FAULT_FAILED;
		s->ev.mapped = 0;
	} else if (ret & VM_FAULT_RETRY) {
		if (s->ev.retries < 255)
			s->ev.retries++;
		return 0;
	} else if (ret & VM_FAULT_MAJOR || flags & FAULT_FLAG_TRIED) {
		s->ev.flags |= FAULT_MAJOR;
	}
	end_fault(s, bpf_ktime_get_ns());
	return 0;
}

/* ---- pages that are mapped around a fault ---- */

#define PTE_PRESENT  1
#define PMD_HUGE     0x80
#define PTE_ADDRESS  0x000ffffffffff000ull
#define PTES_AT_ONCE 16

static __always_inline u64 all_of(u32 n)
{
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

/* Bits of the pages in the window that are mapped now.  False: could not be read. */
static __noinline int mapped_now(const struct vm_fault *vmf, u64 first, u32 n, u64 *mask)
{
	u64 pmd = 0, base = 0, found = 0, pte[PTES_AT_ONCE], table;
	u32 i, k;

	if (!mask || !vmf)
		return 0;
	*mask = 0;
	if (bpf_probe_read_kernel(&pmd, sizeof(pmd), vmf->pmd))
		return 0;
	if (!(pmd & PTE_PRESENT))
		return 1;
	if (pmd & PMD_HUGE || bpf_probe_read_kernel(&base, sizeof(base), (void *)mm.page_offset_base))
		return 0;
	table = base + (pmd & PTE_ADDRESS) + (first & (PTE_PER_TABLE - 1)) * sizeof(u64);
	/* What lies behind the last page of the window, or of the table, is read as well and not looked at. */
	for (i = 0; i < MAX_AROUND / PTES_AT_ONCE; i++) {
		if (i * PTES_AT_ONCE >= n)
			break;
		if (bpf_probe_read_kernel(pte, sizeof(pte), (void *)(table + i * sizeof(pte))))
			return 0;
			/* Without branches: a verifier follows them all. */
#pragma unroll
		for (k = 0; k < PTES_AT_ONCE; k++)
			found |= (pte[k] & PTE_PRESENT) << (i * PTES_AT_ONCE + k);
	}
	*mask = found & all_of(n);
	return 1;
}

/* The part of the window that a record has room for, with the page itself in it. */
static __always_inline u32 clip_window(u64 page, u64 *from, u64 to, bool *wide)
{
	*wide = to - *from >= MAX_AROUND;
	if (*wide && page - *from >= MAX_AROUND / 2)
		*from = page - MAX_AROUND / 2;
	return to - *from >= MAX_AROUND ? MAX_AROUND : (u32)(to - *from + 1);
}

SEC("?fentry/filemap_map_pages")
int BPF_PROG(around_enter, struct vm_fault *vmf, unsigned long start, unsigned long end)
{
	struct task_state *s = bpf_task_storage_get(&states, bpf_get_current_task_btf(), NULL, 0);
	u64 from = start;
	bool wide;
	u32 n;

	if (!s || !s->open || !s->ev.kind)
		return 0;
	s->ptes = 0;
	s->window = 0;
	n = clip_window(vmf->pgoff, &from, end, &wide);
	if (mm.can_walk)
		s->window = mapped_now(vmf, page_of(vmf->address) - (vmf->pgoff - from), n, &s->ptes);
	return 0;
}

SEC("?fexit/filemap_map_pages")
int BPF_PROG(around_leave, struct vm_fault *vmf, unsigned long start, unsigned long end)
{
	struct task_state *s = bpf_task_storage_get(&states, bpf_get_current_task_btf(), NULL, 0);
	u64 from = start, now = 0, before;
	bool wide;
	u32 n;

	if (!s || !s->open || !s->ev.kind)
		return 0;
	n = clip_window(vmf->pgoff, &from, end, &wide);
	before = vmf->pgoff - from;
	if (wide)
		s->ev.flags |= FAULT_WIDE;
	if (s->window && mapped_now(vmf, page_of(vmf->address) - before, n, &now)) {
		now &= ~s->ptes;
	} else {
		now = all_of(n);
		s->ev.flags |= FAULT_BOUND;
	}
	s->window = 0;
	s->ev.before = (u8)before;
	/* An attempt before this one has mapped some as well; what was in the first place is the page itself. */
	s->ev.mapped = (s->around ? s->ev.mapped : 0) | now | 1ull << (before & 63);
	s->around = 1;
	return 0;
}

/* ---- faults where functions cannot be traced ---- */

/* Bits of the error code of x86, where these tracepoints are. */
enum { EXCEPTION_WRITE = 2, EXCEPTION_FETCH = 16 };

static __always_inline int exception(u64 address, u64 code)
{
	struct task_state *s = this_state();

	if (!s || !wanted_once(&s->decision))
		return 0;
	begin_fault(s, address, bpf_ktime_get_ns());
	s->ev.flags = (code & EXCEPTION_WRITE ? FAULT_WRITE : 0) | (code & EXCEPTION_FETCH ? FAULT_EXEC : 0);
	return 0;
}

SEC("?tp_btf/page_fault_user")
int BPF_PROG(fault_user, unsigned long address, void *regs, unsigned long code)
{
	return exception(address, code);
}

SEC("?tp_btf/page_fault_kernel")
int BPF_PROG(fault_kernel, unsigned long address, void *regs, unsigned long code)
{
	return exception(address, code);
}

SEC("?tp_btf/mm_filemap_fault")
int BPF_PROG(page_fault, struct address_space *mapping, unsigned long index)
{
	struct task_state *s = this_state();

	if (s)
		s->page_faults++;
	return 0;
}

SEC("?tp_btf/mm_filemap_map_pages")
int BPF_PROG(around, struct address_space *mapping, unsigned long start, unsigned long end)
{
	struct task_state *s = this_state();

	if (!s)
		return 0;
	s->from = start;
	s->to = end;
	s->window = 1;
	return 0;
}

static __noinline int set_mapped(struct ev_fault *r, u64 vma)
{
	struct file *f = peek(struct vm_area_struct, (void *)vma, vm_file);
	struct task_state *s = this_state();

	if (!r || !s || !f)
		return 0;
	set_fault(r, (void *)vma, f);
	meet_file(f, r->ino, r->dev, r->ts_ns);
	widen_window(s, r, f, (void *)vma);
	return 0;
}

static long found_vma(struct task_struct *task, struct vm_area_struct *vma, void *r)
{
	return set_mapped(r, number_of(vma));
}

/* Sets what a fault is about, its kind only if that is a file.  False: it cannot be known now. */
static __always_inline bool look_up(struct ev_fault *r)
{
	u64 vma = mapping_at(r->address);

	if (vma)
		set_mapped(r, vma);
	return vma || !bpf_find_vma(bpf_get_current_task_btf(), r->address, found_vma, r, 0);
}

struct bpf_perf_event_data {
#if defined(__TARGET_ARCH_x86)
	u64 regs[21];
#elif defined(__TARGET_ARCH_arm64)
	u64 regs[34];
#endif
	u64 sample_period;
	u64 addr;
};

#define X86_CS 17 /* its place in the registers */

/* The kernel has counted a fault. */
static __always_inline int counted(struct bpf_perf_event_data *ctx, u16 flags)
{
	u64 now = bpf_ktime_get_ns(), address = ctx->addr, page;
	struct task_state *s = this_state();
	struct ev_fault r = {};
	bool wide;
	u32 n;

	if (!s) {
		count(N_SEEN);
		count(N_MAP_FULL);
		return 0;
	}
	r.address = address;
	r.ts_ns = now;
	if (wanted_once(&s->decision)) {
		if (!look_up(&r)) {
			/* The map of its memory is being changed: what it was is not known. */
			if (s->page_faults || s->window) {
				count(N_SEEN);
				count(N_MAP_FULL);
			}
			goto out;
		}
		if (!r.kind)
			goto out;
	} else if (!s->page_faults && !s->window) {
		goto out;
	}
	r.flags = flags;
	if (s->open && page_of(s->ev.address) == page_of(address)) {
		r.ts_ns = s->ev.ts_ns;
		r.flags |= s->ev.flags;
	} else {
		r.flags |= FAULT_NO_TIME;
	}
	r.retries = s->page_faults > 1 ? (s->page_faults < 256 ? s->page_faults - 1 : 255) : 0;
	r.filled = s->ev.filled;
#if defined(__TARGET_ARCH_x86)
	if (!(ctx->regs[X86_CS] & 3))
		r.flags |= FAULT_KERNEL;
#endif
	page = r.offset >> mm.page_shift;
	if (s->window && r.kind && page >= s->from && page <= s->to) {
		u64 from = s->from;

		n = clip_window(page, &from, s->to, &wide);
		r.before = (u8)(page - from);
		r.mapped = all_of(n);
		r.flags |= FAULT_BOUND | (wide ? FAULT_WIDE : 0);
	}
	s->ev = r;
	end_fault(s, now);
out:
	s->open = 0;
	s->window = 0;
	s->page_faults = 0;
	return 0;
}

SEC("?perf_event")
int counted_minor(struct bpf_perf_event_data *ctx)
{
	return counted(ctx, 0);
}

SEC("?perf_event")
int counted_major(struct bpf_perf_event_data *ctx)
{
	return counted(ctx, FAULT_MAJOR);
}
