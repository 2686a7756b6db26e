// SPDX-License-Identifier: Apache-2.0
#include "lib/blake2b.h"

#include <string.h>

#define BLOCK 128

static const u64 iv[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static const u8 sigma[10][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static u64 rotr(u64 x, u32 by)
{
	return x >> by | x << (64 - by);
}

static void mix(u64 *v, u32 a, u32 b, u32 c, u32 d, u64 x, u64 y)
{
	v[a] += v[b] + x;
	v[d] = rotr(v[d] ^ v[a], 32);
	v[c] += v[d];
	v[b] = rotr(v[b] ^ v[c], 24);
	v[a] += v[b] + y;
	v[d] = rotr(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = rotr(v[b] ^ v[c], 63);
}

/* `done` counts the bytes up to the end of this block. */
static void compress(u64 *h, const u8 *block, u64 done, bool last)
{
	u64 v[16], m[16];
	u32 i, round;

	for (i = 0; i < 16; i++) {
		u32 k;

		for (m[i] = 0, k = 0; k < 8; k++)
			m[i] |= (u64)block[8 * i + k] << 8 * k;
		v[i] = i < 8 ? h[i] : iv[i - 8];
	}
	v[12] ^= done;
	if (last)
		v[14] = ~v[14];
	for (round = 0; round < 12; round++) {
		const u8 *s = sigma[round % 10];

		for (i = 0; i < 4; i++)
			mix(v, i, 4 + i, 8 + i, 12 + i, m[s[2 * i]], m[s[2 * i + 1]]);
		for (i = 0; i < 4; i++)
			mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
	}
	for (i = 0; i < 8; i++)
		h[i] ^= v[i] ^ v[i + 8];
}

void blake2b(u8 *out, size_t out_len, const void *data, size_t n)
{
	const u8 *p = data;
	u8 block[BLOCK] = {};
	u64 h[8], done = 0;
	size_t i;

	memcpy(h, iv, sizeof(h));
	h[0] ^= 0x01010000 ^ out_len;
	/* The last block, whole or not, is another matter. */
	for (; n > BLOCK; p += BLOCK, n -= BLOCK) {
		done += BLOCK;
		compress(h, p, done, false);
	}
	if (n)
		memcpy(block, p, n);
	compress(h, block, done + n, true);
	for (i = 0; i < out_len; i++)
		out[i] = (u8)(h[i / 8] >> 8 * (i % 8));
}
