// SPDX-License-Identifier: Apache-2.0
#include "capture/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/csv.h"
#include "capture/jsonl_write.h"
#include "capture/kvt.h"
#include "capture/meta.h"
#include "capture/writer.h"
#include "lib/buf.h"
#include "lib/jsonutil.h"
#include "lib/str.h"
#include "lib/zio.h"

/* Text is handed on in pieces of this size. */
#define TEXT_BYTES  (256u << 10)
/*
 * Kinds of a .kvt stay side by side: all blocks end at a running account, as
 * in a recording, when there is something in them, and at the latest at this.
 */
#define TICK_BYTES  1024u
#define FLUSH_BYTES (4u << 20)

struct sink {
	struct sink_options o;
	struct sink_info info;
	int error;
	struct zout *out;
	struct kvt_writer *kvt; /* made with its head, which is the first item */
	struct buf text;	/* not handed on yet */
	struct buf measured;	/* the item at hand, to know its size */
	struct buf lines;	/* of a record that becomes a row */
	/* What every part begins with. */
	json_t *heads;	 /* documents, the first one the head */
	struct buf kvio; /* heads of semantic traces, lines */
	struct names told;
	/* The part at hand. */
	u64 bytes, events;
	size_t unflushed;      /* bytes of a .kvt */
	u64 base_ns, until_ns; /* of all parts; of this one */
	u64 records[N_ITEM_KINDS], snapshots;
	bool has_base;
};

/* ---- names of files ---- */

static const char *const text_suffixes[] = { ".csv", ".csv.gz", ".csv.zst" };

enum sink_format sink_format_of(const char *path)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(text_suffixes); i++)
		if (str_ends(path, text_suffixes[i]))
			return SINK_CSV;
	switch (cap_format_of(path)) {
	case CAP_KVT:
		return SINK_KVT;
	case CAP_JSONL:
		return SINK_JSONL;
	default:
		return SINK_UNKNOWN;
	}
}

static bool splits(const struct sink *s)
{
	return s->o.split_bytes || s->o.split_events || s->o.split_ns;
}

/* "x.jsonl.gz" -> "x-0001.jsonl.gz" */
static char *part_path(const char *path, u32 part)
{
	const char *base = strrchr(path, '/'), *dot, *end = path + strlen(path);
	char *out;

	base = base ? base + 1 : path;
	if (str_ends(path, ".gz"))
		end -= 3;
	else if (str_ends(path, ".zst"))
		end -= 4;
	for (dot = end; dot > base && *dot != '.'; dot--)
		;
	if (dot == base)
		dot = end;
	return asprintf(&out, "%.*s-%04u%s", (int)(dot - path), path, part, dot) < 0 ? NULL : out;
}

/* ---- the file at hand ---- */

static int open_zout(struct sink *s, const char *path)
{
	int fd;

	if (!s->o.live || !strcmp(path, "-"))
		return zout_open(&s->out, path, s->o.format == SINK_KVT ? ZIO_PLAIN : ZIO_BY_NAME);
	fd = cap_create_file(path);
	return fd < 0 ? fd : zout_open_live(&s->out, fd, path);
}

static int open_file(struct sink *s)
{
	char *path = NULL;
	int ret;

	s->info.parts++;
	s->bytes = s->events = s->snapshots = 0;
	memset(s->records, 0, sizeof(s->records));
	if (splits(s)) {
		path = part_path(s->o.path, s->info.parts);
		if (!path)
			return -ENOMEM;
	}
	ret = open_zout(s, path ? path : s->o.path);
	free(path);
	if (!ret && s->o.format == SINK_CSV)
		csv_header(&s->text, s->o.several);
	return ret;
}

static int write_kvt(void *arg, const void *data, size_t n)
{
	return zout_write(arg, data, n);
}

static int open_kvt(struct sink *s, const json_t *head)
{
	json_t *made = head ? NULL : meta_new();
	int ret = -ENOMEM;

	if (head || made)
		ret = kvt_writer_open_on(&s->kvt, write_kvt, s->out, head ? head : made);
	json_decref(made);
	return ret;
}

static int hand_on(struct sink *s)
{
	int ret = s->text.failed ? -ENOMEM : zout_write(s->out, s->text.p, s->text.n);

	buf_reset(&s->text);
	return ret;
}

