/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One or several captures as one sequence of items: filtered, in one order,
 * with one head, and with accounts that go on adding up.
 */
#ifndef KVIO_FEED_H
#define KVIO_FEED_H

#include "capture/account.h"
#include "capture/merge.h"
#include "capture/select.h"
#include "capture/stream.h"

struct feed_source {
	const char *path;
	struct stream *stream;
	struct account account;
	u64 cut; /* items */
	/* Of feed.c: the first item, read to know the head; an account that was changed. */
	struct item first;
	bool has_first;
	union event loss;
};

struct feed {
	struct feed_source *source;
	u32 n;
	struct select *select;
	struct stream_options options; /* of all streams */
	bool sort;		       /* by time, also a single one */
	bool ends_pass;		       /* the ends of captures are items like others */
	u32 failed;		       /* the source that the last error is about */
	struct merge_info late;
	/* Of feed.c */
	struct strpool disks;
	struct merge *merge;
	struct numbers given; /* to the parts that are finished */
	u64 stored;	      /* in the part at hand */
};

/* With room for n sources, whose paths the user sets, and a selection of its own.  0 or -ENOMEM. */
int feed_init(struct feed *f, u32 n);
void feed_free(struct feed *f);

/*
 * Passes before the one that gives items, where the selection needs them: for
 * the first event of several captures, and for the ids of objects by key.
 * 0, -ENOKEY when no object has such a key, -errno of the source `failed`.
 */
int feed_learn(struct feed *f);
/* Opens all sources. */
int feed_open(struct feed *f);

/* What keeps two captures from being one. */
struct feed_clash {
	u32 a, b;	/* sources */
	bool clocks;	/* their clocks differ: different boots or hosts */
	struct buf why; /* not empty: they cannot be one */
};

/*
 * Reads what each capture begins with.  *head becomes the head of all of them
 * when they are several, NULL when there is none; then theirs are no items any
 * more.  0 or -errno; the clash is to be freed.
 */
int feed_heads(struct feed *f, json_t **head, struct feed_clash *clash);
/* The next item that passes, and its source: 1, 0, -errno. */
int feed_next(struct feed *f, struct item *it, u32 *source);
/* The item was written: it counts for the part at hand. */
void feed_wrote(struct feed *f, const struct item *it);

/* The footer of a part that is not the last.  `counts` is stolen. */
json_t *feed_part_footer(struct feed *f, u32 part, json_t *counts);
/* The footer of the output; `as_is`: of a single capture of which nothing was cut. */
json_t *feed_footer(struct feed *f, bool as_is, u32 part, json_t *counts);

#endif
