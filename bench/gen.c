// SPDX-License-Identifier: Apache-2.0
/*
 * A large capture pair, always the same: batched stores and loads of 20 MiB
 * objects in 128 KiB commands by four shards, as the older passthrough monitor
 * and the semantic trace write them; the same commands also compressed, and as
 * kvio records them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/event.h"
#include "capture/kvt.h"
#include "lib/err.h"
#include "lib/hash.h"
#include "lib/zio.h"

#define T0_NS	 812345678901234ull
#define EPOCH_NS 1790000000000000000ull
#define MIB	 (1ull << 20)
#define PIECE	 131072u
#define BLOCK	 4096u
#define EVENTS	 1400u /* of four objects */

struct event {
	u64 ts_ns;
	u32 seq;
	struct ev_nvme done; /* of a completion: the whole command */
	char line[288];
};

static struct event events[EVENTS];
static u32 n_events, counter, cid;
static u64 n_commands, random_state = 0x9e3779b97f4a7c15ull;
static struct zout *device[3]; /* .jsonl, .jsonl.gz, .jsonl.zst */
static struct kvt_writer *record;
static FILE *semantic;

/* A number in [low, high). */
static u64 between(u64 low, u64 high)
{
	random_state += 0x9e3779b97f4a7c15ull;
	return low + hash_u64(random_state) % (high - low);
}

static char *event_at(u64 ts_ns)
{
	events[n_events] = (struct event){ .ts_ns = ts_ns, .seq = n_events };
	return events[n_events++].line;
}

static int by_time(const void *x, const void *y)
{
	const struct event *a = x, *b = y;

	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return a->seq < b->seq ? -1 : 1;
}

static void put_line(const char *line)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(device); i++)
		if (device[i])
			zout_write(device[i], line, strlen(line));
}

static void put_events(void)
{
	u32 i;

	qsort(events, n_events, sizeof(*events), by_time);
	for (i = 0; i < n_events; i++) {
		put_line(events[i].line);
		if (record && events[i].done.kind)
			kvt_write(record, &events[i].done, sizeof(events[i].done), events[i].done.ts_ns);
	}
	n_events = 0;
}

static void command(u64 ts_ns, bool store, u64 offset, u32 bytes, u64 user_data, u64 lat_ns)
{
	const size_t room = sizeof(events[0].line);

	snprintf(event_at(ts_ns), room,
		 "{\"event_type\":\"nvme_cmd\",\"pid\":4242,\"tid\":4249,\"user_data\":%" PRIu64
		 ",\"nvme_opcode\":%d,\"op_name\":\"%s\",\"nsid\":1,\"slba\":%" PRIu64
		 ",\"nlb\":%u,\"bytes\":%u,\"data_len\":%u,\"multipath\":0,\"cmd_op\":\"0xc0484e80\","
		 "\"rdev\":62914560,\"comm\":\"kvworker\",\"ts\":%" PRIu64 "}\n",
		 user_data, store ? 1 : 2, store ? "write" : "read", offset / BLOCK, bytes / BLOCK, bytes, bytes,
		 ts_ns);
	cid = (cid + 1) % 1024;
	snprintf(event_at(ts_ns + lat_ns), room,
		 "{\"event_type\":\"nvme_cmp\",\"user_data\":%" PRIu64 ",\"err\":0,\"lat_ns\":%" PRIu64
		 ",\"hwq\":%u,\"cid\":%u,\"ts\":%" PRIu64 "}\n",
		 user_data, lat_ns, cid % 4, cid, ts_ns + lat_ns);
	events[n_events - 1].done = (struct ev_nvme){
		.kind = EV_NVME,
		.flags = NVME_PASSTHROUGH | NVME_ENTRY,
		.opcode = store ? 1 : 2,
		.attempts = 1,
		.hwq = (u16)(cid % 4),
		.ts_ns = ts_ns,
		.lat_ns = lat_ns,
		.user_data = user_data,
		.slba = offset / BLOCK,
		.bytes = bytes,
		.dev = 259 << 20 | 1,
		.nsid = 1,
		.tid = 4249,
		.cid = (u16)cid,
		.nlb = (u16)(bytes / BLOCK - 1),
	};
	n_commands++;
}

static void operation(u64 id, bool store, u64 slot, u64 start_ns, u64 end_ns)
{
	u64 chunk = (id - 1) / 4;

	fprintf(semantic,
		"{\"trace_id\":%" PRIu64 ",\"op\":\"%s\",\"key\":\"acme/tiny-1b@bf16-%" PRIu64 "@0@%016" PRIx64
		"%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "\",\"object_id\":\"o%" PRIu64
		"\",\"part\":\"kv\",\"bytes\":%llu,\"slot_offset\":%" PRIu64 ",\"ts_start\":%" PRIu64 ".%09" PRIu64
		",\"ts\":%" PRIu64 ".%09" PRIu64 ",\"pid\":4242,\"instance\":\"inst-a\"}\n",
		id, store ? "store" : "load", (id - 1) % 4, hash_u64(chunk), hash_u64(~chunk), hash_u64(chunk << 32),
		hash_u64(~chunk << 32), id, 20 * MIB, slot, (u64)(start_ns / NSEC_PER_SEC),
		(u64)(start_ns % NSEC_PER_SEC), (u64)(end_ns / NSEC_PER_SEC), (u64)(end_ns % NSEC_PER_SEC));
}

