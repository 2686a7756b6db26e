// SPDX-License-Identifier: Apache-2.0
/* Command slices on the lanes of their role. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
static bool real_duration(const struct pf_draw *a, u32 row)
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
	const struct pf_draw *a = u->arm;
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

static u32 n_slices(const struct pf_unit *u)
{
	return u->group ? u->n_groups : u->n_rows;
}

static inline u64 begin_of(const struct pf_unit *u, u32 at)
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
int pf_commands_prepare(struct pf_draw *a)
{
	const struct model *m = a->m;
	u32 i;

	a->role = malloc(m->cmd.n + 1ul);
	if (!a->role)
		return -ENOMEM;
	a->read_name = strpool_find(&m->strings, "read", 4);
	a->write_name = strpool_find(&m->strings, "write", 5);
	a->store_name = strpool_find(&m->strings, "store", 5);
	/* First attempts are drawn as instants, not as commands. */
	for (i = 0; i < m->cmd.n; i++) {
		a->first_ns = MIN(a->first_ns, m->cmd.ts_ns[i]);
		if (cmd_state(m, i) == STATE_REISSUED) {
			a->role[i] = NOT_DRAWN;
			a->stats->reissued++;
		} else {
			a->role[i] = (u8)cmd_role(m, i);
		}
	}
	return 0;
}

/* first_behind() of plain commands, as most are: by their column, without branches in the search. */
static u32 first_ts_behind(const u64 *ts, u32 n, u32 at, u64 end)
{
	u64 lo = at, step = 1, len;

	for (; lo + step < n && ts[lo + step] <= end; step *= 2)
		lo += step;
	for (len = MIN(lo + step, n) - lo; len > 1;) {
		u64 half = len / 2;

		lo += ts[lo + half] <= end ? half : 0;
		len -= half;
	}
	return (u32)lo + 1;
}

/* The first slice that begins later than `end`, from behind `at`, which does not. */
static u32 first_behind(const struct pf_unit *u, u32 at, u64 end)
{
	u64 n = n_slices(u), lo = at, step = 1, hi;

	if (!u->group && !u->row && !u->arm->n_knots && end < PF_MAX_TIME &&
	    !__builtin_add_overflow(end, u->arm->shift_ns, &hi))
		return first_ts_behind(u->arm->m->cmd.ts_ns, u->n_rows, at, hi);

	/* It is near: steps that double, then halves between the last two. */
	for (; lo + step < n && begin_of(u, (u32)(lo + step)) <= end; step *= 2)
		lo += step;
	hi = MIN(lo + step, n);
	while (lo + 1 < hi) {
		u64 mid = lo + (hi - lo) / 2;

		if (begin_of(u, (u32)mid) <= end)
			lo = mid;
		else
			hi = mid;
	}
	return (u32)hi;
}

/*
 * First fit takes as many lanes as slices are open at once, at most; ended[]
 * has room for one more than there are slices.
 */
static void count_lanes(struct pf_unit *u, u32 role, const struct perfetto_options *o, u32 *ended)
{
	u32 n = n_slices(u), open = 0, at;
	struct pf_role *r = &u->roles[role];

	memset(ended, 0, (n + 1ul) * sizeof(*ended));
	r->first_begin_ns = r->first_end_ns = UINT64_MAX;
	for (at = 0; at < n; at++) {
		u64 end;

		open -= ended[at];
		if (u->arm->role[row_of(u, at)] != role)
			continue;
		open++;
		r->n_lanes = MAX(r->n_lanes, open);
		end = end_of(u, at, o);
		ended[first_behind(u, at, end)]++;
		if (begin_of(u, at) <= r->first_begin_ns) {
			r->first_begin_ns = begin_of(u, at);
			r->first_end_ns = MIN(r->first_end_ns, end);
		}
	}
}

static bool appears_before(const struct pf_role *a, const struct pf_role *b)
{
	if (a->first_begin_ns != b->first_begin_ns)
		return a->first_begin_ns < b->first_begin_ns;
	return a->first_end_ns != b->first_end_ns ? a->first_end_ns < b->first_end_ns : a < b;
}

/* Finds the lanes that each role needs: the descriptors come before the events. */
int pf_commands_lanes(struct pf_unit *u, const struct perfetto_options *o)
{
	u32 *ended = malloc((n_slices(u) + 1ul) * sizeof(*ended)), at, k, i;

	if (!ended)
		return -ENOMEM;
	for (at = next_slice(u, 0); at < n_slices(u); at = next_slice(u, at + 1)) {
		u32 row = row_of(u, at);
		const struct pf_counter *lba = pf_command_counter(u, row);

		u->roles[u->arm->role[row]].n_slices++;
		if (lba)
			u->n_samples[lba - u->slba]++;
	}
	for (k = 0; k < N_ROLES; k++)
		if (u->roles[k].n_slices)
			count_lanes(u, k, o, ended);
	free(ended);
	for (k = 0; k < N_ROLES; k++)
		for (i = 0; i < N_ROLES && u->roles[k].n_slices; i++)
			u->roles[k].rank +=
				i == k || (u->roles[i].n_slices && appears_before(&u->roles[i], &u->roles[k]));
	return 0;
}

static void count(struct pf_unit *u, u32 row, u64 n, u64 bytes, u64 headers)
{
	struct pf_draw *a = u->arm;
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
	struct pf_draw *a = u->arm;
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
