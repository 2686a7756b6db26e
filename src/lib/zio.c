// SPDX-License-Identifier: Apache-2.0
#include "lib/zio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "lib/str.h"

#define BUF_BYTES (256u << 10)
#define PEEK_MAX  64u
#define HEAD	  4096u /* read to tell what a file is: it may be asked for no more */

/* ---- reading ---- */

struct zin {
	int fd;
	enum zio_codec codec;
	bool eof;    /* the file has no more bytes */
	bool ended;  /* nothing more is delivered */
	bool inside; /* within a gzip member or zstd frame */
	const char *defect;
	z_stream gz;
	ZSTD_DStream *zst;
	size_t at, n; /* unread bytes of raw */
	size_t peek_at, peek_n;
	u8 peek[PEEK_MAX]; /* delivered before anything else */
	u8 raw[BUF_BYTES];
};

/* Reads more of the file behind the unread bytes of raw, up to `most` in all. */
static int refill(struct zin *z, size_t most)
{
	ssize_t got;

	if (z->at) {
		memmove(z->raw, z->raw + z->at, z->n);
		z->at = 0;
	}
	do
		got = read(z->fd, z->raw + z->n, most - z->n);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	z->eof = !got;
	z->n += (size_t)got;
	return 0;
}

static int need(struct zin *z, size_t want, size_t most)
{
	int ret = 0;

	while (!ret && !z->eof && z->n < want)
		ret = refill(z, most);
	return ret;
}

static bool is_gzip(const struct zin *z)
{
	const u8 *p = z->raw + z->at;

	return z->n >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

static bool is_zstd(const struct zin *z)
{
	const u8 *p = z->raw + z->at;

	/* A frame, or a skippable frame as parallel compressors put first. */
	return z->n >= 4 &&
	       (!memcmp(p, "\x28\xb5\x2f\xfd", 4) || ((p[0] & 0xf0) == 0x50 && !memcmp(p + 1, "\x2a\x4d\x18", 3)));
}

static int start_codec(struct zin *z)
{
	int ret = need(z, 4, HEAD);

	if (ret)
		return ret;
	if (is_gzip(z)) {
		z->codec = ZIO_GZIP;
		return inflateInit2(&z->gz, 15 + 16) == Z_OK ? 0 : -ENOMEM;
	}
	if (is_zstd(z)) {
		z->codec = ZIO_ZSTD;
		z->zst = ZSTD_createDStream();
		return z->zst ? 0 : -ENOMEM;
	}
	z->codec = ZIO_PLAIN;
	return 0;
}

int zin_open(struct zin **out, const char *path)
{
	struct zin *z = malloc(sizeof(*z));
	int ret;

	if (!z)
		return -ENOMEM;
	memset(z, 0, offsetof(struct zin, raw));
	z->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	ret = z->fd < 0 ? -errno : start_codec(z);
	if (ret)
		zin_close(z);
	else
		*out = z;
	return ret;
}

/* Ends the stream here.  Always 0. */
static ssize_t end_here(struct zin *z, const char *why)
{
	z->defect = why;
	z->ended = true;
	return 0;
}

static ssize_t read_plain(struct zin *z, void *buf, size_t n)
{
	ssize_t got;

	if (z->n) {
		got = (ssize_t)MIN(n, z->n);
		memcpy(buf, z->raw + z->at, (size_t)got);
		z->at += (size_t)got;
		z->n -= (size_t)got;
		return got;
	}
	do
		got = read(z->fd, buf, n);
	while (got < 0 && errno == EINTR);
	z->ended = !got;
	return got < 0 ? -errno : got;
}

/* Between two members: 1 when another one begins, else the input ends here. */
static int next_member(struct zin *z)
{
	int ret = need(z, 2, sizeof(z->raw));

	if (ret)
		return ret;
	if (!z->n)
		return (int)end_here(z, NULL);
	if (!is_gzip(z))
		return (int)end_here(z, "bytes behind the compressed data");
	return inflateReset(&z->gz) == Z_OK ? 1 : -ENOMEM;
}

static ssize_t read_gzip(struct zin *z, void *buf, size_t n)
{
	int ret;

	z->gz.next_out = buf;
	z->gz.avail_out = (uInt)MIN(n, (size_t)UINT32_MAX);
	n = z->gz.avail_out;
	do {
		if (!z->inside) {
			ret = next_member(z);
			if (ret <= 0)
				return ret;
			z->inside = true;
		}
		ret = need(z, 1, sizeof(z->raw));
		if (ret)
			return ret;
		if (!z->n)
			return end_here(z, "compressed data ends early");
		z->gz.next_in = z->raw + z->at;
		z->gz.avail_in = (uInt)z->n;
		ret = inflate(&z->gz, Z_NO_FLUSH);
		z->at += z->n - z->gz.avail_in;
		z->n = z->gz.avail_in;
		z->inside = ret != Z_STREAM_END;
		if (ret == Z_MEM_ERROR)
			return -ENOMEM;
		if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR) {
			end_here(z, "compressed data is damaged");
			break;
		}
	} while (z->gz.avail_out == n);
	return (ssize_t)(n - z->gz.avail_out);
}

