/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON document of the older syscall_monitor: every call once, with its
 * sums by call and by process.  The calls stand in front, so that none has to
 * be kept until the sums are known.
 */
#ifndef KVIO_MONITOR_H
#define KVIO_MONITOR_H

#include "capture/writer.h"
#include "lib/buf.h"

struct monitor;

struct monitor_options {
	bool detailed;	   /* each call, not only the sums */
	u64 max_events;	   /* calls beyond are in the sums only, and counted */
	const char *label; /* of the workload, or NULL; borrowed */
};

/* NULL = no memory. */
struct monitor *monitor_new(const struct monitor_options *o);
void monitor_free(struct monitor *m);
/* For cap_create_document(); of the records it takes the system calls. */
struct cap_document monitor_document(struct monitor *m);
/* The sums as tables for people: the calls, and the first processes. */
void monitor_text(const struct monitor *m, struct buf *b);
/* Calls that are in the sums only. */
u64 monitor_left_out(const struct monitor *m);

#endif
