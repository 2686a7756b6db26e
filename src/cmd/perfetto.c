// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "model/arm.h"
#include "out/perfetto.h"
#include "out/report.h"

static const char *opt_sem, *opt_ebpf, *opt_label = "capture", *opt_out, *opt_device = "ng";
static struct opt_list opt_merge;
static u64 opt_lba, opt_nominal = 8000;
static bool opt_no_rebase, opt_no_slba, opt_json;

static const struct opt opts[] = {
	OPT_GROUP("Input"),
	OPT_STR(0, "sem", &opt_sem, "FILE", "the semantic trace of the application"),
	OPT_STR(0, "ebpf", &opt_ebpf, "FILE", "the capture of the tracer"),
	OPT_STR(0, "label", &opt_label, "TEXT", "name of the capture in the timeline (default capture)"),
	OPT_LIST(0, "merge", &opt_merge, "LABEL=SEM,EBPF",
		 "one capture of several, side by side (repeatable); - or nothing leaves a file out"),
	OPT_SIZE(0, "lba-bytes", &opt_lba, "SIZE",
		 "LBA size, when the capture does not know it (default: what it says)"),
	OPT_GROUP("Output"),
	OPT_STR('o', "output", &opt_out, "FILE", "the timeline; .pftrace, or .pftrace.gz to compress it"),
	OPT_FLAG(0, "no-rebase", &opt_no_rebase, "keep CLOCK_MONOTONIC times, tied to the wall clock"),
	OPT_U64(0, "nominal-dur-ns", &opt_nominal, "N",
		"longest slice of a command without a completion (default 8000)"),
	OPT_STR(0, "device", &opt_device, "WORD", "the device word in track names (default ng)"),
	OPT_FLAG(0, "no-slba-counter", &opt_no_slba, "without the two LBA counters"),
	OPT_FLAG(0, "json", &opt_json, "print the summary as JSON"),
	OPT_OLD(OPT_T_STR, "out", &opt_out),
	OPT_END,
};

static int fail(int ret, const struct arm *a, const char *file)
{
	if (ret == -EBADMSG && file)
		err(-1, "%s: this is no capture: neither .kvt nor JSON lines", file);
	else if (file)
		err(ret, "cannot read %s", file);
	else
		err(ret, "cannot load the capture '%s'", a->label);
	return EXIT_FAILED;
}

/* The arms that the command line names. */
static struct arm *parse_arms(int argc, char **argv, u32 *n)
{
	const char **files;
	struct arm *arms;
	size_t i, k = 0;
	int ret = 0;

	*n = opt_merge.n ? (u32)opt_merge.n : 1;
	arms = calloc(*n + 1ul, sizeof(*arms));
	files = calloc((size_t)argc + 2, sizeof(*files));
	if (!arms || !files)
		bug("out of memory");
	if (opt_merge.n && (opt_sem || opt_ebpf || argc > 1))
		warn("--merge is given: --sem, --ebpf and operands are ignored");
	for (i = 0; i < opt_merge.n && !ret; i++) {
		ret = arm_parse(&arms[i], opt_merge.item[i]);
		if (ret == -EINVAL)
			die_usage("--merge '%s' is not LABEL=SEM,EBPF", opt_merge.item[i]);
	}
	if (!opt_merge.n) {
		files[k++] = opt_sem;
		files[k++] = opt_ebpf;
		for (i = 1; i < (size_t)argc; i++)
			files[k++] = argv[i];
		ret = arm_init(&arms[0], opt_label, files, k, false);
	}
	if (ret)
		bug("out of memory");
	free(files);
	for (i = 0; i < *n; i++) {
		if (!arms[i].n_files)
			die_usage("nothing to draw%s%s: name a capture, or --sem and --ebpf",
				  opt_merge.n ? " for " : "", opt_merge.n ? arms[i].label : "");
		for (k = 0; k < i; k++)
			if (!strcmp(arms[i].label, arms[k].label))
				die_usage("two captures have the label '%s'", arms[i].label);
	}
	return arms;
}

#define ULL(x) ((unsigned long long)(x))

static void warning(struct buf *b, const char *text)
{
	buf_lit(b, "  WARNING: ");
	buf_str(b, text);
	buf_byte(b, '\n');
}

/* What may be wrong with the data, from how the two sides fit together. */
static void join_warnings(struct buf *b, const struct model *m)
{
	char line[160];

	if (m->n_instances > 1) {
		snprintf(line, sizeof(line), "%u producers share this semantic trace: their ids can collide",
			 m->n_instances);
		warning(b, line);
	}
	if (m->dup_trace_ids) {
		snprintf(line, sizeof(line), "%llu repeated trace ids: commands went to the operation by its end time",
			 ULL(m->dup_trace_ids));
		warning(b, line);
	}
	if (m->lba_inferred) {
		snprintf(line, sizeof(line), "LBA size %u was inferred from the headers of the stores", m->lba_bytes);
		warning(b, line);
	}
	if (m->n_stores && !m->n_header_cmds) {
		snprintf(line, sizeof(line), "no header command found for %u stores (check --lba-bytes)", m->n_stores);
		warning(b, line);
	}
	if (m->clock_anomalies) {
		snprintf(line, sizeof(line), "%llu operations end before their last command", ULL(m->clock_anomalies));
		warning(b, line);
	}
	if (m->op.n && m->cmd.n && m->join == JOIN_NONE)
		warning(b, "no command carries a trace id: objects and commands are not tied");
}

