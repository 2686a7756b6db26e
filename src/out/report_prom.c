// SPDX-License-Identifier: Apache-2.0
/* The text format of Prometheus, for node_exporter's textfile collector. */
#include <string.h>

#include "lib/str.h"
#include "out/report_metrics.h"

struct prom {
	struct buf *out;
	const char *last; /* metric of the line before */
};

/* Base units, as is usual there. */
static const char *suffix(const char *unit)
{
	if (!strcmp(unit, "ns"))
		return "_seconds";
	if (!strcmp(unit, "bytes"))
		return "_bytes";
	return "";
}

static void label_value(struct buf *out, const char *name, const char *s)
{
	size_t n = strlen(s), i, len;

	buf_str(out, name);
	buf_lit(out, "=\"");
	for (i = 0; i < n; i += len) {
		len = utf8_len(s + i, n - i);
		if (!len) {
			/* The format is UTF-8 only. */
			len = 1;
			buf_byte(out, '?');
		} else if (s[i] == '\n') {
			buf_lit(out, "\\n");
		} else {
			if (s[i] == '"' || s[i] == '\\')
				buf_byte(out, '\\');
			buf_add(out, s + i, len);
		}
	}
	buf_byte(out, '"');
}

static void head(struct prom *p, const struct report_metric *m)
{
	buf_printf(p->out, "# HELP kvio_%s%s %s\n# TYPE kvio_%s%s gauge\n", m->metric, suffix(m->unit), m->what,
		   m->metric, suffix(m->unit));
	p->last = m->metric;
}

static void sample(void *arg, const struct report_arm *a, const struct report_metric *m)
{
	struct prom *p = arg;

	if (!m->known)
		return;
	if (m->metric != p->last)
		head(p, m);
	buf_printf(p->out, "kvio_%s%s{", m->metric, suffix(m->unit));
	label_value(p->out, "label", a->label);
	buf_byte(p->out, ',');
	label_value(p->out, "op", m->op);
	if (strcmp(m->stat, "value")) {
		buf_byte(p->out, ',');
		label_value(p->out, "stat", m->stat);
	}
	buf_lit(p->out, "} ");
	if (!strcmp(m->unit, "ns"))
		buf_printf(p->out, "%.12g", m->v / 1e9);
	else if (m->whole)
		buf_u64(p->out, m->u);
	else
		buf_printf(p->out, "%.12g", m->v);
	buf_byte(p->out, '\n');
}

/* How many samples a distribution has: a metric of its own, so that its lines stand together. */
static void samples(void *arg, const struct report_arm *a, const struct report_metric *m)
{
	struct prom *p = arg;

	if (!m->has_n || strcmp(m->stat, "p50"))
		return;
	if (m->metric != p->last)
		buf_printf(p->out, "# HELP kvio_%s_samples n of kvio_%s%s\n# TYPE kvio_%s_samples gauge\n", m->metric,
			   m->metric, suffix(m->unit), m->metric);
	p->last = m->metric;
	buf_printf(p->out, "kvio_%s_samples{", m->metric);
	label_value(p->out, "label", a->label);
	buf_byte(p->out, ',');
	label_value(p->out, "op", m->op);
	buf_printf(p->out, "} %llu\n", (unsigned long long)m->n);
}

void report_prom(struct buf *out, const struct report_arm *arms, u32 n)
{
	struct prom p = { .out = out };

	report_metrics(arms, n, sample, &p);
	p.last = NULL;
	report_metrics(arms, n, samples, &p);
}
