// SPDX-License-Identifier: Apache-2.0
/* `kvio perfetto` as a user runs it, on what bench/gen made: convert KVIO DIR [ROUNDS]. */
#include <string.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "run.h"

static char out[4096 + 16];

/* Megabytes of the output, which is removed. */
static double take_size(void)
{
	struct stat st = {};

	stat(out, &st);
	unlink(out);
	return (double)st.st_size / 1e6;
}

int main(int argc, char **argv)
{
	char device[4096], semantic[4096];
	char *args[] = { argv[1], "perfetto", "--ebpf", device, "--sem", semantic, "-o", out, NULL };
	int rounds = argc > 3 ? atoi(argv[3]) : 5;
	struct run best = {}, r;

	err_set_name("bench convert");
	if (argc < 3)
		return err(EXIT_USAGE, "usage: convert KVIO DIR [ROUNDS]");
	snprintf(device, sizeof(device), "%s/ebpf.jsonl", argv[2]);
	snprintf(semantic, sizeof(semantic), "%s/sem.jsonl", argv[2]);
	snprintf(out, 4096, "%s/out.pftrace", argv[2]);
	while (rounds-- > 0) {
		r = run_program(args);
		if (!r.items)
			return err(EXIT_FAILED, "%s perfetto failed", argv[1]);
		if (!best.items || r.cpu_s < best.cpu_s)
			best = r;
	}
	printf("convert.cpu_s %.3f\nconvert.wall_s %.3f\nconvert.rss_mb %.1f\nconvert.out_mb %.1f\n", best.cpu_s,
	       best.wall_s, best.rss_mb, take_size());
	strcat(out, ".gz");
	r = run_program(args);
	if (!r.items)
		return err(EXIT_FAILED, "%s perfetto -o x.gz failed", argv[1]);
	printf("convert.gz.cpu_s %.3f\nconvert.gz.out_mb %.1f\n", r.cpu_s, take_size());
	return 0;
}
