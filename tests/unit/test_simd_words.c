// SPDX-License-Identifier: Apache-2.0
#define WORDS_ONLY
#include "test_simd.c"
