// SPDX-License-Identifier: Apache-2.0
#include "capture/meta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jsonutil.h"
#include "lib/str.h"

struct meta_paths {
	struct strpool names;
	u32 *rdev; /* by id of the name */
	u32 cap;
};

struct meta_paths *meta_paths_new(void)
{
	return calloc(1, sizeof(struct meta_paths));
}

void meta_paths_free(struct meta_paths *p)
{
	if (!p)
		return;
	strpool_free(&p->names);
	free(p->rdev);
	free(p);
}

static u32 doc_u32(const json_t *doc, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(doc, key));

	return v > 0 && v <= UINT32_MAX ? (u32)v : 0;
}

static int add_path(struct meta_paths *p, const char *name, u32 rdev)
{
	u32 id = strpool_add(&p->names, name, strlen(name));

	if (!id)
		return -ENOMEM;
	if (id >= p->cap) {
		u32 cap = MAX(16u, id * 2);
		u32 *q = realloc(p->rdev, cap * sizeof(*q));

		if (!q)
			return -ENOMEM;
		p->rdev = q;
		p->cap = cap;
	}
	p->rdev[id] = rdev;
	return 0;
}

void meta_complete_disk(void *arg, struct known_disk *d)
{
	struct meta_paths *p = arg;
	u32 id = strpool_find(&p->names, d->ev.name, strnlen(d->ev.name, sizeof(d->ev.name)));

	if (!id)
		return;
	d->rdev = p->rdev[id];
	d->multipath = true;
}

/* What EV_DISK will say, as far as the head of the capture knows it. */
static void learn_format(struct ev_disk *e, const json_t *doc)
{
	const json_t *csi = json_object_get(doc, "csi");

	e->lba_bytes = doc_u32(doc, "lba_bytes");
	e->ms = (u16)MIN(doc_u32(doc, "metadata_bytes"), (u32)UINT16_MAX);
	if (json_is_integer(csi) && json_integer_value(csi) >= 0 && json_integer_value(csi) < 0xff)
		e->csi = (u8)json_integer_value(csi);
}

static int learn_device(struct names *names, struct meta_paths *paths, const json_t *doc)
{
	u32 dev = doc_u32(doc, "dev"), rdev = doc_u32(doc, "rdev");
	const json_t *typed = json_object_get(doc, "typed_lba_bytes"), *path;
	struct known_disk *d;
	int ret = 0;
	size_t i;

	if (dev || typed) {
		d = names_disk_make(names, dev);
		if (!d)
			return -ENOMEM;
		if (rdev)
			d->rdev = rdev;
		if (typed)
			d->typed_lba_bytes = doc_u32(doc, "typed_lba_bytes");
		d->lba_is_settled |= typed != NULL;
		if (!d->ev.kind)
			learn_format(&d->ev, doc);
	}
	json_array_foreach(json_object_get(doc, "paths"), i, path)
		if (!ret && json_is_string(path))
			ret = add_path(paths, json_string_value(path), rdev);
	return ret;
}

int meta_learn(struct names *names, struct meta_paths *paths, const json_t *doc)
{
	const json_t *device;
	int ret = 0;
	size_t i;

	json_array_foreach(json_object_get(doc, "devices"), i, device)
		if (!ret)
			ret = learn_device(names, paths, device);
	return ret;
}

bool meta_is_synthetic(const json_t *doc)
{
	return json_is_true(json_object_get(doc, "synthetic"));
}

bool meta_is_empty(const json_t *doc)
{
	return meta_is_synthetic(doc) && !json_object_get(doc, "devices");
}

static json_t *new_doc(void)
{
	json_t *doc = json_object();

	json_set_str(doc, "event_type", "capture_meta");
	json_set_u64(doc, "schema_version", 2);
	json_set_str(doc, "emitter", "kvio cat");
	return doc;
}

json_t *meta_new(void)
{
	json_t *doc = new_doc();

	json_object_set_new(doc, "synthetic", json_true());
	return doc;
}

json_t *meta_device(const struct known_disk *d)
{
	json_t *doc = meta_new(), *device = json_object(), *devices = json_array();

	json_set_u64(device, "dev", d->ev.dev);
	if (d->rdev)
		json_set_u64(device, "rdev", d->rdev);
	if (d->lba_is_settled)
		json_set_u64(device, "typed_lba_bytes", d->typed_lba_bytes);
	json_array_append_new(devices, device);
	json_object_set_new(doc, "devices", devices);
	return doc;
}

/* ---- several captures ---- */

static bool listed(const json_t *devices, const json_t *device)
{
	const json_t *d;
	size_t i;

	json_array_foreach(devices, i, d)
		if (json_equal(d, device))
			return true;
	return false;
}

/* Members that all captures have alike describe the whole as well. */
static void set_common(json_t *out, const json_t *const *doc, size_t n, const char *key)
{
	json_t *v = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!doc[i])
			continue;
		if (v && !json_equal(v, json_object_get(doc[i], key)))
			return;
		v = json_object_get(doc[i], key);
	}
	if (v)
		json_object_set(out, key, v);
}

static json_t *merge(const json_t *const *doc, const char *const *file, size_t n)
{
	static const char *const common[] = { "host", "view", "kvio_version" };
	json_t *out = new_doc(), *merged = json_array(), *devices = json_array(), *one, *d;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(common); i++)
		set_common(out, doc, n, common[i]);
	for (i = 0; i < n; i++) {
		if (!doc[i])
			continue;
		one = json_object();
		json_set_str(one, "file", file[i]);
		json_object_set(one, "meta", (json_t *)doc[i]);
		json_array_append_new(merged, one);
		json_array_foreach(json_object_get(doc[i], "devices"), k, d)
			if (!listed(devices, d))
				json_array_append(devices, d);
	}
	json_object_set_new(out, "merged", merged);
	json_object_set_new(out, "devices", devices);
	return out;
}

json_t *meta_merge(const json_t *const *doc, const char *const *file, size_t n)
{
	const json_t *first = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (first && doc[i] && !json_equal(first, doc[i]))
			return merge(doc, file, n);
		if (!first)
			first = doc[i];
	}
	return first ? json_incref((json_t *)first) : NULL;
}

static const char *text_of(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));

	return s ? s : "";
}

static bool devices_conflict(const json_t *a, const json_t *b, struct buf *why)
{
	const char *x = text_of(a, "name"), *y = text_of(b, "name");
	u32 dev = doc_u32(a, "dev");

	if (!dev || dev != doc_u32(b, "dev") || !*x || !*y || !strcmp(x, y))
		return false;
	buf_printf(why, "device %u:%u is %s in one and %s in the other", dev >> 20, dev & 0xfffff, x, y);
	buf_byte(why, 0);
	return true;
}

bool meta_conflict(const json_t *a, const json_t *b, struct buf *why)
{
	const json_t *x, *y;
	size_t i, k;

	json_array_foreach(json_object_get(a, "devices"), i, x)
		json_array_foreach(json_object_get(b, "devices"), k, y)
			if (devices_conflict(x, y, why))
				return true;
	return false;
}

s64 meta_clock_offset(const json_t *doc)
{
	json_int_t mono = json_integer_value(json_object_get(doc, "monotonic_ns"));
	json_int_t real = json_integer_value(json_object_get(doc, "realtime_ns"));

	return mono > 0 && real > mono ? real - mono : 0;
}
