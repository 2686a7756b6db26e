// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/str.h"

#if KVIO_BPF
#include "capture/monitor.h"
#include "lib/clock.h"
#include "lib/human.h"
#include "model/live.h"
#include "out/mmap_tables.h"
#include "out/top.h"
#include "session/extents.h"
#include "session/screen.h"
#include "session/session.h"
#include "session/summary.h"
#endif

static struct {
	const char *output, *jsonl, *comm, *cgroup;
	struct opt_list pids, devices, ops, paths, map_files;
	u64 duration_ns, ring_bytes, lba_bytes, min_bytes, max_bytes;
	bool children, kv, no_entry, no_cq_overflow, quiesced, json, top;
	u64 useful_bytes;
	bool stream, exact_pages;
	u32 witnesses; /* of the operands */
	bool passthrough;
	/* Of an older name. */
	const char *document, *label;
	u64 max_events;
	bool detailed, no_detailed, no_prompt;
} o = { .ring_bytes = 16 << 20, .max_events = 1000000 };

/* Of syscall_monitor; the others take none of them. */
static const struct opt older_opts[] = {
	OPT_GROUP("Options of syscall_monitor"),
	OPT_STR(0, "json-out", &o.document, "FILE", "write its JSON document to FILE (- is standard output)"),
	OPT_U64(0, "max-events", &o.max_events, "N",
		"single calls in the document (1000 to 10000000, default 1000000); the sums have all"),
	OPT_FLAG(0, "detailed", &o.detailed, "single calls and sums (the default)"),
	OPT_FLAG(0, "no-detailed", &o.no_detailed, "sums only"),
	OPT_STR(0, "label", &o.label, "NAME", "a name for the workload, in the document"),
	OPT_FLAG(0, "no-prompt", &o.no_prompt, "accepted: nothing is ever asked"),
	OPT_END,
};

static const struct opt opts[] = {
	OPT_GROUP("Output"),
	OPT_STR('o', "output", &o.output, "FILE",
		"write the capture to FILE: .kvt (binary, smallest), .jsonl, .jsonl.gz, .jsonl.zst; - is JSONL on standard output (the default)"),
	OPT_FLAG(0, "json", &o.json, "print the summary as JSON on standard output (needs -o FILE)"),
	OPT_FLAG(0, "top", &o.top, "show the live view of 'kvio top' meanwhile (needs -o FILE)"),
	OPT_GROUP("What to record"),
	OPT_LIST('p', "pid", &o.pids, "PID", "only this process (repeatable; 0 = all)"),
	OPT_FLAG(0, "children", &o.children, "with --pid: the processes that it started and will start, too"),
	OPT_STR(0, "comm", &o.comm, "NAME", "only threads of exactly this name"),
	OPT_STR(0, "cgroup", &o.cgroup, "PATH",
		"only tasks of this cgroup and those below it (a path of /proc/PID/cgroup, as of a container)"),
	OPT_LIST(
		0, "device", &o.devices, "DEV",
		"only this namespace: ng0n1, nvme0n1 or their /dev path (repeatable); a multipath head stands for its paths"),
	OPT_DURATION('d', "duration", &o.duration_ns, "TIME", "stop after TIME (10s, 500ms, 2m; 0: not by itself)"),
	OPT_LIST(
		0, "path", &o.paths, "PATH",
		"only system calls, io_uring requests and page faults on this file, on files below this directory, or on those of a glob, whose * goes over slashes (repeatable)"),
	OPT_LIST(
		0, "op", &o.ops, "OP",
		"only this operation: an NVMe opcode (read, flush, dsm, 0x7d...), a system call (pread64...), one of io_uring (readv...); repeatable"),
	OPT_SIZE(0, "min-size", &o.min_bytes, "SIZE", "only commands, calls and requests of at least SIZE"),
	OPT_SIZE(0, "max-size", &o.max_bytes, "SIZE", "only those of at most SIZE"),
	OPT_LIST(
		0, "map-files", &o.map_files, "PATH",
		"where the blocks of files are, at the begin and at the end, so that commands find their file: this file, those below a directory, a glob; '*' is every file that is used (repeatable)"),
	OPT_FLAG(0, "kv", &o.kv, "decode every namespace as key-value (else: as its command set says)"),
	OPT_FLAG(0, "stream", &o.stream, "mmap: record every fault, not only sums by file"),
	OPT_SIZE(0, "useful-bytes", &o.useful_bytes, "SIZE",
		 "bytes that the program had use for: what was read is set against them (read amplification)"),
	OPT_FLAG(
		0, "exact-pages", &o.exact_pages,
		"mmap: no fault-around on the whole machine meanwhile, so that each page that is used has a fault of its own (more faults, exact footprint)"),
	OPT_GROUP("Cost"),
	OPT_SIZE(0, "ring", &o.ring_bytes, "SIZE",
		 "ring buffer for each 8 CPUs, all of it in memory from the start (default 16M)"),
	OPT_FLAG(0, "no-entry", &o.no_entry,
		 "no probe at the entry of the driver: no wait time, attempts and refused commands"),
	OPT_FLAG(0, "no-cq-overflow", &o.no_cq_overflow, "do not record completion queue overflows"),
	OPT_OLD(OPT_T_STR, "jsonl", &o.jsonl),
	OPT_OLD(OPT_T_DURATION, "dur", &o.duration_ns),
	OPT_OLD(OPT_T_SIZE, "lba-size", &o.lba_bytes),
	OPT_OLD(OPT_T_LIST, "disk", &o.devices),
	OPT_OLD(OPT_T_FLAG, "quiesced", &o.quiesced),
	OPT_END,
};

