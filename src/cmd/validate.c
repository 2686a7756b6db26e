// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "kv/layout.h"
#include "lib/err.h"
#include "lib/zio.h"
#include "out/grade.h"

#define MDTS_BYTES 131072

static struct opt_list opt_tracer, opt_semantic;
static const char *opt_join = "auto", *opt_out = "-";
static u64 opt_header = UINT64_MAX, opt_max_xfer, opt_mdts, opt_lba, opt_align, opt_device_lba;
static bool opt_json, opt_rows, opt_assume;

static const struct opt opts[] = {
	OPT_GROUP("Input"),
	OPT_LIST(0, "tracer", &opt_tracer, "FILE", "a capture of commands (as operands are; repeatable)"),
	OPT_LIST(0, "semantic", &opt_semantic, "FILE", "a trace of the application (as operands are; repeatable)"),
	OPT_CHOICE(0, "join", &opt_join, "auto|trace-id|key|offset",
		   "how commands find their objects (default auto: the best that the captures allow)"),
	OPT_SIZE(0, "device-lba-bytes", &opt_device_lba, "SIZE", "LBA size, when the capture does not know it"),
	OPT_FLAG(0, "assume-complete", &opt_assume, "a capture that does not say what it lost has lost nothing"),
	OPT_GROUP("Projection (default: as the trace says)"),
	OPT_SIZE(0, "header-bytes", &opt_header, "SIZE", "header of a slot (default 4096)"),
	OPT_SIZE(0, "mdts-bytes", &opt_mdts, "SIZE", "largest command of the device (default 128KiB)"),
	OPT_SIZE(0, "max-xfer", &opt_max_xfer, "SIZE", "... of the engine (default: no bound)"),
	OPT_SIZE(0, "block-align", &opt_align, "SIZE", "what commands are rounded up to (default 4096)"),
	OPT_SIZE(0, "lba-bytes", &opt_lba, "SIZE", "the same, by its older name"),
	OPT_GROUP("Output"),
	OPT_FLAG(0, "rows", &opt_rows, "every operation, not only those that deviate"),
	OPT_FLAG(0, "json", &opt_json, "print JSON"),
	OPT_STR('o', "output", &opt_out, "FILE", "write to FILE instead of standard output"),
	OPT_END,
};

/* ---- loading ---- */

static int load(struct model *m, struct semantic *s, int argc, char **argv)
{
	struct join_options join = { .lba_bytes = (u32)opt_device_lba };
	const char **file = calloc(opt_tracer.n + opt_semantic.n + (size_t)argc, sizeof(*file)), *failed;
	size_t n = 0, i;
	int ret;

	if (!file)
		bug("out of memory");
	if (argc < 2 && (!opt_tracer.n || !opt_semantic.n))
		die_usage("nothing to validate: name a capture and its semantic trace");
	for (i = 0; i < opt_tracer.n; i++)
		file[n++] = opt_tracer.item[i];
	for (i = 0; i < opt_semantic.n; i++)
		file[n++] = opt_semantic.item[i];
	for (i = 1; i < (size_t)argc; i++)
		file[n++] = argv[i];
	if (join_parse(&join.kind, opt_join))
		bug("no join '%s'", opt_join);
	ret = semantic_load(s, m, file, n, &join, &failed);
	free(file);
	if (ret == -EBADMSG && failed)
		return err(-1, "%s: this is no capture: neither .kvt nor JSON lines", failed);
	if (ret)
		return err(ret, failed ? "cannot read %s" : "cannot work on the captures", failed);
	if (s->unread)
		note("standard input cannot be read twice: components of objects are not told apart");
	return 0;
}

/* ---- projection ---- */

static u64 first_of(u64 a, u64 b, u64 otherwise)
{
	return a ? a : b ? b : otherwise;
}

