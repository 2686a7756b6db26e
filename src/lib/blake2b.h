/* SPDX-License-Identifier: Apache-2.0 */
/* BLAKE2b (RFC 7693) without a key. */
#ifndef KVIO_BLAKE2B_H
#define KVIO_BLAKE2B_H

#include "lib/types.h"

/* The digest of n bytes, of out_len bytes (1..64). */
void blake2b(u8 *out, size_t out_len, const void *data, size_t n);

#endif
