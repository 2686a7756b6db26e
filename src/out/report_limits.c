// SPDX-License-Identifier: Apache-2.0
/* Thresholds of a report: parsed against the table of metrics, held against captures. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/str.h"
#include "out/report_metrics.h"

struct suffix {
	const char *text;
	double scale;
};

/* The units that a value can be asked for in, ended by a NULL text. */
static const struct suffix *suffixes(const char *unit)
{
	static const struct suffix none[] = { { "", 1 }, {} };
	static const struct suffix times[] = { { "_ns", 1 }, { "_us", 1e3 }, { "_ms", 1e6 }, { "_s", 1e9 }, {} };
	static const struct suffix sizes[] = {
		{ "", 1 }, { "_bytes", 1 }, { "_kib", 1024 }, { "_mib", 1024 * 1024 }, { "_gib", 1024 * 1024 * 1024 },
		{}
	};

	if (!strcmp(unit, "ns"))
		return times;
	return strcmp(unit, "bytes") ? none : sizes;
}

/* Calls back for each name of metric, stat and unit until that returns true. */
typedef bool (*name_fn)(void *arg, const char *name, const struct report_metric_info *m, const char *stat,
			const struct suffix *unit);

static bool each_name(name_fn fn, void *arg)
{
	static const char *const value[] = { "value", NULL };
	struct report_metric_info m;
	char name[128];
	u32 i, s;

	for (i = 0; i < report_metric_infos(); i++) {
		const char *const *stat;
		const struct suffix *u;

		report_metric_info(i, &m);
		stat = m.is_dist ? report_stats : value;
		for (s = 0; stat[s]; s++)
			for (u = suffixes(m.unit); u->text; u++) {
				snprintf(name, sizeof(name), "%s%s%s%s", m.metric, m.is_dist ? "_" : "",
					 m.is_dist ? stat[s] : "", u->text);
				if (fn(arg, name, &m, stat[s], u))
					return true;
			}
	}
	return false;
}

/* True when the word is one of a list with blanks between. */
static bool in_list(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; *list; list += strcspn(list, " "), list += *list == ' ')
		if (strcspn(list, " ") == n && !memcmp(list, word, n))
			return true;
	return false;
}

struct lookup {
	struct report_limit *l;
	const char *name;
};

static bool is_it(void *arg, const char *name, const struct report_metric_info *m, const char *stat,
		  const struct suffix *unit)
{
	struct lookup *k = arg;

	if (strcmp(name, k->name) || (m->any_op ? !*k->l->op : !in_list(m->ops, k->l->op)))
		return false;
	snprintf(k->l->metric, sizeof(k->l->metric), "%s", m->metric);
	snprintf(k->l->stat, sizeof(k->l->stat), "%s", stat);
	k->l->scale = unit->scale;
	return true;
}

struct names {
	char **v;
	size_t n, cap;
};

static bool collect(void *arg, const char *name, const struct report_metric_info *m, const char *stat,
		    const struct suffix *unit)
{
	const char *op = m->ops;
	struct names *x = arg;

	(void)stat;
	(void)unit;
	while (*op) {
		size_t n = strcspn(op, " ");

		if (x->n == x->cap) {
			size_t cap = x->cap ? x->cap * 2 : 256;
			char **grown = reallocarray(x->v, cap, sizeof(*grown));

			if (!grown)
				return true;
			x->v = grown;
			x->cap = cap;
		}
		if (asprintf(&x->v[x->n], "%.*s.%s", (int)n, op, name) < 0)
			return true;
		x->n++;
		op += n + (op[n] == ' ');
	}
	return false;
}

/* The most similar name of a metric, allocated, or NULL. */
static char *nearest(const char *path)
{
	struct names x = {};
	const char *near;
	char *out;
	size_t i;

	each_name(collect, &x);
	near = str_nearest(path, (const char *const *)x.v, x.n);
	out = near ? strdup(near) : NULL;
	for (i = 0; i < x.n; i++)
		free(x.v[i]);
	free(x.v);
	return out;
}

/* Copies n characters without the blanks at the end; false when there is no room or nothing. */
static bool copy(char *to, size_t size, const char *from, size_t n)
{
	while (n && from[n - 1] == ' ')
		n--;
	if (!n || n >= size)
		return false;
	memcpy(to, from, n);
	to[n] = '\0';
	return true;
}

int report_limit_parse(struct report_limit *l, const char *text, char **near)
{
	size_t cmp = strcspn(text, "<>=!"), cmp_len = strspn(text + cmp, "<>=!");
	struct lookup k = { .l = l };
	const char *dot;
	char *end;

	*l = (struct report_limit){};
	*near = NULL;
	if (!copy(l->path, sizeof(l->path), text, cmp) || !copy(l->cmp, sizeof(l->cmp), text + cmp, cmp_len) ||
	    !in_list("> >= < <= == !=", l->cmp))
		return -EINVAL;
	l->bound = strtod(text + cmp + cmp_len, &end);
	if (end == text + cmp + cmp_len || *end || !isfinite(l->bound))
		return -EINVAL;
	dot = strrchr(l->path, '.');
	if (dot && copy(l->op, sizeof(l->op), l->path, (size_t)(dot - l->path))) {
		k.name = dot + 1;
		if (each_name(is_it, &k))
			return 0;
	}
	*near = nearest(l->path);
	return -ENOENT;
}

struct check {
	const struct report_limit *l;
	const struct report_arm *arm;
	bool found;
	struct report_metric m;
};

static void look(void *arg, const struct report_arm *a, const struct report_metric *m)
{
	struct check *c = arg;

	(void)a;
	if (strcmp(m->op, c->l->op) || strcmp(m->metric, c->l->metric) || strcmp(m->stat, c->l->stat))
		return;
	c->found = true;
	c->m = *m;
}

/* A figure of one capture against the first. */
static bool is_comparison(const struct report_limit *l)
{
	struct report_metric_info m;
	u32 i;

	for (i = 0; i < report_metric_infos(); i++) {
		report_metric_info(i, &m);
		if (!strcmp(m.metric, l->metric))
			return m.of_pair;
	}
	return false;
}

static bool is_true(double v, const char *cmp, double bound)
{
	switch (cmp[0]) {
	case '>':
		return cmp[1] ? v >= bound : v > bound;
	case '<':
		return cmp[1] ? v <= bound : v < bound;
	case '=':
		return v == bound;
	default:
		return v != bound;
	}
}

u32 report_limit_check(struct buf *out, const struct report_limit *l, const struct report_arm *arms, u32 n)
{
	u32 broken = 0, i;

	for (i = 0; i < n; i++) {
		struct check c = { .l = l };
		bool known;

		/* The first capture is held against none. */
		if (!i && n > 1 && is_comparison(l))
			continue;
		report_metrics(&arms[i], 1, look, &c);
		known = c.found && c.m.known;
		if (known && !is_true(c.m.v / l->scale, l->cmp, l->bound))
			continue;
		broken++;
		report_safe(out, arms[i].label, strlen(arms[i].label));
		if (known)
			buf_printf(out, ": %s is %.6g, which is %s %.6g\n", l->path, c.m.v / l->scale, l->cmp,
				   l->bound);
		else
			buf_printf(out, ": %s was not measured\n", l->path);
	}
	return broken;
}