static ssize_t read_zstd(struct zin *z, void *buf, size_t n)
{
	ZSTD_outBuffer o = { buf, n, 0 };
	size_t left;
	int ret;

	do {
		ZSTD_inBuffer i;

		ret = z->n ? 0 : need(z, 1, sizeof(z->raw));
		if (ret)
			return ret;
		if (!z->n && !z->inside)
			return end_here(z, NULL);
		i = (ZSTD_inBuffer){ z->raw + z->at, z->n, 0 };
		left = ZSTD_decompressStream(z->zst, &o, &i);
		if (ZSTD_isError(left)) {
			/* Between two frames that is no frame at all. */
			end_here(z, z->inside ? "compressed data is damaged" : "bytes behind the compressed data");
			break;
		}
		/* With no input left, only what the decoder still holds can come out. */
		if (!z->n && !o.pos)
			return end_here(z, "compressed data ends early");
		z->inside = left != 0;
		z->at += i.pos;
		z->n -= i.pos;
	} while (!o.pos);
	return (ssize_t)o.pos;
}

static ssize_t decode(struct zin *z, void *buf, size_t n)
{
	if (z->ended || !n)
		return 0;
	switch (z->codec) {
	case ZIO_GZIP:
		return read_gzip(z, buf, n);
	case ZIO_ZSTD:
		return read_zstd(z, buf, n);
	default:
		return read_plain(z, buf, n);
	}
}

ssize_t zin_read(struct zin *z, void *buf, size_t n)
{
	if (!z->peek_n)
		return decode(z, buf, n);
	n = MIN(n, z->peek_n);
	memcpy(buf, z->peek + z->peek_at, n);
	z->peek_at += n;
	z->peek_n -= n;
	return (ssize_t)n;
}

ssize_t zin_peek(struct zin *z, size_t want, const u8 **p)
{
	ssize_t got = 1;

	memmove(z->peek, z->peek + z->peek_at, z->peek_n);
	z->peek_at = 0;
	want = MIN(want, sizeof(z->peek));
	while (z->peek_n < want && got > 0) {
		got = decode(z, z->peek + z->peek_n, want - z->peek_n);
		if (got < 0)
			return got;
		z->peek_n += (size_t)got;
	}
	*p = z->peek;
	return (ssize_t)z->peek_n;
}

u64 zin_size(const struct zin *z)
{
	struct stat st;

	return !fstat(z->fd, &st) && S_ISREG(st.st_mode) ? (u64)st.st_size : 0;
}

enum zio_codec zin_codec(const struct zin *z)
{
	return z->codec;
}

const char *zin_defect(const struct zin *z)
{
	return z->defect;
}

void zin_close(struct zin *z)
{
	if (!z)
		return;
	if (z->codec == ZIO_GZIP)
		inflateEnd(&z->gz);
	ZSTD_freeDStream(z->zst);
	if (z->fd > STDIN_FILENO)
		close(z->fd);
	free(z);
}

/* ---- writing ---- */

