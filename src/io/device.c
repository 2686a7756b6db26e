// SPDX-License-Identifier: Apache-2.0
/* Names of NVMe nodes, Identify, and the limit of one command. */
#include "io/device.h"

#include <ctype.h>
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/hash.h"
#include "lib/str.h"

u32 dev_kernel(dev_t d)
{
	return major(d) << 20 | minor(d);
}

/* Takes `prefix` and a decimal number off the front of *s. */
static bool take_number(const char **s, const char *prefix, u32 *out)
{
	const char *p = *s;
	u64 v = 0;

	if (!str_starts(p, prefix))
		return false;
	p += strlen(prefix);
	if (!isdigit((unsigned char)*p))
		return false;
	while (isdigit((unsigned char)*p)) {
		v = v * 10 + (u64)(*p++ - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*out = (u32)v;
	*s = p;
	return true;
}

struct nvme_name nvme_parse_name(const char *name)
{
	struct nvme_name none = {}, n = {};
	const char *s = name;

	if (take_number(&s, "ng", &n.instance)) {
		n.kind = NVME_NODE_GENERIC;
		return take_number(&s, "n", &n.head) && !*s ? n : none;
	}
	if (!take_number(&s, "nvme", &n.instance))
		return none;
	n.kind = NVME_NODE_CONTROLLER;
	if (!*s)
		return n;
	n.kind = take_number(&s, "c", &n.ctrl) ? NVME_NODE_PATH : NVME_NODE_BLOCK;
	if (!take_number(&s, "n", &n.head))
		return none;
	if (n.kind == NVME_NODE_BLOCK && take_number(&s, "p", &n.partition))
		n.kind = NVME_NODE_PARTITION;
	return *s ? none : n;
}

/* The file that a word means: links followed; as it is when there is no such file. */
static void follow(const char *word, char *path, size_t size)
{
	char *real = strchr(word, '/') ? realpath(word, NULL) : NULL;

	snprintf(path, size, "%s", real ? real : word);
	free(real);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const struct nvme_ns *nvme_find(const struct nvme_ns *list, size_t n, const char *word, enum nvme_node *kind)
{
	char path[4096];
	struct nvme_name name;
	struct stat st;
	size_t i;

	follow(word, path, sizeof(path));
	name = nvme_parse_name(base_name(path));
	if (kind)
		*kind = name.kind;
	for (i = 0; i < n && name.kind > NVME_NODE_CONTROLLER; i++) {
		struct nvme_name have = nvme_parse_name(list[i].name);

		if (have.instance == name.instance && have.head == name.head)
			return &list[i];
	}
	if (name.kind != NVME_NODE_NONE || stat(path, &st) || !(S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
		return NULL;
	for (i = 0; i < n; i++)
		if (dev_kernel(st.st_rdev) == (S_ISCHR(st.st_mode) ? list[i].rdev : list[i].dev)) {
			if (kind)
				*kind = S_ISCHR(st.st_mode) ? NVME_NODE_GENERIC : NVME_NODE_BLOCK;
			return &list[i];
		}
	return NULL;
}

int nvme_generic_node(const char *word, char *node, size_t node_size, char *why, size_t why_size)
{
	char path[4096], generic[NVME_NAME];
	struct nvme_name name;
	struct stat st;
	int dir;

	follow(word, path, sizeof(path));
	name = nvme_parse_name(base_name(path));
	/* The node beside the one given, which need not be in /dev. */
	dir = (int)(base_name(path) - path);
	snprintf(generic, sizeof(generic), "ng%un%u", name.instance, name.head);
	switch (name.kind) {
	case NVME_NODE_GENERIC:
	case NVME_NODE_BLOCK:
		snprintf(node, node_size, "%.*s%s", dir ? dir : 5, dir ? path : "/dev/", generic);
		return 0;
	case NVME_NODE_PARTITION:
		snprintf(why, why_size, "%s is a partition, and a partition takes no NVMe commands: use /dev/%s", word,
			 generic);
		return -EINVAL;
	case NVME_NODE_PATH:
		snprintf(why, why_size, "%s is one path of a multipath namespace: use /dev/%s", word, generic);
		return -EINVAL;
	case NVME_NODE_CONTROLLER:
		snprintf(why, why_size, "%s is a controller: name one of its namespaces, e.g. /dev/ng%un1", word,
			 name.instance);
		return -EINVAL;
	case NVME_NODE_NONE:
		break;
	}
	/* A node made under another name: Identify will tell what it is. */
	if (!stat(path, &st) && S_ISCHR(st.st_mode)) {
		snprintf(node, node_size, "%s", path);
		return 0;
	}
	snprintf(why, why_size, "%s is not an NVMe namespace: give its char node, e.g. /dev/ng0n1", word);
	return -EINVAL;
}

/* ---- Identify ---- */

#define ID_BYTES     4096
/* Limits are given in the controller's smallest page, CAP.MPSMIN.  No ioctl tells it; 4 KiB on all known drives. */
#define MPSMIN_BYTES 4096ull

static u16 le16(const u8 *p)
{
	return (u16)(p[0] | p[1] << 8);
}

static u64 le64(const u8 *p)
{
	u64 v = 0;
	int i;

	for (i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

/* A space-padded ASCII field of n bytes; `out` holds n + 1. */
static void id_string(const u8 *id, size_t n, char *out)
{
	size_t i;

	while (n && (id[n - 1] == ' ' || id[n - 1] == '\0'))
		n--;
	for (i = 0; i < n; i++)
		out[i] = (char)(id[i] >= 0x20 && id[i] < 0x7f ? id[i] : '?');
	out[n] = '\0';
}

void nvme_hash_serial(const char *serial, char hash[9])
{
	snprintf(hash, 9, "%08x", (u32)hash_bytes(serial, strlen(serial)));
}

void nvme_parse_id_ctrl(const u8 *id, struct nvme_ns *ns)
{
	u8 mdts = id[77];

	id_string(id + 4, 20, ns->serial);
	id_string(id + 24, 40, ns->model);
	id_string(id + 64, 8, ns->firmware);
	nvme_hash_serial(ns->serial, ns->serial_hash);
	/* 2^mdts pages; beyond 2^51 pages it is no limit (and no shift). */
	ns->mdts_bytes = mdts && mdts <= 51 ? MPSMIN_BYTES << mdts : 0;
}

int nvme_parse_id_ns(const u8 *id, struct nvme_ns *ns)
{
	u8 nlbaf = id[25], flbas = id[26], lbads;
	u32 index = flbas & 0xf;

	/* Only with more than 16 formats do bits 5 and 6 extend the index. */
	if (nlbaf >= 16)
		index |= (u32)(flbas >> 5 & 3) << 4;
	lbads = id[128 + 4 * index + 2];
	if (lbads < 9 || lbads > 31)
		return -EPROTO;
	ns->lba_bytes = 1u << lbads;
	ns->ms = le16(id + 128 + 4 * index);
	ns->ms_known = true;
	ns->ms_extended = ns->ms && flbas & 0x10;
	if (__builtin_mul_overflow(le64(id), (u64)ns->lba_bytes, &ns->capacity))
		return -EPROTO;
	return 0;
}

void nvme_parse_id_descs(const u8 *id, struct nvme_ns *ns)
{
	u32 at = 0;

	/* Controllers with one command set need not report it: it is NVM. */
	ns->csi = NVME_CSI_NVM;
	while (at + 5 <= ID_BYTES && id[at]) {
		u8 type = id[at], len = id[at + 1];

		if (type == 4 && len == 1)
			ns->csi = id[at + 4];
		at += 4u + len;
	}
}

static int identify(int fd, u32 nsid, u8 cns, u8 *id)
{
	struct nvme_admin_cmd cmd = {
		.opcode = 0x06,
		.nsid = nsid,
		.addr = (u64)(uintptr_t)id,
		.data_len = ID_BYTES,
		.cdw10 = cns,
	};
	int ret = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd);

	return ret < 0 ? -errno : ret ? -EREMOTEIO : 0;
}

int nvme_identify(int fd, struct nvme_ns *ns)
{
	int nsid = ioctl(fd, NVME_IOCTL_ID);
	u8 *id;
	int ret;

	if (nsid < 0)
		return errno == EINVAL ? -ENOTTY : -errno;
	ns->nsid = (u32)nsid;
	id = aligned_alloc(ID_BYTES, ID_BYTES);
	if (!id)
		return -ENOMEM;
	memset(id, 0, ID_BYTES);

	ret = identify(fd, 0, 1, id);
	if (ret)
		goto out;
	nvme_parse_id_ctrl(id, ns);
	memset(id, 0, ID_BYTES);
	/*
	 * Unknown to controllers before NVMe 1.3, which know one command set;
	 * refused to those who are not root, who then keep what sysfs said.
	 */
	ret = identify(fd, ns->nsid, 3, id);
	if (ret == -EREMOTEIO)
		memset(id, 0, ID_BYTES);
	if (!ret || ret == -EREMOTEIO)
		nvme_parse_id_descs(id, ns);
	else if (ret != -EACCES && ret != -EPERM)
		goto out;
	ret = 0;
	/* A key-value namespace has no blocks and does not answer this one. */
	if (ns->csi != NVME_CSI_KV) {
		memset(id, 0, ID_BYTES);
		ret = identify(fd, ns->nsid, 0, id);
		if (!ret)
			ret = nvme_parse_id_ns(id, ns);
	}
	ns->identified = !ret;
out:
	free(id);
	return ret;
}

u64 nvme_max_transfer(const struct nvme_ns *ns, u64 page_bytes, const char **bound)
{
	struct {
		const char *name;
		u64 bytes;
	} limit[] = {
		/* On a tie the cause goes before its effect: the driver derives max_hw_sectors_kb from MDTS. */
		{ "MDTS", ns->identified ? ns->mdts_bytes : 0 },
		{ "max_hw_sectors_kb", (u64)ns->max_hw_sectors_kb * 1024 },
		{ "max_segments", ns->max_segments * page_bytes },
	};
	const char *won = "";
	u64 bytes = 0, block = ns->lba_bytes + (ns->ms_extended ? ns->ms : 0u);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limit); i++)
		if (limit[i].bytes && (!bytes || limit[i].bytes < bytes)) {
			bytes = limit[i].bytes;
			won = limit[i].name;
		}
	if (block)
		bytes -= bytes % block;
	if (bound)
		*bound = won;
	return bytes;
}