static const char *const words[] = { "uring-cmd", "nvme", "syscall", "iouring", "mmap", NULL };

#if !KVIO_BPF

static int run(int argc, char **argv)
{
	char **command;

	opt_parse(&cmd_record, &argc, argv, &command);
	err(-1, "this kvio was built without tracers (BPF=0)");
	return EXIT_FAILED;
}

#else

static void add_probe(const char *word, size_t n)
{
	static const struct {
		const char *word;
		u32 witness;
	} known[] = { { "uring-cmd", TRACE_NVME },
		      { "nvme", TRACE_NVME },
		      { "syscall", TRACE_SYSCALL },
		      { "iouring", TRACE_URING },
		      { "mmap", TRACE_MMAP } };
	static bool nvme;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (strlen(known[i].word) == n && !memcmp(known[i].word, word, n))
			break;
	if (i == ARRAY_SIZE(known))
		die_usage("'%.*s' cannot be recorded; known: uring-cmd, nvme, syscall, iouring, mmap", (int)n, word);
	o.witnesses |= known[i].witness;
	/* Passthrough is a view of the NVMe commands: who asks for both wants all. */
	nvme |= i == 1;
	o.passthrough = !nvme && (o.passthrough || i == 0);
}

static void parse_probes(int argc, char **argv)
{
	const char *p, *end;

	if (argc < 2)
		die_usage("name what to record: uring-cmd, nvme, syscall, iouring, mmap (several with commas)");
	if (argc > 2)
		die_usage("unexpected operand '%s' (a program to run comes behind --)", argv[2]);
	for (p = argv[1];; p = end + 1) {
		end = strchrnul(p, ',');
		add_probe(p, (size_t)(end - p));
		if (!*end)
			break;
	}
	if (o.top && !(o.witnesses & TRACE_NVME))
		die_usage("--top shows NVMe commands: record uring-cmd or nvme as well");
	if (o.children && !o.pids.n)
		die_usage("--children are those of --pid");
	if ((o.stream || o.exact_pages) && !(o.witnesses & TRACE_MMAP))
		die_usage("--%s is of page faults: record mmap as well", o.stream ? "stream" : "exact-pages");
	if (o.paths.n && !(o.witnesses & (TRACE_SYSCALL | TRACE_URING | TRACE_MMAP)))
		die_usage(
			"--path is of system calls, io_uring requests and page faults: record syscall, iouring or mmap as well");
	if (o.devices.n && !(o.witnesses & TRACE_NVME))
		die_usage("--device is of NVMe commands: record uring-cmd or nvme as well");
	if (o.max_bytes && o.min_bytes > o.max_bytes)
		die_usage("--min-size is above --max-size");
}

