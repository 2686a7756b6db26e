// SPDX-License-Identifier: Apache-2.0
/* Page faults of programs by mapped file, and what they came to over time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/perfetto_programs.h"

/* More files than anyone looks at one by one: the rest shares the last track. */
#define MAX_FILES 256
#define COUNT_NS  10000000ull

/* ---- which file ---- */

static u64 file_key(u32 dev, u64 ino, u64 more)
{
	return hash_u64(ino ^ hash_u64((u64)dev << 32 ^ hash_u64(more)));
}

static bool has_path(const struct pf_program *p, u32 path)
{
	u32 i;

	for (i = 0; path && i < p->n_files; i++)
		if (p->file[i].path == path)
			return true;
	return false;
}

static struct pf_mapped *file_of(const struct pf_draw *a, struct pf_finder *f, struct pf_program *p,
				 const struct fault_row *r)
{
	u32 program = (u32)(p - a->programs->v), *at;
	bool is_new = false;

	at = map64_put(&f->file, file_key(r->ev.dev, r->ev.ino, program), &is_new);
	if (!at)
		return NULL;
	if (is_new && p->n_files == MAX_FILES) {
		*at = MAX_FILES - 1;
		p->file[*at].ino = p->file[*at].dev = p->file[*at].path = p->file[*at].same_path = 0;
	} else if (is_new) {
		if (pf_make_room(&p->file, &p->cap_files, p->n_files, sizeof(*p->file)))
			return NULL;
		*at = p->n_files;
		p->file[p->n_files] = (struct pf_mapped){
			.dev = r->ev.dev, .ino = r->ev.ino, .path = r->path, .same_path = has_path(p, r->path)
		};
		p->n_files++;
	}
	return p->file ? &p->file[*at] : NULL;
}

void pf_file_name(struct pf_writer *w, struct buf *out, const struct pf_draw *a, const struct pf_mapped *f)
{
	if (f->path)
		pf_word(w, out, a, SECRET_PATH, f->path);
	else if (!f->dev && !f->ino)
		buf_lit(out, "other files");
	if (f->same_path || (!f->path && f->ino))
		buf_printf(out, "%s%u:%u inode %llu", f->path ? " " : "", f->dev >> 20, f->dev & 0xfffff,
			   (unsigned long long)f->ino);
}

/* ---- slices ---- */

/* Pages that came in, which is what a fault moves. */
static u64 came_in(const struct pf_draw *a, const struct ev_fault *e)
{
	return e->filled * (a->m->page_bytes ? a->m->page_bytes : 4096);
}

static int walk(struct pf_draw *a, struct pf_finder *f, bool fill)
{
	u32 i;

	for (i = 0; i < a->m->fault.n; i++) {
		const struct fault_row *r = &a->m->fault.row[i];
		struct pf_program *p = pf_program_of(a, f, r->task, r->ev.tid);
		struct pf_mapped *file = p ? file_of(a, f, p, r) : NULL;

		if (!file)
			return -ENOMEM;
		a->programs->fault_program[i] = (u16)(p - a->programs->v);
		if (fill)
			pf_add_span(a, &file->faults, r->ev.ts_ns, r->ev.lat_ns, came_in(a, &r->ev), i);
		else
			file->faults.n++;
	}
	return 0;
}

int pf_faults_prepare(struct pf_draw *a, struct pf_finder *f)
{
	struct pf_programs *all = a->programs;
	int ret = walk(a, f, false);
	u32 i, k;

	for (i = 0; i < all->n && !ret; i++)
		for (k = 0; k < all->v[i].n_files && !ret; k++)
			ret = pf_spans_room(&all->v[i].file[k].faults);
	if (!ret)
		ret = walk(a, f, true);
	for (i = 0; i < all->n && !ret; i++)
		for (k = 0; k < all->v[i].n_files; k++) {
			struct pf_spans *s = &all->v[i].file[k].faults;

			pf_sort_spans(s);
			s->describe = pf_fault_describe;
			s->class = pf_fault_class;
			s->drawn = &a->stats->faults;
		}
	return ret;
}

/* ---- counters ---- */

static void emit(struct pf_writer *w, struct pf_source *s)
{
	struct pf_fault_counts *c = container_of(s, struct pf_fault_counts, source);
	const struct pf_fault_bin *b = &c->bin[c->next++];

	pf_count(w, s->next_ns, &c->major, (s64)b->major);
	pf_count_double(w, s->next_ns, &c->amplification, (double)b->came_in_pages / (double)MAX(b->used_pages, 1ull));
	s->next_ns = c->next < c->n ? c->bin[c->next].ns : PF_DONE;
}

/* The bin of that time, which begins with what there was before. */
static struct pf_fault_bin *bin_at(struct pf_fault_counts *c, u64 ns)
{
	u64 at = ns - ns % COUNT_NS;

	if (c->n && c->bin[c->n - 1].ns >= at)
		return &c->bin[c->n - 1];
	if (pf_make_room(&c->bin, &c->cap, c->n, sizeof(*c->bin)))
		return NULL;
	c->bin[c->n] = c->n ? c->bin[c->n - 1] : (struct pf_fault_bin){};
	c->bin[c->n].ns = at;
	return &c->bin[c->n++];
}

static int count(struct pf_draw *a, struct map64 *seen, u32 row)
{
	const struct ev_fault *e = &a->m->fault.row[row].ev;
	u16 program = a->programs->fault_program[row];
	struct pf_fault_bin *b;
	bool is_new = false;

	b = bin_at(&a->programs->v[program].counts, pf_time(a, e->ts_ns));
	if (!b)
		return -ENOMEM;
	b->came_in_pages += e->filled;
	if (e->flags & FAULT_FAILED)
		return 0;
	b->major += !!(e->flags & FAULT_MAJOR);
	if (!map64_put(seen, file_key(e->dev, e->ino, e->offset + program), &is_new))
		return -ENOMEM;
	b->used_pages += is_new;
	return 0;
}

int pf_faults_count(struct pf_draw *a)
{
	struct map64 seen = {};
	int ret = 0;
	u32 i;

	for (i = 0; i < a->m->fault.n && !ret; i++)
		ret = count(a, &seen, i);
	map64_free(&seen);
	return ret;
}

void pf_faults_start(struct pf_draw *a, struct pf_fault_counts *c)
{
	c->source = (struct pf_source){ .emit = emit, .order = ORDER_COUNTERS, .arm = a };
	c->source.next_ns = c->n ? c->bin[0].ns : PF_DONE;
}

void pf_faults_free(struct pf_program *p)
{
	u32 k;

	for (k = 0; k < p->n_files; k++)
		pf_spans_free(&p->file[k].faults);
	free(p->file);
	free(p->counts.bin);
}
