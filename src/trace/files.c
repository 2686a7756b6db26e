// SPDX-License-Identifier: Apache-2.0
#include "trace/files.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "capture/names.h"
#include "lib/hash.h"
#include "lib/str.h"
#include "trace/blockdev.h"
#include "trace/file_shared.h"
#include "trace/syscall_shared.h"

/* Beyond, files are not named any more: a program that opens a million is named by numbers. */
#define MAX_FILES (1u << 20)

/* Times that a file without a path is looked at: another program may still have it. */
#define MAX_LOOKS 4u

/* A word a file: a hash of the path that was told last, or without one how often it was looked at. */
enum file_word { WORD_NAMED = 1 << 0, WORD_WANTED = 1 << 1, WORD_LOOK = 1 << 2 };

struct files {
	struct map64 files; /* enum file_word by a hash of the file's numbers */
	u32 n;
	u64 last_ino; /* of the last one met */
	u32 last_dev;
	const char *const *paths;
	size_t n_paths;
	int map_fd;
};

struct files *files_new(const char *const *paths, size_t n_paths)
{
	struct files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->paths = paths;
	f->n_paths = n_paths;
	f->map_fd = -1;
	return f;
}

void files_set_map(struct files *f, int fd)
{
	if (fd >= 0)
		f->map_fd = fd;
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

/* What the kernel calls the file behind a link of /proc, if it is that file: bytes, or 0. */
static size_t path_behind(const char *link, u32 dev, u64 ino, char path[PATH_MAX])
{
	ssize_t n = readlink(link, path, PATH_MAX);
	struct stat st;

	return n > 0 && !stat(link, &st) && is_file(&st, dev, ino) ? (size_t)n : 0;
}

/* The same of a descriptor. */
static size_t path_now(u32 pid, s32 fd, u32 dev, u64 ino, char path[PATH_MAX])
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/%u/fd/%d", pid, fd);
	return path_behind(link, dev, ino, path);
}

/* The same of the mapping at an address. */
static size_t path_mapped(u32 pid, u64 address, u32 dev, u64 ino, char path[PATH_MAX])
{
	unsigned long long from, to;
	char name[96], *line = NULL;
	size_t cap = 0, n = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && !n && getline(&line, &cap, maps) > 0) {
		if (sscanf(line, "%llx-%llx ", &from, &to) != 2 || address < from || address >= to)
			continue;
		snprintf(name, sizeof(name), "/proc/%u/map_files/%llx-%llx", pid, from, to);
		n = path_behind(name, dev, ino, path);
		break;
	}
	free(line);
	if (maps)
		fclose(maps);
	return n;
}

/* The same of any descriptor that is the file. */
static size_t path_open(u32 pid, u32 dev, u64 ino, char path[PATH_MAX])
{
	char name[64];
	struct dirent *one;
	size_t n = 0;
	DIR *d;

	snprintf(name, sizeof(name), "/proc/%u/fd", pid);
	d = opendir(name);
	while (d && !n && (one = readdir(d)))
		if (one->d_name[0] != '.')
			n = path_now(pid, atoi(one->d_name), dev, ino, path);
	if (d)
		closedir(d);
	return n;
}

/* Where a relative path begins: bytes with a slash behind, or 0 where the descriptor is another file's by now. */
static size_t directory(const struct raw_failed *o, char path[PATH_MAX + 1])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/cwd", o->pid);
	n = o->dirfd == -100 ? readlink(link, path, PATH_MAX)
			     : (ssize_t)path_now(o->pid, o->dirfd, o->dir_dev, o->dir_ino, path);
	if (n <= 0)
		return 0;
	path[n] = '/';
	return (size_t)n + 1;
}

/* The word of a file, made when it is new and there is room: 0 or -ENOMEM; *word may be NULL. */
static int word_of(struct files *f, u32 dev, u64 ino, u32 **word)
{
	bool is_new = false;

	if (f->n >= MAX_FILES) {
		*word = map64_get(&f->files, key_of(dev, ino));
		return 0;
	}
	*word = map64_put(&f->files, key_of(dev, ino), &is_new);
	f->n += is_new;
	return *word ? 0 : -ENOMEM;
}

