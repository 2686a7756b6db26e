/* SPDX-License-Identifier: Apache-2.0 */
/* The documents of a capture: who recorded it, and which devices it knows. */
#ifndef KVIO_META_H
#define KVIO_META_H

#include <jansson.h>

#include "capture/names.h"
#include "lib/buf.h"

/* Disks that a document names as hidden paths of another; they get their number later. */
struct meta_paths;
struct meta_paths *meta_paths_new(void);
void meta_paths_free(struct meta_paths *p);

/*
 * Tells `names` what the device table of a document knows beyond EV_DISK.
 * `paths` must be the argument of names->complete_disk = meta_complete_disk.
 * 0 or -ENOMEM.
 */
int meta_learn(struct names *names, struct meta_paths *paths, const json_t *doc);
void meta_complete_disk(void *paths, struct known_disk *d);

/* A document was made by conversion, no line of a text capture stands for it. */
bool meta_is_synthetic(const json_t *doc);
/* ... and none is needed, as it tells nothing. */
bool meta_is_empty(const json_t *doc);
/* The head of a capture that has none.  NULL = no memory, as of the others. */
json_t *meta_new(void);
/* A further document: what EV_DISK cannot hold of a device. */
json_t *meta_device(const struct known_disk *d);

/*
 * One head for several captures: the only one there is, or one that lists all
 * of them with the devices of all.  Entries may be NULL; NULL when all are.
 */
json_t *meta_merge(const json_t *const *doc, const char *const *file, size_t n);
/*
 * What keeps two captures from being one: the same device number for two
 * disks.  True and the reason in `why`.
 */
bool meta_conflict(const json_t *a, const json_t *b, struct buf *why);
/* What the wall clock is ahead of CLOCK_MONOTONIC, in ns; 0 when the document does not say. */
s64 meta_clock_offset(const json_t *doc);

#endif