/* What an older name writes in place of a capture, when no -o asks for one. */
struct older {
	struct monitor *monitor;    /* of syscall_monitor */
	struct mmap_tables *tables; /* of mmap_readamp */
	struct cap_document document;
	const char *path; /* NULL: a capture is written */
};

static void open_monitor(struct older *x)
{
	struct monitor_options m = { .detailed = !o.no_detailed && o.document,
				     .max_events = o.max_events,
				     .label = o.label };

	if (o.document && (o.output || o.jsonl))
		die_usage("--json-out and --output name two outputs");
	if (o.detailed && o.no_detailed)
		die_usage("--detailed and --no-detailed exclude each other");
	if (o.max_events < 1000 || o.max_events > 10000000)
		die_usage("--max-events: 1000 to 10000000");
	if (o.output || o.jsonl)
		return;
	x->path = o.document ? o.document : "/dev/null";
	x->monitor = monitor_new(&m);
	x->document = monitor_document(x->monitor);
}

/* Its tables count each fault by its program, and what calls asked for. */
static void open_tables(struct older *x)
{
	static const char *calls[] = { "read",	"pread64",  "readv",  "preadv",	 "preadv2",
				       "write", "pwrite64", "writev", "pwritev", "pwritev2" };
	struct mmap_tables_options m = { .page_bytes = (u64)sysconf(_SC_PAGESIZE),
					 .useful_bytes = o.useful_bytes,
					 .json = o.json };

	if (!o.ops.n)
		o.ops = (struct opt_list){ calls, ARRAY_SIZE(calls) };
	o.stream = true;
	if (o.output || o.jsonl)
		return;
	x->path = "-";
	x->tables = mmap_tables_new(&m);
	x->document = mmap_tables_document(x->tables);
	o.json = false;
}

static void open_older(struct older *x, bool runs_program)
{
	bool monitor = opt_is_older() && o.witnesses == TRACE_SYSCALL;

	if (!monitor && (o.document || o.label || o.detailed || o.no_detailed))
		die_usage("--json-out, --label and --detailed are options of syscall_monitor");
	if (monitor)
		open_monitor(x);
	else if (opt_is_older() && o.witnesses == (TRACE_MMAP | TRACE_SYSCALL))
		open_tables(x);
	if (x->monitor && !runs_program && !o.duration_ns)
		o.duration_ns = 10 * NSEC_PER_SEC;
}

static const char *output_path(enum cap_format *format)
{
	const char *path = o.output;

	if (o.output && o.jsonl)
		die_usage("--output and --jsonl name two outputs");
	if (o.jsonl) {
		*format = opt_is_older() && o.witnesses == TRACE_URING ? CAP_OLDER_URING : CAP_JSONL;
		return o.jsonl;
	}
	if (!path)
		path = "-";
	*format = cap_format_of(path);
	if (*format == CAP_UNKNOWN)
		die_usage("cannot tell a capture format from the name '%s': use .kvt, .jsonl, .jsonl.gz or .jsonl.zst",
			  path);
	if (o.top && !strcmp(path, "-"))
		die_usage("--top is drawn where the capture goes: give -o FILE");
	if (o.json && !strcmp(path, "-"))
		die_usage("--json prints the summary where the capture goes: give -o FILE");
	if (opt_is_older() && o.witnesses == TRACE_URING && *format == CAP_JSONL)
		*format = CAP_OLDER_URING;
	return path;
}

/* The live view beside a recording. */
struct view {
	struct live live;
	const struct session *s;
	bool screen;
};

static int view_event(void *arg, const void *record)
{
	struct view *v = arg;

	return live_event(&v->live, record);
}

static int view_in_flight(void *arg, const void *record, size_t size)
{
	(void)size;
	return live_event(arg, record);
}

static void view_tick(void *arg)
{
	struct view *v = arg;
	u64 now_ns = clock_ns(CLOCK_MONOTONIC);
	struct buf b = {};

	live_forget_in_flight(&v->live);
	trace_in_flight(v->s->trace, 0, view_in_flight, &v->live);
	/* The first account is that of the commands: --top is for them. */
	trace_account(v->s->trace, 0, &v->live.loss);
	top_text(&b, &v->live, now_ns, v->screen ? screen_lines() - 1 : 0, opt_color(stdout));
	screen_show(&b, v->screen);
	buf_free(&b);
	live_next(&v->live, now_ns);
	if (v->screen && screen_quits())
		raise(SIGINT);
}

