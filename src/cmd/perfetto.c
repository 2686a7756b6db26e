// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "model/arm.h"
#include "out/perfetto_summary.h"

#define SLICE_BUDGET   2000000
#define MOST_LBA_BYTES (1u << 30)
/* What browsers hold. */
#define LARGE_BYTES    500000000ull

static const char *opt_sem, *opt_ebpf, *opt_serving, *opt_label = "capture", *opt_out, *opt_device = "ng";
static const char *opt_align, *opt_detail, *opt_window, *opt_ids, *opt_object, *opt_only_device, *opt_summary;
static struct opt_list opt_merge, opt_arm;
static u64 opt_lba, opt_nominal = 8000, opt_budget = SLICE_BUDGET, opt_split, opt_pid = UINT64_MAX;
static bool opt_no_rebase, opt_no_slba, opt_json, opt_redact, opt_strict, opt_by_key, opt_by_offset;

static const struct opt opts[] = {
	OPT_GROUP("Input"),
	OPT_STR(0, "sem", &opt_sem, "FILE", "the semantic trace of the application"),
	OPT_STR(0, "ebpf", &opt_ebpf, "FILE", "the capture of the tracer"),
	OPT_STR(0, "serving", &opt_serving, "FILE", "spans of requests of the serving engine"),
	OPT_STR(0, "label", &opt_label, "TEXT", "name of the capture in the timeline (default capture)"),
	OPT_LIST(0, "arm", &opt_arm, "LABEL=FILE[,FILE...]",
		 "one capture of several, side by side (repeatable); " ARM_QUOTING),
	OPT_LIST(0, "merge", &opt_merge, "LABEL=SEM,EBPF[,SERVING]",
		 "the same with files in this order; - or nothing leaves one out"),
	OPT_SIZE(0, "lba-bytes", &opt_lba, "SIZE",
		 "LBA size, when the capture does not know it (default: what it says)"),
	OPT_GROUP("Join (default: the best that the captures allow, which is said)"),
	OPT_FLAG(0, "join-by-key", &opt_by_key, "by the key in the command, on key-value namespaces"),
	OPT_FLAG(0, "join-by-offset", &opt_by_offset, "by the place on the device and the time"),
	OPT_GROUP("Cuts"),
	OPT_STR(0, "window", &opt_window, "A,B",
		"only what reaches into this time since the begin, in seconds or with units"),
	OPT_STR(0, "trace-id", &opt_ids, "A[-B]", "only these trace ids; 0 is what has none"),
	OPT_STR(0, "object", &opt_object, "TEXT", "only objects with TEXT in their key"),
	OPT_STR(0, "only-device", &opt_only_device, "NAME", "only commands of this device (nvme1n1, ng1n1)"),
	OPT_U64(0, "pid", &opt_pid, "PID", "only commands and objects of this process"),
	OPT_GROUP("Output"),
	OPT_STR('o', "output", &opt_out, "FILE",
		"the timeline; .pftrace, or .pftrace.gz or .pftrace.zst to compress it; - is standard output"),
	OPT_SIZE(0, "split", &opt_split, "SIZE",
		 "several files FILE-0001 and on of about SIZE (before compression), each readable alone"),
	OPT_U64(0, "slice-budget", &opt_budget, "N",
		"draw at most about N slices, and what is alike as one beyond it; 0 = no limit (default 2000000)"),
	OPT_CHOICE(0, "detail", &opt_detail, "auto|full|lean",
		   "lean tells less of each command: LBA counters by bins of time, real_dur only where it is false; "
		   "auto (default) is lean for more than 250000 commands"),
	OPT_FLAG(0, "no-rebase", &opt_no_rebase, "keep CLOCK_MONOTONIC times, tied to the wall clock"),
	OPT_CHOICE(0, "align", &opt_align, "realtime",
		   "captures of several hosts on one axis, by their clock anchors; else each begins at 0"),
	OPT_U64(0, "nominal-dur-ns", &opt_nominal, "N",
		"longest slice of a command without a completion (default 8000)"),
	OPT_STR(0, "device", &opt_device, "WORD", "the device word in track names (default ng)"),
	OPT_FLAG(0, "no-slba-counter", &opt_no_slba, "without the two LBA counters"),
	OPT_FLAG(0, "redact", &opt_redact,
		 "without host names, paths and keys: keys become k1, k2, ..., and so do instances, requests, errors"),
	OPT_CHOICE(0, "summary", &opt_summary, "text|json|none", "how to say what was converted (default text)"),
	OPT_FLAG(0, "json", &opt_json, "the same as --summary json"),
	OPT_FLAG(0, "strict", &opt_strict, "fail with status 1 when there is any warning"),
	OPT_OLD(OPT_T_STR, "out", &opt_out),
	OPT_OLD(OPT_T_STR, "time-range", &opt_window),
	OPT_END,
};

