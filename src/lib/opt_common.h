/* SPDX-License-Identifier: Apache-2.0 */
/* What opt.c and opt_gen.c share. */
#ifndef KVIO_OPT_COMMON_H
#define KVIO_OPT_COMMON_H

#include "lib/opt.h"

/* The options that every command has. */
extern const struct opt opt_common[];

/* "-o, --output FILE" */
void opt_spell(char *out, size_t n, const struct opt *o);

#endif
