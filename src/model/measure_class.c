// SPDX-License-Identifier: Apache-2.0
/* What keeps the commands of a direction from overlapping, and what it costs. */
#include "model/measure_work.h"

/* Less than this share of the busy time with a second thread's commands is no overlap. */
#define OVERLAP_SHARE 0.1
/* As many of the submissions come from another thread than the one before. */
#define SWITCH_SHARE  0.2
/* Objects are moved one at a time when exactly one is open for this share. */
#define ALONE_SHARE   0.9
/* Pauses that matter: their share of the time with work, and their number. */
#define PAUSE_SHARE   0.2
#define MIN_PAUSES    2
/* Objects are serial when the pauses between them are as much of it. */
#define BETWEEN_SHARE 0.05

/* Several threads submit, in turn, and hardly ever overlap. */
static bool threads_take_turns(const struct measure_flow *f)
{
	return f->threads > 1 && (double)f->thread_switches >= SWITCH_SHARE * (double)f->n &&
	       share(f->thread_multi_ns, f->busy_ns) < OVERLAP_SHARE;
}

/* The queue is deep, hardly ever empty, and commands wait in it for others. */
static bool is_device_bound(const struct measure_flow *f, double paused)
{
	return f->busy_depth >= DEEP_QUEUE && paused < PAUSE_SHARE && f->at_floor.n && f->at_size.n &&
	       f->at_size.p50 / WAITING_FACTOR >= f->at_floor.p50;
}

/* One object at a time, deep inside, and pauses between. */
static bool is_serial_across(const struct measure_flow *f)
{
	return f->objects > 1 && (double)f->open_one_ns >= ALONE_SHARE * (double)f->open_ns &&
	       share(f->pause_between_ns, f->pause_between_ns + f->busy_ns) >= BETWEEN_SHARE &&
	       share(f->pause_within_ns, f->pause_within_ns + f->busy_ns) < PAUSE_SHARE;
}

static enum qd_class classify_flow(const struct measure_flow *f, u64 pauses_ns)
{
	double paused = share(pauses_ns, pauses_ns + f->busy_ns);

	if (is_device_bound(f, paused))
		return QD_DEVICE;
	if (is_serial_across(f))
		return QD_ACROSS;
	if (paused >= PAUSE_SHARE && f->pauses_within + f->pauses_between >= MIN_PAUSES)
		return QD_DRAINS;
	return QD_PIPELINED;
}

void classify(struct measure_qd1 *q)
{
	const struct measure_flow *f = &q->flow;
	u64 pauses_ns = f->pause_within_ns + f->pause_between_ns;

	q->lost_of_ns = f->busy_ns + pauses_ns;
	if (q->serial) {
		q->class = threads_take_turns(f) ? QD_TURNS : QD_WITHIN;
		q->lost_ns = q->waited_ns;
		q->lost_of_ns = q->span_ns;
	} else if (q->verdict == QD1_PIPELINED || f->busy_depth >= DEEP_QUEUE) {
		q->class = classify_flow(f, pauses_ns);
		q->lost_ns = q->class == QD_ACROSS ? f->pause_between_ns : q->class == QD_DRAINS ? pauses_ns : 0;
	}
	q->lost_share = share(q->lost_ns, q->lost_of_ns);
}