static bool all_drawn(const struct model *m, const struct perfetto_stats *s)
{
	return m->op.n == s->object_spans + s->object_instants && m->cmd.n == s->command_slices + s->reissued;
}

static void summary(struct buf *b, const struct arm *a, const struct perfetto_stats *s)
{
	const struct model *m = &a->m;
	const struct account *acc = &m->account;
	struct report_warnings w;
	struct health h;
	const char *line;
	u32 i;

	buf_byte(b, '[');
	report_safe(b, a->label, strlen(a->label));
	buf_printf(b, "]\n  semantic: %llu records (", ULL(m->sem_in.semantic));
	report_op_counts(b, m);
	buf_printf(b, "), %llu malformed skipped, dup trace_id %llu\n", ULL(m->sem_in.malformed),
		   ULL(m->dup_trace_ids));
	buf_printf(b, "  device  : %llu nvme_cmd lines (%llu malformed skipped, %llu completions, %llu other)\n",
		   ULL(m->dev_in.commands), ULL(m->dev_in.malformed), ULL(m->dev_in.completions), ULL(m->dev_in.other));
	buf_printf(b,
		   "  tagged bytes %llu | untagged %llu cmds / %llu bytes | header cmds %llu | lanes %u | "
		   "clock anomalies %llu\n",
		   ULL(s->tagged_bytes), ULL(s->untagged), ULL(s->untagged_bytes), ULL(s->headers), s->object_lanes,
		   ULL(m->clock_anomalies));
	buf_printf(b, "  join    : %s\n",
		   m->join == JOIN_TRACE_ID ? "trace id (user_data >> 32)"
		   : m->op.n		    ? "none, no command carries an operation's id"
					    : "none, there is no semantic trace");
	if (acc->present)
		buf_printf(
			b,
			"  losses  : seen %llu, stored %llu, dropped %llu, skipped %llu, filtered %llu, in flight %llu\n",
			ULL(acc->seen), ULL(acc->stored), ULL(acc->ring_full + acc->map_full), ULL(acc->hook_missed),
			ULL(acc->filtered), ULL(acc->in_flight));
	if (!m->cmd.n && !m->op.n)
		warning(b, "there is nothing in this capture: 0 objects, 0 device commands");
	join_warnings(b, m);
	health_take(&h, m);
	report_warnings(&w, m, &h);
	for (i = 0, line = w.text.p; i < w.n && !w.text.failed; i++, line += strlen(line) + 1)
		warning(b, line);
	buf_free(&w.text);
	buf_printf(b, "  emitted: %llu object spans, %llu object instants, %llu command slices", ULL(s->object_spans),
		   ULL(s->object_instants), ULL(s->command_slices));
	if (s->reissued)
		buf_printf(b, " (and %llu first attempts not drawn)", ULL(s->reissued));
	buf_printf(b, "\n  %s\n",
		   all_drawn(m, s) ? "self-check OK: input == emitted per category"
				   : "SELF-CHECK FAIL: object or command count mismatch");
}

static void json_summary(struct buf *b, const struct arm *arms, u32 n, const struct perfetto_stats *stats, u64 packets)
{
	struct report_warnings w;
	const char *line;
	u32 i, k;

	buf_printf(b, "{\"schema_version\":1,\"packets\":%llu,\"out\":", ULL(packets));
	buf_json(b, opt_out, strlen(opt_out));
	buf_lit(b, ",\"arms\":[");
	for (i = 0; i < n; i++) {
		const struct perfetto_stats *s = &stats[i];
		const struct model *m = &arms[i].m;
		struct health h;

		health_take(&h, m);
		report_warnings(&w, m, &h);
		buf_str(b, i ? ",{\"label\":" : "{\"label\":");
		buf_json(b, arms[i].label, strlen(arms[i].label));
		buf_printf(b,
			   ",\"semantic\":%llu,\"commands\":%u,\"object_spans\":%llu,\"object_instants\":%llu,"
			   "\"command_slices\":%llu,\"reissued\":%llu,\"base_ns\":%llu,\"lossy\":%s,\"incomplete\":%s,"
			   "\"input_equals_emitted\":%s,\"warnings\":[",
			   ULL(m->sem_in.semantic), m->cmd.n, ULL(s->object_spans), ULL(s->object_instants),
			   ULL(s->command_slices), ULL(s->reissued), ULL(s->base_ns), h.lossy ? "true" : "false",
			   h.incomplete ? "true" : "false", all_drawn(m, s) ? "true" : "false");
		for (k = 0, line = w.text.p; k < w.n && !w.text.failed; k++, line += strlen(line) + 1) {
			buf_str(b, k ? "," : "");
			buf_json(b, line, strlen(line));
		}
		buf_free(&w.text);
		buf_lit(b, "]}");
	}
	buf_lit(b, "]}\n");
}