static void view_open(struct view *v, struct session *s, struct recorder *r)
{
	v->s = s;
	session_names(s, &v->live.names);
	v->live.since_ns = clock_ns(CLOCK_MONOTONIC);
	v->screen = screen_open();
	r->watch = view_event;
	r->tick = view_tick;
	r->watch_arg = v;
}

static void view_close(struct view *v)
{
	if (v->screen)
		screen_close();
	live_free(&v->live);
}

/* In a container: which numbers the capture has. */
static void tell_pids(const struct trace *t)
{
	size_t i;
	u32 first;

	for (i = 0; i < o.pids.n; i++)
		if (!trace_first_pid(t, (pid_t)atoi(o.pids.item[i]), &first) && first != (u32)atoi(o.pids.item[i]))
			note("process %s of this pid namespace is %u of the host; the capture has both", o.pids.item[i],
			     first);
}

static void tell_hooks(const struct trace *t)
{
	const struct facility *f;
	size_t i;

	for (i = 0; (f = trace_facility(t, i)); i++) {
		if (!f->on && strcmp(f->why, "not asked for"))
			note("%s: off, %s is %s", f->name, f->hook, f->why);
		else if (verbosity > 0)
			note("%s: %s%s", f->name, f->on ? "on, " : "off, ", f->on ? f->hook : f->why);
	}
}

/* What the programs cost, where the kernel measures it. */
static void tell_cost(const struct trace *t)
{
	const char *name;
	u64 runs, run_ns;
	u32 i;

	for (i = 0; trace_cost(t, i, &name, &runs, &run_ns); i++)
		if (runs && verbosity > 0)
			note("%s: %llu runs, %llu ns each", name, (unsigned long long)runs,
			     (unsigned long long)(run_ns / runs));
}

static void print_summary(const struct session *s, const struct recorder_totals *t, const char *path, u64 file_bytes)
{
	struct ev_loss sum = recorder_loss(t);
	struct buf b = {};

	if (verbosity < 0)
		return;
	summary_text(&b, t, path, file_bytes);
	fwrite(b.p, 1, b.n, stderr);
	buf_free(&b);
	if (summary_lost(t))
		warn("LOST events: ring full %llu (--ring larger), map full %llu, hooks missed %llu, unread %llu",
		     ULL(sum.ring_full), ULL(sum.map_full), ULL(sum.hook_missed), ULL(sum.unread));
	if (t->extra.pid_full)
		warn("%llu child processes were not followed: too many at once", ULL(t->extra.pid_full));
	if (t->extra.foreign)
		warn("%llu calls of 32-bit programs are not in the capture", ULL(t->extra.foreign));
	if (!summary_events(t) && !t->in_flight && !sum.seen)
		note("nothing was recorded: there was no event at all");
	else if (!summary_events(t) && !t->in_flight)
		note("nothing was recorded: no %s passed the filters; %llu other events were seen",
		     s->o.passthrough_only ? "passthrough command (io_uring_cmd on /dev/ng*)" : "event",
		     ULL(sum.filtered));
}

/* The file cannot say any more what is not in it. */
static int failed(const struct recorder_totals *t, int error, const char *path)
{
	err(error, "recording to %s failed; what was written is readable up to there", path);
	warn("LOST: up to %llu of %llu records were not written; %llu events were left unread in the kernel",
	     ULL(summary_unwritten(t)), ULL(t->records), ULL(recorder_loss(t).unread));
	if (o.json)
		summary_print_json(t, END_ERROR, path, stdout);
	return EXIT_FAILED;
}

static void tell_extents(const struct extents *x)
{
	note("mapped %u file%s, %llu extents; %u moved meanwhile", x->n_files - x->unmapped,
	     x->n_files - x->unmapped == 1 ? "" : "s", ULL(x->extents), x->moved);
	if (x->unmapped)
		warn("%u file%s without a map (%u on dm, md, loop or a file system without a disk of its own)",
		     x->unmapped, x->unmapped == 1 ? "" : "s", x->not_direct);
	if (x->too_many)
		warn("%u files were not mapped: too many", x->too_many);
}

