// SPDX-License-Identifier: Apache-2.0
#include "capture/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/csv.h"
#include "capture/lines.h"
#include "capture/meta.h"
#include "capture/stream_input.h"

#define GIVE_UP 1000u /* lines without one that is sound: these are no JSON lines at all */

struct stream {
	struct input in;
	struct stream_options o;
	struct stream_info info;
	bool started, ended;
	bool last; /* of a file that grows: its end was read */
	struct names names;
	struct meta_paths *paths;
	struct fold *fold;
	json_t *doc; /* of the line at hand */
	/* Text */
	struct lines lines;
	struct slice first; /* the line that was read to know the format */
	struct jsonl_reader *reader;
	struct jsonl_rec rec;
	/* CSV: what a row gives beyond the line at hand */
	struct csv_reader *csv;
	struct slice completion;
	/* .kvt */
	struct kvt_reader *kvt;
	char *path;	  /* to look ahead in for names, once */
	struct buf ahead; /* names of that, whole union event each; given out up to ahead_at */
	size_t ahead_at;
	u64 n_names;	/* given out of the file as it goes */
	u64 skip_names; /* were given out before they came */
	struct kvt_chunk chunk;
	u32 at;		   /* record or byte of the chunk */
	union event event; /* the record at hand ... */
	struct buf large;  /* ... when it is not larger */
};

static int start(struct stream **out, struct stream *s, int ret)
{
	s->paths = meta_paths_new();
	s->reader = jsonl_reader_new();
	s->fold = fold_new(s->o.fold, &s->names, s->o.disks);
	if (!ret && (!s->paths || !s->reader || !s->fold))
		ret = -ENOMEM;
	s->names.complete_disk = meta_complete_disk;
	s->names.arg = s->paths;
	s->in.o = &s->o;
	if (ret)
		stream_close(s);
	else
		*out = s;
	return ret;
}

int stream_open(struct stream **out, const char *path, const struct stream_options *o)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->o = *o;
	s->path = strcmp(path, "-") ? strdup(path) : NULL;
	return start(out, s, input_open(&s->in, path, &s->o));
}

int stream_open_bytes(struct stream **out, kvt_read_fn read, void *arg, const struct stream_options *o)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->o = *o;
	s->in = (struct input){ .fd = -1, .read = read, .arg = arg };
	return start(out, s, 0);
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	if (s->kvt)
		kvt_reader_close(s->kvt);
	csv_free(s->csv);
	lines_free(&s->lines);
	fold_free(s->fold);
	jsonl_reader_free(s->reader);
	meta_paths_free(s->paths);
	names_free(&s->names);
	json_decref(s->doc);
	buf_free(&s->large);
	buf_free(&s->ahead);
	free(s->path);
	input_close(&s->in);
	free(s);
}

const struct stream_info *stream_info(const struct stream *s)
{
	return &s->info;
}

struct names *stream_names(struct stream *s)
{
	return &s->names;
}

/* ---- which format ---- */

static int open_text(struct stream *s)
{
	const char *p, *end;
	int ret;

	lines_init(&s->lines, input_read, &s->in);
	do {
		ret = lines_next(&s->lines, &s->first);
		if (ret <= 0)
			return ret;
	} while (ndjson_blank(s->first.p, s->first.n));
	p = s->first.p;
	end = p + s->first.n;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (*p == '{')
		return 0;
	ret = csv_open(&s->csv, s->first, &s->info.spare_columns);
	if (ret == -EINVAL)
		return 0;
	s->first = (struct slice){};
	s->info.format = STREAM_CSV;
	s->info.sound = !ret;
	return ret;
}

static int open_kvt(struct stream *s)
{
	s->info.format = STREAM_KVT;
	s->info.sound = true;
	return kvt_reader_open(&s->kvt, input_read, &s->in);
}

static int find_format(struct stream *s)
{
	const size_t n_magic = sizeof(KVT_MAGIC) - 1;
	const u8 *head;
	ssize_t n = input_peek(&s->in, n_magic, &head);

	if (n < 0)
		return (int)n;
	s->started = true;
	if ((size_t)n == n_magic && !memcmp(head, KVT_MAGIC, n_magic))
		return open_kvt(s);
	if (s->in.fd >= 0 && n >= 4 && (!memcmp(head, "\x1f\x8b", 2) || !memcmp(head, "\x28\xb5\x2f\xfd", 4)))
		return -EOPNOTSUPP;
	return open_text(s);
}

