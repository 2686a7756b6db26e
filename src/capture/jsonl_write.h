/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as JSON Lines: the schema of the older passthrough tracer, field for
 * field, plus fields of ours behind them.
 */
#ifndef KVIO_JSONL_WRITE_H
#define KVIO_JSONL_WRITE_H

#include "capture/event.h"
#include "capture/names.h"
#include "lib/buf.h"

/*
 * Appends the line(s) of one record: a completed command gives an nvme_cmd and
 * an nvme_cmp, a snapshot only the first; EV_PATH gives a "path"; EV_DISK gives none, EV_TASK one
 * ("task") of a thread in a pid namespace of its own; both must have been given to `names` before.
 */
void jsonl_event(struct buf *b, const void *record, struct names *names);

/*
 * The same without loss, for conversion: EV_TASK and EV_DISK give lines of
 * their own ("task", "disk"), a record of an unknown kind or size gives a
 * "kvt_record", and where the members of a line do not tell all of the
 * record's `size` bytes, "record" has them in hex.  The struct of its kind can
 * be read whatever the size is.
 */
void jsonl_record(struct buf *b, const void *record, size_t size, struct names *names);

#endif