/* ---- arms ---- */

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

/* The first of the arms: files of their own options, and operands. */
static int own_files(struct arm *a, int argc, char **argv)
{
	const char **files = calloc((size_t)argc + 3, sizeof(*files));
	size_t n = 0;
	int ret, i;

	if (!files)
		return -ENOMEM;
	files[n++] = opt_sem;
	files[n++] = opt_ebpf;
	files[n++] = opt_serving;
	for (i = 1; i < argc; i++)
		files[n++] = argv[i];
	ret = arm_init(a, opt_label, files, n, false);
	free(files);
	return ret;
}

static int parse(struct arm *a, const char *option, const char *spec)
{
	int ret = arm_parse(a, spec);

	if (ret == -EINVAL)
		die_usage("--%s '%s' is not LABEL=%s", option, spec,
			  !strcmp(option, "arm") ? "FILE[,FILE...]" : "SEM,EBPF[,SERVING]");
	if (!ret && !strcmp(option, "merge") && a->n_files > 3)
		die_usage("--merge '%s' has more than three files; --arm takes any number", spec);
	return ret;
}

static bool is_device(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && !S_ISREG(st.st_mode);
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	if (!strcmp(a, "-") || !strcmp(b, "-"))
		return !strcmp(a, b);
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A file that is read twice would count twice, and one that is written would be lost. */
static void check_files(const struct arm *a)
{
	size_t i, k;

	for (i = 0; i < a->n_files; i++) {
		if (strcmp(a->file[i], "-") && same_file(a->file[i], opt_out) && !is_device(opt_out))
			die_usage("%s is a capture: the timeline would overwrite it", opt_out);
		for (k = 0; k < i; k++)
			if (same_file(a->file[i], a->file[k]) && !is_device(a->file[i]))
				die_usage("%s is named twice", a->file[i]);
	}
}

/* The arms that the command line names. */
static struct arm *parse_arms(int argc, char **argv, u32 *n)
{
	bool own = opt_sem || opt_ebpf || opt_serving || argc > 1;
	struct arm *arms;
	size_t i, k, at = 0;
	int ret = 0;

	if (opt_merge.n && own) {
		warn("--merge is given: --sem, --ebpf, --serving and operands are ignored");
		own = false;
	}
	*n = (u32)(own + opt_merge.n + opt_arm.n);
	if (!*n)
		die_usage("nothing to draw: name a capture, or --sem and --ebpf");
	arms = calloc(*n, sizeof(*arms));
	if (!arms)
		bug("out of memory");
	if (own)
		ret = own_files(&arms[at++], argc, argv);
	for (i = 0; i < opt_merge.n && !ret; i++)
		ret = parse(&arms[at++], "merge", opt_merge.item[i]);
	for (i = 0; i < opt_arm.n && !ret; i++)
		ret = parse(&arms[at++], "arm", opt_arm.item[i]);
	if (ret)
		bug("out of memory");
	for (i = 0; i < *n; i++) {
		if (!arms[i].n_files)
			die_usage("nothing to draw for '%s': name a capture", arms[i].label);
		if (!*arms[i].label)
			die_usage("--label is empty");
		check_files(&arms[i]);
		for (k = 0; k < i; k++)
			if (!strcmp(arms[i].label, arms[k].label))
				die_usage("two captures have the label '%s'", arms[i].label);
	}
	return arms;
}

static void parse_filter(struct filter *f)
{
	int ret = opt_window ? filter_window(f, opt_window) : 0;

	if (ret)
		die_usage("--window '%s' is not A,B%s", opt_window, ret == -ERANGE ? " with A before B" : "");
	ret = opt_ids ? filter_ids(f, opt_ids) : 0;
	if (ret)
		die_usage("--trace-id '%s' is not A or A-B%s", opt_ids, ret == -ERANGE ? " with A before B" : "");
	f->key = opt_object;
	f->device = opt_only_device;
	if (opt_pid == UINT64_MAX)
		return;
	if (opt_pid > INT32_MAX)
		die_usage("--pid %llu is no process", (unsigned long long)opt_pid);
	f->has_pid = true;
	f->pid = (u32)opt_pid;
}

/* ---- files ---- */

struct files {
	char **name;
	u32 n;
};

/* run-0001.pftrace.gz for piece 1 of run.pftrace.gz; the name itself when it is not split. */
static char *piece_name(u32 piece)
{
	const char *slash = strrchr(opt_out, '/'), *base = slash ? slash + 1 : opt_out;
	const char *dot = strstr(base, ".pftrace");
	char *name;

	if (!opt_split)
		return strdup(opt_out);
	if (!dot)
		dot = strchr(base + 1, '.');
	if (!dot)
		dot = base + strlen(base);
	if (asprintf(&name, "%.*s-%04u%s", (int)(dot - opt_out), opt_out, piece, dot) < 0)
		return NULL;
	return name;
}

static int open_piece(void *arg, u32 piece, struct zout **z)
{
	struct files *f = arg;
	char **grown = reallocarray(f->name, f->n + 1ul, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	f->name = grown;
	f->name[f->n] = piece_name(piece);
	if (!f->name[f->n])
		return -ENOMEM;
	return zout_open(z, f->name[f->n++], ZIO_BY_NAME);
}

/* A failed run leaves nothing behind. */
static void remove_pieces(const struct files *f)
{
	u32 i;

	for (i = 0; i + 1 < f->n; i++)
		unlink(f->name[i]);
}

static void free_files(struct files *f)
{
	while (f->n)
		free(f->name[--f->n]);
	free(f->name);
}

/* ---- the work ---- */

static int exit_status(const struct perfetto_result *r)
{
	u32 verdict = perfetto_verdict(r, opt_strict);

	if (verdict & PERFETTO_MISMATCH)
		return EXIT_FAILED;
	if (verdict & PERFETTO_INCOMPLETE)
		return EXIT_INCOMPLETE;
	return verdict & PERFETTO_WARNED ? EXIT_FAILED : EXIT_OK;
}

/* The summary goes where the timeline does not. */
static int print_summary(const struct perfetto_result *r)
{
	const char *how = opt_json ? "json" : opt_summary ? opt_summary : verbosity < 0 ? "none" : "text";
	int status = exit_status(r);
	struct buf b = {};

	if (!strcmp(how, "json"))
		perfetto_summary_json(&b, r);
	else if (!strcmp(how, "text"))
		perfetto_summary_text(&b, r);
	if (b.failed)
		status = EXIT_FAILED;
	else if (b.n)
		fwrite(b.p, 1, b.n, strcmp(opt_out, "-") ? stdout : stderr);
	buf_free(&b);
	if (!opt_split && r->bytes > LARGE_BYTES)
		warn("the timeline has %llu MB: browsers may not hold it; --slice-budget, --window and --object make it "
		     "smaller, --split cuts it",
		     (unsigned long long)(r->bytes / 1000000));
	return status;
}

static enum perfetto_detail detail(void)
{
	if (!opt_detail || !strcmp(opt_detail, "auto"))
		return DETAIL_AUTO;
	return !strcmp(opt_detail, "full") ? DETAIL_FULL : DETAIL_LEAN;
}

static int draw(const struct arm *arms, u32 n)
{
	const struct perfetto_options o = {
		.no_rebase = opt_no_rebase,
		.no_slba = opt_no_slba,
		.align_realtime = opt_align != NULL,
		.redact = opt_redact,
		.nominal_ns = opt_nominal,
		.slice_budget = opt_budget,
		.detail = detail(),
		.device = opt_device,
	};
	struct perfetto_stats *stats = calloc(n, sizeof(*stats));
	struct perfetto_arm *pa = calloc(n, sizeof(*pa));
	struct files files = {};
	struct perfetto_out out = { .split_bytes = opt_split, .open = open_piece, .arg = &files };
	int status = EXIT_FAILED, ret = -ENOMEM;
	u32 i;

	for (i = 0; pa && i < n; i++)
		pa[i] = (struct perfetto_arm){ &arms[i].m, arms[i].label, arms[i].sem_name, arms[i].dev_name };
	if (pa && stats)
		ret = perfetto_write_pieces(&out, pa, n, &o, stats);
	if (ret) {
		err(ret, "cannot write %s", files.n ? files.name[files.n - 1] : opt_out);
		remove_pieces(&files);
	} else {
		status = print_summary(&(struct perfetto_result){
			.arms = pa,
			.stats = stats,
			.n = n,
			.o = &o,
			.files = (const char *const *)files.name,
			.n_files = files.n,
			.packets = out.packets,
			.bytes = out.bytes,
		});
	}
	free_files(&files);
	free(pa);
	free(stats);
	return status;
}

static int run(int argc, char **argv)
{
	int status = EXIT_FAILED, ret;
	struct filter filter = {};
	const char *failed;
	struct arm *arms;
	u32 n, i;

	opt_parse(&cmd_perfetto, &argc, argv, NULL);
	if (!opt_out || !*opt_out)
		die_usage("name the timeline to write with -o FILE");
	if (opt_split && !strcmp(opt_out, "-"))
		die_usage("--split needs a file name");
	if (opt_lba > MOST_LBA_BYTES || (opt_lba && opt_lba < 512) || (opt_lba & (opt_lba - 1)))
		die_usage("--lba-bytes %llu is no LBA size: they are powers of two from 512",
			  (unsigned long long)opt_lba);
	parse_filter(&filter);
	arms = parse_arms(argc, argv, &n);
	for (i = 0; i < n; i++) {
		arms[i].join = opt_by_offset ? JOIN_OFFSET : opt_by_key ? JOIN_KEY : JOIN_AUTO;
		arms[i].filter = filter;
		ret = arm_load(&arms[i], (u32)opt_lba, &failed);
		if (ret) {
			status = fail(ret, &arms[i], failed);
			goto out;
		}
	}
	for (i = 0; i < n && opt_align; i++)
		if (!arms[i].m.n_anchors) {
			err(-1, "the capture '%s' has no clock anchors: it cannot be aligned", arms[i].label);
			goto out;
		}
	status = draw(arms, n);
out:
	for (i = 0; i < n; i++)
		arm_free(&arms[i]);
	free(arms);
	free(opt_merge.item);
	free(opt_arm.item);
	return status;
}

const struct cmd cmd_perfetto = {
	.name = "perfetto",
	.summary = "draw captures as a Perfetto timeline",
	.usage = "CAPTURE [SEMANTIC] [SERVING] -o OUT.pftrace\n"
		 "--sem SEMANTIC --ebpf CAPTURE [--serving SPANS] -o OUT\n"
		 "--arm LABEL=FILE[,FILE...] [--arm ...] -o OUT\n"
		 "--merge LABEL=SEM,EBPF[,SERVING] [--merge ...] -o OUT",
	.description =
		"Joins what the application meant (semantic trace) with what the device was asked to do "
		"(capture of 'kvio record' or of the older tracers) and writes one timeline for "
		"https://ui.perfetto.dev: requests, objects and their lanes, commands with their true "
		"durations, arrows from objects to commands, counters; losses, failed and re-issued commands on "
		"tracks of their own.  Operands may be any files of a capture in any order, plain or compressed; "
		"what they are is seen from their content; of a file that still grows, the whole lines so far.\n"
		"\n"
		"The same captures give the same bytes, whatever the order of files and lines.  One thread does all; "
		"memory is 80 to 100 bytes a command (1 GB for 10 million), and the timeline is written as it is made.\n"
		"\n"
		"The status is 3 when the timeline was written but the data is incomplete: events were lost "
		"while recording, or the input is cut or damaged.",
	.examples = "kvio perfetto run.kvt sem.jsonl -o run.pftrace\n    one capture\n"
		    "kvio perfetto --arm QD1=a.jsonl,a.kvt --arm QD16=b.jsonl,b.kvt -o ab.pftrace\n"
		    "    two captures side by side\n"
		    "kvio perfetto run.kvt sem.jsonl --window 10s,12s --redact -o part.pftrace.gz\n"
		    "    two seconds of it, to be shown to others",
	.opts = opts,
	.run = run,
};
