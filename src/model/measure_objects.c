// SPDX-License-Identifier: Apache-2.0
/* Semantic operations: their spans, sizes, rates, failures and the wait for the slowest shard. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pages.h"
#include "model/measure_work.h"

void op_span(const struct model *m, u32 op, struct op_span *s)
{
	const struct op_table *t = &m->op;
	bool has_start = t->flags[op] & OP_HAS_START;
	u32 k, n = t->first_cmd[op] == NONE ? 0 : t->n_cmds[op];

	*s = (struct op_span){
		.begin_ns = has_start ? t->start_ns[op] : t->end_ns[op],
		.end_ns = t->end_ns[op],
		.first_cmd = NONE,
		.last_cmd = NONE,
	};
	for (k = 0; k < n; k++) {
		u32 i = m->cmd_order[t->first_cmd[op] + k];

		if (!cmd_reached_device(cmd_state(m, i)))
			continue;
		if (!s->n_cmds++)
			s->first_cmd = i;
		s->last_cmd = i;
	}
	if (!s->n_cmds) {
		s->instant = s->begin_ns >= s->end_ns;
		return;
	}
	if (!has_start || m->cmd.ts_ns[s->first_cmd] < s->begin_ns)
		s->begin_ns = m->cmd.ts_ns[s->first_cmd];
	s->end_ns = MAX(s->end_ns, m->cmd.ts_ns[s->last_cmd]);
}

/* Time within the span with at least one of the operation's commands in flight. */
static bool device_time(const struct measure_work *w, u32 op, const struct op_span *s, u64 *busy)
{
	const struct model *m = w->m;
	u64 until = s->begin_ns;
	u32 k;

	*busy = 0;
	for (k = 0; k < m->op.n_cmds[op]; k++) {
		u32 i = m->cmd_order[m->op.first_cmd[op] + k];
		u64 from, end;

		if (!cmd_reached_device(w->state[i]))
			continue;
		if (!work_interval(w, i, &end))
			return false;
		from = MAX(m->cmd.ts_ns[i], until);
		end = MIN(end, s->end_ns);
		if (end > from)
			*busy += end - from;
		until = MAX(until, end);
	}
	return true;
}

/* More operation names than this share the last slot. */
#define MAX_NAMES 16

struct object {
	u32 op, slot;
	struct op_span span;
	u64 device_ns;
	bool has_device;
};

enum figure { FIG_SPAN, FIG_SIZE, FIG_PRESUBMIT, FIG_DEVICE, FIG_HOST, FIG_EFF };

/* One figure of one operation; false when it has none. */
static bool figure(const struct model *m, const struct object *o, enum figure f, u64 *v)
{
	const struct op_span *s = &o->span;
	u64 span = s->instant ? 0 : s->end_ns - s->begin_ns;
	double eff;

	switch (f) {
	case FIG_SPAN:
		*v = span;
		return !s->instant;
	case FIG_SIZE:
		*v = m->op.bytes[o->op];
		return !s->instant;
	case FIG_PRESUBMIT:
		if (!s->n_cmds || !(m->op.flags[o->op] & OP_HAS_START))
			return false;
		*v = m->cmd.ts_ns[s->first_cmd] - s->begin_ns;
		return true;
	case FIG_DEVICE:
		*v = o->device_ns;
		return o->has_device;
	case FIG_HOST:
		*v = span - o->device_ns;
		return o->has_device;
	case FIG_EFF:
		if (!span)
			return false;
		/* Positive doubles sort as their bits do. */
		eff = (double)m->op.bytes[o->op] * 1e3 / (double)span;
		memcpy(v, &eff, sizeof(eff));
		return true;
	}
	return false;
}

/* The figure over the operations of one slot that did not fail. */
static int take(struct dist *d, const struct measure_work *w, const struct object *o, u32 slot, enum figure f)
{
	const struct model *m = w->m;
	size_t k = 0;
	u32 i;

	for (i = 0; i < m->op.n; i++)
		if (o[i].slot == slot && !m->op.error[i])
			k += figure(m, &o[i], f, &w->scratch[k]);
	return work_dist(d, w, w->scratch, k);
}

static int one_slot(struct measure_objects *out, const struct measure_work *w, const struct object *o, u32 slot)
{
	struct dist eff;
	int ret;

	ret = take(&out->span, w, o, slot, FIG_SPAN);
	if (!ret)
		ret = take(&out->size, w, o, slot, FIG_SIZE);
	if (!ret)
		ret = take(&out->presubmit, w, o, slot, FIG_PRESUBMIT);
	if (!ret)
		ret = take(&out->device, w, o, slot, FIG_DEVICE);
	if (!ret)
		ret = take(&out->host, w, o, slot, FIG_HOST);
	if (!ret)
		ret = take(&eff, w, o, slot, FIG_EFF);
	if (ret)
		return ret;
	out->eff_n = eff.n;
	memcpy(&out->eff_mbs_p50, &eff.p50, sizeof(eff.p50));
	return 0;
}

