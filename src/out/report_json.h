/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the JSON report share: a text with one member a line, one blank a level. */
#ifndef KVIO_REPORT_JSON_H
#define KVIO_REPORT_JSON_H

#include "out/report.h"

struct json {
	struct buf *b;
	u32 depth;
	bool first;
};

/* An element of an array. */
void jw_item(struct json *j);
/* The name of a member, to be followed by its value. */
void jw_key(struct json *j, const char *name);
void jw_key_n(struct json *j, const char *name, size_t n);
void jw_open(struct json *j, char bracket);
void jw_close(struct json *j, char bracket);
/* jw_key() and jw_open() */
void jw_object(struct json *j, const char *name);
void jw_array(struct json *j, const char *name);

void jw_number(struct json *j, const char *name, u64 v);
void jw_signed(struct json *j, const char *name, s64 v);
void jw_bool(struct json *j, const char *name, bool v);
void jw_string(struct json *j, const char *name, const char *s);
void jw_null(struct json *j, const char *name);
/* null when v is not finite */
void jw_real(struct json *j, const char *name, double v);
/* null when n is 0: nothing was measured */
void jw_number_of(struct json *j, const char *name, u64 v, u64 n);
void jw_real_of(struct json *j, const char *name, double v, u64 n);
/* null for id 0 */
void jw_pooled(struct json *j, const char *name, const struct strpool *s, u32 id);
/* PREFIXmin, PREFIXp50 and so on; they exist in every case */
void jw_dist(struct json *j, const char *prefix, const struct dist *d);

/* Sections of a capture. */
void jw_queue(struct json *j, const struct measure *x);
void jw_objects(struct json *j, const struct model *m, const struct measure *x);
void jw_serving(struct json *j, const struct model *m, const struct measure *x);
void jw_ab(struct json *j, const struct report_arm *base, const struct report_arm *arm);

#endif