struct zout {
	int fd;
	int err; /* the first error, negative */
	enum zio_codec codec;
	bool live;  /* grows under its own name */
	char *path; /* the name it takes, NULL when written directly */
	char *tmp;
	z_stream gz;
	ZSTD_CStream *zst;
	size_t n; /* bytes in buf to be written */
	u8 buf[BUF_BYTES];
};

static int write_all(int fd, const u8 *p, size_t n)
{
	while (n) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		p += put;
		n -= (size_t)put;
	}
	return 0;
}

static int flush_buf(struct zout *z)
{
	if (!z->err)
		z->err = write_all(z->fd, z->buf, z->n);
	z->n = 0;
	return z->err;
}

static enum zio_codec codec_of(const char *path, enum zio_codec codec)
{
	if (codec != ZIO_BY_NAME)
		return codec;
	if (str_ends(path, ".gz"))
		return ZIO_GZIP;
	return str_ends(path, ".zst") ? ZIO_ZSTD : ZIO_PLAIN;
}

/* Opens a temporary file beside `path`, which is kept for the rename. */
static int open_beside(struct zout *z, const char *path)
{
	z->path = strdup(path);
	if (!z->path || asprintf(&z->tmp, "%s.XXXXXX", path) < 0) {
		z->tmp = NULL;
		return -ENOMEM;
	}
	z->fd = mkostemp(z->tmp, O_CLOEXEC);
	if (z->fd >= 0)
		return 0;
	free(z->tmp);
	z->tmp = NULL;
	return -errno;
}

static int open_file(struct zout *z, const char *path)
{
	char *real;
	struct stat st;
	bool direct;
	int ret;

	if (!strcmp(path, "-")) {
		z->fd = STDOUT_FILENO;
		return 0;
	}
	/* Behind a link, so that the link stays and its target is replaced. */
	real = realpath(path, NULL);
	if (!real && errno != ENOENT)
		return -errno;
	direct = (str_starts(path, "/dev/") && !str_starts(path, "/dev/shm/")) || str_starts(path, "/proc/") ||
		 (real && !stat(real, &st) && !S_ISREG(st.st_mode));
	if (direct)
		ret = (z->fd = open(path, O_WRONLY | O_CLOEXEC)) < 0 ? -errno : 0;
	else if (real && access(real, W_OK))
		ret = -errno;
	else
		ret = open_beside(z, real ? real : path);
	free(real);
	return ret;
}

