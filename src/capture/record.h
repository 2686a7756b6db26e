/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of any record of event.h. */
#ifndef KVIO_RECORD_H
#define KVIO_RECORD_H

#include "capture/event.h"
#include "capture/names.h"
#include "lib/ndjson.h"

union event {
	u8 kind;
	struct ev_nvme nvme;
	struct ev_nvme_kv kv;
	struct ev_cq_overflow overflow;
	struct ev_task task;
	struct ev_disk disk;
	struct ev_clock clock;
	struct ev_loss loss;
	struct ev_syscall syscall;
	struct ev_path path;
	struct ev_uring uring;
	struct ev_fault fault;
	struct ev_cache cache;
	struct ev_block block;
	struct ev_extent extent;
	struct ev_range range;
};

/* The word for a kind in documents, NULL of one that is not known. */
static inline const char *event_kind_name(u8 kind)
{
	static const char *const names[EV_KINDS] = {
		[EV_NVME] = "nvme",   [EV_NVME_KV] = "nvme_kv", [EV_CQ_OVERFLOW] = "cq_overflow",
		[EV_TASK] = "task",   [EV_DISK] = "disk",	[EV_CLOCK] = "clock",
		[EV_LOSS] = "loss",   [EV_SYSCALL] = "syscall", [EV_PATH] = "path",
		[EV_URING] = "uring", [EV_FAULT] = "fault",	[EV_CACHE] = "cache",
		[EV_BLOCK] = "block", [EV_EXTENT] = "extent",	[EV_RANGE] = "dsm_range",
	};

	return kind < EV_KINDS ? names[kind] : NULL;
}

/* The same for a tracer. */
static inline const char *event_witness_name(u8 witness)
{
	static const char *const names[EV_WITNESSES] = { "nvme", "syscall", "iouring", "mmap" };

	return witness < EV_WITNESSES ? names[witness] : NULL;
}

/* The tracer of that name; the first when there is none. */
static inline u8 event_witness(struct slice name)
{
	u8 w;

	for (w = 0; w < EV_WITNESSES; w++)
		if (slice_is(name, event_witness_name(w)))
			return w;
	return 0;
}

/* Size of the struct of a kind, 0 of one that is not known. */
static inline size_t event_bytes(u8 kind)
{
	static const u8 bytes[EV_KINDS] = {
		[EV_NVME] = sizeof(struct ev_nvme),   [EV_NVME_KV] = sizeof(struct ev_nvme_kv),
		[EV_TASK] = sizeof(struct ev_task),   [EV_CQ_OVERFLOW] = sizeof(struct ev_cq_overflow),
		[EV_DISK] = sizeof(struct ev_disk),   [EV_CLOCK] = sizeof(struct ev_clock),
		[EV_LOSS] = sizeof(struct ev_loss),   [EV_SYSCALL] = sizeof(struct ev_syscall),
		[EV_PATH] = sizeof(struct ev_path),   [EV_URING] = sizeof(struct ev_uring),
		[EV_FAULT] = sizeof(struct ev_fault), [EV_CACHE] = sizeof(struct ev_cache),
		[EV_BLOCK] = sizeof(struct ev_block), [EV_EXTENT] = sizeof(struct ev_extent),
		[EV_RANGE] = sizeof(struct ev_range),
	};

	return kind < EV_KINDS ? bytes[kind] : 0;
}

/* The time of a record; 0 of a disk, which has none.  At least 16 bytes are read. */
static inline u64 event_time(const void *record)
{
	const union event *e = record;

	switch (e->kind) {
	case EV_TASK:
		return e->task.ts_ns;
	case EV_DISK:
		return 0;
	default:
		return e->nvme.ts_ns; /* the same place in all others */
	}
}
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_cq_overflow, ts_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_clock, monotonic_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_loss, ts_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_syscall, ts_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_uring, ts_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_path, ts_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_block, ts_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_cache, ts_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_fault, ts_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_extent, ts_ns), "event_time");
_Static_assert(offsetof(struct ev_nvme, ts_ns) == offsetof(struct ev_range, ts_ns), "event_time");

static inline bool event_is_command(const void *record)
{
	u8 kind = *(const u8 *)record;

	return kind == EV_NVME || kind == EV_NVME_KV;
}

/*
 * Whether a command whose line says "multipath" has NVME_MULTIPATH: a hidden
 * path says so of all its commands, the entry probe sees it for each.
 */
static inline bool event_multipath(bool said, bool entry, const struct known_disk *d)
{
	return said && (entry || !(d && d->multipath));
}

/*
 * A device that only the older passthrough tracer told of: it goes by the
 * number of its char device, and all its commands are told with an extent.
 */
static inline bool event_disk_is_older(const struct known_disk *d)
{
	return d && d->typed_lba_bytes && d->rdev == d->ev.dev;
}

#endif
