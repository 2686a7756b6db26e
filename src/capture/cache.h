/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording has of the use of files by mapping and page cache. */
#ifndef KVIO_CAPTURE_CACHE_H
#define KVIO_CAPTURE_CACHE_H

#include "capture/event.h"

/* Adds the counts of one file to those of several; what they are of stays as it is. */
static inline void cache_add(struct ev_cache *sum, const struct ev_cache *c)
{
	sum->flags |= c->flags;
	sum->faults += c->faults;
	sum->minor += c->minor;
	sum->major += c->major;
	sum->failed += c->failed;
	sum->retries += c->retries;
	sum->touched_pages += c->touched_pages;
	sum->mapped_pages += c->mapped_pages;
	sum->fills += c->fills;
	sum->fill_pages += c->fill_pages;
	sum->written_fills += c->written_fills;
	sum->written_pages += c->written_pages;
	sum->ra_calls += c->ra_calls;
	sum->ra_pages += c->ra_pages;
	sum->direct_reads += c->direct_reads;
	sum->direct_read_bytes += c->direct_read_bytes;
	sum->direct_writes += c->direct_writes;
	sum->direct_write_bytes += c->direct_write_bytes;
	sum->lat_ns += c->lat_ns;
}

/* Pages of the page cache that came in to be read: writes made the others. */
static inline u64 cache_came_pages(const struct ev_cache *c)
{
	return c->fill_pages - MIN(c->written_pages, c->fill_pages);
}

#endif