/* What syscall_monitor prints, where the document does not go. */
static void print_monitor(const struct monitor *m)
{
	struct buf b = {};

	if (monitor_left_out(m))
		warn("%llu calls are in the sums only: more than --max-events %llu", ULL(monitor_left_out(m)),
		     ULL(o.max_events));
	if (verbosity < 0 || (o.document && !strcmp(o.document, "-")))
		return;
	monitor_text(m, &b);
	fwrite(b.p, 1, b.n, stdout);
	buf_free(&b);
}

/* From a loaded tracer to a finished file.  Returns the exit status. */
static int record(struct session *s, struct recorder *r, const char *path, enum cap_format format,
		  const struct older *older, struct extents *x, char **command)
{
	struct child child = {}, *c = command[0] ? &child : NULL;
	enum recorder_end end;
	json_t *meta, *footer;
	int status = 0, ret;
	u64 file_bytes = 0;
	struct view view = {};
	char span[32];
	struct stat st;

	if (older->path) {
		ret = cap_create_document(&r->writer, path, &older->document);
	} else {
		meta = session_meta(s, kvio_version, command);
		ret = cap_create(&r->writer, path, format, meta);
		json_decref(meta);
	}
	if (ret) {
		err(ret, "cannot write %s", path);
		return EXIT_FAILED;
	}
	cap_count(r->writer, &r->totals.in_file);
	recorder_catch_signals();
	if (x->n_patterns) {
		r->named = extents_named;
		r->named_arg = x;
		ret = extents_begin(x);
		if (ret)
			err(ret, "cannot map files");
	}
	if (c && !ret) {
		ret = child_prepare(c, command);
		if (!ret)
			ret = trace_add_pid(r->trace, c->pid);
		if (ret)
			err(ret, "cannot start a process");
	}
	if (!ret) {
		ret = session_attach(s);
		if (ret)
			err(ret, "cannot attach the tracers");
	}
	if (ret) {
		if (c && c->pid > 0)
			child_cancel(c);
		cap_close(r->writer, NULL);
		return EXIT_FAILED;
	}
	tell_hooks(r->trace);
	tell_pids(r->trace);
	if (o.passthrough && !session_has_char_device(s))
		note("%s: passthrough commands come in through /dev/ngXnY",
		     s->n_ns ? "no NVMe namespace has a char device (/dev/ng*) here"
			     : "there is no NVMe namespace here now");
	if (c) {
		ret = child_start(c);
		if (ret) {
			err(ret, "cannot run %s", command[0]);
			cap_close(r->writer, NULL);
			return ret == -ENOENT ? 127 : 126;
		}
	} else if (o.duration_ns) {
		note("recording for %s", human_ns(span, sizeof(span), o.duration_ns));
	} else {
		note("recording until Ctrl-C");
	}
	if (o.top)
		view_open(&view, s, r);
	end = recorder_run(r, c, &status);
	if (end != END_ERROR && extents_end(x))
		end = END_ERROR;
	if (o.top)
		view_close(&view);
	if (c && end != END_CHILD) {
		kill(c->pid, SIGTERM);
		warn("the recording ended before the program did: it was sent SIGTERM");
	}
	footer = session_footer(&r->totals, end);
	ret = cap_close(r->writer, end == END_ERROR ? NULL : footer);
	json_decref(footer);
	if (end == END_ERROR || ret)
		return failed(&r->totals, ret ? ret : r->error, path);
	if (strcmp(path, "-") && !stat(path, &st))
		file_bytes = (u64)st.st_size;
	if (o.json && summary_print_json(&r->totals, end, path, stdout))
		return EXIT_FAILED;
	print_summary(s, &r->totals, path, file_bytes);
	if (x->n_patterns)
		tell_extents(x);
	if (older->monitor)
		print_monitor(older->monitor);
	tell_cost(r->trace);
	if (end == END_CHILD)
		return child_exit_code(status);
	return summary_lost(&r->totals) ? EXIT_INCOMPLETE : EXIT_OK;
}

