/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One capture of any format as a sequence of items in the order of the file:
 * .kvt, JSON Lines of any tracer or application, CSV as csv.h writes it; plain,
 * gzip or zstd.  What it is is seen from its content.
 */
#ifndef KVIO_STREAM_H
#define KVIO_STREAM_H

#include "capture/fold.h"
#include "capture/item.h"
#include "capture/kvt.h"

enum stream_format { STREAM_JSONL, STREAM_KVT, STREAM_CSV };

struct stream_options {
	enum fold_mode fold;
	struct strpool *disks; /* shared by all streams of one output, see fold.h */
	/*
	 * Not NULL: the file is read while it grows (plain files only).  Called
	 * when all that is there has been read: 0 to look again, else to end here.
	 */
	int (*wait)(void *arg);
	void *arg;
	/* Asked now and then: true ends the reading with -EINTR.  May be NULL. */
	bool (*stopped)(void);
};

/* What was found while reading. */
struct stream_info {
	enum stream_format format;
	u64 lines;	    /* of text, the number of the last one */
	u64 records;	    /* of a .kvt */
	u64 malformed;	    /* whole lines that are no JSON objects: they are left out */
	u64 odd;	    /* lines that are, but of a kind of ours with a member wrong or missing: they stay */
	u64 first_bad_line; /* of both, 0 = none */
	int first_error;    /* what is wrong with it, -errno of jsonl_read() */
	u64 skipped_blocks; /* of a .kvt, of types that are not known */
	u64 unknown;	    /* items of kinds that are not ours */
	u64 spare_columns;  /* of a CSV, which are ignored */
	bool tail_cut;	    /* the last line has no end, and is left out */
	bool bom, crlf;
	bool sound;	    /* at least one line or block was sound */
	bool stopped;	    /* `wait` ended it */
	const char *defect; /* why the file is not whole, or NULL */
};

struct stream;

/*
 * 0, -errno, -EBADMSG (it is none of these formats), -EPROTONOSUPPORT (a .kvt of
 * a newer version), -EOPNOTSUPP (compressed data that is to be followed).
 */
int stream_open(struct stream **out, const char *path, const struct stream_options *o);
/* The same over any source of bytes, which are not compressed. */
int stream_open_bytes(struct stream **out, kvt_read_fn read, void *arg, const struct stream_options *o);
/* The next item: 1, 0 at the end, -errno; -EBADMSG also when no line of a text is sound. */
int stream_next(struct stream *s, struct item *it);
/* Valid at any time, final after the end. */
const struct stream_info *stream_info(const struct stream *s);
struct names *stream_names(struct stream *s);
void stream_close(struct stream *s);

#endif
