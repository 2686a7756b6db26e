// SPDX-License-Identifier: Apache-2.0
/* Preflight: what of kvio can work on this machine, and what to do about the rest. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "io/device.h"
#include "io/ring.h"
#include "io/sysfs.h"
#include "lib/buf.h"
#include "lib/err.h"
#include "lib/human.h"
#if KVIO_BPF
#include "trace/preflight.h"
#endif

#define PAGE	     4096u
/* For the memory of registered buffers: commands in flight, and bytes of each where no device says less. */
#define DEPTH	     32u
#define TRANSFER     (128u << 10)
/* The inode of the first pid namespace, the same on every kernel. */
#define FIRST_PID_NS "pid:[4026531836]"

static bool opt_json;
static const char *opt_sysfs = "/sys", *opt_proc = "/proc", *opt_dev = "/dev", *opt_btf;

static const struct opt opts[] = {
	OPT_FLAG(0, "json", &opt_json, "print a JSON object"),
	OPT_STR(0, "btf", &opt_btf, "FILE", "look for the kernel's types in FILE instead of /sys/kernel/btf/vmlinux"),
	/* Other roots, for tests; then nothing of the running kernel is tried. */
	OPT_OLD(OPT_T_STR, "sysfs", &opt_sysfs),
	OPT_OLD(OPT_T_STR, "proc", &opt_proc),
	OPT_OLD(OPT_T_STR, "dev", &opt_dev),
	OPT_END,
};

enum level { OK, WARN, FAIL };
static const char *const level_words[] = { "ok", "warn", "FAIL" };

struct check {
	enum level level;
	const char *what;
	char *finding;
	const char *remedy; /* NULL when there is nothing to do */
};

struct found {
	struct device_users users;
	int users_error, identify_error; /* 0 or -errno */
};

struct doctor {
	struct check *check;
	size_t n, cap;
	bool live; /* the roots are this machine's: things can be tried */
	u64 caps;  /* effective capabilities, a bit each */
	struct nvme_ns *ns;
	size_t n_ns;
	struct found *found; /* of ns[i] */
	u64 transfer;	     /* largest command that any device takes */
#if KVIO_BPF
	struct preflight preflight;
#endif
};

