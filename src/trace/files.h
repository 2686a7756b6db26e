/* SPDX-License-Identifier: Apache-2.0 */
/* What files are called, told once in the stream: one table for all tracers of a recording. */
#ifndef KVIO_FILES_H
#define KVIO_FILES_H

#include "trace/trace.h"

struct files;
struct raw_opened;

/* NULL = no memory. */
struct files *files_new(void);
void files_free(struct files *f);
/*
 * A file that is used: when it is new, what its descriptor (-1: none is known)
 * is called is given to fn in pieces.  0, -ENOMEM, or what fn returned.
 */
int files_met(struct files *f, u32 dev, u64 ino, u32 pid, s32 fd, u64 ts_ns, trace_fn fn, void *arg);
/*
 * A path that was opened, or that could not be.  *ino is that of the path in
 * the latter case (see EV_DEV_NO_FILE).  Returns as files_met().
 */
int files_opened(struct files *f, const struct raw_opened *o, u64 *ino, trace_fn fn, void *arg);

#endif
