// SPDX-License-Identifier: Apache-2.0
/* JSON lines into the tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/nvme_names.h"
#include "capture/record.h"
#include "lib/ahead.h"
#include "model/tables.h"

#define PIECE_BYTES ((size_t)1 << 20)  /* of text in memory */
#define FRONT	    ((size_t)64 << 10) /* before a block: for the begin of a line that ends in it */
#define MAX_LINE    (16u << 20)	       /* a longer one is damage, and is skipped */
#define GIVE_UP	    1000u	       /* lines without one sound record: not JSON lines at all */

/*
 * The driver tracepoint monitor prints LBA members for every opcode, and a
 * size that follows from them.
 */
static bool is_tracepoint_line(const struct jsonl_cmd *c)
{
	return (c->has & HAS_DISK) && !(c->has & (HAS_DEV | HAS_USER_DATA));
}

static bool is_admin(const struct jsonl_cmd *c)
{
	return (c->cmd_op & 0xfe) == 0x82 || (is_tracepoint_line(c) && !c->disk.n) || slice_is(c->op_name, "admin");
}

static u32 cmd_flags_of(const struct jsonl_cmd *c)
{
	u32 flags = 0;

	if (c->has & HAS_USER_DATA)
		flags |= NVME_PASSTHROUGH;
	if (c->has & HAS_WAIT)
		flags |= NVME_ENTRY;
	if ((c->has & HAS_QUEUE) && c->hwq != UINT16_MAX)
		flags |= CMD_HAS_QUEUE;
	if (c->key_hex.n)
		flags |= CMD_HAS_KEY;
	if (c->multipath)
		flags |= NVME_MULTIPATH;
	if (c->in_flight)
		flags |= NVME_IN_FLIGHT;
	if (c->refused)
		flags |= NVME_REFUSED | CMD_FAILED;
	if ((c->cmd_op & 0xff) == 0x81 || (c->cmd_op & 0xff) == 0x83)
		flags |= NVME_VEC;
	if (is_admin(c))
		flags |= NVME_ADMIN;
	else if ((c->has & HAS_SLBA) && (!is_tracepoint_line(c) || nvme_op_has_slba(c->opcode)))
		flags |= CMD_HAS_SLBA;
	return flags;
}

/* The name as it is written, unless it is that of an IO command with the same opcode. */
static struct slice op_name_of(const struct jsonl_cmd *c, u32 flags)
{
	static const struct slice admin = { "admin", 5 };

	if ((flags & NVME_ADMIN) &&
	    (slice_is(c->op_name, "read") || slice_is(c->op_name, "write") || slice_is(c->op_name, "flush")))
		return admin;
	return c->op_name;
}

/* The device and the thread of a command: those of the one before, mostly. */
static int resolve(struct model *m, const struct jsonl_cmd *c, u32 who, struct cmd_refs *refs)
{
	struct device_id id = { .dev = c->dev, .rdev = c->rdev, .nsid = c->nsid, .name = c->disk };
	struct cmd_refs *last = &m->loading->last_refs;
	int ret;

	if (who && who == m->loading->last_who) {
		*refs = *last;
		if (refs->task != NONE)
			m->task[refs->task].since_ns = MIN(m->task[refs->task].since_ns, c->ts_ns);
		return 0;
	}
	ret = find_device(m, &id, &refs->dev);
	refs->task = NONE;
	if (!ret && (c->tid || c->pid || c->comm.n))
		ret = find_task_row(m, c->tid, c->pid, c->comm, c->ts_ns, &refs->task);
	*last = *refs;
	m->loading->last_who = ret ? 0 : who;
	return ret;
}

