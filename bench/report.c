// SPDX-License-Identifier: Apache-2.0
/* `kvio report` as a user runs it, on what bench/gen made: report KVIO DIR [ROUNDS]. */
#include <string.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "run.h"

/* The best of `rounds`, under NAME; 0, or the exit status of a failure. */
static int measure(const char *name, char **args, int rounds)
{
	struct run best = {}, r;

	while (rounds-- > 0) {
		r = run_program(args);
		if (!r.items)
			return err(EXIT_FAILED, "%s report failed on %s", args[0], args[2]);
		if (!best.items || r.cpu_s < best.cpu_s)
			best = r;
	}
	printf("%s.cpu_s %.3f\n%s.wall_s %.3f\n%s.rss_mb %.1f\n", name, best.cpu_s, name, best.wall_s, name,
	       best.rss_mb);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "jsonl", "kvt" };
	char device[4096], semantic[4096], page[4096], name[32];
	char *args[] = { argv[1], "report", device, semantic, "--html", page, NULL };
	int rounds = argc > 3 ? atoi(argv[3]) : 5, ret = 0;
	struct stat st = {};
	size_t i;

	err_set_name("bench report");
	if (argc < 3)
		return err(EXIT_USAGE, "usage: report KVIO DIR [ROUNDS]");
	snprintf(semantic, sizeof(semantic), "%s/sem.jsonl", argv[2]);
	snprintf(page, sizeof(page), "%s/page.html", argv[2]);
	for (i = 0; i < ARRAY_SIZE(kinds) && !ret; i++) {
		snprintf(device, sizeof(device), "%s/ebpf.%s", argv[2], kinds[i]);
		snprintf(name, sizeof(name), "report.%s", kinds[i]);
		args[4] = NULL;
		ret = measure(name, args, rounds);
		args[4] = "--html";
		snprintf(name, sizeof(name), "report.html.%s", kinds[i]);
		ret = ret ? ret : measure(name, args, rounds);
	}
	stat(page, &st);
	unlink(page);
	printf("report.page_mb %.2f\n", (double)st.st_size / 1e6);
	return ret;
}
