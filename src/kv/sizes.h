/* SPDX-License-Identifier: Apache-2.0 */
/* Two distributions of command sizes, projected and measured, and how far they are apart. */
#ifndef KVIO_KV_SIZES_H
#define KVIO_KV_SIZES_H

#include "lib/hash.h"

struct kv_sizes {
	struct kv_size {
		u64 size, projected, measured; /* commands */
	} * v;
	u32 n, cap;
	struct map64 at;
};

/* Adds commands of one size.  0 or -ENOMEM. */
int kv_sizes_add(struct kv_sizes *s, u64 size, u64 projected, u64 measured);
void kv_sizes_free(struct kv_sizes *s);

struct kv_size_side {
	u64 n, min, max; /* of no commands all 0 */
};

struct kv_size_distance {
	struct kv_size_side projected, measured;
	/*
	 * Total variation: half the sum of the differences of the shares, from
	 * 0 to 1; 0 when both sides are empty, 1 when one is.  By size, and by
	 * the power of two below it, which takes 128 KiB and 255 KiB for one.
	 */
	double tv_exact, tv_log2;
	/* Earth mover's distance: bytes by which the size of a command has to change, on average; 0 when a side is
	 * empty. */
	double emd_bytes;
};

/* Sorts s.  0 or -ENOMEM. */
int kv_sizes_compare(struct kv_sizes *s, struct kv_size_distance *d);

#endif
