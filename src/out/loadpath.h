/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a load path as text and as JSON. */
#ifndef KVIO_OUT_LOADPATH_H
#define KVIO_OUT_LOADPATH_H

#include "lib/buf.h"
#include "model/loadpath.h"

struct loadpath_context {
	const struct model *m;
	const struct loadpath *p;
	const struct health *health;
	const char *label; /* or NULL */
	enum dir way;
};

void loadpath_text(struct buf *out, const struct loadpath_context *c);
void loadpath_json(struct buf *out, const struct loadpath_context *c);

#endif
