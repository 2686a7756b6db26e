/* SPDX-License-Identifier: Apache-2.0 */
/* Short integer names and the two macros that every part uses. */
#ifndef KVIO_TYPES_H
#define KVIO_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define NSEC_PER_SEC	  1000000000ull
#define ULL(x)		  ((unsigned long long)(x)) /* for %llu */
#define ARRAY_SIZE(a)	  (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)	  ((a) < (b) ? (a) : (b))
#define MAX(a, b)	  ((a) > (b) ? (a) : (b))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#endif
