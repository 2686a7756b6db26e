/* SPDX-License-Identifier: Apache-2.0 */
/* A report as one page for a browser: all that it needs is in it, nothing is fetched. */
#ifndef KVIO_HTML_H
#define KVIO_HTML_H

#include "lib/buf.h"
#include "out/report.h"

/* A page draws no more captures than this, and says how many it left out. */
#define HTML_MAX_ARMS 4

/*
 * Writes the page on n captures, the first of which is what the others are
 * held against.  Its size is bounded whatever the captures hold, and equal
 * captures give equal bytes.  0 or -ENOMEM.
 */
int html_write(struct buf *out, const struct report_arm *arms, u32 n);

#endif