/* ---- text ---- */

/* A document that jansson cannot hold leaves a line like any other. */
static int read_document(struct stream *s, struct item *it)
{
	json_decref(s->doc);
	s->doc = json_loadb(it->line.p, it->line.n, 0, NULL);
	it->doc = s->doc;
	if (it->kind == ITEM_META && !s->doc)
		it->kind = ITEM_OTHER;
	return it->kind == ITEM_META ? meta_learn(&s->names, s->paths, s->doc) : 0;
}

static void note_bad_line(struct stream *s, int error)
{
	if (s->info.first_bad_line)
		return;
	s->info.first_bad_line = s->info.lines;
	s->info.first_error = error;
}

static int bad_line(struct stream *s, bool tail)
{
	if (tail) {
		s->info.tail_cut = true;
		return 0;
	}
	s->info.malformed++;
	note_bad_line(s, -EBADMSG);
	return s->info.malformed >= GIVE_UP && !s->info.sound ? -EBADMSG : 0;
}

/* A sound line as an item; `odd` is what is wrong with it as a record, or 0. */
static int take_line(struct stream *s, struct slice line, const struct jsonl_rec *rec, int odd, struct item *it)
{
	int ret = 0;

	s->info.sound = true;
	item_of_line(it, line, rec);
	it->names = &s->names;
	s->info.unknown += it->kind == ITEM_OTHER && !odd;
	/* The last line of every tracer. */
	s->last = s->in.fd >= 0 && rec->kind == JSONL_DROPS;
	if (it->kind == ITEM_META || rec->kind == JSONL_FOOTER)
		ret = read_document(s, it);
	return ret ? ret : 1;
}

static struct slice without_cr(struct stream *s, struct slice line)
{
	if (line.n && line.p[line.n - 1] == '\r') {
		s->info.crlf = true;
		line.n--;
	}
	return line;
}

/* A line as an item: 1, 0 when there is nothing in it, -errno. */
static int read_line(struct stream *s, struct slice line, bool tail, struct item *it)
{
	int ret;

	line = without_cr(s, line);
	if (ndjson_blank(line.p, line.n))
		return 0;
	ret = jsonl_read(s->reader, line.p, line.n, &s->rec);
	if (ret == -ENOMEM)
		return ret;
	if (ret == -EBADMSG || ret == -E2BIG)
		return bad_line(s, tail);
	if (ret) {
		note_bad_line(s, ret);
		s->info.odd++;
		s->rec.kind = JSONL_UNKNOWN;
	}
	return take_line(s, line, &s->rec, ret, it);
}

/* The next line when it is like an earlier one but for its values. */
static int predict_line(struct stream *s, struct item *it)
{
	struct slice ahead = lines_ahead(&s->lines);
	const char *p = ahead.p, *end = p + ahead.n;
	const struct jsonl_rec *rec;

	if (!ahead.n || !jsonl_predict(s->reader, &p, end, &rec))
		return 0;
	lines_take(&s->lines, (size_t)(p - ahead.p));
	s->info.lines = s->lines.number;
	return take_line(s, without_cr(s, (struct slice){ ahead.p, (size_t)(p - ahead.p) - 1 }), rec, 0, it);
}

static void end_text(struct stream *s)
{
	s->info.lines = s->lines.number;
	if (s->lines.too_long) {
		s->info.malformed += s->lines.too_long;
		if (!s->info.first_bad_line || s->lines.first_too_long < s->info.first_bad_line) {
			s->info.first_bad_line = s->lines.first_too_long;
			s->info.first_error = -E2BIG;
		}
	}
}

static int next_line(struct stream *s, struct item *it)
{
	struct slice line = s->first;
	int ret = 1;

	do {
		if (!line.p) {
			ret = predict_line(s, it);
			if (ret)
				return ret;
			ret = lines_next(&s->lines, &line);
		}
		if (ret <= 0) {
			end_text(s);
			return ret;
		}
		s->info.lines = s->lines.number;
		ret = read_line(s, line, s->lines.tail, it);
		s->first = line = (struct slice){};
	} while (!ret);
	return ret;
}

