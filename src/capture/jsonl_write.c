// SPDX-License-Identifier: Apache-2.0
#include "capture/jsonl_write.h"

#include "capture/calls.h"
#include "capture/jsonl_faults.h"
#include "capture/nvme_names.h"
#include "capture/record.h"
#include "capture/uring_names.h"
#include "lib/buf.h"

#define BLK_STS_IOERR 10

/*
 * No line is longer: of 24 numbers each has at most 20 digits, of two names
 * each at most 194 bytes, and all keys together have some 400.
 */
#define LINE_BYTES 2048

/* Text is written at p, which moves behind it; the room was made before. */
#define LIT(p, s)      (memcpy(p, s, sizeof(s) - 1), (p) + sizeof(s) - 1)
#define NUM(p, key, v) text_u64(LIT(p, ",\"" key "\":"), v)

static inline char *put_str(char *p, const char *s)
{
	size_t n = strlen(s);

	memcpy(p, s, n);
	return p + n;
}

/* Names are of a bounded size and copied as a whole: a fixed size is faster than the true one. */
static inline char *put_name(char *p, const struct json_name *name)
{
	if (!name || !name->n)
		return LIT(p, "\"\"");
	if (name->n <= 32)
		memcpy(p, name->text, 32);
	else
		memcpy(p, name->text, sizeof(name->text));
	return p + name->n;
}

static char *put_key(char *p, const struct ev_nvme_kv *kv)
{
	static const char hex[] = "0123456789abcdef";
	u64 len = kv->cmd.slba >> 32 & 0xff, i;

	p = LIT(p, ",\"key_hex\":\"");
	for (i = 0; i < MIN(len, sizeof(kv->key)); i++) {
		*p++ = hex[kv->key[i] >> 4];
		*p++ = hex[kv->key[i] & 15];
	}
	*p++ = '"';
	p = NUM(p, "key_len", len);
	return NUM(p, "value_len", kv->cmd.slba & 0xffffffff);
}

/* What the command addresses, in the words of its command set. */
static char *put_extent(char *p, const struct ev_nvme *c, const struct known_disk *d)
{
	bool older = event_disk_is_older(d);
	u64 nlb = c->nlb + 1ull, bytes = c->bytes;

	if (c->kind == EV_NVME_KV) {
		p = put_key(p, (const struct ev_nvme_kv *)c);
	} else if (!(c->flags & NVME_ADMIN)) {
		if (older || nvme_op_has_slba(c->opcode))
			p = NUM(p, "slba", c->slba);
		if (older || nvme_op_has_nlb(c->opcode)) {
			p = NUM(p, "nlb", nlb);
			/* Of a transfer, the data without interleaved metadata. */
			if (c->bytes && d && d->ev.lba_bytes && d->ev.ms)
				bytes = nlb * d->ev.lba_bytes;
			if (d && d->typed_lba_bytes)
				bytes = nlb * d->typed_lba_bytes;
		}
		p = NUM(p, "bytes", bytes);
	}
	return NUM(p, "data_len", c->bytes);
}