int sink_flush(struct sink *s)
{
	if (!s->error)
		s->error = s->kvt ? kvt_flush(s->kvt) : hand_on(s);
	if (!s->error)
		s->error = zout_flush(s->out);
	return s->error;
}

static void put_doc(struct buf *b, const json_t *doc)
{
	char *text = json_dumps(doc, JSON_COMPACT);

	if (text) {
		buf_str(b, text);
		buf_byte(b, '\n');
	} else {
		b->failed = true;
	}
	free(text);
}

static json_int_t number(const json_t *doc, const char *key)
{
	return json_integer_value(json_object_get(doc, key));
}

/* The account, then in the words of the older tracer, whose readers look for it last. */
static void put_footer(struct buf *b, const json_t *doc)
{
	if (!meta_is_synthetic(doc))
		put_doc(b, doc);
	if (!json_is_false(json_object_get(doc, "complete")) && json_object_get(doc, "ring_full"))
		buf_printf(b, "{\"event_type\":\"drops\",\"dropped\":%lld}\n",
			   (long long)(number(doc, "ring_full") + number(doc, "map_full") + number(doc, "hook_missed") +
				       number(doc, "unread")));
}

/* Ends the file at hand; it has its name when this is 0. */
static int close_file(struct sink *s, const json_t *footer)
{
	int ret = 0, closed;

	if (s->o.format == SINK_KVT) {
		ret = s->kvt ? 0 : open_kvt(s, NULL);
		if (!ret)
			ret = kvt_writer_close(s->kvt, footer);
		s->kvt = NULL;
	} else {
		if (footer && s->o.format == SINK_JSONL)
			put_footer(&s->text, footer);
		ret = hand_on(s);
	}
	if (ret) {
		zout_abort(s->out);
		s->out = NULL;
		return ret;
	}
	closed = zout_close(s->out);
	s->out = NULL;
	return closed;
}

/* ---- items ---- */

/* The text that an item becomes. */
static void stage_lines(struct buf *b, const struct item *it)
{
	if (!it->line.p) {
		if (it->record)
			jsonl_record(b, it->record, it->size, it->names);
		else if (it->doc && it->kind == ITEM_FOOTER)
			put_footer(b, it->doc);
		else if (it->doc && !meta_is_empty(it->doc))
			put_doc(b, it->doc);
		return;
	}
	buf_add(b, it->line.p, it->line.n);
	buf_byte(b, '\n');
	if (it->completion.n) {
		buf_add(b, it->completion.p, it->completion.n);
		buf_byte(b, '\n');
	}
}

static int stage_row(struct sink *s, struct buf *b, const struct item *it, const char *source)
{
	struct slice cmd = it->line, cmp = it->completion;
	const char *p, *end;

	if (!item_is_command(it) || it->is_completion)
		return 0;
	if (it->record) {
		buf_reset(&s->lines);
		jsonl_record(&s->lines, it->record, it->size, it->names);
		p = s->lines.p;
		end = p + s->lines.n;
		if (!ndjson_line(&p, end, &cmd))
			return -ENOMEM;
		ndjson_line(&p, end, &cmp);
	}
	return csv_row(b, cmd, cmp, s->o.several ? source : NULL, &s->info.no_column);
}

static int stage(struct sink *s, struct buf *b, const struct item *it, const char *source)
{
	if (s->o.format == SINK_CSV)
		return stage_row(s, b, it, source);
	stage_lines(b, it);
	return 0;
}

/* What the item adds to the file, before compression. */
static size_t size_of(struct sink *s, const struct item *it, const char *source)
{
	if (s->o.format != SINK_KVT) {
		buf_reset(&s->measured);
		stage(s, &s->measured, it, source);
		return s->measured.n;
	}
	if (it->record)
		return it->size;
	return it->line.n + 1 + (it->completion.n ? it->completion.n + 1 : 0);
}

static int put_record(struct sink *s, const struct item *it)
{
	const union event *e = it->record;
	u64 ts = event_time(e);

	if (it->size == event_bytes(e->kind))
		return kvt_write(s->kvt, e, it->size, ts);
	return kvt_write_foreign(s->kvt, e, it->size, ts);
}

static int put_lines(struct sink *s, const struct item *it)
{
	int ret = kvt_write_line(s->kvt, it->line.p, it->line.n, it->at_ns);

	if (!ret && it->completion.n)
		ret = kvt_write_line(s->kvt, it->completion.p, it->completion.n, it->at_ns);
	return ret;
}

