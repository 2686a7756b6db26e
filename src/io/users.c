// SPDX-License-Identifier: Apache-2.0
/* Who uses a disk: mounts, swap, holders, partitions, signatures. */
#include <blkid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/device.h"
#include "io/sysfs.h"

/* The disk, its partitions, and all that is stacked on them. */
struct member {
	char name[64];
	u32 dev;
	bool holder;
};

struct members {
	struct member *m;
	size_t n;
};

static int add_use(struct device_users *u, enum device_use_kind kind, const char *who, const char *what)
{
	struct device_use *use = reallocarray(u->use, u->n + 1, sizeof(*use));

	if (!use)
		return -ENOMEM;
	u->use = use;
	use[u->n] = (struct device_use){ kind, strdup(who), strdup(what) };
	u->n++; /* also when a copy failed: the other one is freed with the list */
	return use[u->n - 1].who && use[u->n - 1].what ? 0 : -ENOMEM;
}

static int add_member(const struct device_roots *roots, struct device_users *u, struct members *all, const char *dir,
		      const char *name, bool holder)
{
	char path[SYSFS_PATH];
	struct member *m;
	struct dirent *e;
	size_t i;
	int ret = 0;
	DIR *d;

	for (i = 0; i < all->n; i++)
		if (!strcmp(all->m[i].name, name))
			return 0;
	m = reallocarray(all->m, all->n + 1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	all->m = m;
	m += all->n++;
	*m = (struct member){ .dev = sysfs_dev(dir), .holder = holder };
	snprintf(m->name, sizeof(m->name), "%s", name);

	sysfs_path(path, "%s/holders", dir);
	d = opendir(path);
	while (d && !ret && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		ret = add_use(u, USE_HOLDER, name, e->d_name);
		sysfs_path(path, "%s/block/%s", roots->sysfs, e->d_name);
		if (!ret)
			ret = add_member(roots, u, all, path, e->d_name, true);
	}
	if (d)
		closedir(d);
	return ret;
}

static int add_partitions(const struct device_roots *roots, struct device_users *u, struct members *all,
			  const char *dir)
{
	struct dirent **entry;
	char path[SYSFS_PATH];
	int i, n, ret = 0;

	/* In the order of their numbers. */
	n = scandir(dir, &entry, NULL, versionsort);
	if (n < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		sysfs_path(path, "%s/%s/partition", dir, entry[i]->d_name);
		if (!ret && !access(path, F_OK)) {
			sysfs_path(path, "%s/%s", dir, entry[i]->d_name);
			ret = add_use(u, USE_PARTITION, entry[i]->d_name, "");
			if (!ret)
				ret = add_member(roots, u, all, path, entry[i]->d_name, false);
		}
		free(entry[i]);
	}
	free(entry);
	return ret;
}

/* \040 and the like, as /proc writes blanks in names. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
		    s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/*
 * By device number; file systems that make their own (btrfs) are found by the
 * node they were mounted from.
 */
static const struct member *member_find(const struct members *all, u32 dev, const char *source)
{
	const char *slash = strrchr(source, '/');
	struct stat st;
	size_t i;

	if (source[0] == '/' && !stat(source, &st) && S_ISBLK(st.st_mode))
		dev = dev_kernel(st.st_rdev);
	for (i = 0; i < all->n; i++)
		if ((dev && all->m[i].dev == dev) || (slash && !strcmp(slash + 1, all->m[i].name)))
			return &all->m[i];
	return NULL;
}

static int read_mounts(const struct device_roots *roots, struct device_users *u, const struct members *all)
{
	char path[SYSFS_PATH], *line = NULL;
	size_t cap = 0;
	int ret = 0;
	FILE *f;

	sysfs_path(path, "%s/self/mountinfo", roots->proc);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (!ret && getline(&line, &cap, f) > 0) {
		char *save = NULL, *field, *mount_point = NULL, *source = NULL;
		unsigned int major = 0, minor = 0;
		const struct member *m;
		int i, dash = 0;

		/* id parent major:minor root mount-point options... - type source options */
		for (i = 0, field = strtok_r(line, " \n", &save); field; i++, field = strtok_r(NULL, " \n", &save)) {
			if (i == 2 && sscanf(field, "%u:%u", &major, &minor) != 2)
				break;
			if (i == 4)
				mount_point = field;
			if (i > 5 && !dash && !strcmp(field, "-"))
				dash = i;
			if (dash && i == dash + 2)
				source = field;
		}
		if (!mount_point || !source)
			continue;
		unescape(mount_point);
		unescape(source);
		m = member_find(all, major << 20 | minor, source);
		if (!m)
			continue;
		ret = add_use(u, USE_MOUNT, m->name, mount_point);
		u->root |= !strcmp(mount_point, "/");
	}
	free(line);
	fclose(f);
	return ret;
}

static int read_swaps(const struct device_roots *roots, struct device_users *u, const struct members *all)
{
	char path[SYSFS_PATH], *line = NULL;
	size_t cap = 0;
	int ret = 0;
	FILE *f;

	sysfs_path(path, "%s/swaps", roots->proc);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : -errno; /* a kernel without swap */
	while (!ret && getline(&line, &cap, f) > 0) {
		const struct member *m;

		/* A swap file is in use by way of the mount it is on. */
		if (line[0] != '/' || !strstr(line, "partition"))
			continue;
		line[strcspn(line, " \t\n")] = '\0';
		unescape(line);
		m = member_find(all, 0, line);
		if (m)
			ret = add_use(u, USE_SWAP, m->name, "");
	}
	free(line);
	fclose(f);
	return ret;
}

/* Adds what libblkid finds on one node; several signatures are several uses. */
static int read_signatures(struct device_users *u, const char *node, const char *name)
{
	blkid_probe probe;
	int ret = 0, fd;

	fd = open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		u->signature_error = -errno;
		return 0;
	}
	probe = blkid_new_probe();
	if (!probe || blkid_probe_set_device(probe, fd, 0, 0)) {
		u->signature_error = probe ? -EIO : -ENOMEM;
		goto out;
	}
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
	blkid_probe_enable_partitions(probe, 1);
	while (!ret) {
		const char *type = NULL, *usage = NULL, *table = NULL;
		char what[128];
		int found = blkid_do_probe(probe);

		if (found < 0)
			u->signature_error = -EIO;
		if (found)
			break;
		blkid_probe_lookup_value(probe, "TYPE", &type, NULL);
		blkid_probe_lookup_value(probe, "USAGE", &usage, NULL);
		blkid_probe_lookup_value(probe, "PTTYPE", &table, NULL);
		if (type)
			snprintf(what, sizeof(what), "%s %s", usage ? usage : "other", type);
		else
			snprintf(what, sizeof(what), "partition table %s", table ? table : "unknown");
		ret = add_use(u, USE_SIGNATURE, name, what);
	}
out:
	blkid_free_probe(probe);
	close(fd);
	return ret;
}

