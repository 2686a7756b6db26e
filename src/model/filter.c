// SPDX-License-Identifier: Apache-2.0
#include "model/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/cause.h"
#include "model/join.h"

/* ---- reading options ---- */

int filter_ids(struct filter *f, const char *text)
{
	const char *dash = strchr(text, '-');
	char *first = dash ? strndup(text, (size_t)(dash - text)) : strdup(text);
	int ret = first ? str_u64(first, &f->first_id) : -ENOMEM;

	free(first);
	f->last_id = f->first_id;
	if (!ret && dash)
		ret = str_u64(dash + 1, &f->last_id);
	if (ret)
		return ret;
	f->has_ids = true;
	return f->last_id < f->first_id ? -ERANGE : 0;
}

int filter_window(struct filter *f, const char *text)
{
	const char *comma = strchr(text, ',');
	char *from;
	int ret;

	if (!comma)
		return -EINVAL;
	from = strndup(text, (size_t)(comma - text));
	ret = from ? str_ns(from, &f->from_ns) : -ENOMEM;
	free(from);
	if (!ret)
		ret = str_ns(comma + 1, &f->to_ns);
	if (ret)
		return ret;
	f->has_window = true;
	return f->to_ns < f->from_ns ? -ERANGE : 0;
}

bool filter_any(const struct filter *f)
{
	return f->has_ids || f->has_window || f->has_pid || f->has_opcode || f->key || f->device;
}

/* ---- names of a device ---- */

struct namespace_name {
	u64 controller, nsid;
};

static bool digits(const char **s, u64 *v)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return false;
	*v = strtoull(*s, &end, 10);
	*s = end;
	return true;
}

/* nvme0n1, ng0n1, or nvme0c1n1: one path to it. */
static bool parse_namespace(const char *s, struct namespace_name *n)
{
	u64 path;

	if (!strncmp(s, "nvme", 4))
		s += 4;
	else if (!strncmp(s, "ng", 2))
		s += 2;
	else
		return false;
	if (!digits(&s, &n->controller))
		return false;
	if (*s == 'c' && (s++, !digits(&s, &path)))
		return false;
	return *s++ == 'n' && digits(&s, &n->nsid) && !*s;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool device_is_named(const struct model *m, u32 dev, const char *name)
{
	const char *own = strpool_get(&m->strings, m->device[dev].name);
	struct namespace_name a, b;

	name = base_name(name);
	own = base_name(own);
	if (!*own || !*name)
		return false;
	if (parse_namespace(name, &a) && parse_namespace(own, &b))
		return a.controller == b.controller && a.nsid == b.nsid;
	return !strcmp(name, own);
}

/* ---- what passes ---- */

u64 model_base_ns(const struct model *m)
{
	u64 base = UINT64_MAX;
	u32 i;

	if (m->cut.window)
		return m->cut.base_ns;
	/* Commands are sorted.  A first attempt counts: what went wrong is drawn where it was. */
	if (m->cmd.n)
		base = m->cmd.ts_ns[0];
	for (i = 0; i < m->op.n; i++) {
		struct op_span s;

		op_span(m, i, &s);
		base = MIN(base, s.instant ? s.end_ns : s.begin_ns);
	}
	for (i = 0; i < m->serving.n; i++)
		base = MIN(base, m->serving.start_ns[i]);
	for (i = 0; i < m->n_overflows; i++)
		base = MIN(base, m->overflow[i].ts_ns);
	if (m->call.n)
		base = MIN(base, m->call.row[0].ev.ts_ns);
	if (m->uring.n)
		base = MIN(base, m->uring.row[0].ev.ts_ns);
	if (m->fault.n)
		base = MIN(base, m->fault.row[0].ev.ts_ns);
	for (i = 0; i < m->n_losses; i++)
		base = MIN(base, m->loss[i].begin_ns);
	return base == UINT64_MAX ? 0 : base;
}

struct cut {
	struct model *m;
	const struct filter *f;
	u64 from_ns, to_ns; /* absolute */
	bool *device;	    /* that has the name */
	bool *cmd, *op;	    /* that stay */
	bool *has_cmd;	    /* operations with a command that stays */
};

static bool in_window(const struct cut *c, u64 begin, u64 end)
{
	return !c->f->has_window || (begin <= c->to_ns && end >= c->from_ns);
}

static bool in_ids(const struct cut *c, u64 id)
{
	return !c->f->has_ids || (id >= c->f->first_id && id <= c->f->last_id);
}

static bool contains(const struct strpool *s, u32 string, const char *part)
{
	return memmem(strpool_get(s, string), strpool_len(s, string), part, strlen(part));
}

static bool op_has_key(const struct cut *c, u32 op)
{
	const struct model *m = c->m;

	return contains(&m->strings, m->op.key[op], c->f->key) || contains(&m->strings, m->op.key_hex[op], c->f->key);
}

static bool cmd_has_key(const struct cut *c, u32 cmd)
{
	u32 op = c->m->cmd.op[cmd];

	return !c->f->key || (op != NONE && op_has_key(c, op)) ||
	       contains(&c->m->strings, c->m->cmd.key[cmd], c->f->key);
}

static bool cmd_has_pid(const struct cut *c, u32 cmd)
{
	u32 task = c->m->cmd.task[cmd];

	return !c->f->has_pid || (task != NONE && c->m->task[task].pid == c->f->pid);
}

static bool cmd_passes(const struct cut *c, u32 i)
{
	const struct model *m = c->m;

	return in_ids(c, cmd_join_id(m, i)) && in_window(c, m->cmd.ts_ns[i], cmd_end(m, i)) &&
	       (!c->f->device || c->device[cmd_dev(m, i)]) && (!c->f->has_opcode || m->cmd.opcode[i] == c->f->opcode) &&
	       cmd_has_pid(c, i) && cmd_has_key(c, i);
}

static bool op_passes(const struct cut *c, u32 i)
{
	const struct model *m = c->m;
	bool own_pid = (m->op.flags[i] & OP_HAS_PID) && m->op.pid[i] == c->f->pid;
	struct op_span s;

	if (c->has_cmd[i])
		return true;
	if (c->f->device || c->f->has_opcode || (c->f->has_pid && !own_pid))
		return false;
	op_span(m, i, &s);
	return in_ids(c, m->op.join_id[i]) && in_window(c, s.instant ? s.end_ns : s.begin_ns, s.end_ns) &&
	       (!c->f->key || op_has_key(c, i));
}

static int decide(struct cut *c)
{
	struct model *m = c->m;
	u32 i;

	c->device = calloc(m->n_devices + 1ul, sizeof(*c->device));
	c->cmd = calloc(m->cmd.n + 1ul, sizeof(*c->cmd));
	c->op = calloc(m->op.n + 1ul, sizeof(*c->op));
	c->has_cmd = calloc(m->op.n + 1ul, sizeof(*c->has_cmd));
	if (!c->device || !c->cmd || !c->op || !c->has_cmd)
		return -ENOMEM;
	for (i = 0; i < m->n_devices && c->f->device; i++)
		c->device[i] = device_is_named(m, i, c->f->device);
	for (i = 0; i < m->cmd.n; i++) {
		c->cmd[i] = cmd_passes(c, i);
		if (c->cmd[i] && m->cmd.op[i] != NONE)
			c->has_cmd[m->cmd.op[i]] = true;
	}
	for (i = 0; i < m->op.n; i++)
		c->op[i] = op_passes(c, i);
	return 0;
}

/* ---- cutting ---- */

/* The rows that stay, and for each old row its new one. */
struct rows {
	u32 *order, *to, n;
};

static int rows_make(struct rows *r, const bool *stays, u32 n)
{
	u32 i;

	r->n = 0;
	r->order = malloc((n + 1ul) * sizeof(*r->order));
	r->to = malloc((n + 1ul) * sizeof(*r->to));
	if (!r->order || !r->to)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		r->to[i] = stays[i] ? r->n : NONE;
		if (stays[i])
			r->order[r->n++] = i;
	}
	return 0;
}

