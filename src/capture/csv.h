/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands as CSV (RFC 4180, lines end in LF): a header line that names the
 * columns, units in the names, then one row a command.  An empty cell is a
 * member that the capture does not have.
 *
 * Data first: cells hold what the capture holds, byte for byte.  Text is always
 * in quotes, but nothing is put in front of a name that begins with "=": who
 * opens the file in a spreadsheet imports text columns as text.
 */
#ifndef KVIO_CSV_H
#define KVIO_CSV_H

#include "capture/members.h"
#include "lib/buf.h"

/* The header line; with a first column "source" for rows of several captures. */
void csv_header(struct buf *b, bool source);
/*
 * A row from the lines nvme_cmd and nvme_cmp (may be empty) of a command.
 * `source` is NULL without that column.  Adds to *lost the members that have
 * no column.  0 or -errno of a line that cannot be read.
 */
int csv_row(struct buf *b, struct slice cmd, struct slice cmp, const char *source, u64 *lost);

/* ---- and back ---- */

struct csv_reader;

/*
 * Takes the header line: 0, -EINVAL when it is none (there is no column
 * ts_ns), -ENOMEM.  *spare is the number of columns that are not known.
 */
int csv_open(struct csv_reader **out, struct slice header, u64 *spare);
void csv_free(struct csv_reader *r);
/*
 * Takes a physical line, without its newline.  1: a row is complete and its
 * two lines of JSON are in `cmd` and `cmp` (empty when the command has no
 * completion), valid until the next call; 0: more lines belong to it; -EBADMSG.
 */
int csv_put(struct csv_reader *r, struct slice line, struct slice *cmd, struct slice *cmp);
/* True while the last row is not complete. */
bool csv_inside(const struct csv_reader *r);

#endif
