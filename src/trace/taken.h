/* SPDX-License-Identifier: Apache-2.0 */
/* The account of a tracer: what its programs kept against what was taken over from them. */
#ifndef KVIO_TAKEN_H
#define KVIO_TAKEN_H

#include "capture/event.h"

/* What user space took over, counted by itself. */
struct taken {
	u64 records; /* out of the rings, of kinds that the programs count */
	u64 summed;  /* events in the sums that were read last */
	/* Of these, of no path that is asked for. */
	u64 unwanted, summed_unwanted;
};

/*
 * Sets stored, unread and filtered.  `kept` and `filtered` are the programs'
 * own counts.  While they run, what was not taken yet waits; once they have
 * `ended` and all was drained, nobody will take it any more.
 */
static inline void taken_account(struct ev_loss *e, const struct taken *t, u64 kept, u64 filtered, bool ended)
{
	u64 got = t->records + t->summed, unwanted = t->unwanted + t->summed_unwanted;

	e->unread = ended && kept > got ? kept - got : 0;
	e->stored = kept - e->unread - unwanted;
	e->filtered = filtered + unwanted;
}

#endif
