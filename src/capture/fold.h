/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of text captures into what a writer wants: an nvme_cmd line goes
 * together with its nvme_cmp line, or both become the record that they tell of.
 *
 * A record takes the place of lines only when jsonl_record() gives back from it
 * all that the lines say, member by member, and beyond that nothing but what
 * follows from them; all other lines stay text.  Names of threads and disks in
 * command lines become EV_TASK and EV_DISK in front, and a device document for
 * what these do not hold.
 */
#ifndef KVIO_FOLD_H
#define KVIO_FOLD_H

#include "capture/item.h"
#include "lib/str.h"

enum fold_mode {
	FOLD_NOT,   /* lines stay what and where they are */
	FOLD_PAIRS, /* a command with its completion, at the place of the completion */
	FOLD_RECORDS,
};

struct fold;

/*
 * Both are borrowed: `names` learns what the lines say, `disks` numbers the
 * disks of tracers that tell no device number.  NULL = no memory.
 */
struct fold *fold_new(enum fold_mode mode, struct names *names, struct strpool *disks);
void fold_free(struct fold *f);
/* Takes a line, after all that came of the one before was taken.  0 or -errno. */
int fold_put(struct fold *f, const struct item *line);
/* No more lines come: what still waits comes out. */
void fold_end(struct fold *f);
/* The next of what came of the lines; false when there is none (yet). */
bool fold_take(struct fold *f, struct item *out);

/* The record of a "task", "disk", "loss", "clock_anchor" or "cq_overflow" line.  False when it cannot hold the line. */
bool fold_line_record(const struct item *line, struct names *names, union event *e);

#endif
