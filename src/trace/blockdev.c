// SPDX-License-Identifier: Apache-2.0
#include "trace/blockdev.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file, empty when there is none. */
static void first_line(const char *path, char line[64])
{
	FILE *f = fopen(path, "re");

	line[0] = '\0';
	if (!f)
		return;
	if (!fgets(line, 64, f))
		line[0] = '\0';
	fclose(f);
}

static u32 queue_u32(u32 dev, const char *name)
{
	char path[128], line[64];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/queue/%s", dev >> 20, dev & 0xfffff, name);
	first_line(path, line);
	return (u32)strtoul(line, NULL, 10);
}

size_t blockdev_name(u32 dev, char name[NAME_MAX])
{
	char link[64], target[PATH_MAX] = "", *at;
	size_t n;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", dev >> 20, dev & 0xfffff);
	if (readlink(link, target, sizeof(target) - 1) <= 0)
		return 0;
	at = basename(target);
	n = MIN(strlen(at), (size_t)NAME_MAX);
	memcpy(name, at, n);
	/* sysfs has ! where the name has a slash. */
	while ((at = memchr(name, '!', n)))
		*at = '/';
	return n;
}

void blockdev_describe(struct ev_block *e)
{
	u32 least = queue_u32(e->dev, "minimum_io_size"), kib = queue_u32(e->dev, "max_hw_sectors_kb");
	char name[NAME_MAX] = "";
	size_t n = blockdev_name(e->dev, name);

	e->lba_bytes = queue_u32(e->dev, "logical_block_size");
	e->iu_bytes_each = least > e->lba_bytes ? least : 0;
	e->optimal_bytes = queue_u32(e->dev, "optimal_io_size");
	e->max_request_bytes = kib < UINT32_MAX / 1024 ? kib * 1024 : 0;
	memcpy(e->name, name, MIN(n, sizeof(e->name)));
}

void blockdev_each(void (*fn)(void *arg, u32 dev), void *arg)
{
	DIR *d = opendir("/sys/block");
	struct dirent *one;

	while (d && (one = readdir(d))) {
		char path[PATH_MAX], line[64];
		unsigned int major, minor;

		snprintf(path, sizeof(path), "/sys/block/%s/dev", one->d_name);
		first_line(path, line);
		if (one->d_name[0] != '.' && sscanf(line, "%u:%u", &major, &minor) == 2)
			fn(arg, major << 20 | minor);
	}
	if (d)
		closedir(d);
}
