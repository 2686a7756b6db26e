/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the older mmap_readamp, made while a recording of page faults
 * and of system calls runs: faults by program and file, what came into the
 * page cache, what was asked for by calls, direct IO, readahead, footprint,
 * block devices.  Memory grows with the number of files, not of events.
 */
#ifndef KVIO_MMAP_TABLES_H
#define KVIO_MMAP_TABLES_H

#include "capture/writer.h"

struct mmap_tables;

struct mmap_tables_options {
	u64 page_bytes;
	u64 useful_bytes; /* 0 = not known */
	bool json;
};

/* NULL = no memory. */
struct mmap_tables *mmap_tables_new(const struct mmap_tables_options *o);
void mmap_tables_free(struct mmap_tables *t);
/* For cap_create_document(); the names that go with its records stay until cap_close(). */
struct cap_document mmap_tables_document(struct mmap_tables *t);

#endif