/* What the command line does not say, the head of the semantic trace does. */
static void choose_projection(struct grade_context *c)
{
	const struct sem_meta *meta = &c->m->sem_meta;
	bool sized = opt_mdts || opt_max_xfer;
	struct kv_limits l = {
		.mdts_bytes = first_of(opt_mdts, sized ? 0 : meta->max_data_transfer_size, MDTS_BYTES),
		.max_xfer = opt_max_xfer,
	};
	char why[KV_WHY];

	c->o.assume_complete = opt_assume;
	c->o.align = l.align = first_of(first_of(opt_align, opt_lba, 0), meta->block_align, KV_BLOCK_ALIGN);
	if (opt_header != UINT64_MAX)
		c->o.header_bytes = opt_header;
	else
		c->o.header_bytes = meta->present ? meta->header_bytes : KV_HEADER_BYTES;
	c->from_trace = meta->present && (!sized || (!opt_align && !opt_lba) || opt_header == UINT64_MAX);
	if (kv_xfer(&l, &c->o.xfer, why))
		die_usage("%s", why);
}

/* ---- output ---- */

static int write_out(const struct buf *b)
{
	struct zout *out;
	int ret;

	if (b->failed)
		return err(-ENOMEM, "cannot print the grade");
	if (!strcmp(opt_out, "-")) {
		fwrite(b->p, 1, b->n, stdout);
		return 0;
	}
	ret = zout_open(&out, opt_out, ZIO_BY_NAME);
	if (!ret) {
		zout_write(out, b->p, b->n);
		ret = zout_close(out);
	}
	return ret ? err(ret, "cannot write %s", opt_out) : 0;
}

static int grade(const struct model *m, const struct semantic *s)
{
	static const int statuses[] = {
		[GRADE_IS_EXACT] = EXIT_OK,
		[GRADE_IS_MISMATCH] = EXIT_FAILED,
		[GRADE_IS_INCOMPLETE] = EXIT_INCOMPLETE,
		[GRADE_IS_NO_DATA] = EXIT_INCOMPLETE,
	};
	struct grade g;
	struct grade_context c = { .m = m, .g = &g, .all_rows = opt_rows };
	struct buf b = {};
	int ret, status;

	choose_projection(&c);
	ret = grade_take(&g, m, s, &c.o);
	if (ret) {
		grade_free(&g);
		err(ret, "cannot grade the captures");
		return EXIT_FAILED;
	}
	if (opt_json)
		grade_json(&b, &c);
	else
		grade_text(&b, &c);
	status = write_out(&b) ? EXIT_FAILED : statuses[grade_verdict(&g)];
	buf_free(&b);
	grade_free(&g);
	return status;
}

static int run(int argc, char **argv)
{
	struct semantic s = {};
	struct model m;
	int status = EXIT_FAILED;

	opt_parse(&cmd_validate, &argc, argv, NULL);
	if (opt_device_lba > UINT32_MAX)
		die_usage("--device-lba-bytes %llu is no LBA size", (unsigned long long)opt_device_lba);
	model_init(&m);
	if (!load(&m, &s, argc, argv))
		status = grade(&m, &s);
	model_free(&m);
	semantic_free(&s);
	free(opt_tracer.item);
	free(opt_semantic.item);
	return status;
}

const struct cmd cmd_validate = {
	.name = "validate",
	.summary = "hold a capture against what its objects make one expect",
	.usage = "CAPTURE SEMANTIC [--json]\n"
		 "--tracer CAPTURE --semantic SEMANTIC [...]",
	.description =
		"For each store and load of the application, the commands that it has to make, held against those that "
		"were recorded: number, bytes, the size of each, direction, place in the slot (no hole, no overlap, "
		"nothing outside), and as a note the order.  Beside the match: WAPE of projected and of measured "
		"bytes, missing and extra ones apart; the distance of the size distributions, exact and in powers of "
		"two; what the bytes were (header, K, V, scales, padding); commands in no object, tags without a "
		"record, trace ids used twice.\n"
		"\n"
		"Size of commands, alignment and header are those that the head of the semantic trace tells, unless "
		"given.\n"
		"\n"
		"The status is 0 when all is exact, 1 when something is not that no loss of records explains, 3 when the "
		"capture is incomplete, or does not say whether it is, or there is nothing to score.  An incomplete "
		"capture is never called exact.",
	.examples = "kvio validate run.kvt sem.jsonl\n    the grade of a recording\n"
		    "kvio validate run.jsonl.zst sem.jsonl --json | jq .verdict\n    for scripts",
	.opts = opts,
	.run = run,
};
