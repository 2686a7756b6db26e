// SPDX-License-Identifier: Apache-2.0
/* The models that are known by name: data/models.json, which is part of the program. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "kv/config.h"
#include "lib/str.h"

/* Ended by NUL.  The assembler reads it from the root of the tree. */
__asm__(".pushsection .rodata\n.global kv_table_json\nkv_table_json:\n.incbin \"data/models.json\"\n.byte 0\n"
	".popsection\n");
extern const char kv_table_json[];

static json_t *models;

static void parse_table(void)
{
	json_t *doc = json_loads(kv_table_json, 0, NULL);

	models = json_incref(json_object_get(doc, "models"));
	json_decref(doc);
}

static const json_t *table(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, parse_table);
	return models;
}

size_t kv_table_size(void)
{
	return json_array_size(table());
}

static const char *name_of(const json_t *entry)
{
	const char *name = json_string_value(json_object_get(entry, "name"));

	return name ? name : "";
}

int kv_table_get(struct kv_model *m, size_t i)
{
	const json_t *entry = json_array_get(table(), i);
	char why[KV_WHY];

	return entry ? kv_model_parse(m, entry, name_of(entry), why) : -ENOENT;
}

static const char *behind_slash(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static bool is_called(const json_t *entry, const char *name)
{
	const json_t *alias;
	size_t i;

	if (!strcasecmp(name_of(entry), name) || !strcasecmp(behind_slash(name_of(entry)), name))
		return true;
	json_array_foreach(json_object_get(entry, "aliases"), i, alias)
		if (json_is_string(alias) && !strcasecmp(json_string_value(alias), name))
			return true;
	return false;
}

/* The nearest of all names, as long or as short as the one that was given. */
static const char *nearest(const char *name)
{
	const char *words[128];
	const json_t *entry;
	size_t n = 0, i;

	json_array_foreach(table(), i, entry)
		if (n < ARRAY_SIZE(words))
			words[n++] = strchr(name, '/') ? name_of(entry) : behind_slash(name_of(entry));
	return str_nearest(name, words, n);
}

int kv_model_find(struct kv_model *m, const char *name, const char **near)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(table(), i, entry)
		if (is_called(entry, name))
			return kv_table_get(m, i);
	*near = nearest(name);
	return -ENOENT;
}
