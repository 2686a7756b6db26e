// SPDX-License-Identifier: Apache-2.0
#include "model/extents.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "model/measure.h"
#include "model/tables.h"

/* Rows that are looked at behind the last that begins before a place: more than that overlap in no sound map. */
#define MAX_STEPS 256u
#define NO_PLACE  (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL)

/* The head of a file comes right before its extents. */
static u64 size_of(const struct model *m, const struct ev_extent *e)
{
	const struct ev_extent *head = m->mapped.n ? &m->mapped.row[m->mapped.n - 1].ev : NULL;

	if (!head || head->ino != e->ino || head->dev != e->dev || head->ts_ns != e->ts_ns)
		return UINT64_MAX;
	return head->offset;
}

int add_extent(struct model *m, const struct ev_extent *e, u32 path)
{
	struct extent_table *t = e->flags & EXTENT_FILE ? &m->mapped : &m->extent;
	int ret = grow(&t->row, &t->cap, t->n, sizeof(*t->row));

	if (!ret)
		t->row[t->n++] = (struct extent_row){ .ev = *e, .path = path, .size = size_of(m, e) };
	return ret;
}

int add_range(struct model *m, const struct ev_range *e)
{
	struct range_table *t = &m->range;
	int ret = grow(&t->row, &t->cap, t->n, sizeof(*t->row));

	if (!ret)
		t->row[t->n++] = *e;
	return ret;
}

/* ---- the order ---- */

static int compare_ranges(const void *x, const void *y)
{
	const struct ev_range *a = x, *b = y;
	int c = compare_u64(a->ts_ns, b->ts_ns);

	c = c ? c : compare_u64(a->dev, b->dev);
	c = c ? c : compare_u64(a->cid, b->cid);
	return c ? c : compare_u64(a->index, b->index);
}

static int compare_rows(const void *x, const void *y)
{
	const struct ev_extent *a = &((const struct extent_row *)x)->ev, *b = &((const struct extent_row *)y)->ev;
	int c = compare_u64(a->disk, b->disk);

	c = c ? c : compare_u64(a->physical, b->physical);
	c = c ? c : compare_u64(a->ts_ns, b->ts_ns);
	c = c ? c : compare_u64(a->dev, b->dev);
	c = c ? c : compare_u64(a->ino, b->ino);
	c = c ? c : compare_u64(a->flags, b->flags);
	return c ? c : compare_u64(a->offset, b->offset);
}

void sort_extents(struct model *m)
{
	struct extent_table *t = &m->extent;
	u64 reach = 0;
	u32 i;

	if (m->range.n)
		qsort(m->range.row, m->range.n, sizeof(*m->range.row), compare_ranges);
	if (m->mapped.n)
		qsort(m->mapped.row, m->mapped.n, sizeof(*m->mapped.row), compare_rows);
	if (!t->n)
		return;
	qsort(t->row, t->n, sizeof(*t->row), compare_rows);
	for (i = 0; i < t->n; i++) {
		const struct ev_extent *e = &t->row[i].ev;

		if (!i || e->disk != t->row[i - 1].ev.disk)
			reach = 0;
		if (!(e->map_flags & NO_PLACE))
			reach = MAX(reach, e->physical + e->bytes);
		t->row[i].reach = reach;
	}
}

/* ---- one command ---- */

/* "nvme0c1n1" is a path of "nvme0n1". */
static bool is_path_of(const char *path, const char *head)
{
	size_t n = strcspn(path, "c");

	if (!path[n] || strncmp(path, head, n))
		return false;
	path += n + 1;
	while (*path >= '0' && *path <= '9')
		path++;
	return !strcmp(path, head + n);
}

static bool has_rows(const struct extent_table *t, u32 disk)
{
	u32 lo = 0, hi = t->n;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (t->row[mid].ev.disk < disk)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->n && t->row[lo].ev.disk == disk;
}

