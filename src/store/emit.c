// SPDX-License-Identifier: Apache-2.0
#include "store/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/ring.h"
#include "lib/hash.h"

#define FLUSH_AT (1u << 18)

void emit_error_text(s32 res, char *out, size_t size)
{
	const char *name = ring_status_name(res);

	if (res == -EBADMSG)
		snprintf(out, size, "the slot has the header of another object");
	else if (res == -EILSEQ)
		snprintf(out, size, "the payload's sum is wrong");
	else if (res < 0)
		snprintf(out, size, "%s", strerror(-res));
	else
		snprintf(out, size, "NVMe status %d (SCT %u SC 0x%02x%s%s)", res, ring_status_sct(res),
			 ring_status_sc(res), *name ? ", " : "", name);
}

static void flush(struct emit *e)
{
	size_t at = 0;

	if (e->b.failed && !e->error)
		e->error = -ENOMEM;
	while (at < e->b.n && !e->error) {
		ssize_t n = write(e->fd, e->b.p + at, e->b.n - at);

		if (n < 0 && errno != EINTR)
			e->error = -errno;
		at += n < 0 ? 0 : (size_t)n;
	}
	buf_reset(&e->b);
}

/* Seconds with all nine decimals, which a double would not hold, and the same whole. */
static void put_time(struct buf *b, const char *name, u64 ns)
{
	buf_printf(b, ",\"%s\":%" PRIu64 ".%09u,\"%s_ns\":%" PRIu64, name, (u64)(ns / NSEC_PER_SEC),
		   (u32)(ns % NSEC_PER_SEC), name, ns);
}

void emit_open(struct emit *e, int fd, const struct rig *r, const char *emitter)
{
	const struct kv_layout *l = &r->store.o.layout;
	struct clock_anchor now = clock_anchor_now();
	char host[256] = "";

	*e = (struct emit){ .fd = fd, .instance = (u32)hash_u64((u64)getpid() << 32 ^ now.monotonic_ns) };
	gethostname(host, sizeof(host) - 1);
	buf_lit(&e->b, "{\"event_type\":\"kvio_meta\",\"kvio_schema\":2,\"emitter\":");
	buf_json(&e->b, emitter, strlen(emitter));
	buf_lit(&e->b, ",\"hostname\":");
	buf_json(&e->b, host, strlen(host));
	buf_printf(&e->b, ",\"pid\":%d,\"instance\":\"%08x\",\"device_path\":", getpid(), e->instance);
	buf_json(&e->b, r->guard.node, strlen(r->guard.node));
	buf_printf(&e->b,
		   ",\"capacity_bytes\":%" PRIu64 ",\"slot_bytes\":%" PRIu64 ",\"block_align\":%" PRIu64
		   ",\"header_bytes\":%" PRIu64 ",\"max_data_transfer_size\":%" PRIu64
		   ",\"io_engine\":\"%s\",\"use_uring_cmd\":%s",
		   l->capacity_bytes, l->slot_bytes, l->block_align, l->header_bytes, r->xfer,
		   r->o.engine == IO_POSIX ? "posix" : "io_uring", r->o.engine == IO_URING_CMD ? "true" : "false");
	put_time(&e->b, "ts_monotonic", now.monotonic_ns);
	put_time(&e->b, "ts_realtime", now.realtime_ns);
	buf_lit(&e->b, "}\n");
	/* Also when nothing follows for a while. */
	flush(e);
}

int emit_open_file(struct emit *e, const char *path, const struct rig *r, const char *emitter)
{
	const char *env = getenv("LMCACHE_KVIO_TRACE");
	int how = path ? O_TRUNC : O_APPEND, fd;

	*e = (struct emit){ .fd = -1 };
	if (!path)
		path = env && *env ? env : NULL;
	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0600);
	if (fd < 0)
		return -errno;
	emit_open(e, fd, r, emitter);
	return e->error;
}

void emit_op(struct emit *e, const struct emit_op *o)
{
	struct buf *b = &e->b;
	char text[121];

	buf_printf(b, "{\"trace_id\":%u,\"op\":\"%s\",\"key\":", o->trace_id, o->op);
	buf_json(b, o->key, o->key_len);
	buf_lit(b, ",\"object_id\":");
	buf_json(b, o->key, o->key_len);
	buf_printf(b, ",\"part\":\"kv\",\"bytes\":%" PRIu64 ",\"slot_offset\":%" PRIu64, o->bytes, o->slot_offset);
	put_time(b, "ts_start", o->start_ns);
	put_time(b, "ts", o->end_ns);
	buf_printf(b, ",\"pid\":%d,\"instance\":\"%08x\",\"kv_rank\":%u,\"request_index\":%" PRIu64, getpid(),
		   e->instance, o->kv_rank, o->request);
	if (o->shape)
		buf_printf(b, ",\"shape\":%s", o->shape);
	if (o->dtype)
		buf_printf(b, ",\"dtype\":\"%s\"", o->dtype);
	if (o->res) {
		emit_error_text(o->res, text, sizeof(text));
		buf_lit(b, ",\"error\":");
		buf_json(b, text, strlen(text));
	}
	buf_lit(b, "}\n");
	if (b->n >= FLUSH_AT)
		flush(e);
}

int emit_close(struct emit *e)
{
	if (e->fd < 0)
		return 0;
	flush(e);
	if (close(e->fd) && !e->error)
		e->error = -errno;
	e->fd = -1;
	buf_free(&e->b);
	return e->error;
}
