/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that issue IO share: how they open, are stopped, and end. */
#ifndef KVIO_CMD_ISSUE_H
#define KVIO_CMD_ISSUE_H

#include <signal.h>

#include "lib/buf.h"
#include "out/work.h"
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

/* What a run begins with and leaves behind of the index: recovery, its check, checkpoints. */
struct index_words {
	bool recover, check, checkpoint;
	u64 every_ns;
};

/* clang-format off */
#define INDEX_OPTS(w)                                                                                        \
	OPT_FLAG(0, "recover", &(w).recover, "begin with what the last checkpoint says is there"),              \
	OPT_FLAG(0, "check-recovered", &(w).check,                                                              \
		 "... and load all of it first: what is torn is forgotten (needs --payload-sum, --check-header or " \
		 "--verify)"),                                                                                  \
	OPT_FLAG(0, "checkpoint", &(w).checkpoint, "write one at the end"),                                     \
	OPT_DURATION(0, "checkpoint-every", &(w).every_ns, "TIME",                                              \
		     "... and between calls, when that much time has passed since the last")
/* clang-format on */

struct issue_recovered {
	struct store_recovery found;
	struct work_checked checked;
};

/* Fills the index when that was asked for.  EXIT_OK, or EXIT_FAILED when the reason was told. */
int issue_recover(struct issue_recovered *r, const struct index_words *w, struct work *work);
/* Loads what was found.  0, or as work_check_stored(). */
int issue_check_recovered(struct issue_recovered *r, const struct index_words *w, struct work *work);
/* The last checkpoint, and what became of the others: EXIT_OK, or EXIT_FAILED when the reason was told. */
int issue_last_checkpoint(const struct index_words *w, struct work *work);

#endif
