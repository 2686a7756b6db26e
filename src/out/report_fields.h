/* SPDX-License-Identifier: Apache-2.0 */
/* The members of the JSON report, one by one. */
#ifndef KVIO_REPORT_FIELDS_H
#define KVIO_REPORT_FIELDS_H

#include "lib/types.h"

/*
 * One member a row, members of an object below it with a greater depth.
 * Types: i integer, r number, s string, b true or false, o object, a array of
 * objects, t array of strings, m object of objects with free names, d the five
 * percentiles NAMEmin, NAMEp50, NAMEp95, NAMEp99, NAMEmax.  Then: 0 may be
 * null, ? may be absent.
 */
struct report_field {
	u8 depth;
	const char *name, *type, *what;
};

extern const struct report_field report_fields[];
extern const u32 n_report_fields;

#endif
