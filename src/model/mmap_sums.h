/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the older mmap_readamp tells, summed while records of page faults and
 * of system calls come in.  Memory grows with files and programs, not events.
 */
#ifndef KVIO_MMAP_SUMS_H
#define KVIO_MMAP_SUMS_H

#include "capture/names.h"
#include "model/faults.h"

struct mmap_sums {
	/* Its tables cache and block have the last sums of each; set page_bytes and useful_bytes. */
	struct model m;
	/* Faults of a program on a file; in the end most faults first. */
	struct fault_count {
		u32 pid, dev;
		u64 ino, faults, minor, major, failed, retries;
	} * fault;
	u32 n_faults, cap_faults;
	/* Reads or writes of a file by calls; in the end most bytes first. */
	struct intent {
		u32 dev;
		bool write;
		u64 ino, calls, bytes, moved_bytes, min_bytes, max_bytes;
		u64 partial; /* calls whose bytes are a lower bound: the end of their vector could not be read */
	} * intent;
	u32 n_intents, cap_intents;
	struct map64 cache_at, block_at, fault_at, intent_at;
	struct names *names; /* of the records */
};

/* Any record as of event.h; the names stay until the end.  0 or -ENOMEM. */
int mmap_sums_add(struct mmap_sums *s, const void *record, struct names *names);
/* Sorts, names the files, and measures: *f is to be freed with faults_free().  0 or -ENOMEM. */
int mmap_sums_close(struct mmap_sums *s, struct fault_sums *f);
/* The last path of a file, NULL when it is not known. */
const struct buf *mmap_sums_path(const struct mmap_sums *s, u32 dev, u64 ino);
void mmap_sums_free(struct mmap_sums *s);

#endif