/* One object: a header command before a store, then its payload.  When it ends. */
static u64 object(u64 id, bool store, u64 start_ns)
{
	u64 slot = (1ull << 30) + id % 4096 * 21 * MIB, ts = start_ns + 90000 + between(0, 5000), last = ts, at;

	for (at = store ? 0 : BLOCK; at < 20 * MIB;) {
		u32 bytes = at ? PIECE : BLOCK;
		u64 lat = between(90000, 900000);

		counter++;
		command(ts, store, slot + at, bytes, id << 32 | counter, lat);
		last = MAX(last, ts + lat);
		ts += between(1500, 4500);
		at += bytes;
	}
	operation(id, store, slot, start_ns, last + 30000);
	return last + 30000;
}

static int open_record(const char *path)
{
	const struct ev_task task = { .kind = EV_TASK, .tid = 4249, .pid = 4242, .ts_ns = T0_NS, .comm = "kvworker" };
	const struct ev_disk disk = {
		.kind = EV_DISK, .dev = 259 << 20 | 1, .nsid = 1, .lba_bytes = BLOCK, .name = "nvme1n1"
	};
	json_t *meta = json_pack("{s:s}", "event_type", "capture_meta");
	int ret = kvt_writer_open(&record, open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666), meta);

	json_decref(meta);
	if (!ret)
		ret = kvt_write(record, &task, sizeof(task), T0_NS);
	return ret ? ret : kvt_write(record, &disk, sizeof(disk), T0_NS);
}

static void open_all(const char *dir, char **kinds)
{
	char path[4096];
	int ret = 0;

	mkdir(dir, 0777);
	snprintf(path, sizeof(path), "%s/sem.jsonl", dir);
	semantic = fopen(path, "w");
	if (!semantic)
		exit(err(-1, "cannot write %s", path));
	snprintf(path, sizeof(path), "%s/ebpf.jsonl", dir);
	ret = zout_open(&device[0], path, ZIO_PLAIN);
	for (; !ret && *kinds; kinds++) {
		snprintf(path, sizeof(path), "%s/ebpf.%s", dir, *kinds);
		if (!strcmp(*kinds, "jsonl.gz"))
			ret = zout_open(&device[1], path, ZIO_GZIP);
		else if (!strcmp(*kinds, "jsonl.zst"))
			ret = zout_open(&device[2], path, ZIO_ZSTD);
		else
			ret = open_record(path);
	}
	if (ret)
		exit(err(ret, "cannot write %s", path));
}

static int close_all(void)
{
	size_t i;
	int ret = fclose(semantic) ? -EIO : 0;

	for (i = 0; i < ARRAY_SIZE(device); i++)
		if (device[i] && zout_close(device[i]))
			ret = -EIO;
	if (record) {
		json_t *footer = json_pack("{s:b,s:I,s:I}", "complete", 1, "seen", (json_int_t)n_commands, "stored",
					   (json_int_t)n_commands);

		if (kvt_writer_close(record, footer))
			ret = -EIO;
		json_decref(footer);
	}
	return ret;
}

int main(int argc, char **argv)
{
	u64 want, ts = T0_NS, id = 0, end;
	char line[160];
	u32 i;

	err_set_name("bench gen");
	if (argc < 3)
		return err(EXIT_USAGE, "usage: gen DIR COMMANDS [jsonl.gz] [jsonl.zst] [kvt]");
	want = strtoull(argv[2], NULL, 10);
	open_all(argv[1], argv + 3);
	snprintf(line, sizeof(line), "{\"event_type\":\"clock_anchor\",\"monotonic_ns\":%llu,\"realtime_ns\":%llu}\n",
		 T0_NS, EPOCH_NS + T0_NS);
	put_line(line);
	fprintf(semantic,
		"{\"event_type\":\"kvio_meta\",\"kvio_schema\":2,\"hostname\":\"host-a\",\"pid\":4242,"
		"\"instance\":\"inst-a\",\"device_path\":\"/dev/ng1n1\",\"slot_bytes\":22020096,\"block_align\":4096,"
		"\"header_bytes\":4096,\"max_data_transfer_size\":131072,\"io_engine\":\"io_uring_cmd\","
		"\"use_uring_cmd\":true,\"ts_monotonic\":812345.678901234,\"ts_realtime\":1790000000.0}\n");
	while (n_commands < want) {
		bool store = !(id / 4 & 1);

		for (i = 0, end = ts; i < 4; i++) {
			u64 done = object(++id, store, ts + i * 13000);

			end = MAX(end, done);
		}
		put_events();
		ts = end + 400000;
	}
	put_line("{\"event_type\":\"drops\",\"dropped\":0}\n");
	if (close_all())
		return err(EXIT_FAILED, "cannot write to %s", argv[1]);
	printf("%" PRIu64 " commands, %" PRIu64 " objects\n", n_commands, id);
	return 0;
}
