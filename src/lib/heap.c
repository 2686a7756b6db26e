// SPDX-License-Identifier: Apache-2.0
#include "lib/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
/* Nothing below the first is mapped on its own, nothing below the second is given back. */
#define KEEP	  (32 << 20)
#define TRIM	  (64 << 20)
#define DEFAULT	  (128 << 10) /* of both */
/* The first piece, which is a bit less than that. */
#define ROOM	  (KEEP - HUGE_PAGE)

void heap_keep(void)
{
	char *p;
	size_t front;

	mallopt(M_MMAP_THRESHOLD, KEEP);
	mallopt(M_TRIM_THRESHOLD, TRIM);
	p = malloc(ROOM);
	if (!p)
		return;
	front = -(uintptr_t)p % HUGE_PAGE;
	madvise(p + front, (ROOM - front) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	free(p);
}

void heap_release(void)
{
	mallopt(M_MMAP_THRESHOLD, DEFAULT);
	mallopt(M_TRIM_THRESHOLD, DEFAULT);
	malloc_trim(0);
}
