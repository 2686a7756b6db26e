/* SPDX-License-Identifier: Apache-2.0 */
/* The live view as text of 80 columns, and as JSON. */
#ifndef KVIO_TOP_H
#define KVIO_TOP_H

#include "lib/buf.h"
#include "model/live.h"

/*
 * Appends the view of the interval that ends at now_ns, at most `lines` lines
 * (0 = all); `color` marks what wants attention.
 */
void top_text(struct buf *out, const struct live *l, u64 now_ns, u32 lines, bool color);
/* The same as one JSON object and a newline. */
void top_json(struct buf *out, const struct live *l, u64 now_ns);

#endif