/* A row of a CSV: its command, then its completion. */
static int next_row(struct stream *s, struct item *it)
{
	struct slice line, cmd;
	int ret;

	for (;;) {
		if (s->completion.n) {
			cmd = s->completion;
			s->completion = (struct slice){};
		} else {
			ret = lines_next(&s->lines, &line);
			if (ret <= 0) {
				end_text(s);
				s->info.tail_cut |= !ret && csv_inside(s->csv);
				return ret;
			}
			s->info.lines = s->lines.number;
			ret = csv_put(s->csv, line, &cmd, &s->completion);
			if (ret < 0)
				ret = ret == -ENOMEM ? ret : bad_line(s, s->lines.tail);
			else if (!ret)
				continue;
			if (ret < 0)
				return ret;
			if (!ret)
				continue;
		}
		ret = read_line(s, cmd, false, it);
		if (ret)
			return ret;
	}
}

/* ---- .kvt ---- */

/* The record at `p` with room for the struct of its kind, zero behind what is stored. */
static int copy_record(struct stream *s, const u8 *p, struct item *it)
{
	size_t size = s->chunk.record_bytes;
	union event *e = &s->event;

	if (size > sizeof(*e)) {
		buf_reset(&s->large);
		if (!buf_room(&s->large, size))
			return -ENOMEM;
		e = (union event *)s->large.p;
	} else if (size < sizeof(*e)) {
		memset((u8 *)e + size, 0, sizeof(*e) - size);
	}
	memcpy(e, p, size);
	e->kind = s->chunk.type;
	item_of_record(it, e, size);
	return 0;
}

/* The names of a chunk behind those of the chunks in front. */
static int keep_names(struct stream *s, const struct kvt_chunk *c, u64 *seen)
{
	const u8 *p = c->records;
	union event e = {};
	u32 i;

	/* A newer version may know more of them than can be kept here: they come in their place. */
	if (c->record_bytes != event_bytes(c->type))
		return -ENOTSUP;
	for (i = 0; i < c->n; i++, p += c->record_bytes) {
		if ((*seen)++ < s->n_names)
			continue;
		memcpy(&e, p, c->record_bytes);
		e.kind = c->type;
		buf_add(&s->ahead, &e, sizeof(e));
		s->skip_names++;
	}
	return s->ahead.failed ? -ENOMEM : 0;
}

static ssize_t read_zin(void *zin, void *buf, size_t n)
{
	return zin_read(zin, buf, n);
}

/*
 * A command of a thread without a name: its name may stand behind it, in files
 * of recorders that did not put names in front.  Then all names come now.
 */
static int look_ahead(struct stream *s)
{
	struct kvt_reader *r;
	struct kvt_chunk c;
	struct zin *z;
	u64 seen = 0;
	int ret = zin_open(&z, s->path);

	free(s->path);
	s->path = NULL;
	if (ret)
		return 0;
	ret = kvt_reader_open(&r, read_zin, z);
	if (!ret) {
		while (!ret && kvt_next(r, &c) > 0)
			if (c.type == EV_TASK || c.type == EV_DISK || c.type == EV_PATH)
				ret = keep_names(s, &c, &seen);
		kvt_reader_close(r);
	}
	zin_close(z);
	return ret == -ENOMEM ? ret : 0;
}

/* True when the record at p is a command whose thread has no name, and it can be looked for. */
static bool wants_name(struct stream *s, const u8 *p)
{
	struct ev_nvme c;

	if (!s->path || !s->chunk.n || s->chunk.record_bytes < sizeof(c) ||
	    (s->chunk.type != EV_NVME && s->chunk.type != EV_NVME_KV))
		return false;
	memcpy(&c, p, sizeof(c));
	return !names_task(&s->names, c.tid);
}

/* A record as an item: 1, 0 when it was given out before, -errno. */
static int give_record(struct stream *s, struct item *it)
{
	bool name = item_is_name(it);
	int ret;

	it->names = &s->names;
	if (!name)
		return 1;
	s->n_names++;
	if (s->skip_names) {
		s->skip_names--;
		return 0;
	}
	ret = names_learn(&s->names, it->record);
	return ret ? ret : 1;
}

