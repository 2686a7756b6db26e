// SPDX-License-Identifier: Apache-2.0
/*
 * What reading captures costs: parsing alone, from memory, and loading files
 * of every kind into a finished model.  Prints "name value" lines, made by
 * bench/gen for `load DIR`.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "capture/jsonl_read.h"
#include "lib/err.h"
#include "model/model.h"
#include "run.h"

#define ROUNDS 5

struct text {
	const char *path;
	bool predict;
	size_t n;
};

/* The file in memory, with the slack that the reader needs. */
static char *slurp(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	size_t at = 0;
	ssize_t got;
	char *p;

	if (fd < 0 || fstat(fd, &st))
		exit(err(EXIT_FAILED, "cannot read %s", path));
	p = calloc(1, (size_t)st.st_size + JSONL_SLACK);
	while (p && (got = read(fd, p + at, (size_t)st.st_size - at)) > 0)
		at += (size_t)got;
	close(fd);
	*n = at;
	return p;
}

/* What a record adds to the sum, so that nothing of it is optimized away. */
static u64 sum_of(const struct jsonl_rec *r)
{
	if (r->kind == JSONL_NVME_CMD)
		return r->cmd.ts_ns + r->cmd.user_data + r->cmd.slba + r->cmd.bytes + r->cmd.tid;
	return r->kind == JSONL_NVME_CMP ? r->cmp.ts_ns + r->cmp.user_data + (u64)r->cmp.lat_ns + r->cmp.cid : 0;
}

static u64 read_all(const char *p, const char *end, bool predict, u64 *sum)
{
	struct jsonl_reader *r = jsonl_reader_new();
	const struct jsonl_rec *known;
	struct jsonl_rec rec;
	struct slice line;
	u64 n = 0;

	for (;; n++) {
		if (predict && jsonl_predict(r, &p, end, &known)) {
			*sum += sum_of(known);
			continue;
		}
		if (!ndjson_line(&p, end, &line))
			break;
		if (!jsonl_read(r, line.p, line.n, &rec))
			*sum += sum_of(&rec);
	}
	jsonl_reader_free(r);
	return n;
}

/* MB/s of parsing, the file being in memory. */
static double parse_mbps(const char *path, bool predict)
{
	double best = 0, mbps;
	u64 sum = 0, began;
	size_t n;
	char *p = slurp(path, &n);
	int i;

	for (i = 0; p && i < ROUNDS; i++) {
		began = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		read_all(p, p + n, predict, &sum);
		mbps = (double)n / ((double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began) / 1e3);
		best = MAX(best, mbps);
	}
	free(p);
	return sum ? best : 0;
}

static u64 load(void *arg)
{
	struct model m;
	u64 n = 0;

	model_init(&m);
	if (!model_load(&m, arg) && !model_finish(&m))
		n = m.cmd.n;
	/* What a process that ends does not free, it does not pay for. */
	return n;
}

static void bench_load(const char *dir, const char *kind, const char *plain)
{
	char path[4096];
	struct stat st, text;
	struct run r;

	snprintf(path, sizeof(path), "%s/ebpf.%s", dir, kind);
	if (stat(path, &st) || stat(plain, &text))
		return;
	r = run_best(ROUNDS, load, path);
	if (!r.items) {
		err(EXIT_FAILED, "%s: cannot be loaded", path);
		return;
	}
	printf("load.%s.mb %.1f\n", kind, (double)st.st_size / 1e6);
	printf("load.%s.cpu_s %.3f\n", kind, r.cpu_s);
	printf("load.%s.wall_s %.3f\n", kind, r.wall_s);
	printf("load.%s.mbps %.0f\n", kind, (double)st.st_size / 1e6 / r.cpu_s);
	printf("load.%s.mcmds %.2f\n", kind, (double)r.items / 1e6 / r.cpu_s);
	printf("load.%s.rss_mb %.1f\n", kind, r.rss_mb);
	printf("load.%s.bytes_per_cmd %.0f\n", kind, r.rss_mb * 1048576 / (double)r.items);
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "jsonl", "jsonl.gz", "jsonl.zst", "kvt" };
	char plain[4096];
	size_t i;

	err_set_name("bench load");
	if (argc != 2)
		return err(EXIT_USAGE, "usage: load DIR (of bench/gen)");
	snprintf(plain, sizeof(plain), "%s/ebpf.jsonl", argv[1]);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		bench_load(argv[1], kinds[i], plain);
	printf("parse.mbps %.0f\n", parse_mbps(plain, true));
	printf("parse_any.mbps %.0f\n", parse_mbps(plain, false));
	return 0;
}
