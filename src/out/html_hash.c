// SPDX-License-Identifier: Apache-2.0
/* SHA-256 in base64, as a Content-Security-Policy names a script. */
#include "lib/sha256.h"
#include "out/html_work.h"

void html_hash(char out[HTML_HASH_TEXT + 1], const void *data, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	u8 sum[SHA256_BYTES + 1] = {};
	struct sha256 s;
	size_t i;

	sha256_init(&s);
	sha256_add(&s, data, n);
	sha256_end(&s, sum);
	for (i = 0; i < HTML_HASH_TEXT; i++) {
		const u8 *p = sum + i / 4 * 3;
		u32 three = (u32)p[0] << 16 | (u32)p[1] << 8 | p[2];

		out[i] = digits[three >> (18 - i % 4 * 6) & 63];
	}
	/* 32 bytes are 43 digits and one to fill up. */
	out[HTML_HASH_TEXT - 1] = '=';
	out[HTML_HASH_TEXT] = '\0';
}
