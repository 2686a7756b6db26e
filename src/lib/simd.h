/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text eight and sixteen bytes at a time.  The instructions are those that
 * every processor of the architecture has; elsewhere words do it.
 */
#ifndef KVIO_SIMD_H
#define KVIO_SIMD_H

#include <endian.h>
#include <string.h>

#include "lib/types.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* A word with the byte c eight times. */
#define BYTES(c) (0x0101010101010101ull * (u8)(c))

/* Eight bytes; the first one is the lowest of the number. */
static inline u64 load8(const char *p)
{
	u64 w;

	memcpy(&w, p, sizeof(w));
	return le64toh(w);
}

/*
 * Of bytes less '0' (by xor): a word whose lowest set bit is in the first one
 * that is no digit, 0 when all are.
 */
static inline u64 digits_stop(u64 t)
{
	return ((t + BYTES(0x76)) | t) & BYTES(0x80);
}

/* The value of eight bytes 0..9, the first one counts most. */
static inline u64 digits_value8(u64 t)
{
	t = t * 10 + (t >> 8);
	return (((t & 0x000000ff000000ffull) * 0x000f424000000064ull) +
		(((t >> 16) & 0x000000ff000000ffull) * 0x0000271000000001ull)) >>
	       32;
}

/*
 * Past the whole number at p, of which 24 bytes can be read.  NULL when no
 * digit is there, for a zero in front of others, and above 2^64-1; what
 * follows the digits is for the caller to check.
 */
static inline const char *whole_number(const char *p, u64 *out)
{
	static const u64 power[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
	u64 t = load8(p) ^ BYTES('0'), stop = digits_stop(t), v;
	u32 n;

	if (stop) {
		n = (u32)__builtin_ctzll(stop) >> 3;
		if (!n || (n > 1 && !(t & 0xff)))
			return NULL;
		*out = digits_value8(t << (64 - 8 * n));
		return p + n;
	}
	if (!(t & 0xff))
		return NULL;
	v = digits_value8(t);
	t = load8(p + 8) ^ BYTES('0');
	stop = digits_stop(t);
	if (stop) {
		n = (u32)__builtin_ctzll(stop) >> 3;
		*out = n ? v * power[n] + digits_value8(t << (64 - 8 * n)) : v;
		return p + 8 + n;
	}
	v = v * 100000000 + digits_value8(t);
	for (p += 16, n = 0; (u8)(*p - '0') < 10; p++, n++)
		if (n == 4 || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (u64)(*p - '0'), &v))
			return NULL;
	*out = v;
	return p;
}

#if defined(__SSE2__)

static inline u32 differ16(const char *a, const char *b)
{
	__m128i x = _mm_loadu_si128((const __m128i *)a), y = _mm_loadu_si128((const __m128i *)b);

	return (u32)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) ^ 0xffff;
}
#define LANE_BITS 1u

/* A bit for each of 16 bytes that ends a plain run inside a JSON string: quote, backslash, control. */
static inline u64 string_stops16(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i *)p), c = _mm_set1_epi8(0x1f);
	__m128i stop = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));

	return (u32)_mm_movemask_epi8(_mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(x, c), x)));
}

#elif defined(__ARM_NEON)

/* Four bits a byte: NEON has no instruction that gathers one. */
static inline u64 lanes_of(uint8x16_t x)
{
	return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(x), 4)), 0);
}
static inline u64 differ16(const char *a, const char *b)
{
	return ~lanes_of(vceqq_u8(vld1q_u8((const u8 *)a), vld1q_u8((const u8 *)b)));
}
#define LANE_BITS 4u

static inline u64 string_stops16(const char *p)
{
	uint8x16_t x = vld1q_u8((const u8 *)p);

	return lanes_of(vorrq_u8(vorrq_u8(vceqq_u8(x, vdupq_n_u8('"')), vceqq_u8(x, vdupq_n_u8('\\'))),
				 vcltq_u8(x, vdupq_n_u8(0x20))));
}

#else

/* The high bit of each zero byte; exact, no carry between bytes. */
static inline u64 zero_bytes(u64 w)
{
	return ~(((w & BYTES(0x7f)) + BYTES(0x7f)) | w | BYTES(0x7f));
}
/* Those bits of two words side by side, a bit a byte. */
static inline u64 gather(u64 low, u64 high)
{
	return (low >> 7) * 0x0102040810204080ull >> 56 | ((high >> 7) * 0x0102040810204080ull >> 56) << 8;
}
static inline u64 differ16(const char *a, const char *b)
{
	return gather(zero_bytes(load8(a) ^ load8(b)), zero_bytes(load8(a + 8) ^ load8(b + 8))) ^ 0xffff;
}
#define LANE_BITS 1u

static inline u64 string_stops8(u64 w)
{
	return zero_bytes(w ^ BYTES('"')) | zero_bytes(w ^ BYTES('\\')) | zero_bytes(w & BYTES(0xe0));
}
static inline u64 string_stops16(const char *p)
{
	return gather(string_stops8(load8(p)), string_stops8(load8(p + 8)));
}

#endif

/* True when n bytes are equal.  Up to the next multiple of 16 can be read of both. */
static inline bool same_text(const char *a, const char *b, size_t n)
{
	for (; n >= 16; n -= 16, a += 16, b += 16)
		if (differ16(a, b))
			return false;
	return !n || !(differ16(a, b) & ((1ull << n * LANE_BITS) - 1));
}

#endif