static void rows_free(struct rows *r)
{
	free(r->order);
	free(r->to);
}

static void count(const struct cut *c)
{
	struct model *m = c->m;
	u32 i;

	for (i = 0; i < m->cmd.n; i++)
		if (!c->cmd[i]) {
			m->cut.cmds++;
			m->cut.cmd_bytes += cmd_counts(m, i) ? m->cmd.bytes[i] : 0;
		}
	for (i = 0; i < m->op.n; i++)
		if (!c->op[i]) {
			m->cut.ops++;
			m->cut.op_bytes += m->op.bytes[i];
		}
}

static void cut_parts(struct part_table *t, const struct rows *cmd, const struct rows *op)
{
	u32 i, n = 0;

	for (i = 0; i < t->n; i++) {
		if (cmd->to[t->cmd[i]] == NONE || op->to[t->op[i]] == NONE)
			continue;
		t->cmd[n] = cmd->to[t->cmd[i]];
		t->op[n] = op->to[t->op[i]];
		t->bytes[n++] = t->bytes[i];
	}
	t->n = n;
}

static int cut_tables(const struct cut *c)
{
	struct model *m = c->m;
	struct rows cmd = {}, op = {};
	int ret = rows_make(&cmd, c->cmd, m->cmd.n);
	u32 i;

	if (!ret)
		ret = rows_make(&op, c->op, m->op.n);
	if (!ret) {
		for (i = 0; i < m->cmd.n; i++)
			if (m->cmd.op[i] != NONE)
				m->cmd.op[i] = op.to[m->cmd.op[i]];
		cut_parts(&m->part, &cmd, &op);
		cause_permute(&m->cause, cmd.order, cmd.n);
		ret = cmd_permute(&m->cmd, cmd.order, cmd.n);
	}
	if (!ret)
		ret = op_permute(&m->op, op.order, op.n);
	rows_free(&cmd);
	rows_free(&op);
	return ret;
}

