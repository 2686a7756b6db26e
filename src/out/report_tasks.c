// SPDX-License-Identifier: Apache-2.0
/* Programs of containers: the pid that they have there beside that of the host. */
#include "out/report_tasks.h"

#include "lib/hash.h"
#include "out/report_text.h"

#define MAX_PROGRAMS 10u

u32 container_programs(const struct model *m, u32 *row, u32 max)
{
	struct map64 seen = {};
	bool is_new = false;
	u32 i, n = 0;

	for (i = 0; i < m->n_tasks; i++) {
		const struct task *t = &m->task[i];

		if (!t->ns_pid || t->ns_pid == t->pid || (map64_put(&seen, t->pid, &is_new) && !is_new))
			continue;
		if (n < max)
			row[n] = i;
		n++;
	}
	map64_free(&seen);
	return n;
}

void text_tasks(struct buf *out, const struct model *m)
{
	u32 row[MAX_PROGRAMS], n = container_programs(m, row, MAX_PROGRAMS), i;

	if (n)
		buf_printf(out, "\nprograms of containers\n  %9s%14s  program\n", "pid", "pid in there");
	for (i = 0; i < MIN(n, MAX_PROGRAMS); i++) {
		const struct task *t = &m->task[row[i]];

		buf_printf(out, "  %9u%14u  ", t->pid, t->ns_pid);
		report_safe(out, strpool_get(&m->strings, t->comm), strpool_len(&m->strings, t->comm));
		buf_byte(out, '\n');
	}
	if (n > MAX_PROGRAMS)
		buf_printf(out, "  and %u more: kvio sql has them (table task)\n", n - MAX_PROGRAMS);
}

void jw_tasks(struct json *j, const struct model *m)
{
	u32 row[MAX_PROGRAMS], n = container_programs(m, row, MAX_PROGRAMS), i;

	if (!n)
		return;
	jw_number(j, "n_container_programs", n);
	jw_array(j, "container_programs");
	for (i = 0; i < MIN(n, MAX_PROGRAMS); i++) {
		const struct task *t = &m->task[row[i]];

		jw_item(j);
		jw_open(j, '{');
		jw_number(j, "pid", t->pid);
		jw_number(j, "ns_pid", t->ns_pid);
		jw_pooled(j, "comm", &m->strings, t->comm);
		jw_pooled(j, "cgroup_path", &m->strings, t->cgroup_path);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}