/* The summary goes where the timeline does not. */
static int print_summary(const struct arm *arms, u32 n, const struct perfetto_stats *stats, u64 packets)
{
	FILE *f = strcmp(opt_out, "-") ? stdout : stderr;
	int status = EXIT_OK;
	struct buf b = {};
	u32 i;

	if (opt_json) {
		json_summary(&b, arms, n, stats, packets);
	} else if (verbosity >= 0) {
		buf_lit(&b, "=== kvio perfetto: wrote ");
		report_safe(&b, opt_out, strlen(opt_out));
		buf_printf(&b, " (%llu event packets) ===\n", ULL(packets));
		for (i = 0; i < n; i++)
			summary(&b, &arms[i], &stats[i]);
	}
	for (i = 0; i < n; i++) {
		struct health h;

		health_take(&h, &arms[i].m);
		if (h.lossy || h.incomplete || (!arms[i].m.cmd.n && !arms[i].m.op.n))
			status = EXIT_INCOMPLETE;
	}
	for (i = 0; i < n; i++)
		if (!all_drawn(&arms[i].m, &stats[i]))
			status = EXIT_FAILED;
	if (b.failed)
		status = EXIT_FAILED;
	else if (b.n)
		fwrite(b.p, 1, b.n, f);
	buf_free(&b);
	return status;
}

static int draw(const struct arm *arms, u32 n, struct perfetto_stats *stats, u64 *packets)
{
	const struct perfetto_options o = {
		.no_rebase = opt_no_rebase,
		.no_slba = opt_no_slba,
		.nominal_ns = opt_nominal,
		.device = opt_device,
	};
	struct perfetto_arm *pa = calloc(n + 1ul, sizeof(*pa));
	struct zout *out;
	int ret;
	u32 i;

	if (!pa)
		return err(-ENOMEM, "cannot draw");
	for (i = 0; i < n; i++)
		pa[i] = (struct perfetto_arm){ &arms[i].m, arms[i].label, arms[i].sem_name, arms[i].dev_name };
	ret = zout_open(&out, opt_out, ZIO_BY_NAME);
	if (!ret) {
		ret = perfetto_write(out, pa, n, &o, stats, packets);
		if (ret)
			zout_abort(out);
		else
			ret = zout_close(out);
	}
	free(pa);
	return ret ? err(ret, "cannot write %s", opt_out) : 0;
}

static int run(int argc, char **argv)
{
	struct perfetto_stats *stats = NULL;
	int status = EXIT_FAILED, ret;
	const char *failed;
	struct arm *arms;
	u64 packets = 0;
	u32 n, i;

	opt_parse(&cmd_perfetto, &argc, argv, NULL);
	if (!opt_out)
		die_usage("name the timeline to write with -o FILE");
	if (opt_lba > UINT32_MAX)
		die_usage("--lba-bytes %llu is no LBA size", ULL(opt_lba));
	arms = parse_arms(argc, argv, &n);
	for (i = 0; i < n; i++) {
		ret = arm_load(&arms[i], (u32)opt_lba, &failed);
		if (ret) {
			fail(ret, &arms[i], failed);
			goto out;
		}
	}
	stats = calloc(n + 1ul, sizeof(*stats));
	if (!stats)
		err(-ENOMEM, "cannot draw");
	else if (!draw(arms, n, stats, &packets))
		status = print_summary(arms, n, stats, packets);
out:
	for (i = 0; i < n; i++)
		arm_free(&arms[i]);
	free(arms);
	free(stats);
	free(opt_merge.item);
	return status;
}

const struct cmd cmd_perfetto = {
	.name = "perfetto",
	.summary = "draw captures as a Perfetto timeline",
	.usage = "CAPTURE [SEMANTIC] -o OUT.pftrace\n"
		 "--ebpf CAPTURE --sem SEMANTIC -o OUT.pftrace\n"
		 "--merge LABEL=SEM,EBPF [--merge ...] -o OUT.pftrace",
	.description = "Joins what the application meant (semantic trace) with what the device was asked to do "
		       "(capture of 'kvio record' or of the older tracers) and writes one timeline for "
		       "https://ui.perfetto.dev: objects and their lanes, commands with their true durations, "
		       "arrows from objects to commands, counters.  Operands may be any files of a capture in any "
		       "order, plain or compressed; what they are is seen from their content.\n"
		       "\n"
		       "The status is 3 when the timeline was written but the data is incomplete: events were lost "
		       "while recording, or the input is cut or damaged.",
	.examples = "kvio perfetto run.kvt sem.jsonl -o run.pftrace\n    one capture\n"
		    "kvio perfetto --merge before=a.jsonl,a.kvt --merge after=b.jsonl,b.kvt -o ab.pftrace\n"
		    "    two captures side by side",
	.opts = opts,
	.run = run,
};
