/* SPDX-License-Identifier: Apache-2.0 */
/* The two lines of the older iouring_monitor for a request: its intent and its completion. */
#ifndef KVIO_OLDER_URING_H
#define KVIO_OLDER_URING_H

#include "capture/names.h"
#include "lib/buf.h"

/* All zero before the first line. */
struct older_uring {
	struct map64 told; /* requests whose intent was told before they ended -> their serial */
	u32 serial;	   /* stands for the address of a request: no other one of the file has it */
};

/*
 * Appends what is to be told of a record: its intent once, its completion
 * unless it is a snapshot or never had one.  0 or -ENOMEM.
 */
int older_uring_lines(struct older_uring *o, struct buf *b, const struct ev_uring *e, struct names *names);
void older_uring_free(struct older_uring *o);

#endif
