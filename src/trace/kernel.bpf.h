/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel types that our programs read, declared by hand: only the members
 * that are used, placed by CO-RE at load.  A name with ___suffix is a flavour
 * of the type for a kernel that has the member elsewhere.
 */
#ifndef KVIO_KERNEL_BPF_H
#define KVIO_KERNEL_BPF_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* The names that libbpf's headers expect. */
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef signed short __s16;

enum bpf_map_type_used {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum bpf_flags_used {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

enum req_flag_bits { __REQ_PREFLUSH };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct signal_struct {
	struct {
		int counter;
	} live;
};

struct super_block {
	u32 s_dev;
};

struct qstr {
	u32 len;
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct inode {
	u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	s64 i_size;
	void *i_cdev;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	struct address_space *f_mapping;
	s64 f_pos;
};

/* The folios of a file by page number; see mmap_folio.bpf.h. */
struct xarray {
	void *xa_head;
};

struct xa_node {
	u8 shift;
	void *slots[64];
};

struct address_space {
	struct inode *host;
	struct xarray i_pages;
};

/* The word of its flags comes first in every kernel, under changing types. */
struct folio {
	struct address_space *mapping;
	unsigned long index;
};

/* A 64-bit number first: to read a word as a number. */
struct timespec64 {
	s64 tv_sec;
};

struct folio___pages {
	u32 _folio_nr_pages;
};

/* Later. */
struct folio___nr {
	u32 _nr_pages;
};

enum pageflags { PG_head };

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	unsigned long vm_flags;
	struct file *vm_file;
};

/* The mappings of a process by address; see mmap_vma.bpf.h. */
struct maple_tree {
	void *ma_root;
};

struct maple_metadata {
	u8 end;
};

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
	struct maple_metadata meta;
};

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
	struct maple_metadata meta;
};

enum maple_type { maple_dense, maple_leaf_64, maple_range_64, maple_arange_64 };

struct mm_struct {
	struct maple_tree mm_mt;
};

struct vm_fault {
	unsigned long pgoff;
	unsigned long address;
	void *pmd;
};

struct readahead_control {
	struct address_space *mapping;
};

struct file_ra_state {
	u32 size;
};

struct list_head {
	struct list_head *next;
};

struct fdtable {
	u32 max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct ns_common {
	u32 inum;
};

struct pid_namespace {
	struct ns_common ns;
};

/* A number in a pid namespace; those of a process begin with the first one's. */
struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	u32 level;
	struct upid numbers[1];
};

struct task_struct {
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	u32 flags;
	int pid;
	int tgid;
	char comm[16];
	struct signal_struct *signal;
	struct files_struct *files;
	struct mm_struct *mm;
};

/* Registers at the entry of a system call, by architecture. */
struct pt_regs___x86 {
	unsigned long r10, r9, r8, dx, si, di, orig_ax, cs;
};

struct pt_regs___arm64 {
	u64 regs[31];
	u64 orig_x0;
	s32 syscallno;
};

struct gendisk {
	int major;
	int first_minor;
	char disk_name[32];
	void *private_data;
};

struct block_device {
	struct gendisk *bd_disk;
};

struct bvec_iter {
	u64 bi_sector;
	u32 bi_size;
};

struct bio {
	struct bio *bi_next;
	struct bvec_iter bi_iter;
	struct block_device *bi_bdev;
	u32 bi_opf;
};

struct request_queue {
	struct gendisk *disk;
	void *queuedata;
};

struct blk_mq_hw_ctx {
	u32 queue_num;
};

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	u32 cmd_flags;
	u32 __data_len;
	u64 __sector;
	struct bio *bio;
	void *end_io;
	void *end_io_data;
};

struct nvme_common_command {
	u8 opcode;
	u8 flags;
	u16 command_id;
	u32 nsid;
	u32 cdw2[2];
	u32 cdw10;
	u32 cdw11;
	u32 cdw12;
	u32 cdw13;
	u32 cdw14;
	u32 cdw15;
};

struct nvme_command {
	struct nvme_common_command common;
};

/* The driver's own part of a request, right behind struct request. */
struct nvme_request {
	u8 retries;
	u16 status;
};

struct nvme_ns_ids {
	u8 csi;
};

struct cdev {
	u32 dev;
};

struct nvme_ns_head {
	struct nvme_ns_ids ids;
	u32 ns_id;
	struct cdev cdev;
	struct gendisk *disk;
};

/* Since 6.8 the format is the head's. */
struct nvme_ns_head___format {
	u32 lba_shift;
	u16 ms;
};

struct nvme_ns {
	struct nvme_ns_head *head;
	struct gendisk *disk;
	struct cdev cdev;
};

struct nvme_ns___format {
	u32 lba_shift;
	u16 ms;
};

struct io_uring_sqe {
	u64 user_data;
};

struct io_ring_ctx {
	u32 flags;
};

struct kiocb {
	struct file *ki_filp;
	s64 ki_pos;
	int ki_flags;
};

/* A direct read or write, before its completion had a tracepoint. */
struct iomap_dio {
	struct kiocb *iocb;
	s64 size;
	int error;
	bool wait_for_completion;
};

/* What a prepared request keeps of its SQE. */
struct io_rw {
	struct kiocb kiocb;
	u64 addr;
	u32 len;
};

struct io_sync {
	s64 len;
	s64 off;
};

struct io_uring_cmd {
	struct file *file;
	u32 cmd_op;
};

/* Up to 6.2 the command itself, later the SQE that holds it. */
struct io_uring_cmd___cmd {
	const void *cmd;
};

struct io_uring_cmd___sqe {
	const struct io_uring_sqe *sqe;
};

enum io_uring_cmd_flags {
	IO_URING_F_NONBLOCK = (s32)0x80000000,
};

struct io_cqe {
	u64 user_data;
	s32 res;
	u32 flags; /* of the completion; until then the descriptor ... */
	s32 fd;	   /* ... in the same place */
};

struct io_kiocb {
	struct file *file;
	u8 opcode;
	u32 flags; /* wider on newer kernels; the low bits are those of the SQE */
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
};

/* Up to 6.12 the task itself, later its io_uring context. */
struct io_kiocb___task {
	struct task_struct *task;
};

struct io_uring_task {
	struct task_struct *task;
};

struct io_kiocb___tctx {
	struct io_uring_task *tctx;
};

/* The command of the application (kernel ABI). */
struct nvme_uring_cmd {
	u8 opcode;
	u32 nsid;
	u32 cdw2;
	u32 cdw3;
	u64 addr;
	u32 data_len;
	u32 cdw10;
	u32 cdw11;
	u32 cdw12;
	u32 cdw14;
	u32 cdw15;
};

#pragma clang attribute pop

#define SQE_CMD_OFFSET		 48   /* of the command in a 128-byte SQE */
#define NVME_URING_CMD_IO_VEC_NR 0x81 /* low byte of the ioctl number */
#define NVME_CSI_KV		 1

#define EAGAIN	    11
#define EIOCBQUEUED 529

#endif