static int start_encoder(struct zout *z)
{
	switch (z->codec) {
	case ZIO_GZIP:
		return deflateInit2(&z->gz, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK
			       ? 0
			       : -ENOMEM;
	case ZIO_ZSTD:
		z->zst = ZSTD_createCStream();
		return z->zst ? 0 : -ENOMEM;
	default:
		return 0;
	}
}

static struct zout *zout_new(int fd)
{
	struct zout *z = malloc(sizeof(*z));

	if (z) {
		memset(z, 0, offsetof(struct zout, buf));
		z->fd = fd;
		z->codec = ZIO_PLAIN;
	}
	return z;
}

/* With `ret` of the opening: starts the encoder, or drops all. */
static int zout_start(struct zout *z, const char *path, enum zio_codec codec, int ret, struct zout **out)
{
	if (!ret) {
		z->codec = codec_of(path, codec);
		ret = start_encoder(z);
	}
	if (ret)
		zout_abort(z);
	else
		*out = z;
	return ret;
}

int zout_open(struct zout **out, const char *path, enum zio_codec codec)
{
	struct zout *z = zout_new(-1);

	return z ? zout_start(z, path, codec, open_file(z, path), out) : -ENOMEM;
}

int zout_open_live(struct zout **out, int fd, const char *name)
{
	struct zout *z = zout_new(fd);

	if (!z) {
		if (fd > STDOUT_FILENO)
			close(fd);
		return -ENOMEM;
	}
	z->live = true;
	return zout_start(z, name, ZIO_BY_NAME, 0, out);
}

void zout_records(struct zout *z)
{
	if (z->codec == ZIO_GZIP)
		deflateParams(&z->gz, Z_DEFAULT_COMPRESSION, Z_FILTERED);
}

static int write_plain(struct zout *z, const u8 *p, size_t n)
{
	if (n > sizeof(z->buf) - z->n && !flush_buf(z) && n >= sizeof(z->buf))
		return z->err = write_all(z->fd, p, n);
	if (z->err)
		return z->err;
	memcpy(z->buf + z->n, p, n);
	z->n += n;
	return 0;
}

/* Compressed bytes gather in buf, which is written when it is full. */
static int write_gzip(struct zout *z, const u8 *p, size_t n, int mode)
{
	int ret = Z_OK;

	do {
		z->gz.next_in = (Bytef *)p;
		z->gz.avail_in = (uInt)MIN(n, (size_t)1 << 30);
		p += z->gz.avail_in;
		n -= z->gz.avail_in;
		do {
			if (z->n == sizeof(z->buf) && flush_buf(z))
				return z->err;
			z->gz.next_out = z->buf + z->n;
			z->gz.avail_out = (uInt)(sizeof(z->buf) - z->n);
			ret = deflate(&z->gz, n ? Z_NO_FLUSH : mode);
			z->n = sizeof(z->buf) - z->gz.avail_out;
		} while (!z->gz.avail_out);
	} while (n);
	if (ret == Z_STREAM_ERROR || (mode == Z_FINISH && ret != Z_STREAM_END))
		z->err = -EIO;
	return z->err;
}

static int write_zstd(struct zout *z, const void *p, size_t n, ZSTD_EndDirective mode)
{
	ZSTD_inBuffer i = { p, n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer o = { z->buf, sizeof(z->buf), z->n };

		if (o.pos == o.size && flush_buf(z))
			return z->err;
		o.pos = z->n;
		left = ZSTD_compressStream2(z->zst, &o, &i, mode);
		if (ZSTD_isError(left))
			return z->err = -EIO;
		z->n = o.pos;
	} while (i.pos < n || (mode != ZSTD_e_continue && left));
	return 0;
}

int zout_write(struct zout *z, const void *data, size_t n)
{
	if (z->err || !n)
		return z->err;
	switch (z->codec) {
	case ZIO_GZIP:
		return write_gzip(z, data, n, Z_NO_FLUSH);
	case ZIO_ZSTD:
		return write_zstd(z, data, n, ZSTD_e_continue);
	default:
		return write_plain(z, data, n);
	}
}

/* Brings what the encoder holds into the file. */
static int push_out(struct zout *z, int gzip_mode, ZSTD_EndDirective zstd_mode)
{
	if (!z->err && z->codec == ZIO_GZIP)
		write_gzip(z, z->buf, 0, gzip_mode);
	else if (!z->err && z->codec == ZIO_ZSTD)
		write_zstd(z, z->buf, 0, zstd_mode);
	return flush_buf(z);
}

int zout_flush(struct zout *z)
{
	return push_out(z, Z_SYNC_FLUSH, ZSTD_e_flush);
}

/* Pipes and devices cannot be synced, which is no error. */
static void sync_live(struct zout *z)
{
	if (!z->err && z->live && fsync(z->fd) && errno != EINVAL && errno != ENOTSUP)
		z->err = -errno;
}

int zout_close(struct zout *z)
{
	int ret;

	push_out(z, Z_FINISH, ZSTD_e_end);
	sync_live(z);
	if (z->fd > STDOUT_FILENO && close(z->fd) && !z->err)
		z->err = -errno;
	z->fd = -1;
	if (!z->err && z->tmp && rename(z->tmp, z->path))
		z->err = -errno;
	ret = z->err;
	if (!ret) {
		free(z->tmp);
		z->tmp = NULL;
	}
	zout_abort(z);
	return ret;
}

void zout_abort(struct zout *z)
{
	if (!z)
		return;
	if (z->fd > STDOUT_FILENO)
		close(z->fd);
	if (z->tmp)
		unlink(z->tmp);
	if (z->codec == ZIO_GZIP)
		deflateEnd(&z->gz);
	ZSTD_freeCStream(z->zst);
	free(z->tmp);
	free(z->path);
	free(z);
}