static char *put_command(char *p, const struct ev_nvme *c, const struct known_disk *d, const struct known_task *t)
{
	const char *op = c->flags & NVME_ADMIN	 ? "admin"
			 : c->kind == EV_NVME_KV ? nvme_kv_op_name(c->opcode)
						 : nvme_op_name(c->opcode);

	p = LIT(p, "{\"event_type\":\"nvme_cmd\"");
	p = NUM(p, "pid", t ? t->ev.pid : 0);
	p = NUM(p, "tid", c->tid);
	if (c->flags & NVME_PASSTHROUGH)
		p = NUM(p, "user_data", c->user_data);
	p = NUM(p, "nvme_opcode", c->opcode);
	p = LIT(p, ",\"op_name\":\"");
	p = put_str(p, op);
	p = LIT(p, "\"");
	p = NUM(p, "nsid", c->nsid);
	p = put_extent(p, c, d);
	p = NUM(p, "multipath", (c->flags & NVME_MULTIPATH) || (d && d->multipath));
	if (c->flags & NVME_PASSTHROUGH) {
		p = LIT(p, ",\"cmd_op\":\"0xc0484e80\"");
		if (c->flags & NVME_VEC)
			p[-2] = '1';
	}
	p = NUM(p, "rdev", d ? d->rdev : 0);
	p = LIT(p, ",\"comm\":");
	p = put_name(p, t ? &t->comm : NULL);
	p = NUM(p, "ts", c->ts_ns);
	p = LIT(p, ",\"disk\":");
	p = put_name(p, d ? &d->name : NULL);
	p = NUM(p, "dev", c->dev);
	p = NUM(p, "hwq", c->hwq);
	p = NUM(p, "cid", c->cid);
	p = NUM(p, "attempts", c->attempts);
	if (c->flags & NVME_ENTRY)
		p = NUM(p, "wait_ns", c->wait_ns);
	if (c->flags & NVME_REFUSED)
		p = LIT(p, ",\"refused\":true");
	if (c->flags & NVME_IN_FLIGHT) {
		p = LIT(p, ",\"in_flight\":true");
		p = NUM(p, "age_ns", c->lat_ns);
	}
	return p;
}

static char *put_completion(char *p, const struct ev_nvme *c)
{
	bool refused = c->flags & NVME_REFUSED;

	p = LIT(p, "{\"event_type\":\"nvme_cmp\"");
	if (c->flags & NVME_PASSTHROUGH)
		p = NUM(p, "user_data", c->user_data);
	/* Of a refused command the kernel gives an errno; readers of err need not-zero. */
	p = NUM(p, "err", refused ? BLK_STS_IOERR : nvme_blk_status(c->status));
	p = NUM(p, "lat_ns", c->lat_ns);
	p = NUM(p, "hwq", c->hwq);
	p = NUM(p, "cid", c->cid);
	p = NUM(p, "ts", c->ts_ns + c->lat_ns);
	p = NUM(p, "dev", c->dev);
	p = NUM(p, "status", c->status);
	if (refused)
		p = LIT(p, ",\"refused\":true");
	return LIT(p, "}\n");
}

static char *put_loss(char *p, const struct ev_loss *e)
{
	p = LIT(p, "{\"event_type\":\"loss\"");
	if (event_witness_name(e->witness) && e->witness) {
		p = LIT(p, ",\"witness\":\"");
		p = put_str(p, event_witness_name(e->witness));
		p = LIT(p, "\"");
	}
	p = NUM(p, "ts", e->ts_ns);
	p = NUM(p, "seen", e->seen);
	p = NUM(p, "stored", e->stored);
	p = NUM(p, "ring_full", e->ring_full);
	p = NUM(p, "map_full", e->map_full);
	p = NUM(p, "hook_missed", e->hook_missed);
	/* At the end of a recording only, if ever. */
	if (e->unread)
		p = NUM(p, "unread", e->unread);
	return NUM(p, "filtered", e->filtered);
}

static char *put_overflow(char *p, const struct ev_cq_overflow *e, const struct known_task *t)
{
	p = LIT(p, "{\"event_type\":\"cq_overflow\"");
	p = NUM(p, "user_data", e->user_data);
	p = LIT(p, ",\"res\":");
	if (e->res < 0)
		*p++ = '-';
	p = text_u64(p, e->res < 0 ? 0 - (u64)e->res : (u64)e->res);
	p = NUM(p, "ts", e->ts_ns);
	p = NUM(p, "pid", t ? t->ev.pid : 0);
	return NUM(p, "tid", e->tid);
}

static char *put_anchor(char *p, const struct ev_clock *e)
{
	p = LIT(p, "{\"event_type\":\"clock_anchor\"");
	p = NUM(p, "monotonic_ns", e->monotonic_ns);
	p = NUM(p, "realtime_ns", e->realtime_ns);
	return NUM(p, "uncertainty_ns", e->uncertainty_ns);
}

static char *put_s64(char *p, s64 v)
{
	if (v < 0)
		*p++ = '-';
	return text_u64(p, v < 0 ? 0 - (u64)v : (u64)v);
}

