// SPDX-License-Identifier: Apache-2.0
#include "capture/jsonl_faults.h"

#include <stdio.h>
#include <string.h>

/* Flags by their bit; members that are there are true. */
static const char *const fault_words[] = { "major", "write", "exec",	"kernel",    "failed",
					   "bound", "wide",  "no_time", "unfinished" };
static const char *const cache_words[] = { "no_faults",	   "no_fills",	 "no_readahead", "no_direct", "ra_asked",
					   "touched_only", "incomplete", "more_pids",	 "no_written" };

/* A number of a struct by its name in a line. */
struct number {
	const char *key;
	u16 at;
	u8 bytes;
};
#define NUMBER(type, key, member)                                                      \
	{                                                                              \
		key, offsetof(struct type, member), sizeof(((struct type *)0)->member) \
	}

static const struct number fault_numbers[] = {
	NUMBER(ev_fault, "tid", tid),	    NUMBER(ev_fault, "ts", ts_ns),	  NUMBER(ev_fault, "lat_ns", lat_ns),
	NUMBER(ev_fault, "offset", offset), NUMBER(ev_fault, "address", address), NUMBER(ev_fault, "retries", retries),
	NUMBER(ev_fault, "filled", filled), NUMBER(ev_fault, "mapped", mapped),	  NUMBER(ev_fault, "before", before),
	NUMBER(ev_fault, "dev", dev),	    NUMBER(ev_fault, "ino", ino),	  {},
};

static const struct number cache_numbers[] = {
	NUMBER(ev_cache, "pid", pid),
	NUMBER(ev_cache, "ts", ts_ns),
	NUMBER(ev_cache, "faults", faults),
	NUMBER(ev_cache, "minor", minor),
	NUMBER(ev_cache, "major", major),
	NUMBER(ev_cache, "failed", failed),
	NUMBER(ev_cache, "retries", retries),
	NUMBER(ev_cache, "touched_pages", touched_pages),
	NUMBER(ev_cache, "mapped_pages", mapped_pages),
	NUMBER(ev_cache, "fills", fills),
	NUMBER(ev_cache, "fill_pages", fill_pages),
	NUMBER(ev_cache, "written_fills", written_fills),
	NUMBER(ev_cache, "written_pages", written_pages),
	NUMBER(ev_cache, "ra_calls", ra_calls),
	NUMBER(ev_cache, "ra_pages", ra_pages),
	NUMBER(ev_cache, "direct_reads", direct_reads),
	NUMBER(ev_cache, "direct_read_bytes", direct_read_bytes),
	NUMBER(ev_cache, "direct_writes", direct_writes),
	NUMBER(ev_cache, "direct_write_bytes", direct_write_bytes),
	NUMBER(ev_cache, "lat_ns", lat_ns),
	NUMBER(ev_cache, "dev", dev),
	NUMBER(ev_cache, "ino", ino),
	{},
};

static const struct number block_numbers[] = {
	NUMBER(ev_block, "write", write),
	NUMBER(ev_block, "dev", dev),
	NUMBER(ev_block, "ts", ts_ns),
	NUMBER(ev_block, "requests", requests),
	NUMBER(ev_block, "bytes", bytes),
	NUMBER(ev_block, "min_bytes", min_bytes),
	NUMBER(ev_block, "max_bytes", max_bytes),
	NUMBER(ev_block, "iu", iu_bytes_each),
	NUMBER(ev_block, "iu_bytes", iu_bytes),
	NUMBER(ev_block, "sub_iu", sub_iu),
	NUMBER(ev_block, "optimal_bytes", optimal_bytes),
	NUMBER(ev_block, "max_request_bytes", max_request_bytes),
	NUMBER(ev_block, "lba_bytes", lba_bytes),
	NUMBER(ev_block, "h512", hist[0]),
	NUMBER(ev_block, "h1k", hist[1]),
	NUMBER(ev_block, "h2k", hist[2]),
	NUMBER(ev_block, "h4k", hist[3]),
	NUMBER(ev_block, "h8k", hist[4]),
	NUMBER(ev_block, "h16k", hist[5]),
	NUMBER(ev_block, "h32k", hist[6]),
	NUMBER(ev_block, "h64k", hist[7]),
	NUMBER(ev_block, "h128k", hist[8]),
	NUMBER(ev_block, "h256k", hist[9]),
	NUMBER(ev_block, "h512k", hist[10]),
	NUMBER(ev_block, "h1m", hist[11]),
	{},
};
_Static_assert(EV_BLOCK_SIZES == 12, "as many names");

