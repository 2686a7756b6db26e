// SPDX-License-Identifier: Apache-2.0
/*
 * Track descriptors.  Under a process Perfetto orders tracks by name whatever
 * their rank is; ranks hold below a track that asks for explicit order.  So
 * each process has one branch with data, and the order is set below it.
 */
#include <stdio.h>
#include <string.h>

#include "out/perfetto_programs.h"

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
#define PIDS_PER_ARM   3 /* objects, the first device, serving; further devices come behind all arms */
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

/* Lanes NAME.000 and on, ranked from `rank`; the track of the first. */
static u32 lane_tracks(struct pf_writer *w, const char *name, u32 parent, u32 n, u32 rank)
{
	u32 first = w->n_tracks + 1, i;
	char text[64];

	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%s.%03u", name, i);
		descriptor(w, &(struct track){ .name = text, .parent = parent, .rank = rank + i });
	}
	return first;
}

static void role_tracks(struct pf_writer *w, struct pf_unit *u)
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
			struct pf_role *r = &u->roles[k];
			u32 track;

			if (r->rank != turn)
				continue;
			track = descriptor(w, &(struct track){ .name = of[k].name,
							       .parent = u->track_activity,
							       .rank = of[k].rank,
							       .explicit_order = r->n_lanes > 1 });
			r->track = r->n_lanes > 1 ? lane_tracks(w, of[k].name, track, r->n_lanes, 0) : track;
		}
}

/* A process named PREFIX DEVICE LABEL; DEVICE may be absent. */
static u32 named_process(struct pf_writer *w, const char *prefix, const char *device, const struct pf_draw *a, u32 pid)
{
	struct buf name = {};
	u32 uuid;

	buf_printf(&name, "%s %s%s%s", prefix, device, *device ? " " : "", a->in->label);
	buf_byte(&name, '\0');
	w->b.failed |= name.failed;
	uuid = process(w, name.failed ? "" : name.p, pid);
	buf_free(&name);
	return uuid;
}

static u32 counter(struct pf_writer *w, const char *name, u32 parent, s64 rank, const char *unit)
{
	return descriptor(w, &(struct track){ .name = name, .parent = parent, .rank = rank, .unit = unit });
}

static void unit_tracks(struct pf_writer *w, struct pf_unit *u)
{
	u32 io;

	io = u->track_activity = descriptor(
		w, &(struct track){
			   .name = "IO activity", .parent = u->track_process, .rank = -1, .explicit_order = true });
	u->cmds.track = counter(w, "cmds/ms", io, 90, "cmds");
	u->mbs.track = counter(w, "MB/s", io, 91, "MB/s");
	if (u->anomalies.n)
		u->track_anomalies = descriptor(w, &(struct track){ .name = "anomalies", .parent = io, .rank = 95 });
	if (w->o->no_slba)
		return;
	u->slba[DIR_WRITE].track = counter(w, "writes slba", io, 92, "LBA");
	u->slba[DIR_READ].track = counter(w, "reads slba", io, 93, "LBA");
}

static void serving_tracks(struct pf_writer *w, struct pf_draw *a, u32 pid)
{
	u32 serving;

	if (!a->serving.n)
		return;
	serving = named_process(w, "Serving", "", a, pid);
	a->serving.track = lane_tracks(w, "requests", serving, a->serving.n_lanes, 10);
}

/* Lanes LANE.000 and on below a track of their own when there are several. */
static u32 thread_track(struct pf_writer *w, const char *name, const char *lane, u32 parent, u32 n_lanes, s64 rank)
{
	u32 track = descriptor(
		w, &(struct track){ .name = name, .parent = parent, .rank = rank, .explicit_order = n_lanes > 1 });

	return n_lanes > 1 ? lane_tracks(w, lane, track, n_lanes, 0) : track;
}

