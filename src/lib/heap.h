/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For a time in which a library takes megabytes of malloc() again and again: what is freed stays for the next, and
 * comes on huge pages where the system has them on request.  A fault for each 4 KiB is what most of such a time goes
 * into otherwise.
 */
#ifndef KVIO_HEAP_H
#define KVIO_HEAP_H

void heap_keep(void);
/* As it was: what is free goes back to the system. */
void heap_release(void);

#endif
