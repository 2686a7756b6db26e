/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a byte stream into lines, in memory that is bounded by the longest line. */
#ifndef KVIO_LINES_H
#define KVIO_LINES_H

#include "capture/kvt.h"
#include "lib/ndjson.h"

/* A longer line is damage: it is skipped and counted. */
#define LINES_MAX (16u << 20)

struct lines {
	kvt_read_fn read;
	void *arg;
	char *buf;
	size_t at, n, cap; /* the unread bytes are buf[at..n) */
	u64 number;	   /* of the line returned last, from 1 */
	u64 too_long;	   /* lines that were skipped */
	u64 first_too_long;
	bool bom;   /* the stream began with a byte order mark, which is skipped */
	bool tail;  /* the line returned last has no newline */
	bool ended; /* the input has no more bytes */
	bool started, skipping;
};

void lines_init(struct lines *l, kvt_read_fn read, void *arg);
/*
 * The next line without its newline (a CR stays), valid until the next call:
 * 1, 0 at the end, -errno.
 */
int lines_next(struct lines *l, struct slice *line);
/*
 * The bytes behind that line which have been read already, for a reader that
 * can tell a line from its beginning; JSONL_SLACK bytes behind them can be read.
 */
struct slice lines_ahead(const struct lines *l);
/* Takes n bytes of these: one line and its newline. */
void lines_take(struct lines *l, size_t n);
void lines_free(struct lines *l);

#endif
