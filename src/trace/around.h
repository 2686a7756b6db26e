/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault-around: at a fault the kernel maps pages beside it that are in the page
 * cache, and their use is never seen.  It can be switched off, for the whole
 * machine.
 */
#ifndef KVIO_AROUND_H
#define KVIO_AROUND_H

#include "lib/types.h"

/* 0 or -errno: -ENOENT without debugfs. */
int around_off(void);
/* As it was before around_off(), if that was called.  May be called in a signal handler. */
void around_restore(void);

#endif
