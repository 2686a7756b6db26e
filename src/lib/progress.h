/* SPDX-License-Identifier: Apache-2.0 */
/* How far it is and how long it takes yet: one line that is written over, on a terminal only. */
#ifndef KVIO_PROGRESS_H
#define KVIO_PROGRESS_H

#include <stdio.h>

#include "lib/types.h"

struct progress {
	FILE *f; /* NULL = silent */
	const char *unit;
	u64 total, start_ns, next_ns;
};

/* `unit` in the plural, e.g. "requests".  Silent when f is no terminal or `quiet`. */
void progress_start(struct progress *p, FILE *f, bool quiet, u64 total, const char *unit);
void progress_update(struct progress *p, u64 done);
/* Clears the line. */
void progress_end(struct progress *p);
/* "12 of 200 requests, 1.2 s left"; no estimate before the first is done.  Returns out. */
char *progress_text(char *out, size_t n, u64 done, u64 total, const char *unit, u64 elapsed_ns);

#endif
