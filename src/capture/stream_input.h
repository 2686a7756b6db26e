/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of a stream come from, and lines as items.  For stream.c only. */
#ifndef KVIO_STREAM_INPUT_H
#define KVIO_STREAM_INPUT_H

#include "capture/stream.h"
#include "lib/zio.h"

/* A file, one that grows, or a function. */
struct input {
	struct zin *zin;
	int fd; /* of a file that grows, else -1 */
	kvt_read_fn read;
	void *arg;
	const struct stream_options *o;
	bool stopped; /* o->wait ended it */
	u8 head[16];  /* first bytes, not yet delivered */
	size_t head_at, head_n;
};

int input_open(struct input *in, const char *path, const struct stream_options *o);
/* The first bytes without taking them: at least n (at most 16) unless the input is shorter.  -errno. */
ssize_t input_peek(struct input *in, size_t n, const u8 **p);
/* A kvt_read_fn over a struct input. */
ssize_t input_read(void *in, void *buf, size_t n);
void input_close(struct input *in);

/* The kind and times of a line that has been read as `rec`. */
void item_of_line(struct item *it, struct slice line, const struct jsonl_rec *rec);
/* The same of a record. */
void item_of_record(struct item *it, const union event *e, size_t size);

#endif
