// SPDX-License-Identifier: Apache-2.0
/* The operations of a manifest, on a device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/issue.h"
#include "lib/err.h"
#include "lib/progress.h"
#include "out/work.h"

static struct rig_words words = RIG_WORDS_DEFAULT;
static const char *opt_sem, *opt_speed = "0", *opt_record;
static u64 opt_passes = 1, opt_warmup;
static bool opt_json;

static const struct opt opts[] = {
	OPT_GROUP("Manifest"),
	OPT_STR(0, "record", &opt_record, "FILE", "the manifest (as the operand is)"),
	OPT_U64(0, "passes", &opt_passes, "N", "all of it so many times, each time into an empty store (default 1)"),
	OPT_U64(0, "warmup", &opt_warmup, "N", "passes before that are not measured (default 0)"),
	OPT_STR(0, "speed", &opt_speed, "X",
		"0: as fast as it goes (default); 1: operations begin when they did, and those that ran together are one "
		"call; 2: twice as fast"),
	RIG_OPTS_TARGET(words),
	RIG_OPTS_LAYOUT(words),
	RIG_OPTS_ISSUE(words),
	RIG_OPTS_SAFETY(words),
	OPT_GROUP("Output"),
	OPT_STR(0, "sem", &opt_sem, "FILE", "the semantic trace (else $LMCACHE_KVIO_TRACE, which is appended to)"),
	OPT_FLAG(0, "json", &opt_json, "print the result as JSON"),
	OPT_OLD(OPT_T_U64, "iters", &opt_passes),
	OPT_END,
};

struct replay {
	struct kv_manifest m;
	struct rig rig;
	struct emit emit;
	struct work work;
	struct work_object *objects; /* those of a call */
	u32 room;
	u8 *first_is_load; /* of each object: it has to be there before the first operation */
	double speed;
	u64 late_ns; /* most that an operation began behind its time */
	struct progress progress;
	u64 done;
};

static struct work_object object_of(const struct replay *r, u32 i)
{
	const struct kv_object *o = &r->m.object[i];
	u32 name = o->key ? o->key : o->object_id;

	return (struct work_object){ strpool_get(&r->m.strings, name), strpool_len(&r->m.strings, name),
				     o->payload_bytes, (u32)o->kv_rank };
}

/* Objects that no key names get one; what is loaded before it was stored is found. */
static int prepare(struct replay *r)
{
	u8 *seen = calloc(r->m.n_objects + 1, 1);
	u32 i;

	r->first_is_load = calloc(r->m.n_objects + 1, 1);
	if (!seen || !r->first_is_load) {
		free(seen);
		return -ENOMEM;
	}
	for (i = 0; i < r->m.n_operations; i++) {
		const struct kv_operation *o = &r->m.operation[i];

		if (!seen[o->object] && o->op == KV_DO_LOAD)
			r->first_is_load[o->object] = 1;
		seen[o->object] = 1;
	}
	free(seen);
	for (i = 0; i < r->m.n_objects; i++) {
		struct kv_object *o = &r->m.object[i];
		char name[32];

		if (o->key || o->object_id)
			continue;
		snprintf(name, sizeof(name), "object%u", i);
		o->key = strpool_add(&r->m.strings, name, strlen(name));
		if (!o->key)
			return -ENOMEM;
	}
	return 0;
}

/* ---- running ---- */

/* What is loaded first was stored before the recording began: stored now, and not measured. */
static int store_warm(struct replay *r)
{
	bool counting = r->work.counting;
	u32 i, n = 0;
	int ret = 0;

	r->work.counting = false;
	for (i = 0; i <= r->m.n_objects && !ret; i++) {
		if (n == r->room || (i == r->m.n_objects && n)) {
			ret = work_do(&r->work, KV_STORE, r->objects, n, 0);
			n = 0;
		}
		if (i < r->m.n_objects && r->first_is_load[i])
			r->objects[n++] = object_of(r, i);
	}
	r->work.counting = counting;
	return ret;
}

