// SPDX-License-Identifier: Apache-2.0
/* Where the bytes went: from what programs moved to what devices moved. */
#include "capture/cache.h"
#include "capture/calls.h"
#include "capture/uring_names.h"
#include "model/calls.h"
#include "model/cause.h"
#include "model/measure.h"

static void move_bytes(struct byte_layer *l, enum call_class class, u64 bytes)
{
	if (class == CALL_IS_READ) {
		l->read_n++;
		l->read_bytes += bytes;
	} else if (class == CALL_IS_WRITE) {
		l->write_n++;
		l->write_bytes += bytes;
	}
}

static void add_layer(struct byte_layer *to, const struct byte_layer *l)
{
	to->on |= l->on;
	to->read_n += l->read_n;
	to->read_bytes += l->read_bytes;
	to->write_n += l->write_n;
	to->write_bytes += l->write_bytes;
}

static void add_requests(struct byte_layers *l, const struct model *m)
{
	u32 i;

	for (i = 0; i < m->uring.n; i++) {
		const struct ev_uring *e = &m->uring.row[i].ev;
		bool passthrough = uring_is_passthrough(e->opcode);
		enum call_class class;
		u64 bytes;

		if (e->flags & URING_UNFINISHED || e->res < 0)
			continue;
		class = uring_moved(e, &bytes);
		l->passthrough.on |= passthrough;
		if (!uring_failed(e) && (passthrough || e->flags & (URING_OFFSET | URING_POSITION)))
			move_bytes(passthrough ? &l->passthrough : &l->uring, class, bytes);
	}
	l->uring.on = m->dev_in.requests != 0;
}

static enum call_class cmd_class(const struct model *m, u32 i)
{
	enum role role = cmd_role(m, i);

	if (role == ROLE_UNTAGGED)
		role = m->cmd.opcode[i] == 2 ? ROLE_READS : m->cmd.opcode[i] == 1 ? ROLE_WRITES : ROLE_OTHER;
	return role == ROLE_READS ? CALL_IS_READ : role == ROLE_WRITES ? CALL_IS_WRITE : CALL_IS_OTHER;
}

/* Of what is known from a place in a file: it may be of each kind, and have been cut off since. */
static struct byte_layer *extent_layer(struct byte_layers *l, const struct cause_table *t, u32 i)
{
	if (t->call[i] != NONE)
		return &l->by_calls;
	if (t->uring[i] != NONE)
		return &l->by_uring;
	return t->fault && t->fault[i] != NONE ? &l->by_faults : &l->by_none;
}

/* The layer of what caused the command. */
static struct byte_layer *cause_layer(struct byte_layers *l, const struct model *m, u32 i)
{
	switch (m->cause.how[i]) {
	case CAUSE_USER_DATA:
		return &l->by_passthrough;
	case CAUSE_ORDER:
	case CAUSE_PLACE:
		return &l->by_uring;
	case CAUSE_THREAD:
	case CAUSE_CONTAINED:
		return &l->by_calls;
	case CAUSE_EXTENT:
		return extent_layer(l, &m->cause, i);
	default:
		return &l->by_none;
	}
}

static void add_commands(struct byte_layers *l, const struct model *m)
{
	u32 i;

	l->block.on = l->device.on = m->dev_in.commands != 0;
	l->by_calls.on = m->cause.on && l->calls.on;
	l->by_uring.on = m->cause.on && l->uring.on;
	l->by_passthrough.on = m->cause.on && l->passthrough.on;
	l->by_faults.on = m->cause.on && m->cause.fault;
	l->by_none.on = m->cause.on;
	for (i = 0; i < m->cmd.n; i++) {
		enum call_class class = cmd_class(m, i);
		u64 bytes = m->cmd.bytes[i];

		if (cmd_state(m, i) != STATE_OK)
			continue;
		move_bytes(&l->device, class, bytes);
		if (!(m->cmd.flags[i] & NVME_PASSTHROUGH))
			move_bytes(&l->block, class, bytes);
		if (m->cause.on)
			move_bytes(cause_layer(l, m, i), class, bytes);
	}
}

/* The last sums of each file. */
static void add_fills(struct byte_layers *l, const struct model *m)
{
	u32 i;

	for (i = 0; m->page_bytes && i < m->cache.n; i++) {
		const struct cache_row *c = &m->cache.row[i];

		if (!c->last || (c->ev.flags & CACHE_NO_FILLS))
			continue;
		l->page_cache.on = true;
		/* Where it is not known which ones writes made, all may have been read. */
		l->page_cache.reads_only |= !!(c->ev.flags & CACHE_NO_WRITTEN);
		l->page_cache.read_n += c->ev.fills - MIN(c->ev.written_fills, c->ev.fills);
		l->page_cache.read_bytes += cache_came_pages(&c->ev) * m->page_bytes;
		l->page_cache.write_n += c->ev.written_fills;
		l->page_cache.write_bytes += c->ev.written_pages * m->page_bytes;
	}
}

/* The last sums of each device and direction, where its commands were not recorded. */
static void add_blocks(struct byte_layers *l, const struct model *m)
{
	u32 i;

	if (l->block.on)
		return;
	for (i = 0; i < m->block.n; i++) {
		const struct ev_block *e = &m->block.row[i].ev;

		if (!m->block.row[i].last)
			continue;
		l->block.on = true;
		*(e->write ? &l->block.write_n : &l->block.read_n) += e->requests;
		*(e->write ? &l->block.write_bytes : &l->block.read_bytes) += e->bytes;
	}
}

void bytes_measure(struct byte_layers *l, const struct model *m)
{
	u32 i;

	*l = (struct byte_layers){ .calls.on = m->dev_in.calls != 0 };
	for (i = 0; i < m->call.n; i++) {
		const struct ev_syscall *e = &m->call.row[i].ev;

		if (e->ret < 0 || !(e->flags & SYSCALL_OFFSET))
			continue;
		if (call_reads(e->call))
			move_bytes(&l->calls, CALL_IS_READ, (u64)e->ret);
		if (call_writes(e->call))
			move_bytes(&l->calls, CALL_IS_WRITE, (u64)e->ret);
	}
	add_requests(l, m);
	add_layer(&l->program, &l->calls);
	add_layer(&l->program, &l->uring);
	add_layer(&l->program, &l->passthrough);
	add_fills(l, m);
	add_commands(l, m);
	add_blocks(l, m);
}
