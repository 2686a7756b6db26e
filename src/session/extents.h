/* SPDX-License-Identifier: Apache-2.0 */
/* --map-files: where the blocks of files are, at the begin and at the end of a recording. */
#ifndef KVIO_EXTENTS_H
#define KVIO_EXTENTS_H

#include "io/fiemap.h"
#include "trace/recorder.h"

struct extents {
	const char *const *patterns; /* files, directories, globs; borrowed */
	size_t n_patterns;
	struct recorder *r; /* its capture gets them */
	struct mapped {
		char *path;
		struct file_map begin; /* as of its first sight */
		int error;
	} * file;
	u32 n_files, cap_files;
	struct map64 at;
	/* For the summary. */
	u64 extents;	/* of the last map of each file */
	u32 moved;	/* files with blocks that are elsewhere at the end */
	u32 unmapped;	/* files without a map: not on a disk directly, another file system, gone */
	u32 not_direct; /* ... of these, on dm, md, loop or no block device */
	u32 too_many;	/* files beyond the limit */
};

/*
 * Maps the files that the patterns name now.  Before the recording; the
 * recorder then asks for each file that is used (recorder.named).  All return 0
 * or -errno of memory or the capture.
 */
int extents_begin(struct extents *x);
/* A file that is used: arg is the struct extents. */
int extents_named(void *arg, const struct known_file *f);
/* Maps all of them again, after the recording. */
int extents_end(struct extents *x);
void extents_free(struct extents *x);

#endif
