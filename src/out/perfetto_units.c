// SPDX-License-Identifier: Apache-2.0
/*
 * One track tree a device.  An arm whose commands all went to one device, or
 * to devices that nothing is known of, has one tree under the user's word.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/perfetto_writer.h"

/* More devices than a machine has: the rest shares the last tree. */
#define MAX_UNITS  256
#define MINOR_BITS 20

/* The namespace, whatever path led to it: nvme0c1n1 and ng0n1 are nvme0n1.  "" = nothing is known. */
static char *unit_name(const struct model *m, const struct device *d)
{
	const char *name = strpool_get(&m->strings, d->name);
	u32 number = d->dev ? d->dev : d->rdev;
	unsigned int subsystem, path, ns;
	char *out = NULL, *p;
	int used = 0, n;

	if (sscanf(name, "nvme%uc%un%u%n", &subsystem, &path, &ns, &used) == 3 && !name[used])
		n = asprintf(&out, "nvme%un%u", subsystem, ns);
	else if (sscanf(name, "ng%un%u%n", &subsystem, &ns, &used) == 2 && !name[used])
		n = asprintf(&out, "nvme%un%u", subsystem, ns);
	else if (!*name && number)
		n = asprintf(&out, "%u:%u", number >> MINOR_BITS, number & ((1u << MINOR_BITS) - 1));
	else
		n = asprintf(&out, "%s", name);
	if (n < 0)
		return NULL;
	/* Readers take what follows the second space for the label. */
	for (p = out; *p; p++)
		if (*p == ' ')
			*p = '_';
	return out;
}

/* The unit of that name, made when there is none; takes the name.  -ENOMEM. */
static s64 unit_of(struct pf_draw *a, char *name)
{
	u32 i;

	if (!name)
		return -ENOMEM;
	if (a->n_units >= MAX_UNITS - 1) {
		free(name);
		name = strdup("others");
		if (!name)
			return -ENOMEM;
	}
	for (i = 0; i < a->n_units; i++) {
		const char *has = a->unit[i].device;

		if (has && !strcmp(has, name)) {
			free(name);
			return i;
		}
	}
	a->unit[a->n_units++] = (struct pf_unit){ .arm = a, .device = name, .name = name };
	return i;
}

/* Which unit each device with commands belongs to. */
static int find_units(struct pf_draw *a, u32 *unit_of_dev)
{
	const struct model *m = a->m;
	u32 i;

	memset(unit_of_dev, 0xff, m->n_devices * sizeof(*unit_of_dev));
	for (i = 0; i < m->cmd.n; i++)
		if (pf_drawn(a, i))
			unit_of_dev[m->cmd.dev[i]] = 0;
	for (i = 0; i < m->n_devices; i++) {
		s64 unit;

		if (unit_of_dev[i] == NONE)
			continue;
		unit = unit_of(a, unit_name(m, &m->device[i]));
		if (unit < 0)
			return (int)unit;
		unit_of_dev[i] = (u32)unit;
		a->unit[unit].n_devices++;
	}
	return 0;
}

/* The commands of each unit, in time order; first attempts, which are not drawn, are among them. */
static int sort_rows_by_unit(struct pf_draw *a, const u32 *unit_of_dev)
{
	const struct model *m = a->m;
	u32 i;

	for (i = 0; i < m->cmd.n; i++)
		if (unit_of_dev[m->cmd.dev[i]] != NONE)
			a->unit[unit_of_dev[m->cmd.dev[i]]].n_rows++;
	for (i = 0; i < a->n_units; i++) {
		a->unit[i].row = malloc(a->unit[i].n_rows * sizeof(u32));
		if (!a->unit[i].row)
			return -ENOMEM;
		a->unit[i].n_rows = 0;
	}
	for (i = 0; i < m->cmd.n; i++) {
		u32 unit = unit_of_dev[m->cmd.dev[i]];

		if (unit != NONE)
			a->unit[unit].row[a->unit[unit].n_rows++] = i;
	}
	return 0;
}

int pf_units_prepare(struct pf_draw *a)
{
	const struct model *m = a->m;
	u32 *unit_of_dev = malloc((m->n_devices + 1ul) * sizeof(*unit_of_dev));
	u32 most = MAX(MIN(m->n_devices, (u32)MAX_UNITS), 1u);
	int ret = -ENOMEM;

	a->unit = calloc(most, sizeof(*a->unit));
	if (unit_of_dev && a->unit)
		ret = find_units(a, unit_of_dev);
	if (!ret && a->n_units > 1) {
		ret = sort_rows_by_unit(a, unit_of_dev);
	} else if (!ret) {
		a->n_units = 1;
		a->unit->arm = a;
		a->unit->name = "";
		a->unit->n_rows = m->cmd.n;
	}
	free(unit_of_dev);
	return ret;
}

void pf_units_free(struct pf_draw *a)
{
	u32 i, k;

	for (i = 0; i < a->n_units; i++) {
		struct pf_unit *u = &a->unit[i];

		free(u->device);
		free(u->row);
		free(u->group);
		free(u->lat);
		free(u->anomalies.v);
		free(u->batch);
		for (k = 0; k < N_ROLES; k++)
			lanes_free(&u->roles[k].lanes);
	}
	free(a->unit);
}
