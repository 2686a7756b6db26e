// SPDX-License-Identifier: Apache-2.0
/* The sentences that text, JSON and the converter's summary share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/str.h"
#include "out/report.h"

/* Names of operations that are listed; there are three. */
#define MAX_OP_NAMES 16

void report_ns(struct buf *out, u64 ns)
{
	char t[32];

	buf_str(out, human_ns(t, sizeof(t), ns));
}

void report_bytes(struct buf *out, u64 bytes)
{
	char t[32];

	buf_str(out, human_bytes(t, sizeof(t), bytes));
}

struct slice report_file(const struct model *m, u32 path, u32 dev, u64 ino, char numbers[REPORT_NUMBERS])
{
	int n;

	if (path)
		return (struct slice){ strpool_get(&m->strings, path), strpool_len(&m->strings, path) };
	n = snprintf(numbers, REPORT_NUMBERS, "%u:%u inode %llu", dev >> 20, dev & 0xfffff, (unsigned long long)ino);
	return (struct slice){ numbers, (size_t)n };
}

void report_safe(struct buf *out, const char *s, size_t n)
{
	size_t i, len;

	for (i = 0; i < n; i += len) {
		u8 c = (u8)s[i];

		len = utf8_len(s + i, n - i);
		/* C0, DEL, and the C1 controls U+0080..U+009F; and bytes that are no UTF-8 */
		if (!len || c < 0x20 || c == 0x7f || (c == 0xc2 && (u8)s[i + 1] < 0xa0)) {
			len = 1;
			buf_printf(out, "\\x%02x", c);
			continue;
		}
		buf_add(out, s + i, len);
	}
}

