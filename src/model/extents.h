/* SPDX-License-Identifier: Apache-2.0 */
/* Which file, and where in it, a command on a disk is about. */
#ifndef KVIO_MODEL_EXTENTS_H
#define KVIO_MODEL_EXTENTS_H

#include "model/model.h"

enum file_place {
	PLACE_NO_MAP,  /* no file of that disk was mapped, or the command has no place */
	PLACE_OUTSIDE, /* in no extent that is known: metadata, journal, files that were not mapped */
	PLACE_UNSURE,  /* the maps name several files or places */
	PLACE_BEGIN,   /* as of the first sight of the file only: it was moved or deleted later */
	PLACE_END,     /* as of the end of the recording only: it was written or moved meanwhile */
	PLACE_BOTH,    /* both maps say so */
};

/* "none", "unsure", "begin", "end", "both"; NULL of PLACE_NO_MAP. */
const char *file_place_name(enum file_place p);

/* Of a command whose place is PLACE_BEGIN or better. */
struct cmd_file {
	u32 path; /* 0 = not known */
	u32 dev;
	u64 ino;
	u64 offset;
	bool is_moved;	 /* of PLACE_END: other bytes of the file, or the same elsewhere, were mapped before */
	bool has_offset; /* false where the file system keeps something else there: compressed, encrypted */
	u64 bytes;	 /* of the command, from its begin on, that are of this file in one piece */
};

/* Where command i begins.  By binary search: there is no column of it. */
enum file_place cmd_file(const struct model *m, u32 i, struct cmd_file *f);

/* What commands did to one file. */
struct file_sum {
	u32 path, dev;
	u64 ino;
	u64 reads, read_bytes, writes, write_bytes;
};

struct file_sums {
	struct file_sum *file; /* most bytes first */
	u32 n_files;
	u64 unsure, unsure_bytes;
	u64 outside, outside_bytes;
	u64 partly; /* commands in a file that end outside of it, or in another piece */
};

/* Reads and writes that completed, on disks with maps.  0 or -ENOMEM. */
int files_measure(struct file_sums *s, const struct model *m);
void file_sums_free(struct file_sums *s);

#endif
