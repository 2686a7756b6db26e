// SPDX-License-Identifier: Apache-2.0
/* Which processes --pid means. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/str.h"
#include "session/session.h"

struct process {
	u32 pid, parent;
	bool ended;
};

struct processes {
	struct process *p;
	size_t n, cap;
};

/* The parent is the second word behind the name, which may hold anything. */
static u32 parent_of(const char *pid)
{
	char path[64], line[512] = "", *p;
	unsigned parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	p = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (!p || sscanf(p + 1, " %*c %u", &parent) != 1)
		parent = 0;
	fclose(f);
	return parent;
}

static int put(void *arg, u32 pid, u32 parent, bool ended)
{
	struct processes *all = arg;

	if (all->n == all->cap) {
		size_t cap = all->cap ? all->cap * 2 : 256;
		struct process *grown = reallocarray(all->p, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		all->p = grown;
		all->cap = cap;
	}
	all->p[all->n++] = (struct process){ pid, parent, ended };
	return 0;
}

/* All processes that are there: 0 or -errno. */
static int list(struct processes *all)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int ret = 0;
	u64 pid;

	if (!d)
		return -errno;
	while (!ret && (e = readdir(d)))
		if (!str_u64(e->d_name, &pid) && pid <= INT32_MAX)
			ret = put(all, (u32)pid, parent_of(e->d_name), false);
	closedir(d);
	return ret;
}

static bool has(const u32 *pids, size_t n, u32 pid)
{
	while (n--)
		if (pids[n] == pid)
			return true;
	return false;
}

/* Adds those whose parent is there until there are no more. */
static int add_children(const struct processes *all, u32 **pids, size_t *n)
{
	u32 *grown = reallocarray(*pids, *n + all->n + 1, sizeof(**pids));
	size_t i, before;

	if (!grown)
		return -ENOMEM;
	*pids = grown;
	do {
		before = *n;
		for (i = 0; i < all->n; i++)
			if (has(grown, *n, all->p[i].parent) && !has(grown, *n, all->p[i].pid))
				grown[(*n)++] = all->p[i].pid;
	} while (*n > before);
	return 0;
}

/* Whether it runs, by what was learnt last. */
static bool runs(const struct processes *all, u32 pid)
{
	size_t i = all->n;

	while (i--)
		if (all->p[i].pid == pid)
			return !all->p[i].ended;
	return false;
}

int session_pids(struct session *s, char *why, size_t n_why)
{
	const struct session_options *o = &s->o;
	struct processes all = {};
	size_t i;
	int ret;

	s->pids = calloc(o->n_pids + 1, sizeof(*s->pids));
	if (!s->pids)
		return -ENOMEM;
	for (i = 0; i < o->n_pids; i++) {
		u64 v;

		if (str_u64(o->pids[i], &v) || v > INT32_MAX) {
			snprintf(why, n_why, "'%s' is not a process id", o->pids[i]);
			return -EINVAL;
		}
		if (v && kill((pid_t)v, 0) && errno == ESRCH) {
			snprintf(why, n_why, "no process %llu is running", ULL(v));
			return -ESRCH;
		}
		if (v)
			s->pids[s->n_pids++] = (u32)v;
	}
	s->n_named = s->n_pids;
	if (!o->children)
		return 0;
	ret = list(&all);
	if (!ret)
		ret = add_children(&all, &s->pids, &s->n_pids);
	free(all.p);
	return ret;
}

/*
 * Those below the processes of --pid that are not followed yet.  They may begin
 * others and end while they are looked for, so the kernel takes notes: who is in
 * no list is there.  It is done when the notes have nobody new.
 */
static int add_followed(struct session *s)
{
	struct processes all = {};
	size_t added = s->n_named, listed;
	int ret = list(&all);

	for (listed = all.n; !ret; all.n = listed) {
		ret = trace_notes(s->trace, put, &all);
		if (!ret)
			ret = add_children(&all, &s->pids, &s->n_pids);
		if (ret || added == s->n_pids)
			break;
		for (; added < s->n_pids && !ret; added++)
			if (runs(&all, s->pids[added]))
				ret = trace_add_pid(s->trace, (pid_t)s->pids[added]);
		/* It has ended. */
		ret = ret == -ESRCH ? 0 : ret;
	}
	free(all.p);
	return ret;
}

int session_attach(struct session *s)
{
	int ret;

	trace_note_forks(s->trace, s->o.children);
	ret = trace_attach(s->trace);
	if (!ret && s->o.children)
		ret = add_followed(s);
	trace_note_forks(s->trace, false);
	return ret;
}
