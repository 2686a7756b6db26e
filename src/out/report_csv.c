// SPDX-License-Identifier: Apache-2.0
/* One figure a line. */
#include <string.h>

#include "out/report_metrics.h"

/* A field; in quotes when it has to be. */
static void field(struct buf *out, const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		buf_str(out, s);
		return;
	}
	buf_byte(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			buf_byte(out, '"');
		buf_byte(out, *s);
	}
	buf_byte(out, '"');
}

static void line(void *arg, const struct report_arm *a, const struct report_metric *m)
{
	struct buf *out = arg;

	field(out, a->label);
	buf_byte(out, ',');
	buf_str(out, m->metric);
	buf_byte(out, ',');
	field(out, m->op);
	buf_byte(out, ',');
	buf_str(out, m->stat);
	buf_byte(out, ',');
	if (m->known && m->whole)
		buf_u64(out, m->u);
	else if (m->known)
		buf_printf(out, "%.12g", m->v);
	buf_byte(out, ',');
	if (m->has_n)
		buf_u64(out, m->n);
	buf_byte(out, ',');
	buf_str(out, m->unit);
	buf_byte(out, '\n');
}

void report_csv(struct buf *out, const struct report_arm *arms, u32 n)
{
	buf_lit(out, "label,metric,op,stat,value,n,unit\n");
	report_metrics(arms, n, line, out);
}
