// SPDX-License-Identifier: Apache-2.0
/* Records from lines, and the proof that they say the same. */
#include <stdlib.h>
#include <string.h>

#include "capture/calls.h"
#include "capture/fold_record.h"
#include "capture/jsonl_faults.h"
#include "capture/jsonl_write.h"
#include "capture/kvt.h"
#include "capture/nvme_names.h"

void told_free(struct told *t)
{
	buf_free(&t->ours);
	buf_free(&t->raw);
}

static u8 command_flags(const struct jsonl_cmd *c, const struct known_disk *d)
{
	u32 op = c->cmd_op & 0xff, flags = 0;

	if (c->has & HAS_USER_DATA)
		flags |= NVME_PASSTHROUGH;
	if (event_multipath(c->multipath, (c->has & HAS_WAIT) && (c->has & HAS_USER_DATA), d))
		flags |= NVME_MULTIPATH;
	if (c->in_flight)
		flags |= NVME_IN_FLIGHT;
	if (c->refused)
		flags |= NVME_REFUSED;
	if (slice_is(c->op_name, "admin"))
		flags |= NVME_ADMIN;
	if (c->has & HAS_WAIT)
		flags |= NVME_ENTRY;
	if (op == 0x81 || op == 0x83)
		flags |= NVME_VEC;
	return (u8)flags;
}

static void set_key(struct ev_nvme_kv *kv, const struct jsonl_cmd *c)
{
	const struct ndjson_field f = { .type = ND_STRING, .text = c->key_hex.p, .text_len = (u32)c->key_hex.n };

	kv->cmd.kind = EV_NVME_KV;
	kv->cmd.slba = c->value_len | (u64)c->key_len << 32;
	kv->cmd.nlb = 0;
	members_hex(&f, kv->key, sizeof(kv->key));
}

void fold_command(union event *e, const struct jsonl_cmd *c, const struct jsonl_cmp *p, u32 dev,
		  const struct known_disk *d)
{
	bool queue = c->has & HAS_QUEUE || (p && (p->has & HAS_QUEUE));
	bool extent = nvme_op_has_nlb(c->opcode) || event_disk_is_older(d);

	memset(e, 0, sizeof(*e));
	e->nvme = (struct ev_nvme){
		.kind = EV_NVME,
		.flags = command_flags(c, d),
		.opcode = c->opcode,
		.attempts = c->attempts,
		.status = p && (p->has & HAS_STATUS) ? p->status : 0,
		.hwq = !queue		    ? UINT16_MAX
		       : c->has & HAS_QUEUE ? c->hwq
					    : p->hwq,
		.cid = !queue		    ? UINT16_MAX
		       : c->has & HAS_QUEUE ? c->cid
					    : p->cid,
		.ts_ns = c->ts_ns,
		.lat_ns = p ? (u64)p->lat_ns : c->age_ns,
		.user_data = c->user_data,
		.slba = c->slba,
		.bytes = c->bytes,
		.wait_ns = c->wait_ns,
		.dev = dev,
		.nsid = c->nsid,
		.tid = c->tid,
		.nlb = extent && c->nlb ? (u16)(c->nlb - 1) : 0,
	};
	if (c->has & HAS_KEY)
		set_key(&e->kv, c);
}

/* ---- the other kinds ---- */

static bool set_name(const struct members *m, const char *key, char *out, size_t max)
{
	const struct ndjson_field *f = members_find(m, key);

	return f && f->type == ND_STRING && members_bytes(f, out, max) != SIZE_MAX;
}

static bool set_task(const struct members *m, union event *e)
{
	e->task = (struct ev_task){
		.kind = EV_TASK,
		.tid = (u32)members_u64(m, "tid"),
		.pid = (u32)members_u64(m, "pid"),
		.ns_pid = (u32)members_u64(m, "ns_pid"),
		.ts_ns = members_u64(m, "ts"),
		.cgroup = members_u64(m, "cgroup"),
	};
	return set_name(m, "comm", e->task.comm, sizeof(e->task.comm));
}

static bool set_disk(const struct members *m, union event *e)
{
	e->disk = (struct ev_disk){
		.kind = EV_DISK,
		.csi = (u8)members_u64(m, "csi"),
		.ms = (u16)members_u64(m, "ms"),
		.dev = (u32)members_u64(m, "dev"),
		.nsid = (u32)members_u64(m, "nsid"),
		.lba_bytes = (u32)members_u64(m, "lba_bytes"),
	};
	return set_name(m, "name", e->disk.name, sizeof(e->disk.name));
}

