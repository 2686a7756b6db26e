// SPDX-License-Identifier: Apache-2.0
#include "cmd/issue.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/err.h"

volatile sig_atomic_t issue_stop;

static void on_signal(int sig)
{
	(void)sig;
	issue_stop = 1;
}

void issue_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

void issue_wait(u64 due_ns)
{
	u64 now;

	while (!issue_stop && (now = clock_ns(CLOCK_MONOTONIC)) < due_ns) {
		struct timespec t = { (time_t)((due_ns - now) / NSEC_PER_SEC), (long)((due_ns - now) % NSEC_PER_SEC) };

		nanosleep(&t, NULL);
	}
}

int issue_open(struct rig *rig, const struct rig_options *o)
{
	const struct device_roots roots = DEVICE_ROOTS_SYSTEM;
	char why[GUARD_WHY] = "out of memory";
	int ret = rig_open(rig, o, &roots, why);

	if (!ret)
		return EXIT_OK;
	err(-1, "%s", why);
	return ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

int issue_begin_trace(struct emit *e, const char *path, const struct rig *rig, const char *program)
{
	int ret = emit_open_file(e, path, rig, program);

	if (!ret)
		return EXIT_OK;
	err(ret, "cannot write the semantic trace");
	return EXIT_FAILED;
}

void issue_tell(struct buf *b)
{
	if (b->n)
		fwrite(b->p, 1, b->n, stderr);
	buf_reset(b);
}

int issue_print(struct buf *b, int status)
{
	if (b->failed)
		status = EXIT_FAILED, err(-ENOMEM, "cannot print the result");
	else
		fwrite(b->p, 1, b->n, stdout);
	buf_free(b);
	return status;
}

int issue_end_trace(struct emit *e, int status)
{
	int ret = emit_close(e);

	if (ret)
		status = EXIT_FAILED, err(ret, "cannot write the semantic trace");
	return status;
}
