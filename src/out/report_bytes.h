/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes went, layer by layer, and what caused the commands: in text, JSON and on the page. */
#ifndef KVIO_REPORT_BYTES_H
#define KVIO_REPORT_BYTES_H

#include "model/calls.h"
#include "out/report_json.h"

/* A line of the table.  Ratios are to the bytes of `base`. */
struct byte_row {
	const char *key, *title;
	u32 level; /* 1: a part of the line above it */
	const struct byte_layer *layer, *base;
	const char *missing; /* why nothing is known of it */
};

#define MAX_BYTE_ROWS 12
/* The lines of a table of l; their number. */
u32 byte_rows(struct byte_row row[MAX_BYTE_ROWS], const struct byte_layers *l);

/* Nothing where no calls and no requests were recorded. */
void text_layers(struct buf *out, const struct model *m);
void jw_layers(struct json *j, const struct model *m);
void text_causes(struct buf *out, const struct model *m);
void jw_causes(struct json *j, const struct model *m);

#endif
