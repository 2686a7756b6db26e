// SPDX-License-Identifier: Apache-2.0
#include "model/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cache.h"
#include "model/tables.h"

int add_fault(struct model *m, const struct ev_fault *e, u32 path)
{
	struct fault_table *t = &m->fault;
	int ret = grow(&t->row, &t->cap, t->n, sizeof(*t->row));

	if (!ret)
		t->row[t->n++] = (struct fault_row){ .ev = *e, .path = path, .task = NONE };
	return ret;
}

int add_cache(struct model *m, const struct ev_cache *e, u32 path)
{
	struct cache_table *t = &m->cache;
	int ret = grow(&t->row, &t->cap, t->n, sizeof(*t->row));

	if (!ret)
		t->row[t->n++] = (struct cache_row){ .ev = *e, .path = path };
	return ret;
}

int add_block(struct model *m, const struct ev_block *e)
{
	struct block_table *t = &m->block;
	int ret = grow(&t->row, &t->cap, t->n, sizeof(*t->row));

	if (!ret)
		t->row[t->n++] = (struct block_row){ .ev = *e };
	return ret;
}

static int compare_faults(const void *a, const void *b)
{
	const struct ev_fault *x = &((const struct fault_row *)a)->ev, *y = &((const struct fault_row *)b)->ev;
	int c = compare_u64(x->ts_ns, y->ts_ns);

	c = c ? c : compare_u64(x->tid, y->tid);
	c = c ? c : compare_u64(x->address, y->address);
	return c ? c : compare_u64(x->lat_ns, y->lat_ns);
}

static int compare_caches(const void *a, const void *b)
{
	const struct ev_cache *x = &((const struct cache_row *)a)->ev, *y = &((const struct cache_row *)b)->ev;
	int c = compare_u64(x->ts_ns, y->ts_ns);

	c = c ? c : compare_u64(x->dev, y->dev);
	return c ? c : compare_u64(x->ino, y->ino);
}

static int compare_blocks(const void *a, const void *b)
{
	const struct ev_block *x = &((const struct block_row *)a)->ev, *y = &((const struct block_row *)b)->ev;
	int c = compare_u64(x->ts_ns, y->ts_ns);

	c = c ? c : compare_u64(x->dev, y->dev);
	return c ? c : compare_u64(x->write, y->write);
}

static void sort(void *row, u32 n, size_t size, int (*compare)(const void *a, const void *b))
{
	if (n)
		qsort(row, n, size, compare);
}

/* Sums are told as they grow: the last ones of each key say all. */
static int mark_last(struct model *m)
{
	struct map64 files = {}, devices = {};
	bool is_new = true;
	int ret = 0;
	u32 i;

	for (i = m->cache.n; i-- && !ret;) {
		struct cache_row *r = &m->cache.row[i];

		if (!map64_put(&files, hash_u64(r->ev.ino ^ hash_u64(r->ev.dev)), &is_new))
			ret = -ENOMEM;
		r->last = is_new;
	}
	for (i = m->block.n; i-- && !ret;) {
		struct block_row *r = &m->block.row[i];

		if (!map64_put(&devices, (u64)r->ev.dev << 1 | !!r->ev.write, &is_new))
			ret = -ENOMEM;
		r->last = is_new;
	}
	map64_free(&files);
	map64_free(&devices);
	return ret;
}

int sort_faults(struct model *m)
{
	sort(m->fault.row, m->fault.n, sizeof(*m->fault.row), compare_faults);
	sort(m->cache.row, m->cache.n, sizeof(*m->cache.row), compare_caches);
	sort(m->block.row, m->block.n, sizeof(*m->block.row), compare_blocks);
	return mark_last(m);
}

void cut_faults(struct model *m, bool (*stays)(const void *arg, const struct fault_row *r), const void *arg, u32 *to)
{
	u32 i, n = 0;

	for (i = 0; i < m->fault.n; i++) {
		bool stay = stays(arg, &m->fault.row[i]);

		to[i] = stay ? n : NONE;
		if (stay)
			m->fault.row[n++] = m->fault.row[i];
	}
	m->cut.faults += m->fault.n - n;
	m->fault.n = n;
}

/* ---- measures ---- */