static bool path_wanted(const struct files *f, const char *bytes, size_t n)
{
	char path[2 * PATH_MAX + 1];
	size_t i;

	memcpy(path, bytes, n);
	path[n] = '\0';
	for (i = 0; i < f->n_paths; i++)
		if (str_path_matches(f->paths[i], path))
			return true;
	return !f->n_paths;
}

bool files_wanted(const struct files *f, bool known, u32 dev, u64 ino)
{
	const u32 *word;

	if (!f->n_paths)
		return true;
	word = known ? map64_get(&f->files, key_of(dev, ino)) : NULL;
	return word && (*word & WORD_NAMED) && (*word & WORD_WANTED);
}

/* The programs leave out what comes of it from now on. */
static void tell_unwanted(const struct files *f, const struct ev_path *e)
{
	u64 key = e->ino ^ (u64)e->dev << 40 ^ e->dev; /* file_key() in file.bpf.h */

	if (f->map_fd >= 0)
		bpf_map_update_elem(f->map_fd, &key, &e->ts_ns, BPF_ANY);
}

/* Keeps what a file is called.  True when that is to be told. */
static bool learn(struct files *f, u32 *word, const struct ev_path *head, const char *path, size_t n)
{
	u32 hash = ((u32)hash_bytes(path, n) & ~3u) | WORD_NAMED;
	bool news;

	if (path_wanted(f, path, n))
		hash |= WORD_WANTED;
	else if (head->dev != EV_DEV_NO_FILE)
		tell_unwanted(f, head);
	news = *word != hash;
	*word = hash;
	return news && (hash & WORD_WANTED);
}

/* The path as the program wrote it, behind the directory that it begins in. */
static size_t path_as_given(const struct raw_failed *o, char path[2 * PATH_MAX + 1])
{
	size_t n = o->path[0] == '/' ? 0 : directory(o, path);

	memcpy(path + n, o->path, MIN(o->n, PATH_MAX));
	return n + MIN(o->n, PATH_MAX);
}

int files_failed(struct files *f, const struct raw_failed *o, u64 *ino, trace_fn fn, void *arg)
{
	struct ev_path head = { .kind = EV_PATH, .flags = PATH_AS_GIVEN, .dev = EV_DEV_NO_FILE, .ts_ns = o->ts_ns };
	char path[2 * PATH_MAX + 1];
	size_t n = path_as_given(o, path);
	u32 *word;
	int ret;

	*ino = head.ino = hash_bytes(path, n);
	ret = word_of(f, head.dev, head.ino, &word);
	return !ret && word && learn(f, word, &head, path, n) ? tell(&head, path, n, fn, arg) : ret;
}

/* From the root down, what the programs send from the file up. */
static size_t turn(const struct raw_path *p, char path[2 * PATH_TEXT])
{
	size_t left = MIN(p->n, sizeof(p->text)), n = 0;

	/* Each name stands in front of its zero, the last one in front of the end. */
	while (left) {
		size_t from = --left;

		while (from && p->text[from - 1])
			from--;
		path[n++] = '/';
		memcpy(path + n, p->text + from, left - from);
		n += left - from;
		left = from;
	}
	return n;
}

int files_path(struct files *f, const struct raw_path *p, trace_fn fn, void *arg)
{
	struct ev_path head = { .kind = EV_PATH, .dev = p->dev, .ino = p->ino, .ts_ns = p->ts_ns };
	char path[2 * PATH_TEXT];
	size_t n = turn(p, path);
	u32 *word;
	int ret = word_of(f, head.dev, head.ino, &word);

	return !ret && word && learn(f, word, &head, path, n) ? tell(&head, path, n, fn, arg) : ret;
}

