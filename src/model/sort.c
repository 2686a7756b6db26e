// SPDX-License-Identifier: Apache-2.0
/*
 * A merge sort for rows that are nearly in order, as events of a few CPUs are:
 * two neighbouring runs are merged only where they overlap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/tables.h"

#define RUN 32u /* sorted by insertion */

/* Rows by key where there is one, and by `before` among equals. */
struct order {
	const u64 *key;
	before_fn before;
	const void *arg;
};

static inline bool is_before(const struct order *o, u32 a, u32 b)
{
	if (o->key && o->key[a] != o->key[b])
		return o->key[a] < o->key[b];
	return o->before(o->arg, a, b);
}

static void insertion_sort(u32 *a, u32 n, const struct order *o)
{
	u32 i, j, row;

	for (i = 1; i < n; i++) {
		row = a[i];
		for (j = i; j && is_before(o, row, a[j - 1]); j--)
			a[j] = a[j - 1];
		a[j] = row;
	}
}

/* How many of the n rows at a stay before `row`: those not after it, or only those before it. */
static u32 count_before(const u32 *a, u32 n, u32 row, bool strictly, const struct order *o)
{
	u32 lo = 0;

	while (n) {
		u32 half = n / 2;
		bool stays = strictly ? is_before(o, a[lo + half], row) : !is_before(o, row, a[lo + half]);

		if (stays) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

/* Merges [0, mid) and [mid, n) of a. */
static void merge(u32 *a, u32 mid, u32 n, u32 *tmp, const struct order *o)
{
	u32 skip, left, i = 0, j, out;

	if (!is_before(o, a[mid], a[mid - 1]))
		return;
	skip = count_before(a, mid, a[mid], false, o);
	n = mid + count_before(a + mid, n - mid, a[mid - 1], true, o);
	left = mid - skip;
	memcpy(tmp, a + skip, left * sizeof(*a));
	for (j = mid, out = skip; i < left; out++)
		a[out] = j < n && is_before(o, a[j], tmp[i]) ? a[j++] : tmp[i++];
}

static void merge_sort(u32 *a, u32 n, u32 *tmp, const struct order *o)
{
	size_t at, width;

	for (at = 0; at < n; at += RUN)
		insertion_sort(a + at, (u32)MIN(n - at, (size_t)RUN), o);
	for (width = RUN; width < n; width *= 2)
		for (at = 0; at + width < n; at += 2 * width)
			merge(a + at, (u32)width, (u32)MIN(n - at, 2 * width), tmp, o);
}

int sort_by_key(u32 n, const u64 *key, before_fn before, const void *arg, u32 **order)
{
	const struct order o = { key, before, arg };
	u32 *a, *tmp, i;

	*order = NULL;
	for (i = 1; i < n; i++)
		if (is_before(&o, i, i - 1))
			break;
	if (i >= n)
		return 0;
	a = malloc(n * sizeof(*a));
	tmp = malloc(n * sizeof(*tmp));
	if (!a || !tmp) {
		free(a);
		free(tmp);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		a[i] = i;
	merge_sort(a, n, tmp, &o);
	free(tmp);
	*order = a;
	return 0;
}

int sort_rows(u32 n, before_fn before, const void *arg, u32 **order)
{
	return sort_by_key(n, NULL, before, arg, order);
}