static int put_kvt(struct sink *s, const struct item *it)
{
	size_t n = it->record ? it->size : it->line.n + 1 + (it->completion.n ? it->completion.n + 1 : 0);
	bool head = it->kind == ITEM_META && (!meta_is_synthetic(it->doc) || meta_is_empty(it->doc));
	int ret;

	if (!s->kvt) {
		ret = open_kvt(s, head ? it->doc : NULL);
		if (ret || head)
			return ret;
	}
	if (it->kind == ITEM_META)
		return meta_is_empty(it->doc) ? 0 : kvt_write_meta(s->kvt, it->doc);
	ret = it->record ? put_record(s, it) : put_lines(s, it);
	s->bytes += n;
	s->unflushed += n;
	if (!ret && s->unflushed > (it->kind == ITEM_LOSS ? TICK_BYTES : FLUSH_BYTES)) {
		s->unflushed = 0;
		ret = kvt_flush(s->kvt);
	}
	return ret;
}

/* ---- parts ---- */

/* True when the event begins another part. */
static bool is_full(struct sink *s, const struct item *it, const char *source)
{
	bool late = false;

	if (s->o.split_ns && it->start_ns) {
		if (!s->has_base)
			s->base_ns = it->start_ns;
		s->has_base = true;
		late = s->until_ns && it->start_ns >= s->until_ns;
		if (!s->until_ns || late)
			s->until_ns = it->start_ns + s->o.split_ns - (it->start_ns - s->base_ns) % s->o.split_ns;
	}
	return s->events && (late || (s->o.split_events && s->events >= s->o.split_events) ||
			     (s->o.split_bytes && s->bytes + size_of(s, it, source) > s->o.split_bytes));
}

static void count(struct sink *s, const struct item *it)
{
	bool command = item_is_command(it) && !it->is_completion;

	s->info.written[it->kind] += !it->is_completion;
	if (command && it->in_flight)
		s->snapshots++;
	else if (!it->is_completion)
		s->records[it->kind]++;
}

/* The item behind what is there. */
static int put(struct sink *s, const struct item *it, const char *source)
{
	size_t before = s->text.n;
	int ret;

	if (s->o.format == SINK_KVT) {
		count(s, it);
		return put_kvt(s, it);
	}
	ret = stage(s, &s->text, it, source);
	s->bytes += s->text.n - before;
	if (s->o.format == SINK_CSV && s->text.n == before)
		s->info.not_rows++;
	else
		count(s, it);
	if (!ret && (s->text.n >= TEXT_BYTES || s->text.failed))
		ret = hand_on(s);
	return ret;
}

static int put_name(struct sink *s, u8 kind, const void *record)
{
	struct item it = { .kind = kind, .names = &s->told, .record = record, .size = event_bytes(*(const u8 *)record) };

	return put(s, &it, "");
}

static int put_piece(void *arg, const struct ev_path *piece)
{
	return put_name(arg, ITEM_PATH, piece);
}

/* Heads and names again, so that the part can be read alone. */
static int tell_again(struct sink *s)
{
	struct item head = { .kind = ITEM_META }, kvio = { .kind = ITEM_KVIO_META };
	const char *p = s->kvio.n ? s->kvio.p : "", *end = p + s->kvio.n;
	int ret = 0;
	size_t i;
	u32 k;

	for (i = 0; !ret && i < json_array_size(s->heads); i++) {
		head.doc = json_array_get(s->heads, i);
		ret = put(s, &head, "");
	}
	while (!ret && ndjson_line(&p, end, &kvio.line))
		ret = put(s, &kvio, "");
	for (k = 0; !ret && k < s->told.n_tasks; k++)
		ret = put_name(s, ITEM_TASK, &s->told.task[k].ev);
	for (k = 0; !ret && k < s->told.n_disks; k++)
		if (s->told.disk[k].ev.kind)
			ret = put_name(s, ITEM_DISK, &s->told.disk[k].ev);
	for (k = 0; !ret && k < s->told.n_files; k++)
		ret = names_path_pieces(&s->told.file[k], put_piece, s);
	return ret;
}

