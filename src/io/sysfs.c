// SPDX-License-Identifier: Apache-2.0
/* The namespaces that sysfs shows. */
#include "io/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/device.h"
#include "lib/str.h"

static void format_path(char path[SYSFS_PATH], const char *fmt, va_list ap)
{
	if (vsnprintf(path, SYSFS_PATH, fmt, ap) >= SYSFS_PATH)
		path[0] = '\0';
}

void sysfs_path(char path[SYSFS_PATH], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_path(path, fmt, ap);
	va_end(ap);
}

int sysfs_line(char *out, size_t size, const char *fmt, ...)
{
	char path[SYSFS_PATH];
	va_list ap;
	ssize_t n;
	int fd;

	out[0] = '\0';
	va_start(ap, fmt);
	format_path(path, fmt, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, out, size - 1);
	close(fd);
	if (n < 0) {
		out[0] = '\0';
		return -EIO;
	}
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	for (n = (ssize_t)strlen(out); n && out[n - 1] == ' '; n--)
		out[n - 1] = '\0';
	return 0;
}

u64 sysfs_u64(const char *dir, const char *name, u64 otherwise)
{
	char text[64];
	u64 v;

	if (sysfs_line(text, sizeof(text), "%s/%s", dir, name) || str_u64(text, &v))
		return otherwise;
	return v;
}

u32 sysfs_dev(const char *dir)
{
	unsigned int major, minor;
	char text[64];

	if (sysfs_line(text, sizeof(text), "%s/dev", dir) || sscanf(text, "%u:%u", &major, &minor) != 2)
		return 0;
	return major << 20 | minor;
}

