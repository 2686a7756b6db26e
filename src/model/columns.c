// SPDX-License-Identifier: Apache-2.0
/*
 * The memory of the columns.  Rows are zero until they are written, and large
 * columns come straight from the kernel: those that stay zero take no memory,
 * those that grow are moved without being copied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/tables.h"

#define MAX_ROWS     (UINT32_MAX - 1) /* NONE is no row */
#define MAPPED_BYTES (256u << 10)     /* from here on by mmap() */
#define HUGE_BYTES   (4u << 20)	      /* from here on in huge pages, where the system has them on request */

u32 larger_cap(u32 n)
{
	if (n >= MAX_ROWS)
		return 0;
	return n < 64 ? 64 : n > MAX_ROWS / 2 ? MAX_ROWS : n * 2;
}

/* New memory when p is NULL, else p grown. */
static void *map(void *p, size_t had, size_t want)
{
	p = p ? mremap(p, had, want, MREMAP_MAYMOVE)
	      : mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (want >= HUGE_BYTES)
		madvise(p, want, MADV_HUGEPAGE);
	return p;
}

static void column_free(void *p, size_t bytes)
{
	if (bytes < MAPPED_BYTES)
		free(p);
	else
		munmap(p, bytes);
}

/* The column at p with room for `want` bytes, or NULL: then it is as it was. */
static void *column_grow(void *p, size_t had, size_t want)
{
	void *q;

	if (want < MAPPED_BYTES) {
		q = realloc(p, want);
		if (q)
			memset((char *)q + had, 0, want - had);
		return q;
	}
	if (had >= MAPPED_BYTES)
		return map(p, had, want);
	q = map(NULL, 0, want);
	if (q && had)
		memcpy(q, p, had);
	if (q)
		free(p);
	return q;
}

#define FREE(c) column_free(t->c, (grown ? grown--, cap : t->cap) * sizeof(*t->c));

/* Frees the columns, of which the first `grown` have room for `cap` rows already. */
static void drop(struct cmd_table *t, u32 grown, size_t cap)
{
	CMD_COLUMNS(FREE)
	*t = (struct cmd_table){};
}

void cmd_free(struct cmd_table *t)
{
	drop(t, 0, 0);
}

#define GROW(c)                                                                           \
	{                                                                                 \
		void *p = column_grow(t->c, t->cap * sizeof(*t->c), cap * sizeof(*t->c)); \
                                                                                          \
		if (!p)                                                                   \
			goto failed;                                                      \
		t->c = p;                                                                 \
		grown++;                                                                  \
	}

int cmd_grow(struct cmd_table *t)
{
	size_t cap = larger_cap(t->n);
	u32 grown = 0;

	if (!cap)
		return -ENOMEM;
	CMD_COLUMNS(GROW)
	t->cap = (u32)cap;
	return 0;
failed:
	drop(t, grown, cap);
	return -ENOMEM;
}

/* What stays as it is is not written: a column that has no memory gets none. */
#define PERMUTE(c)                                       \
	{                                                \
		__typeof__(t->c) from = copy, to = t->c; \
                                                         \
		memcpy(from, to, t->n * sizeof(*to));    \
		for (i = 0; i < n; i++)                  \
			if (to[i] != from[order[i]])     \
				to[i] = from[order[i]];  \
	}

int cmd_permute(struct cmd_table *t, const u32 *order, u32 n)
{
	void *copy = malloc(MAX(t->n, 1u) * sizeof(u64));
	u32 i;

	if (!copy)
		return -ENOMEM;
	if (t->n) {
		CMD_COLUMNS(PERMUTE)
	}
	t->n = n;
	free(copy);
	return 0;
}

#define GROW_OP(c)                                            \
	{                                                     \
		void *p = realloc(t->c, cap * sizeof(*t->c)); \
                                                              \
		if (!p)                                       \
			return -ENOMEM;                       \
		t->c = p;                                     \
	}

int op_room(struct op_table *t)
{
	size_t cap;

	if (t->n < t->cap)
		return 0;
	cap = larger_cap(t->n);
	if (!cap)
		return -ENOMEM;
	OP_COLUMNS(GROW_OP)
	t->cap = (u32)cap;
	return 0;
}

int span_room(struct span_table *t)
{
	size_t cap;

	if (t->n < t->cap)
		return 0;
	cap = larger_cap(t->n);
	if (!cap)
		return -ENOMEM;
	SPAN_COLUMNS(GROW_OP)
	t->cap = (u32)cap;
	return 0;
}
