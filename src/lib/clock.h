/* SPDX-License-Identifier: Apache-2.0 */
/* CLOCK_MONOTONIC is kvio's time; anchors tie it to the wall clock. */
#ifndef KVIO_CLOCK_H
#define KVIO_CLOCK_H

#include <time.h>

#include "lib/types.h"

static inline u64 timespec_ns(const struct timespec *t)
{
	return (u64)t->tv_sec * NSEC_PER_SEC + (u64)t->tv_nsec;
}

static inline u64 clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return timespec_ns(&t);
}

struct clock_anchor {
	u64 monotonic_ns;
	u64 realtime_ns;
	u32 uncertainty_ns; /* the two stamps are at most this far apart */
};

/*
 * Reads the wall clock between two monotonic reads, several times, and keeps
 * the tightest: monotonic_ns is the middle, uncertainty_ns half the bracket.
 */
static inline struct clock_anchor clock_anchor_now(void)
{
	struct clock_anchor best = { .uncertainty_ns = UINT32_MAX };
	int i;

	for (i = 0; i < 8; i++) {
		u64 before = clock_ns(CLOCK_MONOTONIC);
		u64 wall = clock_ns(CLOCK_REALTIME);
		u64 width = clock_ns(CLOCK_MONOTONIC) - before;

		if (width / 2 < best.uncertainty_ns)
			best = (struct clock_anchor){ before + width / 2, wall, (u32)(width / 2 + width % 2) };
	}
	return best;
}

#endif