bool report_incomplete(const struct measure *x)
{
	return x->health.lossy || x->health.incomplete ||
	       (!x->cmd.n && !x->objects_ok && !x->objects_failed && !x->n_calls);
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void end_sentence(struct report_warnings *w)
{
	buf_byte(&w->text, '\0');
	w->n++;
}

#define ULL(x) ((unsigned long long)(x))
#define S(n)   ((n) == 1 ? "" : "s")

static void lossy(struct report_warnings *w, const struct model *m, const struct health *h)
{
	u64 n = m->cmd.n, passed = m->account.seen - MIN(m->account.filtered, m->account.seen);

	if (h->dropped && passed > h->dropped) {
		buf_printf(&w->text, "LOSSY: %llu of %llu events (%.1f %%) dropped while recording (ring or map full)",
			   ULL(h->dropped), ULL(passed), percent(h->dropped, passed));
		end_sentence(w);
	} else if (h->dropped) {
		buf_printf(&w->text, "LOSSY: %llu event%s dropped while recording (ring or map full)", ULL(h->dropped),
			   S(h->dropped));
		end_sentence(w);
	}
	if (h->hook_missed) {
		buf_printf(&w->text, "LOSSY: the kernel skipped %llu run%s of the tracer", ULL(h->hook_missed),
			   S(h->hook_missed));
		end_sentence(w);
	}
	if (h->unread) {
		buf_printf(&w->text, "LOSSY: %llu event%s left unread in the kernel", ULL(h->unread), S(h->unread));
		end_sentence(w);
	}
	if (h->unpaired) {
		buf_printf(&w->text, "LOSSY: %llu of %llu commands (%.1f %%) have no completion", ULL(h->unpaired),
			   ULL(n), percent(h->unpaired, n));
		end_sentence(w);
	}
	if (h->orphans) {
		buf_printf(&w->text, "LOSSY: %llu completion%s without a command", ULL(h->orphans), S(h->orphans));
		end_sentence(w);
	}
}

static void incomplete(struct report_warnings *w, const struct model *m, const struct health *h)
{
	if (h->malformed) {
		buf_printf(&w->text, "INCOMPLETE: %llu line%s or record%s could not be read", ULL(h->malformed),
			   S(h->malformed), S(h->malformed));
		if (h->first_bad_line)
			buf_printf(&w->text, ", the first is line %llu", ULL(h->first_bad_line));
		end_sentence(w);
	}
	if (h->tail_cut) {
		buf_lit(&w->text, "INCOMPLETE: the input is cut at its end");
		end_sentence(w);
	}
	if (h->not_closed) {
		buf_lit(&w->text, "INCOMPLETE: the recorder did not end properly");
		if (h->defect) {
			buf_lit(&w->text, ": ");
			report_safe(&w->text, strpool_get(&m->strings, h->defect), strpool_len(&m->strings, h->defect));
		}
		end_sentence(w);
	}
	if (h->no_account) {
		buf_printf(&w->text, "INCOMPLETE: no final count of losses: %s",
			   m->timeline ? "this timeline does not have it" : "the recorder did not end properly");
		end_sentence(w);
	}
}

void report_warnings(struct report_warnings *w, const struct model *m, const struct health *h)
{
	u64 first = m->cmd.n ? m->cmd.ts_ns[0] : h->first_overflow_ns;

	*w = (struct report_warnings){};
	if (h->overflows) {
		buf_printf(&w->text,
			   "CQ overflow x%llu at %.3f ms: completions reached the application late; "
			   "figures from its side are not reliable",
			   ULL(h->overflows), ((double)h->first_overflow_ns - (double)first) / 1e6);
		end_sentence(w);
	}
	lossy(w, m, h);
	incomplete(w, m, h);
	if (h->negative) {
		buf_printf(&w->text, "%llu completion%s earlier than the command: in no latency", ULL(h->negative),
			   S(h->negative));
		end_sentence(w);
	}
	if (h->no_completions) {
		buf_lit(&w->text, "no completions were recorded: no latency and no queue depth");
		end_sentence(w);
	}
}

const char *report_qd1_word(enum qd1_verdict v)
{
	switch (v) {
	case QD1_SERIAL:
		return "QD~1 (serialized)";
	case QD1_SUSPICIOUS:
		return "QD~1 suspicious (gap >= 40us)";
	case QD1_PIPELINED:
		return "pipelined";
	default:
		return "unknown";
	}
}

const char *report_join_name(const struct model *m)
{
	return join_name(m->join);
}

static const struct {
	const char *word, *id;
} classes[N_QD_CLASSES] = {
	[QD_UNKNOWN] = { "unknown", "unknown" },
	[QD_WITHIN] = { "serial within an object", "serial-within-object" },
	[QD_ACROSS] = { "serial across objects", "serial-across-objects" },
	[QD_DRAINS] = { "drains between batches", "drains-between-batches" },
	[QD_TURNS] = { "threads take turns", "threads-take-turns" },
	[QD_DEVICE] = { "device-bound", "device-bound" },
	[QD_PIPELINED] = { "pipelined", "pipelined" },
};

const char *report_class_word(enum qd_class c)
{
	return classes[c].word;
}

const char *report_class_id(enum qd_class c)
{
	return classes[c].id;
}

const char *report_part_name(enum request_part p)
{
	static const char *const names[N_PARTS] = {
		[PART_DEVICE] = "device",	    [PART_GAPS] = "gaps", [PART_WAIT] = "wait", [PART_TAIL] = "tail",
		[PART_UNEXPLAINED] = "unexplained",
	};

	return names[p];
}

const char *report_cause_name(enum barrier_cause c)
{
	static const char *const names[N_CAUSES] = {
		[CAUSE_START] = "start",
		[CAUSE_QUEUE] = "queue",
		[CAUSE_DEVICE] = "device",
		[CAUSE_HOST] = "host",
	};

	return names[c];
}

const char *report_work_name(enum ab_work w)
{
	static const char *const names[N_WORKS] = {
		[WORK_OBJECTS] = "objects",
		[WORK_OBJECT_BYTES] = "object_bytes",
		[WORK_CMDS] = "commands",
		[WORK_CMD_BYTES] = "command_bytes",
		[WORK_LOADS] = "loads",
		[WORK_STORES] = "stores",
		[WORK_READ_CMDS] = "read_commands",
		[WORK_WRITE_CMDS] = "write_commands",
		[WORK_READ_BYTES] = "read_bytes",
		[WORK_WRITE_BYTES] = "write_bytes",
	};

	return names[w];
}

static void serial_why(struct buf *out, const struct measure_qd1 *q)
{
	if (q->service.p25)
		buf_printf(out, "gaps are %.1f times the service", (double)q->gap.p50 / (double)q->service.p25);
	else
		buf_lit(out, "gaps are long");
	if (q->flow.objects_mean >= 1.05)
		buf_printf(out, ", %.1f objects at a time", q->flow.objects_mean);
}

static void device_why(struct buf *out, const struct measure_flow *f)
{
	buf_printf(out, "%.1f in flight, and the latency p50 of ", f->busy_depth);
	report_ns(out, f->at_size.p50);
	buf_printf(out, " is %.1f times the ", (double)f->at_size.p50 / (double)MAX(f->at_floor.p50, 1ull));
	report_ns(out, f->at_floor.p50);
	buf_printf(out, " of those that found %llu before them (n %llu)", ULL(f->floor_depth), ULL(f->at_floor.n));
}

void report_class_why(struct buf *out, const struct measure_qd1 *q)
{
	const struct measure_flow *f = &q->flow;
	u64 pauses = f->pauses_within + f->pauses_between;
	u64 paused = f->pause_within_ns + f->pause_between_ns;

	switch (q->class) {
	case QD_WITHIN:
		buf_lit(out, "each command waits for the one before: ");
		serial_why(out, q);
		break;
	case QD_TURNS:
		buf_printf(out,
			   "%llu threads, of which commands overlap for %.1f %% of the busy time: ", ULL(f->threads),
			   percent(f->thread_multi_ns, f->busy_ns));
		serial_why(out, q);
		break;
	case QD_ACROSS:
		buf_printf(out, "one object at a time for %.1f %% of the time, with %.1f in flight inside",
			   percent(f->open_one_ns, f->open_ns), f->busy_depth);
		break;
	case QD_DRAINS:
		buf_printf(out, "the queue ran empty %llu time%s, for %.1f %% of the time with work", ULL(pauses),
			   S(pauses), percent(paused, paused + f->busy_ns));
		break;
	case QD_DEVICE:
		device_why(out, f);
		break;
	case QD_PIPELINED:
		buf_printf(out, "%.1f in flight while busy, empty for %.1f %% of the time with work", f->busy_depth,
			   percent(paused, paused + f->busy_ns));
		break;
	default:
		break;
	}
}

bool report_cost_share(struct buf *out, const struct measure_qd1 *q)
{
	/* How it is counted differs by the class. */
	static const char *const of[N_QD_CLASSES] = {
		[QD_WITHIN] = "the time that they take",
		[QD_TURNS] = "the time that they take",
		[QD_ACROSS] = "the time with work",
		[QD_DRAINS] = "the time with work",
	};

	if (!of[q->class] || !q->lost_of_ns)
		return false;
	buf_printf(out, "%.1f %% of %s", 100 * q->lost_share, of[q->class]);
	return true;
}

bool report_cost(struct buf *out, const struct measure_qd1 *q)
{
	struct buf share = {};
	bool any = report_cost_share(&share, q);

	if (any) {
		buf_lit(out, "time lost by waiting: ");
		report_ns(out, q->lost_ns);
		buf_lit(out, ", ");
		buf_add(out, share.p, share.n);
		out->failed |= share.failed;
	}
	buf_free(&share);
	return any;
}

static void device_only(struct buf *out, const struct measure *x)
{
	buf_printf(out, "device only: %llu command%s, ", ULL(x->cmd.n), S(x->cmd.n));
	report_bytes(out, x->cmd.bytes);
	buf_lit(out, "; no semantic trace");
}

static void semantic_only(struct buf *out, const struct model *m, const struct measure *x)
{
	u64 n = x->objects_ok + x->objects_failed;

	buf_printf(out, "no device IO: %llu object%s, 0 device commands", ULL(n), S(n));
	if (m->n_devices)
		buf_lit(out, " (served from a cache, or filtered away)");
	else
		buf_lit(out, " (not recorded, wrong device, or served from a cache)");
}

void report_verdict(struct buf *out, const struct model *m, const struct measure *x)
{
	static const char *const words[N_DIRS] = { "loads", "stores" };
	u64 objects = x->objects_ok + x->objects_failed, with_cmds = 0, unknown = m->dev_in.unknown + m->sem_in.unknown;
	bool any = false;
	u32 i;
	int d;

	if (!x->cmd.n && !objects && (m->dev_in.calls || m->dev_in.requests)) {
		buf_printf(out, "no device commands recorded; %llu system call%s, %llu io_uring request%s: see below",
			   ULL(m->dev_in.calls), S(m->dev_in.calls), ULL(m->dev_in.requests), S(m->dev_in.requests));
		return;
	}
	if (!x->cmd.n && !objects && m->cache.n) {
		buf_lit(out, "no device commands recorded; page faults and page cache: see below");
		return;
	}
	if (!x->cmd.n && !objects) {
		buf_lit(out, "nothing recorded: 0 objects, 0 device commands");
		if (unknown)
			buf_printf(out, "; %llu record%s of a kind that is not read here", ULL(unknown), S(unknown));
		return;
	}
	if (!x->cmd.n) {
		semantic_only(out, m, x);
		return;
	}
	for (d = 0; d < N_DIRS; d++) {
		if (x->qd1[d].verdict == QD1_UNKNOWN)
			continue;
		buf_printf(out, "%s%s %s", any ? ", " : "", words[d], report_qd1_word(x->qd1[d].verdict));
		any = true;
	}
	for (i = 0; i < x->n_obj; i++)
		with_cmds += x->obj[i].with_cmds + x->obj[i].failed_with_cmds;
	if (objects && !with_cmds)
		buf_printf(out, "%snot joined: none of %llu objects has a device command", any ? "; " : "",
			   ULL(objects));
	else if (!any && !objects)
		device_only(out, x);
	else if (any && !objects)
		buf_lit(out, "; no semantic trace, by the ids in the commands");
	else if (!any)
		buf_lit(out, "no operation has the 4 commands that a queue depth verdict needs");
}

static int by_text(const void *a, const void *b, void *arg)
{
	const struct strpool *s = arg;

	return strcmp(strpool_get(s, *(const u32 *)a), strpool_get(s, *(const u32 *)b));
}

void report_op_counts(struct buf *out, const struct model *m)
{
	u32 name[MAX_OP_NAMES], n = 0, i, k;
	u64 count[MAX_OP_NAMES] = {}, others = 0;

	for (i = 0; i < m->op.n; i++) {
		for (k = 0; k < n && name[k] != m->op.name[i];)
			k++;
		if (k == n && n < MAX_OP_NAMES)
			name[n++] = m->op.name[i];
	}
	qsort_r(name, n, sizeof(*name), by_text, (void *)&m->strings);
	for (i = 0; i < m->op.n; i++) {
		for (k = 0; k < n && name[k] != m->op.name[i];)
			k++;
		if (k < n)
			count[k]++;
		else
			others++;
	}
	for (k = 0; k < n; k++) {
		buf_str(out, k ? ", " : "");
		report_safe(out, strpool_get(&m->strings, name[k]), strpool_len(&m->strings, name[k]));
		buf_printf(out, " %llu", ULL(count[k]));
	}
	if (others)
		buf_printf(out, ", others %llu", ULL(others));
	if (!n)
		buf_byte(out, '-');
}
