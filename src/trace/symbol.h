/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kernel has a function or a variable. */
#ifndef KVIO_SYMBOL_H
#define KVIO_SYMBOL_H

#include "lib/types.h"

/* Its address; 0 when there is none of this name, or the kernel does not tell. */
u64 symbol_address(const char *name);

#endif