/* All of a call but what its file is called. */
static char *put_call(char *p, const struct ev_syscall *c, const struct known_task *t)
{
	p = LIT(p, "{\"event_type\":\"syscall\",\"call\":\"");
	p = put_str(p, call_name(c->call));
	p = LIT(p, "\"");
	p = NUM(p, "pid", t ? t->ev.pid : 0);
	p = NUM(p, "tid", c->tid);
	p = LIT(p, ",\"comm\":");
	p = put_name(p, t ? &t->comm : NULL);
	p = NUM(p, "ts", c->ts_ns);
	p = NUM(p, "lat_ns", c->lat_ns);
	p = LIT(p, ",\"ret\":");
	p = put_s64(p, c->ret);
	p = LIT(p, ",\"fd\":");
	p = put_s64(p, c->fd);
	if (c->flags & SYSCALL_OFFSET)
		p = call_has_address(c->call) ? NUM(p, "address", c->offset) : NUM(p, "offset", c->offset);
	p = NUM(p, "size", c->size);
	if (c->arg)
		p = NUM(p, "arg", c->arg);
	if (c->fd2) {
		p = LIT(p, ",\"fd2\":");
		p = put_s64(p, c->fd2);
	}
	if (c->flags & SYSCALL_PARTIAL)
		p = LIT(p, ",\"size_partial\":true");
	if (c->flags & SYSCALL_NO_ENTER)
		p = LIT(p, ",\"no_enter\":true");
	if (c->flags & SYSCALL_FILE) {
		p = NUM(p, "dev", c->dev);
		p = NUM(p, "ino", c->ino);
	}
	return p;
}

/* All of a request but what its file is called. */
static char *put_uring(char *p, const struct ev_uring *e, const struct known_task *t)
{
	p = LIT(p, "{\"event_type\":\"uring\",\"op\":\"");
	p = put_str(p, uring_op_name(e->opcode));
	p = LIT(p, "\"");
	p = NUM(p, "opcode", e->opcode);
	p = NUM(p, "user_data", e->user_data);
	p = NUM(p, "pid", t ? t->ev.pid : 0);
	p = NUM(p, "tid", e->tid);
	p = LIT(p, ",\"comm\":");
	p = put_name(p, t ? &t->comm : NULL);
	p = NUM(p, "ts", e->ts_ns);
	p = NUM(p, "lat_ns", e->lat_ns);
	p = LIT(p, ",\"res\":");
	p = put_s64(p, e->res);
	p = LIT(p, ",\"fd\":");
	p = put_s64(p, e->fd);
	if (e->flags & URING_OFFSET)
		p = NUM(p, "offset", e->offset);
	else if (uring_is_passthrough(e->opcode))
		p = NUM(p, "slba", e->offset);
	p = NUM(p, "size", e->size);
	if (e->flags & URING_PARTIAL)
		p = LIT(p, ",\"size_partial\":true");
	if (e->flags & URING_POSITION)
		p = LIT(p, ",\"at_position\":true");
	if (uring_is_passthrough(e->opcode))
		p = NUM(p, "nvme_opcode", e->sub);
	else if (uring_is_vector(e->opcode) && e->sub)
		p = NUM(p, "iovcnt", e->sub);
	p = NUM(p, "ring", e->ring);
	if (e->sqe_flags)
		p = NUM(p, "sqe_flags", e->sqe_flags);
	if (e->cqe_flags)
		p = NUM(p, "cqe_flags", e->cqe_flags);
	if (e->flags & URING_SQPOLL)
		p = LIT(p, ",\"sqpoll\":true");
	if (e->flags & URING_PUNTED)
		p = LIT(p, ",\"punted\":true");
	if (e->flags & URING_UNFINISHED)
		p = LIT(p, ",\"unfinished\":true");
	if (e->flags & URING_FILE) {
		p = NUM(p, "dev", e->dev);
		p = NUM(p, "ino", e->ino);
	}
	return p;
}

