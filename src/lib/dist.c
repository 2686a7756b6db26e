// SPDX-License-Identifier: Apache-2.0
#include "lib/dist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pages.h"

const char *percentile_name(enum percentile_method method)
{
	return method == PERCENTILE_FLOOR ? "floor" : PERCENTILE_METHOD;
}

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

#define DIGIT_BITS 11

/* Orders `from` in `to` by the DIGIT_BITS above bit `shift`. */
static void radix_pass(const u64 *from, u64 *to, size_t n, u32 shift)
{
	size_t at[1u << DIGIT_BITS] = {}, i, sum = 0, here;
	const u32 mask = ARRAY_SIZE(at) - 1;

	for (i = 0; i < n; i++)
		at[from[i] >> shift & mask]++;
	for (i = 0; i <= mask; i++) {
		here = at[i];
		at[i] = sum;
		sum += here;
	}
	for (i = 0; i < n; i++)
		to[at[from[i] >> shift & mask]++] = from[i];
}

/* Radix sort by the bits from `low` on, equal ones staying as they are; bits that are the same in all cost nothing. */
static void radix_sort(u64 *v, size_t n, u64 *tmp, u32 low)
{
	u64 *from = v, *to = tmp, *swap, differ = 0;
	u32 shift;
	size_t i;

	for (i = 1; i < n; i++)
		differ |= v[i] ^ v[0];
	differ &= UINT64_MAX << low;
	while (differ) {
		shift = (u32)__builtin_ctzll(differ);
		radix_pass(from, to, n, shift);
		swap = from;
		from = to;
		to = swap;
		differ = shift + DIGIT_BITS < 64 ? differ & UINT64_MAX << (shift + DIGIT_BITS) : 0;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

/* Sorts it without room, if that is as quick; false when it is not. */
static bool sort_easy(u64 *v, size_t n)
{
	size_t i;

	if (n <= 32) {
		insertion_sort(v, n);
		return true;
	}
	for (i = 1; i < n && v[i - 1] <= v[i];)
		i++;
	return i == n;
}

void u64_sort_in(u64 *v, size_t n, u64 *tmp)
{
	if (!sort_easy(v, n))
		radix_sort(v, n, tmp, 0);
}

int u64_sort(u64 *v, size_t n)
{
	u64 *tmp;

	if (sort_easy(v, n))
		return 0;
	tmp = array_grow(NULL, 0, n * sizeof(*tmp));
	if (!tmp)
		return -ENOMEM;
	radix_sort(v, n, tmp, 0);
	array_free(tmp, n * sizeof(*tmp));
	return 0;
}

void u64_sort_from(u64 *v, size_t n, u64 *tmp, u32 low)
{
	radix_sort(v, n, tmp, low);
}

/* The number, from 0, of the element that is the percentile. */
static size_t rank_of(size_t n, u32 percent, enum percentile_method method)
{
	/* floor(n * percent / 100) without a product that could overflow, and whether that is exact */
	size_t rank = n / 100 * percent + n % 100 * percent / 100;
	bool whole = n % 100 * percent % 100 == 0;

	if (method == PERCENTILE_NEAREST && whole && rank)
		rank--;
	return MIN(rank, n - 1);
}

u64 u64_percentile(const u64 *sorted, size_t n, u32 percent)
{
	return n ? sorted[rank_of(n, percent, PERCENTILE_NEAREST)] : 0;
}

/* ---- selection: only the buckets that hold a percentile are sorted ---- */

#define SELECT_MIN_N 256
/* 32 buckets for each power of two; smaller numbers have one each. */
#define SUB_BITS     5
#define N_BUCKETS    ((64 - SUB_BITS + 1) << SUB_BITS)
#define N_RANKS	     4

static u32 bucket_of(u64 v)
{
	u32 shift;

	if (v < 1u << SUB_BITS)
		return (u32)v;
	shift = 63 - (u32)__builtin_clzll(v) - SUB_BITS;
	return ((shift + 1) << SUB_BITS) + ((u32)(v >> shift) & ((1u << SUB_BITS) - 1));
}

/* The elements with these ranks (ascending), in value; v is left in another order. */
static int select_ranks(u64 *v, size_t n, const size_t rank[N_RANKS], u64 value[N_RANKS])
{
	u32 count[N_BUCKETS] = {}, bucket[N_RANKS], b, k;
	size_t before = 0, below[N_RANKS], i, got = 0;
	bool wanted[N_BUCKETS] = {};
	int ret;

	for (i = 0; i < n; i++)
		count[bucket_of(v[i])]++;
	for (b = 0, k = 0; b < N_BUCKETS && k < N_RANKS; before += count[b++])
		for (; k < N_RANKS && rank[k] < before + count[b]; k++) {
			bucket[k] = b;
			wanted[b] = true;
			below[k] = rank[k] - before;
		}
	for (i = 0; i < n; i++)
		if (wanted[bucket_of(v[i])]) {
			u64 x = v[i];

			v[i] = v[got];
			v[got++] = x;
		}
	ret = u64_sort(v, got);
	for (k = 0, b = 0, before = 0; k < N_RANKS && !ret; k++) {
		for (; b < bucket[k]; b++)
			before += wanted[b] ? count[b] : 0;
		value[k] = v[before + below[k]];
	}
	return ret;
}

int dist_take_by(struct dist *d, u64 *v, size_t n, enum percentile_method method)
{
	static const u32 percent[N_RANKS] = { 25, 50, 95, 99 };
	u64 value[N_RANKS];
	size_t rank[N_RANKS], i;
	u64 sum = 0, min, max;
	bool over = false;
	int ret, k;

	*d = (struct dist){};
	if (!n)
		return 0;
	for (i = 0, min = max = v[0]; i < n; i++) {
		min = MIN(min, v[i]);
		max = MAX(max, v[i]);
		over |= __builtin_add_overflow(sum, v[i], &sum);
	}
	for (k = 0; k < N_RANKS; k++)
		rank[k] = rank_of(n, percent[k], method);
	/* Counters of buckets are 32 bits wide. */
	if (n < SELECT_MIN_N || n > UINT32_MAX) {
		ret = u64_sort(v, n);
		for (k = 0; k < N_RANKS; k++)
			value[k] = v[rank[k]];
	} else {
		ret = select_ranks(v, n, rank, value);
	}
	if (ret)
		return ret;
	*d = (struct dist){ n, min, value[0], value[1], value[2], value[3], max, over ? UINT64_MAX : sum };
	return 0;
}

int dist_take(struct dist *d, u64 *v, size_t n)
{
	return dist_take_by(d, v, n, PERCENTILE_NEAREST);
}

/* ---- the interval of a median ---- */

/* P(at least r of n draws hit) when each does with probability p; 0 < r <= n, 0 < p < 1. */
static double at_least(size_t n, size_t r, double p)
{
	/* Away from the most likely number the terms only shrink: of the two tails, the one that r is in. */
	bool upper = (double)r > p * (double)n;
	size_t j = upper ? r : r - 1;
	double odds = p / (1 - p), sum = 0;
	double term = exp(lgamma((double)n + 1) - lgamma((double)j + 1) - lgamma((double)(n - j) + 1) +
			  (double)j * log(p) + (double)(n - j) * log1p(-p));

	while (sum + term > sum) {
		sum += term;
		if (upper) {
			term *= (double)(n - j) / (double)(j + 1) * odds;
			j++;
		} else {
			term *= (double)j / (double)(n - j + 1) / odds;
			j--;
		}
	}
	return upper ? sum : 1 - sum;
}

/* How many of the smallest elements the median of a resample is among with at least this probability. */
static size_t median_among(size_t n, double probability)
{
	size_t lo = 1, hi = n, median = n / 2 + n % 2;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (at_least(n, median, (double)mid / (double)n) >= probability)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

bool median_interval(size_t n, size_t *low, size_t *high)
{
	if (n < MEDIAN_MIN_N)
		return false;
	*low = median_among(n, 0.025) - 1;
	*high = median_among(n, 0.975) - 1;
	return true;
}
