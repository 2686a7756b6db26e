/* SPDX-License-Identifier: Apache-2.0 */
/* One capture of a comparison: a label and the files that make it, loaded and joined. */
#ifndef KVIO_ARM_H
#define KVIO_ARM_H

#include "model/model.h"

struct arm {
	char *label;
	char **file;
	size_t n_files;
	struct model m;
	/* Which files gave what, NULL = none did */
	const char *sem_name, *dev_name;
};

/* An arm of these files; NULL, "" and "-" in `file` stand for none when `dash_is_none`.  0 or -ENOMEM. */
int arm_init(struct arm *a, const char *label, const char *const *file, size_t n, bool dash_is_none);
/* "LABEL=FILE[,FILE...]", where "" and "-" stand for no file.  -EINVAL without a label or "=". */
int arm_parse(struct arm *a, const char *spec);

/*
 * Loads the files, finishes and joins the model.  On failure *failed is the
 * file that is at fault, or NULL.  0 or -errno as model_load().
 */
int arm_load(struct arm *a, u32 lba_bytes, const char **failed);
void arm_free(struct arm *a);

#endif