static int cut_spans(const struct cut *c)
{
	struct span_table *t = &c->m->serving;
	bool *stays = calloc(t->n + 1ul, sizeof(*stays));
	struct rows r = {};
	int ret = -ENOMEM;
	u32 i;

	if (stays) {
		for (i = 0; i < t->n; i++)
			stays[i] = in_window(c, t->start_ns[i], MAX(t->start_ns[i], t->end_ns[i]));
		ret = rows_make(&r, stays, t->n);
	}
	if (!ret && r.n < t->n) {
		c->m->cut.spans += t->n - r.n;
		ret = span_permute(t, r.order, r.n);
	}
	rows_free(&r);
	free(stays);
	return ret;
}

static void cut_overflows(const struct cut *c)
{
	struct model *m = c->m;
	u32 i, n = 0;

	for (i = 0; i < m->n_overflows; i++)
		if (in_window(c, m->overflow[i].ts_ns, m->overflow[i].ts_ns) &&
		    in_ids(c, m->overflow[i].user_data >> 32))
			m->overflow[n++] = m->overflow[i];
	m->cut.overflows += m->n_overflows - n;
	m->n_overflows = n;
}

static bool call_stays(const void *arg, const struct call_row *call)
{
	const struct cut *c = arg;
	const struct model *m = c->m;

	if (!in_window(c, call->ev.ts_ns, call->ev.ts_ns + call->ev.lat_ns))
		return false;
	return !c->f->has_pid || (call->task != NONE && m->task[call->task].pid == c->f->pid);
}

static bool request_stays(const void *arg, const struct uring_row *r)
{
	const struct cut *c = arg;
	const struct model *m = c->m;

	if (!in_window(c, r->ev.ts_ns, r->ev.ts_ns + r->ev.lat_ns))
		return false;
	return !c->f->has_pid || (r->task != NONE && m->task[r->task].pid == c->f->pid);
}

static bool fault_stays(const void *arg, const struct fault_row *r)
{
	const struct cut *c = arg;
	const struct model *m = c->m;

	if (!in_window(c, r->ev.ts_ns, r->ev.ts_ns + r->ev.lat_ns))
		return false;
	return !c->f->has_pid || (r->task != NONE && m->task[r->task].pid == c->f->pid);
}

/* Calls, requests and faults, and what commands know of them. */
static int cut_witnesses(const struct cut *c)
{
	struct model *m = c->m;
	u32 n_requests = m->uring.n;
	u32 *call_to = malloc((m->call.n + 1ul) * sizeof(*call_to));
	u32 *uring_to = malloc((m->uring.n + 1ul) * sizeof(*uring_to));
	u32 *fault_to = malloc((m->fault.n + 1ul) * sizeof(*fault_to));
	int ret = call_to && uring_to && fault_to ? 0 : -ENOMEM;

	if (!ret) {
		cut_calls(m, call_stays, c, call_to);
		cut_uring(m, request_stays, c, uring_to);
		cut_faults(m, fault_stays, c, fault_to);
		cause_renumber(m, call_to, n_requests, uring_to, fault_to);
	}
	free(call_to);
	free(uring_to);
	free(fault_to);
	return ret;
}

/* Of which command it was is not known. */
static void cut_losses(const struct cut *c)
{
	struct model *m = c->m;
	u32 i, n = 0;

	for (i = 0; i < m->n_losses; i++)
		if (in_window(c, m->loss[i].begin_ns, m->loss[i].end_ns))
			m->loss[n++] = m->loss[i];
	m->n_losses = n;
}

static int cut_once(struct model *m, const struct filter *f)
{
	struct cut c = { .m = m, .f = f };
	u64 base;
	int ret;

	if (!filter_any(f))
		return 0;
	base = model_base_ns(m);
	if (__builtin_add_overflow(base, f->from_ns, &c.from_ns))
		c.from_ns = UINT64_MAX;
	if (__builtin_add_overflow(base, f->to_ns, &c.to_ns))
		c.to_ns = UINT64_MAX;
	ret = decide(&c);
	if (!ret) {
		count(&c);
		ret = cut_spans(&c);
	}
	if (!ret)
		ret = cut_tables(&c);
	if (!ret)
		ret = order_commands(m);
	if (!ret)
		ret = cut_witnesses(&c);
	if (!ret) {
		cut_overflows(&c);
		cut_losses(&c);
		count_headers(m);
		m->cut.window |= f->has_window;
		m->cut.base_ns = base;
	}
	free(c.device);
	free(c.cmd);
	free(c.op);
	free(c.has_cmd);
	return ret;
}

int model_cut(struct model *m, const struct filter *f)
{
	struct filter rest = *f, window = { .has_window = f->has_window, .from_ns = f->from_ns, .to_ns = f->to_ns };
	int ret;

	/* A window counts from the begin of what the other filters leave, as a timeline of that shows it. */
	rest.has_window = false;
	ret = cut_once(m, &rest);
	return ret ? ret : cut_once(m, &window);
}
