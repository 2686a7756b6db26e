/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of measure_take() share. */
#ifndef KVIO_MEASURE_WORK_H
#define KVIO_MEASURE_WORK_H

#include "model/measure.h"

struct measure_work {
	const struct model *m;
	u8 *state;    /* enum cmd_state */
	u8 *dir;      /* enum dir */
	bool *pool;   /* in the pool and reached the device */
	u64 *scratch; /* room for one number a command and an operation */
	u64 end_ns;   /* of the capture: what is in flight lasts until here */
};

/* The duration that counts for depth; false when the command has none. */
static inline bool work_interval(const struct measure_work *w, u32 i, u64 *end)
{
	if (w->state[i] == STATE_IN_FLIGHT)
		*end = MAX(w->end_ns, w->m->cmd.ts_ns[i]);
	else if (w->state[i] <= STATE_FAILED && w->m->cmd.lat_ns[i] != NO_LAT)
		*end = cmd_end(w->m, i);
	else
		return false;
	return true;
}

int measure_qd1(struct measure *out, const struct measure_work *w);
int measure_depth(struct measure *out, const struct measure_work *w);
int measure_objects(struct measure *out, const struct measure_work *w);
int measure_barrier(struct measure *out, const struct measure_work *w);

#endif
