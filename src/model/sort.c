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

static void insertion_sort(u32 *a, u32 n, before_fn before, const void *arg)
{
	u32 i, j, row;

	for (i = 1; i < n; i++) {
		row = a[i];
		for (j = i; j && before(arg, row, a[j - 1]); j--)
			a[j] = a[j - 1];
		a[j] = row;
	}
}

/* How many of the n rows at a stay before `row`: those not after it, or only those before it. */
static u32 count_before(const u32 *a, u32 n, u32 row, bool strictly, before_fn before, const void *arg)
{
	u32 lo = 0;

	while (n) {
		u32 half = n / 2;
		bool stays = strictly ? before(arg, a[lo + half], row) : !before(arg, row, a[lo + half]);

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
static void merge(u32 *a, u32 mid, u32 n, u32 *tmp, before_fn before, const void *arg)
{
	u32 skip, left, i = 0, j, out;

	if (!before(arg, a[mid], a[mid - 1]))
		return;
	skip = count_before(a, mid, a[mid], false, before, arg);
	n = mid + count_before(a + mid, n - mid, a[mid - 1], true, before, arg);
	left = mid - skip;
	memcpy(tmp, a + skip, left * sizeof(*a));
	for (j = mid, out = skip; i < left; out++)
		a[out] = j < n && before(arg, a[j], tmp[i]) ? a[j++] : tmp[i++];
}

static void merge_sort(u32 *a, u32 n, u32 *tmp, before_fn before, const void *arg)
{
	size_t at, width;

	for (at = 0; at < n; at += RUN)
		insertion_sort(a + at, (u32)MIN(n - at, (size_t)RUN), before, arg);
	for (width = RUN; width < n; width *= 2)
		for (at = 0; at + width < n; at += 2 * width)
			merge(a + at, (u32)width, (u32)MIN(n - at, 2 * width), tmp, before, arg);
}

int sort_rows(u32 n, before_fn before, const void *arg, u32 **order)
{
	u32 *a, *tmp, i;

	*order = NULL;
	for (i = 1; i < n; i++)
		if (before(arg, i, i - 1))
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
	merge_sort(a, n, tmp, before, arg);
	free(tmp);
	*order = a;
	return 0;
}
