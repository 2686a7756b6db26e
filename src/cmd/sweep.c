// SPDX-License-Identifier: Apache-2.0
/* Objects of many sizes, each stored, loaded, and compared. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/issue.h"
#include "lib/err.h"
#include "lib/human.h"
#include "lib/str.h"
#include "out/report_json.h"
#include "out/work.h"

#define MAX_SIZES 256u

static struct rig_words words = RIG_WORDS_DEFAULT;
/* Below, at and above a command, multiples of it and not, whole blocks and not. */
static const char *opt_sizes = "4096,131072,196608,327680,524288,700000,1048576,1572864", *opt_sem;
static u64 opt_reps = 1;
static bool opt_json;

static const struct opt opts[] = {
	OPT_GROUP("Objects"),
	OPT_STR(0, "sizes", &opt_sizes, "SIZE,SIZE,...", "of the objects (default: eight from 4 KiB to 1.5 MiB)"),
	OPT_U64(0, "reps", &opt_reps, "N", "objects of each size (default 1)"),
	RIG_OPTS_TARGET(words),
	RIG_OPTS_LAYOUT(words),
	RIG_OPTS_ISSUE(words),
	OPT_GROUP("Output"),
	OPT_STR(0, "sem", &opt_sem, "FILE", "the semantic trace (else $LMCACHE_KVIO_TRACE, which is appended to)"),
	OPT_FLAG(0, "json", &opt_json, "print the result as JSON"),
	OPT_END,
};

struct row {
	u64 bytes, tried, stored, loaded, right;
	u64 store_ns, load_ns; /* of all of them */
};

struct sweep {
	struct rig rig;
	struct emit emit;
	struct work work;
	struct row row[MAX_SIZES];
	u32 n;
	u64 largest;
};

static void parse_sizes(struct sweep *s)
{
	const char *at = opt_sizes;

	for (;;) {
		size_t n = strcspn(at, ",");
		char word[32];
		u64 v;

		snprintf(word, sizeof(word), "%.*s", (int)MIN(n, 30u), at);
		if (s->n == MAX_SIZES || str_size(word, &v) || !v)
			die_usage("--sizes '%s': up to %u sizes above 0", opt_sizes, MAX_SIZES);
		s->row[s->n++].bytes = v;
		s->largest = MAX(s->largest, v);
		at += n;
		if (!*at++)
			return;
	}
}

/* Stores one object, loads it and compares it. */
static int run_one(struct sweep *s, struct row *r, u64 number)
{
	const struct work_side *store = &s->work.of[KV_STORE], *load = &s->work.of[KV_LOAD];
	u64 stored = store->objects, loaded = load->objects, wrong = s->work.wrong;
	u64 store_ns = store->busy_ns, load_ns = load->busy_ns;
	struct work_object o = { .bytes = r->bytes };
	char key[64];
	int ret;

	o.key_len = (size_t)snprintf(key, sizeof(key), "kvio%%2Fsweep@0x01000100@0@%016llx", ULL(number + 1));
	o.key = key;
	ret = work_do(&s->work, KV_STORE, &o, 1, number);
	if (!ret)
		ret = work_do(&s->work, KV_LOAD, &o, 1, number);
	/* Its slot is the next one's. */
	if (!ret)
		ret = work_delete(&s->work, &o, number);
	r->stored += store->objects - stored;
	r->loaded += load->objects - loaded;
	r->tried++;
	r->right += load->objects > loaded && s->work.wrong == wrong;
	r->store_ns += store->busy_ns - store_ns;
	r->load_ns += load->busy_ns - load_ns;
	return ret;
}

static int run_all(struct sweep *s)
{
	u64 rep, number = 0;
	int ret = 0;
	u32 i;

	for (rep = 0; rep < opt_reps && !ret && !issue_stop; rep++)
		for (i = 0; i < s->n && !ret && !issue_stop; i++)
			ret = run_one(s, &s->row[i], number++);
	return ret;
}

/* ---- output ---- */

static const char *verdict(const struct row *r)
{
	return r->right == opt_reps   ? "OK"
	       : r->tried < opt_reps  ? "NOT DONE"
	       : r->loaded < opt_reps ? "FAILED"
				      : "WRONG DATA";
}

static void text(struct buf *b, const struct sweep *s)
{
	char size[32], store[32], load[32];
	u32 i;

	buf_printf(b, "%s by %s, commands of %s (bound by %s), headers of %llu, aligned to %llu\n", s->rig.guard.node,
		   io_kind_name(s->rig.o.engine), human_bytes(size, sizeof(size), s->rig.xfer), s->rig.bound,
		   ULL(s->rig.o.header_bytes), ULL(s->rig.o.block_align));
	buf_printf(b, "%12s %8s %8s %10s %10s  %s\n", "bytes", "store", "load", "store in", "load in", "verified");
	for (i = 0; i < s->n; i++) {
		const struct row *r = &s->row[i];
		struct kv_plan put, get;

		if (kv_plan(&put, KV_STORE, r->bytes, s->rig.o.header_bytes, s->rig.xfer, s->rig.o.block_align) ||
		    kv_plan(&get, KV_LOAD, r->bytes, s->rig.o.header_bytes, s->rig.xfer, s->rig.o.block_align))
			continue;
		buf_printf(b, "%12llu %8llu %8llu %10s %10s  %s\n", ULL(r->bytes), ULL(put.commands), ULL(get.commands),
			   r->stored ? human_ns(store, sizeof(store), r->store_ns / r->stored) : "-",
			   r->loaded ? human_ns(load, sizeof(load), r->load_ns / r->loaded) : "-", verdict(r));
	}
}

