/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that issue IO share: how they open, are stopped, and end. */
#ifndef KVIO_CMD_ISSUE_H
#define KVIO_CMD_ISSUE_H

#include <signal.h>

#include "lib/buf.h"
#include "store/emit.h"
#include "store/options.h"

/* Set by SIGINT or SIGTERM after issue_catch_signals(): end soon, and report.  A second signal ends the process. */
extern volatile sig_atomic_t issue_stop;
void issue_catch_signals(void);

/* Waits until CLOCK_MONOTONIC says `due_ns`, or until stopped. */
void issue_wait(u64 due_ns);

/* rig_open() and emit_open_file() of `program`: EXIT_OK, or what is wrong was said and this is the exit status. */
int issue_open(struct rig *rig, const struct rig_options *o);
int issue_begin_trace(struct emit *e, const char *path, const struct rig *rig, const char *program);

/* What is said beside the result, on standard error; nothing when it is empty.  Empties b. */
void issue_tell(struct buf *b);
/* The result on standard output.  Frees b.  `status`, or EXIT_FAILED when it could not be made. */
int issue_print(struct buf *b, int status);
/* Closes the trace.  `status`, or EXIT_FAILED when it could not be written. */
int issue_end_trace(struct emit *e, int status);

#endif
