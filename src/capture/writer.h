/* SPDX-License-Identifier: Apache-2.0 */
/* A capture file being written, of whichever format its name asks for. */
#ifndef KVIO_WRITER_H
#define KVIO_WRITER_H

#include <jansson.h>

#include "capture/event.h"
#include "capture/names.h"

enum cap_format {
	CAP_UNKNOWN,
	CAP_KVT,
	CAP_JSONL,
	/* Never by a name, only when asked for: what older tools read. */
	CAP_OLDER_URING, /* intent and completion lines of io_uring requests, no others */
};

struct cap_writer;

/* What an older tool writes, in place of a capture; each gets `arg`. */
struct cap_document {
	void (*head)(void *arg, struct buf *b);
	/* Any record as of event.h.  0 or -errno. */
	int (*event)(void *arg, struct buf *b, const void *record, struct names *names);
	/* The account is that of the footer of a capture. */
	void (*end)(void *arg, struct buf *b, const json_t *footer);
	void *arg;
};

/* By suffix: .kvt; .jsonl, .json or .ndjson, also with .gz or .zst behind; "-" is JSONL. */
enum cap_format cap_format_of(const char *path);

/* Creates or cuts the file, mode 0600: its fd, or -errno. */
int cap_create_file(const char *path);

/*
 * Creates the file (mode 0600; "-" is stdout) and writes its head from `meta`
 * (borrowed).  0 or -errno; then nothing was created or what was there is cut.
 */
int cap_create(struct cap_writer **out, const char *path, enum cap_format format, const json_t *meta);
/* The same of the document of an older tool, which is borrowed until the end. */
int cap_create_document(struct cap_writer **out, const char *path, const struct cap_document *d);
/* One record as of event.h.  The first error is kept and returned ever after. */
int cap_write(struct cap_writer *w, const void *record, size_t size, struct names *names);
/* Hands all that is buffered to the kernel: what is lost by a kill is what came since. */
int cap_flush(struct cap_writer *w);
/*
 * Counts the records that are in the file, from now on until it is closed: in
 * whole blocks, or in text that was flushed.  After an error that is what can
 * be read again, in text at least.
 */
void cap_count(struct cap_writer *w, u64 *in_file);
/* The producer is ahead: spend no time on compression. */
void cap_set_busy(struct cap_writer *w, bool busy);
/*
 * Writes the footer, syncs, closes and frees.  footer NULL leaves the file
 * without one, which readers show as incomplete.  0 or -errno.
 */
int cap_close(struct cap_writer *w, const json_t *footer);

#endif
