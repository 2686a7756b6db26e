// SPDX-License-Identifier: Apache-2.0
#include "capture/stream_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "capture/members.h"

int input_open(struct input *in, const char *path, const struct stream_options *o)
{
	*in = (struct input){ .fd = -1, .o = o };
	if (!o->wait || !strcmp(path, "-"))
		return zin_open(&in->zin, path);
	in->fd = open(path, O_RDONLY | O_CLOEXEC);
	return in->fd < 0 ? -errno : 0;
}

void input_close(struct input *in)
{
	zin_close(in->zin);
	if (in->fd >= 0)
		close(in->fd);
}

/* Bytes of a file that grows, as soon as there are any. */
static ssize_t read_growing(struct input *in, void *buf, size_t n)
{
	while (!in->stopped) {
		ssize_t got = read(in->fd, buf, n);

		if (got > 0)
			return got;
		if (got < 0 && errno != EINTR)
			return -errno;
		in->stopped = in->o->wait(in->o->arg) != 0;
	}
	return 0;
}

static ssize_t read_more(struct input *in, void *buf, size_t n)
{
	if (in->o->stopped && in->o->stopped())
		return -EINTR;
	if (in->read)
		return in->read(in->arg, buf, n);
	return in->zin ? zin_read(in->zin, buf, n) : read_growing(in, buf, n);
}

ssize_t input_peek(struct input *in, size_t n, const u8 **p)
{
	ssize_t got = 1;

	while (in->head_n < n && got > 0) {
		got = read_more(in, in->head + in->head_n, n - in->head_n);
		if (got < 0)
			return got;
		in->head_n += (size_t)got;
	}
	*p = in->head;
	return (ssize_t)in->head_n;
}

ssize_t input_read(void *arg, void *buf, size_t n)
{
	struct input *in = arg;

	if (in->head_at == in->head_n)
		return read_more(in, buf, n);
	n = MIN(n, in->head_n - in->head_at);
	memcpy(buf, in->head + in->head_at, n);
	in->head_at += n;
	return (ssize_t)n;
}

/* ---- lines ---- */

/* A time as other tracers write it: a whole number is nanoseconds, any other seconds. */
static u64 time_of(const struct members *m, const char *key, bool seconds)
{
	const struct ndjson_field *f = members_find(m, key);
	u64 v = 0;

	if (f && (f->flags & ND_INTEGER) && !seconds)
		ndjson_u64(f, &v);
	else if (f)
		ndjson_ns(f, &v);
	return v;
}

static u8 kind_of_other(const struct members *m)
{
	const struct ndjson_field *f = members_find(m, "event_type");
	struct slice type = f ? (struct slice){ f->text, f->text_len } : (struct slice){};

	if (slice_is(type, "task"))
		return ITEM_TASK;
	if (slice_is(type, "syscall"))
		return ITEM_SYSCALL;
	if (slice_is(type, "uring"))
		return ITEM_URING;
	if (slice_is(type, "dsm_range"))
		return ITEM_RANGE;
	if (slice_is(type, "extent"))
		return ITEM_EXTENT;
	if (slice_is(type, "path"))
		return ITEM_PATH;
	if (slice_is(type, "fault"))
		return ITEM_FAULT;
	if (slice_is(type, "cache"))
		return ITEM_CACHE;
	if (slice_is(type, "block"))
		return ITEM_BLOCK;
	return slice_is(type, "disk") ? ITEM_DISK : ITEM_OTHER;
}

static void set_pid(struct item *it)
{
	struct members m;

	if (members_scan(&m, it->line.p, it->line.n))
		return;
	it->has_pid = members_find(&m, "pid");
	it->pid = (u32)members_u64(&m, "pid");
}

/* A sum of times, or the first one when a clock ran backwards. */
static u64 later(u64 ts_ns, u64 lat_ns)
{
	u64 sum;

	return (s64)lat_ns < 0 || __builtin_add_overflow(ts_ns, lat_ns, &sum) ? ts_ns : sum;
}

/* What jsonl_read() does not look into. */
static void set_other(struct item *it, bool span)
{
	struct members m;

	if (members_scan(&m, it->line.p, it->line.n))
		return;
	if (!span)
		it->kind = kind_of_other(&m);
	it->at_ns = time_of(&m, "ts", span);
	it->start_ns = span ? time_of(&m, "ts_start", true) : it->at_ns;
	/* Sums so far, as an account. */
	if (it->kind == ITEM_CACHE || it->kind == ITEM_BLOCK)
		it->start_ns = 0;
	if (it->kind == ITEM_SYSCALL || it->kind == ITEM_URING || it->kind == ITEM_FAULT)
		it->at_ns = later(it->start_ns, members_u64(&m, "lat_ns"));
	set_pid(it);
}

static void set_loss(struct item *it)
{
	struct members m;

	if (!members_scan(&m, it->line.p, it->line.n))
		it->at_ns = time_of(&m, "ts", false);
}

static void set_times(struct item *it, u8 kind, u64 start_ns, u64 at_ns)
{
	it->kind = kind;
	it->start_ns = start_ns;
	it->at_ns = at_ns;
}

