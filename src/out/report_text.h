/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the text report share: lines of less than 80 columns. */
#ifndef KVIO_REPORT_TEXT_H
#define KVIO_REPORT_TEXT_H

#include "out/report.h"

#define ULL(x)	   ((unsigned long long)(x))
#define WIDTH	   79
/* Names longer than this are cut in tables. */
#define NAME_WIDTH 10

/* Text broken at blanks to the width, with its following lines indented. */
void text_wrapped(struct buf *out, const char *first, const char *indent, const char *s, size_t n);
/* A number with its unit in a column of 9, with a blank before it. */
void text_ns(struct buf *out, u64 ns);
void text_bytes(struct buf *out, u64 bytes);
/* A name of a capture in a column of NAME_WIDTH, with two blanks before it. */
void text_name(struct buf *out, const struct strpool *s, u32 id);
/* The name of a file in at most `width` bytes (escapes make it longer): the end of a path tells more than its begin. */
void text_file(struct buf *out, struct slice name, size_t width);
static inline double text_percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Sections of a capture. */
void text_objects(struct buf *out, const struct model *m, const struct measure *x);
void text_requests(struct buf *out, const struct model *m, const struct measure *x);
void text_ab(struct buf *out, const struct report_arm *base, const struct report_arm *arm);

#endif
