/* SPDX-License-Identifier: Apache-2.0 */
/* Page faults on mapped files, and what is measured of them: read amplification. */
#ifndef KVIO_FAULTS_MODEL_H
#define KVIO_FAULTS_MODEL_H

#include "lib/hist.h"
#include "model/model.h"

/* The last sums of each file, most bytes that came in first, then by faults, dev, ino. */
struct fault_sums {
	struct ev_cache all; /* of all files; flags of any */
	const struct cache_row **file;
	u32 n_files;
	const struct block_row **block; /* the last sums of each device and direction */
	u32 n_blocks;
	u64 read_requests, read_bytes, write_requests, write_bytes; /* of these */
	struct hist lat; /* ns, of faults that were recorded one by one and have a time */
	u64 page_bytes;
	u64 useful_bytes; /* by markers where there are any, else as the recorder was told; 0 = not known */
	u64 n_markers;
};

/*
 * What one layer makes of the one above it, both in bytes.  The footprint is
 * that of the pages that surely were used.
 */
enum amplification {
	AMP_PAGES,     /* footprint / useful: pages are larger than what is used of them */
	AMP_READAHEAD, /* filled / footprint: what came in beside it */
	AMP_DEVICE,    /* read from devices / filled and read directly: above 1 the file system's own, below 1 shared */
	AMP_ALL,       /* read from devices / useful */
	N_AMPS
};

struct ratio {
	u64 part, whole;
	bool known; /* both were recorded, and whole is not 0 */
};

/* 0 or -ENOMEM. */
int faults_measure(struct fault_sums *s, const struct model *m);
void faults_free(struct fault_sums *s);
/* Nothing of faults, page cache and block devices is there. */
bool faults_none(const struct model *m);
struct ratio faults_ratio(const struct fault_sums *s, enum amplification a);
/* The layer that multiplies most, as words; NULL when none does by half. */
const char *faults_hint(const struct fault_sums *s);

#endif
