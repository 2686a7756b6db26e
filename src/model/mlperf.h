/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IO trace of MLPerf Storage's KV cache benchmark (--io-trace-log) into a
 * manifest: CSV with the columns Timestamp, Operation, Object_Size_Bytes, Tier,
 * Key and Phase, in any order.  Times are seconds, reads are loads, writes
 * stores.
 */
#ifndef KVIO_MLPERF_H
#define KVIO_MLPERF_H

#include "kv/manifest.h"

struct mlperf_counts {
	u64 rows, selected;
	u64 other_tier;
	u64 unknown_ops; /* rows whose operation is none of ours */
	u64 malformed;	 /* rows with a field missing or no number */
	u64 first_bad_line;
	bool cut;
};

/* True when the first line is the head of such a trace. */
bool mlperf_is_head(const char *line, size_t n);
/*
 * `tier` is the one to keep ("Tier-2" is NVMe), NULL keeps all.  Rows without a
 * Key are objects of their own.  0, -errno of the file, -EBADMSG when it has no
 * such head.
 */
int mlperf_read(struct kv_manifest *m, const char *path, const char *tier, struct mlperf_counts *c);

#endif
