// SPDX-License-Identifier: Apache-2.0
/* What did not go as it should, on a track of its own: commands that failed, hang, came back, or have no end. */
#include <string.h>

#include "out/perfetto_writer.h"

/* So many are looked at one by one, whatever the budget is. */
#define MOST_INSTANTS 10000

static bool is_anomaly(const struct pf_draw *a, enum cmd_state s)
{
	/* A tracer that recorded no completion at all is said once. */
	return s != STATE_OK && !(s == STATE_UNPAIRED && a->health.no_completions);
}

static void draw(struct pf_writer *w, struct pf_instants *x, const struct pf_instant *p);

int pf_anomalies_prepare(struct pf_unit *u)
{
	const struct pf_draw *a = u->arm;
	const struct model *m = a->m;
	struct pf_instants *x = &u->anomalies;
	u64 n = 0;
	u32 at;
	int ret;

	for (at = 0; at < u->n_rows; at++)
		n += is_anomaly(a, cmd_state(m, pf_row(u, at)));
	ret = pf_instants_room(x, n);
	if (ret)
		return ret;
	for (at = 0; at < u->n_rows; at++) {
		u32 row = pf_row(u, at);
		enum cmd_state s = cmd_state(m, row);

		if (is_anomaly(a, s))
			pf_instants_add(x, m->cmd.ts_ns[row], INSTANT_COMMAND + s, row, m->cmd.bytes[row]);
	}
	x->draw = draw;
	x->unit = u;
	pf_instants_sort(a, x);
	return a->o->slice_budget ? pf_instants_group(a, x, MOST_INSTANTS) : 0;
}

static void draw(struct pf_writer *w, struct pf_instants *x, const struct pf_instant *p)
{
	static const char *const what[N_CMD_STATES] = {
		[STATE_FAILED] = "failed",
		[STATE_IN_FLIGHT] = "in flight at the end",
		[STATE_UNPAIRED] = "no completion recorded",
		[STATE_BACKWARDS] = "completed before its begin",
		[STATE_REFUSED] = "refused before the device",
		[STATE_REISSUED] = "issued again",
	};
	struct buf name = {};

	pf_command_name(&name, x->unit->arm, p->item);
	buf_printf(&name, " %s", what[p->kind - INSTANT_COMMAND]);
	if (p->n > 1)
		buf_printf(&name, " x%u", p->n);
	pf_instant(w, p->ns, x->unit->track_anomalies, &name);
	buf_free(&name);
	if (p->n > 1) {
		pf_arg_u64(w, ARG_n, p->n);
		pf_arg_u64(w, ARG_bytes, p->bytes);
	} else {
		pf_command_about(w, x->unit, p->item);
	}
	pf_event_end(w);
	x->unit->arm->stats->anomalies += p->n;
}
