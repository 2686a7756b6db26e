// SPDX-License-Identifier: Apache-2.0
#include "model/loadpath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kv/key.h"
#include "lib/hash.h"

struct object {
	u64 bytes, rank;
	u64 first_ns, last_submit_ns, end_ns;
};

/* A change of a number at a time. */
struct step {
	u64 at_ns;
	s32 by;
};

struct work {
	struct loadpath *p;
	const struct model *m;
	const struct semantic *semantic;
	u32 *row; /* records of operations */
	struct map64 known;
	struct object *object;
	u32 n, cap;
	u32 *of; /* object of each command of the path, in order of time */
	u32 *cmd;
	u64 *value; /* of gaps */
};

void loadpath_free(struct loadpath *p)
{
	free(p->size);
	free(p->rank);
	*p = (struct loadpath){};
}

static void work_free(struct work *w)
{
	map64_free(&w->known);
	free(w->row);
	free(w->object);
	free(w->of);
	free(w->cmd);
	free(w->value);
}

static u64 rank_of(const struct work *w, u32 op)
{
	const char *key = strpool_get(&w->m->strings, w->m->op.key[op]);
	struct key_parts k;

	if (w->row && w->row[op] != NONE && (w->semantic->op[w->row[op]].flags & SEM_HAS_RANK))
		return w->semantic->op[w->row[op]].kv_rank;
	key_parse(&k, key, strlen(key));
	/* A bare 0 is what writers put that do not know their rank. */
	return k.form == KEY_RANKED && k.kv_rank.packed ? k.rank_number : LOADPATH_NO_RANK;
}

/* The object of a command, made when it is new; NONE when it is of none, or memory is out (*ret). */
static u32 object_of(struct work *w, u32 cmd, int *ret)
{
	const struct model *m = w->m;
	u32 op = m->cmd.op[cmd], *at;
	u64 id = op != NONE ? op : cmd_join_id(m, cmd);
	bool is_new;

	if (op == NONE && !id)
		return NONE;
	at = map64_put(&w->known, id << 1 | (op == NONE), &is_new);
	if (!at)
		*ret = -ENOMEM;
	if (!at || !is_new)
		return at ? *at : NONE;
	if (w->n == w->cap) {
		u32 cap = w->cap ? w->cap * 2 : 256;
		void *grown = reallocarray(w->object, cap, sizeof(*w->object));

		if (!grown) {
			*ret = -ENOMEM;
			return NONE;
		}
		w->object = grown;
		w->cap = cap;
	}
	w->object[w->n] = (struct object){ .rank = op != NONE ? rank_of(w, op) : LOADPATH_NO_RANK,
					   .first_ns = m->cmd.ts_ns[cmd] };
	return *at = w->n++;
}

/* Chooses the commands and finds their objects. */
static int collect(struct work *w, enum dir way)
{
	const struct model *m = w->m;
	struct loadpath *p = w->p;
	struct dir_names dirs;
	int ret = 0;
	u32 i;

	dir_names_init(&dirs, m);
	for (i = 0; i < m->cmd.n && !ret; i++) {
		enum dir d = cmd_dir(&dirs, m, i);
		struct object *o;
		u32 k;

		if (d == DIR_NONE || !cmd_reached_device(cmd_state(m, i)))
			continue;
		if (d != way) {
			p->other_way += m->cmd.op[i] != NONE || cmd_join_id(m, i);
			continue;
		}
		k = object_of(w, i, &ret);
		if (k == NONE) {
			p->untagged++;
			continue;
		}
		o = &w->object[k];
		o->bytes += m->cmd.bytes[i];
		o->last_submit_ns = m->cmd.ts_ns[i];
		o->end_ns = MAX(o->end_ns, cmd_end(m, i));
		p->completions |= m->cmd.lat_ns[i] != NO_LAT;
		p->bytes += m->cmd.bytes[i];
		w->cmd[p->cmds] = i;
		w->of[p->cmds++] = k;
	}
	p->objects = w->n;
	return ret;
}

/* How many there are of each value, ascending. */
static int tally(u64 *v, u64 n, struct loadpath_count **out, u32 *n_out)
{
	u64 i;

	*out = calloc(n + 1, sizeof(**out));
	if (!*out || u64_sort(v, n))
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (!*n_out || (*out)[*n_out - 1].value != v[i])
			(*out)[(*n_out)++].value = v[i];
		(*out)[*n_out - 1].n++;
	}
	return 0;
}

static int tally_objects(struct work *w)
{
	u32 i;
	int ret;

	for (i = 0; i < w->n; i++)
		w->value[i] = w->object[i].bytes;
	ret = tally(w->value, w->n, &w->p->size, &w->p->n_sizes);
	for (i = 0; i < w->n; i++)
		w->value[i] = w->object[i].rank;
	return ret ? ret : tally(w->value, w->n, &w->p->rank, &w->p->n_ranks);
}

