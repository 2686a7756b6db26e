/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be written.  Every command that can write opens its target here,
 * and nowhere else: a whole disk that nothing uses and whose name was repeated
 * on the command line, or a regular file.
 *
 * The char node of a namespace (/dev/ngXnY) passes by all that protects its
 * block node, so the block sibling is inspected and claimed in its place.
 */
#ifndef KVIO_GUARD_H
#define KVIO_GUARD_H

#include <limits.h>

#include "io/device.h"

#define GUARD_WHY 512 /* bytes of a sentence: what is refused, why, what to do */

struct guard_request {
	const char *target;	   /* a node of a disk, by any of its names, or a file that may not exist yet */
	const char *destroy;	   /* what --yes-destroy-data said, NULL = nothing */
	const char *expect_serial; /* of the drive; NULL = any */
	bool passthrough;	   /* open the char node for NVMe commands */
	bool buffered;		   /* a file through the page cache */
	u64 file_bytes;		   /* size that a file is given when it is smaller (sparse); 0 = as it is */
};

/* An open target; nobody else can claim it until guard_close(). */
struct guard {
	int fd;		     /* for IO, read and write */
	int claim_fd;	     /* exclusive hold on the disk; a file is locked instead */
	char node[PATH_MAX]; /* what fd is */
	char name[64];	     /* nvme0n1, or the file's name */
	bool is_file, created;
	u64 capacity;	   /* bytes */
	u32 lba_bytes;	   /* what offsets and lengths must be multiples of; 1 for a buffered file */
	struct nvme_ns ns; /* of an NVMe namespace; else name is "" (its path list is not kept) */
};

/*
 * Inspects the target and opens it.  0, or -errno and why[GUARD_WHY]; nothing
 * was written then, but for a new file, which is removed again.
 *   -EPERM    refused: in use, not named by `destroy`, another serial, ...
 *   -EINVAL   no such sort of target
 *   others    it cannot be opened or inspected
 */
int guard_open(struct guard *g, const struct guard_request *r, const struct device_roots *roots, char *why);
void guard_close(struct guard *g);
/* The same when nothing came of it: a file that was made for it goes again. */
void guard_discard(struct guard *g);

/*
 * The part of guard_open() that judges a disk: 0 or -EPERM and why.  Reads
 * only.  `ns` is its namespace out of `list`, or NULL when it is no NVMe disk.
 */
int guard_judge(const struct device_roots *roots, const char *disk, const struct nvme_ns *ns,
		const struct nvme_ns *list, size_t n, const struct guard_request *r, char *why);

#endif
