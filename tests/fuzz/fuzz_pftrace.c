// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of Perfetto traces on any bytes, whole and in pieces, and the
 * models of what it read.  Every index that it hands out must be in its table.
 */
#include <stdlib.h>
#include <string.h>

#include "model/pftrace.h"

#define MAX_BYTES (256ull << 20)

static void want(bool ok)
{
	if (!ok)
		abort();
}

static bool is_id(u32 id, u32 n)
{
	return id == NONE || id < n;
}

static void walk_slices(const struct pftrace *t)
{
	const struct pf_slices *s = &t->slice;
	u32 i;

	for (i = 0; i < s->n; i++) {
		want(s->ts[i] >= 0 && s->dur[i] >= -1 && (!i || s->ts[i - 1] <= s->ts[i]));
		want(s->track[i] < t->n_tracks && !t->track[s->track[i]].counter);
		want(s->name[i] <= t->strings.n && s->category[i] <= t->strings.n);
		want(is_id(s->args[i], t->arg.n_sets) && is_id(s->parent[i], i));
		want((s->parent[i] == NONE) == (s->depth[i] == 0));
		want(s->parent[i] == NONE || s->depth[s->parent[i]] + 1 == s->depth[i]);
	}
}

static void walk(const struct pftrace *t)
{
	u32 i;

	for (i = 0; i < t->n_tracks; i++) {
		want(is_id(t->track[i].parent, i) && t->track[i].args < t->arg.n_sets);
		want(is_id(t->track[i].upid, t->n_processes) && is_id(t->track[i].utid, t->n_threads));
	}
	walk_slices(t);
	for (i = 0; i < t->counter.n; i++) {
		want(t->counter.track[i] < t->n_tracks && t->track[t->counter.track[i]].counter);
		want(!i || t->counter.ts[i - 1] <= t->counter.ts[i]);
	}
	for (i = 0; i < t->arg.n_sets; i++)
		want(t->arg.start[i] <= t->arg.start[i + 1]);
	for (i = 0; i < t->arg.n; i++) {
		want(PF_KEY(t->arg.key[i]) < t->n_keys && PF_TYPE(t->arg.key[i]) <= PF_JSON);
		if (PF_TYPE(t->arg.key[i]) == PF_STRING)
			want(t->arg.value[i] <= t->strings.n);
	}
	want(!t->arg.n_sets || t->arg.start[t->arg.n_sets] == t->arg.n);
	for (i = 0; i < t->flow.n; i++)
		want(t->flow.out[i] < t->slice.n && t->flow.in[i] < t->slice.n);
}

static int read_all(struct pftrace *t, const u8 *data, size_t n, size_t piece)
{
	size_t at;
	int ret = pftrace_init(t, MAX_BYTES);

	for (at = 0; at < n && !ret; at += MIN(piece, n - at))
		ret = pftrace_feed(t, data + at, MIN(piece, n - at));
	return ret ? ret : pftrace_finish(t);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct pftrace whole, pieces;
	struct pf_arm *arms;
	u32 n_arms;
	int ret;

	pftrace_sniff(data, n);
	ret = read_all(&whole, data, n, n);
	want(read_all(&pieces, data, n, n ? 1 + data[0] % 61 : 1) == ret);
	if (!ret) {
		walk(&whole);
		want(!memcmp(&whole.count, &pieces.count, sizeof(whole.count)));
		want(whole.slice.n == pieces.slice.n && whole.arg.n == pieces.arg.n);
		want(whole.counter.n == pieces.counter.n && whole.flow.n == pieces.flow.n);
		if (!pftrace_to_model(&whole, &arms, &n_arms))
			pftrace_arms_free(arms, n_arms);
	}
	pftrace_free(&whole);
	pftrace_free(&pieces);
	return 0;
}
