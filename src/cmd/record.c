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
#include "io/device.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "lib/human.h"
#include "lib/jsonutil.h"
#include "trace/recorder.h"
#endif

static struct {
	const char *output, *jsonl, *comm;
	struct opt_list pids, devices;
	u64 duration_ns, ring_bytes, lba_bytes;
	bool kv, no_entry, no_cq_overflow, quiesced, json;
} o = { .ring_bytes = 16 << 20 };

static const struct opt opts[] = {
	OPT_GROUP("Output"),
	OPT_STR('o', "output", &o.output, "FILE",
		"write the capture to FILE: .kvt (binary, smallest), .jsonl, .jsonl.gz, .jsonl.zst; - is JSONL on standard output (the default)"),
	OPT_FLAG(0, "json", &o.json, "print the summary as JSON on standard output (needs -o FILE)"),
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

/* The namespaces of this machine, for names, limits and filters. */
static struct nvme_ns *ns_list;
static size_t n_ns;

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
	if (o.json && !strcmp(path, "-"))
		die_usage("--json prints the summary where the capture goes: give -o FILE");
	return path;
}

/* Numbers of processes are those of the initial pid namespace inside BPF. */
static bool in_child_pid_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino != 0xeffffffc;
}

static int parse_pids(u32 **pids, size_t *n)
{
	size_t i;

	*pids = calloc(o.pids.n + 1, sizeof(**pids));
	if (!*pids)
		return -ENOMEM;
	for (i = 0; i < o.pids.n; i++) {
		u64 v;

		if (str_u64(o.pids.item[i], &v) || v > INT32_MAX)
			die_usage("--pid: '%s' is not a process id", o.pids.item[i]);
		if (!v)
			continue; /* the older tool's "all" */
		if (kill((pid_t)v, 0) && errno == ESRCH)
			warn("no process %llu is running now", (unsigned long long)v);
		(*pids)[(*n)++] = (u32)v;
	}
	return 0;
}

/* The disk names behind --device: of a multipath head its paths, which the driver sees. */
static int parse_devices(const char ***names, size_t *n)
{
	size_t i, j, cap = 0;
	const char **grown;

	for (i = 0; i < o.devices.n; i++) {
		const struct nvme_ns *ns = nvme_find(ns_list, n_ns, o.devices.item[i], NULL);

		if (!ns) {
			struct buf b = {};

			for (j = 0; j < n_ns; j++)
				buf_printf(&b, " %s", ns_list[j].generic[0] ? ns_list[j].generic : ns_list[j].name);
			err(-1, "no NVMe namespace '%s'; here are:%.*s", o.devices.item[i], b.n ? (int)b.n : 5,
			    b.n ? b.p : " none");
			buf_free(&b);
			return -ENODEV;
		}
		cap += 1 + ns->n_paths;
		grown = realloc(*names, cap * sizeof(**names));
		if (!grown)
			return -ENOMEM;
		*names = grown;
		(*names)[(*n)++] = ns->name;
		for (j = 0; j < ns->n_paths; j++)
			(*names)[(*n)++] = ns->path[j];
	}
	return 0;
}

/* All that the queues of all namespaces can hold, with room for the admin queues. */
static u32 inflight_limit(void)
{
	u64 sum = 1024;
	size_t i;

	for (i = 0; i < n_ns; i++)
		sum += (u64)MAX(ns_list[i].nr_requests, 1024u) * MAX(ns_list[i].hw_queues, 1u) *
		       MAX(ns_list[i].n_paths, 1u);
	return (u32)MIN(sum, 1u << 20);
}

static const struct nvme_ns *ns_of_disk(const char *disk, bool *path)
{
	size_t i;
	u32 j;

	for (i = 0; i < n_ns; i++) {
		*path = false;
		if (!strcmp(ns_list[i].name, disk))
			return &ns_list[i];
		*path = true;
		for (j = 0; j < ns_list[i].n_paths; j++)
			if (!strcmp(ns_list[i].path[j], disk))
				return &ns_list[i];
	}
	return NULL;
}

static void complete_disk(void *arg, struct known_disk *d)
{
	char name[sizeof(d->ev.name) + 1] = "";
	const struct nvme_ns *ns;
	bool path;

	(void)arg;
	memcpy(name, d->ev.name, sizeof(d->ev.name));
	ns = ns_of_disk(name, &path);
	if (!ns)
		return;
	d->rdev = ns->rdev;
	d->multipath = path;
	if (!d->ev.lba_bytes)
		d->ev.lba_bytes = ns->lba_bytes;
	if (o.lba_bytes && ns->lba_bytes && o.lba_bytes != ns->lba_bytes)
		warn("--lba-size %llu is not the block size of %s, which is %u: the device's own is used",
		     (unsigned long long)o.lba_bytes, name, ns->lba_bytes);
}

