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
#include "lib/clock.h"
#include "lib/human.h"
#include "lib/jsonutil.h"
#include "model/live.h"
#include "out/top.h"
#include "session/screen.h"
#include "session/session.h"
#endif

static struct {
	const char *output, *jsonl, *comm;
	struct opt_list pids, devices;
	u64 duration_ns, ring_bytes, lba_bytes;
	bool kv, no_entry, no_cq_overflow, quiesced, json, top;
} o = { .ring_bytes = 16 << 20 };

static const struct opt opts[] = {
	OPT_GROUP("Output"),
	OPT_STR('o', "output", &o.output, "FILE",
		"write the capture to FILE: .kvt (binary, smallest), .jsonl, .jsonl.gz, .jsonl.zst; - is JSONL on standard output (the default)"),
	OPT_FLAG(0, "json", &o.json, "print the summary as JSON on standard output (needs -o FILE)"),
	OPT_FLAG(0, "top", &o.top, "show the live view of 'kvio top' meanwhile (needs -o FILE)"),
	OPT_GROUP("What to record"),
	OPT_LIST('p', "pid", &o.pids, "PID", "only this process (repeatable; 0 = all)"),
	OPT_STR(0, "comm", &o.comm, "NAME", "only threads of exactly this name"),
	OPT_LIST(
		0, "device", &o.devices, "DEV",
		"only this namespace: ng0n1, nvme0n1 or their /dev path (repeatable); a multipath head stands for its paths"),
	OPT_DURATION('d', "duration", &o.duration_ns, "TIME", "stop after TIME (10s, 500ms, 2m)"),
	OPT_FLAG(0, "kv", &o.kv, "decode every namespace as key-value (else: as its command set says)"),
	OPT_GROUP("Cost"),
	OPT_SIZE(0, "ring", &o.ring_bytes, "SIZE", "ring buffer for each 8 CPUs (default 16M)"),
	OPT_FLAG(0, "no-entry", &o.no_entry,
		 "no probe at the entry of the driver: no wait time, attempts and refused commands"),
	OPT_FLAG(0, "no-cq-overflow", &o.no_cq_overflow, "do not record completion queue overflows"),
	OPT_OLD(OPT_T_STR, "jsonl", &o.jsonl),
	OPT_OLD(OPT_T_DURATION, "dur", &o.duration_ns),
	OPT_OLD(OPT_T_SIZE, "lba-size", &o.lba_bytes),
	OPT_OLD(OPT_T_FLAG, "quiesced", &o.quiesced),
	OPT_END,
};

static const char *const words[] = { "uring-cmd", NULL };

#if !KVIO_BPF

static int run(int argc, char **argv)
{
	char **command;

	opt_parse(&cmd_record, &argc, argv, &command);
	err(-1, "this kvio was built without tracers (BPF=0)");
	return EXIT_FAILED;
}

#else

static void parse_probes(int argc, char **argv)
{
	if (argc < 2)
		die_usage("name what to record: uring-cmd");
	if (argc > 2)
		die_usage("unexpected operand '%s' (a program to run comes behind --)", argv[2]);
	if (strcmp(argv[1], "uring-cmd"))
		die_usage("'%s' cannot be recorded; known: uring-cmd", argv[1]);
}

