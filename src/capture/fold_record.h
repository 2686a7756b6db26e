/* SPDX-License-Identifier: Apache-2.0 */
/* What fold.c asks of fold_record.c: records from lines, and whether they tell all of them. */
#ifndef KVIO_FOLD_RECORD_H
#define KVIO_FOLD_RECORD_H

#include "capture/fold.h"
#include "capture/members.h"

/* A record of any size; the struct of its kind can be read. */
struct folded {
	const union event *record;
	size_t size;
};

/* Work space of the comparison. */
struct told {
	struct buf ours, raw;
	struct members a, b;
	union event event;
};

void told_free(struct told *t);

/* The record of a command and its completion (NULL for one in flight) on the device of number dev. */
void fold_command(union event *e, const struct jsonl_cmd *c, const struct jsonl_cmp *p, u32 dev,
		  const struct known_disk *d);

/*
 * The record that tells all that the line(s) do, `e` or the one in a member
 * "record".  False when neither does.
 */
bool fold_tells(struct told *t, const union event *e, const struct item *line, struct names *names, struct folded *out);

/* The same for all lines that are not of commands: the record from the line itself. */
bool fold_other(struct told *t, const struct item *line, struct names *names, struct folded *out);

/* The system call in a line, false when it is none of ours; members that it lacks are zero. */
bool fold_call(const struct members *m, union event *e);
bool fold_range(const struct members *m, union event *e);
bool fold_path(const struct members *m, union event *e);
bool fold_extent(const struct members *m, union event *e);
bool fold_uring(const struct members *m, union event *e);

#endif
