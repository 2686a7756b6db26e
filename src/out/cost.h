/* SPDX-License-Identifier: Apache-2.0 */
/* Load against recompute as text, JSON and CSV. */
#ifndef KVIO_OUT_COST_H
#define KVIO_OUT_COST_H

#include "kv/cost.h"
#include "lib/buf.h"

struct cost_row {
	struct kv_context x;
	struct kv_machine h;
	struct kv_cost c;
	double value;	 /* of what is swept */
	const char *why; /* not NULL: there is no figure, because ... */
};

struct cost_crossing {
	const char *name, *unit;
	bool found, below;
	double value, from, to;
	const char *model; /* instead of a value */
};

/* One case, with where it turns. */
void cost_text(struct buf *out, const struct cost_row *r, const struct cost_crossing *crossing, size_t n);
/* Several, a line each; `what` names the value that differs, or is NULL for models. */
void cost_table(struct buf *out, const char *what, const struct cost_row *rows, size_t n);
void cost_csv(struct buf *out, const char *what, const struct cost_row *rows, size_t n);
void cost_json(struct buf *out, const char *what, const struct cost_row *rows, size_t n,
	       const struct cost_crossing *crossing, size_t n_crossing);

#endif
