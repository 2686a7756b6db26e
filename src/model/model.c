// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/tables.h"

#define MAX_ROWS (UINT32_MAX - 1) /* NONE is no row */

void model_init(struct model *m)
{
	*m = (struct model){};
}

void loading_free(struct model *m)
{
	struct loading *l = m->loading;

	if (!l)
		return;
	free(l->cmp);
	map64_free(&l->device_at);
	map64_free(&l->task_at);
	jsonl_reader_free(l->reader);
	free(l);
	m->loading = NULL;
}

int loading_start(struct model *m)
{
	struct loading *l;

	if (m->loading)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->last_device = l->last_task = NONE;
	m->loading = l;
	l->reader = jsonl_reader_new();
	return l->reader ? 0 : -ENOMEM;
}

void model_free(struct model *m)
{
#define X(c) free(m->cmd.c);
	CMD_COLUMNS(X)
#undef X
#define X(c) free(m->op.c);
	OP_COLUMNS(X)
#undef X
	loading_free(m);
	strpool_free(&m->strings);
	free(m->cmd_order);
	free(m->device);
	free(m->task);
	free(m->overflow);
	free(m->anchor);
	model_init(m);
}

/* The next capacity above n, 0 when there is none. */
static u32 larger(u32 n)
{
	if (n >= MAX_ROWS)
		return 0;
	return n < 64 ? 64 : n > MAX_ROWS / 2 ? MAX_ROWS : n * 2;
}

#define GROW_COLUMN(c)                                        \
	{                                                     \
		void *p = realloc(t->c, cap * sizeof(*t->c)); \
                                                              \
		if (!p)                                       \
			return -ENOMEM;                       \
		t->c = p;                                     \
	}

int cmd_room(struct cmd_table *t)
{
	size_t cap;

	if (t->n < t->cap)
		return 0;
	cap = larger(t->n);
	if (!cap)
		return -ENOMEM;
	CMD_COLUMNS(GROW_COLUMN)
	t->cap = (u32)cap;
	return 0;
}

int op_room(struct op_table *t)
{
	size_t cap;

	if (t->n < t->cap)
		return 0;
	cap = larger(t->n);
	if (!cap)
		return -ENOMEM;
	OP_COLUMNS(GROW_COLUMN)
	t->cap = (u32)cap;
	return 0;
}

#define PERMUTE_COLUMN(c)                                                            \
	{                                                                            \
		__typeof__(t->c) from = t->c, to = malloc(MAX(n, 1u) * sizeof(*to)); \
                                                                                     \
		if (!to)                                                             \
			return -ENOMEM;                                              \
		for (i = 0; i < n; i++)                                              \
			to[i] = from[order[i]];                                      \
		free(from);                                                          \
		t->c = to;                                                           \
	}

int cmd_permute(struct cmd_table *t, const u32 *order, u32 n)
{
	u32 i;

	t->cap = n;
	CMD_COLUMNS(PERMUTE_COLUMN)
	t->n = n;
	return 0;
}

int grow(void *array, u32 *cap, u32 n, size_t size)
{
	size_t want;
	void *p;

	if (n < *cap)
		return 0;
	want = larger(n);
	if (!want)
		return -ENOMEM;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, want * size);
	if (!p)
		return -ENOMEM;
	memcpy(array, &p, sizeof(p));
	*cap = (u32)want;
	return 0;
}

int intern(struct model *m, struct slice s, u32 *id)
{
	*id = s.n ? strpool_add(&m->strings, s.p, s.n) : 0;
	return s.n && !*id ? -ENOMEM : 0;
}

int intern_word(struct model *m, struct slice s, u32 *id)
{
	u64 head = 0;
	u32 *known;

	*id = 0;
	if (!s.n)
		return 0;
	memcpy(&head, s.p, MIN(s.n, sizeof(head)));
	known = &m->loading->word[(head + s.n) * 0x9e3779b97f4a7c15ull >> 58];
	if (*known && strpool_len(&m->strings, *known) == s.n && !memcmp(strpool_get(&m->strings, *known), s.p, s.n)) {
		*id = *known;
		return 0;
	}
	if (intern(m, s, id))
		return -ENOMEM;
	*known = *id;
	return 0;
}

int add_cmp(struct model *m, const struct cmp_row *c)
{
	struct loading *l = m->loading;
	int ret = grow(&l->cmp, &l->cap_cmps, l->n_cmps, sizeof(*l->cmp));

	if (!ret)
		l->cmp[l->n_cmps++] = *c;
	return ret;
}

int add_anchor(struct model *m, u64 monotonic_ns, u64 realtime_ns, u32 uncertainty_ns)
{
	int ret = grow(&m->anchor, &m->loading->cap_anchors, m->n_anchors, sizeof(*m->anchor));

	if (!ret)
		m->anchor[m->n_anchors++] = (struct anchor){ monotonic_ns, realtime_ns, uncertainty_ns };
	return ret;
}

int add_overflow(struct model *m, u64 ts_ns, u64 user_data, s32 res)
{
	int ret = grow(&m->overflow, &m->loading->cap_overflows, m->n_overflows, sizeof(*m->overflow));

	if (!ret)
		m->overflow[m->n_overflows++] = (struct overflow){ ts_ns, user_data, res };
	return ret;
}

static bool is(const char *name, const char *a, const char *b)
{
	return !strcmp(name, a) || !strcmp(name, b);
}

enum role cmd_role(const struct model *m, u32 cmd)
{
	const char *name = strpool_get(&m->strings, m->cmd.name[cmd]);

	if (!cmd_trace_id(m, cmd) && !m->cmd.key[cmd])
		return ROLE_UNTAGGED;
	if (is(name, "write", "store"))
		return ROLE_WRITES;
	return is(name, "read", "retrieve") ? ROLE_READS : ROLE_OTHER;
}