static const struct number *numbers_of(u8 kind)
{
	return kind == EV_FAULT ? fault_numbers : kind == EV_CACHE ? cache_numbers : block_numbers;
}

bool jsonl_is_fault(u8 kind)
{
	return kind == EV_FAULT || kind == EV_CACHE || kind == EV_BLOCK;
}

/* ---- writing ---- */

static void put_key(struct buf *b, const char *key)
{
	buf_lit(b, ",\"");
	buf_str(b, key);
	buf_lit(b, "\":");
}

static void put_numbers(struct buf *b, const struct number *n, const union event *e)
{
	for (; n->key; n++) {
		u64 v = 0;

		memcpy(&v, (const char *)e + n->at, n->bytes);
		put_key(b, n->key);
		buf_u64(b, v);
	}
}

static void put_flags(struct buf *b, const char *const *word, u32 n, u32 flags)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (!(flags >> i & 1))
			continue;
		put_key(b, word[i]);
		buf_lit(b, "true");
	}
}

static void put_who(struct buf *b, const struct ev_fault *e, struct names *names)
{
	const struct known_task *t = names_task_at(names, e->tid, e->ts_ns);

	put_key(b, "pid");
	buf_u64(b, t ? t->ev.pid : 0);
	put_key(b, "comm");
	if (t && t->comm.n)
		buf_add(b, t->comm.text, t->comm.n);
	else
		buf_lit(b, "\"\"");
}

void jsonl_put_fault(struct buf *b, const union event *e, struct names *names)
{
	buf_lit(b, "{\"event_type\":\"");
	buf_str(b, event_kind_name(e->kind));
	buf_byte(b, '"');
	if (e->kind == EV_FAULT)
		put_who(b, &e->fault, names);
	put_numbers(b, numbers_of(e->kind), e);
	if (e->kind == EV_FAULT) {
		put_flags(b, fault_words, ARRAY_SIZE(fault_words), e->fault.flags);
	} else if (e->kind == EV_CACHE) {
		put_flags(b, cache_words, ARRAY_SIZE(cache_words), e->cache.flags);
	} else {
		put_key(b, "name");
		buf_json(b, e->block.name, strnlen(e->block.name, sizeof(e->block.name)));
	}
}

bool jsonl_fault_is_told(const union event *e)
{
	size_t i;

	switch (e->kind) {
	case EV_FAULT:
		return !(e->fault.flags >> ARRAY_SIZE(fault_words)) && !e->fault.pad;
	case EV_CACHE:
		return !(e->cache.flags >> ARRAY_SIZE(cache_words)) && !e->cache.pad && !e->cache.pad2;
	default:
		for (i = strnlen(e->block.name, sizeof(e->block.name)); i < sizeof(e->block.name); i++)
			if (e->block.name[i])
				return false;
		return !e->block.pad;
	}
}

/* ---- reading ---- */

static bool take_numbers(const struct members *m, const struct number *n, union event *e)
{
	for (; n->key; n++) {
		u64 v = members_u64(m, n->key);

		if (n->bytes < sizeof(v) && v >> n->bytes * 8)
			return false;
		memcpy((char *)e + n->at, &v, n->bytes);
	}
	return true;
}

static u32 take_flags(const struct members *m, const char *const *word, u32 n)
{
	u32 flags = 0, i;

	for (i = 0; i < n; i++)
		if (members_find(m, word[i]))
			flags |= 1u << i;
	return flags;
}

bool jsonl_fold_fault(const struct members *m, u8 kind, union event *e)
{
	const struct ndjson_field *name = members_find(m, "name");

	memset(e, 0, sizeof(*e));
	e->kind = kind;
	if (!take_numbers(m, numbers_of(kind), e))
		return false;
	if (kind == EV_FAULT)
		e->fault.flags = (u16)take_flags(m, fault_words, ARRAY_SIZE(fault_words));
	else if (kind == EV_CACHE)
		e->cache.flags = (u16)(take_flags(m, cache_words, ARRAY_SIZE(cache_words)) |
				       (members_find(m, "written_pages") ? 0 : CACHE_NO_WRITTEN));
	else if (name && members_bytes(name, e->block.name, sizeof(e->block.name)) == SIZE_MAX)
		return false;
	return e->nvme.ts_ns != 0;
}
