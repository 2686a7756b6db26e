/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls and io_uring requests in a timeline: one process "Program
 * COMM[PID] LABEL" for each program, in it a track for the calls of each
 * thread, lanes for its requests, and counters.  Arrows lead from a call or
 * request to the commands it caused (model/cause.h), and from io_uring_enter
 * to the requests it submitted; none when slices stand for several things.
 */
#ifndef KVIO_PERFETTO_PROGRAMS_H
#define KVIO_PERFETTO_PROGRAMS_H

#include "out/perfetto_writer.h"

/* What follows from each of n things: item[start[i]] to item[start[i + 1] - 1], in time order. */
struct pf_follow {
	u32 *start, *item;
};

struct pf_thread {
	u32 tid, last_row; /* of call_table: has its latest name */
	struct pf_spans calls;
};

/* Bytes that were moved, by the time their call or request began. */
struct pf_rate {
	struct pf_source source;
	struct pf_counter counter[N_DIRS];
	struct pf_rate_bin {
		u64 ns;
		u64 bytes[N_DIRS];
	} * bin;
	u32 n, cap, next;
};

struct pf_program {
	u32 pid;      /* 0 = not known */
	u32 comm;     /* in strings */
	u32 named_by; /* the thread that comm is of */
	struct pf_thread *thread;
	u32 n_threads, cap_threads;
	struct pf_spans requests;
	struct pf_counter in_flight; /* requests */
	struct pf_rate rate;
};

struct pf_programs {
	struct pf_program *v;
	u32 n, cap;
	u16 *call_program, *request_program; /* of each row: index into v */
	struct pf_follow call_cmds, call_requests, request_cmds;
	u8 *from;    /* of each command: enum pf_from; NULL = no arrows */
	u8 *entered; /* of each request: an arrow leads to it */
};

/* Where the arrow to a command comes from. */
enum pf_from { FROM_NOTHING, FROM_CALL, FROM_REQUEST };

/* More arrows from one slice are left out. */
#define PF_MOST_ARROWS 256

int pf_programs_prepare(struct pf_draw *a);
void pf_programs_free(struct pf_draw *a);
/* With the level of detail known: lanes, and arrows where slices are single things. */
int pf_programs_lanes(struct pf_draw *a);
/* Calls back for the spans of every thread, then for those of all requests, until one returns an error. */
int pf_programs_each(struct pf_draw *a, int (*fn)(struct pf_draw *a, struct pf_spans *s, void *arg), void *arg);
u32 pf_programs_sources(const struct pf_draw *a);
u32 pf_programs_start(struct pf_draw *a, struct pf_source **heap, u32 n);
/* The values of the counters again. */
void pf_programs_count_again(struct pf_writer *w, const struct pf_draw *a, u64 now);

/* perfetto_calls.c: what is said of a slice. */
void pf_call_describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s);
void pf_request_describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s);
u64 pf_call_class(const struct pf_draw *a, const struct pf_span *s);
u64 pf_request_class(const struct pf_draw *a, const struct pf_span *s);
/* The arrow to a command, in the event that is begun. */
void pf_cause_arrow(struct pf_writer *w, const struct pf_draw *a, u32 cmd);
/* "fio[211]" and "fio 212", without blanks in the name and with --redact without it. */
void pf_program_name(struct pf_writer *w, struct buf *out, const struct pf_draw *a, const struct pf_program *p);
void pf_thread_name(struct pf_writer *w, struct buf *out, const struct pf_draw *a, const struct pf_thread *t);

#endif
