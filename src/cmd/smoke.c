// SPDX-License-Identifier: Apache-2.0
/* A known read workload through NVMe passthrough: what the tracers are proved with. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/issue.h"
#include "io/device.h"
#include "io/readload.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "lib/dist.h"
#include "lib/err.h"
#include "lib/hash.h"
#include "lib/str.h"

#define PAGE	  4096u
#define NOT_GIVEN UINT64_MAX

static const char *opt_dev, *opt_sem, *opt_fault;
static u64 opt_count = NOT_GIVEN, opt_objects = NOT_GIVEN, opt_per_object = 8, opt_trace_base = 7000;
static u64 opt_qd = 8, opt_len = 4096, opt_lba;
static u64 opt_offset, opt_seed = 1, opt_timeout = 30 * NSEC_PER_SEC, opt_pause;
static bool opt_json, opt_random, opt_over_limit;

static const struct opt opts[] = {
	OPT_STR(0, "dev", &opt_dev, "NODE", "the namespace to read, e.g. /dev/ng0n1"),
	OPT_U64(0, "count", &opt_count, "N", "commands to issue (default 256)"),
	OPT_U64(0, "objects", &opt_objects, "N", "instead of --count: whole objects to read"),
	OPT_U64(0, "qd", &opt_qd, "N", "commands in flight (default 8; 1 issues and awaits each in turn)"),
	OPT_SIZE(0, "len", &opt_len, "SIZE", "bytes of one command (default 4096)"),
	OPT_U64(0, "cmds-per-obj", &opt_per_object, "N", "commands of one object (default 8)"),
	OPT_U64(0, "trace-base", &opt_trace_base, "ID", "trace id of the first object (default 7000)"),
	OPT_SIZE(0, "lba-size", &opt_lba, "SIZE", "checked against the block size of the device, which is what counts"),
	OPT_SIZE(0, "offset", &opt_offset, "SIZE", "read from this byte of the device on (default 0)"),
	OPT_FLAG(0, "random", &opt_random, "objects at random places instead of one after the other"),
	OPT_U64(0, "seed", &opt_seed, "N", "of --random (default 1): the same seed, the same places"),
	OPT_DURATION(0, "pause", &opt_pause, "TIME", "await each object, and wait this long before the next"),
	OPT_DURATION(0, "op-timeout", &opt_timeout, "TIME", "give up when a command takes longer (default 30s)"),
	OPT_STR(0, "sem", &opt_sem, "FILE", "write a semantic trace of the objects (schema 2)"),
	OPT_FLAG(0, "json", &opt_json, "print the result as a JSON object"),
	OPT_GROUP("Provoking faults, to test what watches"),
	OPT_FLAG(0, "over-limit", &opt_over_limit, "issue commands above the transfer limit: the kernel refuses them"),
	OPT_CHOICE(0, "fault", &opt_fault, "past-end|bad-opcode|bad-length|cq-overflow",
		   "make every command fail at the device; cq-overflow: 32 good commands into a completion queue of "
		   "--qd entries that nobody empties before the end"),
	OPT_END,
};

static enum readload_fault fault(void)
{
	if (!opt_fault)
		return FAULT_NONE;
	if (!strcmp(opt_fault, "past-end"))
		return FAULT_PAST_END;
	if (!strcmp(opt_fault, "bad-opcode"))
		return FAULT_BAD_OPCODE;
	if (!strcmp(opt_fault, "bad-length"))
		return FAULT_BAD_LENGTH;
	return FAULT_CQ_OVERFLOW;
}

/* ---- the semantic trace ---- */

/* Seconds with all nine decimals: a double would lose the last ones. */
static void put_seconds(struct buf *b, const char *name, u64 ns)
{
	buf_printf(b, ",\"%s\":%" PRIu64 ".%09u", name, (u64)(ns / NSEC_PER_SEC), (u32)(ns % NSEC_PER_SEC));
}

