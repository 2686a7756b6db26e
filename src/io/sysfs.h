/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of /sys and /proc. */
#ifndef KVIO_SYSFS_H
#define KVIO_SYSFS_H

#include "lib/types.h"

#define SYSFS_PATH 4096

/* Formats a path; one that is too long becomes "", which no call opens. */
void sysfs_path(char path[SYSFS_PATH], const char *fmt, ...) PRINTF(2, 3);

/*
 * The first line of a file without its newline and trailing blanks, cut at
 * size - 1.  Returns 0, or -errno with "" in out.
 */
int sysfs_line(char *out, size_t size, const char *fmt, ...) PRINTF(3, 4);

/* The number in dir/name, `otherwise` when there is none. */
u64 sysfs_u64(const char *dir, const char *name, u64 otherwise);

/* The "major:minor" of dir/dev as a kernel device number, 0 when there is none. */
u32 sysfs_dev(const char *dir);

#endif