static void tell_lba_conflict(const char *disk, u32 lba_bytes)
{
	warn("--lba-size %llu is not the block size of %s, which is %u: the device's own is used",
	     (unsigned long long)o.lba_bytes, disk, lba_bytes);
}

static int run(int argc, char **argv)
{
	struct session s = { .lba_conflict = tell_lba_conflict };
	struct recorder r = {};
	enum cap_format format = CAP_UNKNOWN;
	struct extents x = {};
	struct older older = {};
	const char *path;
	char **command, why[512];
	int ret;

	opt_parse(&cmd_record, &argc, argv, &command);
	parse_probes(argc, argv);
	open_older(&older, command[0] != NULL);
	path = older.path ? older.path : output_path(&format);
	if (!o.ring_bytes || o.ring_bytes > 1u << 30)
		die_usage("--ring: more than 0, at most 1G");
	ret = session_open(&s,
			   &(struct session_options){
				   .witnesses = o.witnesses,
				   .view = argv[1],
				   .passthrough_only = o.passthrough,
				   .cgroup = o.cgroup,
				   .ops = o.ops.item,
				   .n_ops = o.ops.n,
				   .paths = o.paths.item,
				   .n_paths = o.paths.n,
				   .map_files = o.map_files.item,
				   .n_map_files = o.map_files.n,
				   .min_bytes = o.min_bytes,
				   .max_bytes = o.max_bytes,
				   .pids = o.pids.item,
				   .n_pids = o.pids.n,
				   .devices = o.devices.item,
				   .n_devices = o.devices.n,
				   .comm = o.comm,
				   .kv = o.kv,
				   .no_entry = o.no_entry,
				   .no_cq_overflow = o.no_cq_overflow,
				   .follow = command[0] != NULL,
				   .children = o.children,
				   .ring_bytes = o.ring_bytes,
				   .lba_bytes = o.lba_bytes,
				   .stream = o.stream,
				   .exact_pages = o.exact_pages,
				   .useful_bytes = o.useful_bytes,
			   },
			   recorder_event, &r, why, sizeof(why));
	if (verbosity > (ret ? 0 : 1))
		fputs(trace_log(), stderr);
	if (older.path && !older.monitor && !older.tables) {
		err(-ENOMEM, "cannot record");
		ret = EXIT_FAILED;
	} else if (ret) {
		err(-1, "cannot record: %s", why);
		ret = ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		session_names(&s, &r.names);
		r.trace = s.trace;
		r.duration_ns = o.duration_ns;
		x.patterns = (const char *const *)s.map_files;
		x.n_patterns = o.map_files.n;
		x.r = &r;
		ret = record(&s, &r, path, format, &older, &x, command);
		extents_free(&x);
	}
	session_close(&s);
	monitor_free(older.monitor);
	mmap_tables_free(older.tables);
	names_free(&r.names);
	return ret;
}

#endif