/* The slot of an operation name, in order of appearance; n_obj grows.  -ENOMEM. */
static int slot_of(struct measure *out, u32 name, u32 *slot)
{
	struct measure_objects *grown;

	for (*slot = 0; *slot < out->n_obj; ++*slot)
		if (out->obj[*slot].name == name)
			return 0;
	if (out->n_obj == MAX_NAMES) {
		out->obj[--*slot].name = 0;
		return 0;
	}
	grown = reallocarray(out->obj, out->n_obj + 1ul, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	out->obj = grown;
	grown[out->n_obj++] = (struct measure_objects){ .name = name };
	return 0;
}

/* Store, load, delete, then the others by name. */
static int by_rank(const void *a, const void *b, void *arg)
{
	static const char *const first[] = { "store", "load", "delete" };
	const struct strpool *s = arg;
	const char *x = strpool_get(s, ((const struct measure_objects *)a)->name);
	const char *y = strpool_get(s, ((const struct measure_objects *)b)->name);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(first); i++)
		if (!strcmp(x, first[i]) || !strcmp(y, first[i]))
			return strcmp(y, first[i]) ? -1 : strcmp(x, first[i]) != 0;
	return strcmp(x, y);
}

static int by_text(const void *a, const void *b, void *arg)
{
	const struct strpool *s = arg;

	return strcmp(strpool_get(s, *(const u32 *)a), strpool_get(s, *(const u32 *)b));
}

static int by_id(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static int failures(struct measure *out, const struct model *m)
{
	u32 i, n = 0;

	out->error = malloc((out->objects_failed + 1) * sizeof(*out->error));
	if (!out->error)
		return -ENOMEM;
	for (i = 0; i < m->op.n; i++)
		if (m->op.error[i])
			out->error[n++] = m->op.error[i];
	qsort(out->error, n, sizeof(*out->error), by_id);
	for (i = 0; i < n; i++)
		if (!i || out->error[i] != out->error[i - 1])
			out->error[out->n_errors++] = out->error[i];
	qsort_r(out->error, out->n_errors, sizeof(*out->error), by_text, (void *)&m->strings);
	return 0;
}

/* A sweep over the spans; an end is before a begin at the same time. */
static int objects_in_flight(struct measure *out, const struct measure_work *w, const struct object *o, u32 n)
{
	u64 *begin = malloc((n + 1ul) * sizeof(*begin)), *end = w->scratch;
	u32 nb = 0, b = 0, e = 0;
	u64 depth = 0;
	int ret = -ENOMEM;
	u32 i;

	if (!begin)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (!o[i].span.instant) {
			begin[nb] = o[i].span.begin_ns;
			end[nb++] = o[i].span.end_ns;
		}
	ret = u64_sort(begin, nb);
	if (!ret)
		ret = u64_sort(end, nb);
	while (!ret && b < nb) {
		if (begin[b] < end[e] || !depth) {
			b++;
			depth++;
		} else {
			e++;
			depth--;
		}
		out->max_objects_in_flight = MAX(out->max_objects_in_flight, depth);
	}
	free(begin);
	return ret;
}

static int count_objects(struct measure *out, const struct measure_work *w, struct object *o)
{
	const struct model *m = w->m;
	u32 i;

	for (i = 0; i < m->op.n; i++) {
		struct measure_objects *x;

		if (slot_of(out, m->op.name[i], &o[i].slot))
			return -ENOMEM;
		x = &out->obj[o[i].slot];
		o[i].span = w->span[i];
		o[i].op = i;
		o[i].has_device = o[i].span.n_cmds && device_time(w, i, &o[i].span, &o[i].device_ns);
		if (m->op.error[i]) {
			x->failed++;
			x->failed_with_cmds += o[i].span.n_cmds > 0;
			out->objects_failed++;
			continue;
		}
		out->objects_ok++;
		x->n += !o[i].span.instant;
		x->instants += o[i].span.instant;
		x->bytes += o[i].span.instant ? 0 : m->op.bytes[i];
		x->with_cmds += o[i].span.n_cmds > 0;
		x->commands += o[i].span.n_cmds;
	}
	return 0;
}

int measure_objects(struct measure *out, const struct measure_work *w)
{
	struct object *o = array_grow(NULL, 0, (w->m->op.n + 1ul) * sizeof(*o));
	int ret;
	u32 i;

	if (!o)
		return -ENOMEM;
	ret = count_objects(out, w, o);
	if (!ret)
		ret = failures(out, w->m);
	for (i = 0; i < out->n_obj && !ret; i++)
		ret = one_slot(&out->obj[i], w, o, i);
	if (!ret)
		ret = objects_in_flight(out, w, o, w->m->op.n);
	if (!ret && out->n_obj)
		qsort_r(out->obj, out->n_obj, sizeof(*out->obj), by_rank, (void *)&w->m->strings);
	array_free(o, (w->m->op.n + 1ul) * sizeof(*o));
	return ret;
}
