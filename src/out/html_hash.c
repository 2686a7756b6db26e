// SPDX-License-Identifier: Apache-2.0
/* SHA-256 (FIPS 180-4) and base 64: a page's policy names the one script that may run in it. */
#include <string.h>

#include "out/html_work.h"

#define BLOCK 64

static const u32 round_constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static u32 turn(u32 x, int n)
{
	return x >> n | x << (32 - n);
}

static void add_block(u32 h[8], const u8 *p)
{
	u32 w[64], v[8];
	int i;

	for (i = 0; i < 16; i++, p += 4)
		w[i] = (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
	for (; i < 64; i++) {
		u32 a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
		       (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
	memcpy(v, h, sizeof(v));
	for (i = 0; i < 64; i++) {
		u32 t1 = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
			 round_constant[i] + w[i];
		u32 t2 = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) +
			 ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[0] = t1 + t2;
		v[4] += t1;
	}
	for (i = 0; i < 8; i++)
		h[i] += v[i];
}

void html_hash(char out[HTML_HASH_TEXT + 1], const void *data, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	u32 h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	u8 end[2 * BLOCK] = {}, sum[33] = {};
	size_t whole = n / BLOCK * BLOCK, rest = n - whole, at, i;
	size_t end_n = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;

	for (at = 0; at < whole; at += BLOCK)
		add_block(h, (const u8 *)data + at);
	memcpy(end, (const u8 *)data + whole, rest);
	end[rest] = 0x80;
	for (i = 0; i < 8; i++)
		end[end_n - 1 - i] = (u8)((u64)n * 8 >> 8 * i);
	for (at = 0; at < end_n; at += BLOCK)
		add_block(h, end + at);
	for (i = 0; i < 32; i++)
		sum[i] = (u8)(h[i / 4] >> (24 - i % 4 * 8));
	for (i = 0; i < HTML_HASH_TEXT; i++) {
		u32 three = (u32)sum[i / 4 * 3] << 16 | (u32)sum[i / 4 * 3 + 1] << 8 |
			    (i / 4 * 3 + 2 < 33 ? sum[i / 4 * 3 + 2] : 0);

		out[i] = digits[three >> (18 - i % 4 * 6) & 63];
	}
	/* 32 bytes are 43 digits and one to fill up. */
	out[HTML_HASH_TEXT - 1] = '=';
	out[HTML_HASH_TEXT] = '\0';
}
