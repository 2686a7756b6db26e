/* SPDX-License-Identifier: Apache-2.0 */
/* System calls, io_uring requests, and where the bytes went, in reports. */
#ifndef KVIO_REPORT_CALLS_H
#define KVIO_REPORT_CALLS_H

#include "out/report_json.h"

/* Nothing where none were recorded. */
void text_calls(struct buf *out, const struct model *m);
void jw_calls(struct json *j, const struct model *m);
/* report_files.c: which files the commands were about; nothing where none were mapped. */
void text_device_files(struct buf *out, const struct model *m);
void jw_device_files(struct json *j, const struct model *m);

#endif
