/* SPDX-License-Identifier: Apache-2.0 */
/* What the summary of a conversion says in sentences: warnings, and notes that need no action. */
#ifndef KVIO_PERFETTO_SENTENCES_H
#define KVIO_PERFETTO_SENTENCES_H

#include "out/perfetto.h"
#include "out/report.h"

struct perfetto_sentences {
	struct report_warnings warnings, notes;
};
void perfetto_sentences(struct perfetto_sentences *x, const struct model *m, const struct perfetto_stats *s);
void perfetto_sentences_free(struct perfetto_sentences *x);

/* True when there is nothing in the capture, before any cut. */
bool perfetto_is_empty(const struct model *m);
/* True when a slice stands for several things. */
bool perfetto_is_aggregated(const struct perfetto_stats *s);

#endif
