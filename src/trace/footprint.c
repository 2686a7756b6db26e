// SPDX-License-Identifier: Apache-2.0
#include "trace/footprint.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK_PAGES 512u
/* 256 MiB of chunks: 4 TiB of pages in a row, or 2 M pages far apart. */
#define MAX_CHUNKS  (1u << 21)

/* True when item number n has room; grows by doubling. */
static bool has_room(void **array, u32 n, u32 *cap, size_t each)
{
	u32 want = *cap ? *cap * 2 : 64;
	void *grown;

	if (n < *cap)
		return true;
	grown = reallocarray(*array, want, each);
	if (!grown)
		return false;
	*array = grown;
	*cap = want;
	return true;
}

struct footprint_file *footprint_file(struct footprint *f, u32 dev, u64 ino)
{
	u64 key = hash_u64(ino ^ (u64)dev << 40 ^ dev);
	bool is_new;
	u32 *i;

	if (!has_room((void **)&f->file, f->n_files, &f->cap_files, sizeof(*f->file)))
		return NULL;
	i = map64_put(&f->by_id, key, &is_new);
	if (!i)
		return NULL;
	if (is_new) {
		f->file[f->n_files] = (struct footprint_file){ .sums = { .kind = EV_CACHE, .dev = dev, .ino = ino } };
		*i = f->n_files++;
	}
	return &f->file[*i];
}

static struct page_chunk *chunk_of(struct footprint *f, u32 file, u64 page)
{
	bool is_new;
	u32 *i;

	if (!has_room((void **)&f->chunk, f->n_chunks, &f->cap_chunks, sizeof(*f->chunk)))
		return NULL;
	/* Files have at most 2^52 pages: their number is far above. */
	i = map64_put(&f->by_page, hash_u64(page / CHUNK_PAGES ^ (u64)file << 44), &is_new);
	if (!i)
		return NULL;
	if (is_new) {
		f->chunk[f->n_chunks] = (struct page_chunk){};
		*i = f->n_chunks++;
	}
	return &f->chunk[*i];
}

static u32 set(u64 bits[8], u32 at)
{
	u64 bit = 1ull << at % 64;
	u32 is_new = !(bits[at / 64] & bit);

	bits[at / 64] |= bit;
	return is_new;
}

/* One page: it can have been used; `touched`: it was. */
static int add_page(struct footprint *f, struct footprint_file *file, u64 page, bool touched)
{
	struct page_chunk *c;

	if (f->n_chunks >= MAX_CHUNKS) {
		f->full = true;
		return 0;
	}
	c = chunk_of(f, (u32)(file - f->file), page);
	if (!c)
		return -ENOMEM;
	file->sums.mapped_pages += set(c->mapped, (u32)(page % CHUNK_PAGES));
	if (touched)
		file->sums.touched_pages += set(c->touched, (u32)(page % CHUNK_PAGES));
	return 0;
}

static void add_fault(struct ev_cache *c, const struct ev_fault *e, u32 pid)
{
	c->faults++;
	if (e->flags & (FAULT_FAILED | FAULT_UNFINISHED))
		c->failed++;
	else if (e->flags & FAULT_MAJOR)
		c->major++;
	else
		c->minor++;
	c->retries += e->retries;
	c->lat_ns += e->lat_ns;
	if (!c->pid)
		c->pid = pid;
	else if (c->pid != pid)
		c->flags |= CACHE_MORE_PIDS;
	if (e->flags & FAULT_WIDE)
		c->flags |= CACHE_TOUCHED_ONLY;
}

int footprint_fault(struct footprint *f, const struct ev_fault *e, u32 pid)
{
	struct footprint_file *file = footprint_file(f, e->dev, e->ino);
	u64 page = e->offset >> f->page_shift, left;
	int ret;

	if (!file)
		return -ENOMEM;
	file->changed = true;
	add_fault(&file->sums, e, pid);
	if (e->flags & FAULT_FAILED)
		return 0;
	ret = add_page(f, file, page, true);
	for (left = e->mapped; left && !ret; left &= left - 1)
		ret = add_page(f, file, page - e->before + (u64)__builtin_ctzll(left), false);
	return ret;
}

int footprint_direct(struct footprint *f, u32 dev, u64 ino, bool write, u64 offset, u64 bytes)
{
	struct footprint_file *file = footprint_file(f, dev, ino);
	u64 page, last = (offset + bytes - 1) >> f->page_shift;
	int ret = 0;

	if (!file)
		return -ENOMEM;
	file->changed = true;
	if (write) {
		file->sums.direct_writes++;
		file->sums.direct_write_bytes += bytes;
	} else {
		file->sums.direct_reads++;
		file->sums.direct_read_bytes += bytes;
	}
	for (page = offset >> f->page_shift; page <= last && !ret && !f->full; page++)
		ret = add_page(f, file, page, true);
	return ret;
}

void footprint_free(struct footprint *f)
{
	free(f->file);
	free(f->chunk);
	map64_free(&f->by_id);
	map64_free(&f->by_page);
	*f = (struct footprint){};
}