/* A recording can only stay empty where no char device takes passthrough. */
static void tell_no_char_device(void)
{
	size_t i;

	for (i = 0; i < n_ns; i++)
		if (ns_list[i].generic[0])
			return;
	note("%s: passthrough commands come in through /dev/ngXnY",
	     n_ns ? "no NVMe namespace has a char device (/dev/ng*) here" : "there is no NVMe namespace here now");
}

/* What only Identify tells (MDTS, metadata); without the right to open the node it stays unknown. */
static void identify_all(void)
{
	size_t i;

	for (i = 0; i < n_ns; i++) {
		char node[NVME_NAME + 8];
		FILE *f;

		snprintf(node, sizeof(node), "/dev/%s", ns_list[i].generic[0] ? ns_list[i].generic : ns_list[i].name);
		f = fopen(node, "re");
		if (!f)
			continue;
		nvme_identify(fileno(f), &ns_list[i]);
		fclose(f);
	}
}

/* What is known of a namespace, with the numbers by which events name it. */
static json_t *device_doc(const struct nvme_ns *ns)
{
	struct buf b = {};
	json_t *d;

	device_json(&b, ns, NULL);
	d = json_loadb(b.p, b.n, 0, NULL);
	buf_free(&b);
	json_object_del(d, "used_by");
	json_object_del(d, "char_node");
	json_set_str(d, "char", ns->generic);
	json_set_u64(d, "dev", ns->dev);
	json_set_u64(d, "rdev", ns->rdev);
	return d;
}

static json_t *words_json(char **argv)
{
	json_t *a = json_array();

	for (; *argv; argv++)
		json_array_append_new(a, json_str(*argv));
	return a;
}

static json_t *list_json(const char *const *item, size_t n)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(a, json_str(item[i]));
	return a;
}

static json_t *facilities_json(const struct nvme_trace *t)
{
	json_t *a = json_array();
	size_t n, i;
	const struct facility *f = nvme_trace_facilities(t, &n);

	for (i = 0; i < n; i++) {
		json_t *e = json_object();

		json_set_str(e, "name", f[i].name);
		json_set_str(e, "hook", f[i].hook);
		json_object_set_new(e, "on", json_boolean(f[i].on));
		if (!f[i].on)
			json_set_str(e, "why", f[i].why);
		json_array_append_new(a, e);
	}
	return a;
}

static json_t *meta_json(const struct nvme_trace *t, char **command)
{
	struct clock_anchor a = clock_anchor_now();
	json_t *m = json_object(), *host = json_object(), *filters = json_object(), *devices = json_array();
	struct utsname u;
	size_t i;

	uname(&u);
	json_set_str(m, "event_type", "capture_meta");
	json_set_u64(m, "schema_version", 2);
	json_set_str(m, "emitter", "kvio");
	json_set_str(m, "kvio_version", kvio_version);
	json_set_str(m, "view", "uring-cmd");
	json_set_u64(m, "monotonic_ns", a.monotonic_ns);
	json_set_u64(m, "realtime_ns", a.realtime_ns);
	json_set_str(host, "name", u.nodename);
	json_set_str(host, "kernel", u.release);
	json_set_str(host, "machine", u.machine);
	json_set_u64(host, "cpus", (u64)sysconf(_SC_NPROCESSORS_ONLN));
	json_object_set_new(m, "host", host);
	if (command[0])
		json_object_set_new(m, "command", words_json(command));
	json_object_set_new(filters, "pids", list_json(o.pids.item, o.pids.n));
	json_object_set_new(filters, "devices", list_json(o.devices.item, o.devices.n));
	if (o.comm)
		json_set_str(filters, "comm", o.comm);
	json_object_set_new(m, "filters", filters);
	json_object_set_new(m, "hooks", facilities_json(t));
	json_set_u64(m, "ring_bytes", o.ring_bytes);
	json_set_u64(m, "inflight_max", inflight_limit());
	for (i = 0; i < n_ns; i++)
		json_array_append_new(devices, device_doc(&ns_list[i]));
	json_object_set_new(m, "devices", devices);
	return m;
}

static const char *const end_words[] = { "signal", "duration", "program ended", "error" };