static void PRINTF(5, 6)
	say(struct doctor *d, enum level level, const char *what, const char *remedy, const char *fmt, ...)
{
	struct check *c;
	va_list ap;
	char *p;

	if (d->n == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 32;
		d->check = reallocarray(d->check, d->cap, sizeof(*d->check));
		if (!d->check)
			bug("out of memory");
	}
	c = &d->check[d->n++];
	*c = (struct check){ level, what, NULL, remedy };
	va_start(ap, fmt);
	if (vasprintf(&c->finding, fmt, ap) < 0)
		bug("out of memory");
	va_end(ap);
	/* Names of mounts and models end up here: no terminal escapes. */
	for (p = c->finding; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
}

/* ---- kernel ---- */

static void check_kernel(struct doctor *d)
{
	unsigned int major = 0, minor = 0, version;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	version = major * 1000 + minor;
	if (version < 5008)
		say(d, FAIL, "kernel", "use Linux 6.1 or newer", "%s; tracers need 5.8 (BPF ring buffer)", u.release);
	else if (version < 5019)
		say(d, WARN, "kernel", "use Linux 6.1 or newer", "%s; io_uring passthrough needs 5.19", u.release);
	else
		say(d, OK, "kernel", NULL, "%s %s", u.release, u.machine);
}

static void check_types(struct doctor *d)
{
#if KVIO_BPF
	char vmlinux[SYSFS_PATH], module[SYSFS_PATH], state[32];
	struct preflight *p = &d->preflight;

	sysfs_path(vmlinux, "%s/kernel/btf/vmlinux", opt_sysfs);
	sysfs_path(module, "%s/kernel/btf/nvme_core", opt_sysfs);
	preflight_run(opt_btf ? opt_btf : vmlinux, module, d->live, p);
	if (p->btf) {
		say(d, FAIL, "btf",
		    "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y (by pahole); reading captures works without",
		    "no kernel types in %s: %s", opt_btf ? opt_btf : vmlinux, strerror(-p->btf));
		return;
	}
	say(d, OK, "btf", NULL, "%u types in %s", p->types, opt_btf ? opt_btf : vmlinux);
	if (p->hooks)
		say(d, OK, "nvme hooks", NULL, "nvme_setup_cmd and nvme_complete_rq, types from %s", p->hooks);
	else if (p->module_types)
		say(d, FAIL, "nvme hooks", "use Linux 6.1 or newer",
		    "the nvme_core module has no tracepoints nvme_setup_cmd and nvme_complete_rq");
	else if (sysfs_line(state, sizeof(state), "%s/module/nvme_core/initstate", opt_sysfs))
		say(d, FAIL, "nvme hooks", "load the driver (modprobe nvme), or use a kernel that has it",
		    "no NVMe driver: neither in the kernel nor loaded as a module");
	else
		say(d, FAIL, "nvme hooks", "use a kernel built with CONFIG_DEBUG_INFO_BTF_MODULES=y",
		    "the nvme_core module is loaded, but its types are missing");
	say(d, p->syscalls ? OK : WARN, "syscall hooks",
	    p->syscalls ? NULL : "use a kernel built with CONFIG_FTRACE_SYSCALLS=y",
	    p->syscalls ? "sys_enter and sys_exit" : "this kernel has no system call tracepoints");
	say(d, p->page_cache ? OK : WARN, "page fault hooks", p->page_cache ? NULL : "use Linux 5.17 or newer",
	    p->page_cache ? "page cache and fault counters; 'kvio record mmap -v' names those in use"
			  : "this kernel has no page cache tracepoints");
	say(d, p->io_uring ? OK : WARN, "io_uring hooks",
	    p->io_uring ? NULL : "use Linux 6.1 or newer with CONFIG_IO_URING=y",
	    p->io_uring ? "submission and completion" : "this kernel has no io_uring tracepoints");
	if (p->load_tracepoint == PREFLIGHT_NOT_TRIED)
		return;
	if (p->load_tracepoint)
		say(d, FAIL, "bpf", "run as root on the host, outside of a container",
		    "the kernel does not take programs on typed tracepoints (tp_btf): %s",
		    strerror(-p->load_tracepoint));
	else if (p->load_read_kernel && p->plain_loads)
		say(d, OK, "bpf", NULL,
		    "the kernel takes programs on typed tracepoints; helpers that read its memory are refused, and not needed");
	else if (p->load_read_kernel)
		say(d, FAIL, "bpf",
		    "boot with lockdown=integrity, or use Linux 6.2 or newer with the NVMe driver built in",
		    "the kernel takes programs on typed tracepoints, but none that reads its memory through helpers");
	else
		say(d, OK, "bpf", NULL, "the kernel takes programs on typed tracepoints that read its memory (tried)");
#else
	say(d, FAIL, "tracers", "build with libbpf and clang (make BPF=1)", "this kvio was built without tracers");
#endif
}

/* The mode as the kernel tells it, never guessed from what it refuses. */
static void check_lockdown(struct doctor *d)
{
	char line[128], *from, *to;

	if (sysfs_line(line, sizeof(line), "%s/kernel/security/lockdown", opt_sysfs)) {
		say(d, OK, "lockdown", NULL, "mode not readable (no securityfs)");
		return;
	}
	from = strchr(line, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to) {
		say(d, WARN, "lockdown", NULL, "cannot understand '%s'", line);
		return;
	}
	*to = '\0';
	if (strcmp(from + 1, "confidentiality") != 0)
		say(d, OK, "lockdown", NULL, "%s", from + 1);
#if KVIO_BPF
	else if (d->preflight.plain_loads)
		say(d, OK, "lockdown", NULL,
		    "confidentiality: the NVMe tracer of this kernel does without what it forbids");
#endif
	else
		say(d, FAIL, "lockdown",
		    "boot with lockdown=integrity, or use Linux 6.2 or newer with the NVMe driver built in",
		    "confidentiality: the kernel keeps BPF from reading its memory");
}

/* ---- rights and limits ---- */

/* A line "NAME:\tVALUE" of a file in /proc; the value, or false. */
static bool proc_value(const char *file, const char *name, char *out, size_t size)
{
	char path[SYSFS_PATH], line[256];
	size_t len = strlen(name);
	bool found = false;
	FILE *f;

	sysfs_path(path, "%s/%s", opt_proc, file);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && line[len] == ':') {
			snprintf(out, size, "%s", line + len + 1 + strspn(line + len + 1, " \t"));
			out[strcspn(out, "\n")] = '\0';
			found = true;
		}
	if (f)
		fclose(f);
	return found;
}

