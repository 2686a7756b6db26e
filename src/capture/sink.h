/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items into a file of any format, or into several that are each a capture of
 * their own.  Files are private (0600) and take their name when they are done.
 */
#ifndef KVIO_SINK_H
#define KVIO_SINK_H

#include "capture/item.h"

enum sink_format { SINK_UNKNOWN, SINK_JSONL, SINK_KVT, SINK_CSV };

/* By suffix: .kvt, .jsonl or .csv, the texts also with .gz or .zst; "-" is JSONL. */
enum sink_format sink_format_of(const char *path);

struct sink_options {
	const char *path; /* "-" is standard output */
	enum sink_format format;
	bool live;    /* it grows under its own name, for readers that follow it */
	bool several; /* items of several captures: rows name theirs, names are told once */
	/* A new file when the next event would make it larger, have more events, or reach further; 0 = never. */
	u64 split_bytes; /* before compression */
	u64 split_events;
	u64 split_ns; /* from the first event of all on */
	/* The footer of a part that is not the last (stolen; NULL: none). */
	json_t *(*footer)(void *arg, u32 part, json_t *counts);
	void *arg;
};

struct sink_info {
	u64 written[N_ITEM_KINDS]; /* items but for lone completions; repeated heads and names too */
	u64 not_rows;		   /* a CSV has no place for them */
	u64 no_column;		   /* nor for these members of commands */
	u32 parts;
};

struct sink;

/* 0 or -errno. */
int sink_open(struct sink **out, const struct sink_options *o);
/* `source` names the capture of the item.  The first error is kept. */
int sink_put(struct sink *s, const struct item *it, const char *source);
/* Hands to the kernel all that was put. */
int sink_flush(struct sink *s);
const struct sink_info *sink_info(const struct sink *s);
/* The records of the file or part at hand by kind, as a footer has them.  NULL = no memory. */
json_t *sink_counts(const struct sink *s);
/* 0 when no part has begun yet: there is one file. */
u32 sink_part(const struct sink *s);
/* Writes the footer (NULL: none), gives the file its name, frees.  0 or the first error; then there is no file. */
int sink_close(struct sink *s, const json_t *footer);
/* Drops the file at hand; parts that were finished stay.  NULL is allowed. */
void sink_abort(struct sink *s);

#endif
