// SPDX-License-Identifier: Apache-2.0
#include "trace/files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/names.h"
#include "lib/hash.h"
#include "trace/syscall_shared.h"

/* Beyond, files are not named any more: a program that opens a million is named by numbers. */
#define MAX_FILES (1u << 20)

struct files {
	struct map64 files; /* a hash of the path that was told last, by a hash of the file's numbers */
	u32 n;
	u64 last_ino; /* of the last one met */
	u32 last_dev;
};

struct files *files_new(void)
{
	return calloc(1, sizeof(struct files));
}

void files_free(struct files *f)
{
	if (f)
		map64_free(&f->files);
	free(f);
}

static u64 key_of(u32 dev, u64 ino)
{
	return hash_u64(ino ^ (u64)dev << 40 ^ dev);
}

struct listener {
	trace_fn fn;
	void *arg;
};

static int give_piece(void *arg, const struct ev_path *piece)
{
	const struct listener *l = arg;

	return l->fn(l->arg, piece, sizeof(*piece));
}

static int tell(const struct ev_path *head, const char *path, size_t n, trace_fn fn, void *arg)
{
	struct listener l = { fn, arg };

	return path_pieces(head, path, n, give_piece, &l);
}

/* Kernel and user space write a device number in their own way. */
static bool is_file(const struct stat *st, u32 dev, u64 ino)
{
	/* A file system without a device may show another number than its own. */
	return st->st_ino == ino &&
	       (dev >> 20 == 0 || (major(st->st_dev) == dev >> 20 && minor(st->st_dev) == (dev & 0xfffff)));
}

/* What the kernel calls the file now, if the descriptor still is that file: bytes, or 0. */
static size_t path_now(u32 pid, s32 fd, u32 dev, u64 ino, char path[PATH_MAX])
{
	char link[64];
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/fd/%d", pid, fd);
	n = readlink(link, path, PATH_MAX);
	return n > 0 && !stat(link, &st) && is_file(&st, dev, ino) ? (size_t)n : 0;
}

/* Where a relative path begins: bytes with a slash behind, or 0. */
static size_t directory(u32 pid, s32 dirfd, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	if (dirfd == -100)
		snprintf(link, sizeof(link), "/proc/%u/cwd", pid);
	else
		snprintf(link, sizeof(link), "/proc/%u/fd/%d", pid, dirfd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0)
		return 0;
	path[n] = '/';
	return (size_t)n + 1;
}

/* True when that is news of this file. */
static int is_news(struct files *f, u32 dev, u64 ino, u32 hash, bool *news)
{
	bool is_new;
	u32 *known;

	*news = false;
	if (f->n >= MAX_FILES)
		return 0;
	known = map64_put(&f->files, key_of(dev, ino), &is_new);
	if (!known)
		return -ENOMEM;
	f->n += is_new;
	*news = is_new || (hash && *known != hash);
	if (*news)
		*known = hash;
	return 0;
}

static u32 hash_path(const char *path, size_t n)
{
	return (u32)hash_bytes(path, n) | 1;
}

/* The path as the program wrote it, behind the directory that it begins in. */
static size_t path_as_given(const struct raw_opened *o, char path[2 * PATH_MAX])
{
	size_t n = o->path[0] == '/' ? 0 : directory(o->pid, o->dirfd, path);

	memcpy(path + n, o->path, MIN(o->n, PATH_MAX));
	return n + MIN(o->n, PATH_MAX);
}

int files_opened(struct files *f, const struct raw_opened *o, u64 *ino, trace_fn fn, void *arg)
{
	struct ev_path head = { .kind = EV_PATH, .dev = o->dev, .ino = o->ino, .ts_ns = o->ts_ns };
	char path[2 * PATH_MAX];
	size_t n = o->fd < 0 ? 0 : path_now(o->pid, o->fd, o->dev, o->ino, path);
	bool news;
	int ret;

	if (!n) {
		n = path_as_given(o, path);
		head.flags = PATH_AS_GIVEN;
	}
	if (o->fd < 0) {
		head.dev = EV_DEV_NO_FILE;
		*ino = head.ino = hash_bytes(path, n);
	}
	ret = is_news(f, head.dev, head.ino, hash_path(path, n), &news);
	return ret || !news ? ret : tell(&head, path, n, fn, arg);
}

int files_met(struct files *f, u32 dev, u64 ino, u32 pid, s32 fd, u64 ts_ns, trace_fn fn, void *arg)
{
	struct ev_path head = { .kind = EV_PATH, .dev = dev, .ino = ino, .ts_ns = ts_ns };
	char path[PATH_MAX];
	bool news;
	size_t n;
	int ret;

	if (ino == f->last_ino && dev == f->last_dev)
		return 0;
	f->last_ino = ino;
	f->last_dev = dev;
	ret = is_news(f, dev, ino, 0, &news);
	if (ret || !news || fd < 0)
		return ret;
	n = path_now(pid, fd, dev, ino, path);
	return n ? tell(&head, path, n, fn, arg) : 0;
}
