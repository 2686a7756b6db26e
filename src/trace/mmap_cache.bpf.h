/* SPDX-License-Identifier: GPL-2.0 */
/* The page fault tracer: what came into the page cache, readahead, direct reads and writes. */
#ifndef KVIO_MMAP_CACHE_BPF_H
#define KVIO_MMAP_CACHE_BPF_H

#include "trace/mmap_state.bpf.h"

#define IOCB_WRITE (1 << 18)

static __always_inline struct cache_sums *sums_of(u64 ino, u32 dev)
{
	struct file_id id = { .ino = ino, .dev = dev };
	struct cache_sums none = {}, *c = bpf_map_lookup_elem(&caches, &id);

	if (c)
		return c;
	bpf_map_update_elem(&caches, &id, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&caches, &id);
}

/* Counts an event that is kept as a sum.  NULL: it is not. */
static __always_inline struct cache_sums *count_in(struct task_state *s, struct inode *inode, u64 *ino, u32 *dev)
{
	struct cache_sums *c;

	count(N_SEEN);
	if (!s) {
		count(N_MAP_FULL);
		return NULL;
	}
	if (!wanted_once(&s->decision)) {
		count(N_FILTERED);
		return NULL;
	}
	inode_numbers(inode, ino, dev);
	c = sums_of(*ino, *dev);
	count(c ? N_STORED : N_MAP_FULL);
	return c;
}

static __always_inline u32 pages_of(struct folio *folio)
{
	u64 flags = (u64)peek(struct timespec64, folio, tv_sec);

	if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return 1;
	if (bpf_core_field_exists(struct folio___pages, _folio_nr_pages))
		return peek(struct folio___pages, folio, _folio_nr_pages);
	if (bpf_core_field_exists(struct folio___nr, _nr_pages))
		return peek(struct folio___nr, folio, _nr_pages);
	return 1;
}

/* A page is added to be read, not to be written. */
static __always_inline bool is_to_read(struct task_state *s, struct folio *folio, struct inode *inode, u32 n)
{
	u64 at = peek(struct folio, folio, index);

	if (s->open || s->ra_depth)
		return true;
	if (s->reads_host != (u64)inode || at < s->reads_from || at >= s->reads_to)
		return false;
	/* Readahead goes up: what was before is there, and who adds it anew does so for another reason. */
	s->reads_from = at + n;
	return true;
}

