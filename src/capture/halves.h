/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that wait for their completion.  A completion says when its command
 * was issued (ts - lat_ns), so with its identity the pair is exact.
 */
#ifndef KVIO_HALVES_H
#define KVIO_HALVES_H

#include "capture/jsonl_read.h"
#include "lib/buf.h"

struct half {
	u64 user_data, issued_ns;
	u32 has; /* HAS_USER_DATA, HAS_QUEUE, HAS_DEV of enum jsonl_has */
	u32 dev;
	u16 hwq, cid;
};

/* A waiting command. */
struct waiting {
	struct half half;
	struct slice line;    /* as it was put */
	struct jsonl_rec rec; /* of that line */
	bool verdict;
	/* of the table */
	struct buf text; /* the line, and what rec points to */
	u32 bucket_next, bucket_prev, older, younger;
};

struct halves;

/* Room for `max` commands and some 64 MiB of their lines.  NULL = no memory. */
struct halves *halves_new(u32 max);
void halves_free(struct halves *h);

struct half half_of_cmd(const struct jsonl_cmd *c);
/* False when it does not say when its command was issued. */
bool half_of_cmp(const struct jsonl_cmp *c, struct half *out);

/* There is no room: take the oldest one out. */
bool halves_full(const struct halves *h);
/* Adds a command with a verdict, or with a copy of its line (-ENOMEM). */
int halves_put_verdict(struct halves *h, const struct half *half, bool verdict);
int halves_put_line(struct halves *h, const struct half *half, struct slice line, const struct jsonl_rec *rec);
/*
 * Takes the command of that identity out: what both halves know is equal.
 * NULL when there is none, or when it cannot be told which one of several it
 * is.  Valid until the next put.
 */
struct waiting *halves_take(struct halves *h, const struct half *half);
/* Takes out the command that waits longest, NULL when none does. */
struct waiting *halves_take_oldest(struct halves *h);

#endif
