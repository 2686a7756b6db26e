// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "kv/layout.h"
#include "lib/err.h"
#include "lib/zio.h"
#include "model/manifest.h"
#include "out/manifest.h"

#define GIVEN(v) ((v) != UINT64_MAX)

static struct opt_list opt_semantic;
static const char *opt_out = "-", *opt_model, *opt_device, *opt_engine;
static u64 opt_schema = 2, opt_mdts = UINT64_MAX, opt_align = UINT64_MAX, opt_header = UINT64_MAX;
static u64 opt_slot = UINT64_MAX, opt_capacity = UINT64_MAX;
static bool head_known; /* the input told the sizes */

static const struct opt opts[] = {
	OPT_GROUP("Input"),
	OPT_LIST(0, "semantic", &opt_semantic, "FILE", "a trace of the application (as operands are; repeatable)"),
	OPT_GROUP("Head (default: as the trace says)"),
	OPT_STR(0, "model", &opt_model, "NAME", "the model that it is of"),
	OPT_CHOICE(0, "engine", &opt_engine, "posix|io_uring|uring_cmd", "how to issue it (default uring_cmd)"),
	OPT_SIZE(0, "mdts-bytes", &opt_mdts, "SIZE", "largest command (default 128KiB)"),
	OPT_SIZE(0, "block-align", &opt_align, "SIZE", "what commands are rounded up to (default 128KiB)"),
	OPT_SIZE(0, "header-bytes", &opt_header, "SIZE", "header of a slot (default 128KiB)"),
	OPT_SIZE(0, "slot-bytes", &opt_slot, "SIZE", "a slot; 0: what the largest object needs"),
	OPT_SIZE(0, "capacity-bytes", &opt_capacity, "SIZE", "of the device; 0: all of it"),
	OPT_GROUP("Output"),
	OPT_U64(0, "schema", &opt_schema, "1|2", "version to write; 1 is what older tools read (default 2)"),
	OPT_STR('o', "output", &opt_out, "FILE", "write to FILE instead of standard output"),
	OPT_OLD(OPT_T_STR, "out", &opt_out),
	OPT_OLD(OPT_T_STR, "device", &opt_device),
	OPT_END,
};

/* ---- reading ---- */

static bool looks_like_manifest(const char *path)
{
	char head[4096];
	struct zin *z;
	ssize_t n;

	if (!strcmp(path, "-") || zin_open(&z, path))
		return false;
	n = zin_read(z, head, sizeof(head) - 1);
	zin_close(z);
	head[MAX(n, 0)] = '\0';
	return n > 0 && strstr(head, "\"schema_version\"") && !strstr(head, "\"event_type\"");
}

static int read_manifest(struct kv_manifest *m, const char *path)
{
	char why[KV_WHY];
	int ret = kv_manifest_read(m, path, why);

	if (ret == -EINVAL || ret == -EBADMSG)
		return err(-1, "cannot use %s: %s", path, why);
	return ret ? err(ret, "cannot read %s", path) : 0;
}

static int read_semantic(struct semantic *s, const char *path)
{
	int ret = semantic_read(s, path);

	if (ret == -EBADMSG)
		return err(-1, "%s is neither a semantic trace nor a manifest", path);
	return ret ? err(ret, "cannot read %s", path) : 0;
}

/* ---- the head ---- */

static u64 head_number(u64 given, u64 recorded, u64 otherwise)
{
	return GIVEN(given) ? given : recorded ? recorded : otherwise;
}

static int set_text(struct kv_manifest *m, u32 *id, const char *text)
{
	*id = strpool_add(&m->strings, text, strlen(text));
	return *id ? 0 : -ENOMEM;
}

/* The slot that all objects fit. */
static int derive_slot(struct kv_manifest *m)
{
	u64 largest = 0;
	u32 i;

	for (i = 0; i < m->n_objects; i++)
		largest = MAX(largest, m->object[i].payload_bytes);
	if (kv_slot_bytes(largest, m->device.header_bytes, m->device.block_align, &m->device.slot_bytes))
		return err(-1, "an object of %llu bytes fits no slot", (unsigned long long)largest);
	return 0;
}

/* What the command line does not say, the trace or the manifest did. */
static int set_head(struct kv_manifest *m, const char *path)
{
	struct kv_device_geometry *d = &m->device;
	const char *base = strrchr(path, '/');
	char source[256];

	d->mdts_bytes = head_number(opt_mdts, d->mdts_bytes, 131072);
	d->block_align = head_number(opt_align, d->block_align, 131072);
	/* A slot may well begin with its payload. */
	d->header_bytes = head_number(opt_header, d->header_bytes, head_known ? 0 : 131072);
	d->capacity_bytes = head_number(opt_capacity, d->capacity_bytes, 0);
	d->slot_bytes = head_number(opt_slot, d->slot_bytes, 0);
	if (opt_engine || !m->engine) {
		const char *engine = opt_engine ? opt_engine : "uring_cmd";

		d->use_uring_cmd = !strcmp(engine, "uring_cmd");
		if (set_text(m, &m->engine, engine))
			return err(-ENOMEM, "cannot make the manifest");
	}
	snprintf(source, sizeof(source), "kvio manifest: %s", base ? base + 1 : path);
	if ((opt_model && set_text(m, &m->model, opt_model)) || set_text(m, &m->source, source))
		return err(-ENOMEM, "cannot make the manifest");
	return d->slot_bytes ? 0 : derive_slot(m);
}

