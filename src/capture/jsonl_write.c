// SPDX-License-Identifier: Apache-2.0
#include "capture/jsonl_write.h"

#include "capture/nvme_names.h"
#include "capture/record.h"
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
	p = NUM(p, "ts", e->ts_ns);
	p = NUM(p, "seen", e->seen);
	p = NUM(p, "stored", e->stored);
	p = NUM(p, "ring_full", e->ring_full);
	p = NUM(p, "map_full", e->map_full);
	p = NUM(p, "hook_missed", e->hook_missed);
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
	default:
		return p;
	}
}

static bool has_completion(const struct ev_nvme *c)
{
	return event_is_command(c) && !(c->flags & NVME_IN_FLIGHT);
}

void jsonl_event(struct buf *b, const void *record, struct names *names)
{
	char *p, *start;

	if (!buf_room(b, 2 * LINE_BYTES))
		return;
	start = b->p + b->n;
	p = put_event(start, record, names);
	if (p > start)
		p = LIT(p, "}\n");
	if (has_completion(record))
		p = put_completion(p, record);
	b->n = (size_t)(p - b->p);
}

/* ---- without loss ---- */

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
}

static void put_disk(struct buf *b, const struct ev_disk *e)
{
	buf_printf(b, "{\"event_type\":\"disk\",\"dev\":%u,\"nsid\":%u,\"csi\":%u,\"lba_bytes\":%u,\"ms\":%u", e->dev,
		   e->nsid, e->csi, e->lba_bytes, e->ms);
	put_bytes(b, ",\"name\":", e->name, sizeof(e->name));
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

	if (event_multipath(multipath, c->flags & NVME_ENTRY, d) != !!(c->flags & NVME_MULTIPATH))
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
		return zero(e->task.pad, sizeof(e->task.pad)) && !e->task.pad2;
	case EV_CLOCK:
		return zero(e->clock.pad, sizeof(e->clock.pad));
	case EV_LOSS:
		return zero(e->loss.pad, sizeof(e->loss.pad));
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
	else
		b->n = (size_t)(put_event(b->p + start, record, names) - b->p);
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
