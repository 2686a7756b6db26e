/* SPDX-License-Identifier: Apache-2.0 */
/* Calls or requests of one thread, or of another key, in order of time: which of them were under way at a time. */
#ifndef KVIO_CAUSE_INDEX_H
#define KVIO_CAUSE_INDEX_H

#include "lib/hash.h"
#include "model/model.h"

struct cause_index {
	struct map64 at; /* key -> group */
	u32 n;		 /* groups */
	u32 *start;	 /* of each group, and the end of the last */
	u32 *row;
	u64 *begin;
	u64 *until; /* the latest end of this row and those before it in its group */
};

/* The key of a row and when it was under way; false: the row is left out. */
typedef bool (*cause_key)(const struct model *m, u32 row, u64 *key, u64 *begin, u64 *end);

/* Of n rows, which are in order of their begin.  0 or -ENOMEM; cause_index_free() in both cases. */
int cause_index(struct cause_index *x, const struct model *m, u32 n, cause_key key);
void cause_index_free(struct cause_index *x);

/* From the last row of the key that began at that time or before, backwards, as long as one may still last. */
struct cause_walk {
	const struct cause_index *x;
	u64 ns;
	u32 first, at; /* the next one is at - 1 */
};
struct cause_walk cause_walk(const struct cause_index *x, u64 key, u64 ns);

/* The last one, whether it lasted until then or not; NONE when there is none. */
static inline u32 cause_last(const struct cause_walk *w)
{
	return w->at > w->first ? w->x->row[w->at - 1] : NONE;
}

/* The next one; NONE behind the last. */
static inline u32 cause_step(struct cause_walk *w)
{
	if (w->at <= w->first || w->x->until[w->at - 1] < w->ns)
		return NONE;
	return w->x->row[--w->at];
}

#endif
