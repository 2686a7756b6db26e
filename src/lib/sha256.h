/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), in pieces. */
#ifndef KVIO_SHA256_H
#define KVIO_SHA256_H

#include "lib/types.h"

#define SHA256_BYTES 32

struct sha256 {
	u32 h[8];
	u64 n; /* bytes so far */
	u8 block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
void sha256_end(struct sha256 *s, u8 out[SHA256_BYTES]);

#endif
