// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/feed.h"
#include "capture/sink.h"
#include "capture/tally.h"
#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/human.h"
#include "lib/str.h"

#define FOLLOW_MS 50

#define KINDS                                                                                                            \
	"nvme, nvme_kv, cq_overflow, syscall, uring, fault, cache, block, extent, dsm_range, semantic, serving, clock, " \
	"loss, task, disk, path, other"

static struct {
	const char *output, *format, *split, *from, *to;
	struct opt_list kinds, objects, devices, pids, ops;
	bool sort, stats, json, follow, strict;
} o;

static const struct opt opts[] = {
	OPT_GROUP("Output"),
	OPT_STR('o', "output", &o.output, "FILE",
		"write FILE: .kvt, .jsonl or .csv, the last two also with .gz or .zst (default: JSONL on standard output)"),
	OPT_CHOICE(0, "format", &o.format, "jsonl|csv|kvt", "the format, whatever the name of the output says"),
	OPT_STR(0, "split", &o.split, "WHAT",
		"begin a new file at every 64MiB (before compression), 100000events, or 10s: x.kvt becomes x-0001.kvt, ..."),
	OPT_FLAG(0, "sort", &o.sort, "put the events of one capture in the order of time (several always are)"),
	OPT_FLAG(0, "stats", &o.stats, "print what is in the captures instead"),
	OPT_FLAG(0, "json", &o.json, "with --stats: as JSON"),
	OPT_GROUP("What passes (repeated: one of them)"),
	OPT_LIST(0, "kind", &o.kinds, "KIND[,KIND...]", KINDS),
	OPT_STR(0, "from", &o.from, "TIME",
		"what begins at or after TIME: 1.5s, 20ms after the first event, or @NS of the capture's clock"),
	OPT_STR(0, "to", &o.to, "TIME", "what begins before TIME"),
	OPT_LIST(
		0, "object", &o.objects, "TEXT",
		"an object and its commands: a trace id, or a part of its key (needs the semantic trace among the files)"),
	OPT_LIST(0, "device", &o.devices, "DEV", "commands of nvme0n1 (or ng0n1, or its /dev path), or of MAJOR:MINOR"),
	OPT_LIST('p', "pid", &o.pids, "PID", "events of this process"),
	OPT_LIST(0, "op", &o.ops, "OP", "commands called read, write, store, ..., or with this opcode"),
	OPT_OLD(OPT_T_LIST, "opcode", &o.ops),
	OPT_GROUP("Input"),
	OPT_FLAG('f', "follow", &o.follow, "read a file while it grows, to its end or Ctrl-C"),
	OPT_FLAG(0, "strict", &o.strict, "fail, and write nothing, when the input is damaged, cut, or has losses"),
	OPT_END,
};

static struct feed feed;
static struct sink_options out;
static struct sink *sink;
static bool as_is;   /* one capture, nothing cut: its account is the output's */
static bool unsaved; /* something was put since the last flush */

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static bool is_interrupted(void)
{
	return interrupted;
}

/* ---- the command line ---- */

static void parse_list(const struct opt_list *list, int (*add)(struct select *, const char *), const char *option,
		       const char *what)
{
	size_t i;
	int ret;

	for (i = 0; i < list->n; i++) {
		ret = add(feed.select, list->item[i]);
		if (ret == -ENOMEM)
			bug("out of memory");
		if (ret)
			die_usage("%s: '%s' is not %s", option, list->item[i], what);
	}
}

static void parse_filters(void)
{
	parse_list(&o.kinds, select_kind, "--kind", "a kind of event (" KINDS ")");
	parse_list(&o.objects, select_object, "--object", "a trace id or a part of a key");
	parse_list(&o.devices, select_device, "--device", "a device (nvme0n1, ng0n1, 259:1)");
	parse_list(&o.pids, select_pid, "--pid", "a process id");
	parse_list(&o.ops, select_op, "--op", "an operation (read, write) or an opcode up to 255");
	if (o.from && select_from(feed.select, o.from))
		die_usage("--from: '%s' is not a time (1.5s, 20ms, @812345678992109)", o.from);
	if (o.to && select_to(feed.select, o.to))
		die_usage("--to: '%s' is not a time (1.5s, 20ms, @812345678992109)", o.to);
	if (select_is_empty(feed.select))
		die_usage("nothing is between --from %s and --to %s", o.from, o.to);
}

