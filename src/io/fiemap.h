/* SPDX-License-Identifier: Apache-2.0 */
/* Where the blocks of a file are. */
#ifndef KVIO_FIEMAP_H
#define KVIO_FIEMAP_H

#include "lib/types.h"

struct file_extent {
	u64 offset;   /* in the file, bytes */
	u64 physical; /* on the disk, bytes from its begin, a partition's start included; means nothing with some flags */
	u64 bytes;
	u32 flags; /* FIEMAP_EXTENT_ */
};

struct file_map {
	u32 dev;  /* of the file system, kernel encoding */
	u32 disk; /* the whole disk that it is on */
	u64 ino, size;
	struct file_extent *extent;
	u32 n;
};

/* True when bytes of the file are at `physical`: written or allocated, not inline, not waiting for a place. */
bool extent_has_place(u32 flags);

/*
 * Asks the file system; `sync` writes the file out first, so that all of it
 * has a place.  Sets dev, ino and size in any case but for the first error.
 * Returns 0, -errno of fstat() or of the file system (-EOPNOTSUPP: it has no
 * FIEMAP), -ENOMEM, -EINVAL (no regular file), or -ENODEV: it is not on a disk
 * directly, but on dm, md, loop, or without a block device of its own.
 */
int file_map(struct file_map *m, int fd, bool sync);
void file_map_free(struct file_map *m);

#endif
