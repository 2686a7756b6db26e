// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pages.h"
#include "model/cause.h"
#include "model/tables.h"

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
	free(l->recent);
	free(l->tick);
	map64_free(&l->device_at);
	map64_free(&l->task_at);
	jsonl_reader_free(l->reader);
	names_free(&l->files);
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
	cmd_free(&m->cmd);
#define X(c) free(m->op.c);
	OP_COLUMNS(X)
#undef X
#define X(c) free(m->serving.c);
	SPAN_COLUMNS(X)
#undef X
	loading_free(m);
	strpool_free(&m->strings);
	free(m->part.cmd);
	free(m->part.op);
	free(m->part.bytes);
	pages_free(m->cmd_order, m->n_order * sizeof(*m->cmd_order));
	free(m->device);
	free(m->task);
	free(m->overflow);
	free(m->call.row);
	free(m->uring.row);
	free(m->fault.row);
	free(m->cache.row);
	free(m->block.row);
	free(m->extent.row);
	free(m->mapped.row);
	free(m->range.row);
	free(m->marker.row);
	cause_free(&m->cause);
	free(m->loss);
	free(m->anchor);
	model_init(m);
}

int grow(void *array, u32 *cap, u32 n, size_t size)
{
	size_t want;
	void *p;

	if (n < *cap)
		return 0;
	want = larger_cap(n);
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

/* Eight bytes that tell words of one length up to eight apart, and most longer ones. */
static u64 word_head(const char *p, size_t n)
{
	u32 first = 0, last = 0;

	if (n >= 4) {
		memcpy(&first, p, 4);
		memcpy(&last, p + n - 4, 4);
		return first | (u64)last << 32;
	}
	return (u8)p[0] | (u64)(u8)p[n / 2] << 8 | (u64)(u8)p[n - 1] << 16;
}

int intern_word(struct model *m, struct slice s, u32 *id)
{
	struct known_word *w;
	u64 head;

	*id = 0;
	if (!s.n)
		return 0;
	head = word_head(s.p, s.n);
	w = &m->loading->word[(head + s.n) * 0x9e3779b97f4a7c15ull >> 58];
	if (w->id && w->head == head && w->len == s.n &&
	    (s.n <= 8 || !memcmp(strpool_get(&m->strings, w->id), s.p, s.n))) {
		*id = w->id;
		return 0;
	}
	if (intern(m, s, id))
		return -ENOMEM;
	*w = (struct known_word){ .head = head, .len = s.n, .id = *id };
	return 0;
}

int find_path(struct model *m, u32 dev, u64 ino, u64 ts_ns, u32 *path)
{
	const struct known_file *f = names_file_at(&m->loading->files, dev, ino, ts_ns);

	*path = 0;
	return f ? intern_word(m, (struct slice){ f->path.p, f->path.n }, path) : 0;
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

/* Asked for each command: the first letter decides mostly. */
static bool is(const char *name, const char *a, const char *b)
{
	return (*name == *a && !strcmp(name, a)) || (*name == *b && !strcmp(name, b));
}

enum role cmd_role(const struct model *m, u32 cmd)
{
	const char *name = strpool_get(&m->strings, m->cmd.name[cmd]);

	if (m->cmd.op[cmd] == NONE && !cmd_join_id(m, cmd) && !m->cmd.key[cmd])
		return ROLE_UNTAGGED;
	if (is(name, "write", "store"))
		return ROLE_WRITES;
	return is(name, "read", "retrieve") ? ROLE_READS : ROLE_OTHER;
}
