/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a capture, in numbers. */
#ifndef KVIO_TALLY_H
#define KVIO_TALLY_H

#include <jansson.h>

#include "capture/account.h"
#include "capture/stream.h"

struct tally;

/* NULL = no memory. */
struct tally *tally_new(void);
void tally_free(struct tally *t);
/* Counts an item that passed the filters, or that they cut.  0 or -ENOMEM. */
int tally_take(struct tally *t, const struct item *it, bool cut);
/*
 * All of it as a document (times in ns, sizes in bytes), with the account and
 * what was found while reading.  NULL = no memory.
 */
json_t *tally_json(const struct tally *t, const char *file, const struct account *a, const struct stream_info *i);
/* The same for people. */
void tally_text(struct buf *b, const struct tally *t, const char *file, const struct account *a,
		const struct stream_info *i);

#endif
