/* SPDX-License-Identifier: Apache-2.0 */
/* What sysfs says of a block device. */
#ifndef KVIO_BLOCKDEV_H
#define KVIO_BLOCKDEV_H

#include <limits.h>
#include <stddef.h>

#include "capture/event.h"

/* The name of the disk or partition dev (kernel encoding), as below /dev: bytes, 0 = there is none. */
size_t blockdev_name(u32 dev, char name[NAME_MAX]);
/*
 * Fills name and geometry of the disk e->dev; what is not reported stays 0.
 * An indirection unit is only known when the device reports more than a block:
 * a kernel repeats the block size where it was told nothing.
 */
void blockdev_describe(struct ev_block *e);
/* Gives each disk's number (kernel encoding) to fn. */
void blockdev_each(void (*fn)(void *arg, u32 dev), void *arg);

#endif