/* The files of a program, one below the other, and what their faults came to. */
static void file_tracks(struct pf_writer *w, struct pf_draw *a, struct pf_program *p, u32 io, s64 rank)
{
	struct buf name = {};
	u32 group, i;

	if (!p->n_files)
		return;
	group = descriptor(
		w, &(struct track){ .name = "page faults", .parent = io, .rank = rank, .explicit_order = true });
	for (i = 0; i < p->n_files; i++) {
		struct pf_spans *s = &p->file[i].faults;

		buf_reset(&name);
		pf_file_name(w, &name, a, &p->file[i]);
		buf_byte(&name, '\0');
		s->track = thread_track(w, name.failed ? "" : name.p, "faults", group, s->n_lanes, i);
	}
	w->b.failed |= name.failed;
	buf_free(&name);
	p->counts.major.track = counter(w, "major faults", io, rank + 1, "faults");
	p->counts.amplification.track = counter(w, "read amplification", io, rank + 2, "x");
}

static void program_tracks(struct pf_writer *w, struct pf_draw *a, struct pf_program *p, u32 pid)
{
	struct buf name = {};
	u32 process, io, i;

	pf_program_name(w, &name, a, p);
	buf_byte(&name, '\0');
	process = named_process(w, "Program", name.failed ? "" : name.p, a, pid);
	io = descriptor(w, &(struct track){ .name = "IO", .parent = process, .rank = -1, .explicit_order = true });
	for (i = 0; i < p->n_threads; i++) {
		buf_reset(&name);
		pf_thread_name(w, &name, a, &p->thread[i]);
		buf_byte(&name, '\0');
		p->thread[i].calls.track = thread_track(w, name.failed ? "" : name.p, "calls", io,
							p->thread[i].calls.n_lanes, 10 + (s64)i);
	}
	w->b.failed |= name.failed;
	buf_free(&name);
	if (p->requests.n)
		p->requests.track =
			thread_track(w, "io_uring", "io_uring", io, p->requests.n_lanes, 10 + (s64)p->n_threads);
	if (p->requests.open)
		p->in_flight.track = counter(w, "requests in flight", io, 12 + (s64)p->n_threads, "requests");
	if (p->rate.n) {
		p->rate.counter[DIR_READ].track = counter(w, "read MB/s", io, 13 + (s64)p->n_threads, "MB/s");
		p->rate.counter[DIR_WRITE].track = counter(w, "written MB/s", io, 14 + (s64)p->n_threads, "MB/s");
	}
	file_tracks(w, a, p, io, 15 + (s64)p->n_threads);
}

void pf_arm_tracks(struct pf_writer *w, struct pf_draw *a)
{
	u32 lmcache, pid = PID_BASE + PIDS_PER_ARM * a->index, i;
	const char *word = w->o->device ? w->o->device : DEFAULT_DEVICE;

	lmcache = named_process(w, "LMCache", "", a, pid);
	for (i = 0; i < a->n_units; i++) {
		struct pf_unit *u = &a->unit[i];

		u->track_process =
			named_process(w, "NVMe", *u->name ? u->name : word, a,
				      i ? PID_BASE + PIDS_PER_ARM * w->n_arms + a->first_extra_pid + i - 1 : pid + 1);
	}
	a->track_info = descriptor(w, &(struct track){ .name = "capture info", .parent = lmcache });
	a->in_flight.track = counter(w, "objects in flight", lmcache, 1, "objects");
	for (i = 0; i < a->n_units; i++)
		unit_tracks(w, &a->unit[i]);
	serving_tracks(w, a, pid + 2);
	if (a->objects.n) {
		u32 group = descriptor(w, &(struct track){ .name = "objects", .parent = lmcache, .rank = 10 });

		a->objects.track = lane_tracks(w, "objects", group, a->objects.n_lanes, 0);
	}
	if (a->losses.n) {
		u32 group = descriptor(w, &(struct track){ .name = "losses", .parent = lmcache, .rank = 20 });

		a->losses.track = lane_tracks(w, "losses", group, a->losses.n_lanes, 0);
	}
	for (i = 0; i < a->n_units; i++)
		role_tracks(w, &a->unit[i]);
	pid = PID_BASE + PIDS_PER_ARM * w->n_arms + a->first_extra_pid + a->n_units - 1;
	for (i = 0; a->programs && i < a->programs->n; i++)
		program_tracks(w, a, &a->programs->v[i], pid + i);
}