const struct cmd cmd_record = {
	.name = "record",
	.summary = "record storage commands of real programs with eBPF",
	.usage = "WHAT[,WHAT...] [OPTIONS]\nWHAT[,WHAT...] [OPTIONS] -- COMMAND [ARGUMENTS]",
	.description =
		"Records what programs do to storage, one record an event, of one or several witnesses into one file.\n\n"
		"uring-cmd: NVMe commands sent through io_uring passthrough (io_uring_cmd on /dev/ngXnY), which iostat and "
		"blktrace cannot see: each with its user_data, device, size, true duration and NVMe status.\n\n"
		"nvme: all NVMe commands, whatever way they took into the driver; of block requests that a kernel worker "
		"sends, the program that made them.\n\n"
		"syscall: reads, writes, opens, syncs and their relatives, entry and exit as one: file, path, the offset that "
		"was used, bytes asked for and moved.\n\n"
		"iouring: every io_uring request from submission to completion, with file, offset and exact bytes, also of "
		"vectors; SQPOLL, links, registered buffers and files.\n\n"
		"mmap: page faults on mapped files, minor, major and tried again told apart; by file the pages that were used, "
		"what came into the page cache, readahead, direct IO; by device the requests.\n\n"
		"Behind -- a program is started, it and its children are recorded, and its exit status is passed on.\n\n"
		"Ends on Ctrl-C, SIGTERM, after --duration, or with the program; then nothing that was recorded is lost. "
		"Every loss is counted and shown: ring full, map full, hooks missed, unread (kept in the kernel, never read), "
		"and, where the file cannot be written, what is not in it. Needs root; 'kvio doctor' tells what is missing.",
	.notes =
		"OVERHEAD\n\n"
		"Time in the kernel for one event (bpf_stats) and events that reached the file in a second, measured on "
		"2 cores of a virtual machine, Linux 6.18, the best of 4 runs; none was lost.  'make bench' repeats it.\n\n"
		"  witness   filter                     ns an event   events/s in the file\n"
		"  syscall   none                               308                589,000\n"
		"  syscall   --path, one in two passes          370                275,000\n"
		"  syscall   --op, one in two passes            277                286,000\n"
		"  syscall   --min-size, none passes            327                      -\n"
		"  syscall   --comm, none passes                317                      -\n"
		"  iouring   none                               425                216,000\n"
		"  iouring   --path, all pass                   527                212,000\n"
		"  iouring   --op, none passes                  301                      -\n"
		"  mmap      none                               727                 11,400\n"
		"  mmap      --stream                           793                 11,300\n"
		"  mmap      --comm, none passes                579                      -\n\n"
		"The events in a second are those that dd (512-byte reads and writes), fio (4 KiB reads of the page cache) and "
		"a program that touches mapped pages made while they were traced, with bpf_stats on: the recorder can take "
		"more.  A fault has its mapping looked up.\n\n"
		"In the same machine, without bpf_stats: dd took 1.36 times as long (2,000,000 of 2,000,000 calls recorded), "
		"and 1.12 times with programs that return at once on the same hooks.  fio's 4 KiB reads by io_uring, medians "
		"of 8 rounds, as a part of the reads a second without a tracer:\n\n"
		"  job                    without      kvio   empty programs   perf record\n"
		"  direct, depth 1         14,500      0.98             0.99          0.97\n"
		"  direct, depth 32        97,800      0.86             0.93          0.73\n"
		"  page cache, depth 32   370,000      0.82             0.93          0.69\n\n"
		"A program that waits for its drive loses little; one that is bound by its processor loses the time of the "
		"programs, and a good part of that is the price of the hooks.\n\n"
		"NVMe commands, on an emulated CPU (QEMU without KVM, Linux 6.12, the best of 3 runs of 8,000 reads by fio), "
		"where a system call that is recorded costs 870 ns:\n\n"
		"  witness   commands, filter           ns an event   events/s in the file\n"
		"  nvme      block layer                     13,900                  5,700\n"
		"  nvme      passthrough                      9,060                  6,500\n"
		"  nvme      --min-size, none passes          7,020                      -\n"
		"  nvme      --device, none passes            7,070                      -\n"
		"  nvme      --comm, none passes              6,210                      -\n"
		"  uring-cmd passthrough                      8,440                  6,700\n"
		"  uring-cmd passthrough, --no-entry          5,400                  7,400\n"
		"  iouring   passthrough                      2,350                  7,700\n\n"
		"The events in a second are what the emulated drive does. Of a command of the block layer a good part is "
		"to note who made it.\n\n"
		"Filters are decided in the kernel, but the hooks run for every program on the machine. --map-files asks the "
		"file system when a file is first seen, and writes all mapped files out at the end.",
	.examples = "kvio record uring-cmd -o run.kvt -- fio job.fio\n"
		    "    record fio, and nothing else, to run.kvt\n"
		    "kvio record uring-cmd --device ng0n1 -d 10s -o run.jsonl.zst\n"
		    "    record all passthrough commands of one namespace for 10 seconds\n"
		    "kvio record nvme,syscall -o both.kvt -- ./program\n"
		    "    what it asked for, and the commands that came of it\n"
		    "kvio record uring-cmd | jq .\n"
		    "    look at the commands as they come",
	.words = words,
	.opts = opts,
	.older = older_opts,
	.run = run,
};