bool fold_path(const struct members *m, union event *e)
{
	const struct ndjson_field *text = members_find(m, "text");
	size_t n = text ? members_bytes(text, e->path.text, sizeof(e->path.text)) : SIZE_MAX;

	if (n == SIZE_MAX)
		return false;
	e->path.kind = EV_PATH;
	e->path.flags =
		(u8)((members_find(m, "last") ? PATH_LAST : 0) | (members_find(m, "as_given") ? PATH_AS_GIVEN : 0));
	e->path.piece = (u8)members_u64(m, "piece");
	e->path.n = (u8)n;
	e->path.dev = (u32)members_u64(m, "dev");
	e->path.ino = members_u64(m, "ino");
	e->path.ts_ns = members_u64(m, "ts");
	return true;
}

static s64 member_s64(const struct members *m, const char *key)
{
	const struct ndjson_field *f = members_find(m, key);
	s64 v = 0;

	if (f)
		ndjson_s64(f, &v);
	return v;
}

bool fold_call(const struct members *m, union event *e)
{
	const struct ndjson_field *call = members_find(m, "call");
	const char *offset = "offset";

	if (!call)
		return false;
	e->syscall = (struct ev_syscall){
		.kind = EV_SYSCALL,
		.call = call_find(call->text, call->text_len),
		.fd = (s32)member_s64(m, "fd"),
		.ts_ns = members_u64(m, "ts"),
		.lat_ns = members_u64(m, "lat_ns"),
		.size = members_u64(m, "size"),
		.ret = member_s64(m, "ret"),
		.ino = members_u64(m, "ino"),
		.dev = (u32)members_u64(m, "dev"),
		.tid = (u32)members_u64(m, "tid"),
		.arg = (u32)members_u64(m, "arg"),
		.fd2 = (s32)member_s64(m, "fd2"),
	};
	if (call_has_address(e->syscall.call))
		offset = "address";
	e->syscall.offset = members_u64(m, offset);
	e->syscall.flags =
		(u8)((members_find(m, "ino") ? SYSCALL_FILE : 0) | (members_find(m, offset) ? SYSCALL_OFFSET : 0) |
		     (members_find(m, "size_partial") ? SYSCALL_PARTIAL : 0) |
		     (members_find(m, "no_enter") ? SYSCALL_NO_ENTER : 0));
	return e->syscall.call != CALL_NONE;
}

bool fold_range(const struct members *m, union event *e)
{
	e->range = (struct ev_range){
		.kind = EV_RANGE,
		.n = (u8)(members_u64(m, "ranges") - 1),
		.index = (u16)members_u64(m, "index"),
		.dev = (u32)members_u64(m, "dev"),
		.ts_ns = members_u64(m, "ts"),
		.slba = members_u64(m, "slba"),
		.nlb = (u32)members_u64(m, "nlb"),
		.attributes = (u32)members_u64(m, "attributes"),
		.cid = (u16)members_u64(m, "cid"),
		.tid = (u32)members_u64(m, "tid"),
	};
	return true;
}

bool fold_extent(const struct members *m, union event *e)
{
	bool head = members_find(m, "extents");

	e->extent = (struct ev_extent){
		.kind = EV_EXTENT,
		.flags = (u8)((head ? EXTENT_FILE : 0) | (members_find(m, "at_end") ? EXTENT_AT_END : 0) |
			      (members_find(m, "moved") ? EXTENT_MOVED : 0)),
		.error = (u16)members_u64(m, "error"),
		.map_flags = (u32)members_u64(m, "map_flags"),
		.ts_ns = members_u64(m, "ts"),
		.ino = members_u64(m, "ino"),
		.offset = members_u64(m, head ? "size" : "offset"),
		.physical = members_u64(m, head ? "extents" : "physical"),
		.bytes = members_u64(m, "bytes"),
		.dev = (u32)members_u64(m, "dev"),
		.disk = (u32)members_u64(m, "disk"),
	};
	return true;
}

