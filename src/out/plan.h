/* SPDX-License-Identifier: Apache-2.0 */
/* Projections as text and as JSON. */
#ifndef KVIO_OUT_PLAN_H
#define KVIO_OUT_PLAN_H

#include "kv/project.h"
#include "lib/buf.h"

struct plan_row {
	struct kv_query q;
	struct kv_projection p;
	const char *why; /* not NULL: there is no projection, because ... */
	bool op[N_KV_OPS];
};

/* One projection in full. */
void plan_text(struct buf *out, const struct plan_row *r);
/* Many, a line each. */
void plan_table(struct buf *out, const struct plan_row *rows, size_t n);
void plan_json(struct buf *out, const struct plan_row *rows, size_t n);
/* What the older tool prints of one operation. */
void plan_json_older(struct buf *out, const struct plan_row *r, enum kv_op op);

#endif