/* How many operations from `at` on make one call. */
static u32 call_size(const struct replay *r, u32 at)
{
	const struct kv_operation *o = &r->m.operation[at];
	u32 n = 1;

	while (at + n < r->m.n_operations && n < r->room && o[n].op == o->op && o->op != KV_DO_DELETE &&
	       (r->speed == 0 || o[n].at_ns < o->at_ns + o->took_ns))
		n++;
	return n;
}

static void wait_for(struct replay *r, u64 start_ns, u64 at_ns)
{
	u64 due = start_ns + (u64)((double)at_ns / r->speed), now;

	issue_wait(due);
	now = clock_ns(CLOCK_MONOTONIC);
	if (now > due)
		r->late_ns = MAX(r->late_ns, now - due);
}

static int run_pass(struct replay *r)
{
	u64 start_ns;
	u32 at, n, i;
	int ret;

	store_clear(&r->rig.store);
	ret = store_warm(r);
	start_ns = clock_ns(CLOCK_MONOTONIC);
	for (at = 0; at < r->m.n_operations && !ret && !issue_stop; at += n) {
		const struct kv_operation *o = &r->m.operation[at];

		n = call_size(r, at);
		if (r->speed > 0)
			wait_for(r, start_ns, o->at_ns);
		for (i = 0; i < n; i++)
			r->objects[i] = object_of(r, o[i].object);
		if (o->op == KV_DO_DELETE)
			ret = work_delete(&r->work, r->objects, at);
		else
			ret = work_do(&r->work, o->op == KV_DO_STORE ? KV_STORE : KV_LOAD, r->objects, n, at);
		progress_update(&r->progress, r->done += n);
	}
	return ret;
}

static int run_all(struct replay *r, struct work_report *p)
{
	u64 passes = opt_passes + opt_warmup, i;
	int ret = 0;

	progress_start(&r->progress, stderr, verbosity < 0, passes * r->m.n_operations, "operations");
	for (i = 0; i < passes && !ret && !issue_stop; i++) {
		r->work.counting = i >= opt_warmup;
		ret = run_pass(r);
	}
	progress_end(&r->progress);
	p->complete = i == passes && !issue_stop && !ret;
	return ret;
}

/* ---- the whole ---- */

static int read_manifest(struct replay *r, const char *path)
{
	char why[KV_WHY];
	int ret = kv_manifest_read(&r->m, path, why);

	if (ret == -EINVAL || ret == -EBADMSG)
		return err(-1, "cannot use %s: %s", path, why);
	if (ret)
		return err(ret, "cannot read %s", path);
	if (!r->m.n_operations)
		return err(-1, "%s has no operations", path);
	if (r->speed > 0 && !r->m.has_times)
		return err(-1, "%s has no times: --speed needs them", path);
	return prepare(r);
}

/* What the command line does not say, the manifest does. */
static void complete_words(const struct replay *r, u64 *largest)
{
	const struct kv_device_geometry *d = &r->m.device;
	u32 i;

	*largest = 0;
	for (i = 0; i < r->m.n_objects; i++)
		*largest = MAX(*largest, r->m.object[i].payload_bytes);
	if (!words.header)
		words.header = d->header_bytes ? d->header_bytes : KV_HEADER_BYTES;
	if (!words.align)
		words.align = d->block_align ? d->block_align : KV_BLOCK_ALIGN;
	if (!words.slot)
		words.slot = d->slot_bytes;
	if (!words.max_xfer)
		words.max_xfer = d->mdts_bytes;
	if (!words.capacity)
		words.capacity = d->capacity_bytes;
}

static int open_all(struct replay *r)
{
	char why[GUARD_WHY];
	struct rig_options o;
	u64 largest;
	int ret;

	complete_words(r, &largest);
	if (rig_options_make(&o, &words, largest, why))
		die_usage("%s", why);
	ret = issue_open(&r->rig, &o);
	if (ret)
		return ret;
	if (r->rig.xfer != words.max_xfer && words.max_xfer)
		warn("commands of %llu bytes, not %llu as in the manifest: that is what the device takes (%s)",
		     ULL(r->rig.xfer), ULL(words.max_xfer), r->rig.bound);
	r->room = o.batch;
	r->objects = calloc(r->room, sizeof(*r->objects));
	r->work.rig = &r->rig;
	r->work.stop = &issue_stop;
	r->work.verify = words.verify;
	if (!r->objects || work_init(&r->work)) {
		err(-ENOMEM, "cannot begin");
		return EXIT_FAILED;
	}
	if (issue_begin_trace(&r->emit, opt_sem, &r->rig, "kvio replay"))
		return EXIT_FAILED;
	r->work.emit = r->emit.fd >= 0 ? &r->emit : NULL;
	return EXIT_OK;
}

