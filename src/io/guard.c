// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/guard.h"
#include "io/sysfs.h"
#include "lib/str.h"

static int PRINTF(3, 4) refuse(char *why, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, GUARD_WHY, fmt, ap);
	va_end(ap);
	return ret;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- who uses it ---- */

static int refuse_use(const char *disk, const struct device_use *use, char *why)
{
	switch (use->kind) {
	case USE_MOUNT:
		return refuse(why, -EPERM, "%s is mounted: %s on %s; unmount it first", disk, use->who, use->what);
	case USE_SWAP:
		return refuse(why, -EPERM, "%s is swapped on: %s; swapoff it first", disk, use->who);
	case USE_HOLDER:
		return refuse(why, -EPERM, "%s is held: %s belongs to %s; take that apart first", disk, use->who,
			      use->what);
	case USE_PARTITION:
		return refuse(why, -EPERM, "%s is partitioned: it has %s; wipe the partition table first (wipefs -a)",
			      disk, use->who);
	case USE_SIGNATURE:
		return refuse(why, -EPERM,
			      "%s carries a signature: %s on %s; if its data may go, wipe it first (wipefs -a /dev/%s)",
			      disk, use->what, use->who, use->who);
	case USE_CLAIMED:
		break;
	}
	return refuse(why, -EPERM, "%s is in use: another program or the kernel holds it exclusively", disk);
}

/* What is in use now goes before what lies on the disk: it is the better reason. */
static const struct device_use *worst_use(const struct device_users *u, size_t n_kinds)
{
	static const enum device_use_kind order[] = { USE_MOUNT,   USE_SWAP,	  USE_HOLDER,
						      USE_CLAIMED, USE_PARTITION, USE_SIGNATURE };
	size_t i, k;

	for (k = 0; k < MIN(n_kinds, ARRAY_SIZE(order)); k++)
		for (i = 0; i < u->n; i++)
			if (u->use[i].kind == order[k])
				return &u->use[i];
	return NULL;
}

#define IN_USE_NOW 4 /* the first kinds of worst_use() */

static int judge_users(const struct device_roots *roots, const char *disk, size_t n_kinds, char *why)
{
	const struct device_use *use;
	struct device_users u;
	int ret = device_users(roots, disk, &u);

	if (ret) {
		refuse(why, ret, "cannot tell who uses %s, so it is not written: %s", disk, strerror(-ret));
	} else if (u.root) {
		ret = refuse(why, -EPERM, "%s holds the root file system of this machine: it is never written", disk);
	} else if ((use = worst_use(&u, n_kinds))) {
		ret = refuse_use(disk, use, why);
	} else if (u.signature_error && n_kinds > IN_USE_NOW) {
		ret = refuse(why, u.signature_error,
			     "cannot read %s to see whether it carries a file system (%s), so it is not written", disk,
			     strerror(-u.signature_error));
	}
	device_users_free(&u);
	return ret;
}

/* Without native multipath the same namespace is several disks, and one of the others may be mounted. */
static int judge_twins(const struct device_roots *roots, const struct nvme_ns *ns, const struct nvme_ns *list, size_t n,
		       char *why)
{
	char mine[256], other[256];
	size_t i;
	int ret = 0;

	if (!ns || sysfs_line(mine, sizeof(mine), "%s/block/%s/wwid", roots->sysfs, ns->name) || !mine[0])
		return 0;
	for (i = 0; i < n && !ret; i++) {
		char text[GUARD_WHY];

		if (!strcmp(list[i].name, ns->name) || !list[i].dev ||
		    sysfs_line(other, sizeof(other), "%s/block/%s/wwid", roots->sysfs, list[i].name) ||
		    strcmp(mine, other))
			continue;
		/* What lies on it, this disk shows as well. */
		ret = judge_users(roots, list[i].name, IN_USE_NOW, text);
		if (ret)
			refuse(why, ret, "%s is the same namespace as %s (wwid %s), and %.300s", ns->name, list[i].name,
			       mine, text);
	}
	return ret;
}

/* ---- whether it is the one that was meant ---- */

static bool names_it(const char *word, const char *disk, const struct nvme_ns *ns)
{
	const char *name = base_name(word);

	return !strcmp(name, disk) || (ns && ns->generic[0] && !strcmp(name, ns->generic));
}