static bool capable(const struct doctor *d, int bit)
{
	return d->caps >> bit & 1;
}

static void check_capabilities(struct doctor *d)
{
	static const struct {
		int bit;
		const char *name;
	} wanted[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE" },
	};
	char text[64], have[128] = "", missing[128] = "";
	size_t i;

	if (!proc_value("self/status", "CapEff", text, sizeof(text)) || sscanf(text, "%" SCNx64, &d->caps) != 1) {
		say(d, WARN, "capabilities", NULL, "cannot read CapEff in %s/self/status", opt_proc);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		char *to = capable(d, wanted[i].bit) ? have : missing;

		snprintf(to + strlen(to), sizeof(have) - strlen(to), " %s", wanted[i].name);
	}
	if (!capable(d, CAP_SYS_ADMIN) && !(capable(d, CAP_BPF) && capable(d, CAP_PERFMON)))
		say(d, FAIL, "capabilities", "run with sudo, or give CAP_BPF and CAP_PERFMON", "recording lacks%s",
		    missing);
	else if (*missing)
		say(d, capable(d, CAP_SYS_ADMIN) ? OK : WARN, "capabilities",
		    capable(d, CAP_SYS_ADMIN) ? NULL : "run with sudo to identify devices and to issue passthrough",
		    "have%s, lack%s", have, missing);
	else
		say(d, OK, "capabilities", NULL, "have%s", have);
}

static void check_io_uring(struct doctor *d)
{
	struct ring ring;
	char text[16];
	int ret;

	if (!sysfs_line(text, sizeof(text), "%s/sys/kernel/io_uring_disabled", opt_proc) &&
	    (text[0] == '2' || (text[0] == '1' && !capable(d, CAP_SYS_ADMIN)))) {
		say(d, WARN, "io_uring", "sysctl kernel.io_uring_disabled=0", "kernel.io_uring_disabled is %c: %s",
		    text[0], text[0] == '2' ? "nobody may use it" : "only kernel.io_uring_group may use it");
		return;
	}
	if (!d->live) {
		say(d, OK, "io_uring", NULL, "not switched off (not tried)");
		return;
	}
	ret = ring_open(&ring, 8, 0);
	if (!ret) {
		say(d, OK, "io_uring", NULL, "a ring with 128-byte entries opens, as passthrough needs it");
		ring_close(&ring);
	} else if (ret == -EINVAL) {
		say(d, WARN, "io_uring", "use Linux 6.1 or newer", "no 128-byte entries: passthrough needs 5.19");
	} else {
		say(d, WARN, "io_uring", "look for a seccomp filter (containers), or kernel.io_uring_disabled",
		    "cannot open a ring: %s", strerror(-ret));
	}
}