static int put_cmd(struct input *in, const struct jsonl_cmd *c, u32 who)
{
	struct cmd_table *t = &in->m->cmd;
	u32 flags = cmd_flags_of(c), i = t->n;
	bool no_extent = (flags & NVME_ADMIN) || (is_tracepoint_line(c) && !nvme_op_has_nlb(c->opcode));
	struct cmd_refs refs;
	u32 name, key;
	int ret = cmd_room(t);

	if (!ret)
		ret = resolve(in->m, c, who, &refs);
	if (!ret)
		ret = intern_word(in->m, op_name_of(c, flags), &name);
	if (!ret)
		ret = intern(in->m, c->key_hex, &key);
	if (ret)
		return ret;
	t->ts_ns[i] = c->ts_ns;
	t->lat_ns[i] = NO_LAT;
	t->user_data[i] = c->user_data;
	t->slba[i] = flags & CMD_HAS_KEY ? c->value_len | (u64)c->key_len << 32 : flags & CMD_HAS_SLBA ? c->slba : 0;
	t->bytes[i] = no_extent && is_tracepoint_line(c) ? 0 : c->bytes;
	t->nlb[i] = no_extent ? 0 : c->nlb;
	t->tid[i] = c->tid;
	t->name[i] = name;
	t->flags[i] = flags;
	t->opcode[i] = c->opcode;
	t->attempts[i] = MAX(c->attempts, 1);
	t->op[i] = NONE;
	if (c->hwq)
		t->hwq[i] = c->hwq;
	if (c->cid)
		t->cid[i] = c->cid;
	if (c->wait_ns) {
		t->wait_ns[i] = c->wait_ns;
		t->waits = true;
	}
	if (refs.dev)
		t->dev[i] = refs.dev;
	if (refs.task)
		t->task[i] = refs.task;
	in->m->loading->tasks_missing |= refs.task == NONE;
	if (key)
		t->key[i] = key;
	if (c->refused)
		t->status[i] = c->status;
	t->n++;
	in->n.commands++;
	in->m->loading->tagged |= (flags & CMD_HAS_QUEUE) != 0;
	return note_issued(in->m, i);
}

static int put_cmp(struct input *in, const struct jsonl_cmp *c)
{
	struct cmp_row row = {
		.ts_ns = c->ts_ns,
		.lat_ns = (u64)c->lat_ns,
		.user_data = c->user_data,
		.dev = NONE,
		.hwq = c->hwq,
		.cid = c->cid,
		.status = c->status,
		.identity = (c->has & HAS_USER_DATA ? ID_USER_DATA : 0) |
			    ((c->has & HAS_QUEUE) && c->hwq != UINT16_MAX ? ID_QUEUE : 0),
		.has_lat = c->has & HAS_LAT,
		.blk_status = !(c->has & HAS_STATUS),
	};
	struct device_id id = { .dev = c->dev, .name = c->disk };
	int ret = 0;

	if (id.dev || id.name.n) {
		ret = find_device(in->m, &id, &row.dev);
		row.identity |= ID_DEV;
	}
	in->n.completions++;
	if (ret || pair_at_once(in->m, &row))
		return ret;
	return add_cmp(in->m, &row);
}

static int put_kvio_meta(struct input *in, const struct jsonl_kvio_meta *k)
{
	struct sem_meta *s = &in->m->sem_meta;
	int ret;

	if (s->present)
		return 0;
	s->present = true;
	s->kvio_schema = k->kvio_schema;
	s->block_align = k->block_align;
	s->header_bytes = k->header_bytes;
	s->max_data_transfer_size = k->max_data_transfer_size;
	s->slot_bytes = k->slot_bytes;
	s->capacity_bytes = k->capacity_bytes;
	ret = intern(in->m, k->hostname, &s->hostname);
	if (!ret)
		ret = intern(in->m, k->device_path, &s->device_path);
	return ret ? ret : intern(in->m, k->io_engine, &s->io_engine);
}

static int put_op(struct input *in, const struct jsonl_op *o)
{
	struct model *m = in->m;
	struct op_table *t = &m->op;
	u32 i = t->n;
	int ret = op_room(t);

	if (ret)
		return ret;
	t->trace_id[i] = o->trace_id;
	t->start_ns[i] = o->start_ns;
	t->end_ns[i] = o->end_ns;
	t->bytes[i] = o->bytes;
	t->slot_offset[i] = o->slot_offset;
	t->pid[i] = o->pid;
	t->flags[i] =
		(o->has_start ? OP_HAS_START : 0) | (o->has_slot ? OP_HAS_SLOT : 0) | (o->has_pid ? OP_HAS_PID : 0);
	t->join_id[i] = o->trace_id;
	t->first_cmd[i] = NONE;
	t->n_cmds[i] = t->occurrence[i] = 0;
	t->n_occurrences[i] = 1;
	if (intern_word(m, o->op, &t->name[i]) || intern(m, o->key, &t->key[i]) ||
	    intern(m, o->key_hex, &t->key_hex[i]) || intern_word(m, o->part, &t->part[i]) ||
	    intern_word(m, o->error, &t->error[i]) || intern_word(m, o->instance, &t->instance[i]))
		return -ENOMEM;
	t->n++;
	in->n.semantic++;
	return 0;
}

static int put_span(struct input *in, const struct jsonl_span *s)
{
	static const struct slice request = { "request", 7 };
	struct model *m = in->m;
	struct span_table *t = &m->serving;
	u32 i = t->n;
	int ret = span_room(t);

	if (ret)
		return ret;
	t->start_ns[i] = s->start_ns;
	t->end_ns[i] = MAX(s->start_ns, s->end_ns);
	t->tokens[i] = s->tokens;
	if (intern_word(m,
			s->op.n	    ? s->op
			: s->name.n ? s->name
				    : request,
			&t->name[i]) ||
	    intern(m, s->request_id, &t->request_id[i]))
		return -ENOMEM;
	t->n++;
	in->n.serving++;
	in->n.other++;
	return 0;
}