void item_of_line(struct item *it, struct slice line, const struct jsonl_rec *rec)
{
	*it = (struct item){ .kind = ITEM_OTHER, .line = line, .rec = rec };
	switch (rec->kind) {
	case JSONL_NVME_CMD:
		set_times(it, rec->cmd.has & HAS_KEY ? ITEM_NVME_KV : ITEM_NVME, rec->cmd.ts_ns,
			  later(rec->cmd.ts_ns, rec->cmd.age_ns));
		it->in_flight = rec->cmd.in_flight;
		break;
	case JSONL_NVME_CMP:
		set_times(it, ITEM_NVME, rec->cmp.ts_ns, rec->cmp.ts_ns);
		it->is_completion = true;
		if ((rec->cmp.has & HAS_LAT) && rec->cmp.lat_ns > 0 && (u64)rec->cmp.lat_ns < rec->cmp.ts_ns)
			it->start_ns -= (u64)rec->cmp.lat_ns;
		break;
	case JSONL_CQ_OVERFLOW:
		set_times(it, ITEM_CQ_OVERFLOW, rec->overflow.ts_ns, rec->overflow.ts_ns);
		set_pid(it);
		break;
	case JSONL_CLOCK_ANCHOR:
		set_times(it, ITEM_CLOCK, 0, rec->anchor.monotonic_ns);
		break;
	case JSONL_LOSS:
		set_times(it, ITEM_LOSS, 0, 0);
		set_loss(it);
		break;
	case JSONL_DROPS:
	case JSONL_FOOTER:
		it->kind = ITEM_FOOTER;
		break;
	case JSONL_CAPTURE_META:
		it->kind = ITEM_META;
		break;
	case JSONL_KVIO_META:
		it->kind = ITEM_KVIO_META;
		break;
	case JSONL_SEMANTIC:
		set_times(it, ITEM_SEMANTIC, rec->op.start_ns, rec->op.end_ns);
		it->has_pid = rec->op.has_pid;
		it->pid = rec->op.pid;
		break;
	case JSONL_SERVING:
		it->kind = ITEM_SERVING;
		set_other(it, true);
		break;
	default:
		set_other(it, false);
		break;
	}
}

void item_of_record(struct item *it, const union event *e, size_t size)
{
	static const u8 kinds[EV_KINDS] = {
		[EV_NVME] = ITEM_NVME,	 [EV_NVME_KV] = ITEM_NVME_KV, [EV_CQ_OVERFLOW] = ITEM_CQ_OVERFLOW,
		[EV_TASK] = ITEM_TASK,	 [EV_DISK] = ITEM_DISK,	      [EV_CLOCK] = ITEM_CLOCK,
		[EV_LOSS] = ITEM_LOSS,	 [EV_SYSCALL] = ITEM_SYSCALL, [EV_PATH] = ITEM_PATH,
		[EV_URING] = ITEM_URING, [EV_FAULT] = ITEM_FAULT,     [EV_CACHE] = ITEM_CACHE,
		[EV_BLOCK] = ITEM_BLOCK, [EV_EXTENT] = ITEM_EXTENT,   [EV_RANGE] = ITEM_RANGE,
	};
	u64 ts = event_time(e);

	*it = (struct item){ .kind = e->kind < EV_KINDS ? kinds[e->kind] : ITEM_OTHER,
			     .record = e,
			     .size = size,
			     .at_ns = ts,
			     .start_ns = ts };
	if (event_is_command(e)) {
		it->at_ns = later(ts, e->nvme.lat_ns);
		it->in_flight = e->nvme.flags & NVME_IN_FLIGHT;
	} else if (e->kind == EV_SYSCALL) {
		it->at_ns = later(ts, e->syscall.lat_ns);
	} else if (e->kind == EV_URING) {
		it->at_ns = later(ts, e->uring.lat_ns);
		it->in_flight = e->uring.flags & URING_UNFINISHED;
	} else if (e->kind == EV_FAULT) {
		it->at_ns = later(ts, e->fault.lat_ns);
	} else if (e->kind != EV_CQ_OVERFLOW && e->kind < EV_KINDS) {
		it->start_ns = 0;
	}
}

static const char *const kind_names[N_ITEM_KINDS] = {
	[ITEM_META] = "meta",	      [ITEM_KVIO_META] = "kvio_meta",
	[ITEM_FOOTER] = "footer",     [ITEM_TASK] = "task",
	[ITEM_DISK] = "disk",	      [ITEM_NVME] = "nvme",
	[ITEM_NVME_KV] = "nvme_kv",   [ITEM_CQ_OVERFLOW] = "cq_overflow",
	[ITEM_CLOCK] = "clock",	      [ITEM_LOSS] = "loss",
	[ITEM_SEMANTIC] = "semantic", [ITEM_SERVING] = "serving",
	[ITEM_URING] = "uring",	      [ITEM_SYSCALL] = "syscall",
	[ITEM_PATH] = "path",	      [ITEM_FAULT] = "fault",
	[ITEM_CACHE] = "cache",	      [ITEM_BLOCK] = "block",
	[ITEM_OTHER] = "other",	      [ITEM_EXTENT] = "extent",
	[ITEM_RANGE] = "dsm_range",
};

const char *item_kind_name(enum item_kind kind)
{
	return kind_names[kind];
}