static void check_memlock(struct doctor *d)
{
	u64 need = DEPTH * d->transfer;
	struct rlimit r;

	if (getrlimit(RLIMIT_MEMLOCK, &r))
		return;
	if (capable(d, CAP_IPC_LOCK) || r.rlim_cur == RLIM_INFINITY)
		say(d, OK, "memlock", NULL, "not limited%s", capable(d, CAP_IPC_LOCK) ? " (CAP_IPC_LOCK)" : "");
	else if (r.rlim_cur < need)
		say(d, WARN, "memlock", "raise it: ulimit -l, or LimitMEMLOCK= of the service",
		    "%" PRIu64 " bytes; registered buffers at depth %u of %" PRIu64 " bytes need %" PRIu64
		    ", programs then fall back to unregistered ones",
		    (u64)r.rlim_cur, DEPTH, d->transfer, need);
	else
		say(d, OK, "memlock", NULL, "%" PRIu64 " bytes, %" PRIu64 " needed", (u64)r.rlim_cur, need);
}

static void check_tracefs(struct doctor *d)
{
	static const char *const places[] = { "kernel/tracing", "kernel/debug/tracing" };
	char path[SYSFS_PATH];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		sysfs_path(path, "%s/%s/events", opt_sysfs, places[i]);
		if (access(path, F_OK))
			continue;
		say(d, OK, "tracefs", NULL, "mounted on %s/%s", opt_sysfs, places[i]);
		return;
	}
	say(d, WARN, "tracefs", "mount -t tracefs tracefs /sys/kernel/tracing",
	    "not mounted; recording works without, but other tools (perf, bpftrace) do not");
}

static void check_pid_namespace(struct doctor *d)
{
	char path[SYSFS_PATH], link[64] = "", pids[128];
	char *last;

	sysfs_path(path, "%s/self/ns/pid", opt_proc);
	if (readlink(path, link, sizeof(link) - 1) < 0) {
		say(d, WARN, "pid namespace", NULL, "cannot read %s", path);
		return;
	}
	if (!strcmp(link, FIRST_PID_NS)) {
		say(d, OK, "pid namespace", NULL, "the host's");
		return;
	}
	/* Outermost first; all levels only when this /proc is the host's. */
	if (proc_value("self/status", "NSpid", pids, sizeof(pids)) && (last = strrchr(pids, '\t'))) {
		pids[strcspn(pids, "\t")] = '\0';
		say(d, WARN, "pid namespace", "--pid takes the numbers of here; captures have both",
		    "a container: ns pid %s = host pid %s", last + 1, pids);
		return;
	}
	say(d, WARN, "pid namespace", "--pid takes the numbers of here; captures have both",
	    "a container: pids here are not those that the kernel reports");
}

static void check_huge_pages(struct doctor *d)
{
	char total[32], free_pages[32], size[32];

	if (proc_value("meminfo", "HugePages_Total", total, sizeof(total)) &&
	    proc_value("meminfo", "HugePages_Free", free_pages, sizeof(free_pages)) &&
	    proc_value("meminfo", "Hugepagesize", size, sizeof(size)))
		say(d, OK, "huge pages", NULL, "%s reserved, %s free, of %s", total, free_pages, size);
}

/* ---- devices ---- */

static void put_users(struct buf *b, const struct device_users *u, int error)
{
	size_t i;

	if (error)
		buf_printf(b, "; users not known (%s)", strerror(-error));
	else if (!u->n)
		buf_str(b, u->signature_error ? "; no use seen" : "; not in use");
	else
		buf_lit(b, "; used:");
	for (i = 0; i < u->n; i++)
		buf_printf(b, "%s %s %s%s%s", i ? "," : "", u->use[i].who, device_use_word(u->use[i].kind),
			   u->use[i].what[0] ? " " : "", u->use[i].what);
	if (u->root)
		buf_lit(b, " (the system runs from it)");
	if (!error && u->signature_error)
		buf_printf(b, "; signatures not checked (%s)", strerror(-u->signature_error));
}

