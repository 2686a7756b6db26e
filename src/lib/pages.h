/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large arrays straight from the kernel: zero, of no cost where they are not
 * touched, moved without being copied when they grow, and on huge pages where
 * they are large and the system has them on request: a fault for each 4 KiB is
 * what filling them would cost most.
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

#endif