static void json(struct buf *b, const struct sweep *s, bool complete)
{
	struct json j = { .b = b };
	u32 i;

	jw_open(&j, '{');
	jw_string(&j, "schema", "kvio_sweep");
	jw_number(&j, "schema_version", 1);
	jw_string(&j, "node", s->rig.guard.node);
	jw_string(&j, "engine", io_kind_name(s->rig.o.engine));
	jw_number(&j, "command_bytes", s->rig.xfer);
	jw_number(&j, "reps", opt_reps);
	jw_bool(&j, "complete", complete);
	jw_array(&j, "rows");
	for (i = 0; i < s->n; i++) {
		const struct row *r = &s->row[i];

		jw_item(&j);
		jw_open(&j, '{');
		jw_number(&j, "bytes", r->bytes);
		jw_number(&j, "stored", r->stored);
		jw_number(&j, "loaded", r->loaded);
		jw_number(&j, "right", r->right);
		jw_number_of(&j, "store_ns", r->stored ? r->store_ns / r->stored : 0, r->stored);
		jw_number_of(&j, "load_ns", r->loaded ? r->load_ns / r->loaded : 0, r->loaded);
		jw_close(&j, '}');
	}
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_byte(b, '\n');
}

static int report(const struct sweep *s, int ret)
{
	bool complete = !ret && !issue_stop, bad = false;
	struct work_report p = { .rig = &s->rig, .work = &s->work };
	struct buf b = {};
	char why[121];
	u32 i;

	if (ret && ret != -ETIME)
		err(MIN(ret, -1), "the run ended early");
	work_report_hanging(&b, &p);
	issue_tell(&b);
	for (i = 0; i < s->work.n_errors; i++) {
		emit_error_text(s->work.error[i].res, why, sizeof(why));
		err(0, "%llu objects: %s", ULL(s->work.error[i].n), why);
	}
	/* What was not reached is incomplete; what was tried and is not right is bad, stopped or not. */
	bad = s->work.n_errors || s->work.wrong || (ret && ret != -ETIME);
	for (i = 0; i < s->n; i++)
		bad |= complete && s->row[i].right != opt_reps;
	if (opt_json)
		json(&b, s, complete);
	else
		text(&b, s);
	return issue_print(&b, bad ? EXIT_FAILED : complete ? EXIT_OK : EXIT_INCOMPLETE);
}

static int open_all(struct sweep *s)
{
	char why[GUARD_WHY];
	struct rig_options o;
	int ret;

	if (rig_options_make(&o, &words, s->largest, why))
		die_usage("%s", why);
	o.batch = 1;
	ret = issue_open(&s->rig, &o);
	if (ret)
		return ret;
	s->work.rig = &s->rig;
	s->work.stop = &issue_stop;
	s->work.verify = s->work.counting = true;
	if (work_init(&s->work)) {
		err(-ENOMEM, "cannot begin");
		return EXIT_FAILED;
	}
	if (issue_begin_trace(&s->emit, opt_sem, &s->rig, "kvio sweep"))
		return EXIT_FAILED;
	s->work.emit = s->emit.fd >= 0 ? &s->emit : NULL;
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct sweep *s = calloc(1, sizeof(*s));
	int status, ret;

	opt_parse(&cmd_sweep, &argc, argv, NULL);
	if (argc > 1)
		die_usage("unexpected operand '%s'", argv[1]);
	if (!s)
		bug("out of memory");
	s->rig.guard.fd = s->rig.guard.claim_fd = s->emit.fd = -1;
	parse_sizes(s);
	if (!opt_reps || opt_reps > 1 << 20)
		die_usage("--reps must be 1 to 1048576");
	status = open_all(s);
	if (!status) {
		issue_catch_signals();
		ret = run_all(s);
		status = report(s, ret);
	}
	status = issue_end_trace(&s->emit, status);
	work_free(&s->work);
	rig_close(&s->rig);
	free(s);
	return status;
}

const struct cmd cmd_sweep = {
	.name = "sweep",
	.summary = "store, load and compare objects of many sizes",
	.usage = "--device NODE --yes-destroy-data=NODE [OPTIONS]\n"
		 "--device FILE [OPTIONS]",
	.description =
		"Stores an object of each size, loads it and compares each byte, one after the other: where sizes meet the "
		"limits of commands, blocks and slots, a mistake would show. With --sem and a recording, 'kvio validate' "
		"proves the commands as well.\n\n"
		"ALL DATA OF THE TARGET IS OVERWRITTEN, guarded as by 'kvio workload'.\n\n"
		"Exit status: 0 all right, 1 something failed or was wrong, 2 usage, 3 stopped early or a command hung.",
	.examples = "kvio sweep --device /dev/ng0n1 --yes-destroy-data=ng0n1\n"
		    "    eight sizes on a drive\n"
		    "kvio sweep --device /tmp/store --sizes 1,4095,4096,4097,1M --json\n"
		    "    these on a file",
	.opts = opts,
	.run = run,
};