static void check_device(struct doctor *d, size_t i)
{
	const struct nvme_ns *ns = &d->ns[i];
	char capacity[32], largest[32];
	enum level level = OK;
	const char *bound, *remedy = NULL;
	struct buf b = {};
	u64 limit;

	limit = nvme_max_transfer(ns, PAGE, &bound);
	buf_printf(&b, "%s, %s", ns->generic[0] ? ns->generic : "no char node", ns->model[0] ? ns->model : "no model");
	if (ns->csi == NVME_CSI_KV)
		buf_lit(&b, ", key-value commands");
	else if (ns->csi == NVME_CSI_ZNS)
		buf_lit(&b, ", zoned");
	if (ns->lba_bytes)
		buf_printf(&b, ", %u-byte blocks", ns->lba_bytes);
	if (ns->ms)
		buf_printf(&b, " + %u metadata", ns->ms);
	if (ns->head)
		buf_printf(&b, ", multipath of %u", ns->n_paths);
	buf_printf(&b, ", %s", human_bytes(capacity, sizeof(capacity), ns->capacity));
	if (limit)
		buf_printf(&b, "; largest command %s (%s)", human_bytes(largest, sizeof(largest), limit), bound);
	buf_printf(&b, ", %u queues of %u", ns->hw_queues, ns->nr_requests);
	put_users(&b, &d->found[i].users, d->found[i].users_error);
	if (!ns->generic[0]) {
		level = WARN;
		remedy = "use Linux 5.13 or newer: passthrough needs the char node";
	} else if (d->live && d->found[i].identify_error) {
		buf_printf(&b, "; cannot identify it (%s), so its MDTS is not known",
			   strerror(-d->found[i].identify_error));
		level = WARN;
		remedy = "run with sudo";
	} else if (!strcmp(bound, "max_segments")) {
		remedy = "larger commands fail with EINVAL unless the buffer is on huge pages";
	}
	say(d, level, ns->name, remedy, "%.*s", (int)b.n, b.p);
	buf_free(&b);
}

static int read_devices(struct doctor *d)
{
	const struct device_roots roots = { opt_sysfs, opt_proc, opt_dev };
	char path[SYSFS_PATH];
	size_t i;
	int ret;

	d->transfer = TRANSFER;
	ret = nvme_list(opt_sysfs, &d->ns, &d->n_ns);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	d->found = calloc(d->n_ns + 1, sizeof(*d->found));
	if (!d->found)
		return -ENOMEM;
	for (i = 0; i < d->n_ns; i++) {
		struct nvme_ns *ns = &d->ns[i];
		int fd;

		d->found[i].users_error = device_users(&roots, ns->name, &d->found[i].users);
		sysfs_path(path, "%s/%s", opt_dev, ns->generic[0] ? ns->generic : ns->name);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		d->found[i].identify_error = fd < 0 ? -errno : nvme_identify(fd, ns);
		if (fd >= 0)
			close(fd);
		d->transfer = MAX(d->transfer, nvme_max_transfer(ns, PAGE, NULL));
	}
	return 0;
}

static void check_devices(struct doctor *d)
{
	size_t i;

	if (!d->n_ns)
		say(d, WARN, "devices", "vm/run has emulated ones", "no NVMe namespace on this machine");
	for (i = 0; i < d->n_ns; i++)
		check_device(d, i);
}

/* ---- other programs ---- */

static void check_program(struct doctor *d, const char *what, const char *command, const char *remedy)
{
	char shell[128], line[128] = "";
	FILE *f;

	snprintf(shell, sizeof(shell), "%s --version 2>/dev/null", command);
	f = popen(shell, "re");
	if (!f || !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		pclose(f);
	line[strcspn(line, "\n")] = '\0';
	if (line[0])
		say(d, OK, what, NULL, "%s", line);
	else
		say(d, WARN, what, remedy, "%s is not installed", command);
}

static void check_programs(struct doctor *d)
{
	struct utsname u;
	bool arm;

	uname(&u);
	arm = !strcmp(u.machine, "aarch64");
	check_program(d, "fio", "fio", "apt install fio (replay and bench use it)");
	check_program(d, "qemu", arm ? "qemu-system-aarch64" : "qemu-system-x86_64",
		      arm ? "apt install qemu-system-arm (for vm/run)" : "apt install qemu-system-x86 (for vm/run)");
}

/* ---- output ---- */

static enum level worst(const struct doctor *d)
{
	enum level level = OK;
	size_t i;

	for (i = 0; i < d->n; i++)
		level = MAX(level, d->check[i].level);
	return level;
}

static void print_text(const struct doctor *d)
{
	static const char *const verdict[] = { "all is well", "recording works; see the lines with warn",
					       "not all can be recorded here, see the lines with FAIL" };
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct check *c = &d->check[i];

		printf("%-4s  %s: %s%s%s\n", level_words[c->level], c->what, c->finding, c->remedy ? "; " : "",
		       c->remedy ? c->remedy : "");
	}
	note("%s", verdict[worst(d)]);
}

