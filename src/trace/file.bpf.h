/* SPDX-License-Identifier: GPL-2.0 */
/* Files behind descriptors. */
#ifndef KVIO_FILE_BPF_H
#define KVIO_FILE_BPF_H

#include "trace/common.bpf.h"
#include "trace/file_shared.h"

#define S_IFMT	     0170000
#define S_IFREG	     0100000
#define S_IFBLK	     0060000
#define FILES_LATELY 4096

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

/* Files that were used, by file_key(), and when each was opened last. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, u64);
} files_seen SEC(".maps");

/* Files whose path is not asked for, as user space found, and as of when: one opened since may be another one. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, u64);
} files_unwanted SEC(".maps");

/* In front of it: what was used lately is found with one load. */
u64 files_lately[FILES_LATELY];

/*
 * True when a file is used for the first time in a while: user space is woken
 * then, to look at the descriptor while the program still has it.
 */
static __always_inline bool is_new_file(u64 key)
{
	u64 never = 0, *lately = &files_lately[(key ^ key >> 12) & (FILES_LATELY - 1)];

	if (*lately == key)
		return false;
	*lately = key;
	if (bpf_map_lookup_elem(&files_seen, &key))
		return false;
	bpf_map_update_elem(&files_seen, &key, &never, BPF_ANY);
	return true;
}

static __always_inline bool file_wanted(u64 key)
{
	const u64 *as_of = cfg.filter_path ? bpf_map_lookup_elem(&files_unwanted, &key) : NULL;
	const u64 *opened_ns = as_of ? bpf_map_lookup_elem(&files_seen, &key) : NULL;

	return !as_of || (opened_ns && *opened_ns > *as_of);
}

static __always_inline void file_opened(u64 key, u64 now)
{
	if (cfg.filter_path)
		bpf_map_update_elem(&files_seen, &key, &now, BPF_ANY);
}

/* ---- what it is called ---- */

struct walk {
	u64 dentry, mount, name;
	u32 at, n; /* bytes of text, and of the name */
	u64 done;
};

/*
 * Room for a path, one a CPU: programs of one kind do not nest.  The walk is
 * there too, not on the stack: the verifier of Linux 6.1 looks at one turn of a
 * loop only, and what it knows of the stack then is wrong in the next one.
 */
struct path_room {
	struct walk w;
	struct raw_path p;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct path_room);
} path_room SEC(".maps");

static __always_inline struct path_room *room_of_path(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&path_room, &zero);
}

/* Eight bytes of a name: what is beyond its end is not used. */
static long add_word(u32 i, void *ctx)
{
	struct path_room *r = room_of_path();
	u64 name;
	u32 at;

	if (!r || i * 8 >= r->w.n)
		return 1;
	name = r->w.name + i * 8;
	at = r->w.at + i * 8;
	if (at >= PATH_TEXT)
		return 1;
	*(u64 *)(r->p.text + at) = (u64)peek(struct list_head, (void *)name, next);
	return 0;
}

/* One name, or the way over a mount. */
static long add_name(u32 i, void *ctx)
{
	struct path_room *r = room_of_path();
	void *d, *m, *up;
	u64 parent, here;
	u32 at, n;

	if (!r)
		return 1;
	here = r->w.dentry;
	d = (void *)here;
	m = (void *)r->w.mount;
	parent = (u64)peek(struct dentry, d, d_parent);
	if (here == (u64)peek(struct mount, m, mnt.mnt_root) || here == parent) {
		up = peek(struct mount, m, mnt_parent);
		if ((u64)up == (u64)m) {
			r->w.done = 1;
			return 1;
		}
		r->w.dentry = (u64)peek(struct mount, m, mnt_mountpoint);
		r->w.mount = (u64)up;
		return 0;
	}
	n = peek(struct dentry, d, d_name.len);
	r->w.n = n;
	r->w.name = (u64)peek(struct dentry, d, d_name.name);
	at = r->w.at;
	if (n >= NAME_BYTES || at >= PATH_TEXT - NAME_BYTES)
		return 1;
	bpf_loop(NAME_BYTES / 8, add_word, NULL, 0);
	at += n;
	if (at >= PATH_TEXT)
		return 1;
	r->p.text[at] = '\0';
	r->w.at = at + 1;
	r->w.dentry = parent;
	return 0;
}

/*
 * Sends what the file is called, as the kernel knows it now.  0 of one that
 * has no place in a tree (a pipe), and of one that is deeper than is looked:
 * user space asks the descriptor of these.
 */
static __noinline int tell_path(struct file *f, u64 ino, u32 dev, u64 now)
{
	struct path_room *r = room_of_path();
	void *ring = this_ring();
	u32 n;

	if (!r || !ring)
		return 0;
	r->w.at = 0;
	r->w.done = 0;
	r->w.dentry = (u64)peek(struct file, f, f_path.dentry);
	r->w.mount = (u64)peek(struct file, f, f_path.mnt) - bpf_core_field_offset(struct mount, mnt);
	bpf_loop(PATH_COMPONENTS, add_name, NULL, 0);
	n = r->w.at;
	if (!r->w.done || !n)
		return 0;
	r->p.kind = RAW_PATH;
	r->p.dev = dev;
	r->p.ino = ino;
	r->p.ts_ns = now;
	r->p.n = n;
	bpf_ringbuf_output(ring, &r->p, __builtin_offsetof(struct raw_path, text) + (n & (2 * PATH_TEXT - 1)),
			   BPF_RB_NO_WAKEUP);
	return 1;
}

#endif
