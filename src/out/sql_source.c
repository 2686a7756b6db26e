// SPDX-License-Identifier: Apache-2.0
/* The two sides of the data, each made from the other when it is asked for. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/zio.h"
#include "out/sql_work.h"

/* ---- a timeline of the captures ---- */

/* Draws into a file in memory; its descriptor or -errno. */
static int draw(struct sql *s)
{
	struct perfetto_stats *stats = calloc(s->n_arms + 1ul, sizeof(*stats));
	struct perfetto_options o = {};
	struct zout *out = NULL;
	u64 packets;
	int fd = -ENOMEM, copy, ret;

	if (stats)
		fd = memfd_create("timeline", MFD_CLOEXEC);
	if (fd < 0) {
		free(stats);
		return stats ? -errno : -ENOMEM;
	}
	/* The writer closes the descriptor that it is given. */
	copy = dup(fd);
	ret = copy < 0 ? -errno : zout_open_live(&out, copy, "timeline");
	if (!ret) {
		ret = perfetto_write(out, s->arm, s->n_arms, &o, stats, &packets);
		if (ret)
			zout_abort(out);
		else
			ret = zout_close(out);
	}
	free(stats);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

static int read_back(struct pftrace *t, int fd)
{
	struct stat st;
	void *p;
	int ret = 0;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			return -errno;
		ret = pftrace_feed(t, p, (size_t)st.st_size);
		munmap(p, (size_t)st.st_size);
	}
	return ret ? ret : pftrace_finish(t);
}

static bool track_is_in(const struct pf_track *t, enum sql_tracks kind)
{
	bool thread = t->utid != NONE, process = t->upid != NONE && !thread;

	switch (kind) {
	case TRACKS_PROCESS:
		return !t->counter && process;
	case TRACKS_THREAD:
		return !t->counter && thread;
	case TRACKS_COUNTER:
		return t->counter;
	case TRACKS_PROCESS_COUNTER:
		return t->counter && process;
	case TRACKS_THREAD_COUNTER:
		return t->counter && thread;
	default:
		return true;
	}
}

static int list_tracks(struct sql *s)
{
	u32 kind, i;

	for (kind = 0; kind < N_TRACK_TABLES; kind++) {
		u32 *list = malloc((s->t->n_tracks + 1ul) * sizeof(*list)), n = 0;

		if (!list)
			return -ENOMEM;
		for (i = 0; i < s->t->n_tracks; i++)
			if (track_is_in(&s->t->track[i], kind))
				list[n++] = i;
		s->track_of[kind] = list;
		s->n_track_of[kind] = n;
	}
	return 0;
}

int sql_need_timeline(struct sql *s)
{
	int fd, ret;

	if (s->track_of[0])
		return 0;
	if (!s->t) {
		fd = draw(s);
		if (fd < 0)
			return fd;
		ret = pftrace_init(&s->own_trace, s->max_bytes);
		if (!ret)
			ret = read_back(&s->own_trace, fd);
		close(fd);
		if (ret) {
			pftrace_free(&s->own_trace);
			return ret;
		}
		s->t = &s->own_trace;
	}
	return list_tracks(s);
}

/* ---- captures of the timeline ---- */

int sql_need_captures(struct sql *s)
{
	u32 i;
	int ret;

	if (s->have_arms)
		return 0;
	ret = pftrace_to_model(s->t, &s->drawn, &s->n_drawn);
	if (ret)
		return ret;
	s->own_arm = calloc(s->n_drawn + 1ul, sizeof(*s->own_arm));
	if (!s->own_arm)
		return -ENOMEM;
	for (i = 0; i < s->n_drawn; i++)
		s->own_arm[i] = (struct perfetto_arm){ .m = &s->drawn[i].m, .label = s->drawn[i].label };
	s->arm = s->own_arm;
	s->n_arms = s->n_drawn;
	s->have_arms = true;
	return 0;
}

void sql_source_free(struct sql *s)
{
	u32 i;

	for (i = 0; i < N_TRACK_TABLES; i++)
		free(s->track_of[i]);
	for (i = 0; i < SQL_MAX_TABLES; i++) {
		free(s->index[i].start);
		free(s->index[i].row);
	}
	if (s->t == &s->own_trace)
		pftrace_free(&s->own_trace);
	pftrace_arms_free(s->drawn, s->n_drawn);
	free(s->own_arm);
}