static char *put_range(char *p, const struct ev_range *e)
{
	p = LIT(p, "{\"event_type\":\"dsm_range\"");
	p = NUM(p, "ts", e->ts_ns);
	p = NUM(p, "dev", e->dev);
	p = NUM(p, "cid", e->cid);
	p = NUM(p, "tid", e->tid);
	p = NUM(p, "ranges", e->n + 1u);
	p = NUM(p, "index", e->index);
	p = NUM(p, "slba", e->slba);
	p = NUM(p, "nlb", e->nlb);
	return e->attributes ? NUM(p, "attributes", e->attributes) : p;
}

static char *put_extent_of_file(char *p, const struct ev_extent *e)
{
	bool head = e->flags & EXTENT_FILE;

	p = LIT(p, "{\"event_type\":\"extent\"");
	p = NUM(p, "ts", e->ts_ns);
	if (e->flags & EXTENT_AT_END)
		p = LIT(p, ",\"at_end\":true");
	if (e->flags & EXTENT_MOVED)
		p = LIT(p, ",\"moved\":true");
	p = NUM(p, "dev", e->dev);
	p = NUM(p, "ino", e->ino);
	p = NUM(p, "disk", e->disk);
	if (head) {
		p = NUM(p, "size", e->offset);
		p = NUM(p, "extents", e->physical);
		return e->error ? NUM(p, "error", e->error) : p;
	}
	p = NUM(p, "offset", e->offset);
	p = NUM(p, "physical", e->physical);
	p = NUM(p, "bytes", e->bytes);
	return NUM(p, "map_flags", e->map_flags);
}

/* The path of the file of a call, request, fault or extent, where it is known. */
static void put_path_of(struct buf *b, const union event *e, struct names *names)
{
	const struct known_file *f = NULL;

	if (e->kind == EV_SYSCALL && (e->syscall.flags & SYSCALL_FILE))
		f = names_file_at(names, e->syscall.dev, e->syscall.ino, e->syscall.ts_ns);
	else if (e->kind == EV_URING && (e->uring.flags & URING_FILE))
		f = names_file_at(names, e->uring.dev, e->uring.ino, e->uring.ts_ns);
	else if (e->kind == EV_FAULT)
		f = names_file_at(names, e->fault.dev, e->fault.ino, e->fault.ts_ns);
	else if (e->kind == EV_CACHE)
		f = names_file_at(names, e->cache.dev, e->cache.ino, e->cache.ts_ns);
	else if (e->kind == EV_EXTENT)
		f = names_file_at(names, e->extent.dev, e->extent.ino, e->extent.ts_ns);

	if (!f)
		return;
	buf_lit(b, ",\"path\":");
	buf_json(b, f->path.p, f->path.n);
}

static void put_path(struct buf *b, const struct ev_path *e)
{
	buf_printf(b, "{\"event_type\":\"path\",\"dev\":%u,\"ino\":%llu,\"ts\":%llu,\"piece\":%u", e->dev, ULL(e->ino),
		   ULL(e->ts_ns), e->piece);
	if (e->flags & PATH_LAST)
		buf_lit(b, ",\"last\":true");
	if (e->flags & PATH_AS_GIVEN)
		buf_lit(b, ",\"as_given\":true");
	buf_lit(b, ",\"text\":");
	buf_json(b, e->text, MIN(e->n, sizeof(e->text)));
}

/* The line of a record but for its end; p itself when it has none. */
static char *put_event(char *p, const void *record, struct names *names)
{
	const struct ev_cq_overflow *overflow = record;
	const struct ev_nvme *c = record;

	switch (c->kind) {
	case EV_NVME:
	case EV_NVME_KV:
		return put_command(p, c, names_disk(names, c->dev), names_task_at(names, c->tid, c->ts_ns));
	case EV_CQ_OVERFLOW:
		return put_overflow(p, overflow, names_task_at(names, overflow->tid, overflow->ts_ns));
	case EV_CLOCK:
		return put_anchor(p, record);
	case EV_LOSS:
		return put_loss(p, record);
	case EV_SYSCALL: {
		const struct ev_syscall *call = record;

		return put_call(p, call, names_task_at(names, call->tid, call->ts_ns));
	}
	case EV_URING: {
		const struct ev_uring *e = record;

		return put_uring(p, e, names_task_at(names, e->tid, e->ts_ns));
	}
	case EV_EXTENT:
		return put_extent_of_file(p, record);
	case EV_RANGE:
		return put_range(p, record);
	default:
		return p;
	}
}

