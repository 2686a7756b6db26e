/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a stream, one after the other.  A compressed stream is unpacked by
 * a thread of its own, ahead of its user: that takes longer than what most do
 * with the text.  What comes, and in what order, is the same without it.
 */
#ifndef KVIO_AHEAD_H
#define KVIO_AHEAD_H

#include "lib/zio.h"

struct ahead;

/* Reads z (borrowed), in blocks with `front` bytes of room before each and `behind` after it.  0 or -ENOMEM. */
int ahead_open(struct ahead **out, struct zin *z, size_t front, size_t behind);
/* The next block at *p, valid until the next call: its bytes, 0 at the end of the input, -errno. */
ssize_t ahead_next(struct ahead *a, char **p);
/* Stops reading and frees.  NULL is allowed. */
void ahead_close(struct ahead *a);

#endif