/* Whatever else holds the disk, e.g. a mount in another namespace, keeps it from being opened exclusively. */
static int check_claim(const char *node, struct device_users *u, const char *name)
{
	struct stat st;
	int fd;

	if (stat(node, &st) || !S_ISBLK(st.st_mode))
		return 0;
	fd = open(node, O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	return errno == EBUSY ? add_use(u, USE_CLAIMED, name, "") : 0;
}

static bool claims(enum device_use_kind kind)
{
	return kind == USE_MOUNT || kind == USE_SWAP || kind == USE_HOLDER;
}

int device_users(const struct device_roots *roots, const char *name, struct device_users *out)
{
	struct members all = {};
	char path[SYSFS_PATH];
	bool claimed = false;
	size_t i;
	int ret;

	*out = (struct device_users){};
	sysfs_path(path, "%s/block/%s", roots->sysfs, name);
	if (access(path, F_OK))
		return -ENODEV;
	ret = add_member(roots, out, &all, path, name, false);
	if (!ret)
		ret = add_partitions(roots, out, &all, path);
	if (!ret)
		ret = read_mounts(roots, out, &all);
	if (!ret)
		ret = read_swaps(roots, out, &all);
	for (i = 0; !ret && i < all.n; i++) {
		if (all.m[i].holder)
			continue;
		sysfs_path(path, "%s/%s", roots->dev, all.m[i].name);
		ret = read_signatures(out, path, all.m[i].name);
	}
	for (i = 0; i < out->n; i++)
		claimed |= claims(out->use[i].kind);
	if (!ret && !claimed) {
		sysfs_path(path, "%s/%s", roots->dev, name);
		ret = check_claim(path, out, name);
	}
	free(all.m);
	return ret;
}

void device_users_free(struct device_users *u)
{
	size_t i;

	for (i = 0; i < u->n; i++) {
		free(u->use[i].who);
		free(u->use[i].what);
	}
	free(u->use);
	*u = (struct device_users){};
}

const char *device_use_word(enum device_use_kind kind)
{
	switch (kind) {
	case USE_MOUNT:
		return "mount";
	case USE_SWAP:
		return "swap";
	case USE_HOLDER:
		return "holder";
	case USE_PARTITION:
		return "partition";
	case USE_SIGNATURE:
		return "signature";
	case USE_CLAIMED:
		return "claimed";
	}
	return "unknown";
}
