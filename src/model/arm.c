// SPDX-License-Identifier: Apache-2.0
#include "model/arm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_file(struct arm *a, const char *file, size_t n)
{
	char **grown = reallocarray(a->file, a->n_files + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	a->file = grown;
	a->file[a->n_files] = strndup(file, n);
	return a->file[a->n_files++] ? 0 : -ENOMEM;
}

int arm_init(struct arm *a, const char *label, const char *const *file, size_t n, bool dash_is_none)
{
	int ret = 0;
	size_t i;

	*a = (struct arm){ .label = strdup(label) };
	if (!a->label)
		return -ENOMEM;
	for (i = 0; i < n && !ret; i++)
		if (file[i] && *file[i] && !(dash_is_none && !strcmp(file[i], "-")))
			ret = add_file(a, file[i], strlen(file[i]));
	return ret;
}

/*
 * The text up to the first `end` that no backslash stands before, copied to
 * *word without those backslashes; *at is moved to that `end`.
 */
static int take_word(const char **at, char end, char **word)
{
	const char *s = *at;
	char *out = malloc(strlen(s) + 1);

	*word = out;
	if (!out)
		return -ENOMEM;
	for (; *s && *s != end; s++) {
		if (*s == '\\' && (s[1] == end || s[1] == '\\'))
			s++;
		*out++ = *s;
	}
	*out = '\0';
	*at = s;
	return 0;
}

int arm_parse(struct arm *a, const char *spec)
{
	const char *at = spec;
	int ret;

	*a = (struct arm){};
	ret = take_word(&at, '=', &a->label);
	if (!ret && (*at != '=' || !*a->label))
		ret = -EINVAL;
	while (!ret && *at) {
		char *file;

		at++;
		ret = take_word(&at, ',', &file);
		if (!ret && *file && strcmp(file, "-"))
			ret = add_file(a, file, strlen(file));
		free(file);
	}
	return ret;
}

int arm_load(struct arm *a, u32 lba_bytes, const char **failed)
{
	struct join_options join = { .lba_bytes = lba_bytes, .kind = a->join };
	struct model *m = &a->m;
	size_t i;
	int ret;

	model_init(m);
	*failed = NULL;
	for (i = 0; i < a->n_files; i++) {
		u64 sem = m->sem_in.semantic, dev = m->dev_in.commands + m->dev_in.completions + m->dev_in.anchors;
		bool meta = m->sem_meta.present;

		ret = model_load(m, a->file[i]);
		if (ret) {
			*failed = a->file[i];
			return ret;
		}
		if (!a->sem_name && (m->sem_in.semantic > sem || m->sem_meta.present != meta))
			a->sem_name = a->file[i];
		if (!a->dev_name && m->dev_in.commands + m->dev_in.completions + m->dev_in.anchors > dev)
			a->dev_name = a->file[i];
	}
	ret = model_finish(m);
	if (!ret)
		ret = model_join(m, &join);
	return ret ? ret : model_cut(m, &a->filter);
}

void arm_free(struct arm *a)
{
	size_t i;

	for (i = 0; i < a->n_files; i++)
		free(a->file[i]);
	free(a->file);
	free(a->label);
	model_free(&a->m);
	*a = (struct arm){};
}
