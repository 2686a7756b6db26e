/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte streams over files, plain or compressed.  Reading tells gzip and zstd
 * by their first bytes; writing goes by the name or by an explicit codec.
 */
#ifndef KVIO_ZIO_H
#define KVIO_ZIO_H

#include <sys/types.h>

#include "lib/types.h"

enum zio_codec {
	ZIO_BY_NAME, /* ".gz" gzip, ".zst" zstd, else plain; writing only */
	ZIO_PLAIN,
	ZIO_GZIP,
	ZIO_ZSTD,
};

/* ---- reading ---- */

struct zin;

/*
 * Opens a file, "-" for stdin.  Reads its first bytes to know the codec.
 * Returns 0 or -errno.
 */
int zin_open(struct zin **out, const char *path);
/*
 * Reads up to n bytes: more than 0 bytes read (any number up to n), 0 end of
 * input, -errno.  Data that is cut or damaged in its compression is no error:
 * all bytes before the place are delivered, then the end, see zin_defect().
 */
ssize_t zin_read(struct zin *z, void *buf, size_t n);
/*
 * The next bytes without taking them: at least `want` (at most 64) unless the
 * input is shorter.  Returns how many are at *p, or -errno.
 */
ssize_t zin_peek(struct zin *z, size_t want, const u8 **p);
enum zio_codec zin_codec(const struct zin *z);
/* Bytes of the file as it is now, packed ones when it is packed; 0 when it is no regular file. */
u64 zin_size(const struct zin *z);
/* After the end: why the compressed data is not whole, or NULL. */
const char *zin_defect(const struct zin *z);
void zin_close(struct zin *z);

/* ---- writing ---- */

struct zout;

/*
 * Opens for writing; "-" is stdout.  A regular file is written under a
 * temporary name beside it (mode 0600) and takes its name at zout_close(), so
 * a failed run leaves the old file or none.  Devices, FIFOs, and what lies in
 * /dev or /proc are opened directly.  Returns 0 or -errno.
 */
int zout_open(struct zout **out, const char *path, enum zio_codec codec);
/*
 * For a file that is read while it grows, or left as it is by a kill: takes
 * over an open fd (closed by zout_close() or on failure, but for stdout).
 * The codec goes by `name`.  Returns 0 or -errno.
 */
int zout_open_live(struct zout **out, int fd, const char *name);
/* Hands to the kernel all that was written, decodable up to here. */
int zout_flush(struct zout *z);
/*
 * Before the first byte: what comes is short records with random numbers
 * between equal bytes, where only long matches pay (gzip only).
 */
void zout_records(struct zout *z);
/* The first error is kept: later calls return it and do nothing. */
int zout_write(struct zout *z, const void *data, size_t n);
/*
 * Writes out, closes, gives the file its name, frees.  0 or the first error;
 * then there is no file.  A live file is synced, and stays in any case.
 */
int zout_close(struct zout *z);
/* Drops the file instead; of a live one, what is not written yet.  NULL is allowed. */
void zout_abort(struct zout *z);

#endif
