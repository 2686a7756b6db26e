/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of one size by planes: the first bytes of all of them, then the
 * second bytes of all, and so on.  What hardly differs from one record to the
 * next is together then, which a compressor finds sooner and packs better.
 */
#ifndef KVIO_PLANES_H
#define KVIO_PLANES_H

#include "lib/types.h"

/* n records of `size` bytes into size * n bytes at `planes`, which must not overlap them. */
void planes_split(void *planes, const void *records, size_t size, size_t n);
/* ... and back. */
void planes_join(void *records, const void *planes, size_t size, size_t n);

#endif
