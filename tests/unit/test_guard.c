// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/guard.h"
#include "unit/tree.h"

/* Two disks of one namespace (no native multipath), and a file system to put files on. */
static char root[] = "/tmp/kvio-test-guard-XXXXXX";
static char sysfs[64], proc[64], dev[64], file[96];
static struct device_roots roots = { sysfs, proc, dev };
static char why[GUARD_WHY];

static void put_disk(const char *name, const char *number)
{
	put(number, "%s/block/%s/dev", sysfs, name);
	put("0\n", "%s/block/%s/ro", sysfs, name);
	put("none\n", "%s/block/%s/queue/zoned", sysfs, name);
	put("uuid.1\n", "%s/block/%s/wwid", sysfs, name);
	put("", "%s/%s", dev, name);
}

static int make_machine(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(dev, sizeof(dev), "%s/dev", root);
	snprintf(file, sizeof(file), "%s/store", root);
	put_disk("nvme0n1", "259:0\n");
	put_disk("nvme1n1", "259:1\n");
	put("", "%s/self/mountinfo", proc);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int remove_machine(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int judge(const char *destroy, const char *serial)
{
	const struct guard_request r = { .target = "/dev/ng0n1", .destroy = destroy, .expect_serial = serial };
	static struct nvme_ns list[] = {
		{ .name = "nvme0n1", .generic = "ng0n1", .dev = 259u << 20, .serial = "S1", .ms_known = true },
		{ .name = "nvme1n1", .generic = "ng1n1", .dev = 259u << 20 | 1, .serial = "S1", .ms_known = true },
	};

	why[0] = '\0';
	return guard_judge(&roots, "nvme0n1", &list[0], list, 2, &r, why);
}

static void a_disk_must_be_named(void **state)
{
	(void)state;
	assert_int_equal(judge("ng0n1", NULL), 0);
	assert_int_equal(judge("/dev/nvme0n1", "S1"), 0);
	assert_int_equal(judge(NULL, NULL), -EPERM);
	assert_non_null(strstr(why, "--yes-destroy-data=ng0n1"));
	assert_int_equal(judge("ng1n1", NULL), -EPERM);
	assert_int_equal(judge("nvme0", NULL), -EPERM);
	assert_int_equal(judge("", NULL), -EPERM);
	assert_int_equal(judge("ng0n1", "S2"), -EPERM);
	assert_non_null(strstr(why, "'S1', not 'S2'"));
}

static void users_are_refused(void **state)
{
	(void)state;
	put("1\n", "%s/block/nvme0n1/ro", sysfs);
	assert_int_equal(judge("ng0n1", NULL), -EPERM);
	assert_non_null(strstr(why, "read-only"));
	put("0\n", "%s/block/nvme0n1/ro", sysfs);

	put("22 1 259:0 / /mnt rw - ext4 /dev/x rw\n", "%s/self/mountinfo", proc);
	assert_int_equal(judge("ng0n1", NULL), -EPERM);
	assert_non_null(strstr(why, "mounted: nvme0n1 on /mnt"));
	put("22 1 259:0 / / rw - ext4 /dev/x rw\n", "%s/self/mountinfo", proc);
	assert_int_equal(judge("ng0n1", NULL), -EPERM);
	assert_non_null(strstr(why, "root file system"));
	/* The other path to the same namespace. */
	put("22 1 259:1 / /srv rw - ext4 /dev/x rw\n", "%s/self/mountinfo", proc);
	assert_int_equal(judge("ng0n1", NULL), -EPERM);
	assert_non_null(strstr(why, "same namespace as nvme1n1"));
	put("uuid.2\n", "%s/block/nvme1n1/wwid", sysfs);
	assert_int_equal(judge("ng0n1", NULL), 0);
	put("", "%s/self/mountinfo", proc);

	/* What cannot be inspected is not written. */
	snprintf(why, sizeof(why), "%s/nvme0n1", dev);
	assert_int_equal(unlink(why), 0);
	assert_int_equal(judge("ng0n1", NULL), -ENOENT);
	put("", "%s/nvme0n1", dev);
}

static int try_file(struct guard *g, const char *destroy, bool passthrough, u64 bytes)
{
	const struct guard_request r = {
		.target = file, .destroy = destroy, .passthrough = passthrough, .buffered = true, .file_bytes = bytes
	};

	return guard_open(g, &r, &roots, why);
}

static void files_are_made_sparse(void **state)
{
	struct guard g, second;
	struct stat st;

	(void)state;
	assert_int_equal(try_file(&g, NULL, true, 1 << 30), -EINVAL);
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(try_file(&g, NULL, false, 0), -EINVAL);
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(try_file(&g, NULL, false, 1ull << 40), 0);
	assert_true(g.is_file && g.created);
	assert_int_equal(g.capacity, 1ull << 40);
	assert_int_equal(fstat(g.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(st.st_blocks < 100);
	/* It is held. */
	assert_int_equal(try_file(&second, NULL, false, 1 << 30), -EPERM);
	assert_non_null(strstr(why, "in use"));
	guard_close(&g);

	/* Nothing but a hole: again, without a word; it does not shrink. */
	assert_int_equal(try_file(&g, NULL, false, 1 << 30), 0);
	assert_false(g.created);
	assert_int_equal(g.capacity, 1ull << 40);
	/* A store of ours as well. */
	assert_int_equal(pwrite(g.fd, "LMCBLK01", 8, 1 << 20), 8);
	guard_close(&g);
	assert_int_equal(try_file(&g, NULL, false, 1 << 30), 0);
	assert_int_equal(pwrite(g.fd, "LMCIDX01", 8, 0), 8);
	guard_close(&g);
	assert_int_equal(try_file(&g, NULL, false, 1 << 30), 0);
	assert_int_equal(pwrite(g.fd, "precious", 8, 0), 8);
	guard_close(&g);
	/* Anything else is somebody's. */
	assert_int_equal(try_file(&g, NULL, false, 1 << 30), -EPERM);
	assert_non_null(strstr(why, "--yes-destroy-data=store"));
	assert_int_equal(try_file(&g, "other", false, 1 << 30), -EPERM);
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(try_file(&g, "store", false, 1 << 30), 0);
	guard_close(&g);
	assert_int_equal(unlink(file), 0);
}

static void other_things_are_no_targets(void **state)
{
	static const char *const words[] = { "/tmp",	     "/dev/null", "/dev/nvme999n1",
					     "/dev/ng999n1", "ng999n1",	  "/dev/nosuchdisk" };
	struct guard g;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		const struct guard_request r = { .target = words[i], .destroy = words[i], .file_bytes = 4096 };

		assert_int_equal(guard_open(&g, &r, &roots, why), -EINVAL);
		assert_int_equal(g.fd, -1);
	}
	assert_int_equal(access("/dev/nosuchdisk", F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_must_be_named),
		cmocka_unit_test(users_are_refused),
		cmocka_unit_test(files_are_made_sparse),
		cmocka_unit_test(other_things_are_no_targets),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