static int put_loss(struct input *in, const struct jsonl_loss *l, enum jsonl_kind kind)
{
	struct account account = {
		.present = true,
		.complete = kind == JSONL_FOOTER && l->complete,
		.seen = l->seen,
		.stored = l->stored,
		.ring_full = l->ring_full,
		.map_full = l->map_full,
		.hook_missed = l->hook_missed,
		.unread = l->unread,
		.filtered = l->filtered,
		.in_flight = l->in_flight,
	};

	in->n.other++;
	if (kind == JSONL_DROPS) {
		in->closed = true;
		in->drops += l->ring_full;
		return 0;
	}
	if (kind == JSONL_FOOTER) {
		if (!in->footer)
			in->account = account;
		in->footer = in->closed = true;
		return 0;
	}
	return put_running(in, event_witness(l->witness), l->ts_ns, &account);
}

/* The head of a capture: the only nested line. */
static int put_capture_meta(struct input *in, const char *line, size_t n)
{
	json_t *doc = json_loadb(line, n, 0, NULL);
	int ret = doc ? load_meta(in, doc) : -EBADMSG;

	json_decref(doc);
	return ret;
}

static int put_record(struct input *in, const struct jsonl_rec *rec, const char *line, size_t n)
{
	switch (rec->kind) {
	case JSONL_NVME_CMD:
		return put_cmd(in, &rec->cmd, rec->who);
	case JSONL_NVME_CMP:
		return put_cmp(in, &rec->cmp);
	case JSONL_SEMANTIC:
		return put_op(in, &rec->op);
	case JSONL_CLOCK_ANCHOR:
		in->n.anchors++;
		return add_anchor(in->m, rec->anchor.monotonic_ns, rec->anchor.realtime_ns, rec->anchor.uncertainty_ns);
	case JSONL_CQ_OVERFLOW:
		in->n.other++;
		in->overflows++;
		return add_overflow(in->m, rec->overflow.ts_ns, rec->overflow.user_data, rec->overflow.res);
	case JSONL_DROPS:
	case JSONL_LOSS:
	case JSONL_FOOTER:
		return put_loss(in, &rec->loss, rec->kind);
	case JSONL_CAPTURE_META:
		return put_capture_meta(in, line, n);
	case JSONL_KVIO_META:
		return put_kvio_meta(in, &rec->kvio_meta);
	case JSONL_SERVING:
		return put_span(in, &rec->span);
	default:
		return load_other_line(in, line, n);
	}
}

static bool of_application(enum jsonl_kind kind)
{
	return kind == JSONL_SEMANTIC || kind == JSONL_KVIO_META;
}

/* Clock anchors are written by both. */
static bool of_tracer(enum jsonl_kind kind)
{
	return kind != JSONL_UNKNOWN && kind != JSONL_SERVING && kind != JSONL_CLOCK_ANCHOR && !of_application(kind);
}

static int take_record(struct input *in, const struct jsonl_rec *rec, const char *line, size_t n)
{
	int ret = put_record(in, rec, line, n);

	if (!ret) {
		in->semantic |= of_application(rec->kind);
		in->device |= of_tracer(rec->kind);
	}
	return ret;
}

/* One line.  0 also when it is malformed, which is counted; -errno. */
static int load_line(struct input *in, const char *line, size_t n)
{
	struct jsonl_rec rec;
	int ret;

	in->n.crlf |= n && line[n - 1] == '\r';
	if (ndjson_blank(line, n))
		return 0;
	ret = *line == 'P' ? load_phase(in, (struct slice){ line, n }) : 0;
	if (ret)
		return MIN(ret, 0);
	ret = jsonl_read(in->m->loading->reader, line, n, &rec);
	if (!ret)
		ret = take_record(in, &rec, line, n);
	if (!ret || ret == -ENOMEM)
		return ret;
	in->n.malformed++;
	if (!in->n.first_bad_line)
		in->n.first_bad_line = in->n.lines;
	if (in->n.malformed >= GIVE_UP && !in->semantic && !in->device && !in->n.other)
		return -EBADMSG;
	return 0;
}

