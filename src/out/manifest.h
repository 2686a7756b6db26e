/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests as JSON. */
#ifndef KVIO_OUT_MANIFEST_H
#define KVIO_OUT_MANIFEST_H

#include "kv/manifest.h"
#include "lib/buf.h"

/* In that version; what version 1 cannot hold is left out. */
void manifest_json(struct buf *out, const struct kv_manifest *m, u32 version);

#endif
