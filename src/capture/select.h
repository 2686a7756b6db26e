/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which items of a capture pass.
 *
 * Values of one filter are alternatives, all filters must let an item pass.  A
 * filter cuts what it can judge: commands by all of them, a completion with
 * its command, semantic records by kind, time, object and process, other
 * events by kind, time and process.  Heads, accounts, names and, unless kinds
 * are given, clock anchors always pass.
 */
#ifndef KVIO_SELECT_H
#define KVIO_SELECT_H

#include "capture/item.h"

struct select;

struct select *select_new(void);
void select_free(struct select *s);

/*
 * One value each, as a user writes it.  0, -EINVAL, -ERANGE, -ENOMEM.
 *   kind    "nvme" or any other item_kind_name(); several with commas
 *   time    "1.5s", "20ms" after the first event, "@N" for N ns of the clock of
 *           the capture; from is the first that passes, to the first that does not
 *   object  a trace id, or a part of the key of an object
 *   device  "nvme0n1", "ng0n1", a path to one, or "MAJOR:MINOR"
 *   op      "read", "store", or an opcode
 */
int select_kind(struct select *s, const char *text);
int select_from(struct select *s, const char *text);
int select_to(struct select *s, const char *text);
int select_object(struct select *s, const char *text);
int select_device(struct select *s, const char *text);
int select_pid(struct select *s, const char *text);
int select_op(struct select *s, const char *text);

/* The time from which on things pass is not before the one from which on they do not. */
bool select_is_empty(const struct select *s);
/* There is any filter at all. */
bool select_any(const struct select *s);
/* A time counts from the first event. */
bool select_is_relative(const struct select *s);
/* Objects are named by key: a first pass has to tell which trace ids they have. */
bool select_needs_keys(const struct select *s);
/* Of that first pass, each item.  0 or -ENOMEM. */
int select_learn(struct select *s, const struct item *it);
/* How many semantic records it found. */
u64 select_found(const struct select *s);

/* Time 0 of relative times; else it is the first event that is asked about. */
void select_base(struct select *s, u64 ns);
/* True for what "the first event" can be. */
bool select_is_event(const struct item *it);

/* Whether the item passes: 1, 0 or -ENOMEM.  In the order of the capture: completions follow their commands. */
int select_item(struct select *s, const struct item *it);

#endif
