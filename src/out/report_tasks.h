/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose pid namespace is not that of the host, in reports. */
#ifndef KVIO_REPORT_TASKS_H
#define KVIO_REPORT_TASKS_H

#include "out/report_json.h"

/* Nothing where there are none; the first ten, with the pid of the host and that of the container. */
void text_tasks(struct buf *out, const struct model *m);
void jw_tasks(struct json *j, const struct model *m);

#endif