static void put_str(struct buf *b, const char *name, const char *s)
{
	buf_printf(b, ",\"%s\":", name);
	if (s)
		buf_json(b, s, strlen(s));
	else
		buf_lit(b, "null");
}

static void print_json(const struct doctor *d)
{
	struct buf b = {};
	size_t i;

	buf_printf(&b, "{\"schema\":\"kvio_doctor\",\"schema_version\":1,\"status\":\"%s\",\"checks\":[",
		   worst(d) == FAIL ? "fail" : level_words[worst(d)]);
	for (i = 0; i < d->n; i++) {
		const struct check *c = &d->check[i];

		buf_printf(&b, "%s{\"level\":\"%s\"", i ? "," : "", c->level == FAIL ? "fail" : level_words[c->level]);
		put_str(&b, "what", c->what);
		put_str(&b, "finding", c->finding);
		put_str(&b, "remedy", c->remedy);
		buf_byte(&b, '}');
	}
	buf_lit(&b, "],\"devices\":[");
	for (i = 0; i < d->n_ns; i++) {
		buf_str(&b, i ? "," : "");
		device_json(&b, &d->ns[i], d->found[i].users_error ? NULL : &d->found[i].users);
	}
	buf_lit(&b, "]}\n");
	if (b.failed)
		bug("out of memory");
	fwrite(b.p, 1, b.n, stdout);
	buf_free(&b);
}

static int run(int argc, char **argv)
{
	static void (*const checks[])(struct doctor *) = {
		check_kernel,  check_types,	    check_lockdown,   check_capabilities, check_io_uring, check_memlock,
		check_tracefs, check_pid_namespace, check_huge_pages, check_devices,	  check_programs,
	};
	struct doctor d = {};
	size_t i;
	int ret;

	opt_parse(&cmd_doctor, &argc, argv, NULL);
	if (argc > 1)
		die_usage("unexpected operand '%s'", argv[1]);
	d.live = !strcmp(opt_sysfs, "/sys") && !strcmp(opt_proc, "/proc");
	ret = read_devices(&d);
	if (ret) {
		err(ret, "cannot list the devices in %s", opt_sysfs);
		ret = EXIT_FAILED;
		goto out;
	}
	for (i = 0; i < ARRAY_SIZE(checks); i++)
		checks[i](&d);
	if (opt_json)
		print_json(&d);
	else
		print_text(&d);
	ret = worst(&d) == FAIL ? EXIT_INCOMPLETE : EXIT_OK;
out:
	for (i = 0; i < d.n; i++)
		free(d.check[i].finding);
	for (i = 0; d.found && i < d.n_ns; i++)
		device_users_free(&d.found[i].users);
	free(d.check);
	free(d.found);
	nvme_list_free(d.ns, d.n_ns);
	return ret;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.summary = "check what works on this machine and what to do about the rest",
	.usage = "[--json]",
	.description =
		"Checks the kernel, its types (BTF), lockdown, rights, io_uring, limits and every NVMe namespace, one "
		"line each: ok, warn or FAIL, what was found, and a remedy. Nothing is changed, recorded or written; "
		"BPF programs are loaded to see that the kernel takes them, and never attached.\n\n"
		"Exit status: 0 when recording works (warnings or not), 3 when something that it needs is missing.",
	.examples = "sudo kvio doctor\n    check everything\n"
		    "kvio doctor --json\n    the same as a JSON object, with all that is known of each device",
	.opts = opts,
	.run = run,
};
