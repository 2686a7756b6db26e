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

/* ---- the index ---- */

int issue_recover(struct issue_recovered *r, const struct index_words *w, struct work *work)
{
	char why[KV_WHY] = "";
	int ret;

	work->checkpoint_every_ns = w->every_ns;
	if (!w->recover && !w->check)
		return EXIT_OK;
	ret = store_recover(&work->rig->store, work->rig->worker[0].q, true, &r->found, why);
	if (ret) {
		if (why[0])
			err(-1, "the checkpoint is of another layout: %s", why);
		else
			err(MIN(ret, -1), "cannot read the checkpoint");
		return EXIT_FAILED;
	}
	if (!r->found.seq)
		note("no checkpoint is there: it begins empty");
	else
		note("checkpoint %llu: %llu objects, %llu dropped for another header, %llu entries that cannot be%s",
		     ULL(r->found.seq), ULL(r->found.objects), ULL(r->found.dropped), ULL(r->found.bad),
		     r->found.renamed ? ", of another device name" : "");
	return EXIT_OK;
}

int issue_check_recovered(struct issue_recovered *r, const struct index_words *w, struct work *work)
{
	int ret;

	if (!w->check)
		return 0;
	ret = work_check_stored(work, &r->checked);
	note("recovered objects: %llu whole, %llu torn and forgotten, %llu failed", ULL(r->checked.whole),
	     ULL(r->checked.torn), ULL(r->checked.failed));
	return ret;
}

int issue_last_checkpoint(const struct index_words *w, struct work *work)
{
	if (w->checkpoint && !work->rig->wedged)
		work_checkpoint(work);
	if (!work->checkpoint_res)
		return EXIT_OK;
	err(MIN(work->checkpoint_res, -1), "a checkpoint was not written%s",
	    work->checkpoint_res == -EFBIG ? ": the index does not fit (--meta-bytes makes room)" : "");
	return EXIT_FAILED;
}