static int next_part(struct sink *s)
{
	json_t *footer = NULL;
	int ret;

	if (s->o.footer)
		footer = s->o.footer(s->o.arg, s->info.parts, sink_counts(s));
	ret = close_file(s, footer);
	json_decref(footer);
	if (!ret)
		ret = open_file(s);
	return ret ? ret : tell_again(s);
}

/* ---- all items ---- */

static bool was_told(struct sink *s, const struct item *it)
{
	const union event *e = it->record;
	const struct known_task *t;
	const struct known_disk *d;

	if (it->kind == ITEM_TASK) {
		t = names_task_at(&s->told, e->task.tid, e->task.ts_ns);
		return t && t->ev.ts_ns <= e->task.ts_ns && t->ev.pid == e->task.pid &&
		       !memcmp(t->ev.comm, e->task.comm, sizeof(t->ev.comm));
	}
	if (it->kind == ITEM_PATH)
		return false;
	d = names_disk(&s->told, e->disk.dev);
	return d && !memcmp(&d->ev, &e->disk, sizeof(d->ev));
}

/* What every part has to tell. */
static int remember(struct sink *s, const struct item *it)
{
	switch (it->kind) {
	case ITEM_TASK:
	case ITEM_DISK:
	case ITEM_PATH:
		return it->record ? names_learn(&s->told, it->record) : 0;
	case ITEM_META:
		return json_array_append(s->heads, (json_t *)it->doc) ? -ENOMEM : 0;
	case ITEM_KVIO_META:
		buf_add(&s->kvio, it->line.p, it->line.n);
		buf_byte(&s->kvio, '\n');
		return s->kvio.failed ? -ENOMEM : 0;
	default:
		return 0;
	}
}

int sink_open(struct sink **out, const struct sink_options *o)
{
	struct sink *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	s->o = *o;
	s->heads = json_array();
	ret = s->heads ? open_file(s) : -ENOMEM;
	if (ret)
		sink_abort(s);
	else
		*out = s;
	return ret;
}

int sink_put(struct sink *s, const struct item *it, const char *source)
{
	bool event = it->kind >= ITEM_NVME && it->kind != ITEM_CLOCK && it->kind != ITEM_LOSS;

	if (s->error)
		return s->error;
	if (s->o.several && it->record && item_is_name(it) && was_told(s, it))
		return 0;
	if (splits(s) && event && is_full(s, it, source))
		s->error = next_part(s);
	if (!s->error && !event && (splits(s) || s->o.several))
		s->error = remember(s, it);
	if (!s->error)
		s->error = put(s, it, source);
	s->events += event;
	return s->error;
}

const struct sink_info *sink_info(const struct sink *s)
{
	return &s->info;
}

u32 sink_part(const struct sink *s)
{
	return splits(s) ? s->info.parts : 0;
}

json_t *sink_counts(const struct sink *s)
{
	static const u8 kinds[] = { ITEM_NVME,	ITEM_NVME_KV, ITEM_CQ_OVERFLOW, ITEM_TASK,   ITEM_DISK,
				    ITEM_CLOCK, ITEM_LOSS,    ITEM_SYSCALL,	ITEM_PATH,   ITEM_URING,
				    ITEM_FAULT, ITEM_CACHE,   ITEM_BLOCK,	ITEM_EXTENT, ITEM_RANGE };
	json_t *counts = json_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		json_set_u64(counts, item_kind_name(kinds[i]), s->records[kinds[i]]);
	json_set_u64(counts, "snapshots", s->snapshots);
	json_set_u64(counts, "text",
		     s->records[ITEM_KVIO_META] + s->records[ITEM_SEMANTIC] + s->records[ITEM_SERVING] +
			     s->records[ITEM_OTHER]);
	return counts;
}

static void sink_free(struct sink *s)
{
	buf_free(&s->text);
	buf_free(&s->measured);
	buf_free(&s->lines);
	buf_free(&s->kvio);
	names_free(&s->told);
	json_decref(s->heads);
	free(s);
}

int sink_close(struct sink *s, const json_t *footer)
{
	int ret = s->error;

	if (ret) {
		sink_abort(s);
		return ret;
	}
	ret = close_file(s, footer);
	sink_free(s);
	return ret;
}

void sink_abort(struct sink *s)
{
	if (!s)
		return;
	if (s->kvt)
		kvt_writer_close(s->kvt, NULL);
	zout_abort(s->out);
	sink_free(s);
}
