// SPDX-License-Identifier: Apache-2.0
/* Programs of containers on the page. */
#include <stdio.h>

#include "out/html_work.h"
#include "out/report_tasks.h"

/* A number that is a name: without a separator of thousands. */
static void item_name(struct json *j, u32 number)
{
	char text[12];

	snprintf(text, sizeof(text), "%u", number);
	item_str(j, text);
}

void html_tasks(struct json *j, const struct report_arm *a)
{
	static const struct html_col cols[] = {
		{ "pid", "text" }, { "pid in there", "text" }, { "program", "text" }, { "cgroup", "text" }
	};
	u32 row[HTML_MAX_NAMES], n = container_programs(a->m, row, HTML_MAX_NAMES), i;
	const struct strpool *s = &a->m->strings;

	if (!n)
		return;
	jw_object(j, "containers");
	jw_key(j, "programs");
	table_begin(j, "Both numbers of each program", cols, ARRAY_SIZE(cols));
	for (i = 0; i < MIN(n, (u32)HTML_MAX_NAMES); i++) {
		const struct task *t = &a->m->task[row[i]];

		row_begin(j);
		item_name(j, t->pid);
		item_name(j, t->ns_pid);
		item_pooled(j, s, t->comm);
		item_text(j, strpool_get(s, t->cgroup_path), strpool_len(s, t->cgroup_path), HTML_MAX_TEXT);
		row_end(j);
	}
	table_end(j);
	jw_number(j, "left", n - MIN(n, (u32)HTML_MAX_NAMES));
	jw_close(j, '}');
}
