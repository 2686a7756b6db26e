/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose pid namespace is not that of the host, in reports. */
#ifndef KVIO_REPORT_TASKS_H
#define KVIO_REPORT_TASKS_H

#include "out/report_json.h"

/*
 * The programs with another pid in their own namespace, once a pid: how many.
 * The first `max` of them are in row[], as rows of the tasks.
 */
u32 container_programs(const struct model *m, u32 *row, u32 max);

/* Nothing where there are none; the first ten, with the pid of the host and that of the container. */
void text_tasks(struct buf *out, const struct model *m);
void jw_tasks(struct json *j, const struct model *m);

#endif
