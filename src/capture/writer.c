// SPDX-License-Identifier: Apache-2.0
#include "capture/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/jsonl_write.h"
#include "capture/kvt.h"
#include "capture/older_uring.h"
#include "capture/record.h"
#include "lib/buf.h"
#include "lib/str.h"
#include "lib/zio.h"

/* Text is handed on in pieces of this size. */
#define TEXT_BYTES (256u << 10)

struct cap_writer {
	struct kvt_writer *kvt; /* one of the two */
	struct zout *text;
	struct buf line;
	const struct cap_document *document; /* in place of a capture, else NULL */
	enum cap_format format;
	struct older_uring older;
	u64 records, *in_file; /* that came, and those that were flushed */
	int error;
};

enum cap_format cap_format_of(const char *path)
{
	static const char *const suffixes[] = { ".jsonl",     ".json",	    ".ndjson",	 ".jsonl.gz",  ".json.gz",
						".ndjson.gz", ".jsonl.zst", ".json.zst", ".ndjson.zst" };
	size_t i;

	if (!strcmp(path, "-"))
		return CAP_JSONL;
	if (str_ends(path, ".kvt"))
		return CAP_KVT;
	for (i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (str_ends(path, suffixes[i]))
			return CAP_JSONL;
	return CAP_UNKNOWN;
}

/* Captures are private, also when the file was there before with another mode. */
int cap_create_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_mode & 077) && fchmod(fd, 0600)) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

static int put_doc(struct cap_writer *w, const json_t *doc)
{
	char *text = json_dumps(doc, JSON_COMPACT);

	if (!text)
		return -ENOMEM;
	buf_str(&w->line, text);
	buf_byte(&w->line, '\n');
	free(text);
	return 0;
}

static int hand_on(struct cap_writer *w)
{
	if (!w->error)
		w->error = w->line.failed ? -ENOMEM : zout_write(w->text, w->line.p, w->line.n);
	buf_reset(&w->line);
	return w->error;
}

static int create(struct cap_writer **out, const char *path, enum cap_format format, const json_t *meta,
		  const struct cap_document *document)
{
	struct cap_writer *w = calloc(1, sizeof(*w));
	int fd, ret;

	if (!w)
		return -ENOMEM;
	w->format = format;
	w->document = document;
	fd = strcmp(path, "-") ? cap_create_file(path) : STDOUT_FILENO;
	ret = fd < 0 ? fd : 0;
	if (!ret && format == CAP_KVT)
		ret = kvt_writer_open(&w->kvt, fd, meta);
	else if (!ret)
		ret = zout_open_live(&w->text, fd, path);
	if (!ret && document)
		document->head(document->arg, &w->line);
	else if (!ret && w->text && format != CAP_OLDER_URING)
		ret = put_doc(w, meta);
	if (ret) {
		if (w->text)
			zout_abort(w->text);
		buf_free(&w->line);
		free(w);
		return ret;
	}
	*out = w;
	return 0;
}

int cap_create(struct cap_writer **out, const char *path, enum cap_format format, const json_t *meta)
{
	return create(out, path, format, meta, NULL);
}

int cap_create_document(struct cap_writer **out, const char *path, const struct cap_document *d)
{
	return create(out, path, CAP_JSONL, NULL, d);
}

static void put_text(struct cap_writer *w, const void *record, struct names *names)
{
	u8 kind = *(const u8 *)record;

	if (w->document) {
		if (!w->error)
			w->error = w->document->event(w->document->arg, &w->line, record, names);
	} else if (w->format == CAP_OLDER_URING) {
		if (kind == EV_URING && !w->error)
			w->error = older_uring_lines(&w->older, &w->line, record, names);
	} else {
		jsonl_event(&w->line, record, names);
	}
}

int cap_write(struct cap_writer *w, const void *record, size_t size, struct names *names)
{
	if (w->kvt)
		return kvt_write(w->kvt, record, size, event_time(record));
	put_text(w, record, names);
	w->records++;
	return w->line.n >= TEXT_BYTES ? hand_on(w) : w->error;
}

static void note_in_file(struct cap_writer *w)
{
	if (!w->error && w->in_file)
		*w->in_file = w->records;
}

int cap_flush(struct cap_writer *w)
{
	if (w->kvt)
		return kvt_flush(w->kvt);
	if (!hand_on(w))
		w->error = zout_flush(w->text);
	note_in_file(w);
	return w->error;
}

void cap_count(struct cap_writer *w, u64 *in_file)
{
	w->in_file = in_file;
	if (w->kvt)
		kvt_count(w->kvt, in_file);
}

void cap_set_busy(struct cap_writer *w, bool busy)
{
	if (w->kvt)
		kvt_set_busy(w->kvt, busy);
}

/* The account in the words of the older tracer, whose readers look for it last. */
static void put_drops(struct cap_writer *w, const json_t *footer)
{
	json_int_t dropped = json_integer_value(json_object_get(footer, "ring_full")) +
			     json_integer_value(json_object_get(footer, "map_full")) +
			     json_integer_value(json_object_get(footer, "hook_missed")) +
			     json_integer_value(json_object_get(footer, "unread"));

	buf_printf(&w->line, "{%s\"dropped\":%lld}\n", w->format == CAP_OLDER_URING ? "" : "\"event_type\":\"drops\",",
		   (long long)dropped);
}

/* 0 or -ENOMEM. */
static int put_footer(struct cap_writer *w, const json_t *footer)
{
	int ret = 0;

	if (w->document) {
		w->document->end(w->document->arg, &w->line, footer);
		return 0;
	}
	if (w->format != CAP_OLDER_URING)
		ret = put_doc(w, footer);
	if (!ret)
		put_drops(w, footer);
	return ret;
}

int cap_close(struct cap_writer *w, const json_t *footer)
{
	int ret, closed;

	if (w->kvt) {
		ret = kvt_writer_close(w->kvt, footer);
	} else {
		ret = w->error;
		if (!ret && footer)
			ret = put_footer(w, footer);
		if (!ret)
			ret = hand_on(w);
		closed = zout_close(w->text);
		w->error = ret ? ret : closed;
		note_in_file(w);
		ret = w->error;
	}
	older_uring_free(&w->older);
	buf_free(&w->line);
	free(w);
	return ret;
}