static void take_meta(struct kv_manifest *m, const struct semantic *s)
{
	head_known = s->meta.present;
	if (!head_known)
		return;
	m->device = (struct kv_device_geometry){
		.mdts_bytes = s->meta.max_xfer,
		.block_align = s->meta.block_align,
		.header_bytes = s->meta.header_bytes,
		.slot_bytes = s->meta.slot_bytes,
		.capacity_bytes = s->meta.capacity_bytes,
	};
}

/* ---- output ---- */

static int write_manifest(const struct kv_manifest *m)
{
	struct zout *out;
	struct buf b = {};
	int ret;

	manifest_json(&b, m, (u32)opt_schema);
	if (b.failed) {
		ret = err(-ENOMEM, "cannot make the manifest");
	} else if (!strcmp(opt_out, "-")) {
		fwrite(b.p, 1, b.n, stdout);
		ret = 0;
	} else {
		ret = zout_open(&out, opt_out, ZIO_BY_NAME);
		if (!ret) {
			zout_write(out, b.p, b.n);
			ret = zout_close(out);
		}
		ret = ret ? err(ret, "cannot write %s", opt_out) : 0;
	}
	buf_free(&b);
	return ret;
}

static void tell(const struct kv_manifest *m, const struct manifest_skips *k)
{
	u64 largest = 0;
	u32 i, loaded = 0;

	for (i = 0; i < m->n_objects; i++) {
		largest = MAX(largest, m->object[i].payload_bytes);
		loaded += memchr(m->object[i].ops, KV_DO_LOAD, m->object[i].n_ops) != NULL;
	}
	note("%u objects of at most %llu B in slots of %llu B, %u of them loaded; %u operations", m->n_objects,
	     (unsigned long long)largest, (unsigned long long)m->device.slot_bytes, loaded, m->n_operations);
	if (k->failed || k->nameless)
		note("left out: %llu operations that failed, %llu without a key", (unsigned long long)k->failed,
		     (unsigned long long)k->nameless);
}

/* From the operands: one manifest, or semantic traces. */
static int make(struct kv_manifest *m, struct semantic *s, struct manifest_skips *k, char **file, size_t n)
{
	size_t i;
	int ret = 0;

	if (n == 1 && looks_like_manifest(file[0])) {
		head_known = true;
		return read_manifest(m, file[0]);
	}
	for (i = 0; i < n && !ret; i++)
		ret = read_semantic(s, file[i]);
	if (ret)
		return ret;
	take_meta(m, s);
	ret = manifest_make(m, s, opt_schema == 1, k);
	return ret ? err(ret, "cannot make the manifest") : 0;
}

static int run(int argc, char **argv)
{
	struct manifest_skips skips = {};
	struct kv_manifest m = {};
	struct semantic s = {};
	char **file;
	size_t n = 0, i;
	int k, status = EXIT_FAILED;

	opt_parse(&cmd_manifest, &argc, argv, NULL);
	if (opt_schema != 1 && opt_schema != 2)
		die_usage("--schema %llu is not 1 or 2", (unsigned long long)opt_schema);
	file = calloc(opt_semantic.n + (size_t)argc, sizeof(*file));
	if (!file)
		bug("out of memory");
	for (i = 0; i < opt_semantic.n; i++)
		file[n++] = (char *)opt_semantic.item[i];
	for (k = 1; k < argc; k++)
		file[n++] = argv[k];
	if (!n)
		die_usage("nothing to make a manifest of: name a semantic trace, or a manifest");
	if (!make(&m, &s, &skips, file, n)) {
		if (!m.n_objects)
			err(-1, "no objects found in %s", file[0]);
		else if (!set_head(&m, file[0]) && !write_manifest(&m)) {
			tell(&m, &skips);
			status = EXIT_OK;
		}
	}
	if (!status && (s.malformed || s.cut)) {
		warn("%llu lines could not be read%s: the manifest lacks what they said",
		     (unsigned long long)s.malformed, s.cut ? ", and the end is cut" : "");
		status = EXIT_INCOMPLETE;
	}
	kv_manifest_free(&m);
	semantic_free(&s);
	free(file);
	free(opt_semantic.item);
	return status;
}

const struct cmd cmd_manifest = {
	.name = "manifest",
	.summary = "turn a semantic trace into a manifest that can be replayed",
	.usage = "SEMANTIC... -o FILE [--schema 1|2]\n"
		 "MANIFEST -o FILE [--schema 1|2]",
	.description =
		"Writes the objects of a semantic trace and what was done with them: each operation in the order in "
		"which it began, with its time, size and object; objects keep their part, rank and components.  Version 1 "
		"is the older schema, which keeps the objects and the kinds of their operations only.  A manifest of "
		"either version can be the input, too.\n"
		"\n"
		"Sizes of the device are those that the head of the trace tells, unless given.\n"
		"\n"
		"The status is 1 when there is no object, and 3 when the trace has lines that could not be read.",
	.examples = "kvio manifest sem.jsonl -o run.json\n    a manifest of a recorded run\n"
		    "kvio manifest run.json --schema 1\n    the same for an older tool",
	.opts = opts,
	.run = run,
};
