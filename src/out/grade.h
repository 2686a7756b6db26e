/* SPDX-License-Identifier: Apache-2.0 */
/* The grade of a capture as text and as JSON. */
#ifndef KVIO_OUT_GRADE_H
#define KVIO_OUT_GRADE_H

#include "lib/buf.h"
#include "model/grade.h"

/* How the projection came about, for the reader. */
struct grade_context {
	const struct model *m;
	const struct grade *g;
	struct grade_options o;
	bool from_trace; /* the trace's own head gave some of these */
	bool all_rows;	 /* every operation, not only those that deviate */
};

enum grade_verdict { GRADE_IS_EXACT, GRADE_IS_MISMATCH, GRADE_IS_INCOMPLETE, GRADE_IS_NO_DATA };
enum grade_verdict grade_verdict(const struct grade *g);

void grade_text(struct buf *out, const struct grade_context *c);
void grade_json(struct buf *out, const struct grade_context *c);

#endif
