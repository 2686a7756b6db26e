/* SPDX-License-Identifier: GPL-2.0 */
/* Files behind descriptors, and vectors in user memory. */
#ifndef KVIO_FILE_BPF_H
#define KVIO_FILE_BPF_H

#include "trace/common.bpf.h"

#define S_IFMT	   0170000
#define S_IFREG	   0100000
#define S_IFBLK	   0060000
#define MAX_IOVECS 1024 /* UIO_MAXIOV: the kernel takes no more */

/* ---- the file behind a descriptor ---- */

static __always_inline struct file *file_of(u32 fd)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct files_struct *files = task->files;
	struct fdtable *table;

	if (!files)
		return NULL;
	table = files->fdt;
	if (fd >= table->max_fds)
		return NULL;
	/* An array of pointers is not known to the verifier: its element is read as the first member of a struct. */
	return (struct file *)peek(struct list_head, (void *)((u64)table->fd + fd * sizeof(void *)), next);
}

static __always_inline void file_numbers(struct file *f, u64 *ino, u32 *dev)
{
	struct inode *inode = peek(struct file, f, f_inode);
	struct super_block *sb = peek(struct inode, inode, i_sb);

	*ino = peek(struct inode, inode, i_ino);
	*dev = peek(struct super_block, sb, s_dev);
}

/* Whether a position means something: not in a pipe, a socket, a terminal. */
static __always_inline bool has_position(struct file *f)
{
	struct inode *inode = peek(struct file, f, f_inode);
	u16 type = peek(struct inode, inode, i_mode) & S_IFMT;

	return type == S_IFREG || type == S_IFBLK;
}

static __always_inline u64 file_key(u64 ino, u32 dev)
{
	return ino ^ (u64)dev << 40 ^ dev;
}

/* Files that were used, by file_key(). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, u8);
} files_seen SEC(".maps");

/*
 * True when a file is used for the first time in a while: user space is woken
 * then, to look at the descriptor while the program still has it.
 */
static __always_inline bool is_new_file(u64 key)
{
	u8 yes = 1;

	if (bpf_map_lookup_elem(&files_seen, &key))
		return false;
	bpf_map_update_elem(&files_seen, &key, &yes, BPF_ANY);
	return true;
}

struct iovec {
	u64 base, len;
};

struct vector {
	const void *at;
	u64 n;
	u64 bytes;
	bool partial;
};

static long add_iovec(u32 i, void *ctx)
{
	struct vector *v = ctx;
	struct iovec one;

	if (i >= v->n)
		return 1;
	if (bpf_probe_read_user(&one, sizeof(one), v->at + i * sizeof(one))) {
		v->partial = true;
		return 1;
	}
	v->bytes += one.len;
	return 0;
}

static __always_inline void vector_sum(struct vector *v, u64 at, u64 n)
{
	v->at = (const void *)at;
	v->n = n;
	v->bytes = 0;
	v->partial = n > MAX_IOVECS;
	if (!v->partial)
		bpf_loop(MAX_IOVECS, add_iovec, v, 0);
}

#endif