/* Bytes of the path, 0 when there is no such cgroup (any more). */
static size_t cgroup_path(u64 id, char path[PATH_MAX])
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct {
		struct file_handle h;
		u64 id;
	} handle = { .h.handle_bytes = sizeof(u64), .h.handle_type = 0xfe /* FILEID_KERNFS */, .id = id };
	char link[64], full[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounts); i++) {
		size_t skip = strlen(mounts[i]);
		struct statfs fs;
		ssize_t n;
		int fd, dir;

		if (statfs(mounts[i], &fs) || fs.f_type != CGROUP2_SUPER_MAGIC)
			continue;
		dir = open(mounts[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd = dir < 0 ? -1 : open_by_handle_at(dir, &handle.h, O_PATH | O_CLOEXEC);
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = fd < 0 ? -1 : readlink(link, full, sizeof(full));
		if (fd >= 0)
			close(fd);
		if (dir >= 0)
			close(dir);
		if (n < (ssize_t)skip || strncmp(full, mounts[i], skip))
			continue;
		if (n == (ssize_t)skip)
			full[n++] = '/';
		memcpy(path, full + skip, (size_t)n - skip);
		return (size_t)n - skip;
	}
	return 0;
}

int files_cgroup(struct files *f, u64 id, u64 ts_ns, trace_fn fn, void *arg)
{
	struct ev_path head = { .kind = EV_PATH, .dev = EV_DEV_CGROUP, .ino = id, .ts_ns = ts_ns };
	char path[PATH_MAX];
	u32 *word;
	size_t n;
	int ret = word_of(f, head.dev, id, &word);

	if (ret || !word || *word)
		return ret;
	*word = WORD_NAMED;
	n = cgroup_path(id, path);
	return n ? tell(&head, path, n, fn, arg) : 0;
}

int files_met(struct files *f, u32 dev, u64 ino, u32 pid, s32 fd, u64 ts_ns, trace_fn fn, void *arg)
{
	struct ev_path head = { .kind = EV_PATH, .dev = dev, .ino = ino, .ts_ns = ts_ns };
	char path[PATH_MAX];
	u32 *word;
	size_t n;
	int ret;

	if (ino == f->last_ino && dev == f->last_dev)
		return 0;
	f->last_ino = ino;
	f->last_dev = dev;
	ret = word_of(f, dev, ino, &word);
	if (ret || !word || fd < 0 || *word & WORD_NAMED || *word >= MAX_LOOKS * WORD_LOOK)
		return ret;
	n = path_now(pid, fd, dev, ino, path);
	if (!n) {
		*word += WORD_LOOK;
		return 0;
	}
	return learn(f, word, &head, path, n) ? tell(&head, path, n, fn, arg) : 0;
}

int files_used(struct files *f, u32 dev, u64 ino, u32 tid, u64 address, u64 ts_ns, trace_fn fn, void *arg)
{
	struct ev_path head = { .kind = EV_PATH, .dev = dev, .ino = ino, .ts_ns = ts_ns };
	char path[PATH_MAX];
	u32 *word;
	int ret = word_of(f, dev, ino, &word);
	size_t n;

	if (ret || !word || *word & WORD_NAMED)
		return ret;
	n = address ? path_mapped(tid, address, dev, ino, path) : 0;
	if (!n)
		n = path_open(tid, dev, ino, path);
	return n && learn(f, word, &head, path, n) ? tell(&head, path, n, fn, arg) : 0;
}

int files_disk(struct files *f, u32 dev, u64 ino, u64 ts_ns, trace_fn fn, void *arg)
{
	struct ev_path head = { .kind = EV_PATH, .dev = dev, .ino = ino, .ts_ns = ts_ns };
	char path[5 + NAME_MAX] = "/dev/";
	u32 *word;
	int ret = word_of(f, dev, ino, &word);
	size_t n;

	if (ret || !word || *word & WORD_NAMED)
		return ret;
	n = blockdev_name((u32)ino, path + 5);
	return n && learn(f, word, &head, path, 5 + n) ? tell(&head, path, 5 + n, fn, arg) : 0;
}
