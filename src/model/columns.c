// SPDX-License-Identifier: Apache-2.0
/*
 * The memory of the columns.  Rows are zero until they are written, and large
 * columns that stay zero take no memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pages.h"
#include "model/tables.h"

#define MAX_ROWS    (UINT32_MAX - 1) /* NONE is no row */
#define MIN_RESERVE (256u << 10)     /* rows: fewer are soon there by growing */
#define MAX_RESERVE (4u << 20)

u32 larger_cap(u32 n)
{
	if (n >= MAX_ROWS)
		return 0;
	return n < 64 ? 64 : n > MAX_ROWS / 2 ? MAX_ROWS : n * 2;
}

#define FREE(c) array_free(t->c, (grown ? grown--, cap : t->cap) * sizeof(*t->c));

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

#define GROW(c)                                                                          \
	{                                                                                \
		void *p = array_grow(t->c, t->cap * sizeof(*t->c), cap * sizeof(*t->c)); \
                                                                                         \
		if (!p)                                                                  \
			goto failed;                                                     \
		t->c = p;                                                                \
		grown++;                                                                 \
	}

static int set_cap(struct cmd_table *t, size_t cap)
{
	u32 grown = 0;

	CMD_COLUMNS(GROW)
	t->cap = (u32)cap;
	return 0;
failed:
	drop(t, grown, cap);
	return -ENOMEM;
}

int cmd_grow(struct cmd_table *t)
{
	size_t cap = larger_cap(t->n);

	return cap ? set_cap(t, cap) : -ENOMEM;
}

int cmd_rooms(struct cmd_table *t, u32 n)
{
	u32 cap = t->cap;

	while (cap - t->n < n) {
		cap = larger_cap(cap);
		if (!cap)
			return -ENOMEM;
	}
	return cap > t->cap ? set_cap(t, cap) : 0;
}

void cmd_reserve(struct cmd_table *t, u64 rows)
{
	if (!t->cap && rows >= MIN_RESERVE)
		set_cap(t, MIN(rows, (u64)MAX_RESERVE));
}

/* What stays as it is is not written: a column that has no memory gets none. */
#define MOVE(c)                                        \
	{                                              \
		__typeof__(*t->c) row = t->c[from];    \
                                                       \
		for (i = from; i > to; i--)            \
			if (t->c[i] != t->c[i - 1])    \
				t->c[i] = t->c[i - 1]; \
		if (t->c[to] != row)                   \
			t->c[to] = row;                \
	}

void cmd_move(struct cmd_table *t, u32 from, u32 to)
{
	u32 i;

	CMD_COLUMNS(MOVE)
}

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

/* Room for one more row: 0 or -ENOMEM. */
#define ROOM(name, table, COLUMNS)      \
	int name(struct table *t)       \
	{                               \
		size_t cap;             \
                                        \
		if (t->n < t->cap)      \
			return 0;       \
		cap = larger_cap(t->n); \
		if (!cap)               \
			return -ENOMEM; \
		COLUMNS(GROW_OP)        \
		t->cap = (u32)cap;      \
		return 0;               \
	}

ROOM(op_room, op_table, OP_COLUMNS)
ROOM(span_room, span_table, SPAN_COLUMNS)
