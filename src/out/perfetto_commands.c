// SPDX-License-Identifier: Apache-2.0
/* Command slices on the lanes of their role. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/perfetto_writer.h"

#define NOMINAL_NS 8000

/* The next command drawn on the same role, from behind `row`. */
static u32 next_of_role(const struct pf_arm *a, u32 row)
{
	u32 i = row + 1;

	/* Over all commands this passes each row once a role at most. */
	while (i < a->m->cmd.n && a->role[i] != a->role[row])
		i++;
	return i;
}

/* The latency is known and is what the slice shows. */
static bool real_duration(const struct pf_arm *a, u32 row)
{
	u32 flags = a->m->cmd.flags[row];

	if (flags & (NVME_IN_FLIGHT | CMD_NEGATIVE) || a->m->cmd.lat_ns[row] == NO_LAT)
		return false;
	/* A refused command may have no time on the device. */
	return !(flags & NVME_REFUSED) || a->m->cmd.lat_ns[row];
}

static u64 end_of(const struct pf_arm *a, u32 row, const struct perfetto_options *o)
{
	const struct cmd_table *t = &a->m->cmd;
	u64 begin = pf_time(a, t->ts_ns[row]), len;
	u32 next;

	if (t->flags[row] & NVME_IN_FLIGHT)
		return MAX(pf_time(a, a->end_ns), begin + 1);
	if (real_duration(a, row))
		return MAX(pf_time(a, MAX(cmd_end(a->m, row), t->ts_ns[row])), begin + 1);
	len = o->nominal_ns ? o->nominal_ns : NOMINAL_NS;
	next = next_of_role(a, row);
	if (next < t->n)
		len = MIN(len,
			  (t->ts_ns[next] - t->ts_ns[row]) / 10 * 9 + (t->ts_ns[next] - t->ts_ns[row]) % 10 * 9 / 10);
	return MIN(begin + MAX(len, 1), PF_MAX_TIME + 1);
}