static int count_submitters(struct work *w)
{
	struct map64 tids = {}, pids = {};
	const struct model *m = w->m;
	bool is_new;
	u64 i;
	int ret = 0;

	for (i = 0; i < w->p->cmds && !ret; i++) {
		u32 cmd = w->cmd[i], task = m->cmd.task[cmd], tid = m->cmd.tid[cmd];
		u32 pid = task != NONE && task < m->n_tasks ? m->task[task].pid : 0;

		if ((tid && !map64_put(&tids, tid, &is_new)) || (pid && !map64_put(&pids, pid, &is_new)))
			ret = -ENOMEM;
		if (pid && (!w->p->first_pid || pid < w->p->first_pid))
			w->p->first_pid = pid;
	}
	w->p->threads = tids.n;
	w->p->processes = pids.n;
	map64_free(&tids);
	map64_free(&pids);
	return ret;
}

static int measure_gaps(struct work *w)
{
	const u64 *ts = w->m->cmd.ts_ns;
	struct loadpath *p = w->p;
	u64 i, n = 0;
	u64 *last = calloc(w->n + 1ul, sizeof(*last));
	int ret;

	if (!last)
		return -ENOMEM;
	for (i = 0; i < p->cmds; i++) {
		u32 k = w->of[i];

		if (last[k])
			w->value[n++] = ts[w->cmd[i]] - (last[k] - 1);
		last[k] = ts[w->cmd[i]] + 1;
		if (i) {
			p->same += k == w->of[i - 1];
			p->different += k != w->of[i - 1];
		}
	}
	free(last);
	ret = dist_take(&p->gap, w->value, n);
	for (n = 0, i = 1; i < p->cmds; i++)
		w->value[n++] = ts[w->cmd[i]] - ts[w->cmd[i - 1]];
	if (!ret)
		ret = dist_take(&p->any_gap, w->value, n);
	for (n = 0, i = 0; i < p->cmds; i++)
		if (w->m->cmd.lat_ns[w->cmd[i]] != NO_LAT && cmd_state(w->m, w->cmd[i]) == STATE_OK)
			w->value[n++] = w->m->cmd.lat_ns[w->cmd[i]];
	return ret ? ret : dist_take(&p->service, w->value, n);
}

/* ---- what runs at once ---- */

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	/* At one time those that end, end first. */
	return x->by < y->by ? -1 : x->by > y->by;
}

/* The most at once, and the integral over time in `area`. */
static u64 sweep(struct step *s, u64 n, double *area)
{
	s64 now = 0, most = 0;
	u64 i;

	*area = 0;
	if (n)
		qsort(s, n, sizeof(*s), by_time);
	for (i = 0; i < n; i++) {
		if (i)
			*area += (double)now * (double)(s[i].at_ns - s[i - 1].at_ns);
		now += s[i].by;
		most = MAX(most, now);
	}
	return (u64)most;
}

/* What begins and ends at one time was there all the same. */
static u64 add_steps(struct step *s, u64 n, u64 begin, u64 end)
{
	s[n] = (struct step){ begin, 1 };
	s[n + 1] = (struct step){ end, -1 };
	return n + 2;
}

static int measure_overlap(struct work *w)
{
	struct step *s = calloc(2 * (w->p->cmds + w->n + 1), sizeof(*s));
	struct loadpath *p = w->p;
	u64 i, n = 0, first = 0, last = 0, end = 0;
	double area;

	if (!s)
		return -ENOMEM;
	for (i = 0; i < w->n; i++) {
		const struct object *o = &w->object[i];

		first = i ? MIN(first, o->first_ns) : o->first_ns;
		last = MAX(last, o->last_submit_ns);
		end = MAX(end, o->end_ns);
		n = add_steps(s, n, o->first_ns, o->last_submit_ns);
	}
	p->submit_span_ns = last - first;
	p->span_ns = MAX(end, last) - first;
	p->max_objects_submitting = sweep(s, n, &area);
	for (n = 0, i = 0; i < w->n; i++)
		n = add_steps(s, n, w->object[i].first_ns, MAX(w->object[i].end_ns, w->object[i].first_ns + 1));
	p->max_objects = sweep(s, n, &area);
	p->mean_objects = p->span_ns ? area / (double)p->span_ns : 0;
	for (n = 0, i = 0; i < p->cmds; i++)
		n = add_steps(s, n, w->m->cmd.ts_ns[w->cmd[i]],
			      MAX(cmd_end(w->m, w->cmd[i]), w->m->cmd.ts_ns[w->cmd[i]] + 1));
	p->max_commands = sweep(s, n, &area);
	p->mean_commands = p->span_ns && p->completions ? area / (double)p->span_ns : 0;
	free(s);
	return 0;
}

int loadpath_take(struct loadpath *p, const struct model *m, const struct semantic *s, enum dir way)
{
	struct work w = { .p = p, .m = m, .semantic = s };
	int ret = -ENOMEM;

	*p = (struct loadpath){};
	w.of = calloc(m->cmd.n + 1ul, sizeof(*w.of));
	w.cmd = calloc(m->cmd.n + 1ul, sizeof(*w.cmd));
	w.value = calloc(m->cmd.n + 1ul, sizeof(*w.value));
	w.row = s ? calloc(m->op.n + 1ul, sizeof(*w.row)) : NULL;
	if (w.of && w.cmd && w.value && (w.row || !s))
		ret = s ? semantic_match(s, m, w.row) : 0;
	if (!ret)
		ret = collect(&w, way);
	if (!ret)
		ret = tally_objects(&w);
	if (!ret)
		ret = count_submitters(&w);
	if (!ret)
		ret = measure_gaps(&w);
	if (!ret)
		ret = measure_overlap(&w);
	work_free(&w);
	return ret;
}
