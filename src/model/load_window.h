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
/* They leave so many at a time: as much as the nearest cache holds. */
#define WINDOW_BATCH 256
/* Takes the n records that leave, in their order: 0 or -errno, which the functions below return. */
typedef int (*window_fn)(void *arg, const struct ev_nvme_kv *const *e, u32 n);

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