static int by_end(const void *x, const void *y)
{
	const struct pf_cmd *a = x, *b = y;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static u32 next_drawn(const struct pf_arm *a, u32 row)
{
	while (row < a->m->cmd.n && !pf_drawn(a, row))
		row++;
	return row;
}

/* Puts all commands of the time of `row` into the batch, sorted; returns the row behind them. */
static s64 fill_batch(struct pf_arm *a, u32 row, const struct perfetto_options *o)
{
	const struct cmd_table *t = &a->m->cmd;
	u64 now = t->ts_ns[row];

	for (a->n_batch = 0; row < t->n && t->ts_ns[row] == now; row = next_drawn(a, row + 1)) {
		if (a->n_batch == a->batch_cap) {
			u32 cap = a->batch_cap ? a->batch_cap * 2 : 16;
			void *p = reallocarray(a->batch, cap, sizeof(*a->batch));

			if (!p)
				return -ENOMEM;
			a->batch = p;
			a->batch_cap = cap;
		}
		a->batch[a->n_batch++] = (struct pf_cmd){ end_of(a, row, o), row };
	}
	if (a->n_batch > 1)
		qsort(a->batch, a->n_batch, sizeof(*a->batch), by_end);
	return row;
}

/* Which commands are drawn, on which role, and from when to when. */
int pf_commands_prepare(struct pf_arm *a)
{
	const struct model *m = a->m;
	u32 i;

	a->role = malloc(m->cmd.n + 1ul);
	if (!a->role)
		return -ENOMEM;
	dir_names_init(&a->dirs, m);
	a->read_name = strpool_find(&m->strings, "read", 4);
	a->write_name = strpool_find(&m->strings, "write", 5);
	a->store_name = strpool_find(&m->strings, "store", 5);
	for (i = 0; i < m->cmd.n; i++) {
		if (cmd_state(m, i) == STATE_REISSUED) {
			a->role[i] = NOT_DRAWN;
			a->stats->reissued++;
			continue;
		}
		a->role[i] = (u8)cmd_role(m, i);
		a->several_devices |= m->cmd.dev[i] != m->cmd.dev[0];
		a->base_ns = MIN(a->base_ns, m->cmd.ts_ns[i]);
	}
	return 0;
}

/* Counts the lanes that each role needs: the descriptors come before the events. */
int pf_commands_lanes(struct pf_arm *a, const struct perfetto_options *o)
{
	u32 ranks = 0, k;
	s64 row = next_drawn(a, 0);

	while (row < a->m->cmd.n) {
		u64 begin = pf_time(a, a->m->cmd.ts_ns[row]);

		row = fill_batch(a, (u32)row, o);
		if (row < 0)
			return (int)row;
		for (k = 0; k < a->n_batch; k++) {
			struct pf_role *r = &a->roles[a->role[a->batch[k].row]];
			const struct lane_slice *s;

			while ((s = lanes_next(&r->lanes)) && s->end_ns < begin)
				lanes_idle(&r->lanes, lanes_pop(&r->lanes).lane);
			if (lanes_take(&r->lanes, a->batch[k].end_ns, 0) < 0)
				return -ENOMEM;
			if (!r->rank)
				r->rank = ++ranks;
		}
	}
	for (k = 0; k < N_ROLES; k++) {
		a->roles[k].n_lanes = a->roles[k].lanes.n;
		lanes_reset(&a->roles[k].lanes);
	}
	return 0;
}

enum suffix { SUFFIX_NONE, SUFFIX_FAILED, SUFFIX_REFUSED };
static const char *const suffixes[] = { "", " FAILED", " REFUSED" };

/* Interned event name.  Few names are used, so a small direct-mapped cache spares the hash of the text. */
static u32 name_iid(struct pf_writer *w, struct pf_arm *a, u32 row)
{
	const struct strpool *s = &a->m->strings;
	u32 id = a->m->cmd.name[row], flags = a->m->cmd.flags[row];
	enum suffix suffix = flags & NVME_REFUSED ? SUFFIX_REFUSED : flags & CMD_FAILED ? SUFFIX_FAILED : SUFFIX_NONE;
	u64 key = ((u64)id << 2 | suffix) + 1;
	size_t at = key % ARRAY_SIZE(a->name_cache);
	struct buf name = {};

	if (a->name_cache[at].key == key)
		return a->name_cache[at].iid;
	if (id)
		buf_add(&name, strpool_get(s, id), strpool_len(s, id));
	else
		buf_lit(&name, "cmd");
	buf_str(&name, suffixes[suffix]);
	if (name.failed)
		w->ret = -ENOMEM;
	a->name_cache[at].key = key;
	a->name_cache[at].iid = pf_event_name(w, name.p, name.n);
	buf_free(&name);
	return a->name_cache[at].iid;
}

/* What the command carried: block address, or key and value length. */
static void address_args(struct pf_writer *w, const struct pf_arm *a, u32 row)
{
	const struct cmd_table *t = &a->m->cmd;

	if (t->flags[row] & CMD_HAS_SLBA)
		pf_arg_u64(w, ARG_slba, t->slba[row]);
	pf_arg_u64(w, ARG_data_len, t->bytes[row]);
	if (t->flags[row] & CMD_HAS_KEY) {
		pf_arg_string(w, ARG_key_hex, strpool_get(&a->m->strings, t->key[row]),
			      strpool_len(&a->m->strings, t->key[row]));
		pf_arg_u64(w, ARG_key_len, t->slba[row] >> 32);
		pf_arg_u64(w, ARG_value_len, (u32)t->slba[row]);
	}
}

/* What went wrong or is unusual; nothing for a plain command. */
static void trouble_args(struct pf_writer *w, const struct pf_arm *a, u32 row)
{
	const struct cmd_table *t = &a->m->cmd;
	u32 flags = t->flags[row];
	const char *err;
	char text[32];

	if (t->attempts[row] > 1)
		pf_arg_u64(w, ARG_attempts, t->attempts[row]);
	if (t->wait_ns[row])
		pf_arg_u64(w, ARG_wait_ns, t->wait_ns[row]);
	if (flags & NVME_IN_FLIGHT)
		pf_arg_bool(w, ARG_in_flight, true);
	if (flags & NVME_REFUSED) {
		pf_arg_u64(w, ARG_errno, t->status[row]);
		err = strerrorname_np(t->status[row]);
		if (err)
			pf_arg_interned(w, ARG_err, err, strlen(err));
	} else if (flags & CMD_FAILED) {
		pf_arg_u64(w, ARG_status, t->status[row]);
		/* The older passthrough monitor knows the block layer's error only, not NVMe's. */
		snprintf(text, sizeof(text), flags & CMD_BLK_STATUS ? "blk_status %u" : "nvme 0x%x", t->status[row]);
		pf_arg_interned(w, ARG_err, text, strlen(text));
	}
}

/* The object's arrow: from its begin to its first command, and on to its last. */
static void flow(struct pf_writer *w, const struct pf_arm *a, u32 row)
{
	u32 op = a->m->cmd.op[row], at = op == NONE ? NONE : a->object_of[op];
	const struct pf_object *o;
	u64 id;

	if (at == NONE)
		return;
	o = &a->object[at];
	id = pf_flow_id(a, at);
	if (row == o->last_cmd)
		pb_fixed64(&w->b, EVENT_TERMINATING_FLOW_ID, id);
	else if (row == o->first_cmd)
		pb_fixed64(&w->b, EVENT_FLOW_ID, id);
}

/* Exactly read and write; an address of a key-value command is none. */
static bool has_lba_counter(const struct pf_arm *a, u32 row)
{
	return a->m->cmd.name[row] == a->read_name || a->m->cmd.name[row] == a->write_name;
}

static void count(struct pf_arm *a, u32 row)
{
	struct perfetto_stats *s = a->stats;

	s->command_slices++;
	if (!pf_counted(a, row))
		return;
	s->headers += !!(a->m->cmd.flags[row] & CMD_HEADER);
	if (a->role[row] == ROLE_UNTAGGED) {
		s->untagged++;
		s->untagged_bytes += a->m->cmd.bytes[row];
	} else {
		s->tagged_bytes += a->m->cmd.bytes[row];
	}
}

static void begin_command(struct pf_writer *w, struct pf_arm *a, u64 now, const struct pf_cmd *c)
{
	const struct cmd_table *t = &a->m->cmd;
	u32 row = c->row, op = t->op[row], dev = t->dev[row];
	struct pf_role *r = &a->roles[a->role[row]];
	s64 lane = lanes_take(&r->lanes, c->end_ns, row);
	enum dir dir = cmd_dir(&a->dirs, a->m, row);
	u64 tag = cmd_trace_id(a->m, row);

	if (lane < 0) {
		w->ret = -ENOMEM;
		return;
	}
	pf_event(w, now, TYPE_BEGIN, r->track + (u32)lane);
	pb_u64(&w->b, EVENT_NAME_IID, name_iid(w, a, row));
	/* The LBA counter is a value on the slice, not a packet of its own. */
	if (dir < N_DIRS && a->track_slba[dir] && pf_counted(a, row) && has_lba_counter(a, row)) {
		pb_u64(&w->b, EVENT_EXTRA_COUNTER_TRACK, a->track_slba[dir]);
		pb_s64(&w->b, EVENT_EXTRA_COUNTER_VALUE, (s64)t->slba[row]);
	}
	address_args(w, a, row);
	if (tag)
		pf_arg_u64(w, ARG_trace_id, tag);
	if (op != NONE && a->m->op.name[op] == a->store_name)
		pf_arg_interned(w, ARG_role, t->flags[row] & CMD_HEADER ? "header" : "payload",
				t->flags[row] & CMD_HEADER ? 6 : 7);
	pf_arg_bool(w, ARG_real_dur, real_duration(a, row));
	trouble_args(w, a, row);
	if (a->several_devices && dev < a->m->n_devices)
		pf_arg_id(w, ARG_device, &a->m->strings, a->m->device[dev].name);
	flow(w, a, row);
	pf_event_end(w);
	count(a, row);
}

static u64 next_time(const struct pf_arm *a)
{
	u64 next = a->next_cmd < a->m->cmd.n ? pf_time(a, a->m->cmd.ts_ns[a->next_cmd]) : PF_DONE;
	u32 k;

	for (k = 0; k < N_ROLES; k++) {
		const struct lane_slice *s = lanes_next(&a->roles[k].lanes);

		if (s)
			next = MIN(next, s->end_ns);
	}
	return next;
}

static void emit(struct pf_writer *w, struct pf_arm *a, struct pf_source *s)
{
	u64 now = s->next_ns;
	u32 k;

	/* Begins before ends: a lane that ends now is not taken by a slice that begins now. */
	while (a->next_cmd < a->m->cmd.n && pf_time(a, a->m->cmd.ts_ns[a->next_cmd]) == now) {
		s64 row = fill_batch(a, a->next_cmd, w->o);

		if (row < 0) {
			w->ret = (int)row;
			return;
		}
		a->next_cmd = (u32)row;
		for (k = 0; k < a->n_batch; k++)
			begin_command(w, a, now, &a->batch[k]);
	}
	for (k = 0; k < N_ROLES; k++) {
		struct pf_role *r = &a->roles[k];
		const struct lane_slice *open;

		while ((open = lanes_next(&r->lanes)) && open->end_ns == now) {
			struct lane_slice done = lanes_pop(&r->lanes);

			pf_end_slice(w, now, r->track + done.lane);
			lanes_idle(&r->lanes, done.lane);
		}
	}
	s->next_ns = next_time(a);
}

void pf_commands_start(struct pf_arm *a)
{
	a->next_cmd = next_drawn(a, 0);
	a->command_source = (struct pf_source){ .emit = emit, .order = ORDER_COMMANDS, .arm = a };
	a->command_source.next_ns = next_time(a);
}
