/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of page faults and of the sums beside them, written and read. */
#ifndef KVIO_JSONL_FAULTS_H
#define KVIO_JSONL_FAULTS_H

#include "capture/members.h"
#include "capture/record.h"
#include "lib/buf.h"

/* True of the kinds that these are for: EV_FAULT, EV_CACHE, EV_BLOCK. */
bool jsonl_is_fault(u8 kind);
/* Adds the line of the record but for its path and its end. */
void jsonl_put_fault(struct buf *b, const union event *e, struct names *names);
/* True when its members tell all of it. */
bool jsonl_fault_is_told(const union event *e);
/* The record that the members of a line of that kind say.  False: they say none. */
bool jsonl_fold_fault(const struct members *m, u8 kind, union event *e);

#endif
