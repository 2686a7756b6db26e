// SPDX-License-Identifier: Apache-2.0
#include "session/extents.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/str.h"

#define MAX_MAPPED (1u << 17)
#define MAX_OPEN   16

static int put(struct extents *x, struct ev_extent *e)
{
	e->kind = EV_EXTENT;
	return recorder_event(x->r, e, sizeof(*e));
}

/* The head of a file, then its extents. */
static int put_map(struct extents *x, const struct file_map *m, int error, u8 flags, const u8 *moved)
{
	u64 now = clock_ns(CLOCK_MONOTONIC);
	struct ev_extent e = { .flags = flags | EXTENT_FILE,
			       .error = (u16)-error,
			       .ts_ns = now,
			       .ino = m->ino,
			       .offset = m->size,
			       .physical = m->n,
			       .dev = m->dev,
			       .disk = m->disk };
	int ret = put(x, &e);
	u32 i;

	for (i = 0; i < m->n && !ret; i++) {
		e = (struct ev_extent){ .flags = (u8)((flags & ~EXTENT_MOVED) | (moved && moved[i] ? EXTENT_MOVED : 0)),
					.map_flags = m->extent[i].flags,
					.ts_ns = now,
					.ino = m->ino,
					.offset = m->extent[i].offset,
					.physical = m->extent[i].physical,
					.bytes = m->extent[i].bytes,
					.dev = m->dev,
					.disk = m->disk };
		ret = put(x, &e);
	}
	return ret;
}

/* A file of that path and numbers (ino 0: whatever it is): 0 or why it has no map. */
static int map_path(struct file_map *m, const char *path, u32 dev, u64 ino, bool sync)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;

	*m = (struct file_map){ .dev = dev, .ino = ino };
	if (fd < 0)
		return -errno;
	ret = file_map(m, fd, sync);
	close(fd);
	if (ino && (m->dev != dev || m->ino != ino)) {
		file_map_free(m);
		ret = -ENOENT;
	}
	m->dev = ino ? dev : m->dev;
	m->ino = ino ? ino : m->ino;
	return ret;
}

static int add(struct extents *x, const char *path, u32 dev, u64 ino, bool is_told)
{
	struct ev_path head = { .kind = EV_PATH, .ts_ns = clock_ns(CLOCK_MONOTONIC) };
	struct mapped *f, *grown;
	struct file_map m;
	int error = map_path(&m, path, dev, ino, false), ret;
	bool is_new;
	u32 *at;

	/* What is no file has no map; that is not worth a word. */
	if (error == -EINVAL || !m.ino) {
		file_map_free(&m);
		return 0;
	}
	at = map64_put(&x->at, hash_u64(m.ino ^ (u64)m.dev << 40 ^ m.dev), &is_new);
	if (!at || !is_new || x->n_files == MAX_MAPPED) {
		x->too_many += at && is_new;
		file_map_free(&m);
		return at ? 0 : -ENOMEM;
	}
	if (x->n_files == x->cap_files) {
		x->cap_files = x->cap_files ? x->cap_files * 2 : 64;
		grown = reallocarray(x->file, x->cap_files, sizeof(*grown));
		if (!grown) {
			file_map_free(&m);
			return -ENOMEM;
		}
		x->file = grown;
	}
	f = &x->file[x->n_files];
	*at = x->n_files++;
	*f = (struct mapped){ .path = strdup(path), .begin = m, .error = error };
	if (!f->path)
		return -ENOMEM;
	head.dev = m.dev;
	head.ino = m.ino;
	ret = is_told ? 0 : recorder_path(x->r, &head, path);
	return ret ? ret : put_map(x, &m, error, 0, NULL);
}

