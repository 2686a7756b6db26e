/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of measure_take() share. */
#ifndef KVIO_MEASURE_WORK_H
#define KVIO_MEASURE_WORK_H

#include "model/measure.h"

struct measure_work {
	const struct model *m;
	enum percentile_method method;
	struct dir_names names;
	/* Of each command, in one piece. */
	u8 *state;  /* enum cmd_state */
	u8 *dir;    /* enum dir */
	bool *pool; /* in the pool and reached the device */
	/* Room for one number a command, or an operation when there are more; and again as much, to sort them. */
	u64 *scratch;
	size_t n_scratch;
	u64 end_ns;	      /* of the capture: what is in flight lasts until here */
	u32 op_name[N_DIRS];  /* string ids of "load" and "store" */
	struct op_span *span; /* of each operation */
};

static inline enum dir work_op_dir(const struct measure_work *w, u32 op)
{
	u32 name = w->m->op.name[op];

	if (!name)
		return DIR_NONE;
	return name == w->op_name[DIR_READ] ? DIR_READ : name == w->op_name[DIR_WRITE] ? DIR_WRITE : DIR_NONE;
}

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

static inline int work_dist(struct dist *d, const struct measure_work *w, u64 *v, size_t n)
{
	return dist_take_by(d, v, n, w->method);
}

static inline double share(u64 part, u64 whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Time that intervals cover, by adding them, settling, and asking. */
struct interval {
	u64 from, to, before; /* covered before it */
};
struct cover {
	struct interval *v; /* to be freed */
	size_t n, cap;
};
int cover_add(struct cover *c, u64 from, u64 to);
void cover_settle(struct cover *c);
u64 cover_of(const struct cover *c, u64 from, u64 to);

/* The commands of one operation, or of one trace id that has no operation. */
struct work_group {
	u64 first_ns;  /* submission of the first */
	u64 issued_ns; /* issue of the first */
	u64 last_ns;   /* submission of the one before, and in the end of the last */
	u64 last_lat;  /* of the command before, NO_LAT unknown */
	u64 last_end, busy_until;
	u64 flight_ns, busy_ns;
	u32 n, timed; /* commands, and those with a duration */
	u32 seen, begun, ended;
	u8 dir; /* of its first command */
};

struct work_groups {
	struct work_group *g;
	u32 *of;    /* group of each command, NONE = in no group; NULL = that of its operation */
	u32 *order; /* the commands as the application submitted them, NULL = as they are */
	u32 n;
};

static inline u32 group_of(const struct work_groups *gs, const struct measure_work *w, u32 i)
{
	if (gs->of)
		return gs->of[i];
	return w->pool[i] ? w->m->cmd.op[i] : NONE;
}

/* A deep queue; and one in which commands wait at least as long as they are served. */
#define DEEP_QUEUE     2
#define WAITING_FACTOR 2

int measure_qd1(struct measure *out, const struct measure_work *w);
/* How commands overlap: depth over all, and the evidence of each direction. */
int measure_flow(struct measure *out, const struct measure_work *w, struct work_groups *gs);
/* From verdict and evidence; what it costs. */
void classify(struct measure_qd1 *q);
int measure_failures(struct measure *out, const struct measure_work *w);
int measure_objects(struct measure *out, const struct measure_work *w);
int measure_barrier(struct measure *out, const struct measure_work *w);
int measure_requests(struct measure *out, const struct measure_work *w);

#endif