static bool has_completion(const struct ev_nvme *c)
{
	return event_is_command(c) && !(c->flags & NVME_IN_FLIGHT);
}

/* A name with all that stands in its array, but for zeros at the end. */
static void put_bytes(struct buf *b, const char *key, const char *name, size_t n)
{
	while (n && !name[n - 1])
		n--;
	buf_str(b, key);
	buf_json(b, name, n);
}

static void put_task(struct buf *b, const struct ev_task *e)
{
	buf_printf(b, "{\"event_type\":\"task\",\"tid\":%u,\"pid\":%u,\"ts\":%llu", e->tid, e->pid,
		   (unsigned long long)e->ts_ns);
	put_bytes(b, ",\"comm\":", e->comm, sizeof(e->comm));
	if (e->ns_pid)
		buf_printf(b, ",\"ns_pid\":%u", e->ns_pid);
	if (e->cgroup)
		buf_printf(b, ",\"cgroup\":%llu", ULL(e->cgroup));
}

void jsonl_event(struct buf *b, const void *record, struct names *names)
{
	char *p, *start;

	if (!buf_room(b, 2 * LINE_BYTES))
		return;
	/* All but the numbers of a container is in the lines of its events. */
	if (*(const u8 *)record == EV_TASK && ((const struct ev_task *)record)->ns_pid) {
		put_task(b, record);
		buf_lit(b, "}\n");
		return;
	}
	start = b->p + b->n;
	p = put_event(start, record, names);
	if (*(const u8 *)record >= EV_SYSCALL) {
		b->n = (size_t)(p - b->p);
		if (*(const u8 *)record == EV_PATH)
			put_path(b, record);
		else if (jsonl_is_fault(*(const u8 *)record))
			jsonl_put_fault(b, record, names);
		if (*(const u8 *)record != EV_PATH)
			put_path_of(b, record, names);
		buf_lit(b, "}\n");
		return;
	}
	if (p > start)
		p = LIT(p, "}\n");
	if (has_completion(record))
		p = put_completion(p, record);
	b->n = (size_t)(p - b->p);
}

/* ---- without loss ---- */

static void put_disk(struct buf *b, const struct ev_disk *e)
{
	buf_printf(b, "{\"event_type\":\"disk\",\"dev\":%u,\"nsid\":%u,\"csi\":%u,\"lba_bytes\":%u,\"ms\":%u", e->dev,
		   e->nsid, e->csi, e->lba_bytes, e->ms);
	put_bytes(b, ",\"name\":", e->name, sizeof(e->name));
}

static bool uring_is_told(const struct ev_uring *e)
{
	bool cmd = uring_is_passthrough(e->opcode);

	return (e->flags & URING_OFFSET || cmd || !e->offset) && !(e->flags & URING_OFFSET && cmd) &&
	       (cmd || uring_is_vector(e->opcode) || !e->sub) && (e->flags & URING_FILE || (!e->dev && !e->ino));
}

static bool call_is_told(const struct ev_syscall *c)
{
	return c->call && c->call < N_CALLS && c->flags < 16 && (c->flags & SYSCALL_OFFSET || !c->offset) &&
	       (c->flags & SYSCALL_FILE || (!c->dev && !c->ino));
}

/* True when the members of a key-value command tell all of it. */
static bool key_is_told(const struct ev_nvme_kv *kv)
{
	u64 len = MIN(kv->cmd.slba >> 32 & 0xff, sizeof(kv->key));

	for (; len < sizeof(kv->key); len++)
		if (kv->key[len])
			return false;
	return !(kv->cmd.slba >> 40) && !kv->cmd.nlb;
}

