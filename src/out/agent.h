/* SPDX-License-Identifier: Apache-2.0 */
/* What a chunk cache makes of a trace, as text and as the plan that workloads read. */
#ifndef KVIO_OUT_AGENT_H
#define KVIO_OUT_AGENT_H

#include "kv/project.h"
#include "lib/buf.h"
#include "model/agent.h"

struct agent_context {
	const struct agent_trace *t;
	const struct kv_cache *c;
	u32 ranks;		       /* objects of a chunk */
	const struct kv_projection *p; /* of one object, or NULL: sizes are not known */
	const char *source_url, *source_revision, *source_license;
};

void agent_text(struct buf *out, const struct agent_context *x);
void agent_json(struct buf *out, const struct agent_context *x);

#endif
