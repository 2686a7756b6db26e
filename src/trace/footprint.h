/* SPDX-License-Identifier: Apache-2.0 */
/* What each mapped file had: sums of its faults, and which of its pages were touched or mapped. */
#ifndef KVIO_FOOTPRINT_H
#define KVIO_FOOTPRINT_H

#include "capture/event.h"
#include "lib/hash.h"

/* Which pages of 512 in a row. */
struct page_chunk {
	u64 touched[8], mapped[8];
};

struct footprint_file {
	struct ev_cache sums;
	bool changed; /* since it was told last */
};

/* All zero is an empty one. */
struct footprint {
	struct footprint_file *file;
	u32 n_files, cap_files;
	struct map64 by_id; /* dev and ino -> file */
	struct page_chunk *chunk;
	u32 n_chunks, cap_chunks;
	struct map64 by_page; /* file and page / 512 -> chunk */
	u32 page_shift;
	bool full; /* pages were left out: the counts of pages are too low */
};

/* The file with these numbers, made when it is new; NULL = no memory. */
struct footprint_file *footprint_file(struct footprint *f, u32 dev, u64 ino);
/* Adds one fault of thread group pid.  0 or -ENOMEM. */
int footprint_fault(struct footprint *f, const struct ev_fault *e, u32 pid);
/* Adds a direct read or write of `bytes` at `offset`.  0 or -ENOMEM. */
int footprint_direct(struct footprint *f, u32 dev, u64 ino, bool write, u64 offset, u64 bytes);
void footprint_free(struct footprint *f);

#endif
