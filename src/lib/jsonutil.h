/* SPDX-License-Identifier: Apache-2.0 */
/* jansson for strings that may be any bytes, and for whole u64 numbers. */
#ifndef KVIO_JSONUTIL_H
#define KVIO_JSONUTIL_H

#include <jansson.h>

#include "lib/types.h"

/* A JSON string of any bytes: one that is not valid UTF-8 becomes U+00XX.  NULL = no memory. */
json_t *json_str(const char *s);
/* A number; above 2^63 - 1, which jansson cannot hold, a decimal string. */
json_t *json_u64(u64 v);
void json_set_str(json_t *object, const char *key, const char *s);
void json_set_u64(json_t *object, const char *key, u64 v);

#endif
