// SPDX-License-Identifier: Apache-2.0
/*
 * Commands as groups: one slice for all commands of one object, device, role,
 * name and outcome that begin in one bin of time.
 */
#include <errno.h>
#include <stdlib.h>

#include "out/perfetto_detail.h"
#include "out/perfetto_writer.h"

struct grouping {
	struct pf_draw *a;
	bool by_object;
	struct numbers class; /* (name, unit, role, outcome) */
	struct numbers key;   /* (object, class) */
	struct key_state {
		u64 last_ns;
		u32 group;
	} * state; /* of each key, while the commands are walked */
	u32 cap;
	u32 *key_of;		    /* of each row; later its group */
	const struct pf_unit *unit; /* whose latencies are taken */
	struct bins bins;
};

static s64 key_of_row(struct grouping *g, u32 unit, u32 row)
{
	const struct pf_draw *a = g->a;
	const struct cmd_table *t = &a->m->cmd;
	u32 op = t->op[row], object = !g->by_object || op == NONE ? NONE : a->object_of[op];
	u32 what = unit << 8 | (u32)a->role[row] << 4 | (u32)cmd_state(a->m, row);
	s64 class = number_of(&g->class, (u64)t->name[row] << 32 | what);

	return class < 0 ? class : number_of(&g->key, (u64)object << 32 | (u64) class);
}

static int grow_state(struct grouping *g)
{
	u32 cap = g->cap ? g->cap * 2 : 1024;
	void *p = reallocarray(g->state, cap, sizeof(*g->state));

	if (!p)
		return -ENOMEM;
	g->state = p;
	g->cap = cap;
	return 0;
}

/* Notes the key of one command, and the step from the one before it. */
static int walk(struct grouping *g, u32 unit, u32 row)
{
	u64 now = pf_time(g->a, g->a->m->cmd.ts_ns[row]);
	u32 known = g->key.n;
	s64 key = key_of_row(g, unit, row);

	if (key < 0 || ((u32)key == g->cap && grow_state(g)))
		return -ENOMEM;
	if ((u32)key == known) {
		g->bins.n_keys++;
		g->state[key].group = NONE;
	} else {
		bins_step(&g->bins, g->state[key].last_ns, now);
	}
	g->state[key].last_ns = now;
	g->key_of[row] = (u32)key;
	return 0;
}

/* Finds the key of every command, and how many groups there are for every width of the bins. */
static int find_keys(struct grouping *g)
{
	const struct pf_draw *a = g->a;
	u32 unit, at;
	int ret = 0;

	numbers_free(&g->class);
	numbers_free(&g->key);
	g->bins = (struct bins){};
	for (unit = 0; unit < a->n_units; unit++)
		for (at = 0; at < a->unit[unit].n_rows && !ret; at++)
			if (pf_drawn(a, pf_row(&a->unit[unit], at)))
				ret = walk(g, unit, pf_row(&a->unit[unit], at));
	return ret;
}

static bool new_group(struct pf_unit *u, u32 *cap, u32 row)
{
	if (u->n_groups == *cap) {
		u32 more = *cap ? *cap + *cap / 2 : 1024;
		void *p = reallocarray(u->group, more, sizeof(*u->group));

		if (!p)
			return false;
		u->group = p;
		*cap = more;
	}
	u->group[u->n_groups++] = (struct pf_group){
		.begin_ns = pf_time(u->arm, u->arm->m->cmd.ts_ns[row]),
		.row = row,
	};
	return true;
}

static void add_to_group(struct pf_unit *u, struct pf_group *g, u32 at, const struct perfetto_options *o)
{
	u32 row = pf_row(u, at);
	const struct model *m = u->arm->m;

	g->n++;
	g->end_ns = MAX(g->end_ns, pf_command_end(u, at, o));
	g->bytes += m->cmd.bytes[row];
	g->last_row = row;
	g->n_headers += !!(m->cmd.flags[row] & CMD_HEADER);
}

static bool latency(const void *arg, u32 at, u32 *group, u64 *value)
{
	const struct grouping *g = arg;
	const struct model *m = g->a->m;
	u32 row = pf_row(g->unit, at);

	if (!pf_drawn(g->a, row) || cmd_state(m, row) != STATE_OK)
		return false;
	*group = g->key_of[row];
	*value = m->cmd.lat_ns[row];
	return true;
}

static int make_groups(struct grouping *g, struct pf_unit *u, u32 shift, const struct perfetto_options *o)
{
	const struct pf_draw *a = u->arm;
	u32 cap = 0, at;

	for (at = 0; at < u->n_rows; at++) {
		u32 row = pf_row(u, at);
		struct key_state *k;
		u64 now;

		if (!pf_drawn(a, row))
			continue;
		now = pf_time(a, a->m->cmd.ts_ns[row]);
		k = &g->state[g->key_of[row]];
		if (k->group == NONE || bin_of(k->last_ns, shift) != bin_of(now, shift)) {
			k->group = u->n_groups;
			if (!new_group(u, &cap, row))
				return -ENOMEM;
		}
		k->last_ns = now;
		add_to_group(u, &u->group[k->group], at, o);
		g->key_of[row] = k->group;
	}
	g->unit = u;
	return medians_take(&u->lat, u->n_groups, u->n_rows, latency, g);
}

int pf_groups_make(struct pf_draw *a, u64 most, const struct perfetto_options *o)
{
	struct grouping g = { .a = a, .by_object = true };
	u32 shift = 0, i;
	int ret;

	g.key_of = malloc((a->m->cmd.n + 1ul) * sizeof(*g.key_of));
	ret = g.key_of ? find_keys(&g) : -ENOMEM;
	if (!ret && g.key.n > most) {
		/* More objects than slices: they cannot be told apart. */
		g.by_object = false;
		ret = find_keys(&g);
	}
	if (!ret)
		shift = bins_choose(&g.bins, most);
	for (i = 0; i < a->n_units && !ret; i++)
		ret = make_groups(&g, &a->unit[i], shift, o);
	a->stats->command_bin_ns = bin_width(shift);
	a->stats->commands_by_object = g.by_object;
	numbers_free(&g.class);
	numbers_free(&g.key);
	free(g.state);
	free(g.key_of);
	return ret;
}