static json_t *footer_json(const struct recorder_totals *t, enum recorder_end end)
{
	static const char *const kinds[EV_KINDS] = { NULL,   "nvme", "nvme_kv", "cq_overflow",
						     "task", "disk", "clock",	"loss" };
	json_t *f = json_object(), *counts = json_object();
	u32 i;

	json_set_str(f, "event_type", "footer");
	json_object_set_new(f, "complete", json_true());
	json_set_str(f, "ended_by", end_words[end]);
	json_set_u64(f, "started_ns", t->started_ns);
	json_set_u64(f, "ended_ns", t->ended_ns);
	json_set_u64(f, "seen", t->loss.seen);
	json_set_u64(f, "stored", t->loss.stored);
	json_set_u64(f, "ring_full", t->loss.ring_full);
	json_set_u64(f, "map_full", t->loss.map_full);
	json_set_u64(f, "hook_missed", t->loss.hook_missed);
	json_set_u64(f, "filtered", t->loss.filtered);
	json_set_u64(f, "in_flight", t->in_flight);
	json_set_u64(f, "entry_full", t->extra.entry_full);
	json_set_u64(f, "pid_full", t->extra.pid_full);
	for (i = 1; i < EV_KINDS; i++)
		json_set_u64(counts, kinds[i], t->count[i]);
	json_set_u64(counts, "snapshots", t->snapshots);
	json_object_set_new(f, "counts", counts);
	return f;
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
	json_t *f = footer_json(t, end);

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

static bool find_task(void *arg, u32 tid, struct ev_task *e)
{
	return nvme_trace_find_task(arg, tid, e);
}

/* Opens the tracer with what the command line asks for.  Speaks on failure. */
static int open_trace(struct recorder *r, bool follow)
{
	struct nvme_trace_options t = {
		.passthrough_only = true,
		.entry_probe = !o.no_entry,
		.cq_overflow = !o.no_cq_overflow,
		.kv = o.kv,
		.follow = follow,
		.comm = o.comm,
		.ring_bytes = o.ring_bytes,
		.inflight_max = inflight_limit(),
	};
	const char **disks = NULL;
	char why[256];
	u32 *pids = NULL;
	int ret;

	ret = parse_pids(&pids, &t.n_pids);
	if (!ret)
		ret = parse_devices(&disks, &t.n_disks);
	t.pids = pids;
	t.disks = disks;
	if (!ret && (t.n_pids || follow) && in_child_pid_namespace()) {
		err(-1, "process ids here are not the kernel's: --pid and -- CMD need the host's pid namespace "
			"(docker --pid=host, hostPID: true)");
		ret = -EINVAL;
	} else if (!ret) {
		ret = nvme_trace_open(&r->trace, &t, recorder_event, r, why, sizeof(why));
		if (ret)
			err(-1, "cannot trace NVMe commands: %s", why);
		if (verbosity > (ret ? 0 : 1))
			fputs(nvme_trace_log(), stderr);
	}
	free(pids);
	free(disks);
	return ret;
}

/* From a loaded tracer to a finished file.  Returns the exit status. */
static int record(struct recorder *r, const char *path, enum cap_format format, char **command)
{
	struct child child = {}, *c = command[0] ? &child : NULL;
	enum recorder_end end;
	json_t *meta, *footer;
	int status = 0, ret;
	u64 file_bytes = 0;
	char span[32];
	struct stat st;

	meta = meta_json(r->trace, command);
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
	tell_no_char_device();
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
	end = recorder_run(r, c, &status);
	if (c && end != END_CHILD) {
		kill(c->pid, SIGTERM);
		warn("the recording ended before the program did: it was sent SIGTERM");
	}
	footer = footer_json(&r->totals, end);
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

static int run(int argc, char **argv)
{
	struct recorder r = { .duration_ns = 0 };
	enum cap_format format;
	const char *path;
	char **command;
	int ret;

	opt_parse(&cmd_record, &argc, argv, &command);
	parse_probes(argc, argv);
	path = output_path(&format);
	if (o.ring_bytes > 1u << 30)
		die_usage("--ring: at most 1G");
	ret = nvme_list("/sys", &ns_list, &n_ns);
	if (ret && ret != -ENOENT) {
		err(ret, "cannot list the NVMe devices");
		return EXIT_FAILED;
	}
	identify_all();
	r.duration_ns = o.duration_ns;
	ret = open_trace(&r, command[0] != NULL) ? EXIT_FAILED : 0;
	if (!ret) {
		r.names.find_task = find_task;
		r.names.complete_disk = complete_disk;
		r.names.arg = r.trace;
		ret = record(&r, path, format, command);
		nvme_trace_close(r.trace);
	}
	names_free(&r.names);
	nvme_list_free(ns_list, n_ns);
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
