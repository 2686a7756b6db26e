// SPDX-License-Identifier: Apache-2.0
#include "out/perfetto_sentences.h"

#include <stdarg.h>
#include <stdio.h>

#define ULL(x) ((unsigned long long)(x))

bool perfetto_is_empty(const struct model *m)
{
	return !m->cmd.n && !m->op.n && !m->serving.n && !m->call.n && !m->uring.n && !m->fault.n && !m->cut.cmds &&
	       !m->cut.ops && !m->cut.spans && !m->cut.calls && !m->cut.requests && !m->cut.faults;
}

static bool is_folded(const struct perfetto_kind *k)
{
	return k->slices < k->n;
}

bool perfetto_is_aggregated(const struct perfetto_stats *s)
{
	return is_folded(&s->commands) || is_folded(&s->objects) || is_folded(&s->object_instants) ||
	       is_folded(&s->requests) || is_folded(&s->calls) || is_folded(&s->uring) || is_folded(&s->faults);
}

static PRINTF(2, 3) void say(struct report_warnings *w, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	buf_str(&w->text, line);
	buf_byte(&w->text, '\0');
	w->n++;
}

/* How well the trace ids told operations apart. */
static void ids(struct perfetto_sentences *x, const struct model *m)
{
	const struct id_collisions *c = &m->collisions;

	if (c->by_end)
		say(&x->warnings,
		    "%llu trace ids name several operations of one time: %llu of their %llu commands are told apart by "
		    "the ends of the operations only, and may be wrong",
		    ULL(c->ids), ULL(c->by_end), ULL(c->cmds));
	else if (c->ids)
		say(&x->notes,
		    "%llu trace ids name several operations of one time: of %llu commands %llu are told apart by "
		    "process, %llu by place",
		    ULL(c->ids), ULL(c->cmds), ULL(c->by_pid), ULL(c->by_place));
	else if (m->n_instances > 1)
		say(&x->notes, "%u producers share this semantic trace", m->n_instances);
	if (m->dup_trace_ids && m->join == JOIN_TRACE_ID)
		say(&x->notes, "%llu repeated trace ids: commands went to the operation by its end time",
		    ULL(m->dup_trace_ids));
}

static void join(struct perfetto_sentences *x, const struct model *m)
{
	const struct offset_account *o = &m->offset;

	if (m->op.n && m->cmd.n && m->join == JOIN_NONE)
		say(&x->warnings, "objects and commands are not tied");
	if (m->join == JOIN_OFFSET && o->agree < o->cookie_cmds)
		say(&x->warnings, "%llu of %llu commands are in another object than their trace id says",
		    ULL(o->cookie_cmds - o->agree), ULL(o->cookie_cmds));
	if (m->join == JOIN_OFFSET && o->cross + o->gap_spill)
		say(&x->notes, "%llu commands cross the bounds of objects: their bytes are split",
		    ULL(o->cross + o->gap_spill));
	if (m->long_keys)
		say(&x->warnings, "%llu keys are longer than a command can carry, and have no key_hex",
		    ULL(m->long_keys));
}

/*
 * Older tracers compute bytes from the LBA size that the user gave: if it is
 * the wrong one of the two usual ones, all commands of an object together have
 * an eighth of its bytes, or eight times as many.
 */
static void lba_size(struct perfetto_sentences *x, const struct model *m)
{
	double objects = 0, commands = 0;
	u32 op, k;

	for (op = 0; op < m->op.n; op++) {
		if (!m->op.n_cmds[op] || m->op.error[op])
			continue;
		objects += (double)m->op.bytes[op];
		for (k = 0; k < m->op.n_cmds[op]; k++) {
			u32 cmd = m->cmd_order[m->op.first_cmd[op] + k];

			if (!(m->cmd.flags[cmd] & CMD_HEADER))
				commands += cmd_op_bytes(m, cmd, op);
		}
	}
	if (commands > 0 && objects / commands > 7.6 && objects / commands < 8.4)
		say(&x->warnings, "the commands of objects have an eighth of their bytes: the LBA size is %u, not %u",
		    m->lba_bytes * 8, m->lba_bytes);
	else if (objects > 0 && commands / objects > 7.6 && commands / objects < 8.4)
		say(&x->warnings, "the commands of objects have eight times their bytes: the LBA size is %u, not %u",
		    m->lba_bytes / 8, m->lba_bytes);
}