static int judge_intent(const char *disk, const struct nvme_ns *ns, const struct guard_request *r, char *why)
{
	const char *generic = ns && ns->generic[0] ? ns->generic : disk;

	if (r->expect_serial && (!ns || strcmp(r->expect_serial, ns->serial)))
		return refuse(
			why, -EPERM,
			"%s has the serial '%s', not '%s' as --expect-serial says: another drive has this name now",
			disk, ns ? ns->serial : "", r->expect_serial);
	if (!r->destroy)
		return refuse(why, -EPERM,
			      "all data on %s will be overwritten: if that is what you want, say --yes-destroy-data=%s",
			      disk, generic);
	if (!names_it(r->destroy, disk, ns))
		return refuse(why, -EPERM, "--yes-destroy-data names '%s', but the target is %s%s%s: they must agree",
			      r->destroy, disk, generic == disk ? "" : " or ", generic == disk ? "" : generic);
	return 0;
}

static int judge_format(const struct nvme_ns *ns, char *why)
{
	if (ns->csi == NVME_CSI_KV)
		return refuse(why, -EPERM,
			      "%s is a key-value namespace: its opcodes 1 and 2 are not writes and reads of blocks",
			      ns->name);
	if (ns->csi == NVME_CSI_ZNS)
		return refuse(why, -EPERM, "%s is zoned: it takes writes at its write pointers only", ns->name);
	if (ns->ms_known && ns->ms)
		return refuse(why, -EPERM, "%s has %u metadata bytes a block: formats without metadata only", ns->name,
			      ns->ms);
	return 0;
}

int guard_judge(const struct device_roots *roots, const char *disk, const struct nvme_ns *ns,
		const struct nvme_ns *list, size_t n, const struct guard_request *r, char *why)
{
	char dir[SYSFS_PATH], zoned[64];
	int ret;

	sysfs_path(dir, "%s/block/%s", roots->sysfs, disk);
	if (sysfs_u64(dir, "ro", 0))
		return refuse(why, -EPERM, "%s is read-only (blockdev --setrw changes that)", disk);
	if (!ns && !sysfs_line(zoned, sizeof(zoned), "%s/queue/zoned", dir) && zoned[0] && strcmp(zoned, "none"))
		return refuse(why, -EPERM, "%s is zoned (%s): it takes writes at its write pointers only", disk, zoned);
	ret = ns ? judge_format(ns, why) : 0;
	if (!ret)
		ret = judge_twins(roots, ns, list, n, why);
	if (!ret)
		ret = judge_users(roots, disk, SIZE_MAX, why);
	if (!ret)
		ret = judge_intent(disk, ns, r, why);
	return ret;
}

/* ---- disks ---- */

/* From here on no mount, no swapon and no other kvio can take it. */
static int claim(struct guard *g, const char *path, char *why)
{
	g->claim_fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (g->claim_fd >= 0)
		return 0;
	if (errno == EBUSY)
		return refuse(why, -EPERM, "%s is in use: another program or the kernel holds it exclusively", g->name);
	return refuse(why, -errno, "cannot open %.300s: %s", path, strerror(errno));
}

/* What the open node says of itself, against what sysfs said: the name may have gone to another drive meanwhile. */
static int check_identity(struct guard *g, char *why)
{
	struct nvme_ns now = g->ns;
	int ret = nvme_identify(g->fd, &now);

	if (ret)
		return refuse(why, ret, "cannot identify %s: %s", g->node, strerror(-ret));
	if (now.nsid != g->ns.nsid || strcmp(now.serial, g->ns.serial))
		return refuse(why, -EPERM, "%s is another drive than a moment ago", g->node);
	g->ns = now;
	g->lba_bytes = now.lba_bytes;
	g->capacity = now.capacity;
	return judge_format(&g->ns, why);
}

static int open_disk(struct guard *g, const struct guard_request *r, const struct device_roots *roots, char *why)
{
	char block[SYSFS_PATH], dir[SYSFS_PATH];
	u64 bytes = 0;
	int lba = 0, ret;

	sysfs_path(block, "%s/%s", roots->dev, g->name);
	if (r->passthrough)
		sysfs_path(g->node, "%s/%s", roots->dev, g->ns.generic);
	else
		snprintf(g->node, sizeof(g->node), "%s", block);
	/*
	 * The claim is a file of its own: io_uring may hold the one for IO for a
	 * moment longer than the process lives.  Reading suffices to claim, and
	 * does not make udev look at the disk again.
	 */
	ret = claim(g, block, why);
	if (ret)
		return ret;
	g->fd = open(g->node, O_RDWR | O_CLOEXEC | (r->passthrough ? 0 : O_DIRECT));
	if (g->fd < 0)
		return refuse(why, -errno, "cannot open %.300s: %s", g->node, strerror(errno));
	if (g->ns.name[0])
		return check_identity(g, why);
	if (ioctl(g->fd, BLKGETSIZE64, &bytes) || ioctl(g->fd, BLKSSZGET, &lba))
		return refuse(why, -errno, "cannot ask %s for its size: %s", g->node, strerror(errno));
	sysfs_path(dir, "%s/block/%s", roots->sysfs, g->name);
	g->capacity = bytes;
	g->lba_bytes = (u32)lba;
	/* Limits of the queue are those of any disk. */
	g->ns.max_hw_sectors_kb = (u32)sysfs_u64(dir, "queue/max_hw_sectors_kb", 0);
	g->ns.max_segments = (u32)sysfs_u64(dir, "queue/max_segments", 0);
	return 0;
}

