/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays straight from the kernel: zero, and moved without being copied when
 * they grow.  A fault for each 4 KiB is what filling them would cost most: large
 * ones are on huge pages where the system has them on request, and cost nothing
 * where they are not touched; smaller ones have all their pages at once.
 */
#ifndef KVIO_PAGES_H
#define KVIO_PAGES_H

#include <stddef.h>

/* `bytes` (more than 0) of zeros, or NULL. */
void *pages_alloc(size_t bytes);
/* p of `had` bytes with room for `want`, which is more, or NULL: then p is as it was. */
void *pages_grow(void *p, size_t had, size_t want);
/* What one of the two above gave; NULL is allowed. */
void pages_free(void *p, size_t bytes);

/* The same for an array that may stay small, and is of malloc() until then; NULL with 0 bytes is an empty one. */
void *array_grow(void *p, size_t had, size_t want);
void array_free(void *p, size_t bytes);

#endif
