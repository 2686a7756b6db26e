// SPDX-License-Identifier: Apache-2.0
/* All sources of all arms, merged by time into one stream. */
#include "out/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/filter.h"
#include "out/perfetto_programs.h"

#define SOURCES_PER_ARM	 5
#define SOURCES_PER_UNIT 5

static void arm_free(struct pf_draw *a)
{
	free(a->role);
	free(a->knot);
	free(a->object);
	free(a->object_of);
	free(a->info.v);
	pf_spans_free(&a->objects);
	pf_spans_free(&a->serving);
	pf_spans_free(&a->losses);
	pf_spans_free(&a->every_object);
	pf_programs_free(a);
	pf_units_free(a);
}

/* Sorts everything and finds where the time of the arm begins. */
static int arm_prepare(struct pf_draw *a)
{
	int ret = pf_commands_prepare(a);

	if (!ret)
		ret = pf_units_prepare(a);
	if (!ret)
		ret = pf_objects_prepare(a);
	if (!ret)
		ret = pf_serving_prepare(a);
	if (!ret)
		ret = pf_losses_prepare(a);
	if (!ret)
		ret = pf_programs_prepare(a);
	if (!ret)
		ret = pf_info_prepare(a);
	a->base_ns = MIN(a->base_ns, a->first_ns);
	a->shift_ns = a->o->no_rebase ? 0 : a->base_ns;
	a->stats->base_ns = a->base_ns;
	return ret;
}

/* What needs the time of the timeline. */
static int arm_instants(struct pf_draw *a)
{
	int ret = 0;
	u32 i;

	pf_instants_sort(a, &a->info);
	for (i = 0; i < a->n_units && !ret; i++)
		ret = pf_anomalies_prepare(&a->unit[i]);
	return ret;
}

static int arm_lanes(struct pf_draw *a)
{
	int ret = pf_spans_lanes(a, &a->objects);
	u32 i;

	if (!ret)
		ret = pf_spans_lanes(a, &a->serving);
	if (!ret)
		ret = pf_spans_lanes(a, &a->losses);
	if (!ret)
		ret = pf_spans_lanes(a, &a->every_object);
	if (!ret)
		ret = pf_programs_lanes(a);
	for (i = 0; i < a->n_units && !ret; i++)
		ret = pf_commands_lanes(&a->unit[i], a->o);
	a->stats->object_lanes = a->objects.n_lanes;
	a->stats->devices = a->n_units;
	return ret;
}

static int prepare(struct pf_draw *a, const struct perfetto_arm *in, u32 n, const struct perfetto_options *o,
		   struct perfetto_stats *stats)
{
	u32 extra_pids = 0, i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		stats[i] = (struct perfetto_stats){};
		a[i] = (struct pf_draw){
			.in = &in[i],
			.m = in[i].m,
			.o = o,
			.stats = &stats[i],
			.index = i,
			.first_extra_pid = extra_pids,
			.first_ns = UINT64_MAX,
			.base_ns = model_base_ns(in[i].m),
		};
		ret = arm_prepare(&a[i]);
		extra_pids += a[i].n_units - 1 + (a[i].programs ? a[i].programs->n : 0);
	}
	if (!ret)
		ret = pf_clock_align(a, n, o);
	for (i = 0; i < n && !ret; i++)
		ret = arm_instants(&a[i]);
	if (!ret)
		ret = pf_detail(a, n, o);
	for (i = 0; i < n && !ret; i++)
		ret = arm_lanes(&a[i]);
	return ret;
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

/* Starts all sources of an arm and adds them to the heap. */
static u32 start_sources(struct pf_draw *a, struct pf_source **heap, u32 n)
{
	u32 i;

	pf_instants_start(a, &a->info);
	pf_spans_start(a, &a->objects);
	pf_spans_start(a, &a->serving);
	pf_spans_start(a, &a->losses);
	pf_spans_start(a, &a->every_object);
	heap[n++] = &a->info.source;
	for (i = 0; i < a->n_units; i++) {
		struct pf_unit *u = &a->unit[i];

		pf_instants_start(a, &u->anomalies);
		pf_counters_start(u);
		heap[n++] = &u->anomalies.source;
		heap[n++] = &u->ms.source;
		heap[n++] = &u->mbs10.source;
		heap[n++] = &u->activity.source;
	}
	heap[n++] = &a->every_object.source;
	heap[n++] = &a->objects.source;
	heap[n++] = &a->serving.source;
	heap[n++] = &a->losses.source;
	n = pf_programs_start(a, heap, n);
	for (i = 0; i < a->n_units; i++) {
		pf_commands_start(&a->unit[i]);
		heap[n++] = &a->unit[i].commands;
	}
	return n;
}

static int merge(struct pf_writer *w, struct pf_draw *arms, u32 n_arms)
{
	struct pf_source **heap;
	u32 i, most = 0, n = 0;

	for (i = 0; i < n_arms; i++)
		most += SOURCES_PER_ARM + SOURCES_PER_UNIT * arms[i].n_units + pf_programs_sources(&arms[i]);
	heap = calloc(most + 1ul, sizeof(struct pf_source *));
	if (!heap)
		return -ENOMEM;
	for (i = 0; i < n_arms; i++)
		n = start_sources(&arms[i], heap, n);
	for (i = 0; i < n; i++)
		heap[i]->index = i;
	for (i = n / 2; i-- > 0;)
		sift_down(heap, n, i);
	while (n && heap[0]->next_ns != PF_DONE && !w->ret) {
		/* All of one time stays together. */
		if (heap[0]->next_ns > w->last_ns && pf_piece_is_full(w))
			pf_piece_next(w, arms, heap[0]->next_ns);
		heap[0]->emit(w, heap[0]);
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

/* When the first event is: with absolute times a bucket can begin before it. */
static u64 first_time(const struct pf_draw *arms, u32 n)
{
	u64 first = PF_MAX_TIME;
	u32 i;

	for (i = 0; i < n; i++)
		first = MIN(first, pf_time(&arms[i], arms[i].first_ns));
	return first - first % PF_WIDEST_BUCKET_NS;
}

int perfetto_write_pieces(struct perfetto_out *out, const struct perfetto_arm *arms, u32 n,
			  const struct perfetto_options *o, struct perfetto_stats *stats)
{
	struct pf_writer w = { .out = out, .o = o, .n_arms = n };
	struct pf_draw *a;
	int ret;
	u32 i;

	out->packets = out->bytes = out->pieces = 0;
	if (!labels_differ(arms, n))
		return -EEXIST;
	a = calloc(n + 1ul, sizeof(*a));
	if (!a)
		return -ENOMEM;
	ret = prepare(a, arms, n, o, stats);
	if (!ret)
		ret = pf_piece_open(&w, a, first_time(a, n));
	if (!ret)
		ret = merge(&w, a, n);
	ret = pf_piece_close(&w, ret);
	for (i = 0; i < n; i++)
		arm_free(&a[i]);
	free(a);
	pf_writer_free(&w);
	return ret;
}

int perfetto_write(struct zout *out, const struct perfetto_arm *arms, u32 n, const struct perfetto_options *o,
		   struct perfetto_stats *stats, u64 *packets)
{
	struct perfetto_out whole = { .z = out };
	int ret = perfetto_write_pieces(&whole, arms, n, o, stats);

	*packets = whole.packets;
	return ret;
}
