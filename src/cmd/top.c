// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/err.h"

#if KVIO_BPF
#include "lib/clock.h"
#include "out/top.h"
#include "session/screen.h"
#include "session/session.h"
#endif

static struct {
	struct opt_list pids, devices;
	const char *comm;
	u64 interval_ns, count, ring_bytes;
	bool once, json, kv;
} o = { .interval_ns = NSEC_PER_SEC, .ring_bytes = 16 << 20 };

static const struct opt opts[] = {
	OPT_GROUP("What to watch"),
	OPT_LIST('p', "pid", &o.pids, "PID", "only this process (repeatable)"),
	OPT_STR(0, "comm", &o.comm, "NAME", "only threads of exactly this name"),
	OPT_LIST(0, "device", &o.devices, "DEV", "only this namespace (repeatable)"),
	OPT_FLAG(0, "kv", &o.kv, "decode every namespace as key-value"),
	OPT_GROUP("How to show it"),
	OPT_DURATION('i', "interval", &o.interval_ns, "TIME", "refresh every TIME (default 1s)"),
	OPT_U64('n', "count", &o.count, "N", "end after N intervals"),
	OPT_FLAG(0, "once", &o.once, "one interval, then end: for scripts"),
	OPT_FLAG(0, "json", &o.json, "one JSON object an interval instead of the screen"),
	OPT_SIZE(0, "ring", &o.ring_bytes, "SIZE", "ring buffer for each 8 CPUs (default 16M)"),
	OPT_END,
};

#if !KVIO_BPF

static int run(int argc, char **argv)
{
	opt_parse(&cmd_top, &argc, argv, NULL);
	err(-1, "this kvio was built without tracers (BPF=0)");
	return EXIT_FAILED;
}

#else

static volatile sig_atomic_t stop;

static void on_stop(int sig)
{
	(void)sig;
	stop = 1;
}

static int on_event(void *arg, const void *record, size_t size)
{
	(void)size;
	return live_event(arg, record);
}

static int look(struct session *s, struct live *l, bool screen)
{
	u64 now_ns = clock_ns(CLOCK_MONOTONIC);
	struct buf b = {};
	s64 ret;

	live_forget_in_flight(l);
	ret = trace_in_flight(s->trace, 0, on_event, l);
	if (ret < 0)
		return (int)ret;
	trace_account(s->trace, 0, &l->loss);
	if (o.json)
		top_json(&b, l, now_ns);
	else
		top_text(&b, l, now_ns, screen ? screen_lines() - 1 : 0, opt_color(stdout));
	screen_show(&b, screen);
	ret = b.failed ? -ENOMEM : ferror(stdout) ? -EIO : 0;
	buf_free(&b);
	live_next(l, now_ns);
	return (int)ret;
}

static int watch(struct session *s, struct live *l, bool screen)
{
	u64 next_ns = clock_ns(CLOCK_MONOTONIC) + o.interval_ns, looks = 0;

	l->since_ns = next_ns - o.interval_ns;
	while (!stop) {
		u64 now_ns = clock_ns(CLOCK_MONOTONIC);
		int ret;

		if (now_ns >= next_ns) {
			ret = look(s, l, screen);
			if (ret || ++looks == (o.once ? 1 : o.count))
				return ret;
			/* A late look does not make the next ones early. */
			next_ns = MAX(next_ns + o.interval_ns, now_ns);
			continue;
		}
		if (screen && screen_quits())
			return 0;
		ret = trace_consume(s->trace, (int)MIN((next_ns - now_ns) / 1000000 + 1, 100u));
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int run(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_stop };
	struct session s = {};
	struct live l = {};
	char why[512];
	bool screen;
	int ret;

	opt_parse(&cmd_top, &argc, argv, NULL);
	if (argc > 1)
		die_usage("unexpected operand '%s'", argv[1]);
	if (o.interval_ns < 10000000)
		die_usage("--interval: at least 10ms");
	if (o.ring_bytes > 1u << 30)
		die_usage("--ring: at most 1G");
	ret = session_open(&s,
			   &(struct session_options){
				   .witnesses = TRACE_NVME,
				   .passthrough_only = true,
				   .pids = o.pids.item,
				   .n_pids = o.pids.n,
				   .devices = o.devices.item,
				   .n_devices = o.devices.n,
				   .comm = o.comm,
				   .kv = o.kv,
				   .ring_bytes = o.ring_bytes,
			   },
			   on_event, &l, why, sizeof(why));
	if (!ret) {
		session_names(&s, &l.names);
		ret = session_attach(&s);
		if (ret)
			snprintf(why, sizeof(why), "cannot attach to the NVMe driver: %s", strerror(-ret));
	}
	if (ret) {
		err(-1, "cannot watch: %s", why);
		session_close(&s);
		live_free(&l);
		return ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	screen = !o.json && screen_open();
	ret = watch(&s, &l, screen);
	if (screen)
		screen_close();
	if (ret)
		err(ret, "watching ended early");
	trace_detach(s.trace);
	session_close(&s);
	live_free(&l);
	return ret ? EXIT_FAILED : EXIT_OK;
}

#endif

const struct cmd cmd_top = {
	.name = "top",
	.summary = "watch NVMe passthrough live, by device and by process",
	.usage = "[OPTIONS]",
	.description =
		"Every second: commands and megabytes a second, commands in flight now, the average depth while busy, "
		"latency, KV objects in flight (trace ids in user_data) and a verdict: QD~1 where commands are sent one "
		"after the other. Losses are counted and shown. Works over ssh in 80x24; q quits.",
	.examples = "sudo kvio top\n    the live view of all passthrough\n"
		    "sudo kvio top --once --json\n    one interval of one second, for a script\n"
		    "sudo kvio top --device ng0n1 -i 5s\n    one namespace, every 5 seconds",
	.opts = opts,
	.run = run,
};
