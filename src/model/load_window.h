/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands are recorded as they complete.  On their way into the columns they
 * pass a window of some thousand, from which the earliest leave first: what is
 * in order by then need not be sorted in the columns, which costs much more.
 * It is a matter of speed only: with more commands in flight than half of the
 * window has they do not all leave in order.
 */
#ifndef KVIO_MODEL_LOAD_WINDOW_H
#define KVIO_MODEL_LOAD_WINDOW_H

#include "capture/event.h"

struct window;
/* Takes a record that leaves: 0 or -errno, which the function below returns. */
typedef int (*window_fn)(void *arg, const struct ev_nvme_kv *e);

/* NULL when there is no memory. */
struct window *window_new(window_fn leave, void *arg);
/* Where the next record is to be put. */
struct ev_nvme_kv *window_slot(struct window *w);
/* It is there. */
int window_take(struct window *w);
/* All leave. */
int window_flush(struct window *w);
void window_free(struct window *w);

#endif
