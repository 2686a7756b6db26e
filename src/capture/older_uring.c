// SPDX-License-Identifier: Apache-2.0
#include "capture/older_uring.h"

#include <errno.h>

#include "capture/uring_names.h"

/* The older tool knew reads and writes only. */
static const char *op_name(u8 opcode)
{
	switch (opcode) {
	case 1:
		return "READV";
	case 2:
		return "WRITEV";
	case 4:
		return "READ_FIXED";
	case 5:
		return "WRITE_FIXED";
	case 22:
		return "READ";
	case 23:
		return "WRITE";
	default:
		return "OTHER";
	}
}

static const char *direction(u8 opcode)
{
	switch (uring_op_class(opcode)) {
	case CALL_IS_READ:
		return "read";
	case CALL_IS_WRITE:
		return "write";
	default:
		return "none";
	}
}

static void put_common(struct buf *b, const char *type, const struct ev_uring *e, const struct known_task *t)
{
	buf_printf(b, "{\"event_type\":\"%s\",\"user_data\":%llu,\"pid\":%u", type, ULL(e->user_data),
		   t ? t->ev.pid : 0);
}

static void put_request(struct buf *b, const struct ev_uring *e)
{
	buf_printf(b, ",\"opcode\":%u,\"op_name\":\"%s\",\"ddir\":\"%s\",\"offset\":%llu,\"requested_bytes\":%llu",
		   e->opcode, op_name(e->opcode), direction(e->opcode),
		   ULL(e->flags & URING_POSITION ? UINT64_MAX : e->offset), ULL(e->size));
}

static void put_intent(struct buf *b, const struct ev_uring *e, u32 serial, const struct known_task *t)
{
	put_common(b, "intent", e, t);
	buf_printf(b, ",\"tid\":%u", e->tid);
	put_request(b, e);
	buf_printf(b,
		   ",\"requested_bytes_valid\":%s,\"requested_bytes_lower\":%llu,\"iovcnt\":%u,\"sqpoll\":%s,"
		   "\"req\":\"0x%x\",\"ctx\":\"0x%x\",\"comm\":",
		   e->flags & URING_PARTIAL ? "false" : "true", ULL(e->size), uring_is_vector(e->opcode) ? e->sub : 0,
		   e->flags & URING_SQPOLL ? "true" : "false", serial, e->ring);
	buf_json(b, t ? t->ev.comm : "", t ? strnlen(t->ev.comm, sizeof(t->ev.comm)) : 0);
	buf_printf(b, ",\"ts\":%llu}\n", ULL(e->ts_ns));
}

static void put_completion(struct buf *b, const struct ev_uring *e, u32 serial, const struct known_task *t)
{
	put_common(b, "completion", e, t);
	put_request(b, e);
	buf_printf(b, ",\"cqe_res\":%d,\"latency_ns\":%llu,\"req\":\"0x%x\",\"ts\":%llu}\n", e->res, ULL(e->lat_ns),
		   serial, ULL(e->ts_ns + e->lat_ns));
}

int older_uring_lines(struct older_uring *o, struct buf *b, const struct ev_uring *e, struct names *names)
{
	const struct known_task *t = names_task_at(names, e->tid, e->ts_ns);
	u64 key = hash_u64(e->ts_ns) ^ hash_u64(e->user_data + e->tid);
	bool unfinished = e->flags & URING_UNFINISHED, is_new = true;
	u32 *told = o->told.n ? map64_get(&o->told, key) : NULL, serial;

	if (told)
		serial = *told;
	else
		serial = ++o->serial;
	if (!told && unfinished) {
		told = map64_put(&o->told, key, &is_new);
		if (!told)
			return -ENOMEM;
		*told = serial;
	} else if (told) {
		is_new = false;
	}
	if (is_new)
		put_intent(b, e, serial, t);
	if (!unfinished)
		put_completion(b, e, serial, t);
	return 0;
}

void older_uring_free(struct older_uring *o)
{
	map64_free(&o->told);
}
