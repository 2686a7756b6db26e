// SPDX-License-Identifier: Apache-2.0
/*
 * What the record path sustains: synthetic commands in the ring -> recorder ->
 * file, one thread, in events a second.  Peers in the same run: the raw records
 * through fwrite (nothing can be much faster) and a fprintf for each of the two
 * lines (how such tracers are usually written).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/err.h"
#include "trace/recorder.h"
#include "trace/ring.h"

#include "bench/fill.skel.h"

#define ROUNDS 25
#define BATCH  200000u /* fits a ring of 16 MiB */

static struct fill_bpf *bpf;
static FILE *peer;

static int to_fwrite(void *arg, const void *record, size_t size)
{
	(void)arg;
	return fwrite(record, 1, size, peer) == size ? 0 : -EIO;
}

static int to_fprintf(void *arg, const void *record, size_t size)
{
	const struct ev_nvme *c = record;
	int ret;

	(void)arg;
	(void)size;
	ret = fprintf(peer,
		      "{\"event_type\":\"nvme_cmd\",\"pid\":%u,\"tid\":%u,\"user_data\":%" PRIu64
		      ",\"nvme_opcode\":%u,\"op_name\":\"%s\",\"nsid\":%u,\"slba\":%" PRIu64
		      ",\"nlb\":%u,\"bytes\":%u,\"data_len\":%u,\"multipath\":%d,\"cmd_op\":\"0x%x\",\"rdev\":%u,"
		      "\"comm\":\"%s\",\"ts\":%" PRIu64 "}\n",
		      c->tid, c->tid, c->user_data, c->opcode, "read", c->nsid, c->slba, c->nlb + 1u, c->bytes,
		      c->bytes, 0, 0xc0484e80u, c->dev, "worker", c->ts_ns);
	if (ret > 0)
		ret = fprintf(peer,
			      "{\"event_type\":\"nvme_cmp\",\"user_data\":%" PRIu64 ",\"err\":%u,\"lat_ns\":%" PRIu64
			      ",\"hwq\":%u,\"cid\":%u,\"ts\":%" PRIu64 "}\n",
			      c->user_data, 0u, c->lat_ns, c->hwq, c->cid, c->ts_ns + c->lat_ns);
	return ret > 0 ? 0 : -EIO;
}

/* Fills and empties the ring ROUNDS times; only the emptying is timed.  Events a second. */
static double run(struct rings *rings)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	u64 ns = 0, n = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		u64 before = bpf->bss->made, start;

		bpf->bss->want = BATCH;
		if (bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.fill), &opts))
			return 0;
		n += bpf->bss->made - before;
		start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		if (rings_consume(rings, 0, UINT32_MAX) < 0)
			return 0;
		ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	}
	return (double)n * 1e9 / (double)ns;
}

static double run_peer(int (*fn)(void *, const void *, size_t), const char *path)
{
	struct rings *rings = NULL;
	double rate = 0;

	peer = fopen(path, "w");
	if (peer && !rings_open(&rings, bpf_map__fd(bpf->maps.rings), 16 << 20, fn, NULL))
		rate = run(rings);
	rings_close(rings);
	if (peer)
		fclose(peer);
	unlink(path);
	return rate;
}

static double run_recorder(const char *path, u64 *bytes_each)
{
	struct recorder *r = calloc(1, sizeof(*r));
	struct ev_task task = { .kind = EV_TASK, .tid = 4242, .pid = 4242, .comm = "worker" };
	struct ev_disk disk = { .kind = EV_DISK, .dev = 259 << 20 | 1, .nsid = 1, .lba_bytes = 4096, .name = "nvme0n1" };
	json_t *meta = json_pack("{s:s}", "event_type", "capture_meta");
	struct rings *rings = NULL;
	u64 before = bpf->bss->made;
	struct stat st;
	double rate = 0;

	if (r && !cap_create(&r->writer, path, cap_format_of(path), meta)) {
		for (; task.tid < 4246; task.tid++)
			recorder_event(r, &task, sizeof(task));
		recorder_event(r, &disk, sizeof(disk));
		if (!rings_open(&rings, bpf_map__fd(bpf->maps.rings), 16 << 20, recorder_event, r))
			rate = run(rings);
		rings_close(rings);
		if (cap_close(r->writer, meta) || r->error || r->totals.count[EV_NVME] != bpf->bss->made - before)
			rate = 0;
		names_free(&r->names);
	}
	if (!stat(path, &st))
		*bytes_each = (u64)st.st_size * 10 / (bpf->bss->made - before);
	json_decref(meta);
	free(r);
	unlink(path);
	return rate;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "x.kvt", "x.jsonl", "x.jsonl.zst" };
	const char *dir = argc > 1 ? argv[1] : "/tmp";
	double rate, raw, text;
	char path[512];
	u64 each = 0;
	size_t i;

	err_set_name("bench record_path");
	bpf = fill_bpf__open_and_load();
	if (!bpf) {
		err(-errno, "cannot load the program that fills the ring (root?)");
		return 77;
	}
	snprintf(path, sizeof(path), "%s/kvio-bench-%d.raw", dir, (int)getpid());
	raw = run_peer(to_fwrite, path);
	text = run_peer(to_fprintf, path);
	printf("record path, one core, %d x %u events of 64 bytes, to %s\n", ROUNDS, BATCH, dir);
	printf("  %-34s %6.2f M events/s\n", "peer: raw records by fwrite", raw / 1e6);
	printf("  %-34s %6.2f M events/s\n", "peer: two JSON lines by fprintf", text / 1e6);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/kvio-bench-%d-%s", dir, (int)getpid(), names[i]);
		rate = run_recorder(path, &each);
		printf("  kvio record to %-19s %6.2f M events/s   %.1fx fprintf, %.2fx fwrite, %.1f bytes/event\n",
		       names[i], rate / 1e6, rate / text, rate / raw, (double)each / 10);
		if (!(rate > 0))
			return err(EXIT_FAILED, "the run failed");
	}
	fill_bpf__destroy(bpf);
	return 0;
}