static void error_text(s32 res, char *out, size_t size)
{
	const char *name = ring_status_name(res);

	if (res < 0)
		snprintf(out, size, "refused before the device: %s", strerror(-res));
	else
		snprintf(out, size, "NVMe status %d (SCT %u SC 0x%02x%s%s%s)", res, ring_status_sct(res),
			 ring_status_sc(res), *name ? ", " : "", name, ring_status_dnr(res) ? ", do not retry" : "");
}

static void put_meta(struct buf *b, const struct readload *l, const char *node, u32 instance,
		     const struct clock_anchor *anchor)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	buf_lit(b, "{\"event_type\":\"kvio_meta\",\"kvio_schema\":2,\"emitter\":\"kvio smoke\",\"hostname\":");
	buf_json(b, host, strlen(host));
	buf_printf(b, ",\"pid\":%d,\"instance\":\"%08x\",\"device_path\":", getpid(), instance);
	buf_json(b, node, strlen(node));
	/* Objects of this workload have no header: a slot begins with its payload. */
	buf_printf(b,
		   ",\"capacity_bytes\":%" PRIu64 ",\"slot_bytes\":%" PRIu64
		   ",\"block_align\":%u,\"header_bytes\":0,\"max_data_transfer_size\":%" PRIu64
		   ",\"io_engine\":\"io_uring\",\"use_uring_cmd\":true",
		   l->plan.capacity, l->object_bytes, l->plan.lba_bytes, l->plan.len);
	put_seconds(b, "ts_monotonic", anchor->monotonic_ns);
	put_seconds(b, "ts_realtime", anchor->realtime_ns);
	buf_lit(b, "}\n");
}