static int guard_disk(struct guard *g, const struct guard_request *r, const struct device_roots *roots,
		      const struct stat *st, char *why)
{
	char dir[SYSFS_PATH], link[PATH_MAX] = "", word[PATH_MAX];
	struct nvme_ns *list = NULL;
	const struct nvme_ns *ns;
	enum nvme_node kind;
	size_t n = 0;
	int ret;

	nvme_list(roots->sysfs, &list, &n);
	ns = nvme_find(list, n, r->target, &kind);
	if (kind == NVME_NODE_PARTITION || kind == NVME_NODE_PATH || kind == NVME_NODE_CONTROLLER) {
		nvme_generic_node(r->target, word, sizeof(word), why, GUARD_WHY);
		ret = -EINVAL;
		goto out;
	}
	if (ns && !ns->dev) {
		ret = refuse(why, -EPERM, "%s has no block node, so nothing tells who uses it", r->target);
		goto out;
	}
	if (ns) {
		g->ns = *ns;
		g->ns.path = NULL;
		g->ns.n_paths = 0;
		snprintf(g->name, sizeof(g->name), "%s", ns->name);
	} else if (st && S_ISBLK(st->st_mode)) {
		sysfs_path(dir, "%s/dev/block/%u:%u", roots->sysfs, (u32)(dev_kernel(st->st_rdev) >> 20),
			   dev_kernel(st->st_rdev) & 0xfffff);
		if (readlink(dir, link, sizeof(link) - 1) < 0) {
			ret = refuse(why, -errno, "sysfs does not know %s: %s", r->target, strerror(errno));
			goto out;
		}
		snprintf(g->name, sizeof(g->name), "%s", base_name(link));
		sysfs_path(dir, "%s/block/%s", roots->sysfs, g->name);
		if (access(dir, F_OK)) {
			ret = refuse(why, -EINVAL, "%s is a partition: give the whole disk, or a file on it",
				     r->target);
			goto out;
		}
	} else {
		ret = refuse(why, -EINVAL, "%s is neither a disk, nor an NVMe namespace, nor a regular file",
			     r->target);
		goto out;
	}
	if (r->passthrough && (!ns || !ns->generic[0])) {
		ret = refuse(why, -EINVAL,
			     "%s takes no NVMe passthrough: that needs the char node of a namespace, e.g. /dev/ng0n1",
			     r->target);
		goto out;
	}
	ret = guard_judge(roots, g->name, ns, list, n, r, why);
	if (!ret)
		ret = open_disk(g, r, roots, why);
out:
	nvme_list_free(list, n);
	return ret;
}

/* ---- files ---- */

/* True when the file has no byte of data, only a size. */
static bool is_hole(int fd, const struct stat *st)
{
	return !st->st_size || (lseek(fd, 0, SEEK_DATA) < 0 && errno == ENXIO);
}

/* The first data is one of the magic words that this program writes, see kv/layout.h. */
static bool is_ours(int fd)
{
	off_t at = lseek(fd, 0, SEEK_DATA);
	char head[8] = "";

	return at >= 0 && pread(fd, head, sizeof(head), at) == (ssize_t)sizeof(head) &&
	       (!memcmp(head, "LMCIDX01", 8) || !memcmp(head, "LMCBLK01", 8));
}

static int judge_file(int fd, const struct guard_request *r, const struct stat *st, char *why)
{
	if (is_hole(fd, st) || is_ours(fd))
		return 0;
	if (!r->destroy)
		return refuse(why, -EPERM,
			      "%s has data that is not a store of ours: name a new file, or say --yes-destroy-data=%s",
			      r->target, base_name(r->target));
	if (strcmp(base_name(r->destroy), base_name(r->target)))
		return refuse(why, -EPERM, "--yes-destroy-data names '%s', but the target is %s: they must agree",
			      r->destroy, r->target);
	return 0;
}