/* The same of a command. */
static bool command_is_told(const struct ev_nvme *c, const struct known_disk *d)
{
	bool io = c->kind == EV_NVME && !(c->flags & NVME_ADMIN), older = event_disk_is_older(d);
	bool multipath = (c->flags & NVME_MULTIPATH) || (d && d->multipath);

	if (event_multipath(multipath, (c->flags & NVME_ENTRY) && (c->flags & NVME_PASSTHROUGH), d) !=
	    !!(c->flags & NVME_MULTIPATH))
		return false;
	if ((c->flags & 1 << 7) || (!(c->flags & NVME_ENTRY) && c->wait_ns) ||
	    (!(c->flags & NVME_PASSTHROUGH) && (c->user_data || (c->flags & NVME_VEC))) ||
	    ((c->flags & NVME_IN_FLIGHT) && c->status))
		return false;
	if (c->kind == EV_NVME_KV)
		return key_is_told((const struct ev_nvme_kv *)c);
	return (!c->slba || (io && (older || nvme_op_has_slba(c->opcode)))) &&
	       (!c->nlb || (io && (older || nvme_op_has_nlb(c->opcode))));
}

static bool zero(const u8 *p, size_t n)
{
	while (n--)
		if (p[n])
			return false;
	return true;
}

/* True when the members of its lines tell all of a record. */
static bool is_told(const union event *e, size_t size, struct names *names)
{
	if (size != event_bytes(e->kind))
		return false;
	switch (e->kind) {
	case EV_NVME:
	case EV_NVME_KV:
		return command_is_told(&e->nvme, names_disk(names, e->nvme.dev));
	case EV_CQ_OVERFLOW:
		return zero(e->overflow.pad, sizeof(e->overflow.pad)) && !e->overflow.pad2;
	case EV_TASK:
		return zero(e->task.pad, sizeof(e->task.pad));
	case EV_CLOCK:
		return zero(e->clock.pad, sizeof(e->clock.pad));
	case EV_LOSS:
		return zero(e->loss.pad, sizeof(e->loss.pad)) && e->loss.witness < EV_WITNESSES;
	case EV_SYSCALL:
		return call_is_told(&e->syscall);
	case EV_URING:
		return uring_is_told(&e->uring);
	case EV_RANGE:
		return !e->range.pad;
	case EV_EXTENT:
		return e->extent.flags < 8 &&
		       (e->extent.flags & EXTENT_FILE ? !e->extent.bytes && !e->extent.map_flags : !e->extent.error);
	case EV_PATH:
		return e->path.n <= sizeof(e->path.text) && !(e->path.flags & ~3u) &&
		       zero((const u8 *)e->path.text + e->path.n, sizeof(e->path.text) - e->path.n);
	case EV_FAULT:
	case EV_CACHE:
	case EV_BLOCK:
		return jsonl_fault_is_told(e);
	default:
		return e->kind == EV_DISK;
	}
}

void jsonl_record(struct buf *b, const void *record, size_t size, struct names *names)
{
	const u8 kind = *(const u8 *)record;
	bool told = is_told(record, size, names);
	size_t start;

	if (told && kind != EV_TASK && kind != EV_DISK) {
		jsonl_event(b, record, names);
		return;
	}
	if (!buf_room(b, 2 * LINE_BYTES))
		return;
	start = b->n;
	if (kind == EV_TASK)
		put_task(b, record);
	else if (kind == EV_DISK)
		put_disk(b, record);
	else if (kind == EV_PATH)
		put_path(b, record);
	else if (jsonl_is_fault(kind))
		jsonl_put_fault(b, record, names);
	else
		b->n = (size_t)(put_event(b->p + start, record, names) - b->p);
	if (kind == EV_SYSCALL || kind == EV_URING || kind == EV_EXTENT || jsonl_is_fault(kind))
		put_path_of(b, record, names);
	if (b->n == start)
		buf_printf(b, "{\"event_type\":\"kvt_record\",\"kind\":%u,\"ts\":%llu", kind,
			   (unsigned long long)event_time(record));
	if (!told) {
		buf_lit(b, ",\"record\":\"");
		buf_hexbytes(b, record, size);
		buf_byte(b, '"');
	}
	buf_lit(b, "}\n");
	if (has_completion(record) && buf_room(b, LINE_BYTES))
		b->n = (size_t)(put_completion(b->p + b->n, record) - b->p);
}
