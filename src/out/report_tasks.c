// SPDX-License-Identifier: Apache-2.0
/* Programs of containers: the pid that they have there beside that of the host. */
#include "out/report_tasks.h"

#include "lib/hash.h"
#include "out/report_text.h"

#define MAX_PROGRAMS 10

/* The next task after `i` that is the first of a program in another pid namespace; NONE when there is none. */
static u32 next_program(const struct model *m, struct map64 *seen, u32 i)
{
	bool is_new = false;

	for (; i < m->n_tasks; i++) {
		const struct task *t = &m->task[i];

		if (t->ns_pid && t->ns_pid != t->pid && (!map64_put(seen, t->pid, &is_new) || is_new))
			return i;
	}
	return NONE;
}

void text_tasks(struct buf *out, const struct model *m)
{
	struct map64 seen = {};
	u32 i, n = 0;

	for (i = 0; (i = next_program(m, &seen, i)) != NONE; i++) {
		const struct task *t = &m->task[i];

		if (!n)
			buf_printf(out, "\nprograms of containers\n  %9s%14s  program\n", "pid", "pid in there");
		if (n++ >= MAX_PROGRAMS)
			continue;
		buf_printf(out, "  %9u%14u  ", t->pid, t->ns_pid);
		report_safe(out, strpool_get(&m->strings, t->comm), strpool_len(&m->strings, t->comm));
		buf_byte(out, '\n');
	}
	if (n > MAX_PROGRAMS)
		buf_printf(out, "  and %u more: kvio sql has them (table task)\n", n - MAX_PROGRAMS);
	map64_free(&seen);
}

void jw_tasks(struct json *j, const struct model *m)
{
	struct map64 seen = {};
	u32 i = next_program(m, &seen, 0), n = 0;

	if (i != NONE) {
		jw_array(j, "container_programs");
		for (; i != NONE && n < MAX_PROGRAMS; i = next_program(m, &seen, i + 1), n++) {
			jw_item(j);
			jw_open(j, '{');
			jw_number(j, "pid", m->task[i].pid);
			jw_number(j, "ns_pid", m->task[i].ns_pid);
			jw_pooled(j, "comm", &m->strings, m->task[i].comm);
			jw_pooled(j, "cgroup_path", &m->strings, m->task[i].cgroup_path);
			jw_close(j, '}');
		}
		jw_close(j, ']');
	}
	map64_free(&seen);
}
