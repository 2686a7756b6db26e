/* SPDX-License-Identifier: Apache-2.0 */
/* Data that tells where it belongs: each 8 bytes follow from the object and their place in it. */
#ifndef KVIO_PATTERN_H
#define KVIO_PATTERN_H

#include "lib/types.h"

/* `bytes` is a multiple of 8; `seed` is the object's identity, mixed with what tells its versions apart. */
void pattern_fill(void *p, u64 bytes, u64 seed);
/* The first byte offset that is not as filled (a multiple of 8), `bytes` when all are. */
u64 pattern_check(const void *p, u64 bytes, u64 seed);

#endif
