/* SPDX-License-Identifier: Apache-2.0 */
/* What files are called, told once in the stream: one table for all tracers of a recording. */
#ifndef KVIO_FILES_H
#define KVIO_FILES_H

#include "trace/trace.h"

struct files;
struct raw_failed;
struct raw_path;

/*
 * NULL = no memory.  `paths` (borrowed): with any, only files of these are
 * wanted and named.  A pattern is a glob, whose * goes over slashes, or the
 * path of a file, or of a directory and all below it.
 */
struct files *files_new(const char *const *paths, size_t n_paths);
void files_free(struct files *f);
/* The map of the programs that is told of unwanted files, negative: none. */
void files_set_map(struct files *f, int fd);
/* Whether a record of that file (known: it has one) is to be kept.  Files of unknown path are not when there are paths.
 */
bool files_wanted(const struct files *f, bool known, u32 dev, u64 ino);
/*
 * A file that is used: when it is new, what its descriptor (-1: none is known)
 * is called is given to fn in pieces.  0, -ENOMEM, or what fn returned.
 */
int files_met(struct files *f, u32 dev, u64 ino, u32 pid, s32 fd, u64 ts_ns, trace_fn fn, void *arg);
/*
 * A file that is used without a descriptor being known: looks for it where
 * thread tid has `address` mapped (0: nowhere), then among its descriptors.
 */
int files_used(struct files *f, u32 dev, u64 ino, u32 tid, u64 address, u64 ts_ns, trace_fn fn, void *arg);
/* The page cache of a block device: the device's file below /dev.  `ino` is its number, as the kernel has it. */
int files_disk(struct files *f, u32 dev, u64 ino, u64 ts_ns, trace_fn fn, void *arg);
/*
 * What the programs say that a file is called, from now on.  Returns as
 * files_met(), which asks the descriptor of those without.
 */
int files_path(struct files *f, const struct raw_path *p, trace_fn fn, void *arg);
/* The same of a cgroup by its id: its path below the mount of the hierarchy. */
int files_cgroup(struct files *f, u64 id, u64 ts_ns, trace_fn fn, void *arg);
/*
 * A path that could not be opened.  *ino is its number (see EV_DEV_NO_FILE).
 * Returns as files_met().
 */
int files_failed(struct files *f, const struct raw_failed *o, u64 *ino, trace_fn fn, void *arg);

#endif
