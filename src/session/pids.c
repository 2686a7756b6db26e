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

/* All processes that are there: 0 or -errno. */
static int list(struct process **out, size_t *n)
{
	DIR *d = opendir("/proc");
	struct process *p = NULL;
	struct dirent *e;
	size_t cap = 0;
	u64 pid;

	*n = 0;
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (str_u64(e->d_name, &pid) || pid > INT32_MAX)
			continue;
		if (*n == cap) {
			struct process *grown = reallocarray(p, cap = cap ? cap * 2 : 256, sizeof(*p));

			if (!grown) {
				closedir(d);
				free(p);
				return -ENOMEM;
			}
			p = grown;
		}
		p[(*n)++] = (struct process){ (u32)pid, parent_of(e->d_name) };
	}
	closedir(d);
	*out = p;
	return 0;
}

static bool has(const u32 *pids, size_t n, u32 pid)
{
	while (n--)
		if (pids[n] == pid)
			return true;
	return false;
}

/* Adds those whose parent is there until there are no more. */
static int add_children(u32 **pids, size_t *n)
{
	struct process *p = NULL;
	size_t n_processes, i, before;
	u32 *grown;
	int ret = list(&p, &n_processes);

	if (ret)
		return ret;
	grown = reallocarray(*pids, *n + n_processes + 1, sizeof(**pids));
	if (!grown) {
		free(p);
		return -ENOMEM;
	}
	*pids = grown;
	do {
		before = *n;
		for (i = 0; i < n_processes; i++)
			if (has(grown, *n, p[i].parent) && !has(grown, *n, p[i].pid))
				grown[(*n)++] = p[i].pid;
	} while (*n > before);
	free(p);
	return 0;
}

int session_pids(const struct session_options *o, u32 **pids, size_t *n, char *why, size_t n_why)
{
	size_t i;

	*pids = calloc(o->n_pids + 1, sizeof(**pids));
	if (!*pids)
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
			(*pids)[(*n)++] = (u32)v;
	}
	return o->children && *n ? add_children(pids, n) : 0;
}

int session_attach(struct session *s)
{
	int ret = trace_attach(s->trace);
	u32 *pids = NULL;
	size_t n = 0, i;
	char why[80];

	if (ret || !s->o.children)
		return ret;
	/* From here on the kernel tells of children; those that are not in the first list are in this one. */
	if (!session_pids(&s->o, &pids, &n, why, sizeof(why)))
		for (i = 0; i < n && (!ret || ret == -ESRCH); i++)
			ret = trace_add_pid(s->trace, (pid_t)pids[i]);
	free(pids);
	return ret == -ESRCH ? 0 : ret;
}
