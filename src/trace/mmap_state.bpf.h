/* SPDX-License-Identifier: GPL-2.0 */
/* The page fault tracer: what is kept of a thread, a file, a device; who is wanted. */
#ifndef KVIO_MMAP_STATE_BPF_H
#define KVIO_MMAP_STATE_BPF_H

#include "trace/file.bpf.h"
#include "trace/mmap_shared.h"

const volatile struct mmap_config mm = {};

#define MAP_TASK_STORAGE 29
#define STORAGE_CREATE	 1
#define NO_PREALLOC	 1

struct task_state {
	struct ev_fault ev; /* of the fault that is open; kind 0: not wanted */
	u64 ptes;	    /* which pages around were mapped before */
	u64 from, to;	    /* window of a fault-around, page numbers; of the last large readahead */
	u64 ra_from, ra_to;
	u64 reads_host, reads_from, reads_to; /* what a readahead that was told will add: inode, pages */
	u64 made;			      /* the folio it added last, if not to read it */
	u32 ra_depth;
	u32 page_faults; /* attempts that went to the page cache */
	u8 open;
	u8 decision; /* enum decision */
	u8 window;   /* from and to are there */
	u8 around;   /* ev.mapped is of a fault-around */
	u8 pad[4];
};

struct {
	__uint(type, MAP_TASK_STORAGE);
	__uint(map_flags, NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct file_id);
	__type(value, struct cache_sums);
} caches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct block_id);
	__type(value, struct block_sums);
} blocks SEC(".maps");

/* Bytes of an indirection unit, by device. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} units SEC(".maps");

/* Direct reads and writes under way, by kiocb. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct raw_dio);
} directs SEC(".maps");

/* ---- who and what ---- */

static __always_inline struct task_state *this_state(void)
{
	return bpf_task_storage_get(&states, bpf_get_current_task_btf(), NULL, STORAGE_CREATE);
}

/* User space is asked to look what a file is called, while the program is there. */
static __noinline int ask_path(u64 ino, u32 dev, u64 address, bool disk)
{
	struct raw_file r = { .kind = RAW_FILE, .disk = disk, .ino = ino, .dev = dev, .address = address };

	r.ts_ns = bpf_ktime_get_ns();
	r.tid = (u32)bpf_get_current_pid_tgid();
	put_flagged(&r, sizeof(r), true);
	return 0;
}

/* A file is used: what it is called is told once.  The inode (NULL: not at hand) tells disks apart. */
static __always_inline void meet_inode(struct inode *inode, u64 ino, u32 dev, u64 address)
{
	if (is_new_file(file_key(ino, dev)))
		ask_path(ino, dev, address, inode && (peek(struct inode, inode, i_mode) & S_IFMT) == S_IFBLK);
}

static __always_inline void meet_file(struct file *f, u64 ino, u32 dev, u64 now)
{
	if (is_new_file(file_key(ino, dev)) && !tell_path(f, ino, dev, now))
		ask_path(ino, dev, 0, false);
}

static __always_inline void inode_numbers(struct inode *inode, u64 *ino, u32 *dev)
{
	struct super_block *sb = peek(struct inode, inode, i_sb);

	*ino = peek(struct inode, inode, i_ino);
	*dev = peek(struct super_block, sb, s_dev);
}

/* The file whose pages are used: of a block device not its node, which is one of several. */
static __always_inline void mapping_numbers(struct file *f, u64 *ino, u32 *dev)
{
	struct address_space *mapping = peek(struct file, f, f_mapping);

	inode_numbers(peek(struct address_space, mapping, host), ino, dev);
}

#endif
