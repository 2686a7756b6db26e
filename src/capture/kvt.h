/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The .kvt capture file.
 *
 *   file   = magic, version, block...
 *   block  = struct kvt_block, then `stored` bytes (records of one size, a JSON
 *            document, or text), CRC-32 over header and payload
 *   order  = one META document first; blocks of records and text; one FOOTER
 *            document last.  The records that name a task, a disk or a file stand in
 *            front of those that need them.
 *
 * A further META document adds devices to the first one's table.  One with
 * "synthetic" true was not in the capture that the file was made from: it
 * holds what other records of it imply.
 *
 * A file without its FOOTER was cut: all whole blocks before the cut are read
 * and the reader says that the capture is incomplete.  All numbers are
 * little-endian.  Readers skip block types they do not know, and accept every
 * older minor version.
 */
#ifndef KVIO_KVT_H
#define KVIO_KVT_H

#include <jansson.h>

#include "lib/types.h"

#define KVT_MAGIC   "\x89kvt\r\n\x1a\n"
#define KVT_VERSION 0x00010001u /* major << 16 | minor */

enum kvt_block_type {
	/* 1..127: records of that enum ev_kind */
	KVT_META = 128,	  /* JSON: host, kernel, probes, filters, device table */
	KVT_FOOTER = 129, /* JSON: counts per kind, the account of losses */
	/*
	 * Lines of a text capture that no record can hold without loss, as they
	 * stood, each with its newline: other kinds, unknown members, a command
	 * or completion whose other half is not there.
	 */
	KVT_TEXT = 130,
};

enum kvt_codec {
	KVT_RAW = 0,
	KVT_ZSTD = 1,
	KVT_PLANES = 2, /* since 1.1: records by planes (lib/planes.h), then zstd */
};

struct kvt_block {
	u32 magic; /* "KVTB" */
	u8 type;
	u8 codec;
	u16 record_bytes; /* size of one record, 0 in a document */
	u32 raw;	  /* payload bytes before compression */
	u32 stored;	  /* payload bytes in the file */
	u32 crc;	  /* CRC-32 of this header with crc = 0, then the stored payload */
	u32 pad;
	u64 first_ts_ns; /* smallest and largest time of its records, 0 in a document */
	u64 last_ts_ns;
};

/* ---- writing ---- */

struct kvt_writer;

/*
 * Opens a writer on fd (owned by the writer from here on) and writes the head
 * with `meta` (borrowed).  Returns 0 or -errno.
 */
int kvt_writer_open(struct kvt_writer **out, int fd, const json_t *meta);
/* Where the bytes of a file go: 0 or -errno. */
typedef int (*kvt_write_fn)(void *arg, const void *data, size_t n);
/* As above onto any sink, which the caller closes after kvt_writer_close(). */
int kvt_writer_open_on(struct kvt_writer **out, kvt_write_fn write, void *arg, const json_t *meta);
/*
 * Appends one record: its first byte is its kind and `size` the size of that
 * kind's struct.  ts_ns orders and cuts blocks.  A write error is kept and
 * returned by every later call.
 */
int kvt_write(struct kvt_writer *w, const void *record, size_t size, u64 ts_ns);
/* The same for a record of a newer version: of a kind (1..127) or size that event.h does not have. */
int kvt_write_foreign(struct kvt_writer *w, const void *record, size_t size, u64 ts_ns);
/* Appends a line (without its newline) to the text. */
int kvt_write_line(struct kvt_writer *w, const char *line, size_t n, u64 ts_ns);
/* A further META document, in front of all that is not flushed yet. */
int kvt_write_meta(struct kvt_writer *w, const json_t *doc);
/* Writes out all that is buffered (a block each kind).  Called on every tick. */
int kvt_flush(struct kvt_writer *w);
/* Adds the records of each block that is written to *in_file, until the writer is closed. */
void kvt_count(struct kvt_writer *w, u64 *in_file);
/* While set, blocks are stored uncompressed: the reader of the ring is behind. */
void kvt_set_busy(struct kvt_writer *w, bool busy);
/* Flushes, writes the footer document (NULL = leave the file without one), syncs, closes, frees. */
int kvt_writer_close(struct kvt_writer *w, const json_t *footer);

/* ---- reading ---- */

struct kvt_reader;

struct kvt_chunk {
	u8 type;	     /* enum ev_kind or enum kvt_block_type */
	u16 record_bytes;    /* as stored; may be larger than our struct in a newer minor */
	u32 n;		     /* records; bytes of text; 0 in a document */
	const void *records; /* valid until the next call, as are the other two; NULL but for records */
	const char *text;    /* NULL but for text */
	json_t *doc;	     /* borrowed; NULL but for documents */
	u64 first_ts_ns, last_ts_ns;
};

/* Feeds bytes to the reader: >0 bytes read, 0 end of input, -errno. */
typedef ssize_t (*kvt_read_fn)(void *arg, void *buf, size_t n);

/* Returns 0, -errno of the input, -EBADMSG (not a .kvt) or -EPROTONOSUPPORT (newer major). */
int kvt_reader_open(struct kvt_reader **out, kvt_read_fn read, void *arg);
/*
 * The next whole block: 1 and *c filled, 0 at the end, -errno on a read error.
 * A cut or damaged tail ends the file early with 0; see kvt_complete().
 */
int kvt_next(struct kvt_reader *r, struct kvt_chunk *c);
/* After the end: true when the footer was reached and nothing follows it. */
bool kvt_complete(const struct kvt_reader *r);
/* After the end: why it is not complete ("no footer", "cut block at byte N", ...), or NULL. */
const char *kvt_defect(const struct kvt_reader *r);
void kvt_reader_close(struct kvt_reader *r);

#endif
