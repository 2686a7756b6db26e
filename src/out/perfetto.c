// SPDX-License-Identifier: Apache-2.0
/* All sources of all arms, merged by time into one stream. */
#include "out/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/perfetto_writer.h"

#define SOURCES_PER_ARM	 6
/* With absolute times a bucket can begin before the first event: never by more than the widest one. */
#define WIDEST_BUCKET_NS 100000000ull

static void arm_free(struct pf_arm *a)
{
	u32 k;

	free(a->role);
	free(a->batch);
	free(a->object);
	free(a->object_of);
	free(a->ended);
	free(a->info);
	lanes_free(&a->object_lanes);
	for (k = 0; k < N_ROLES; k++)
		lanes_free(&a->roles[k].lanes);
}

static int arm_prepare(struct pf_arm *a, const struct perfetto_options *o)
{
	int ret;

	a->base_ns = UINT64_MAX;
	ret = pf_commands_prepare(a);
	if (!ret)
		ret = pf_objects_prepare(a);
	if (!ret)
		ret = pf_info_prepare(a);
	if (ret)
		return ret;
	a->shift_ns = o->no_rebase ? 0 : a->base_ns;
	a->stats->base_ns = a->base_ns;
	ret = pf_commands_lanes(a, o);
	return ret ? ret : pf_objects_lanes(a);
}

/* What time of day the base is, from the anchor nearest to it; 0 when the capture has none. */
static u64 wall_time(const struct model *m, u64 base)
{
	const struct anchor *best = NULL;
	u64 best_d = UINT64_MAX;
	u32 i;

	for (i = 0; i < m->n_anchors; i++) {
		u64 t = m->anchor[i].monotonic_ns, d = t > base ? t - base : base - t;

		if (d < best_d) {
			best_d = d;
			best = &m->anchor[i];
		}
	}
	return best ? best->realtime_ns + (base - best->monotonic_ns) : 0;
}

static void start_clock(struct pf_writer *w, const struct pf_arm *arms, u32 n)
{
	u64 first = UINT64_MAX, wall = 0;
	u32 i;

	if (!w->o->no_rebase || !n) {
		pf_start(w, 0, 0);
		return;
	}
	for (i = 0; i < n; i++)
		first = MIN(first, arms[i].base_ns);
	first = MIN(first, PF_MAX_TIME);
	first -= first % WIDEST_BUCKET_NS;
	for (i = 0; i < n && !wall; i++)
		wall = wall_time(arms[i].m, first);
	pf_start(w, first, wall);
}

static bool earlier(const struct pf_source *a, const struct pf_source *b)
{
	if (a->next_ns != b->next_ns)
		return a->next_ns < b->next_ns;
	return a->order != b->order ? a->order < b->order : a->index < b->index;
}

static void sift_down(struct pf_source **heap, u32 n, u32 i)
{
	struct pf_source *s = heap[i];
	u32 child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && earlier(heap[child + 1], heap[child]))
			child++;
		if (!earlier(heap[child], s))
			break;
		heap[i] = heap[child];
	}
	heap[i] = s;
}

static int merge(struct pf_writer *w, struct pf_arm *arms, u32 n_arms)
{
	struct pf_source **heap = calloc(n_arms * SOURCES_PER_ARM + 1ul, sizeof(struct pf_source *));
	u32 i, k, n = 0;

	if (!heap)
		return -ENOMEM;
	for (i = 0; i < n_arms; i++) {
		struct pf_arm *a = &arms[i];
		struct pf_source *all[SOURCES_PER_ARM] = {
			&a->info_source,     &a->ms.source,	&a->mbs.source,
			&a->activity.source, &a->object_source, &a->command_source,
		};

		pf_info_start(a);
		pf_counters_start(a);
		pf_objects_start(a);
		pf_commands_start(a);
		for (k = 0; k < SOURCES_PER_ARM; k++) {
			all[k]->index = n;
			heap[n++] = all[k];
		}
	}
	for (i = n / 2; i-- > 0;)
		sift_down(heap, n, i);
	while (n && heap[0]->next_ns != PF_DONE && !w->ret) {
		heap[0]->emit(w, heap[0]->arm, heap[0]);
		sift_down(heap, n, 0);
	}
	free(heap);
	return pf_flush(w);
}

static bool labels_differ(const struct perfetto_arm *arms, u32 n)
{
	u32 i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			if (!strcmp(arms[i].label, arms[j].label))
				return false;
	return true;
}

int perfetto_write(struct zout *out, const struct perfetto_arm *arms, u32 n, const struct perfetto_options *o,
		   struct perfetto_stats *stats, u64 *packets)
{
	struct pf_writer w = { .out = out, .o = o };
	struct pf_arm *a;
	int ret = 0;
	u32 i;

	*packets = 0;
	if (!labels_differ(arms, n))
		return -EEXIST;
	a = calloc(n + 1ul, sizeof(*a));
	if (!a)
		return -ENOMEM;
	for (i = 0; i < n && !ret; i++) {
		stats[i] = (struct perfetto_stats){};
		a[i].in = &arms[i];
		a[i].m = arms[i].m;
		a[i].index = i;
		a[i].stats = &stats[i];
		ret = arm_prepare(&a[i], o);
	}
	if (ret)
		goto out;
	start_clock(&w, a, n);
	for (i = 0; i < n; i++)
		pf_arm_tracks(&w, &a[i]);
	ret = merge(&w, a, n);
	*packets = w.packets;
out:
	for (i = 0; i < n; i++)
		arm_free(&a[i]);
	free(a);
	buf_free(&w.b);
	buf_free(&w.fresh);
	strpool_free(&w.event_names);
	strpool_free(&w.string_values);
	return ret;
}
