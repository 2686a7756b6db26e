/* SPDX-License-Identifier: Apache-2.0 */
/* One capture of a comparison: a label and the files that make it, loaded and joined. */
#ifndef KVIO_ARM_H
#define KVIO_ARM_H

#include "model/filter.h"

struct arm {
	char *label;
	char **file;
	size_t n_files;
	/* How arm_load() joins and cuts; all zero is the best join and no cut. */
	enum join_kind join;
	struct filter filter;
	struct model m;
	/* Which files gave what, NULL = none did */
	const char *sem_name, *dev_name;
};

/* An arm of these files; NULL, "" and "-" in `file` stand for none when `dash_is_none`.  0 or -ENOMEM. */
int arm_init(struct arm *a, const char *label, const char *const *file, size_t n, bool dash_is_none);
/*
 * "LABEL=FILE[,FILE...]", where "" and "-" stand for no file.  -EINVAL without
 * a label or "=".  In a label "\=" is "=", in a file name "\," is ",", and in
 * both "\\" is "\"; any other "\" is itself.
 */
int arm_parse(struct arm *a, const char *spec);
/* The rule, for the help of options that take such an argument. */
#define ARM_QUOTING "write \\= for = in LABEL, \\, for , in FILE and \\\\ for \\"

/*
 * Loads the files, finishes, joins and cuts the model.  On failure *failed is
 * the file that is at fault, or NULL.  0 or -errno as model_load().
 */
int arm_load(struct arm *a, u32 lba_bytes, const char **failed);
void arm_free(struct arm *a);

#endif
