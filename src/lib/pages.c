// SPDX-License-Identifier: Apache-2.0
#include "lib/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROUND	   ((size_t)64 << 10) /* whole pages, of every size that systems have */
#define HUGE_PAGE  ((size_t)2 << 20)
/* What is worth a huge page of its own: where a hypervisor has a hand in it, a fault costs as much as clearing 64 KiB. */
#define HUGE_FROM  ((size_t)768 << 10)
/*
 * Arrays that are filled side by side must not all begin at the same place of
 * a page: the same lines of all of them would be in one set of the cache.
 */
#define STAGGER	   ((size_t)320)
#define STAGGERS   16
/* Arrays that grow are of malloc() below this. */
#define ARRAY_FROM ((size_t)64 << 10)

static size_t whole(size_t bytes)
{
	return bytes > SIZE_MAX - ROUND ? 0 : (bytes + ROUND - 1) & ~(ROUND - 1);
}

static bool is_huge(size_t bytes)
{
	return bytes >= HUGE_FROM;
}

/* What is mapped for an array: its end, too, is on a huge page when most of that would be used. */
static size_t mapped(size_t bytes)
{
	size_t all;

	if (!is_huge(bytes) || bytes > SIZE_MAX - HUGE_PAGE - STAGGERS * STAGGER)
		return whole(bytes);
	all = bytes + STAGGERS * STAGGER;
	return all % HUGE_PAGE < HUGE_FROM ? whole(all) : all - all % HUGE_PAGE + HUGE_PAGE;
}

/* Where the mapping of an array begins. */
static char *base_of(void *p, size_t bytes)
{
	return is_huge(bytes) ? (char *)p - (uintptr_t)p % HUGE_PAGE : p;
}

static char *map(size_t bytes, int flags)
{
	void *p = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0)
			: MAP_FAILED;

	return p == MAP_FAILED ? NULL : p;
}

/* A huge page must begin at a multiple of its size: the place for it is cut out of a larger one. */
static char *map_huge(size_t bytes)
{
	size_t room = bytes && bytes <= SIZE_MAX - HUGE_PAGE ? bytes + HUGE_PAGE : 0, front;
	char *p = map(room, 0);

	if (!p)
		return NULL;
	front = -(uintptr_t)p % HUGE_PAGE;
	if (front)
		munmap(p, front);
	munmap(p + front + bytes, HUGE_PAGE - front);
	madvise(p + front, bytes, MADV_HUGEPAGE);
	return p + front;
}

void *pages_alloc(size_t bytes)
{
	char *p = is_huge(bytes) ? map_huge(mapped(bytes)) : map(mapped(bytes), MAP_POPULATE);

	return p && is_huge(bytes) ? p + (uintptr_t)p / HUGE_PAGE % STAGGERS * STAGGER : p;
}

void *pages_grow(void *p, size_t had, size_t want)
{
	char *from = base_of(p, had), *to;
	size_t offset = (size_t)((char *)p - from);

	if (!is_huge(want)) {
		to = mremap(from, mapped(had), mapped(want), MREMAP_MAYMOVE);
		if (to == MAP_FAILED)
			return NULL;
		/* Not every kernel can, then they come one by one. */
		madvise(to + mapped(had), mapped(want) - mapped(had), MADV_POPULATE_WRITE);
		return to;
	}
	to = map_huge(mapped(want));
	if (to && mremap(from, mapped(had), mapped(had), MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
		munmap(to, mapped(want));
		return NULL;
	}
	return to ? to + offset : NULL;
}

void pages_free(void *p, size_t bytes)
{
	if (p)
		munmap(base_of(p, bytes), mapped(bytes));
}

void *array_grow(void *p, size_t had, size_t want)
{
	void *q;

	if (want < ARRAY_FROM) {
		q = realloc(p, want);
		if (q)
			memset((char *)q + had, 0, want - had);
		return q;
	}
	if (had >= ARRAY_FROM)
		return pages_grow(p, had, want);
	q = pages_alloc(want);
	if (q && had)
		memcpy(q, p, had);
	if (q)
		free(p);
	return q;
}

void array_free(void *p, size_t bytes)
{
	if (bytes < ARRAY_FROM)
		free(p);
	else
		pages_free(p, bytes);
}
