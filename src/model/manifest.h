/* SPDX-License-Identifier: Apache-2.0 */
/* Semantic records into a manifest. */
#ifndef KVIO_MODEL_MANIFEST_H
#define KVIO_MODEL_MANIFEST_H

#include "kv/manifest.h"
#include "model/semantic.h"

/* What of a semantic trace does not go into a manifest. */
struct manifest_skips {
	u64 failed, nameless, other; /* operations with an error, without a key, neither store nor load nor delete */
};

/*
 * The objects in the order of their first record, and all operations that
 * succeeded in the order in which they began.  With `merge_parts` the parts of
 * an object are one, as version 1 has it.  Its payload is the largest seen.
 * Device and strings of the head are the caller's.  0 or -ENOMEM.
 */
int manifest_make(struct kv_manifest *m, const struct semantic *s, bool merge_parts, struct manifest_skips *skips);

#endif