static const char *output_path(enum cap_format *format)
{
	const char *path = o.output;

	if (o.output && o.jsonl)
		die_usage("--output and --jsonl name two outputs");
	if (o.jsonl) {
		*format = CAP_JSONL;
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
	nvme_trace_in_flight(v->s->trace, 0, view_in_flight, &v->live);
	nvme_trace_account(v->s->trace, &v->live.loss, NULL);
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

static u64 lost(const struct recorder_totals *t)
{
	return t->loss.ring_full + t->loss.map_full + t->loss.hook_missed;
}

static void tell_hooks(const struct nvme_trace *t)
{
	size_t n, i;
	const struct facility *f = nvme_trace_facilities(t, &n);

	for (i = 0; i < n; i++) {
		if (!f[i].on && strcmp(f[i].why, "not asked for"))
			note("%s: off, %s is %s", f[i].name, f[i].hook, f[i].why);
		else if (verbosity > 0)
			note("%s: %s%s%s", f[i].name, f[i].on ? "on, " : "off, ", f[i].on ? f[i].hook : f[i].why, "");
	}
}

/* What the programs cost, where the kernel measures it. */
static void tell_cost(const struct nvme_trace *t)
{
	const char *name;
	u64 runs, run_ns;
	u32 i;

	for (i = 0; nvme_trace_cost(t, i, &name, &runs, &run_ns); i++)
		if (runs && verbosity > 0)
			note("%s: %llu runs, %llu ns each", name, (unsigned long long)runs,
			     (unsigned long long)(run_ns / runs));
}

static void print_row(const char *what, u64 n, u64 bytes)
{
	char size[32];

	fprintf(stderr, "  %-10s %10llu   %s\n", what, (unsigned long long)n, human_bytes(size, sizeof(size), bytes));
}

static void print_summary(const struct recorder_totals *t, const char *path, u64 file_bytes)
{
	u64 n_cmds = t->count[EV_NVME] + t->count[EV_NVME_KV];
	char a[32], b[32], c[32];

	if (verbosity < 0)
		return;
	fprintf(stderr, "kvio record: %llu command%s in %s -> %s (%s)\n", (unsigned long long)n_cmds,
		n_cmds == 1 ? "" : "s", human_ns(a, sizeof(a), t->ended_ns - t->started_ns),
		strcmp(path, "-") ? path : "standard output", human_bytes(b, sizeof(b), file_bytes));
	print_row("reads", t->reads, t->read_bytes);
	print_row("writes", t->writes, t->write_bytes);
	if (t->others)
		fprintf(stderr, "  %-10s %10llu\n", "other", (unsigned long long)t->others);
	if (t->lat.n)
		fprintf(stderr, "  latency    p50 %s   p99 %s   max %s   of %llu good\n",
			human_ns(a, sizeof(a), hist_percentile(&t->lat, 50)),
			human_ns(b, sizeof(b), hist_percentile(&t->lat, 99)), human_ns(c, sizeof(c), t->lat.max),
			(unsigned long long)t->lat.n);
	fprintf(stderr, "  failed %llu, refused before the device %llu, re-issued %llu, CQ overflows %llu\n",
		(unsigned long long)t->failed, (unsigned long long)t->refused, (unsigned long long)t->reissued,
		(unsigned long long)t->count[EV_CQ_OVERFLOW]);
	fprintf(stderr, "  seen %llu = stored %llu + in flight %llu + filtered %llu + lost %llu\n",
		(unsigned long long)t->loss.seen, (unsigned long long)t->loss.stored, (unsigned long long)t->in_flight,
		(unsigned long long)t->loss.filtered, (unsigned long long)(t->loss.ring_full + t->loss.map_full));
	if (lost(t))
		warn("LOST events: ring full %llu (--ring larger), map full %llu, hooks missed %llu",
		     (unsigned long long)t->loss.ring_full, (unsigned long long)t->loss.map_full,
		     (unsigned long long)t->loss.hook_missed);
	if (t->extra.pid_full)
		warn("%llu child processes were not followed: too many at once", (unsigned long long)t->extra.pid_full);
	if (!n_cmds && !t->in_flight)
		note("nothing was recorded: no passthrough command (io_uring_cmd on /dev/ng*) passed the filters; %llu other commands were seen",
		     (unsigned long long)t->loss.filtered);
}

static int print_json_summary(const struct recorder_totals *t, enum recorder_end end, const char *path)
{
	json_t *f = session_footer(t, end);

	json_set_str(f, "event_type", "record_summary");
	json_set_u64(f, "schema_version", 1);
	json_set_str(f, "file", path);
	json_set_u64(f, "reads", t->reads);
	json_set_u64(f, "read_bytes", t->read_bytes);
	json_set_u64(f, "writes", t->writes);
	json_set_u64(f, "write_bytes", t->write_bytes);
	json_set_u64(f, "failed", t->failed);
	json_set_u64(f, "refused", t->refused);
	json_set_u64(f, "reissued", t->reissued);
	json_set_u64(f, "lat_n", t->lat.n);
	json_set_u64(f, "lat_p50_ns", hist_percentile(&t->lat, 50));
	json_set_u64(f, "lat_p99_ns", hist_percentile(&t->lat, 99));
	json_dumpf(f, stdout, JSON_COMPACT);
	json_decref(f);
	return putchar('\n') == EOF ? -EIO : 0;
}

/* From a loaded tracer to a finished file.  Returns the exit status. */
static int record(struct session *s, struct recorder *r, const char *path, enum cap_format format, char **command)
{
	struct child child = {}, *c = command[0] ? &child : NULL;
	enum recorder_end end;
	json_t *meta, *footer;
	int status = 0, ret;
	u64 file_bytes = 0;
	struct view view = {};
	char span[32];
	struct stat st;

	meta = session_meta(s, kvio_version, command);
	ret = cap_create(&r->writer, path, format, meta);
	json_decref(meta);
	if (ret) {
		err(ret, "cannot write %s", path);
		return EXIT_FAILED;
	}
	recorder_catch_signals();
	if (c) {
		ret = child_prepare(c, command);
		if (!ret)
			ret = nvme_trace_add_pid(r->trace, c->pid);
		if (ret)
			err(ret, "cannot start a process");
	}
	if (!ret) {
		ret = nvme_trace_attach(r->trace);
		if (ret)
			err(ret, "cannot attach to the NVMe driver");
	}
	if (ret) {
		if (c && c->pid > 0)
			child_cancel(c);
		cap_close(r->writer, NULL);
		return EXIT_FAILED;
	}
	tell_hooks(r->trace);
	if (!session_has_char_device(s))
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
	if (o.top)
		view_close(&view);
	if (c && end != END_CHILD) {
		kill(c->pid, SIGTERM);
		warn("the recording ended before the program did: it was sent SIGTERM");
	}
	footer = session_footer(&r->totals, end);
	ret = cap_close(r->writer, end == END_ERROR ? NULL : footer);
	json_decref(footer);
	if (end == END_ERROR || ret) {
		err(ret ? ret : r->error, "recording to %s failed; what was written is readable up to there", path);
		return EXIT_FAILED;
	}
	if (strcmp(path, "-") && !stat(path, &st))
		file_bytes = (u64)st.st_size;
	if (o.json && print_json_summary(&r->totals, end, path))
		return EXIT_FAILED;
	print_summary(&r->totals, path, file_bytes);
	tell_cost(r->trace);
	if (end == END_CHILD)
		return child_exit_code(status);
	return lost(&r->totals) ? EXIT_INCOMPLETE : EXIT_OK;
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
	enum cap_format format;
	const char *path;
	char **command, why[512];
	int ret;

	opt_parse(&cmd_record, &argc, argv, &command);
	parse_probes(argc, argv);
	path = output_path(&format);
	if (o.ring_bytes > 1u << 30)
		die_usage("--ring: at most 1G");
	ret = session_open(&s,
			   &(struct session_options){
				   .pids = o.pids.item,
				   .n_pids = o.pids.n,
				   .devices = o.devices.item,
				   .n_devices = o.devices.n,
				   .comm = o.comm,
				   .kv = o.kv,
				   .no_entry = o.no_entry,
				   .no_cq_overflow = o.no_cq_overflow,
				   .follow = command[0] != NULL,
				   .ring_bytes = o.ring_bytes,
				   .lba_bytes = o.lba_bytes,
			   },
			   recorder_event, &r, why, sizeof(why));
	if (verbosity > (ret ? 0 : 1))
		fputs(nvme_trace_log(), stderr);
	if (ret) {
		err(-1, "cannot record: %s", why);
		ret = ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		session_names(&s, &r.names);
		r.trace = s.trace;
		r.duration_ns = o.duration_ns;
		ret = record(&s, &r, path, format, command);
	}
	session_close(&s);
	names_free(&r.names);
	return ret;
}

#endif

const struct cmd cmd_record = {
	.name = "record",
	.summary = "record storage commands of real programs with eBPF",
	.usage = "uring-cmd [OPTIONS]\nuring-cmd [OPTIONS] -- COMMAND [ARGUMENTS]",
	.description =
		"Records NVMe commands that programs send through io_uring passthrough (io_uring_cmd on /dev/ngXnY), "
		"which iostat and blktrace cannot see: each with its user_data, device, size, true duration and NVMe status. "
		"Behind -- a program is started, it and its children are recorded, and its exit status is passed on.\n\n"
		"Ends on Ctrl-C, SIGTERM, after --duration, or with the program; then nothing that was recorded is lost. "
		"Every loss is counted and shown. Needs root; 'kvio doctor' tells what is missing.",
	.examples = "kvio record uring-cmd -o run.kvt -- fio job.fio\n"
		    "    record fio, and nothing else, to run.kvt\n"
		    "kvio record uring-cmd --device ng0n1 -d 10s -o run.jsonl.zst\n"
		    "    record all passthrough commands of one namespace for 10 seconds\n"
		    "kvio record uring-cmd | jq .\n"
		    "    look at the commands as they come",
	.words = words,
	.opts = opts,
	.run = run,
};