/* The next name that was looked ahead for. */
static int next_ahead(struct stream *s, struct item *it)
{
	const union event *e = (const union event *)(s->ahead.p + s->ahead_at);
	int ret = names_learn(&s->names, e);

	s->ahead_at += sizeof(*e);
	item_of_record(it, e, event_bytes(e->kind));
	it->names = &s->names;
	return ret ? ret : 1;
}

static int next_record(struct stream *s, struct item *it)
{
	const u8 *p = (const u8 *)s->chunk.records + (size_t)s->at * s->chunk.record_bytes;
	int ret = wants_name(s, p) ? look_ahead(s) : 0;

	if (ret || s->ahead_at < s->ahead.n)
		return ret;
	s->at++;
	ret = copy_record(s, p, it);
	if (ret)
		return ret;
	s->info.records++;
	s->info.unknown += it->kind == ITEM_OTHER;
	return give_record(s, it);
}

static int next_text(struct stream *s, struct item *it)
{
	const char *p = s->chunk.text + s->at, *end = s->chunk.text + s->chunk.n;
	struct slice line;

	if (!ndjson_line(&p, end, &line)) {
		line = (struct slice){ p, (size_t)(end - p) };
		p = end;
	}
	s->at = (u32)(p - s->chunk.text);
	s->info.lines++;
	return read_line(s, line, false, it);
}

static int take_chunk(struct stream *s, struct item *it)
{
	const struct kvt_chunk *c = &s->chunk;

	s->at = 0;
	if (c->type == KVT_META) {
		*it = (struct item){ .kind = ITEM_META, .doc = c->doc, .names = &s->names };
		return meta_learn(&s->names, s->paths, c->doc) ? -ENOMEM : 1;
	}
	if (c->type == KVT_FOOTER) {
		*it = (struct item){ .kind = ITEM_FOOTER, .doc = c->doc, .names = &s->names };
		s->last = s->in.fd >= 0;
		return 1;
	}
	if (c->type > KVT_TEXT || !c->type) {
		s->info.skipped_blocks++;
		s->chunk.n = 0;
	}
	return 0;
}

static int next_of_kvt(struct stream *s, struct item *it)
{
	int ret = 0;

	while (!ret) {
		if (s->ahead_at < s->ahead.n) {
			ret = next_ahead(s, it);
			continue;
		}
		if (s->at < s->chunk.n) {
			ret = s->chunk.text ? next_text(s, it) : next_record(s, it);
			continue;
		}
		s->chunk = (struct kvt_chunk){};
		ret = kvt_next(s->kvt, &s->chunk);
		if (ret <= 0)
			break;
		ret = take_chunk(s, it);
	}
	if (!ret && !kvt_complete(s->kvt))
		s->info.defect = kvt_defect(s->kvt);
	return ret;
}

/* ---- all formats ---- */

static int next_raw(struct stream *s, struct item *it)
{
	int ret = s->started ? 0 : find_format(s);

	if (ret || s->last)
		return ret;
	switch (s->info.format) {
	case STREAM_KVT:
		return next_of_kvt(s, it);
	case STREAM_CSV:
		return next_row(s, it);
	default:
		return next_line(s, it);
	}
}

/* Nothing more comes: what is wrong with the file as a whole. */
static int end(struct stream *s)
{
	struct stream_info *i = &s->info;

	s->ended = true;
	fold_end(s->fold);
	i->bom = s->lines.bom;
	i->stopped = s->in.stopped;
	if (i->stopped) {
		/* What is half there now is what the recorder writes at this moment. */
		i->tail_cut = false;
		i->defect = NULL;
	} else if (s->in.zin && zin_defect(s->in.zin)) {
		i->defect = zin_defect(s->in.zin);
	}
	return !i->sound && (i->malformed || i->tail_cut || i->defect) ? -EBADMSG : 0;
}

int stream_next(struct stream *s, struct item *it)
{
	int ret;

	for (;;) {
		if (fold_take(s->fold, it))
			return 1;
		if (s->ended)
			return 0;
		ret = next_raw(s, it);
		if (!ret)
			ret = end(s);
		else if (ret > 0 && (!it->line.p || (s->o.fold == FOLD_NOT && !item_is_name(it))))
			return 1;
		else if (ret > 0)
			ret = fold_put(s->fold, it);
		if (ret < 0)
			return ret;
	}
}