static int compare_files(const void *a, const void *b)
{
	const struct ev_cache *x = &(*(const struct cache_row *const *)a)->ev,
			      *y = &(*(const struct cache_row *const *)b)->ev;
	int c = compare_u64(cache_came_pages(y) + y->direct_read_bytes / 4096,
			    cache_came_pages(x) + x->direct_read_bytes / 4096);

	c = c ? c : compare_u64(y->faults, x->faults);
	c = c ? c : compare_u64(x->dev, y->dev);
	return c ? c : compare_u64(x->ino, y->ino);
}

static int last_files(struct fault_sums *s, const struct model *m)
{
	u32 i;

	s->file = calloc(m->cache.n + 1ul, sizeof(*s->file));
	if (!s->file)
		return -ENOMEM;
	for (i = 0; i < m->cache.n; i++)
		if (m->cache.row[i].last)
			s->file[s->n_files++] = &m->cache.row[i];
	if (s->n_files)
		qsort(s->file, s->n_files, sizeof(*s->file), compare_files);
	for (i = 0; i < s->n_files; i++)
		cache_add(&s->all, &s->file[i]->ev);
	return 0;
}

static int last_blocks(struct fault_sums *s, const struct model *m)
{
	u32 i;

	s->block = calloc(m->block.n + 1ul, sizeof(*s->block));
	if (!s->block)
		return -ENOMEM;
	for (i = 0; i < m->block.n; i++) {
		const struct ev_block *e = &m->block.row[i].ev;

		if (!m->block.row[i].last)
			continue;
		s->block[s->n_blocks++] = &m->block.row[i];
		*(e->write ? &s->write_requests : &s->read_requests) += e->requests;
		*(e->write ? &s->write_bytes : &s->read_bytes) += e->bytes;
	}
	return 0;
}

int faults_measure(struct fault_sums *s, const struct model *m)
{
	int ret;
	u32 i;

	*s = (struct fault_sums){
		.page_bytes = m->page_bytes ? m->page_bytes : 4096,
		.useful_bytes = m->marker.n_useful ? m->marker.useful_bytes : m->useful_bytes,
		.n_markers = m->marker.n_useful,
	};
	ret = last_files(s, m);
	if (!ret)
		ret = last_blocks(s, m);
	for (i = 0; i < m->fault.n; i++)
		if (!(m->fault.row[i].ev.flags & (FAULT_NO_TIME | FAULT_FAILED | FAULT_UNFINISHED)))
			hist_add(&s->lat, m->fault.row[i].ev.lat_ns);
	return ret;
}

void faults_free(struct fault_sums *s)
{
	free(s->file);
	free(s->block);
	*s = (struct fault_sums){};
}

bool faults_none(const struct model *m)
{
	return !m->cache.n && !m->fault.n && !m->block.n;
}

struct ratio faults_ratio(const struct fault_sums *s, enum amplification a)
{
	u64 footprint = s->all.touched_pages * s->page_bytes;
	u64 filled = cache_came_pages(&s->all) * s->page_bytes;
	bool fills = !(s->all.flags & CACHE_NO_FILLS);
	struct ratio r = {};

	switch (a) {
	case AMP_PAGES:
		r = (struct ratio){ footprint, s->useful_bytes, !(s->all.flags & CACHE_NO_FAULTS) };
		break;
	case AMP_READAHEAD:
		r = (struct ratio){ filled + s->all.direct_read_bytes, footprint, fills };
		break;
	case AMP_DEVICE:
		r = (struct ratio){ s->read_bytes, filled + s->all.direct_read_bytes, fills && s->n_blocks };
		break;
	default:
		r = (struct ratio){ s->read_bytes, s->useful_bytes, s->n_blocks };
	}
	r.known = r.known && r.whole;
	return r;
}

const char *faults_hint(const struct fault_sums *s)
{
	static const char *const words[N_AMPS] = {
		[AMP_PAGES] = "the page size: little of each page is used",
		[AMP_READAHEAD] =
			"readahead: more pages come in than are surely used (madvise MADV_RANDOM turns it off)",
		[AMP_DEVICE] = "the device: more is read than comes in (pages read again, or read around)",
	};
	double most = 1.5;
	const char *hint = NULL;
	int i;

	for (i = 0; i < AMP_ALL; i++) {
		struct ratio r = faults_ratio(s, (enum amplification)i);

		if (r.known && (double)r.part / (double)r.whole > most) {
			most = (double)r.part / (double)r.whole;
			hint = words[i];
		}
	}
	return hint;
}
