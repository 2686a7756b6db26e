/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that seek causes share. */
#ifndef KVIO_CAUSE_WORK_H
#define KVIO_CAUSE_WORK_H

#include "model/cause.h"

#define OPCODE_WRITE 1
#define OPCODE_READ  2

/* A command, and when it was made. */
struct made {
	u32 row;
	u32 tid, pid; /* pid 0 = not known */
	u64 made_ns, end_ns;
	bool known; /* the time is that, not only one that is not earlier */
};
struct made cause_made(const struct model *m, u32 i);

static inline u64 cause_end(u64 ts_ns, u64 lat_ns)
{
	return lat_ns > UINT64_MAX - ts_ns ? UINT64_MAX : ts_ns + lat_ns;
}

/* Events of this time may be missing. */
bool cause_lost_between(const struct model *m, u64 from, u64 to);

/* cause_extent.c: what the others left over, by the places of files.  0 or -ENOMEM. */
int cause_by_extent(struct model *m);

#endif
