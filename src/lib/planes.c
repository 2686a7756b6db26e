// SPDX-License-Identifier: Apache-2.0
#include "lib/planes.h"

#include <string.h>

#define ROWS  16 /* records at a time */
#define BYTES 8	 /* of each */

typedef u8 vec __attribute__((vector_size(ROWS)));

/*
 * The ROWS * BYTES bytes of v, with those of its first half and its second half
 * by turns: the highest bit of the place of a byte becomes the lowest one.  A
 * place is row * BYTES + byte, so that log2(ROWS) times make it byte * ROWS +
 * row, and log2(BYTES) times make the first of the second.
 */
static inline void deal(vec v[BYTES])
{
	vec o[BYTES];
	int k;

#pragma GCC unroll 4
	for (k = 0; k < BYTES / 2; k++) {
		vec a = v[k], b = v[k + BYTES / 2];

		o[2 * k] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
		o[2 * k + 1] =
			__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
	}
#pragma GCC unroll 8
	for (k = 0; k < BYTES; k++)
		v[k] = o[k];
}

/* ROWS records from `in` on, BYTES of each, to the same rows of the planes from `out` on. */
static inline void split_block(u8 *out, const u8 *in, size_t size, size_t n)
{
	vec v[BYTES];
	int k;

#pragma GCC unroll 8
	for (k = 0; k < BYTES; k++) {
		u64 pair[2];

		memcpy(&pair[0], in + (2 * k) * size, BYTES);
		memcpy(&pair[1], in + (2 * k + 1) * size, BYTES);
		memcpy(&v[k], pair, sizeof(pair));
	}
	deal(v);
	deal(v);
	deal(v);
	deal(v);
#pragma GCC unroll 8
	for (k = 0; k < BYTES; k++)
		memcpy(out + k * n, &v[k], ROWS);
}

static inline void join_block(u8 *out, const u8 *in, size_t size, size_t n)
{
	vec v[BYTES];
	int k;

#pragma GCC unroll 8
	for (k = 0; k < BYTES; k++)
		memcpy(&v[k], in + k * n, ROWS);
	deal(v);
	deal(v);
	deal(v);
#pragma GCC unroll 8
	for (k = 0; k < BYTES; k++) {
		u64 pair[2];

		memcpy(pair, &v[k], sizeof(pair));
		memcpy(out + (2 * k) * size, &pair[0], BYTES);
		memcpy(out + (2 * k + 1) * size, &pair[1], BYTES);
	}
}

void planes_split(void *planes, const void *records, size_t size, size_t n)
{
	size_t rows = n - n % ROWS, bytes = size - size % BYTES, i, k;
	const u8 *in = records;
	u8 *out = planes;

	for (i = 0; i < rows; i += ROWS)
		for (k = 0; k < bytes; k += BYTES)
			split_block(out + k * n + i, in + i * size + k, size, n);
	for (i = 0; i < n; i++)
		for (k = i < rows ? bytes : 0; k < size; k++)
			out[k * n + i] = in[i * size + k];
}

void planes_join(void *records, const void *planes, size_t size, size_t n)
{
	size_t rows = n - n % ROWS, bytes = size - size % BYTES, i, k;
	const u8 *in = planes;
	u8 *out = records;

	for (i = 0; i < rows; i += ROWS)
		for (k = 0; k < bytes; k += BYTES)
			join_block(out + i * size + k, in + k * n + i, size, n);
	for (i = 0; i < n; i++)
		for (k = i < rows ? bytes : 0; k < size; k++)
			out[i * size + k] = in[k * n + i];
}