static void put_object(struct buf *b, const struct readload *l, u64 i, u32 instance)
{
	const struct readload_object *o = &l->object[i];
	u64 n = readload_commands(l, i), at = readload_offset(l, i);
	char key[96], text[128];

	/* model@rank@group@hash; rank = world 1, rank 0, local world 1, local rank 0.  One place, one hash. */
	snprintf(key, sizeof(key), "kvio%%2Fsmoke@0x01000100@0@%016" PRIx64, hash_u64(at + 1));
	buf_printf(b,
		   "{\"trace_id\":%" PRIu64 ",\"op\":\"load\",\"key\":\"%s\",\"object_id\":\"%s\",\"part\":\"kv\","
		   "\"bytes\":%" PRIu64 ",\"slot_offset\":%" PRIu64,
		   l->plan.trace_base + i, key, key, n * l->plan.len, at);
	put_seconds(b, "ts_start", o->start_ns);
	put_seconds(b, "ts", o->done ? o->end_ns : o->start_ns);
	buf_printf(b, ",\"pid\":%d,\"instance\":\"%08x\"", getpid(), instance);
	if (o->failed)
		error_text(o->first_error, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%u of %" PRIu64 " commands done", o->done, n);
	if (o->failed || o->done < n) {
		buf_lit(b, ",\"error\":");
		buf_json(b, text, strlen(text));
	}
	buf_lit(b, "}\n");
}

static int flush(int fd, struct buf *b)
{
	size_t at = 0;

	if (b->failed)
		return -ENOMEM;
	while (at < b->n) {
		ssize_t n = write(fd, b->p + at, b->n - at);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : (size_t)n;
	}
	buf_reset(b);
	return 0;
}

static int write_sem(int fd, const struct readload *l, const char *node, const struct clock_anchor *anchor)
{
	u32 instance = (u32)hash_u64((u64)getpid() << 32 ^ l->first_ns);
	struct buf b = {};
	int ret = 0;
	u64 i;

	put_meta(&b, l, node, instance, anchor);
	for (i = 0; i < l->n_objects && l->object[i].start_ns && !ret; i++) {
		put_object(&b, l, i, instance);
		if (b.n >= 1 << 16)
			ret = flush(fd, &b);
	}
	if (!ret)
		ret = flush(fd, &b);
	buf_free(&b);
	return ret;
}

/* ---- the result ---- */

static void put_u64(struct buf *b, const char *name, u64 v)
{
	buf_printf(b, ",\"%s\":", name);
	buf_u64(b, v);
}

static void put_errors(struct buf *b, const struct readload *l)
{
	char text[128];
	u32 i;

	buf_lit(b, ",\"errors\":[");
	for (i = 0; i < l->n_errors; i++) {
		error_text(l->error[i].res, text, sizeof(text));
		buf_printf(b, "%s{\"class\":\"%s\",\"code\":%d,\"count\":%" PRIu64 ",\"text\":", i ? "," : "",
			   l->error[i].res < 0 ? "refused" : "nvme", l->error[i].res, l->error[i].n);
		buf_json(b, text, strlen(text));
		buf_byte(b, '}');
	}
	buf_byte(b, ']');
}

static void print_json(const struct readload *l, const struct dist *d, const char *node, u64 elapsed)
{
	const struct readload_plan *p = &l->plan;
	struct buf b = {};

	buf_lit(&b, "{\"schema\":\"kvio_smoke\",\"schema_version\":1,\"device\":");
	buf_json(&b, node, strlen(node));
	put_u64(&b, "nsid", p->nsid);
	put_u64(&b, "lba_bytes", p->lba_bytes);
	put_u64(&b, "count", p->count);
	put_u64(&b, "qd", p->qd);
	put_u64(&b, "len_bytes", p->len);
	put_u64(&b, "cmds_per_obj", p->per_object);
	put_u64(&b, "objects", l->n_objects);
	put_u64(&b, "trace_id_first", p->trace_base);
	put_u64(&b, "trace_id_last", p->trace_base + l->n_objects - 1);
	buf_printf(&b, ",\"complete\":%s", l->completed == p->count ? "true" : "false");
	put_u64(&b, "issued", l->issued);
	put_u64(&b, "completed", l->completed);
	put_u64(&b, "ok", l->ok);
	put_u64(&b, "refused", l->refused);
	put_u64(&b, "failed", l->failed);
	put_u64(&b, "ok_bytes", l->ok * p->len);
	put_u64(&b, "elapsed_ns", elapsed);
	if (elapsed)
		buf_printf(&b, ",\"bytes_per_second\":%.0f", (double)(l->ok * p->len) * 1e9 / (double)elapsed);
	else
		buf_lit(&b, ",\"bytes_per_second\":null");
	if (d->n) {
		buf_lit(&b, ",\"latency_ns\":{\"method\":\"" PERCENTILE_METHOD "\"");
		put_u64(&b, "n", d->n);
		put_u64(&b, "min", d->min);
		put_u64(&b, "p50", d->p50);
		put_u64(&b, "p95", d->p95);
		put_u64(&b, "p99", d->p99);
		put_u64(&b, "max", d->max);
		buf_byte(&b, '}');
	} else {
		buf_lit(&b, ",\"latency_ns\":null");
	}
	if (p->fault == FAULT_CQ_OVERFLOW)
		buf_printf(&b, ",\"cq_overflowed\":%s", l->overflowed ? "true" : "false");
	put_errors(&b, l);
	buf_lit(&b, "}\n");
	if (b.failed)
		err(-ENOMEM, "cannot print the result");
	else
		fwrite(b.p, 1, b.n, stdout);
	buf_free(&b);
}

static int print_text(const struct readload *l, const struct dist *d, const char *node, u64 elapsed)
{
	const struct readload_plan *p = &l->plan;
	char text[128];
	u32 i;

	note("%" PRIu64 " reads of %" PRIu64 " bytes from %s (%u-byte blocks) at depth %u: %" PRIu64 " ok, %" PRIu64
	     " refused, %" PRIu64 " failed",
	     l->completed, p->len, node, p->lba_bytes, p->qd, l->ok, l->refused, l->failed);
	if (d->n)
		note("%.1f MB/s, latency p50 %.1f us, p99 %.1f us, max %.1f us",
		     elapsed ? (double)(l->ok * p->len) * 1e3 / (double)elapsed : 0.0, (double)d->p50 / 1e3,
		     (double)d->p99 / 1e3, (double)d->max / 1e3);
	for (i = 0; i < l->n_errors; i++) {
		error_text(l->error[i].res, text, sizeof(text));
		err(0, "%" PRIu64 " commands %s%s", l->error[i].n, l->error[i].res < 0 ? "" : "ended with ", text);
	}
	if (p->fault == FAULT_CQ_OVERFLOW && l->overflowed)
		note("the completion queue of %u entries overflowed: %" PRIu64 " completions did not fit", p->qd,
		     l->issued - p->qd);
	else if (p->fault == FAULT_CQ_OVERFLOW)
		return err(-1, "the completion queue did not overflow");
	return l->refused || l->failed ? -1 : 0;
}

/* Says all that happened, and what it means for the exit status. */
static int report(struct readload *l, int run_ret, const char *node)
{
	u64 elapsed = l->last_ns > l->first_ns ? l->last_ns - l->first_ns : 0;
	bool complete = l->completed == l->plan.count;
	struct dist d;
	int ret;

	ret = dist_take(&d, l->latency_ns, l->ok);
	if (ret) {
		err(ret, "cannot sort the latencies");
		return EXIT_FAILED;
	}
	ret = print_text(l, &d, node, elapsed) ? EXIT_FAILED : EXIT_OK;
	if (run_ret == -ETIME) {
		err(0, "command %" PRIu64 " (trace id %" PRIu64 ") is not done after %.1f s: the result is partial",
		    l->wedged_command, l->plan.trace_base + l->wedged_command / l->plan.per_object,
		    (double)l->plan.timeout_ns / 1e9);
		ret = EXIT_INCOMPLETE;
	} else if (run_ret) {
		err(run_ret, "io_uring failed after %" PRIu64 " of %" PRIu64 " commands", l->completed, l->plan.count);
		ret = EXIT_FAILED;
	} else if (!complete) {
		warn("stopped after %" PRIu64 " of %" PRIu64 " commands", l->completed, l->plan.count);
		ret = ret ? ret : EXIT_INCOMPLETE;
	}
	if (opt_json)
		print_json(l, &d, node, elapsed);
	return ret;
}

/* ---- checks and set-up ---- */

/* What is wrong whatever the device is.  Returns the number of commands. */
static u64 check_options(void)
{
	u64 count = fault() == FAULT_CQ_OVERFLOW ? 32 : 256;

	if (!opt_dev)
		die_usage("--dev is missing: give the namespace to read, e.g. --dev /dev/ng0n1");
	if (opt_count != NOT_GIVEN && opt_objects != NOT_GIVEN)
		die_usage("give --count or --objects, not both");
	if (opt_count != NOT_GIVEN)
		count = opt_count;
	if (!opt_qd || opt_qd > READLOAD_MAX_QD)
		die_usage("--qd must be 1 to %u", READLOAD_MAX_QD);
	if (!opt_per_object || opt_per_object > READLOAD_MAX_COUNT)
		die_usage("--cmds-per-obj must be 1 to %u", READLOAD_MAX_COUNT);
	if (fault() == FAULT_CQ_OVERFLOW && (opt_qd & (opt_qd - 1) || opt_pause))
		die_usage("--fault cq-overflow takes a power of two as --qd, and no --pause");
	if (!opt_timeout)
		die_usage("--op-timeout must not be 0");
	if (!opt_len)
		die_usage("--len must not be 0");
	if (opt_objects != NOT_GIVEN && __builtin_mul_overflow(opt_objects, opt_per_object, &count))
		count = UINT64_MAX;
	if (!count || count > READLOAD_MAX_COUNT)
		die_usage("a run has 1 to %u commands", READLOAD_MAX_COUNT);
	if (!opt_trace_base || opt_trace_base > UINT32_MAX - (count - 1) / opt_per_object)
		die_usage("--trace-base: all trace ids must be 1 to %u", UINT32_MAX);
	return count;
}

/* Opens the node and learns its geometry.  0 or an exit status. */
static int open_device(const char *node, int *fd, struct nvme_ns *ns)
{
	struct nvme_ns *list = NULL;
	const struct nvme_ns *found;
	size_t n = 0;
	int ret;

	*fd = open(node, O_RDONLY | O_CLOEXEC);
	if (*fd < 0) {
		bool rights = errno == EACCES || errno == EPERM;

		err(-errno, "cannot open %s%s", node, rights ? " (it takes root, or read permission on the node)" : "");
		return EXIT_FAILED;
	}
	nvme_list("/sys", &list, &n);
	found = nvme_find(list, n, node, NULL);
	*ns = found ? *found : (struct nvme_ns){ .csi = NVME_CSI_UNKNOWN };
	/* The list goes, and with it the names of its paths. */
	ns->path = NULL;
	ns->n_paths = 0;
	nvme_list_free(list, n);
	ret = nvme_identify(*fd, ns);
	if (ret == -ENOTTY)
		die_usage("%s is not an NVMe namespace: give its char node, e.g. /dev/ng0n1", opt_dev);
	if ((ret == -EACCES || ret == -EPERM) && ns->lba_bytes && ns->nsid && ns->ms_known) {
		warn("%s does not let us identify it: geometry from sysfs, its MDTS is not known", node);
	} else if (ret) {
		err(ret, "cannot identify %s", node);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* The options against the geometry, before the first command.  0 or an exit status. */
static int check_geometry(const char *node, const struct nvme_ns *ns)
{
	const char *bound;
	u64 limit = nvme_max_transfer(ns, PAGE, &bound);

	if (ns->csi == NVME_CSI_KV || !ns->lba_bytes) {
		err(0, "%s has no blocks to read (command set %u)", node, ns->csi);
		return EXIT_FAILED;
	}
	/* A read without a metadata buffer would have a real drive write the metadata to address 0. */
	if (ns->ms) {
		err(0, "%s has %u metadata bytes a block: this command reads formats without metadata only", node,
		    ns->ms);
		return EXIT_FAILED;
	}
	if (opt_lba && opt_lba != ns->lba_bytes)
		die_usage("--lba-size %" PRIu64 ", but %s has blocks of %u bytes", opt_lba, node, ns->lba_bytes);
	if (opt_len % ns->lba_bytes || opt_len / ns->lba_bytes > 65536)
		die_usage("--len %" PRIu64 " is not 1 to 65536 blocks of %u bytes", opt_len, ns->lba_bytes);
	if (opt_offset % ns->lba_bytes)
		die_usage("--offset %" PRIu64 " is not a multiple of the %u-byte block", opt_offset, ns->lba_bytes);
	/* It declares more than the buffer holds: nothing to try on a drive that might transfer it. */
	if (fault() == FAULT_BAD_LENGTH &&
	    (!str_starts(ns->model, "QEMU ") || !ns->mdts_bytes || ns->mdts_bytes / ns->lba_bytes > 65535)) {
		err(0, "--fault bad-length is for emulated drives with an MDTS: %s (%s) is none", node, ns->model);
		return EXIT_FAILED;
	}
	if (limit && opt_len > limit && !opt_over_limit) {
		err(0,
		    "--len %" PRIu64 " is over the transfer limit of %s, %" PRIu64
		    " bytes (bound by %s); --over-limit issues it all the same",
		    opt_len, node, limit, bound);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* The file names keys and places on a device: for its owner only, also when it was there before. */
static int open_sem(void)
{
	int fd = open(opt_sem, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ret = fd < 0 || fchmod(fd, 0600) ? -errno : 0;

	if (!ret)
		return fd;
	if (fd >= 0)
		close(fd);
	return err(ret, "cannot write %s", opt_sem);
}

static int run_load(struct readload *l, const char *node, int sem_fd)
{
	struct clock_anchor anchor = clock_anchor_now();
	int ret, exit_code;

	ret = readload_open(l);
	if (ret) {
		if (ret == -EINVAL)
			err(0, "this kernel's io_uring has no 128-byte entries: passthrough needs Linux 5.19");
		else if (ret == -EPERM)
			err(0, "io_uring is switched off here (kernel.io_uring_disabled, or a seccomp filter)");
		else
			err(ret, "cannot set up %u buffers of %" PRIu64 " bytes and a ring", l->plan.qd, l->plan.len);
		return EXIT_FAILED;
	}
	/* The first signal stops and reports, a second one ends the process. */
	issue_catch_signals();
	ret = readload_run(l, &issue_stop);
	exit_code = report(l, ret, node);
	if (sem_fd < 0)
		return exit_code;
	ret = write_sem(sem_fd, l, node, &anchor);
	if (ret) {
		err(ret, "cannot write %s", opt_sem);
		return EXIT_FAILED;
	}
	return exit_code;
}

static int run(int argc, char **argv)
{
	char node[PATH_MAX], why[PATH_MAX + 128];
	struct readload_plan plan = {};
	struct readload load = {};
	int fd = -1, sem_fd = -1, ret;
	struct nvme_ns ns;

	opt_parse(&cmd_smoke, &argc, argv, NULL);
	if (argc > 1)
		die_usage("unexpected operand '%s'", argv[1]);
	plan.count = check_options();
	if (nvme_generic_node(opt_dev, node, sizeof(node), why, sizeof(why)))
		die_usage("%s", why);
	ret = open_device(node, &fd, &ns);
	if (!ret)
		ret = check_geometry(node, &ns);
	if (ret)
		goto out;

	plan = (struct readload_plan){
		.fd = fd,
		.nsid = ns.nsid,
		.lba_bytes = ns.lba_bytes,
		.capacity = ns.capacity,
		.count = plan.count,
		.len = opt_len,
		.per_object = opt_per_object,
		.qd = (u32)opt_qd,
		.trace_base = (u32)opt_trace_base,
		.offset = opt_offset,
		.random = opt_random,
		.seed = opt_seed,
		.timeout_ns = opt_timeout,
		.pause_ns = opt_pause,
		.fault = fault(),
		.mdts_bytes = ns.mdts_bytes,
	};
	readload_plan(&load, &plan);
	if (!load.n_places)
		die_usage("an object of %" PRIu64 " bytes does not fit behind offset %" PRIu64 " of %s (%" PRIu64
			  " bytes)",
			  load.object_bytes, opt_offset, node, ns.capacity);
	if (opt_sem) {
		sem_fd = open_sem();
		if (sem_fd < 0) {
			ret = EXIT_FAILED;
			goto out;
		}
	}
	ret = run_load(&load, node, sem_fd);
out:
	if (sem_fd >= 0 && close(sem_fd)) {
		err(-errno, "cannot write %s", opt_sem);
		ret = EXIT_FAILED;
	}
	readload_close(&load);
	if (fd >= 0)
		close(fd);
	return ret;
}

const struct cmd cmd_smoke = {
	.name = "smoke",
	.summary = "read a namespace by NVMe passthrough, in a known pattern",
	.usage = "--dev /dev/ngXnY [OPTIONS]",
	.description =
		"Issues NVMe reads through io_uring passthrough in a pattern that is known in advance, so that a "
		"recorder's counts can be proved. Command n belongs to object k = n / cmds-per-obj and carries the "
		"user_data (trace-base + k) << 32 | n.\n\n"
		"It only reads. The block size is the device's own. Reads stay inside the namespace and wrap at its "
		"end. Objects have no header: a slot begins with its payload.\n\n"
		"Exit status: 0 all commands succeeded, 1 some failed, 2 usage, 3 stopped early or a command hung.",
	.examples = "kvio smoke --dev /dev/ng0n1 --count 256 --qd 1\n"
		    "    256 reads of 4 KiB, one after the other\n"
		    "kvio smoke --dev /dev/ng0n1 --objects 64 --qd 16 --len 128k --sem kv.jsonl\n"
		    "    64 objects of 8 x 128 KiB, with their semantic trace\n"
		    "kvio smoke --dev /dev/ng0n1 --len 256k --over-limit --count 16\n"
		    "    16 commands that a drive with an MDTS of 128 KiB never sees",
	.opts = opts,
	.run = run,
};