/* Copies what fits, always NUL-terminated. */
static void copy(char *to, size_t size, const char *from)
{
	size_t n = MIN(strlen(from), size - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

static u32 count_entries(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	u32 n = 0;

	if (!d)
		return 0;
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static u32 tighter(u32 a, u32 b)
{
	return !a || (b && b < a) ? b : a;
}

static void read_limits(const char *block, struct nvme_ns *ns)
{
	ns->max_hw_sectors_kb = tighter(ns->max_hw_sectors_kb, (u32)sysfs_u64(block, "queue/max_hw_sectors_kb", 0));
	ns->max_segments = tighter(ns->max_segments, (u32)sysfs_u64(block, "queue/max_segments", 0));
}

/* What belongs to a disk with queues of its own: a plain namespace or one path of a head. */
static void read_queues(const char *block, struct nvme_ns *ns)
{
	char dir[SYSFS_PATH], text[256], *open_bracket, *close_bracket;

	ns->nr_requests = tighter(ns->nr_requests, (u32)sysfs_u64(block, "queue/nr_requests", 0));
	if (ns->hw_queues)
		return;
	sysfs_path(dir, "%s/mq", block);
	ns->hw_queues = count_entries(dir);
	if (sysfs_line(text, sizeof(text), "%s/queue/scheduler", block))
		return;
	open_bracket = strchr(text, '[');
	close_bracket = strchr(text, ']');
	if (open_bracket && close_bracket && close_bracket > open_bracket) {
		*close_bracket = '\0';
		copy(ns->scheduler, sizeof(ns->scheduler), open_bracket + 1);
	}
}

static void read_controller(const char *block, struct nvme_ns *ns)
{
	char dir[SYSFS_PATH], link[SYSFS_PATH], *slash;
	ssize_t n;

	sysfs_path(dir, "%s/device", block);
	n = readlink(dir, link, sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = '\0';
	slash = strrchr(link, '/');
	copy(ns->ctrl, sizeof(ns->ctrl), slash ? slash + 1 : link);
	sysfs_line(ns->model, sizeof(ns->model), "%s/model", dir);
	sysfs_line(ns->serial, sizeof(ns->serial), "%s/serial", dir);
	sysfs_line(ns->firmware, sizeof(ns->firmware), "%s/firmware_rev", dir);
	sysfs_line(ns->transport, sizeof(ns->transport), "%s/transport", dir);
	if (ns->serial[0])
		nvme_hash_serial(ns->serial, ns->serial_hash);
}

static void read_ns(const char *sysfs, struct nvme_ns *ns)
{
	char block[SYSFS_PATH], generic[SYSFS_PATH];
	u64 ms;
	u32 i;

	sysfs_path(block, "%s/block/%s", sysfs, ns->name);
	sysfs_path(generic, "%s/class/nvme-generic/%s", sysfs, ns->generic);
	ns->dev = sysfs_dev(block);
	ns->rdev = sysfs_dev(generic);
	if (!ns->rdev)
		ns->generic[0] = '\0';
	ns->nsid = (u32)sysfs_u64(block, "nsid", 0);
	ns->csi = (u8)sysfs_u64(block, "csi", NVME_CSI_UNKNOWN);
	ns->lba_bytes = (u32)sysfs_u64(block, "queue/logical_block_size", 0);
	ns->capacity = sysfs_u64(block, "size", 0) * 512;
	ms = sysfs_u64(block, "metadata_bytes", UINT64_MAX);
	ns->ms_known = ms <= UINT16_MAX;
	ns->ms = ns->ms_known ? (u16)ms : 0;
	read_limits(block, ns);
	if (!ns->head) {
		read_queues(block, ns);
		read_controller(block, ns);
		return;
	}
	/* The queue of a head has no tags and no scheduler: its numbers mean nothing. */
	for (i = 0; i < ns->n_paths; i++) {
		sysfs_path(block, "%s/block/%s", sysfs, ns->path[i]);
		read_limits(block, ns);
		read_queues(block, ns);
		if (!ns->ctrl[0])
			read_controller(block, ns);
	}
}

struct ns_list {
	struct nvme_ns *ns;
	size_t n;
};

/* The namespace with this instance and head number, made when it is new. */
static struct nvme_ns *list_get(struct ns_list *list, const struct nvme_name *name)
{
	char block[NVME_NAME];
	struct nvme_ns *ns;
	size_t i;

	snprintf(block, sizeof(block), "nvme%un%u", name->instance, name->head);
	for (i = 0; i < list->n; i++)
		if (!strcmp(list->ns[i].name, block))
			return &list->ns[i];
	ns = reallocarray(list->ns, list->n + 1, sizeof(*ns));
	if (!ns)
		return NULL;
	list->ns = ns;
	ns += list->n++;
	*ns = (struct nvme_ns){};
	memcpy(ns->name, block, sizeof(block));
	snprintf(ns->generic, sizeof(ns->generic), "ng%un%u", name->instance, name->head);
	return ns;
}

static int list_add(struct ns_list *list, const char *entry)
{
	struct nvme_name name = nvme_parse_name(entry);
	struct nvme_ns *ns;
	void *path;

	if (name.kind != NVME_NODE_BLOCK && name.kind != NVME_NODE_GENERIC && name.kind != NVME_NODE_PATH)
		return 0;
	ns = list_get(list, &name);
	if (!ns)
		return -ENOMEM;
	if (name.kind != NVME_NODE_PATH)
		return 0;
	path = reallocarray(ns->path, ns->n_paths + 1, sizeof(*ns->path));
	if (!path)
		return -ENOMEM;
	ns->path = path;
	copy(ns->path[ns->n_paths++], NVME_NAME, entry);
	ns->head = true;
	return 0;
}

static int list_dir(struct ns_list *list, const char *sysfs, const char *sub)
{
	char dir[SYSFS_PATH];
	struct dirent *e;
	int ret = 0;
	DIR *d;

	sysfs_path(dir, "%s/%s", sysfs, sub);
	d = opendir(dir);
	if (!d)
		return -errno;
	while (!ret && (e = readdir(d)))
		ret = list_add(list, e->d_name);
	closedir(d);
	return ret;
}

static int by_name(const void *a, const void *b)
{
	struct nvme_name x = nvme_parse_name(((const struct nvme_ns *)a)->name);
	struct nvme_name y = nvme_parse_name(((const struct nvme_ns *)b)->name);

	if (x.instance != y.instance)
		return x.instance < y.instance ? -1 : 1;
	return x.head < y.head ? -1 : x.head > y.head;
}

static int by_path(const void *a, const void *b)
{
	struct nvme_name x = nvme_parse_name(a), y = nvme_parse_name(b);

	return x.ctrl < y.ctrl ? -1 : x.ctrl > y.ctrl;
}

int nvme_list(const char *sysfs, struct nvme_ns **out, size_t *n)
{
	struct ns_list list = {};
	size_t i;
	int ret;

	*out = NULL;
	*n = 0;
	ret = list_dir(&list, sysfs, "block");
	if (!ret) {
		/* Some namespaces (key value) have a char node only; older kernels have no such class. */
		ret = list_dir(&list, sysfs, "class/nvme-generic");
		if (ret == -ENOENT)
			ret = 0;
	}
	if (ret) {
		nvme_list_free(list.ns, list.n);
		return ret;
	}
	if (list.n)
		qsort(list.ns, list.n, sizeof(*list.ns), by_name);
	for (i = 0; i < list.n; i++) {
		if (list.ns[i].n_paths)
			qsort(list.ns[i].path, list.ns[i].n_paths, sizeof(*list.ns[i].path), by_path);
		read_ns(sysfs, &list.ns[i]);
	}
	*out = list.ns;
	*n = list.n;
	return 0;
}

void nvme_list_free(struct nvme_ns *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(list[i].path);
	free(list);
}
