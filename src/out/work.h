/* SPDX-License-Identifier: Apache-2.0 */
/* What became of KV IO that was issued: text, and JSON of schema kvio_workload. */
#ifndef KVIO_OUT_WORK_H
#define KVIO_OUT_WORK_H

#include "lib/buf.h"
#include "store/work.h"

struct work_report {
	const char *command; /* "workload" or "replay" */
	const struct rig *rig;
	const struct work *work;
	const struct store_recovery *recovered; /* NULL, or seq 0: nothing was */
	const struct work_checked *checked;	/* NULL: not asked for */
	const char *model, *dtype;		/* "" and NULL when there is no model */
	u64 chunk_tokens;
	u32 ranks;
	const char *load_path;
	u64 requests, hits, tokens; /* measured ones */
	bool complete;		    /* all that was asked for was tried */
	bool failed;		    /* the run itself ended with an error */
};

void work_report_text(struct buf *b, const struct work_report *p);
void work_report_json(struct buf *b, const struct work_report *p);
/* A line for each command that hangs, and what that means; nothing when none does. */
void work_report_hanging(struct buf *b, const struct work_report *p);
/* Something failed, was taken back or was wrong. */
bool work_report_bad(const struct work_report *p);

#endif
