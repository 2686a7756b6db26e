/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What mmap.bpf.c and mmap.c tell each other. */
#ifndef KVIO_MMAP_SHARED_H
#define KVIO_MMAP_SHARED_H

#ifndef __bpf__
#include "lib/types.h"
#endif

#include "capture/event.h"

/* Read-only data of the programs, set before load. */
struct mmap_config {
	u64 page_offset_base; /* where the kernel notes where all memory is mapped (x86-64) */
	u32 page_shift;
	u8 origins;  /* who sent a block request is noted when it is made */
	u8 can_walk; /* page tables can be read */
};

/* Keys have no padding that would be left to chance. */
struct file_id {
	u64 ino;
	u32 dev;
	u32 pad; /* 0 */
};

/* What came into the page cache of a file. */
struct cache_sums {
	u64 fills, fill_pages;		  /* folios and their pages */
	u64 written_fills, written_pages; /* of these, made by writes */
	u64 ra_calls, ra_pages;
};

struct block_id {
	u32 dev;
	u32 write; /* 0 or 1 */
};

struct block_sums {
	u64 requests, bytes;
	u64 min_bytes, max_bytes;
	u64 iu_bytes, sub_iu; /* see struct ev_block */
	u64 hist[EV_BLOCK_SIZES];
};

/* Raw kinds on their way to user space. */
#define RAW_DIO	 204
#define RAW_FILE 205

/* A fault on its way to user space; its kind is EV_FAULT. */
struct raw_fault {
	struct ev_fault ev;
	u32 pid; /* thread group */
	u32 pad;
};

/* A direct read or write of a file that ended. */
struct raw_dio {
	u8 kind;
	u8 write;
	u16 pad;
	u32 tid;
	u64 ts_ns;
	u64 ino;
	u64 offset;
	u64 bytes;
	u32 dev;
	u32 pad2;
};

/* A file that is used for the first time in a while: by whom, and where it is mapped. */
struct raw_file {
	u8 kind;
	u8 disk; /* the page cache of a block device */
	u8 pad[2];
	u32 tid;
	u64 ts_ns;
	u64 ino;
	u64 address; /* 0 = not known to be mapped */
	u32 dev;
	u32 pad2;
};

#endif
