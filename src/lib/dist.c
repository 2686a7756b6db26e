// SPDX-License-Identifier: Apache-2.0
#include "lib/dist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void insertion_sort(u64 *v, size_t n)
{
	size_t i, j;

	for (i = 1; i < n; i++) {
		u64 x = v[i];

		for (j = i; j && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* Radix sort by bytes from the lowest; a byte that is the same in all elements costs nothing. */
int u64_sort(u64 *v, size_t n)
{
	size_t count[8][256] = {};
	u64 *from = v, *to, *tmp;
	size_t i, at;
	int d, k;

	if (n <= 32) {
		insertion_sort(v, n);
		return 0;
	}
	to = tmp = malloc(n * sizeof(*tmp));
	if (!tmp)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		for (d = 0; d < 8; d++)
			count[d][v[i] >> (8 * d) & 0xff]++;
	for (d = 0; d < 8; d++) {
		size_t *c = count[d];
		u64 *swap;

		if (c[from[0] >> (8 * d) & 0xff] == n)
			continue;
		for (k = 0, at = 0; k < 256; k++) {
			size_t here = c[k];

			c[k] = at;
			at += here;
		}
		for (i = 0; i < n; i++)
			to[c[from[i] >> (8 * d) & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
	free(tmp);
	return 0;
}

u64 u64_percentile(const u64 *sorted, size_t n, u32 percent)
{
	size_t rank;

	if (!n)
		return 0;
	/* ceil(n * percent / 100) without a product that could overflow */
	rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
	return sorted[rank ? rank - 1 : 0];
}

int dist_take(struct dist *d, u64 *v, size_t n)
{
	size_t i;
	int ret;

	*d = (struct dist){};
	if (!n)
		return 0;
	ret = u64_sort(v, n);
	if (ret)
		return ret;
	for (i = 0; i < n; i++)
		if (__builtin_add_overflow(d->sum, v[i], &d->sum)) {
			d->sum = UINT64_MAX;
			break;
		}
	d->n = n;
	d->min = v[0];
	d->p25 = u64_percentile(v, n, 25);
	d->p50 = u64_percentile(v, n, 50);
	d->p95 = u64_percentile(v, n, 95);
	d->p99 = u64_percentile(v, n, 99);
	d->max = v[n - 1];
	return 0;
}