/* Whether the two sides fit together. */
static void sides(struct perfetto_sentences *x, const struct model *m)
{
	if (m->op.n && !m->dev_in.commands)
		say(&x->notes,
		    "no device IO: %u object%s, 0 device commands (not recorded, wrong device, or served from a cache)",
		    m->op.n, m->op.n == 1 ? "" : "s");
	if (!m->cut.window)
		lba_size(x, m);
	if (m->lba_said && m->lba_recorded && m->lba_said != m->lba_recorded)
		say(&x->warnings, "--lba-bytes says %u, the capture %u: %u is used", m->lba_said, m->lba_recorded,
		    m->lba_bytes);
	else if (m->lba_inferred)
		say(&x->notes, "LBA size %u was inferred from the headers of the stores", m->lba_bytes);
	if (m->n_stores && !m->n_header_cmds && m->join != JOIN_KEY && m->join != JOIN_NONE)
		say(&x->warnings, "no header command found for %u stores (check --lba-bytes)", m->n_stores);
	if (m->clock_anomalies)
		say(&x->warnings, "%llu operations end before their last command", ULL(m->clock_anomalies));
}

static void clocks(struct perfetto_sentences *x, const struct perfetto_stats *s)
{
	if (!s->clock_anchors)
		return;
	say(&x->notes, "aligned by %u clock anchor%s, within %.3f us of its host's real time", s->clock_anchors,
	    s->clock_anchors == 1 ? "" : "s", (double)s->clock_error_ns / 1e3);
	if (s->clock_was_set)
		say(&x->warnings, "the real-time clock was set while recording: aligned to within %.3f ms only",
		    (double)s->clock_error_ns / 1e6);
}

static void folded(struct perfetto_sentences *x, const char *what, const struct perfetto_kind *k)
{
	if (is_folded(k))
		say(&x->notes, "AGGREGATED: %llu %s are drawn as %llu slices", ULL(k->n), what, ULL(k->slices));
}

static void detail(struct perfetto_sentences *x, const struct perfetto_stats *s)
{
	char width[32] = "";

	if (s->command_bin_ns && s->command_bin_ns != UINT64_MAX)
		snprintf(width, sizeof(width), " and %.3f ms", (double)s->command_bin_ns / 1e6);
	if (is_folded(&s->commands))
		say(&x->notes,
		    "AGGREGATED: %llu commands are drawn as %llu slices, one for each %sdevice, name, outcome%s "
		    "(--slice-budget, --window and --object change that)",
		    ULL(s->commands.n), ULL(s->commands.slices), s->commands_by_object ? "object, " : "", width);
	folded(x, "objects", &s->objects);
	folded(x, "object instants", &s->object_instants);
	folded(x, "requests", &s->requests);
	folded(x, "system calls", &s->calls);
	folded(x, "io_uring requests", &s->uring);
	folded(x, "page faults", &s->faults);
	if (s->lean)
		say(&x->notes,
		    "LEAN: LBA counters take one sample in %.3f ms, and real_dur is told only where it is false "
		    "(--detail full tells all)",
		    (double)s->sample_bin_ns / 1e6);
}

void perfetto_sentences(struct perfetto_sentences *x, const struct model *m, const struct perfetto_stats *s)
{
	struct health h;

	*x = (struct perfetto_sentences){};
	health_take(&h, m);
	report_warnings(&x->warnings, m, &h);
	if (perfetto_is_empty(m))
		say(&x->warnings, "there is nothing in this capture: 0 objects, 0 device commands");
	else if (!m->cmd.n && !m->op.n && !m->serving.n && !m->call.n && !m->uring.n && !m->fault.n)
		say(&x->warnings, "the filters leave nothing to draw");
	ids(x, m);
	join(x, m);
	sides(x, m);
	clocks(x, s);
	if (m->n_losses)
		say(&x->notes, "%u stretches of time in which events were lost are on the track 'losses'", m->n_losses);
	detail(x, s);
}

void perfetto_sentences_free(struct perfetto_sentences *x)
{
	buf_free(&x->warnings.text);
	buf_free(&x->notes.text);
}
