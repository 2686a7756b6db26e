/* SPDX-License-Identifier: Apache-2.0 */
/* Who and what the numbers in events are, gathered from EV_TASK, EV_DISK and EV_PATH. */
#ifndef KVIO_NAMES_H
#define KVIO_NAMES_H

#include "capture/event.h"
#include "lib/buf.h"
#include "lib/hash.h"

/* A name as a JSON string, escaped once for all events that carry it. */
struct json_name {
	u8 n;
	char text[2 + 6 * 32];
};

struct names {
	struct map64 task_at, disk_at; /* tid, dev -> index */
	struct known_task {
		struct ev_task ev;
		struct json_name comm;
		u32 older;	  /* index + 1 of the name that the thread had before, 0 = none */
		u64 last_used_ns; /* for the user of the table */
	} * task;
	struct known_disk {
		struct ev_disk ev;
		struct json_name name;
		u32 rdev;	     /* of the char device, 0 unknown */
		u32 typed_lba_bytes; /* the size from which an older tracer computed `bytes`; 0 = none */
		bool lba_is_settled; /* for the user of the table */
		bool multipath;	     /* a hidden path */
	} * disk;
	/* A file by its numbers. */
	struct known_file {
		u32 dev;
		u64 ino, ts_ns;
		struct buf path; /* what is known of it by now */
		bool as_given;	 /* may be relative: the file was gone when it was looked at */
		bool whole;	 /* no piece is missing */
		u32 older;	 /* index + 1 of the path before, 0 = none */
	} * file;
	struct map64 file_at;
	u32 n_files, last_file;
	u32 n_tasks, n_disks;
	u32 last_task, last_disk; /* where the last search ended */
	/* Asked when a task is not known: fills *e or returns false.  May be NULL. */
	bool (*find_task)(void *arg, u32 tid, struct ev_task *e);
	/* Asked to add to a new disk what the stream does not carry.  May be NULL. */
	void (*complete_disk)(void *arg, struct known_disk *d);
	void *arg;
};

/*
 * Takes an EV_TASK, EV_DISK or EV_PATH.  Of a disk the latest word counts, a
 * thread and a file have each of their names from the time of the record on.
 * 0 or -ENOMEM.
 */
int names_learn(struct names *n, const void *record);
/* NULL when unknown; valid until the next names_learn() or names_disk_make(). */
const struct known_task *names_task(struct names *n, u32 tid);
const struct known_disk *names_disk(struct names *n, u32 dev);
/* What a file was called then; before its first path, that.  NULL when it is not known. */
const struct known_file *names_file_at(struct names *n, u32 dev, u64 ino, u64 ts_ns);
/* The name that the thread had at that time; before its first one, that. */
const struct known_task *names_task_at(struct names *n, u32 tid, u64 ts_ns);
/* The disk of that number; a new one has no name, and its ev no kind.  NULL = no memory. */
struct known_disk *names_disk_make(struct names *n, u32 dev);
/*
 * A path as the records that tell it: each piece goes to fn, whose non-zero
 * result ends it and is returned.  Of `head` the numbers, time and flags count.
 */
int path_pieces(const struct ev_path *head, const char *path, size_t n,
		int (*fn)(void *arg, const struct ev_path *piece), void *arg);
/* The same of a known file. */
int names_path_pieces(const struct known_file *f, int (*fn)(void *arg, const struct ev_path *piece), void *arg);
void names_free(struct names *n);

#endif