bool fold_uring(const struct members *m, union event *e)
{
	const char *offset = members_find(m, "slba") ? "slba" : "offset";
	u32 flags = 0;

	flags |= members_find(m, "ino") ? URING_FILE : 0;
	flags |= members_find(m, "offset") ? URING_OFFSET : 0;
	flags |= members_find(m, "size_partial") ? URING_PARTIAL : 0;
	flags |= members_find(m, "sqpoll") ? URING_SQPOLL : 0;
	flags |= members_find(m, "punted") ? URING_PUNTED : 0;
	flags |= members_find(m, "unfinished") ? URING_UNFINISHED : 0;
	flags |= members_find(m, "at_position") ? URING_POSITION : 0;
	e->uring = (struct ev_uring){
		.kind = EV_URING,
		.flags = (u8)flags,
		.opcode = (u8)members_u64(m, "opcode"),
		.sqe_flags = (u8)members_u64(m, "sqe_flags"),
		.res = (s32)member_s64(m, "res"),
		.ts_ns = members_u64(m, "ts"),
		.lat_ns = members_u64(m, "lat_ns"),
		.user_data = members_u64(m, "user_data"),
		.offset = members_u64(m, offset),
		.size = members_u64(m, "size"),
		.ino = members_u64(m, "ino"),
		.dev = (u32)members_u64(m, "dev"),
		.tid = (u32)members_u64(m, "tid"),
		.ring = (u32)members_u64(m, "ring"),
		.fd = (s32)member_s64(m, "fd"),
		.cqe_flags = (u32)members_u64(m, "cqe_flags"),
		.sub = (u32)members_u64(m, members_find(m, "iovcnt") ? "iovcnt" : "nvme_opcode"),
	};
	return e->uring.ts_ns != 0;
}

static bool set_overflow(const struct members *m, const struct jsonl_overflow *o, union event *e)
{
	e->overflow = (struct ev_cq_overflow){
		.kind = EV_CQ_OVERFLOW,
		.res = o->res,
		.ts_ns = o->ts_ns,
		.user_data = o->user_data,
		.tid = (u32)members_u64(m, "tid"),
	};
	return true;
}

static bool set_clock(const struct jsonl_anchor *a, union event *e)
{
	e->clock = (struct ev_clock){
		.kind = EV_CLOCK,
		.uncertainty_ns = a->uncertainty_ns,
		.monotonic_ns = a->monotonic_ns,
		.realtime_ns = a->realtime_ns,
	};
	return true;
}

static bool set_loss(const struct jsonl_loss *l, union event *e)
{
	e->loss = (struct ev_loss){
		.kind = EV_LOSS,
		.witness = event_witness(l->witness),
		.ts_ns = l->ts_ns,
		.seen = l->seen,
		.stored = l->stored,
		.ring_full = l->ring_full,
		.map_full = l->map_full,
		.hook_missed = l->hook_missed,
		.unread = l->unread,
		.filtered = l->filtered,
	};
	return true;
}

/* Of a record of a newer version: all of it is in its member "record". */
static bool set_foreign(const struct members *m, union event *e)
{
	e->kind = (u8)members_u64(m, "kind");
	return e->kind >= EV_KINDS;
}

/* The record that the members of the line say, zero elsewhere. */
static bool from_members(const struct members *m, const struct item *line, union event *e)
{
	const struct ndjson_field *type = members_find(m, "event_type");

	memset(e, 0, sizeof(*e));
	switch (line->rec->kind) {
	case JSONL_CQ_OVERFLOW:
		return set_overflow(m, &line->rec->overflow, e);
	case JSONL_CLOCK_ANCHOR:
		return set_clock(&line->rec->anchor, e);
	case JSONL_LOSS:
		return set_loss(&line->rec->loss, e);
	default:
		break;
	}
	if (line->kind == ITEM_TASK)
		return set_task(m, e);
	if (line->kind == ITEM_DISK)
		return set_disk(m, e);
	if (line->kind == ITEM_PATH)
		return fold_path(m, e);
	if (line->kind == ITEM_SYSCALL)
		return fold_call(m, e);
	if (line->kind == ITEM_URING)
		return fold_uring(m, e);
	if (line->kind == ITEM_FAULT)
		return jsonl_fold_fault(m, EV_FAULT, e);
	if (line->kind == ITEM_CACHE)
		return jsonl_fold_fault(m, EV_CACHE, e);
	if (line->kind == ITEM_BLOCK)
		return jsonl_fold_fault(m, EV_BLOCK, e);
	if (line->kind == ITEM_RANGE)
		return fold_range(m, e);
	if (line->kind == ITEM_EXTENT)
		return fold_extent(m, e);
	return type && slice_is((struct slice){ type->text, type->text_len }, "kvt_record") && set_foreign(m, e);
}

