/* SPDX-License-Identifier: Apache-2.0 */
/* Page faults, read amplification and block devices in reports. */
#ifndef KVIO_REPORT_FAULTS_H
#define KVIO_REPORT_FAULTS_H

#include "model/faults.h"
#include "out/report_json.h"

/* Nothing where none were recorded. */
void text_faults(struct buf *out, const struct model *m);
void jw_faults(struct json *j, const struct model *m);
/* Parts of these: the four ratios; all of it, with at most so many files. */
void text_amplification(struct buf *out, const struct fault_sums *s);
/* "readahead", "came in / footprint" */
const char *amplification_name(enum amplification a);
const char *amplification_words(enum amplification a);
void jw_fault_sums(struct json *j, const struct model *m, const struct fault_sums *s, u32 most_files);

#endif
