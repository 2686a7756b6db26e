/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a capture says of its losses, carried on through filters, merges and
 * splits so that it still adds up:
 *
 *   seen = stored + in flight + ring_full + map_full + unread + filtered
 *
 * What a filter takes away is filtered from then on.  Commands and overflows
 * are counted, also of the older tracers, whose "drops" counts lost lines.
 */
#ifndef KVIO_ACCOUNT_H
#define KVIO_ACCOUNT_H

#include "capture/item.h"
#include "lib/hash.h"

struct numbers {
	u64 seen, stored, ring_full, map_full, hook_missed, unread, filtered, in_flight, entry_full, pid_full;
};

/* Of one input. */
struct account {
	bool device; /* events of a device were seen: an account has to follow */
	bool closed; /* by a footer or by "drops" */
	bool footer;
	bool complete;		/* the footer says so */
	struct numbers end;	/* of the footer */
	u64 dropped;		/* of "drops" */
	json_t *doc;		/* the footer as it is */
	struct ev_loss running; /* of all tracers */
	struct ev_loss running_of[EV_WITNESSES];
	u64 cut_calls, cut_requests, cut_faults; /* of cut: system calls, io_uring requests, page faults */
	u64 stored, cut;	    /* commands and overflows that were read, and those of them that were cut */
	struct map64 cut_in_flight; /* commands by identity: 1 while only snapshots of it were cut */
	u64 n_cut_in_flight;
};

void account_free(struct account *a);
/* Takes what was read, `cut` when a filter took it away.  0 or -ENOMEM. */
int account_take(struct account *a, const struct item *it, bool cut);
/* A running account as it is after what was cut so far. */
void account_adjust(const struct account *a, struct ev_loss *e);
/* Events were lost, as far as is known. */
u64 account_lost(const struct account *a);
/* The capture was ended as it should: nothing is missing at its end. */
bool account_whole(const struct account *a);
/* All that it says now, what was cut moved to filtered; with no end, as far as it goes. */
struct numbers account_numbers(const struct account *a);

/* What was lost and filtered up to here, of a capture that is still being read; all else is 0. */
struct numbers account_running(const struct account *a);

void numbers_add(struct numbers *sum, const struct numbers *n);
/* Less what was given away, nothing below 0. */
void numbers_take_away(struct numbers *sum, const struct numbers *n);

/*
 * The footer of an output from n inputs, with `counts` of its records (stolen,
 * may be NULL).  NULL when it shall have none: a capture without an end was
 * carried on `as_is`.  One without numbers when nothing is of a device.
 * `split` are the numbers of earlier parts, `part` counts from 1 (0: not split).
 */
json_t *account_footer(const struct account *a, u32 n, bool as_is, const struct numbers *split, u32 part,
		       json_t *counts);
/* The footer of a part that is not the last. */
json_t *account_part(const struct numbers *n, u32 part, json_t *counts);

#endif
