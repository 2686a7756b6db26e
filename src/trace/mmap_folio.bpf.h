/* SPDX-License-Identifier: GPL-2.0 */
/* The page fault tracer: pages that are mapped with another, since they are one folio. */
#ifndef KVIO_MMAP_FOLIO_BPF_H
#define KVIO_MMAP_FOLIO_BPF_H

#include "trace/mmap_cache.bpf.h"
#include "trace/mmap_vma.bpf.h"

/* From the kernel: what an entry of the page cache is, by its two low bits. */
#define ENTRY_KIND    3
#define ENTRY_FOLIO   0
#define ENTRY_NODE    2
#define ENTRY_SIBLING (63u << 2) /* below: the number of the slot that is meant, times 4 */
#define ENTRY_DEPTHS  8
#define NODE_SLOTS    64

#define VM_SHARED     8
#define PTE_PER_TABLE 512

/* What the page cache has in the place of a page, 0: nothing.  May be of another page: it is looked at as it changes. */
static __noinline u64 folio_near(u64 entry, u64 page)
{
	u64 slots, at;
	u32 depth;

	for (depth = 0; depth < ENTRY_DEPTHS && (entry & ENTRY_KIND) == ENTRY_NODE; depth++) {
		at = page >> (byte_at(entry - ENTRY_NODE + bpf_core_field_offset(struct xa_node, shift)) & 63);
		slots = entry - ENTRY_NODE + bpf_core_field_offset(struct xa_node, slots);
		entry = word_at(slots + at % NODE_SLOTS * sizeof(u64));
		if ((entry & ENTRY_KIND) == ENTRY_NODE && entry < ENTRY_SIBLING)
			entry = word_at(slots + (entry >> 2) % NODE_SLOTS * sizeof(u64));
	}
	return (entry & ENTRY_KIND) == ENTRY_FOLIO ? entry : 0;
}

/*
 * Newer kernels map a whole folio at a fault on one of its pages, when it fits
 * into the mapping and the page table: the pages that can have been mapped are
 * no fewer.
 */
static __always_inline void widen_window(struct task_state *s, const struct ev_fault *r, struct file *f, void *vma)
{
	u64 page = r->offset >> mm.page_shift, mapping = (u64)peek(struct file, f, f_mapping), first, low;
	void *folio = (void *)folio_near(
		word_at(mapping + bpf_core_field_offset(struct address_space, i_pages.xa_head)), page);
	u32 n = folio ? pages_of(folio) : 0;

	if (n < 2)
		return;
	first = peek(struct folio, folio, index);
	low = (r->address >> mm.page_shift) - (page - first);
	if (page < first || page >= first + n)
		return;
	/* A page of its own, made by a write. */
	if (s->ev.flags & FAULT_WRITE && !(peek(struct vm_area_struct, vma, vm_flags) & VM_SHARED))
		return;
	if (n <= PTE_PER_TABLE && (low < peek(struct vm_area_struct, vma, vm_start) >> mm.page_shift ||
				   low + n > peek(struct vm_area_struct, vma, vm_end) >> mm.page_shift ||
				   low / PTE_PER_TABLE != (low + n - 1) / PTE_PER_TABLE))
		return;
	if (!s->window || page < s->from || page > s->to)
		s->from = s->to = page;
	if (s->from > first)
		s->from = first;
	if (s->to < first + n - 1)
		s->to = first + n - 1;
	s->window = 1;
}

#endif