/* "64MiB", "1000events", "10s"; "5m" could be minutes or MiB. */
static void parse_split(void)
{
	const char *unit = o.split + strspn(o.split, "0123456789.");
	char number[32];

	if (!strcmp(unit, "events") || !strcmp(unit, "event")) {
		snprintf(number, sizeof(number), "%.*s", (int)(unit - o.split), o.split);
		if (str_u64(number, &out.split_events) || !out.split_events)
			die_usage("--split: '%s' is not a number of events", o.split);
		return;
	}
	if (!*unit || !strcasecmp(unit, "m"))
		die_usage("--split: say what '%s' is: 64MiB, 100000events, 10s", o.split);
	if (str_ns(o.split, &out.split_ns) && str_size(o.split, &out.split_bytes))
		die_usage("--split: '%s' is not a size (64MiB), a number of events (100000events) or a time (10s)",
			  o.split);
	if (!out.split_ns && !out.split_bytes)
		die_usage("--split: '%s' leaves no room for an event", o.split);
}

static enum sink_format parse_format(void)
{
	enum sink_format f;

	if (o.format)
		return !strcmp(o.format, "kvt") ? SINK_KVT : !strcmp(o.format, "csv") ? SINK_CSV : SINK_JSONL;
	f = sink_format_of(out.path);
	if (f == SINK_UNKNOWN)
		die_usage(
			"cannot tell a format from the name '%s': use .kvt, .jsonl or .csv (the last two also with .gz, .zst), or --format",
			out.path);
	return f;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void parse(int argc, char **argv)
{
	u32 i, n_stdin = 0;

	if (argc < 2)
		die_usage("name a capture to read (- is standard input)");
	if (feed_init(&feed, (u32)argc - 1))
		bug("out of memory");
	for (i = 0; i < feed.n; i++) {
		feed.source[i].path = argv[i + 1];
		n_stdin += !strcmp(argv[i + 1], "-");
	}
	if (n_stdin > 1)
		die_usage("standard input can be read only once");
	if (o.follow && (feed.n > 1 || n_stdin))
		die_usage("--follow takes one file");
	if (o.json && !o.stats)
		die_usage("--json is for --stats (events are JSON anyway)");
	if (o.stats && (o.output || o.format || o.split || o.sort || o.follow))
		die_usage("--stats prints on standard output and writes no capture");
	parse_filters();
	if (n_stdin && select_needs_keys(feed.select))
		die_usage("--object by key reads the captures twice: give files instead of -");
	if (n_stdin && feed.n > 1 && select_is_relative(feed.select))
		die_usage("a time after the first event of several captures needs files instead of -");
	if (o.stats)
		return;
	out.path = o.output ? o.output : "-";
	out.format = parse_format();
	out.live = o.follow;
	out.several = feed.n > 1;
	if (o.split)
		parse_split();
	if (o.split && !strcmp(out.path, "-"))
		die_usage("--split makes files: give -o FILE");
	if (o.follow && o.sort)
		die_usage("--follow gives events as they come: it cannot --sort them");
	if (out.format == SINK_KVT && !strcmp(out.path, "-") && isatty(STDOUT_FILENO))
		die_usage("a .kvt is binary: give -o FILE or a pipe");
	if (o.follow && is_same_file(feed.source[0].path, out.path))
		die_usage("%s would follow itself", out.path);
	as_is = feed.n == 1 && !o.split && !select_any(feed.select);
}

/* ---- reading ---- */

static int write_error(int ret)
{
	/* Who reads a pipe may stop when he has seen enough. */
	if (ret == -EPIPE && !strcmp(out.path, "-"))
		return ret;
	return err(ret, "cannot write %s", strcmp(out.path, "-") ? out.path : "standard output");
}

/* Of the source that the error is about. */
static int read_error(int ret)
{
	const char *path = feed.source[feed.failed].path;

	switch (ret) {
	case -EBADMSG:
		return err(-1, "%s: this is no capture: neither .kvt nor JSON lines nor CSV of commands", path);
	case -EPROTONOSUPPORT:
		return err(-1, "%s was written by a newer kvio: use that one", path);
	case -EOPNOTSUPP:
		return err(-1, "%s is compressed: only plain files can be followed", path);
	case -EINTR:
		return err(-1, "interrupted: nothing is written");
	default:
		return err(ret, "cannot read %s", path);
	}
}

/* Nothing more is there now: what was read so far goes out. */
static int wait_for_more(void *arg)
{
	struct timespec t = { .tv_nsec = FOLLOW_MS * 1000000l };

	(void)arg;
	if (sink && unsaved && sink_flush(sink))
		return 1;
	unsaved = false;
	if (!interrupted)
		nanosleep(&t, NULL);
	return interrupted;
}

static enum fold_mode fold_mode(void)
{
	if (o.stats)
		return FOLD_NOT;
	if (out.format == SINK_KVT)
		return FOLD_RECORDS;
	return out.format == SINK_CSV || o.split ? FOLD_PAIRS : FOLD_NOT;
}

static int open_sources(void)
{
	int ret;

	feed.options = (struct stream_options){
		.fold = fold_mode(),
		.wait = o.follow ? wait_for_more : NULL,
		.stopped = is_interrupted,
	};
	feed.sort = o.sort;
	feed.ends_pass = as_is && out.format == SINK_JSONL;
	ret = feed_learn(&feed);
	if (ret == -ENOKEY) {
		warn("no semantic record has such a key: only keys in commands are compared");
		ret = 0;
	}
	if (!ret)
		ret = feed_open(&feed);
	return ret ? read_error(ret) : 0;
}

/* The head of several captures, when they can be one. */
static int put_head(void)
{
	struct item it = { .kind = ITEM_META };
	struct feed_clash clash;
	json_t *head;
	int ret = feed_heads(&feed, &head, &clash);

	if (ret) {
		read_error(ret);
	} else if (clash.why.n) {
		ret = err(
			-1,
			"%s and %s cannot be one capture: %s; hold them against each other with --arm of kvio perfetto or kvio report",
			feed.source[clash.a].path, feed.source[clash.b].path, clash.why.p);
	} else if (clash.clocks) {
		warn("the clocks of %s and %s differ: they are of different boots or hosts, and the order of their events means nothing",
		     feed.source[clash.a].path, feed.source[clash.b].path);
	}
	it.doc = head;
	if (!ret && head) {
		ret = sink_put(sink, &it, "");
		if (ret)
			write_error(ret);
	}
	json_decref(head);
	buf_free(&clash.why);
	return ret;
}

/* ---- writing ---- */

static json_t *part_footer(void *arg, u32 part, json_t *counts)
{
	return feed_part_footer(arg, part, counts);
}

static int copy_items(void)
{
	struct item it;
	u32 from;
	int ret;

	while ((ret = feed_next(&feed, &it, &from)) > 0) {
		ret = sink_put(sink, &it, feed.source[from].path);
		if (ret)
			return write_error(ret);
		feed_wrote(&feed, &it);
		unsaved = true;
	}
	return ret ? read_error(ret) : 0;
}

/* ---- the end ---- */

#define ULL(x) ((unsigned long long)(x))

static const char *line_error(int ret)
{
	switch (ret) {
	case -EBADMSG:
		return "no JSON object";
	case -ENODATA:
		return "a member is missing";
	case -E2BIG:
		return "longer than 16 MiB";
	default:
		return "a member has the wrong type or does not fit";
	}
}

/* What is wrong with one capture.  True when its data is not complete. */
static bool tell_problems(const struct feed_source *s)
{
	const struct stream_info *i = stream_info(s->stream);
	bool has_account = i->format != STREAM_CSV, bad = false;

	if (i->malformed) {
		warn("%s: %llu of %llu lines are no JSON objects and are left out; the first bad one is line %llu (%s)",
		     s->path, ULL(i->malformed), ULL(i->lines), ULL(i->first_bad_line), line_error(i->first_error));
		bad = true;
	} else if (i->odd) {
		warn("%s: %llu of %llu lines are no sound records and are carried on as they are; the first is line %llu (%s)",
		     s->path, ULL(i->odd), ULL(i->lines), ULL(i->first_bad_line), line_error(i->first_error));
		bad = true;
	}
	if (i->tail_cut) {
		warn("%s: the last line is cut, and left out", s->path);
		bad = true;
	}
	if (i->defect) {
		warn("%s is not whole: %s; all before that was read", s->path, i->defect);
		bad = true;
	}
	if (i->skipped_blocks) {
		warn("%s: %llu blocks of types that this version does not know are left out", s->path,
		     ULL(i->skipped_blocks));
		bad = true;
	}
	if (has_account && !i->defect && !account_whole(&s->account)) {
		warn("%s is INCOMPLETE: there is no account at its end (a recorder that was killed, or still runs)",
		     s->path);
		bad = true;
	}
	if (account_lost(&s->account)) {
		warn("%s: LOST %llu events while recording", s->path, ULL(account_lost(&s->account)));
		bad = true;
	}
	if (!has_account && !o.stats)
		note("%s: a CSV says nothing about losses: readers will call the capture incomplete", s->path);
	if (i->spare_columns)
		note("%s: %llu columns are not known, and left out", s->path, ULL(i->spare_columns));
	if (verbosity > 0 && (i->bom || i->crlf))
		note("%s has%s%s", s->path, i->bom ? " a byte order mark" : "", i->crlf ? " CRLF line ends" : "");
	return bad;
}

static bool tell_all_problems(void)
{
	bool bad = false;
	u32 i;

	for (i = 0; i < feed.n; i++)
		bad |= tell_problems(&feed.source[i]);
	if (feed.late.late)
		warn("%s: %llu events stand more than %u MiB out of order, by up to %.3f ms: they are out of order in the output too",
		     feed.source[feed.late.first_source].path, ULL(feed.late.late), 64u,
		     (double)feed.late.late_by_ns / 1e6);
	return bad || (o.strict && feed.late.late);
}

static void tell_summary(const struct sink_info *i)
{
	u64 events = 0, cut = 0;
	char size[32], of[32] = "";
	struct stat st;
	u32 k;

	for (k = ITEM_NVME; k < N_ITEM_KINDS; k++)
		events += i->written[k];
	for (k = 0; k < feed.n; k++)
		cut += feed.source[k].cut;
	if (i->not_rows)
		note("%llu events are no commands, and have no row in a CSV", ULL(i->not_rows));
	if (i->no_column)
		note("%llu members of commands have no column in a CSV", ULL(i->no_column));
	if (!strcmp(out.path, "-"))
		return;
	if (i->parts > 1 || o.split)
		snprintf(of, sizeof(of), " in %u files", i->parts);
	else if (!stat(out.path, &st))
		snprintf(of, sizeof(of), " (%s)", human_bytes(size, sizeof(size), (u64)st.st_size));
	if (cut)
		note("%llu events -> %s%s, %llu cut", ULL(events), out.path, of, ULL(cut));
	else
		note("%llu events -> %s%s", ULL(events), out.path, of);
}

/* Gives the output its account and its name. */
static int finish(bool bad)
{
	const struct sink_info info = *sink_info(sink);
	json_t *footer = NULL;
	int ret;

	if (!feed.ends_pass)
		footer = feed_footer(&feed, as_is, sink_part(sink), sink_counts(sink));
	if (o.strict && bad) {
		sink_abort(sink);
		ret = err(-1, "--strict: nothing is written%s", info.parts > 1 ? " but the parts before the last" : "");
	} else {
		ret = sink_close(sink, footer);
		if (ret)
			write_error(ret);
		else
			tell_summary(&info);
	}
	sink = NULL;
	json_decref(footer);
	return ret;
}

static int convert(void)
{
	bool bad = false;
	int ret;

	out.footer = part_footer;
	out.arg = &feed;
	ret = sink_open(&sink, &out);
	if (ret)
		write_error(ret);
	if (!ret)
		ret = put_head();
	if (!ret)
		ret = copy_items();
	if (!ret) {
		bad = tell_all_problems();
		ret = finish(bad);
	}
	sink_abort(sink);
	return ret ? EXIT_FAILED : bad ? EXIT_INCOMPLETE : EXIT_OK;
}

/* ---- statistics ---- */

static int stats_of(struct feed_source *s, json_t *list, struct buf *text)
{
	struct tally *t = tally_new();
	struct item it;
	int ret, keep;

	if (!t)
		return -ENOMEM;
	while ((ret = stream_next(s->stream, &it)) > 0) {
		keep = select_item(feed.select, &it);
		if (keep < 0 || account_take(&s->account, &it, !keep) || tally_take(t, &it, !keep)) {
			ret = -ENOMEM;
			break;
		}
	}
	if (!ret && o.json)
		json_array_append_new(list, tally_json(t, s->path, &s->account, stream_info(s->stream)));
	else if (!ret)
		tally_text(text, t, s->path, &s->account, stream_info(s->stream));
	tally_free(t);
	return ret;
}

static int stats(void)
{
	json_t *doc = json_object(), *list = json_array();
	struct buf text = {};
	int ret = 0;
	u32 i;

	for (i = 0; i < feed.n && !ret; i++) {
		feed.failed = i;
		ret = stats_of(&feed.source[i], list, &text);
	}
	if (ret)
		read_error(ret);
	json_object_set_new(doc, "schema_version", json_integer(1));
	json_object_set_new(doc, "files", list);
	if (!ret && o.json) {
		json_dumpf(doc, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (!ret) {
		fwrite(text.p, 1, text.n, stdout);
	}
	json_decref(doc);
	buf_free(&text);
	if (ret)
		return EXIT_FAILED;
	return !tell_all_problems() ? EXIT_OK : o.strict ? EXIT_FAILED : EXIT_INCOMPLETE;
}

static void catch_signals(void)
{
	struct sigaction a = { .sa_handler = on_signal };

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
}

static int run(int argc, char **argv)
{
	int status = EXIT_FAILED;

	opt_parse(&cmd_cat, &argc, argv, NULL);
	parse(argc, argv);
	catch_signals();
	if (!open_sources())
		status = o.stats ? stats() : convert();
	feed_free(&feed);
	free(o.kinds.item);
	free(o.objects.item);
	free(o.devices.item);
	free(o.pids.item);
	free(o.ops.item);
	return status;
}

const struct cmd cmd_cat = {
	.name = "cat",
	.summary = "convert, filter, merge, split and count captures",
	.usage = "FILE... [-o OUT] [filters]\n"
		 "--stats [--json] FILE...",
	.description = "Reads captures of every kind (.kvt, JSON lines of this and the older tracers, semantic and "
		       "serving traces, CSV; plain, gzip, zstd; told apart by content) and writes them as .kvt, JSON "
		       "lines or CSV.  Nothing is lost on the way: lines that are not changed stay as they are byte "
		       "for byte, and what no record of a .kvt can hold is kept in it as text.  A CSV has the commands "
		       "only, one row each; its cells are the data as it is, so import names as text.\n"
		       "\n"
		       "Several files become one, in the order of time, with one table of devices and one account.  "
		       "What a filter cuts is counted as filtered there: seen = stored + in flight + lost + filtered "
		       "holds for the output as well.  Parts of --split are captures of their own.\n"
		       "\n"
		       "The status is 3 when the input is incomplete: cut, damaged, never ended, or with losses.",
	.examples = "kvio cat run.kvt | jq 'select(.op_name == \"write\")'\n    events as JSON lines\n"
		    "kvio cat old.jsonl sem.jsonl.gz -o run.kvt\n    two traces of one run as one file\n"
		    "kvio cat run.kvt --from 2s --to 3s --op read -o part.jsonl.zst\n    one second, reads only\n"
		    "kvio cat run.kvt sem.jsonl --object 23f0db1c -o object.jsonl\n    all that became of one object\n"
		    "kvio cat run.kvt --format csv -o run.csv.gz\n    a table of commands\n"
		    "kvio cat -f run.kvt\n    follow a recording\n"
		    "kvio cat run.kvt --split 64MiB -o part.kvt\n    part-0001.kvt, part-0002.kvt, ...\n"
		    "kvio cat --stats run.kvt\n    what is in it",
	.opts = opts,
	.run = run,
};
