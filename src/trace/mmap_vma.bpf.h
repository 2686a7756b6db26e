/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page fault tracer: the mapping at an address, looked up without a lock.
 *
 * bpf_find_vma takes the lock of all mappings: it fails while another thread
 * maps something, and where interrupts are off, as behind a perf event, it lets
 * go of the lock in an interrupt of its own, 3 us in a virtual machine.  A
 * fault holds its own mapping, so that it stays while its handler looks.
 */
#ifndef KVIO_MMAP_VMA_BPF_H
#define KVIO_MMAP_VMA_BPF_H

#include "trace/common.bpf.h"

/* From the kernel: a node of the tree is aligned to 256, its type is in the bits below. */
#define NODE_MASK   0xffull
#define NODE_DEPTHS 8
#define NODE_PIVOTS 15

static __always_inline u64 word_at(u64 address)
{
	return (u64)peek(struct timespec64, (void *)address, tv_sec);
}

static __always_inline u32 byte_at(u64 address)
{
	return peek(struct maple_metadata, (void *)address, end);
}

/* The entry of the tree at an address, 0: there is none, or the tree is being changed there. */
static __noinline u64 entry_at(u64 entry, u64 address)
{
	const u32 leaf = bpf_core_enum_value(enum maple_type, maple_leaf_64);
	const u32 arange = bpf_core_enum_value(enum maple_type, maple_arange_64);
	u32 depth, type, end, i;
	u64 node, pivots, slots;

	for (depth = 0; depth < NODE_DEPTHS; depth++) {
		node = entry & ~NODE_MASK;
		type = entry >> 3 & 15;
		if (type == arange) {
			pivots = node + bpf_core_field_offset(struct maple_arange_64, pivot);
			slots = node + bpf_core_field_offset(struct maple_arange_64, slot);
			end = byte_at(node + bpf_core_field_offset(struct maple_arange_64, meta));
		} else {
			pivots = node + bpf_core_field_offset(struct maple_range_64, pivot);
			slots = node + bpf_core_field_offset(struct maple_range_64, slot);
			/* A full node has a slot where the number of the others is. */
			end = word_at(pivots + (NODE_PIVOTS - 1) * sizeof(u64))
				      ? NODE_PIVOTS
				      : byte_at(node + bpf_core_field_offset(struct maple_range_64, meta));
		}
		/* A pivot is the last address of its slot. */
		for (i = 0; i < NODE_PIVOTS && i < end; i++)
			if (word_at(pivots + i * sizeof(u64)) >= address)
				break;
		entry = word_at(slots + i * sizeof(u64));
		if (type == leaf)
			return entry;
	}
	return 0;
}

/* The mapping at an address of the current thread; 0: look it up in another way. */
static __always_inline u64 mapping_at(u64 address)
{
	struct mm_struct *memory = bpf_get_current_task_btf()->mm;
	u64 vma = memory ? entry_at(word_at((u64)memory + bpf_core_field_offset(struct mm_struct, mm_mt.ma_root)),
				    address)
			 : 0;

	if (!vma || peek(struct vm_area_struct, (void *)vma, vm_start) > address ||
	    peek(struct vm_area_struct, (void *)vma, vm_end) <= address)
		return 0;
	return vma;
}

#endif
