// SPDX-License-Identifier: Apache-2.0
/* How commands failed. */
#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "model/measure_work.h"

static int most_first(const void *a, const void *b)
{
	const struct measure_status *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->status < y->status ? -1 : x->status > y->status;
}

int measure_failures(struct measure *out, const struct measure_work *w)
{
	const struct cmd_table *t = &w->m->cmd;
	struct map64 at = {};
	u32 i, *row;
	int ret = 0;

	for (i = 0; i < t->n && !ret; i++) {
		struct measure_status s = { .status = t->status[i], .kind = STATUS_NVME };
		bool is_new = false;

		if (w->state[i] != STATE_FAILED && w->state[i] != STATE_REFUSED)
			continue;
		if (w->state[i] == STATE_REFUSED)
			s.kind = STATUS_ERRNO;
		else if (t->flags[i] & CMD_BLK_STATUS)
			s.kind = STATUS_BLK;
		row = map64_put(&at, (u64)s.kind << 32 | s.status, &is_new);
		if (row && is_new) {
			struct measure_status *grown = reallocarray(out->failure, out->n_failures + 1ul, sizeof(s));

			if (grown) {
				*row = out->n_failures++;
				out->failure = grown;
				grown[*row] = s;
			} else {
				row = NULL;
			}
		}
		if (row)
			out->failure[*row].n++;
		else
			ret = -ENOMEM;
	}
	map64_free(&at);
	if (!ret && out->n_failures)
		qsort(out->failure, out->n_failures, sizeof(*out->failure), most_first);
	return ret;
}
