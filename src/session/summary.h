/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording tells at its end. */
#ifndef KVIO_SUMMARY_H
#define KVIO_SUMMARY_H

#include <stdio.h>

#include "lib/buf.h"
#include "trace/recorder.h"

/* Events lost in any way, all tracers. */
u64 summary_lost(const struct recorder_totals *t);
/* Records of all kinds that were taken over and are not in the file: 0 unless writing failed. */
u64 summary_unwritten(const struct recorder_totals *t);
/* Commands, calls... recorded: what is not a name or a note. */
u64 summary_events(const struct recorder_totals *t);
/* For people, one screen.  path "-" is standard output. */
void summary_text(struct buf *b, const struct recorder_totals *t, const char *path, u64 file_bytes);
/* The same and the footer as one line of JSON.  0 or -errno. */
int summary_print_json(const struct recorder_totals *t, enum recorder_end end, const char *path, FILE *to);

#endif
