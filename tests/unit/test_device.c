// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "io/device.h"
#include "unit/tree.h"

/*
 * A machine in a temporary folder: nvme0 with a 512-byte and a 4096-byte
 * namespace, nvme1 and nvme2 with one shared namespace (multipath), nvme10
 * with a key-value namespace that has no disk.
 */
static char root[] = "/tmp/kvio-test-device-XXXXXX";
static char sysfs[64], proc[64], dev[64];

static void PRINTF(2, 3) put_link(const char *to, const char *fmt, ...)
{
	char path[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	assert_int_equal(symlink(to, path), 0);
}

static void put_ctrl(const char *name, const char *serial)
{
	put("KVIO Test Drive                         \n", "%s/class/nvme/%s/model", sysfs, name);
	put(serial, "%s/class/nvme/%s/serial", sysfs, name);
	put("1.0     \n", "%s/class/nvme/%s/firmware_rev", sysfs, name);
	put("pcie\n", "%s/class/nvme/%s/transport", sysfs, name);
}

static void put_disk(const char *name, const char *ctrl, const char *number, const char *lba, const char *sectors)
{
	char link[64];

	if (number)
		put(number, "%s/block/%s/dev", sysfs, name);
	put("1\n", "%s/block/%s/nsid", sysfs, name);
	put(sectors, "%s/block/%s/size", sysfs, name);
	put(lba, "%s/block/%s/queue/logical_block_size", sysfs, name);
	put("128\n", "%s/block/%s/queue/max_hw_sectors_kb", sysfs, name);
	put("33\n", "%s/block/%s/queue/max_segments", sysfs, name);
	put("1023\n", "%s/block/%s/queue/nr_requests", sysfs, name);
	put("[none] mq-deadline kyber\n", "%s/block/%s/queue/scheduler", sysfs, name);
	if (ctrl) {
		put("", "%s/block/%s/mq/0/cpu_list", sysfs, name);
		put("", "%s/block/%s/mq/1/cpu_list", sysfs, name);
		snprintf(link, sizeof(link), "../../class/nvme/%s", ctrl);
		put_link(link, "%s/block/%s/device", sysfs, name);
	}
}

static int make_machine(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(dev, sizeof(dev), "%s/dev", root);

	put_ctrl("nvme0", "S3CR3T              \n");
	put_ctrl("nvme1", "OTHER\n");
	put_ctrl("nvme2", "OTHER\n");
	put_disk("nvme0n1", "nvme0", "259:0\n", "512\n", "2097152\n");
	put_disk("nvme0n2", "nvme0", "259:1\n", "4096\n", "2097152\n");
	put("2\n", "%s/block/nvme0n2/nsid", sysfs);
	put("0\n", "%s/block/nvme0n2/csi", sysfs);
	put("8\n", "%s/block/nvme0n2/metadata_bytes", sysfs);
	put("246:1\n", "%s/class/nvme-generic/ng0n1/dev", sysfs);
	put("246:2\n", "%s/class/nvme-generic/ng0n2/dev", sysfs);

	put_disk("nvme1n1", NULL, "259:5\n", "4096\n", "524288\n");
	put("128\n", "%s/block/nvme1n1/queue/nr_requests", sysfs); /* of a head: without meaning */
	put_disk("nvme1c2n1", "nvme2", NULL, "4096\n", "524288\n");
	put_disk("nvme1c1n1", "nvme1", NULL, "4096\n", "524288\n");
	put("64\n", "%s/block/nvme1c2n1/queue/max_hw_sectors_kb", sysfs);
	put("31\n", "%s/block/nvme1c2n1/queue/nr_requests", sysfs);
	put("246:3\n", "%s/class/nvme-generic/ng1n1/dev", sysfs);

	put("246:4\n", "%s/class/nvme-generic/ng10n1/dev", sysfs);
	put("8:0\n", "%s/block/sda/dev", sysfs);

	put("1 1 0:1 / / rw - rootfs rootfs rw\n", "%s/self/mountinfo", proc);
	put("", "%s/nvme0n1", dev);
	put("", "%s/nvme0n2", dev);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int remove_machine(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- names ---- */

static void names_are_parsed(void **state)
{
	static const struct {
		const char *name;
		struct nvme_name want;
	} row[] = {
		{ "nvme0", { NVME_NODE_CONTROLLER, 0, 0, 0, 0 } },
		{ "nvme12n3", { NVME_NODE_BLOCK, 12, 3, 0, 0 } },
		{ "ng12n3", { NVME_NODE_GENERIC, 12, 3, 0, 0 } },
		{ "nvme1c22n3", { NVME_NODE_PATH, 1, 3, 22, 0 } },
		{ "nvme1n3p14", { NVME_NODE_PARTITION, 1, 3, 0, 14 } },
		{ "nvme", {} },
		{ "nvmen1", {} },
		{ "nvme0n", {} },
		{ "nvme0n1p", {} },
		{ "nvme0n1x", {} },
		{ "nvme0c1n1p1", {} },
		{ "ng0", {} },
		{ "ng0n1p1", {} },
		{ "nvme99999999999n1", {} },
		{ "sda", {} },
		{ "", {} },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		struct nvme_name got = nvme_parse_name(row[i].name);

		if (got.kind == NVME_NODE_NONE)
			assert_int_equal(row[i].want.kind, NVME_NODE_NONE);
		else
			assert_memory_equal(&got, &row[i].want, sizeof(got));
	}
}

static void wrong_nodes_name_the_right_one(void **state)
{
	char node[64], why[256];

	(void)state;
	assert_int_equal(nvme_generic_node("nvme3n2", node, sizeof(node), why, sizeof(why)), 0);
	assert_string_equal(node, "/dev/ng3n2");
	assert_int_equal(nvme_generic_node("/host/dev/nvme3n2", node, sizeof(node), why, sizeof(why)), 0);
	assert_string_equal(node, "/host/dev/ng3n2");
	assert_int_equal(nvme_generic_node("/dev/ng3n2", node, sizeof(node), why, sizeof(why)), 0);
	assert_string_equal(node, "/dev/ng3n2");
	assert_int_equal(nvme_generic_node("/dev/nvme3n2p1", node, sizeof(node), why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "partition"));
	assert_non_null(strstr(why, "/dev/ng3n2"));
	assert_int_equal(nvme_generic_node("nvme3c1n2", node, sizeof(node), why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "/dev/ng3n2"));
	assert_int_equal(nvme_generic_node("/dev/nvme3", node, sizeof(node), why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "/dev/ng3n1"));
	assert_int_equal(nvme_generic_node("sda", node, sizeof(node), why, sizeof(why)), -EINVAL);
}

/* ---- the list ---- */

static void list_has_every_namespace_once(void **state)
{
	static const char *const want[] = { "nvme0n1", "nvme0n2", "nvme1n1", "nvme10n1" };
	struct nvme_ns *ns;
	size_t n, i;

	(void)state;
	assert_int_equal(nvme_list(sysfs, &ns, &n), 0);
	assert_int_equal(n, ARRAY_SIZE(want));
	for (i = 0; i < n; i++)
		assert_string_equal(ns[i].name, want[i]);

	assert_int_equal(ns[0].dev, 259u << 20);
	assert_int_equal(ns[0].rdev, 246u << 20 | 1);
	assert_string_equal(ns[0].generic, "ng0n1");
	assert_int_equal(ns[0].lba_bytes, 512);
	assert_true(ns[0].capacity == 1ull << 30);
	assert_int_equal(ns[0].csi, NVME_CSI_UNKNOWN);
	assert_false(ns[0].ms_known);
	assert_int_equal(ns[0].hw_queues, 2);
	assert_int_equal(ns[0].nr_requests, 1023);
	assert_string_equal(ns[0].scheduler, "none");
	assert_string_equal(ns[0].ctrl, "nvme0");
	assert_string_equal(ns[0].model, "KVIO Test Drive");
	assert_string_equal(ns[0].serial, "S3CR3T");
	assert_int_equal(strlen(ns[0].serial_hash), 8);
	assert_null(strstr(ns[0].serial_hash, "S3CR3T"));
	assert_string_equal(ns[0].firmware, "1.0");
	assert_string_equal(ns[0].transport, "pcie");
	assert_false(ns[0].head);

	assert_int_equal(ns[1].nsid, 2);
	assert_int_equal(ns[1].lba_bytes, 4096);
	assert_int_equal(ns[1].csi, NVME_CSI_NVM);
	assert_true(ns[1].ms_known);
	assert_int_equal(ns[1].ms, 8);
	/* One drive, one hash. */
	assert_string_equal(ns[0].serial_hash, ns[1].serial_hash);
	assert_string_not_equal(ns[0].serial_hash, ns[2].serial_hash);

	/* No disk: known by its char node alone. */
	assert_int_equal(ns[3].dev, 0);
	assert_int_equal(ns[3].rdev, 246u << 20 | 4);
	assert_int_equal(ns[3].lba_bytes, 0);
	nvme_list_free(ns, n);
}

static void head_has_the_limits_of_its_paths(void **state)
{
	struct nvme_ns *ns;
	size_t n;

	(void)state;
	assert_int_equal(nvme_list(sysfs, &ns, &n), 0);
	assert_true(ns[2].head);
	assert_int_equal(ns[2].n_paths, 2);
	assert_string_equal(ns[2].path[0], "nvme1c1n1");
	assert_string_equal(ns[2].path[1], "nvme1c2n1");
	assert_int_equal(ns[2].max_hw_sectors_kb, 64);
	assert_int_equal(ns[2].nr_requests, 31);
	assert_int_equal(ns[2].hw_queues, 2);
	assert_string_equal(ns[2].ctrl, "nvme1");
	assert_string_equal(ns[2].serial, "OTHER");
	nvme_list_free(ns, n);
}

static void all_names_find_the_same(void **state)
{
	struct nvme_ns *ns;
	enum nvme_node kind;
	char link[128];
	size_t n;

	(void)state;
	assert_int_equal(nvme_list(sysfs, &ns, &n), 0);
	assert_ptr_equal(nvme_find(ns, n, "nvme1n1", &kind), &ns[2]);
	assert_int_equal(kind, NVME_NODE_BLOCK);
	assert_ptr_equal(nvme_find(ns, n, "/dev/nvme1n1", NULL), &ns[2]);
	assert_ptr_equal(nvme_find(ns, n, "/dev/ng1n1", &kind), &ns[2]);
	assert_int_equal(kind, NVME_NODE_GENERIC);
	assert_ptr_equal(nvme_find(ns, n, "nvme1c2n1", &kind), &ns[2]);
	assert_int_equal(kind, NVME_NODE_PATH);
	assert_ptr_equal(nvme_find(ns, n, "/dev/nvme1n1p3", &kind), &ns[2]);
	assert_int_equal(kind, NVME_NODE_PARTITION);
	/* As in /dev/disk/by-id. */
	put("", "%s/disk/by-id/x", dev);
	put_link("../../nvme0n2", "%s/disk/by-id/drive", dev);
	snprintf(link, sizeof(link), "%s/disk/by-id/drive", dev);
	assert_ptr_equal(nvme_find(ns, n, link, &kind), &ns[1]);
	assert_int_equal(kind, NVME_NODE_BLOCK);

	assert_null(nvme_find(ns, n, "nvme7n1", &kind));
	assert_null(nvme_find(ns, n, "nvme0", &kind));
	assert_int_equal(kind, NVME_NODE_CONTROLLER);
	assert_null(nvme_find(ns, n, "/dev/null", &kind));
	assert_int_equal(kind, NVME_NODE_NONE);
	nvme_list_free(ns, n);
}

static void no_sysfs_and_no_drive(void **state)
{
	struct nvme_ns *ns;
	char empty[128];
	size_t n;

	(void)state;
	assert_int_equal(nvme_list("/nonexistent", &ns, &n), -ENOENT);
	put("", "%s/empty/block/README", root);
	snprintf(empty, sizeof(empty), "%s/empty", root);
	assert_int_equal(nvme_list(empty, &ns, &n), 0);
	assert_int_equal(n, 0);
	nvme_list_free(ns, n);
}

/* ---- Identify ---- */

static void identify_data_are_understood(void **state)
{
	struct nvme_ns ns = { .csi = NVME_CSI_UNKNOWN };
	u8 id[4096] = {};

	(void)state;
	id[77] = 5;
	memcpy(id + 4, "S1                  ", 20);
	memcpy(id + 24, "QEMU NVMe Ctrl                          ", 40);
	memcpy(id + 64, "7.2     ", 8);
	nvme_parse_id_ctrl(id, &ns);
	assert_true(ns.mdts_bytes == 128 << 10);
	assert_string_equal(ns.serial, "S1");
	assert_string_equal(ns.model, "QEMU NVMe Ctrl");
	assert_string_equal(ns.firmware, "7.2");
	id[77] = 0;
	nvme_parse_id_ctrl(id, &ns);
	assert_true(ns.mdts_bytes == 0);
	id[77] = 255;
	nvme_parse_id_ctrl(id, &ns);
	assert_true(ns.mdts_bytes == 0);

	memset(id, 0, sizeof(id));
	id[1] = 1;     /* 256 blocks */
	id[25] = 1;    /* two formats */
	id[26] = 0x61; /* format 1; bits 5 and 6 mean nothing yet */
	id[128 + 2] = 9;
	id[132 + 0] = 64; /* format 1: 4096 + 64 */
	id[132 + 2] = 12;
	assert_int_equal(nvme_parse_id_ns(id, &ns), 0);
	assert_int_equal(ns.lba_bytes, 4096);
	assert_int_equal(ns.ms, 64);
	assert_false(ns.ms_extended);
	/* Data bytes never include metadata. */
	assert_true(ns.capacity == 256 * 4096);
	id[26] = 0x11;
	assert_int_equal(nvme_parse_id_ns(id, &ns), 0);
	assert_true(ns.ms_extended);

	/* More than 16 formats: format 0x21 = 33. */
	id[25] = 40;
	id[26] = 0x41;
	id[128 + 4 * 33 + 2] = 9;
	assert_int_equal(nvme_parse_id_ns(id, &ns), 0);
	assert_int_equal(ns.lba_bytes, 512);
	assert_int_equal(ns.ms, 0);
	assert_false(ns.ms_extended);
	id[128 + 4 * 33 + 2] = 0;
	assert_int_equal(nvme_parse_id_ns(id, &ns), -EPROTO);

	memset(id, 0, sizeof(id));
	nvme_parse_id_descs(id, &ns);
	assert_int_equal(ns.csi, NVME_CSI_NVM);
	id[0] = 3; /* UUID */
	id[1] = 16;
	id[20] = 4; /* command set */
	id[21] = 1;
	id[24] = 1;
	nvme_parse_id_descs(id, &ns);
	assert_int_equal(ns.csi, NVME_CSI_KV);
	/* Nonsense to the last byte ends, and stays inside. */
	memset(id, 0xff, sizeof(id));
	nvme_parse_id_descs(id, &ns);
}

static void no_device_is_no_namespace(void **state)
{
	struct nvme_ns ns = { .csi = NVME_CSI_UNKNOWN };
	FILE *f = fopen("/dev/null", "r");

	(void)state;
	assert_non_null(f);
	assert_int_equal(nvme_identify(fileno(f), &ns), -ENOTTY);
	assert_false(ns.identified);
	fclose(f);
}

static void tightest_limit_wins_and_is_named(void **state)
{
	struct nvme_ns ns = { .lba_bytes = 4096 };
	const char *bound;

	(void)state;
	assert_true(nvme_max_transfer(&ns, 4096, &bound) == 0);
	assert_string_equal(bound, "");
	ns.max_hw_sectors_kb = 1024;
	ns.max_segments = 128;
	assert_true(nvme_max_transfer(&ns, 4096, &bound) == 512 << 10);
	assert_string_equal(bound, "max_segments");
	/* Huge pages lift it. */
	assert_true(nvme_max_transfer(&ns, 2 << 20, &bound) == 1024 << 10);
	assert_string_equal(bound, "max_hw_sectors_kb");
	ns.mdts_bytes = 128 << 10;
	assert_true(nvme_max_transfer(&ns, 4096, &bound) == 512 << 10); /* not identified: not known */
	ns.identified = true;
	assert_true(nvme_max_transfer(&ns, 4096, &bound) == 128 << 10);
	assert_string_equal(bound, "MDTS");
	ns.max_hw_sectors_kb = 128;
	assert_true(nvme_max_transfer(&ns, 4096, &bound) == 128 << 10);
	assert_string_equal(bound, "MDTS");
	/* Whole blocks, with their metadata: 30 of 4096 + 64. */
	ns.ms = 64;
	ns.ms_extended = true;
	ns.mdts_bytes = 128 << 10;
	assert_true(nvme_max_transfer(&ns, 4096, NULL) == 31 * 4160);
}

/* ---- users ---- */

static bool has_use(const struct device_users *u, enum device_use_kind kind, const char *who, const char *what)
{
	size_t i;

	for (i = 0; i < u->n; i++)
		if (u->use[i].kind == kind && !strcmp(u->use[i].who, who) && !strcmp(u->use[i].what, what))
			return true;
	return false;
}

static void unused_disk_has_no_users(void **state)
{
	const struct device_roots roots = { sysfs, proc, dev };
	struct device_users u;

	(void)state;
	assert_int_equal(device_users(&roots, "nvme0n1", &u), 0);
	assert_int_equal(u.n, 0);
	assert_false(u.root);
	device_users_free(&u);
	assert_int_equal(device_users(&roots, "nvme7n1", &u), -ENODEV);
	device_users_free(&u);
	/* Whether there are signatures is not known where the node cannot be read. */
	assert_int_equal(device_users(&roots, "nvme1n1", &u), 0);
	assert_int_equal(u.signature_error, -ENOENT);
	device_users_free(&u);
}

static void every_user_is_seen(void **state)
{
	const struct device_roots roots = { sysfs, proc, dev };
	struct device_users u;
	char *page = calloc(1, 1 << 20);
	FILE *f;

	(void)state;
	/* p1 mounted by number, p2 swap, p3 under dm-0 which carries the root, p10 btrfs (a number of its own). */
	put("1\n", "%s/block/nvme0n2/nvme0n2p1/partition", sysfs);
	put("259:11\n", "%s/block/nvme0n2/nvme0n2p1/dev", sysfs);
	put("2\n", "%s/block/nvme0n2/nvme0n2p2/partition", sysfs);
	put("259:12\n", "%s/block/nvme0n2/nvme0n2p2/dev", sysfs);
	put("3\n", "%s/block/nvme0n2/nvme0n2p3/partition", sysfs);
	put("259:13\n", "%s/block/nvme0n2/nvme0n2p3/dev", sysfs);
	put("", "%s/block/nvme0n2/nvme0n2p3/holders/dm-0", sysfs);
	put("10\n", "%s/block/nvme0n2/nvme0n2p10/partition", sysfs);
	put("259:14\n", "%s/block/nvme0n2/nvme0n2p10/dev", sysfs);
	put("254:0\n", "%s/block/dm-0/dev", sysfs);
	put("22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/mapper/root rw\n"
	    "23 22 259:11 / /mnt/a\\040b rw shared:2 master:1 - ext4 /dev/whatever rw\n"
	    "24 22 0:44 / /srv rw - btrfs /dev/nvme0n2p10 rw\n"
	    "25 22 8:1 / /other rw - ext4 /dev/sda1 rw\n"
	    "26 22 259:99\n"
	    "nonsense\n",
	    "%s/self/mountinfo", proc);
	put("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	    "/dev/nvme0n2p2                         partition\t1\t0\t-2\n"
	    "/swapfile                               file\t\t1\t0\t-3\n",
	    "%s/swaps", proc);
	assert_non_null(page);
	memcpy(page + 4086, "SWAPSPACE2", 10);
	page[1024] = 1;
	page[1028] = 100;
	put("", "%s/nvme0n2p2", dev);
	snprintf(page + (1 << 20) - 256, 256, "%s/nvme0n2p2", dev);
	f = fopen(page + (1 << 20) - 256, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(page, 1, (1 << 20) - 256, f), (1 << 20) - 256);
	fclose(f);
	put("", "%s/nvme0n2p1", dev);
	put("", "%s/nvme0n2p3", dev);
	put("", "%s/nvme0n2p10", dev);

	assert_int_equal(device_users(&roots, "nvme0n2", &u), 0);
	assert_int_equal(u.signature_error, 0);
	assert_true(u.root);
	assert_true(has_use(&u, USE_PARTITION, "nvme0n2p1", ""));
	assert_true(has_use(&u, USE_PARTITION, "nvme0n2p10", ""));
	assert_true(has_use(&u, USE_HOLDER, "nvme0n2p3", "dm-0"));
	assert_true(has_use(&u, USE_MOUNT, "nvme0n2p1", "/mnt/a b"));
	assert_true(has_use(&u, USE_MOUNT, "dm-0", "/"));
	assert_true(has_use(&u, USE_MOUNT, "nvme0n2p10", "/srv"));
	assert_true(has_use(&u, USE_SWAP, "nvme0n2p2", ""));
	assert_true(has_use(&u, USE_SIGNATURE, "nvme0n2p2", "other swap"));
	assert_int_equal(u.n, 4 + 1 + 3 + 1 + 1);
	/* In the order of their numbers: p10 after p3. */
	assert_string_equal(u.use[0].who, "nvme0n2p1");
	device_users_free(&u);

	/* The other disk of the same machine is still free. */
	assert_int_equal(device_users(&roots, "nvme0n1", &u), 0);
	assert_int_equal(u.n, 0);
	device_users_free(&u);
	free(page);
}

static void json_is_valid_and_hides_the_serial(void **state)
{
	const struct device_roots roots = { sysfs, proc, dev };
	struct device_users u;
	struct nvme_ns *ns;
	struct buf b = {};
	json_error_t e;
	json_t *doc;
	size_t n;

	(void)state;
	assert_int_equal(nvme_list(sysfs, &ns, &n), 0);
	assert_int_equal(device_users(&roots, "nvme0n2", &u), 0);
	device_json(&b, &ns[1], &u);
	doc = json_loadb(b.p, b.n, 0, &e);
	assert_non_null(doc);
	assert_int_equal(json_integer_value(json_object_get(doc, "lba_bytes")), 4096);
	assert_true(json_is_null(json_object_get(doc, "mdts_bytes")));
	assert_true(json_is_true(json_object_get(doc, "root")));
	assert_int_equal(json_array_size(json_object_get(doc, "used_by")), u.n);
	assert_null(memmem(b.p, b.n, "S3CR3T", 6));
	json_decref(doc);
	buf_reset(&b);
	device_json(&b, &ns[2], NULL);
	doc = json_loadb(b.p, b.n, 0, &e);
	assert_non_null(doc);
	assert_true(json_is_null(json_object_get(doc, "used_by")));
	assert_int_equal(json_array_size(json_object_get(doc, "paths")), 2);
	json_decref(doc);
	buf_free(&b);
	device_users_free(&u);
	nvme_list_free(ns, n);
}

static void kernel_numbers_differ_from_stat(void **state)
{
	(void)state;
	/* 259:1: stat says 66305, the kernel 271581185. */
	assert_int_equal(makedev(259, 1), 66305);
	assert_int_equal(dev_kernel(makedev(259, 1)), 271581185);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_parsed),
		cmocka_unit_test(wrong_nodes_name_the_right_one),
		cmocka_unit_test(list_has_every_namespace_once),
		cmocka_unit_test(head_has_the_limits_of_its_paths),
		cmocka_unit_test(all_names_find_the_same),
		cmocka_unit_test(no_sysfs_and_no_drive),
		cmocka_unit_test(identify_data_are_understood),
		cmocka_unit_test(no_device_is_no_namespace),
		cmocka_unit_test(tightest_limit_wins_and_is_named),
		cmocka_unit_test(unused_disk_has_no_users),
		cmocka_unit_test(every_user_is_seen),
		cmocka_unit_test(json_is_valid_and_hides_the_serial),
		cmocka_unit_test(kernel_numbers_differ_from_stat),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