/* The disk of the maps that a device is, 0 = none. */
static u32 disk_of(const struct model *m, u32 device)
{
	const char *name = strpool_get(&m->strings, m->device[device].name);
	u32 i;

	if (m->device[device].dev && has_rows(&m->extent, m->device[device].dev))
		return m->device[device].dev;
	for (i = 0; i < m->n_devices; i++)
		if (m->device[i].dev && is_path_of(name, strpool_get(&m->strings, m->device[i].name)) &&
		    has_rows(&m->extent, m->device[i].dev))
			return m->device[i].dev;
	return 0;
}

/* The first row behind those that begin at or before the place. */
static u32 behind(const struct extent_table *t, u32 disk, u64 at)
{
	u32 lo = 0, hi = t->n;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		const struct ev_extent *e = &t->row[mid].ev;

		if (e->disk < disk || (e->disk == disk && e->physical <= at))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool same_place(const struct ev_extent *a, const struct ev_extent *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->physical - a->offset == b->physical - b->offset;
}

/* Of two maps of one time the one that the command may have met: the latest before it, else the earliest. */
static bool is_nearer(const struct ev_extent *e, const struct ev_extent *than, u64 ts_ns)
{
	bool a = e->ts_ns <= ts_ns, b = than->ts_ns <= ts_ns;

	return a != b ? a : a ? e->ts_ns > than->ts_ns : e->ts_ns < than->ts_ns;
}

/*
 * Behind the end of its file: the file system has allocated ahead there (XFS
 * does for each file that grows) and gives it back when it likes.  It is the
 * file's as long as no other has it.
 */
static bool is_ahead(const struct extent_row *r, u64 at)
{
	return at - r->ev.physical + r->ev.offset >= r->size;
}

struct found {
	const struct extent_row *begin, *end;
	bool several; /* files share the place */
};

static void take(struct found *f, const struct extent_row *r, u64 at, u64 ts_ns)
{
	const struct extent_row **to = r->ev.flags & EXTENT_AT_END ? &f->end : &f->begin;

	if (*to && is_ahead(*to, at) != is_ahead(r, at)) {
		*to = is_ahead(r, at) ? *to : r;
		return;
	}
	if (*to && r->ev.flags & EXTENT_AT_END && !same_place(&(*to)->ev, &r->ev))
		f->several = true;
	if (!*to || is_nearer(&r->ev, &(*to)->ev, ts_ns))
		*to = r;
}

static struct found find(const struct extent_table *t, u32 disk, u64 at, u64 ts_ns)
{
	struct found f = {};
	u32 i = behind(t, disk, at), steps;

	for (steps = 0; i && steps < MAX_STEPS; steps++) {
		const struct extent_row *r = &t->row[--i];

		if (r->ev.disk != disk || r->reach <= at)
			break;
		if (!(r->ev.map_flags & NO_PLACE) && r->ev.physical + r->ev.bytes > at)
			take(&f, r, at, ts_ns);
	}
	if (f.begin && f.end && !same_place(&f.begin->ev, &f.end->ev) && is_ahead(f.begin, at) != is_ahead(f.end, at))
		*(is_ahead(f.begin, at) ? &f.begin : &f.end) = NULL;
	return f;
}

/* Bytes from `at` on that go on in the file as they do on the disk. */
static u64 run(const struct extent_table *t, const struct extent_row *r, u64 at, u64 bytes)
{
	const struct ev_extent *e = &r->ev;
	u64 end = e->physical + e->bytes;
	u32 i;

	for (i = (u32)(r - t->row) + 1; end < at + bytes && i < t->n && t->row[i].ev.physical <= end; i++) {
		const struct ev_extent *b = &t->row[i].ev;

		if (b->disk != e->disk)
			break;
		if (b->physical == end && same_place(e, b) && !((b->flags ^ e->flags) & EXTENT_AT_END))
			end += b->bytes;
	}
	return MIN(end - at, bytes);
}

enum file_place cmd_file(const struct model *m, u32 i, struct cmd_file *f)
{
	const struct extent_table *t = &m->extent;
	const struct device *d = m->n_devices ? &m->device[cmd_dev(m, i)] : NULL;
	const struct extent_row *r;
	struct found at;
	u64 place;
	u32 disk;

	if (!t->n || !d || !d->lba_bytes || !(m->cmd.flags[i] & CMD_HAS_SLBA) || !m->cmd.bytes[i] ||
	    !(disk = disk_of(m, cmd_dev(m, i))) || __builtin_mul_overflow(m->cmd.slba[i], d->lba_bytes, &place))
		return PLACE_NO_MAP;
	at = find(t, disk, place, m->cmd.ts_ns[i]);
	if (!at.begin && !at.end)
		return PLACE_OUTSIDE;
	if (at.several || (at.begin && at.end && !same_place(&at.begin->ev, &at.end->ev)))
		return PLACE_UNSURE;
	r = at.end ? at.end : at.begin;
	*f = (struct cmd_file){
		.path = r->path,
		.dev = r->ev.dev,
		.ino = r->ev.ino,
		.is_moved = r->ev.flags & EXTENT_MOVED,
		.has_offset = !(r->ev.map_flags & (FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_NOT_ALIGNED)),
		.offset = place - r->ev.physical + r->ev.offset,
		.bytes = run(t, r, place, m->cmd.bytes[i]),
	};
	return at.begin && at.end ? PLACE_BOTH : at.end ? PLACE_END : PLACE_BEGIN;
}

const char *file_place_name(enum file_place p)
{
	static const char *const names[] = { NULL, "none", "unsure", "begin", "end", "both" };

	return names[p];
}

/* ---- sums ---- */

static struct file_sum *sum_of(struct file_sums *s, struct map64 *at, u32 *cap, const struct cmd_file *f)
{
	bool is_new;
	u32 *i = map64_put(at, hash_u64(f->ino ^ hash_u64((u64)f->dev << 32 | f->path)), &is_new);

	if (!i)
		return NULL;
	if (is_new) {
		if (grow(&s->file, cap, s->n_files, sizeof(*s->file)))
			return NULL;
		*i = s->n_files++;
		s->file[*i] = (struct file_sum){ .path = f->path, .dev = f->dev, .ino = f->ino };
	}
	return &s->file[*i];
}

static int more_bytes(const void *x, const void *y)
{
	const struct file_sum *a = x, *b = y;
	u64 p = a->read_bytes + a->write_bytes, q = b->read_bytes + b->write_bytes;
	int c = p != q ? p < q ? 1 : -1 : compare_u64(a->dev, b->dev);

	return c ? c : compare_u64(a->ino, b->ino);
}

static int add_cmd(struct file_sums *s, const struct model *m, u32 i, struct map64 *at, u32 *cap)
{
	struct cmd_file f = {};
	enum file_place place = cmd_file(m, i, &f);
	u64 bytes = m->cmd.bytes[i];
	struct file_sum *to;

	if (place == PLACE_OUTSIDE) {
		s->outside++;
		s->outside_bytes += bytes;
	} else if (place == PLACE_UNSURE) {
		s->unsure++;
		s->unsure_bytes += bytes;
	}
	if (place < PLACE_BEGIN)
		return 0;
	to = sum_of(s, at, cap, &f);
	if (!to)
		return -ENOMEM;
	s->partly += f.bytes < bytes;
	if (m->cmd.opcode[i] == 2) {
		to->reads++;
		to->read_bytes += bytes;
	} else {
		to->writes++;
		to->write_bytes += bytes;
	}
	return 0;
}

int files_measure(struct file_sums *s, const struct model *m)
{
	struct map64 at = {};
	u32 i, cap = 0;
	int ret = 0;

	*s = (struct file_sums){};
	for (i = 0; i < m->cmd.n && m->extent.n && !ret; i++)
		if (cmd_state(m, i) == STATE_OK && (m->cmd.opcode[i] == 1 || m->cmd.opcode[i] == 2))
			ret = add_cmd(s, m, i, &at, &cap);
	if (s->n_files)
		qsort(s->file, s->n_files, sizeof(*s->file), more_bytes);
	map64_free(&at);
	return ret;
}

void file_sums_free(struct file_sums *s)
{
	free(s->file);
}
