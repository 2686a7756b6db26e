/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people: three significant figures and a unit.  Both return out. */
#ifndef KVIO_HUMAN_H
#define KVIO_HUMAN_H

#include "lib/types.h"

/* "512 B", "1.50 KiB", "64.0 MiB" */
char *human_bytes(char *out, size_t n, u64 bytes);
/* "87 ns", "83.4 us", "1.20 ms", "12.3 s" */
char *human_ns(char *out, size_t n, u64 ns);

#endif