static int report(struct replay *r, struct work_report *p, int ret)
{
	struct buf b = {};
	int status;

	p->command = "replay";
	p->rig = &r->rig;
	p->work = &r->work;
	p->model = strpool_get(&r->m.strings, r->m.model);
	p->ranks = 1;
	p->load_path = words.path;
	p->failed = ret && ret != -ETIME;
	if (p->failed)
		err(MIN(ret, -1), "the run ended early");
	work_report_hanging(&b, p);
	issue_tell(&b);
	if (r->speed > 0)
		note("operations began at most %.3f ms behind their time", (double)r->late_ns / 1e6);
	status = work_report_bad(p) || r->work.of[KV_LOAD].missed ? EXIT_FAILED
		 : !p->complete					  ? EXIT_INCOMPLETE
								  : EXIT_OK;
	if (opt_json)
		work_report_json(&b, p);
	else
		work_report_text(&b, p);
	return issue_print(&b, status);
}

static int run(int argc, char **argv)
{
	struct replay *r = calloc(1, sizeof(*r));
	struct work_report p = {};
	int status = EXIT_FAILED, ret;
	char *end;

	/* 0 = as the manifest says. */
	words.header = words.align = 0;
	opt_parse(&cmd_replay, &argc, argv, NULL);
	if (argc > 2 || (argc == 2) == (opt_record != NULL))
		die_usage("give one manifest");
	if (!r)
		bug("out of memory");
	r->speed = strtod(opt_speed, &end);
	if (*end || end == opt_speed || !(r->speed >= 0 && r->speed <= 1e6))
		die_usage("--speed '%s' is no number from 0 to 1000000", opt_speed);
	if (!opt_passes || opt_passes > 1 << 20 || opt_warmup > 1 << 20)
		die_usage("--passes must be 1 to 1048576");
	r->rig.guard.fd = r->rig.guard.claim_fd = r->emit.fd = -1;
	if (read_manifest(r, opt_record ? opt_record : argv[1]))
		goto out;
	status = open_all(r);
	if (status)
		goto out;
	issue_catch_signals();
	ret = run_all(r, &p);
	status = report(r, &p, ret);
out:
	status = issue_end_trace(&r->emit, status);
	work_free(&r->work);
	kv_manifest_free(&r->m);
	rig_close(&r->rig);
	free(r->objects);
	free(r->first_is_load);
	free(r);
	return status;
}

const struct cmd cmd_replay = {
	.name = "replay",
	.summary = "issue the KV operations of a manifest on a device or file",
	.usage = "MANIFEST --device NODE --yes-destroy-data=NODE [OPTIONS]\n"
		 "MANIFEST --device FILE [OPTIONS]",
	.description =
		"Issues what a manifest says was stored, loaded and deleted, in that order, with its geometry unless told "
		"otherwise: 'kvio workload --record' writes one, 'kvio manifest' makes one from a semantic trace, those of "
		"the older tools are read as well. On an empty store the same manifest gives the same commands at the "
		"same places. Objects that are loaded before they were stored are stored first, unmeasured.\n\n"
		"ALL DATA OF THE TARGET IS OVERWRITTEN, guarded as by 'kvio workload'.\n\n"
		"A command that takes longer than --op-timeout ends the run; what is in flight then is told.\n\n"
		"Exit status: 0 all done, 1 something failed, was missed or was wrong, 2 usage, 3 stopped early or a "
		"command hung.",
	.examples = "kvio replay run.json --device /dev/ng0n1 --yes-destroy-data=ng0n1\n"
		    "    as fast as it goes\n"
		    "kvio replay run.json --speed 1 --device /tmp/store --json\n"
		    "    at the times of the recording, on a file",
	.opts = opts,
	.run = run,
};
