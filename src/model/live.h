/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates of the last interval, by device and by process, from events as they
 * come: what `kvio top` shows.  Memory is one row a device or process.
 */
#ifndef KVIO_LIVE_H
#define KVIO_LIVE_H

#include "capture/event.h"
#include "capture/names.h"
#include "lib/hist.h"

struct live_row {
	u32 id; /* device number, or process id */
	char name[33];
	u64 reads, writes, others; /* completed in the interval */
	u64 read_bytes, write_bytes;
	u64 failed, refused;
	u64 lat_sum_ns;	    /* of all that completed */
	u64 busy_ns;	    /* when at least one was under way, as far as completions tell */
	u64 covered_ns;	    /* up to here busy_ns has been counted */
	u64 in_flight;	    /* now */
	u64 objects;	    /* distinct trace ids in flight now */
	struct hist lat;    /* ns, good ones */
	u64 idle_intervals; /* in a row without a command: old rows go */
};

struct live_table {
	struct live_row *row;
	u32 n, cap;
};

struct live {
	struct live_table devices, processes;
	struct names names;
	struct ev_loss loss;
	u64 overflows;
	u64 since_ns; /* begin of the interval */
	u64 *ids;     /* (row kind, row, trace id) seen in flight in this look */
	u32 n_ids, cap_ids;
	bool failed; /* out of memory: numbers are not complete */
};

/* Takes one event of the stream, or a snapshot of what is in flight.  0 or -ENOMEM. */
int live_event(struct live *l, const void *record);
/* Before a look: forgets what was in flight at the last one. */
void live_forget_in_flight(struct live *l);
/* After a look: begins the next interval at now_ns, and drops rows that were idle for long. */
void live_next(struct live *l, u64 now_ns);
void live_free(struct live *l);

/* What a row says of its queue depth. */
enum live_verdict {
	LIVE_IDLE, /* busy for less than a twentieth of the time, or nothing to judge by */
	LIVE_QD1,  /* less than 1.5 under way while busy */
	LIVE_PIPELINED,
};

/* Commands under way on average while busy, from Little's law: sum of durations / busy time. */
double live_busy_depth(const struct live_row *r);
enum live_verdict live_judge(const struct live_row *r, u64 interval_ns);

#endif