static int size_file(struct guard *g, const struct guard_request *r, const struct stat *st, char *why)
{
	u64 have = (u64)st->st_size;

	g->capacity = have;
	if (r->file_bytes <= have)
		return have ? 0 : refuse(why, -EINVAL, "%s is empty, and no size was given", r->target);
	if (r->file_bytes > INT64_MAX)
		return refuse(why, -EFBIG, "%s cannot be %llu bytes large: no file can", r->target, ULL(r->file_bytes));
	if (ftruncate(g->fd, (off_t)r->file_bytes))
		return refuse(why, -errno, "cannot make %s %llu bytes large: %s", r->target, ULL(r->file_bytes),
			      strerror(errno));
	g->capacity = r->file_bytes;
	return 0;
}

/* O_DIRECT wants what the file system below wants; 4 KiB satisfies all that exist. */
#define FILE_ALIGN 4096u

static int guard_file(struct guard *g, const struct guard_request *r, char *why)
{
	int flags = O_RDWR | O_CLOEXEC, ret;
	struct stat st;

	if (r->passthrough)
		return refuse(
			why, -EINVAL,
			"%s is a regular file: NVMe passthrough needs the char node of a namespace, e.g. /dev/ng0n1",
			r->target);
	if (r->expect_serial)
		return refuse(why, -EPERM, "%s is a file and has no serial, but --expect-serial was given", r->target);
	snprintf(g->node, sizeof(g->node), "%s", r->target);
	snprintf(g->name, sizeof(g->name), "%s", base_name(r->target));
	g->is_file = true;
	g->lba_bytes = r->buffered ? 1 : FILE_ALIGN;
	g->fd = open(r->target, flags | O_CREAT | O_EXCL, 0600);
	g->created = g->fd >= 0;
	if (!g->created && errno == EEXIST)
		g->fd = open(r->target, flags);
	if (g->fd < 0 || fstat(g->fd, &st))
		return refuse(why, -errno, "cannot open %s: %s", r->target, strerror(errno));
	if (flock(g->fd, LOCK_EX | LOCK_NB))
		return refuse(why, -EPERM, "%s is in use by another kvio", r->target);
	ret = judge_file(g->fd, r, &st, why);
	if (!ret)
		ret = size_file(g, r, &st, why);
	if (!ret && !r->buffered && fcntl(g->fd, F_SETFL, O_DIRECT))
		ret = refuse(why, -errno,
			     "the file system of %s has no O_DIRECT (%s): --buffered goes through the page cache",
			     r->target, strerror(errno));
	return ret;
}

int guard_open(struct guard *g, const struct guard_request *r, const struct device_roots *roots, char *why)
{
	struct stat st;
	bool there = !stat(r->target, &st);
	bool node = there && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
	int ret;

	*g = (struct guard){ .fd = -1, .claim_fd = -1 };
	if (!there && errno != ENOENT)
		return refuse(why, -errno, "cannot look at %s: %s", r->target, strerror(errno));
	if (node)
		ret = guard_disk(g, r, roots, &st, why);
	else if (there && !S_ISREG(st.st_mode))
		ret = refuse(why, -EINVAL, "%s is neither a disk nor a regular file", r->target);
	else if (!there && (!strchr(r->target, '/') || str_starts(r->target, "/dev/")) &&
		 nvme_parse_name(base_name(r->target)).kind != NVME_NODE_NONE)
		/* A name without its directory; never a file of that name in /dev. */
		ret = guard_disk(g, r, roots, NULL, why);
	else if (!there && str_starts(r->target, "/dev/") && !str_starts(r->target, "/dev/shm/"))
		ret = refuse(why, -EINVAL, "there is no %s", r->target);
	else
		ret = guard_file(g, r, why);
	if (ret)
		guard_discard(g);
	return ret;
}

void guard_discard(struct guard *g)
{
	if (g->created)
		unlink(g->node);
	guard_close(g);
}

void guard_close(struct guard *g)
{
	if (g->fd >= 0 && g->is_file)
		flock(g->fd, LOCK_UN); /* whoever else has the file open still */
	if (g->fd >= 0)
		close(g->fd);
	if (g->claim_fd >= 0)
		close(g->claim_fd);
	g->fd = g->claim_fd = -1;
}
