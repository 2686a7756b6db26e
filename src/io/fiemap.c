// SPDX-License-Identifier: Apache-2.0
#include "io/fiemap.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "io/sysfs.h"

#define BATCH	    512u
#define MAX_EXTENTS (1u << 20) /* of one file */

bool extent_has_place(u32 flags)
{
	return !(flags & (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_DATA_INLINE |
			  FIEMAP_EXTENT_DATA_TAIL));
}

static bool has(const char *dir, const char *name)
{
	char path[SYSFS_PATH];

	sysfs_path(path, "%s/%s", dir, name);
	return !access(path, F_OK);
}

/* The disk of a block device and where on it that begins. */
static int find_disk(dev_t dev, u32 *disk, u64 *start)
{
	char dir[SYSFS_PATH], whole[SYSFS_PATH];

	*start = 0;
	sysfs_path(dir, "/sys/dev/block/%u:%u", major(dev), minor(dev));
	if (!major(dev) || !has(dir, "dev"))
		return -ENODEV;
	if (has(dir, "partition")) {
		*start = sysfs_u64(dir, "start", 0) * 512;
		sysfs_path(whole, "%s/..", dir);
	} else {
		memcpy(whole, dir, sizeof(whole));
	}
	if (has(whole, "dm") || has(whole, "md") || has(whole, "loop"))
		return -ENODEV;
	*disk = sysfs_dev(whole);
	return *disk ? 0 : -ENODEV;
}

/* A batch of extents from `from` on: how many, or -errno. */
static int ask(int fd, struct fiemap *f, u64 from, bool sync)
{
	memset(f, 0, sizeof(*f));
	f->fm_start = from;
	f->fm_length = FIEMAP_MAX_OFFSET - from;
	f->fm_flags = sync ? FIEMAP_FLAG_SYNC : 0;
	f->fm_extent_count = BATCH;
	if (ioctl(fd, FS_IOC_FIEMAP, f))
		return errno == ENOTTY ? -EOPNOTSUPP : -errno;
	return (int)f->fm_mapped_extents;
}

static int take(struct file_map *m, const struct fiemap_extent *e, u64 start)
{
	struct file_extent *grown;

	if (m->n == MAX_EXTENTS)
		return -E2BIG;
	if (!(m->n & (m->n - 1))) {
		grown = reallocarray(m->extent, m->n ? m->n * 2ul : 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->extent = grown;
	}
	m->extent[m->n++] = (struct file_extent){
		.offset = e->fe_logical,
		.physical = extent_has_place(e->fe_flags) ? e->fe_physical + start : 0,
		.bytes = e->fe_length,
		.flags = e->fe_flags,
	};
	return 0;
}

static int ask_all(struct file_map *m, int fd, struct fiemap *f, u64 start, bool sync)
{
	u64 from = 0;
	int n, i, ret = 0;

	while ((n = ask(fd, f, from, sync)) > 0) {
		for (i = 0; i < n && !ret; i++)
			ret = take(m, &f->fm_extents[i], start);
		if (ret || f->fm_extents[n - 1].fe_flags & FIEMAP_EXTENT_LAST)
			return ret;
		from = f->fm_extents[n - 1].fe_logical + f->fm_extents[n - 1].fe_length;
		sync = false;
	}
	return n;
}

int file_map(struct file_map *m, int fd, bool sync)
{
	struct fiemap *f;
	struct stat st;
	u64 start;
	int ret;

	*m = (struct file_map){};
	if (fstat(fd, &st))
		return -errno;
	m->dev = (u32)(major(st.st_dev) << 20 | minor(st.st_dev));
	m->ino = st.st_ino;
	m->size = (u64)st.st_size;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	ret = find_disk(st.st_dev, &m->disk, &start);
	if (ret)
		return ret;
	f = malloc(sizeof(*f) + BATCH * sizeof(f->fm_extents[0]));
	if (!f)
		return -ENOMEM;
	ret = ask_all(m, fd, f, start, sync);
	free(f);
	if (ret)
		file_map_free(m);
	return ret;
}

void file_map_free(struct file_map *m)
{
	free(m->extent);
	m->extent = NULL;
	m->n = 0;
}
