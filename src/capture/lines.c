// SPDX-License-Identifier: Apache-2.0
#include "capture/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/jsonl_read.h"

#define READ_BYTES (128u << 10)

void lines_init(struct lines *l, kvt_read_fn read, void *arg)
{
	*l = (struct lines){ .read = read, .arg = arg };
}

void lines_free(struct lines *l)
{
	free(l->buf);
	l->buf = NULL;
}

/* Reads behind what is there.  0 or -errno. */
static int fill(struct lines *l)
{
	ssize_t got;

	if (l->at)
		memmove(l->buf, l->buf + l->at, l->n - l->at);
	l->n -= l->at;
	l->at = 0;
	if (l->cap - l->n < READ_BYTES) {
		size_t cap = l->cap + MAX(l->cap, READ_BYTES);
		char *buf = realloc(l->buf, cap + JSONL_SLACK);

		if (!buf)
			return -ENOMEM;
		memset(buf + l->n, 0, cap + JSONL_SLACK - l->n);
		l->buf = buf;
		l->cap = cap;
	}
	got = l->read(l->arg, l->buf + l->n, READ_BYTES);
	if (got < 0)
		return (int)got;
	l->ended = !got;
	l->n += (size_t)got;
	return 0;
}

/* Forgets the unread bytes: a line that has no end within reason. */
static void drop(struct lines *l)
{
	l->at = l->n;
	if (l->skipping)
		return;
	l->skipping = true;
	l->number++;
	l->too_long++;
	if (!l->first_too_long)
		l->first_too_long = l->number;
}

/* Past the byte order mark, once its three bytes can be seen. */
static int start(struct lines *l)
{
	size_t bom;
	int ret = 0;

	while (!ret && !l->ended && l->n < 3)
		ret = fill(l);
	bom = ret ? 0 : ndjson_bom(l->buf, l->n);
	l->bom = bom;
	l->at = bom;
	l->started = !ret;
	return ret;
}

/* The line that ends at the newline nl. */
static bool take(struct lines *l, const char *nl, struct slice *line)
{
	*line = (struct slice){ l->buf + l->at, (size_t)(nl - l->buf) - l->at };
	l->at = (size_t)(nl - l->buf) + 1;
	if (l->skipping) {
		l->skipping = false;
		return false;
	}
	l->number++;
	return true;
}

/* What stands behind the last newline, if anything. */
static int rest(struct lines *l, struct slice *line)
{
	*line = (struct slice){ l->buf + l->at, l->n - l->at };
	l->at = l->n;
	if (!line->n || l->skipping)
		return 0;
	l->number++;
	l->tail = true;
	return 1;
}

struct slice lines_ahead(const struct lines *l)
{
	return l->started && !l->skipping ? (struct slice){ l->buf + l->at, l->n - l->at } : (struct slice){};
}

void lines_take(struct lines *l, size_t n)
{
	l->at += n;
	l->number++;
}

int lines_next(struct lines *l, struct slice *line)
{
	size_t seen = 0;
	int ret = l->started ? 0 : start(l);

	while (!ret) {
		size_t left = l->n - l->at - seen;
		const char *nl = left ? memchr(l->buf + l->at + seen, '\n', left) : NULL;

		if (nl) {
			seen = 0;
			if (take(l, nl, line))
				return 1;
			continue;
		}
		if (l->ended)
			return rest(l, line);
		seen += left;
		if (seen > LINES_MAX) {
			drop(l);
			seen = 0;
		}
		ret = fill(l);
	}
	return ret;
}
