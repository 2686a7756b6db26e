// SPDX-License-Identifier: Apache-2.0
/*
 * Track descriptors.  Under a process Perfetto orders tracks by name whatever
 * their rank is; ranks hold below a track that asks for explicit order.  So
 * each process has one branch with data, and the order is set below it.
 */
#include <stdio.h>
#include <string.h>

#include "out/perfetto_writer.h"

enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDERING = 11,
	TRACK_RANK = 12,
};
#define ORDERING_EXPLICIT 3

#define PID_BASE       1000
#define PIDS_PER_ARM   3
#define DEFAULT_DEVICE "ng"

struct track {
	const char *name;
	u32 parent;
	s64 rank;	  /* -1 = none */
	const char *unit; /* a counter */
	bool explicit_order;
};

static u32 descriptor(struct pf_writer *w, const struct track *t)
{
	struct buf *b = &w->b;
	size_t packet = pb_open(b, TRACE_PACKET), d = pb_open(b, PACKET_TRACK_DESCRIPTOR), mark;
	u32 uuid = ++w->n_tracks;

	pb_u64(b, TRACK_UUID, uuid);
	pb_string(b, TRACK_NAME, t->name, strlen(t->name));
	pb_u64(b, TRACK_PARENT, t->parent);
	if (t->unit) {
		mark = pb_open(b, TRACK_COUNTER);
		pb_string(b, 6, t->unit, strlen(t->unit)); /* unit_name */
		pb_close(b, mark);
	}
	if (t->explicit_order)
		pb_u64(b, TRACK_CHILD_ORDERING, ORDERING_EXPLICIT);
	if (t->rank >= 0)
		pb_s64(b, TRACK_RANK, t->rank);
	pb_close(b, d);
	pb_close(b, packet);
	return uuid;
}

static u32 process(struct pf_writer *w, const char *name, u32 pid)
{
	struct buf *b = &w->b;
	size_t packet = pb_open(b, TRACE_PACKET), d = pb_open(b, PACKET_TRACK_DESCRIPTOR), mark;
	u32 uuid = ++w->n_tracks;

	pb_u64(b, TRACK_UUID, uuid);
	mark = pb_open(b, TRACK_PROCESS);
	pb_u64(b, 1, pid);
	pb_string(b, 6, name, strlen(name)); /* process_name */
	pb_close(b, mark);
	pb_close(b, d);
	pb_close(b, packet);
	return uuid;
}

/* Lanes NAME.000 and on; the track of the first. */
static u32 lane_tracks(struct pf_writer *w, const char *name, u32 parent, u32 n)
{
	u32 first = w->n_tracks + 1, i;
	char text[32];

	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%s.%03u", name, i);
		descriptor(w, &(struct track){ .name = text, .parent = parent, .rank = i });
	}
	return first;
}

static void role_tracks(struct pf_writer *w, struct pf_arm *a)
{
	static const struct {
		const char *name;
		s64 rank;
	} of[N_ROLES] = {
		[ROLE_WRITES] = { "writes", 10 },
		[ROLE_READS] = { "reads", 40 },
		[ROLE_OTHER] = { "other", 70 },
		[ROLE_UNTAGGED] = { "untagged", 80 },
	};
	u32 turn, k;

	for (turn = 1; turn <= N_ROLES; turn++)
		for (k = 0; k < N_ROLES; k++) {
			struct pf_role *r = &a->roles[k];
			u32 track;

			if (r->rank != turn)
				continue;
			track = descriptor(w, &(struct track){ .name = of[k].name,
							       .parent = a->track_activity,
							       .rank = of[k].rank,
							       .explicit_order = r->n_lanes > 1 });
			r->track = r->n_lanes > 1 ? lane_tracks(w, of[k].name, track, r->n_lanes) : track;
		}
}

void pf_arm_tracks(struct pf_writer *w, struct pf_arm *a)
{
	struct buf name = {};
	u32 pid = PID_BASE + PIDS_PER_ARM * a->index, lmcache, nvme;

	buf_printf(&name, "LMCache %s", a->in->label);
	buf_byte(&name, '\0');
	lmcache = process(w, name.failed ? "" : name.p, pid);
	buf_reset(&name);
	buf_printf(&name, "NVMe %s %s", w->o->device ? w->o->device : DEFAULT_DEVICE, a->in->label);
	buf_byte(&name, '\0');
	nvme = process(w, name.failed ? "" : name.p, pid + 1);
	w->b.failed |= name.failed;
	buf_free(&name);

	a->track_info = descriptor(w, &(struct track){ .name = "capture info", .parent = lmcache });
	a->track_in_flight = descriptor(
		w, &(struct track){ .name = "objects in flight", .parent = lmcache, .rank = 1, .unit = "objects" });
	a->track_activity = descriptor(
		w, &(struct track){ .name = "IO activity", .parent = nvme, .rank = -1, .explicit_order = true });
	a->track_cmds = descriptor(
		w, &(struct track){ .name = "cmds/ms", .parent = a->track_activity, .rank = 90, .unit = "cmds" });
	a->track_mbs = descriptor(
		w, &(struct track){ .name = "MB/s", .parent = a->track_activity, .rank = 91, .unit = "MB/s" });
	if (!w->o->no_slba) {
		a->track_slba[DIR_WRITE] = descriptor(
			w, &(struct track){
				   .name = "writes slba", .parent = a->track_activity, .rank = 92, .unit = "LBA" });
		a->track_slba[DIR_READ] = descriptor(
			w, &(struct track){
				   .name = "reads slba", .parent = a->track_activity, .rank = 93, .unit = "LBA" });
	}
	if (a->n_objects) {
		u32 group = descriptor(w, &(struct track){ .name = "objects", .parent = lmcache, .rank = 10 });

		a->track_objects = lane_tracks(w, "objects", group, a->stats->object_lanes);
	}
	role_tracks(w, a);
}
