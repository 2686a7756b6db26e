/* SPDX-License-Identifier: Apache-2.0 */
/* Page faults, read amplification and block devices in reports. */
#ifndef KVIO_REPORT_FAULTS_H
#define KVIO_REPORT_FAULTS_H

#include "out/report_json.h"

/* Nothing where none were recorded. */
void text_faults(struct buf *out, const struct model *m);
void jw_faults(struct json *j, const struct model *m);

#endif
