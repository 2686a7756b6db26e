// SPDX-License-Identifier: Apache-2.0
/* What was joined and what was not; causes after a cut. */
#include <errno.h>
#include <stdlib.h>

#include "model/cause.h"

static const struct {
	const char *name, *words;
} causes[N_CAUSE_HOW] = {
	[CAUSE_USER_DATA] = { "user_data", "by user_data, place and time" },
	[CAUSE_ORDER] = { "order", "by order of submission and bytes" },
	[CAUSE_PLACE] = { "place", "by place on the device and time" },
	[CAUSE_THREAD] = { "thread", "made by its thread inside the call" },
	[CAUSE_CONTAINED] = { "contained", "inside the call, bytes add up" },
	[CAUSE_EXTENT] = { "extent", "by place in a file that was mapped, and time" },
	[CAUSE_NO_THREAD] = { "no_thread", "made by a thread without a recorded call or request" },
	[CAUSE_OUTSIDE] = { "outside", "made outside of any recorded call, request or fault" },
	[CAUSE_UNCERTAIN] = { "uncertain", "several could have caused them, or bytes do not add up" },
	[CAUSE_MOVED] = { "moved", "as the ones above, of a file that was moved or deleted" },
};

const char *cause_name(u8 how)
{
	return how < N_CAUSE_HOW ? causes[how].name : NULL;
}

const char *cause_words(u8 how)
{
	return how < N_CAUSE_HOW ? causes[how].words : NULL;
}

static void add(struct cause_sum *s, u64 bytes)
{
	s->n++;
	s->bytes += bytes;
}

/* Counts a row when it is met for the first time. */
static void meet(u64 *n, u8 *met, u32 row)
{
	if (row == NONE || met[row])
		return;
	met[row] = 1;
	++*n;
}

int cause_measure(struct cause_sums *s, const struct model *m)
{
	const struct cause_table *t = &m->cause;
	u8 *calls = calloc(m->call.n + 1ul, 1), *requests = calloc(m->uring.n + 1ul, 1);
	u8 *faults = calloc(m->fault.n + 1ul, 1);
	int ret = calls && requests && faults ? 0 : -ENOMEM;
	u32 i;

	*s = (struct cause_sums){};
	for (i = 0; !ret && t->on && i < m->cmd.n; i++) {
		u64 bytes = m->cmd.bytes[i];

		if (t->how[i] == CAUSE_NOT_SOUGHT)
			continue;
		add(&s->of[t->how[i]], bytes);
		add(cause_is_joined(t->how[i]) ? &s->joined : &s->not_joined, bytes);
		meet(&s->calls, calls, t->call[i]);
		meet(&s->requests, requests, t->uring[i]);
		meet(&s->faults, faults, t->fault ? t->fault[i] : NONE);
	}
	free(calls);
	free(requests);
	free(faults);
	return ret;
}

/* Rows only move forward, as order[i] >= i. */
void cause_permute(struct cause_table *t, const u32 *order, u32 n)
{
	u32 i;

	for (i = 0; t->on && i < n; i++) {
		t->how[i] = t->how[order[i]];
		t->call[i] = t->call[order[i]];
		t->uring[i] = t->uring[order[i]];
		if (t->fault)
			t->fault[i] = t->fault[order[i]];
	}
}

static u32 moved(u32 row, const u32 *to)
{
	return row == NONE ? NONE : to[row];
}

void cause_renumber(struct model *m, const u32 *call_to, u32 n_requests, const u32 *uring_to, const u32 *fault_to)
{
	struct cause_table *t = &m->cause;
	u32 i;

	for (i = 0; t->on && i < m->cmd.n; i++) {
		t->call[i] = moved(t->call[i], call_to);
		t->uring[i] = moved(t->uring[i], uring_to);
		if (t->fault)
			t->fault[i] = moved(t->fault[i], fault_to);
	}
	for (i = 0; t->enter && i < n_requests; i++)
		if (uring_to[i] != NONE)
			t->enter[uring_to[i]] = moved(t->enter[i], call_to);
}