SEC("?tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(filled, struct folio *folio)
{
	struct task_state *s = this_state();
	struct cache_sums *c;
	u32 n, dev = 0;
	u64 ino = 0;

	c = count_in(s, folio->mapping->host, &ino, &dev);
	if (!c || !s)
		return 0;
	n = pages_of(folio);
	__sync_fetch_and_add(&c->fills, 1);
	__sync_fetch_and_add(&c->fill_pages, n);
	if (s->ra_depth)
		__sync_fetch_and_add(&c->ra_pages, n);
	s->made = is_to_read(s, folio, folio->mapping->host, n) ? 0 : (u64)folio;
	/* Without functions the file of an open fault is not known yet. */
	if (s->open && (!s->ev.kind || (s->ev.ino == ino && s->ev.dev == dev)))
		s->ev.filled = s->ev.filled + n < 0xffff ? s->ev.filled + n : 0xffff;
	meet_inode(folio->mapping->host, ino, dev, s->open ? s->ev.address : 0);
	return 0;
}

/* One that is added and then made dirty by the same thread was not there to be read. */
SEC("?tp_btf/writeback_dirty_folio")
int BPF_PROG(dirtied, struct folio *folio)
{
	struct task_state *s = bpf_task_storage_get(&states, bpf_get_current_task_btf(), NULL, 0);
	struct cache_sums *c;
	u32 dev = 0;
	u64 ino = 0;

	if (!s || s->made != (u64)folio)
		return 0;
	s->made = 0;
	inode_numbers(folio->mapping->host, &ino, &dev);
	c = sums_of(ino, dev);
	if (!c)
		return 0;
	__sync_fetch_and_add(&c->written_fills, 1);
	__sync_fetch_and_add(&c->written_pages, pages_of(folio));
	return 0;
}

static __always_inline int ra_enter(struct readahead_control *ra)
{
	struct task_state *s = this_state();
	struct cache_sums *c;
	u32 dev = 0;
	u64 ino = 0;

	/* One that calls the other is one. */
	if (!s || s->ra_depth++)
		return 0;
	c = count_in(s, ra->mapping->host, &ino, &dev);
	if (c)
		__sync_fetch_and_add(&c->ra_calls, 1);
	return 0;
}

static __always_inline int ra_leave(void)
{
	struct task_state *s = bpf_task_storage_get(&states, bpf_get_current_task_btf(), NULL, 0);

	if (s && s->ra_depth)
		s->ra_depth--;
	return 0;
}

SEC("?fentry/page_cache_ra_unbounded")
int BPF_PROG(ra_plain_enter, struct readahead_control *ra)
{
	return ra_enter(ra);
}

SEC("?fexit/page_cache_ra_unbounded")
int BPF_PROG(ra_plain_leave)
{
	return ra_leave();
}

SEC("?fentry/page_cache_ra_order")
int BPF_PROG(ra_large_enter, struct readahead_control *ra)
{
	return ra_enter(ra);
}

SEC("?fexit/page_cache_ra_order")
int BPF_PROG(ra_large_leave)
{
	return ra_leave();
}

static __always_inline int ra_asked(struct task_state *s, struct inode *inode, u64 index, u64 pages)
{
	u32 dev = 0;
	u64 ino = 0;
	struct cache_sums *c = count_in(s, inode, &ino, &dev);

	if (!c || !s)
		return 0;
	s->reads_host = (u64)inode;
	s->reads_from = index;
	s->reads_to = index + pages;
	__sync_fetch_and_add(&c->ra_calls, 1);
	__sync_fetch_and_add(&c->ra_pages, pages);
	return 0;
}

/* From 6.17 on.  A large one may fall back to a plain one.  Its window may reach beyond the file, what is read does
 * not. */
SEC("?tp_btf/page_cache_ra_order")
int BPF_PROG(ra_large, struct inode *inode, unsigned long index, struct file_ra_state *ra)
{
	u64 end = ((u64)inode->i_size + (1ull << mm.page_shift) - 1) >> mm.page_shift;
	u64 left = index < end ? end - index : 0, pages = ra->size < left ? ra->size : left;
	struct task_state *s = this_state();

	if (s) {
		s->ra_from = index;
		s->ra_to = index + pages;
	}
	return ra_asked(s, inode, index, pages);
}

SEC("?tp_btf/page_cache_ra_unbounded")
int BPF_PROG(ra_plain, struct inode *inode, unsigned long index, unsigned long pages)
{
	struct task_state *s = this_state();

	if (s && index >= s->ra_from && index < s->ra_to) {
		s->ra_from = s->ra_to = 0;
		return 0;
	}
	return ra_asked(s, inode, index, pages);
}

/* ---- direct reads and writes ---- */

static __always_inline void set_direct(struct raw_dio *r, struct kiocb *iocb)
{
	r->kind = RAW_DIO;
	r->ts_ns = bpf_ktime_get_ns();
	r->tid = (u32)bpf_get_current_pid_tgid();
	r->write = !!(iocb->ki_flags & IOCB_WRITE);
	r->offset = (u64)iocb->ki_pos;
	mapping_numbers(iocb->ki_filp, &r->ino, &r->dev);
	meet_file(iocb->ki_filp, r->ino, r->dev, r->ts_ns);
}

static __always_inline int direct_begin(struct kiocb *iocb)
{
	struct task_state *s = this_state();
	struct raw_dio r = {};
	u64 key = (u64)iocb;

	if (!s || !wanted_once(&s->decision)) {
		count(N_SEEN);
		count(s ? N_FILTERED : N_MAP_FULL);
		return 0;
	}
	set_direct(&r, iocb);
	if (bpf_map_update_elem(&directs, &key, &r, BPF_ANY)) {
		count(N_SEEN);
		count(N_MAP_FULL);
	}
	return 0;
}

static __always_inline int direct_end(u64 key, s64 bytes)
{
	struct raw_dio *r = bpf_map_lookup_elem(&directs, &key);

	if (!r)
		return 0;
	if (bytes > 0 && r->kind) {
		r->bytes = (u64)bytes;
		count(N_SEEN);
		count(put(r, sizeof(*r)) ? N_STORED : N_RING_FULL);
	}
	r->kind = 0;
	bpf_map_delete_elem(&directs, &key);
	return 0;
}

SEC("?tp_btf/iomap_dio_rw_begin")
int BPF_PROG(direct_enter, struct kiocb *iocb)
{
	return direct_begin(iocb);
}

SEC("?tp_btf/iomap_dio_complete")
int BPF_PROG(direct_leave, struct kiocb *iocb, int error, s64 ret)
{
	return direct_end((u64)iocb, error ? 0 : ret);
}

/*
 * Before these tracepoints there is only the end.  One that its thread waits
 * for ends there; any other ends anywhere, and can be no one's.
 */
SEC("?fentry/iomap_dio_complete")
int BPF_PROG(direct_leave_old, struct iomap_dio *dio)
{
	struct task_state *s = this_state();
	struct raw_dio r = {};

	if (dio->error || dio->size <= 0)
		return 0;
	count(N_SEEN);
	if (!s || !(dio->wait_for_completion ? wanted_once(&s->decision)
					     : !cfg.filter_pid && !cfg.filter_comm && !cfg.cgroup)) {
		count(s ? N_FILTERED : N_MAP_FULL);
		return 0;
	}
	set_direct(&r, dio->iocb);
	r.bytes = (u64)dio->size;
	count(put(&r, sizeof(r)) ? N_STORED : N_RING_FULL);
	return 0;
}

#endif