int extents_named(void *arg, const struct known_file *k)
{
	struct extents *x = arg;
	char path[PATH_MAX];
	u32 *at;
	char *now;
	size_t i;

	if (k->dev >= EV_DEV_CGROUP || k->path.n >= sizeof(path) || k->as_given)
		return 0;
	memcpy(path, k->path.p, k->path.n);
	path[k->path.n] = '\0';
	at = map64_get(&x->at, hash_u64(k->ino ^ (u64)k->dev << 40 ^ k->dev));
	if (at) {
		/* It has another name now. */
		now = strdup(path);
		if (!now)
			return -ENOMEM;
		free(x->file[*at].path);
		x->file[*at].path = now;
		return 0;
	}
	for (i = 0; i < x->n_patterns; i++)
		if (str_path_matches(x->patterns[i], path))
			return add(x, path, k->dev, k->ino, true);
	return 0;
}

/* ---- the begin ---- */

/* nftw() has no argument for its user. */
static __thread struct extents *walking;
static __thread int walk_error;

static int walk_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	if (type == FTW_F)
		walk_error = add(walking, path, 0, 0, false);
	return walk_error;
}

static int walk(struct extents *x, const char *path)
{
	walking = x;
	walk_error = 0;
	nftw(path, walk_one, MAX_OPEN, FTW_PHYS | FTW_MOUNT);
	return walk_error;
}

int extents_begin(struct extents *x)
{
	size_t i, k;
	int ret = 0;

	for (i = 0; i < x->n_patterns && !ret; i++) {
		glob_t g;

		/* One that begins with a star is of files that are used: the tree is not searched for it. */
		if (*x->patterns[i] == '*' || glob(x->patterns[i], GLOB_NOSORT, NULL, &g))
			continue;
		for (k = 0; k < g.gl_pathc && !ret; k++)
			ret = walk(x, g.gl_pathv[k]);
		globfree(&g);
	}
	return ret;
}

/* ---- the end ---- */

/*
 * Marks what of `now` lies elsewhere than it did.  True when a byte that had a
 * place has another one, or none.  What lies behind the end of a file is not
 * its bytes: XFS allocates ahead there and gives it back when it likes.
 */
static bool compare(const struct file_map *was, const struct file_map *now, u8 *moved)
{
	bool any = false;
	u32 i, k = 0, j;

	for (i = 0; i < was->n; i++) {
		const struct file_extent *a = &was->extent[i];
		u64 at = a->offset, end = MIN(a->offset + a->bytes, was->size);

		if (!extent_has_place(a->flags) || at >= end)
			continue;
		while (k < now->n && now->extent[k].offset + now->extent[k].bytes <= at)
			k++;
		for (j = k; j < now->n && now->extent[j].offset < end; j++) {
			const struct file_extent *b = &now->extent[j];

			any |= b->offset > at;
			if (!extent_has_place(b->flags) || b->physical - b->offset != a->physical - a->offset)
				moved[j] = any = true;
			at = MIN(b->offset + b->bytes, end);
		}
		any |= at < end;
	}
	return any;
}

static int end_of(struct extents *x, struct mapped *f)
{
	struct file_map m;
	int error = map_path(&m, f->path, f->begin.dev, f->begin.ino, true), ret;
	u8 *moved = calloc(m.n + 1ul, 1);
	bool any;

	if (!moved) {
		file_map_free(&m);
		return -ENOMEM;
	}
	any = !error && compare(&f->begin, &m, moved);
	x->moved += any;
	x->extents += m.n;
	x->unmapped += error && f->error;
	x->not_direct += error == -ENODEV;
	ret = put_map(x, &m, error, EXTENT_AT_END | (any ? EXTENT_MOVED : 0), moved);
	free(moved);
	file_map_free(&m);
	return ret;
}

int extents_end(struct extents *x)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < x->n_files && !ret; i++)
		ret = end_of(x, &x->file[i]);
	return ret;
}

void extents_free(struct extents *x)
{
	u32 i;

	for (i = 0; i < x->n_files; i++) {
		file_map_free(&x->file[i].begin);
		free(x->file[i].path);
	}
	free(x->file);
	map64_free(&x->at);
}
