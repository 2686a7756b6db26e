/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which system call, io_uring request or page fault caused a command: model.cause, filled
 * by model_join() when a capture has commands beside one of these.
 *
 * Only what is certain is joined.  A command was made when its first bio was
 * queued, or its passthrough handler was entered (ts_ns - wait_ns, with
 * NVME_ENTRY), by the thread in cmd.tid:
 *
 * CAUSE_USER_DATA  passthrough: one request alone has its user_data, thread,
 *                  opcode, data length and starting LBA, and lasted from
 *                  before the command was made until after it completed.
 * CAUSE_ORDER      the request was the last that the thread submitted before
 *                  it made the command, goes the same way, lasted until after
 *                  the command completed, and all commands found so add up to
 *                  what it returned.  On the node of the device the command
 *                  also lies within its range.  Not for threads that submit
 *                  linked, drained or forced-async requests, nor where events
 *                  were lost.
 * CAUSE_PLACE      of all requests of the process on the node of the device
 *                  that lasted from before it was made until after it
 *                  completed and go the same way, one alone has its range.
 * CAUSE_THREAD     its thread was inside this call when it made the command:
 *                  a thread is in one call at a time.
 * CAUSE_CONTAINED  captures that do not tell when a command was made: it was
 *                  issued and completed inside a read or write of its thread,
 *                  and all commands found so add up to what the call returned.
 *
 * CAUSE_EXTENT    none of these; the maps of files (model/extents.h) say which
 *                  bytes of which file all of the command is about, and one
 *                  alone can have made it:
 *                  - the page fault on that file that its thread was in;
 *                  - a read or write of another thread that has these bytes,
 *                    goes the same way and lasted from before the command was
 *                    made until after it completed;
 *                  - for writes out of the page cache: the write, or the fault
 *                    by a write, that all of these bytes were last changed by
 *                    before the command was made, and no other had a part in
 *                    since they were last written to the device.  Not where
 *                    events were lost in between, nor where the bytes can be
 *                    changed through memory that no fault tells of.
 *                  Bytes of a call or request are those of whole pages.  Where
 *                  the maps of begin and end differ they name nothing, but for
 *                  what had no place at the begin.
 *
 * A command of a request may have a call as well: the io_uring_enter in which
 * it was made.
 */
#ifndef KVIO_CAUSE_H
#define KVIO_CAUSE_H

#include "model/model.h"

enum cause_how {
	CAUSE_NOT_SOUGHT, /* a first attempt: its re-issue is another row */
	CAUSE_USER_DATA,
	CAUSE_ORDER,
	CAUSE_PLACE,
	CAUSE_THREAD,
	CAUSE_CONTAINED,
	CAUSE_EXTENT,
	/* Not joined, since ... */
	CAUSE_NO_THREAD, /* its thread made no recorded call or request: writeback, journals, other programs */
	CAUSE_OUTSIDE,	 /* its thread was in none at that time: page faults, calls that are not recorded */
	CAUSE_UNCERTAIN, /* several could have, or the bytes do not add up */
	CAUSE_MOVED,	 /* as the two first, and of a file whose blocks lay elsewhere before or afterwards */
	N_CAUSE_HOW
};

static inline bool cause_is_joined(u8 how)
{
	return how >= CAUSE_USER_DATA && how <= CAUSE_EXTENT;
}

/* "user_data", "no_thread", ...; NULL for CAUSE_NOT_SOUGHT. */
const char *cause_name(u8 how);
/* Half a sentence for people, for those that are not joined and those that are. */
const char *cause_words(u8 how);

struct cause_sum {
	u64 n, bytes; /* of commands without first attempts */
};
struct cause_sums {
	struct cause_sum joined, not_joined, of[N_CAUSE_HOW];
	u64 calls, requests, faults; /* that caused some command */
};
/* 0 or -ENOMEM. */
int cause_measure(struct cause_sums *s, const struct model *m);

/* Fills m->cause.  0 or -ENOMEM. */
int cause_find(struct model *m);
void cause_free(struct cause_table *t);
/* Keeps the n commands of `order`, in its order. */
void cause_permute(struct cause_table *t, const u32 *order, u32 n);
/* After a cut: the new row of each call, request and fault, NONE when it is gone; what it caused stays joined. */
void cause_renumber(struct model *m, const u32 *call_to, u32 n_requests, const u32 *uring_to, const u32 *fault_to);

#endif
