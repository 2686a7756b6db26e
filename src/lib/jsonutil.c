// SPDX-License-Identifier: Apache-2.0
#include "lib/jsonutil.h"

#include <stdio.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/str.h"

json_t *json_str(const char *s)
{
	size_t n = strlen(s), i = 0;
	struct buf b = {};
	json_t *j;

	while (i < n) {
		size_t len = utf8_len(s + i, n - i);

		if (len) {
			buf_add(&b, s + i, len);
			i += len;
		} else {
			u8 c = (u8)s[i++];

			buf_byte(&b, (char)(0xc0 | c >> 6));
			buf_byte(&b, (char)(0x80 | (c & 0x3f)));
		}
	}
	j = b.failed ? NULL : json_stringn(b.n ? b.p : "", b.n);
	buf_free(&b);
	return j;
}

json_t *json_u64(u64 v)
{
	char text[24];

	if (v <= INT64_MAX)
		return json_integer((json_int_t)v);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return json_string(text);
}

void json_set_str(json_t *object, const char *key, const char *s)
{
	json_object_set_new(object, key, json_str(s));
}

void json_set_u64(json_t *object, const char *key, u64 v)
{
	json_object_set_new(object, key, json_u64(v));
}
