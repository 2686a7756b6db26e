// SPDX-License-Identifier: Apache-2.0
/* A drawn capture back into a model: which process is which arm, and slices into rows. */
#include <stdlib.h>

#include "model/pftrace_model.h"

static bool starts(const char *s, const char *prefix)
{
	return !strncasecmp(s, prefix, strlen(prefix));
}

static const char *text_of(const struct draft *d, u32 id)
{
	return strpool_get(&d->t->strings, id);
}

/* ---- labels ---- */

/* The arm of that label, made when there is none: its place, or -ENOMEM. */
static int find_arm(struct draft *d, const char *label, u32 *at)
{
	struct pf_arm *grown;
	u32 i;

	for (i = 0; i < d->n; i++)
		if (!strcmp(d->arm[i].label, label)) {
			*at = i;
			return 0;
		}
	grown = reallocarray(d->arm, d->n + 1ul, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	d->arm = grown;
	grown[d->n] = (struct pf_arm){ .label = strdup(label) };
	if (!grown[d->n].label)
		return -ENOMEM;
	model_init(&grown[d->n].m);
	*at = d->n++;
	return loading_start(&grown[*at].m);
}

/*
 * The label of a process "NVMe DEVICE LABEL", where both can have blanks: the
 * longest label that the end of the name is, else what follows the device.
 */
static const char *device_label(const struct draft *d, const char *name)
{
	size_t n = strlen(name), best = 0;
	const char *blank = strchr(name, ' ');
	u32 i;

	for (i = 0; i < d->n; i++) {
		size_t len = strlen(d->arm[i].label);

		if (len > best && len < n && name[n - len - 1] == ' ' && !strcmp(name + n - len, d->arm[i].label))
			best = len;
	}
	if (best)
		return name + n - best;
	return blank ? blank + 1 : name;
}

/* Which arm and side the processes are; those named by the application come first, they have the label alone. */
static int find_processes(struct draft *d)
{
	u32 i, turn;
	int ret = 0;

	for (turn = 0; turn < 2; turn++)
		for (i = 1; i < d->t->n_processes && !ret; i++) {
			const char *name = text_of(d, d->t->process[i].name);
			struct side *s = &d->side[i];

			if (turn == 0 && starts(name, "LMCache ")) {
				s->of = SIDE_OBJECTS;
				ret = find_arm(d, name + 8, &s->arm);
			} else if (turn == 0 && starts(name, "Serving ")) {
				s->of = SIDE_SERVING;
				ret = find_arm(d, name + 8, &s->arm);
			} else if (turn == 1 && starts(name, "NVMe ")) {
				const char *label = device_label(d, name + 5);

				s->of = SIDE_DEVICE;
				s->word = (struct slice){ name + 5, (size_t)MAX(label - name - 6, (ptrdiff_t)0) };
				ret = find_arm(d, label, &s->arm);
			}
		}
	return ret;
}

static void count_devices(struct draft *d)
{
	u32 i;

	for (i = 1; i < d->t->n_processes; i++)
		if (d->side[i].of == SIDE_DEVICE)
			d->about[d->side[i].arm].n_devices++;
}

static bool is_lane_of_commands(const char *name)
{
	return starts(name, "writes") || starts(name, "reads") || starts(name, "other") || starts(name, "untagged");
}

static void find_tracks(struct draft *d)
{
	u32 i;

	for (i = 0; i < d->t->n_tracks; i++) {
		const struct pf_track *track = &d->t->track[i];
		const char *name = text_of(d, track->name);
		const struct side *s = track->upid == NONE ? NULL : &d->side[track->upid];

		if (!s || track->counter)
			continue;
		d->track[i].arm = s->arm;
		if (s->of == SIDE_OBJECTS)
			d->track[i].holds = starts(name, "objects")	    ? HOLDS_OBJECTS
					    : !strcmp(name, "capture info") ? HOLDS_INFO
									    : HOLDS_NOTHING;
		else if (s->of == SIDE_SERVING)
			d->track[i].holds = HOLDS_SPANS;
		else if (s->of == SIDE_DEVICE && is_lane_of_commands(name))
			d->track[i].holds = HOLDS_COMMANDS;
	}
}

/* ---- args ---- */

#define KEY_NAME(name) "debug." #name,
static const char *const key_names[] = { PF_MODEL_KEYS(KEY_NAME) };

static int find_keys(struct draft *d)
{
	u32 i, k;

	d->known = malloc(d->t->n_keys + 1ul);
	if (!d->known)
		return -ENOMEM;
	memset(d->known, N_K, d->t->n_keys);
	for (i = 0; i < N_K; i++) {
		k = pftrace_key(d->t, key_names[i]);
		if (k != NONE)
			d->known[k] = (u8)i;
	}
	return 0;
}

void pf_row_read(const struct draft *d, u32 slice, struct pf_row *row)
{
	const struct pf_args *a = &d->t->arg;
	u32 set = d->t->slice.args[slice], i;

	row->has = 0;
	for (i = set == NONE ? 0 : a->start[set]; set != NONE && i < a->start[set + 1]; i++) {
		u8 k = d->known[PF_KEY(a->key[i])];

		if (k == N_K)
			continue;
		row->has |= 1ull << k;
		row->type[k] = (u8)PF_TYPE(a->key[i]);
		row->v[k] = a->value[i];
	}
}

u64 pf_row_u64(const struct pf_row *row, enum pf_model_key k)
{
	double real;

	if (!(row->has & 1ull << k) || row->type[k] == PF_STRING || row->type[k] == PF_JSON)
		return 0;
	if (row->type[k] == PF_REAL) {
		memcpy(&real, &row->v[k], sizeof(real));
		return real >= 0 && real < 0x1p63 ? (u64)real : 0;
	}
	return row->type[k] == PF_INT && (s64)row->v[k] < 0 ? 0 : row->v[k];
}

struct slice pf_row_text(const struct draft *d, const struct pf_row *row, enum pf_model_key k)
{
	const struct strpool *s = &d->t->strings;
	u32 id;

	if (!(row->has & 1ull << k) || row->type[k] != PF_STRING)
		return (struct slice){};
	id = (u32)row->v[k];
	return (struct slice){ strpool_get(s, id), strpool_len(s, id) };
}

/* ---- the whole ---- */

static int read_infos(struct draft *d)
{
	struct pf_row row;
	u32 i;
	int ret = 0;

	for (i = 0; i < d->t->slice.n && !ret; i++) {
		const struct place *p = &d->track[d->t->slice.track[i]];

		if (p->holds != HOLDS_INFO || strcmp(text_of(d, d->t->slice.name[i]), "capture_info"))
			continue;
		pf_row_read(d, i, &row);
		ret = pf_take_info(d, &d->arm[p->arm], &d->about[p->arm], &row);
	}
	return ret;
}

static int read_rows(struct draft *d)
{
	struct pf_row row;
	u32 i;
	int ret = 0;

	for (i = 0; i < d->t->slice.n && !ret; i++) {
		const struct place *p = &d->track[d->t->slice.track[i]];

		if (p->holds == HOLDS_NOTHING)
			continue;
		pf_row_read(d, i, &row);
		/* One slice for several things: there is no row for them. */
		if (pf_row_u64(&row, K_n) > 1) {
			d->arm[p->arm].grouped++;
			continue;
		}
		d->base = d->about[p->arm].shift_ns;
		d->device = d->side[d->t->track[d->t->slice.track[i]].upid].word;
		switch (p->holds) {
		case HOLDS_COMMANDS:
			ret = pf_take_command(d, &d->arm[p->arm].m, &d->about[p->arm], &row, i);
			break;
		case HOLDS_OBJECTS:
			ret = pf_take_object(d, &d->arm[p->arm].m, &row, i);
			break;
		case HOLDS_SPANS:
			ret = pf_take_span(d, &d->arm[p->arm].m, &row, i);
			break;
		default:
			ret = pf_take_instant(d, &d->arm[p->arm].m, &row, i);
			break;
		}
	}
	return ret;
}

int pftrace_to_model(const struct pftrace *t, struct pf_arm **arms, u32 *n)
{
	struct draft d = { .t = t };
	int ret = -ENOMEM;
	u32 i;

	d.side = calloc(t->n_processes + 1ul, sizeof(*d.side));
	d.track = calloc(t->n_tracks + 1ul, sizeof(*d.track));
	if (d.side && d.track)
		ret = find_keys(&d);
	if (!ret)
		ret = find_processes(&d);
	d.about = calloc(d.n + 1ul, sizeof(*d.about));
	if (!ret && !d.about)
		ret = -ENOMEM;
	if (!ret) {
		count_devices(&d);
		find_tracks(&d);
		ret = read_infos(&d);
	}
	if (!ret)
		ret = read_rows(&d);
	for (i = 0; i < d.n && !ret; i++)
		ret = pf_finish_arm(&d, &d.arm[i].m, &d.about[i]);
	free(d.side);
	free(d.track);
	free(d.known);
	free(d.about);
	*arms = d.arm;
	*n = d.n;
	if (ret) {
		pftrace_arms_free(d.arm, d.n);
		*arms = NULL;
		*n = 0;
	}
	return ret;
}

void pftrace_arms_free(struct pf_arm *arms, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		free(arms[i].label);
		model_free(&arms[i].m);
	}
	free(arms);
}
