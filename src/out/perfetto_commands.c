// SPDX-License-Identifier: Apache-2.0
/* Command slices on the lanes of their role. */
#include <errno.h>
#include <stdlib.h>

#include "out/perfetto_writer.h"

#define NOMINAL_NS 8000

/* The next command drawn on the same role, from behind `at`; n_rows when there is none. */
static u32 next_of_role(const struct pf_unit *u, u32 at)
{
	const u8 *role = u->arm->role;
	u32 i = at + 1;

	/* Over all commands this passes each row once a role at most. */
	while (i < u->n_rows && role[pf_row(u, i)] != role[pf_row(u, at)])
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

/* When the slice of a command ends: at least 1 ns behind its begin. */
u64 pf_command_end(const struct pf_unit *u, u32 at, const struct perfetto_options *o)
{
	const struct pf_arm *a = u->arm;
	const struct cmd_table *t = &a->m->cmd;
	u32 row = pf_row(u, at), next;
	u64 ts = t->ts_ns[row], begin = pf_time(a, ts), len, gap;

	if (t->flags[row] & NVME_IN_FLIGHT)
		return MAX(pf_end_time(a, ts, MAX(a->end_ns, ts)), begin + 1);
	if (real_duration(a, row))
		return MAX(pf_end_time(a, ts, MAX(cmd_end(a->m, row), ts)), begin + 1);
	len = o->nominal_ns ? o->nominal_ns : NOMINAL_NS;
	next = next_of_role(u, at);
	if (next < u->n_rows) {
		gap = t->ts_ns[pf_row(u, next)] - ts;
		len = MIN(len, gap / 10 * 9 + gap % 10 * 9 / 10);
	}
	return MIN(begin + MAX(len, 1), PF_MAX_TIME + 1);
}

static int by_end(const void *x, const void *y)
{
	const struct pf_cmd *a = x, *b = y;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Slices: the groups, or the commands without those that are not drawn. */
static u32 next_slice(const struct pf_unit *u, u32 at)
{
	while (!u->group && at < u->n_rows && !pf_drawn(u->arm, pf_row(u, at)))
		at++;
	return at;
}

static u64 begin_of(const struct pf_unit *u, u32 at)
{
	if (u->group)
		return at < u->n_groups ? u->group[at].begin_ns : PF_DONE;
	return at < u->n_rows ? pf_time(u->arm, u->arm->m->cmd.ts_ns[pf_row(u, at)]) : PF_DONE;
}

static u64 end_of(const struct pf_unit *u, u32 at, const struct perfetto_options *o)
{
	return u->group ? u->group[at].end_ns : pf_command_end(u, at, o);
}

static u32 row_of(const struct pf_unit *u, u32 at)
{
	return u->group ? u->group[at].row : pf_row(u, at);
}

/* Puts all slices that begin with `at` into the batch, sorted; returns the place behind them. */
static s64 fill_batch(struct pf_unit *u, u32 at, const struct perfetto_options *o)
{
	u64 now = begin_of(u, at);

	for (u->n_batch = 0; begin_of(u, at) == now; at = next_slice(u, at + 1)) {
		if (u->n_batch == u->batch_cap) {
			u32 cap = u->batch_cap ? u->batch_cap * 2 : 16;
			void *p = reallocarray(u->batch, cap, sizeof(*u->batch));

			if (!p)
				return -ENOMEM;
			u->batch = p;
			u->batch_cap = cap;
		}
		u->batch[u->n_batch++] = (struct pf_cmd){ end_of(u, at, o), at };
	}
	if (u->n_batch > 1)
		qsort(u->batch, u->n_batch, sizeof(*u->batch), by_end);
	return at;
}

/* Which commands are drawn, on which role, and from when to when. */
int pf_commands_prepare(struct pf_arm *a)
{
	const struct model *m = a->m;
	u32 i;

	a->role = malloc(m->cmd.n + 1ul);
	if (!a->role)
		return -ENOMEM;
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
		a->first_ns = MIN(a->first_ns, m->cmd.ts_ns[i]);
	}
	return 0;
}

/* Counts the lanes that each role needs: the descriptors come before the events. */
int pf_commands_lanes(struct pf_unit *u, const struct perfetto_options *o)
{
	const u8 *role = u->arm->role;
	u32 ranks = 0, k;
	s64 at = next_slice(u, 0);
	u64 begin;

	while ((begin = begin_of(u, (u32)at)) != PF_DONE) {
		at = fill_batch(u, (u32)at, o);
		if (at < 0)
			return (int)at;
		for (k = 0; k < u->n_batch; k++) {
			u32 row = row_of(u, u->batch[k].at);
			struct pf_role *r = &u->roles[role[row]];
			const struct pf_counter *lba = pf_command_counter(u, row);
			s64 lane;

			lanes_advance(&r->lanes, begin);
			lane = lanes_take(&r->lanes, u->batch[k].end_ns, false);
			if (lane < 0)
				return -ENOMEM;
			r->n_first_lane += !lane;
			if (!r->rank)
				r->rank = ++ranks;
			if (lba)
				u->n_samples[lba - u->slba]++;
		}
	}
	for (k = 0; k < N_ROLES; k++) {
		u->roles[k].n_lanes = u->roles[k].lanes.n;
		lanes_reset(&u->roles[k].lanes);
	}
	return 0;
}

static void count(struct pf_unit *u, u32 row, u64 n, u64 bytes, u64 headers)
{
	struct pf_arm *a = u->arm;
	struct perfetto_stats *s = a->stats;

	s->commands.slices++;
	s->commands.n += n;
	s->commands.amount += bytes;
	if (!pf_counted(a, row))
		return;
	s->headers += headers;
	if (a->role[row] == ROLE_UNTAGGED) {
		s->untagged += n;
		s->untagged_bytes += bytes;
	} else {
		s->tagged_bytes += bytes;
	}
}

static void begin_slice(struct pf_writer *w, struct pf_unit *u, u64 now, const struct pf_cmd *c)
{
	struct pf_arm *a = u->arm;
	const struct cmd_table *t = &a->m->cmd;
	u32 row = row_of(u, c->at);
	const struct pf_group *g = u->group ? &u->group[c->at] : NULL;
	struct pf_role *r = &u->roles[a->role[row]];
	struct pf_counter *lba = pf_command_counter(u, row);
	s64 lane = lanes_take(&r->lanes, c->end_ns, false);

	if (lane < 0) {
		w->ret = -ENOMEM;
		return;
	}
	if (lba) {
		lba->value.n = (s64)t->slba[row];
		lba->known = true;
	}
	pf_event(w, now, TYPE_BEGIN, r->track + (u32)lane);
	if (g && g->n > 1) {
		pf_group_describe(w, u, c->at);
		count(u, row, g->n, g->bytes, g->n_headers);
	} else {
		pf_command_describe(w, u, row, real_duration(a, row));
		count(u, row, 1, t->bytes[row], !!(t->flags[row] & CMD_HEADER));
	}
	pf_event_end(w);
}

static u64 next_time(const struct pf_unit *u)
{
	u64 next = begin_of(u, u->next);
	u32 k;

	for (k = 0; k < N_ROLES; k++) {
		const struct lane_slice *s = lanes_next(&u->roles[k].lanes);

		if (s)
			next = MIN(next, s->end_ns);
	}
	return next;
}

static void emit(struct pf_writer *w, struct pf_source *s)
{
	struct pf_unit *u = container_of(s, struct pf_unit, commands);
	u64 now = s->next_ns;
	u32 k;

	/* Begins before ends: a lane that ends now is not taken by a slice that begins now. */
	while (begin_of(u, u->next) == now) {
		s64 at = fill_batch(u, u->next, w->o);

		if (at < 0) {
			w->ret = (int)at;
			return;
		}
		u->next = (u32)at;
		for (k = 0; k < u->n_batch; k++)
			begin_slice(w, u, now, &u->batch[k]);
	}
	for (k = 0; k < N_ROLES; k++) {
		struct pf_role *r = &u->roles[k];
		const struct lane_slice *open;

		while ((open = lanes_next(&r->lanes)) && open->end_ns == now) {
			struct lane_slice done = lanes_pop(&r->lanes);

			if (!done.silent)
				pf_end_slice(w, now, r->track + done.lane);
			lanes_idle(&r->lanes, done.lane);
		}
	}
	s->next_ns = next_time(u);
}

void pf_commands_start(struct pf_unit *u)
{
	u->next = next_slice(u, 0);
	u->commands = (struct pf_source){ .emit = emit, .order = ORDER_COMMANDS, .arm = u->arm };
	u->commands.next_ns = next_time(u);
}
