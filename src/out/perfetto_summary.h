/* SPDX-License-Identifier: Apache-2.0 */
/* What was converted, and whether it can be trusted: for people, and as JSON. */
#ifndef KVIO_PERFETTO_SUMMARY_H
#define KVIO_PERFETTO_SUMMARY_H

#include "lib/buf.h"
#include "out/perfetto.h"

struct perfetto_result {
	const struct perfetto_arm *arms;
	const struct perfetto_stats *stats;
	u32 n;
	const struct perfetto_options *o;
	const char *const *files; /* what was written */
	u32 n_files;
	u64 packets, bytes; /* before compression */
};

/* Version of the JSON layout: additions keep it, changes raise it. */
#define PERFETTO_SUMMARY_SCHEMA 2

void perfetto_summary_text(struct buf *out, const struct perfetto_result *r);
void perfetto_summary_json(struct buf *out, const struct perfetto_result *r);

enum perfetto_verdict {
	PERFETTO_MISMATCH = 1 << 0,   /* what was drawn is not what was read: a bug */
	PERFETTO_INCOMPLETE = 1 << 1, /* events are missing: losses, damage, a cut end, or nothing at all */
	PERFETTO_WARNED = 1 << 2,     /* there are warnings of any kind; looked for when they are asked for */
};
u32 perfetto_verdict(const struct perfetto_result *r, bool warnings);

#endif