/* The whole lines of [*p, end), which is moved behind them. */
static int load_lines(struct input *in, const char **p, const char *end)
{
	struct jsonl_reader *r = in->m->loading->reader;
	const struct jsonl_rec *rec;
	struct slice line;
	int ret = 0;

	if (!in->n.lines && *p < end) {
		size_t bom = ndjson_bom(*p, (size_t)(end - *p));

		in->n.bom |= bom != 0;
		*p += bom;
	}
	while (!ret) {
		const char *start = *p;

		if (jsonl_predict(r, p, end, &rec)) {
			in->n.lines++;
			ret = take_record(in, rec, start, (size_t)(*p - start) - 1);
		} else if (ndjson_line(p, end, &line)) {
			in->n.lines++;
			ret = load_line(in, line.p, line.n);
		} else {
			break;
		}
	}
	return ret;
}

/* What stands behind the last newline: a record whose newline is missing, or a cut one. */
static int load_tail(struct input *in, const char *p, size_t n)
{
	u64 malformed = in->n.malformed;
	int ret;

	if (ndjson_blank(p, n))
		return 0;
	in->n.lines++;
	ret = load_line(in, p, n);
	if (ret || in->n.malformed == malformed)
		return ret;
	in->n.malformed--;
	if (in->n.first_bad_line == in->n.lines)
		in->n.first_bad_line = 0;
	in->n.tail_cut = true;
	return 0;
}

/* What no newline has ended yet, between two blocks of the input. */
struct rest {
	char *p;
	size_t n;
	bool skipping; /* inside a line that is too long */
};

/* Appends to the rest, with the slack behind it that the reader needs. */
static int rest_add(struct rest *r, const char *p, size_t n)
{
	char *q = realloc(r->p, r->n + n + JSONL_SLACK);

	if (!q)
		return -ENOMEM;
	memcpy(q + r->n, p, n);
	memset(q + r->n + n, 0, JSONL_SLACK);
	r->p = q;
	r->n += n;
	return 0;
}

/* Forgets the line: it has no end within reason. */
static void rest_drop(struct rest *r, struct input *in)
{
	r->n = 0;
	r->skipping = true;
	in->n.malformed++;
	if (!in->n.first_bad_line)
		in->n.first_bad_line = in->n.lines + 1;
}

/* Leaves what stands at p as the rest. */
static int rest_keep(struct rest *r, struct input *in, const char *p, size_t n)
{
	int ret = 0;

	if (r->n) {
		memmove(r->p, p, n); /* a part of the rest itself */
		r->n = n;
	} else if (n) {
		ret = rest_add(r, p, n);
	}
	if (!ret && n > MAX_LINE)
		rest_drop(r, in);
	return ret;
}

/* The lines that end in a block, before which FRONT bytes can be written. */
static int load_block(struct rest *r, struct input *in, char *block, size_t n)
{
	const char *p = block, *end = block + n;
	int ret;

	if (r->skipping) {
		p = memchr(p, '\n', n);
		if (!p)
			return 0;
		p++;
		in->n.lines++;
		r->skipping = false;
	} else if (r->n <= FRONT) {
		memcpy(block - r->n, r->p ? r->p : "", r->n);
		p = block - r->n;
		r->n = 0;
	} else {
		ret = rest_add(r, block, n);
		if (ret)
			return ret;
		p = r->p;
		end = p + r->n;
	}
	ret = load_lines(in, &p, end);
	return ret ? ret : rest_keep(r, in, p, (size_t)(end - p));
}

/* The end of the input, after `ret` of its blocks. */
static int load_end(struct rest *r, struct input *in, int ret)
{
	if (!ret && r->n)
		ret = load_tail(in, r->p, r->n);
	free(r->p);
	return ret;
}

int load_jsonl(struct input *in, struct zin *z)
{
	struct rest rest = {};
	struct ahead *a;
	ssize_t got;
	char *p;
	int ret = ahead_open(&a, z, FRONT, JSONL_SLACK);

	if (ret)
		return ret;
	while (!ret && (got = ahead_next(a, &p)))
		ret = got < 0 ? (int)got : load_block(&rest, in, p, (size_t)got);
	ahead_close(a);
	return load_end(&rest, in, ret);
}

int load_text(struct input *in, const char *text, size_t n)
{
	size_t piece = MIN(n, PIECE_BYTES), at;
	char *copy = calloc(1, FRONT + piece + JSONL_SLACK);
	struct rest rest = {};
	int ret = 0;

	if (!copy)
		return -ENOMEM;
	for (at = 0; !ret && at < n; at += piece) {
		piece = MIN(n - at, PIECE_BYTES);
		memcpy(copy + FRONT, text + at, piece);
		ret = load_block(&rest, in, copy + FRONT, piece);
	}
	free(copy);
	return load_end(&rest, in, ret);
}