/* ---- the proof ---- */

/* What the line of a record tells beyond an older one that tells of the same. */
static const struct spare cmd_spare[] = {
	SPARE("op_name", true),	   SPARE("bytes", true), SPARE("cmd_op", true),
	SPARE("attempts", true),   SPARE("disk", true),	 SPARE("dev", true),
	SPARE("hwq", true),	   SPARE("cid", true),	 SPARE("nsid", false),
	SPARE("pid", false),	   SPARE("tid", false),	 SPARE("rdev", false),
	SPARE("multipath", false), SPARE("comm", false), {},
};
static const struct spare cmp_spare[] = {
	SPARE("err", true), SPARE("hwq", true), SPARE("cid", true), SPARE("dev", true), SPARE("status", false), {},
};
static const struct spare other_spare[] = {
	SPARE("pid", false),
	SPARE("tid", false),
	SPARE("uncertainty_ns", false),
	{},
};

/* A line of an older tracer, as ours begin: what ours has behind it must be spare. */
static bool begins_with(struct told *t, struct slice ours, struct slice theirs, const struct spare *spare)
{
	char *tail = (char *)ours.p + theirs.n - 1;
	bool ok;

	if (ours.n <= theirs.n || *tail != ',' || memcmp(ours.p, theirs.p, theirs.n - 1))
		return false;
	*tail = '{';
	ok = !members_scan(&t->a, tail, ours.n - theirs.n + 1) && members_are_spare(&t->a, spare);
	*tail = ',';
	return ok;
}

/* True when the line `ours`, in a buffer of t, says all that `theirs` does. */
static bool says_all_of(struct told *t, struct slice ours, struct slice theirs, const struct spare *spare)
{
	if (ours.n == theirs.n && (!ours.n || !memcmp(ours.p, theirs.p, ours.n)))
		return true;
	if (!ours.n || !theirs.n)
		return false;
	if (begins_with(t, ours, theirs, spare))
		return true;
	return !members_scan(&t->a, ours.p, ours.n) && !members_scan(&t->b, theirs.p, theirs.n) &&
	       members_cover(&t->a, &t->b, spare);
}

/* True when the lines of the record say all that the given ones do. */
static bool says_all(struct told *t, const struct folded *r, const struct item *line, struct names *names)
{
	struct slice first, second = {};
	const char *p, *end;

	buf_reset(&t->ours);
	jsonl_record(&t->ours, r->record, r->size, names);
	p = t->ours.p;
	end = p + t->ours.n;
	if (t->ours.failed || !ndjson_line(&p, end, &first))
		return false;
	ndjson_line(&p, end, &second);
	return p == end && says_all_of(t, first, line->line, item_is_command(line) ? cmd_spare : other_spare) &&
	       says_all_of(t, second, line->completion, cmp_spare);
}

/* The record in the member "record" of the line, if it has one. */
static bool from_hex(struct told *t, const struct item *line, struct folded *out)
{
	const struct ndjson_field *f;
	size_t n;

	if (members_scan(&t->b, line->line.p, line->line.n))
		return false;
	f = members_find(&t->b, "record");
	if (!f)
		return false;
	n = f->text_len / 2;
	buf_reset(&t->raw);
	if (!n || n > UINT16_MAX || !buf_room(&t->raw, n + sizeof(union event)))
		return false;
	memset(t->raw.p, 0, n + sizeof(union event));
	if (members_hex(f, (u8 *)t->raw.p, n) != n)
		return false;
	out->record = (const union event *)t->raw.p;
	out->size = n;
	return out->record->kind && out->record->kind < KVT_META;
}

bool fold_tells(struct told *t, const union event *e, const struct item *line, struct names *names, struct folded *out)
{
	*out = (struct folded){ e, event_bytes(e->kind) };
	if (out->size && says_all(t, out, line, names))
		return true;
	return from_hex(t, line, out) && says_all(t, out, line, names);
}

bool fold_other(struct told *t, const struct item *line, struct names *names, struct folded *out)
{
	if (members_scan(&t->b, line->line.p, line->line.n) || !from_members(&t->b, line, &t->event))
		return false;
	return fold_tells(t, &t->event, line, names, out);
}
