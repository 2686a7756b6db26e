/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls, io_uring requests and page faults in a timeline: one process
 * "Program COMM[PID] LABEL" for each program, in it a track for the calls of
 * each thread, lanes for its requests, a track for the faults on each mapped
 * file, and counters.  Arrows lead from a call, request or fault to the
 * commands it caused (model/cause.h), and from io_uring_enter to the requests
 * it submitted; none when slices stand for several things.
 */
#ifndef KVIO_PERFETTO_PROGRAMS_H
#define KVIO_PERFETTO_PROGRAMS_H

#include "lib/hash.h"
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

/* Faults on one file. */
struct pf_mapped {
	u32 dev, path; /* path: in strings, 0 = not known */
	u64 ino;
	bool same_path; /* as another file of the program */
	struct pf_spans faults;
};

/* What faults came to, from the first on, by the time they began. */
struct pf_fault_counts {
	struct pf_source source;
	struct pf_counter major, amplification;
	struct pf_fault_bin {
		u64 ns;
		u64 major;
		u64 came_in_pages; /* that faults brought into the page cache */
		u64 used_pages;	   /* different ones that had a fault */
	} * bin;
	u32 n, cap, next;
};

struct pf_program {
	u32 pid;      /* 0 = not known */
	u32 ns_pid;   /* in its own pid namespace, 0 = the same or not known */
	u32 comm;     /* in strings */
	u32 named_by; /* the thread that comm is of */
	struct pf_thread *thread;
	u32 n_threads, cap_threads;
	struct pf_spans requests;
	struct pf_counter in_flight; /* requests */
	struct pf_rate rate;
	struct pf_mapped *file;
	u32 n_files, cap_files;
	struct pf_fault_counts counts;
};

struct pf_programs {
	struct pf_program *v;
	u32 n, cap;
	u16 *call_program, *request_program, *fault_program; /* of each row: index into v */
	struct pf_follow call_cmds, call_requests, request_cmds, fault_cmds;
	u8 *from;    /* of each command: enum pf_from; NULL = no arrows */
	u8 *entered; /* of each request: an arrow leads to it */
};

/* Where the arrow to a command comes from. */
enum pf_from { FROM_NOTHING, FROM_CALL, FROM_REQUEST, FROM_FAULT };

/* More arrows from one slice are left out. */
#define PF_MOST_ARROWS 256

int pf_programs_prepare(struct pf_draw *a);
void pf_programs_free(struct pf_draw *a);
/* With the level of detail known: lanes, and arrows where slices are single things. */
int pf_programs_lanes(struct pf_draw *a);
/* Calls back for the spans of all threads, then of all requests, then of all files, until one returns an error. */
int pf_programs_each(struct pf_draw *a, int (*fn)(struct pf_draw *a, struct pf_spans *s, void *arg), void *arg);
u32 pf_programs_sources(const struct pf_draw *a);
u32 pf_programs_start(struct pf_draw *a, struct pf_source **heap, u32 n);
/* The values of the counters again. */
void pf_programs_count_again(struct pf_writer *w, const struct pf_draw *a, u64 now);

/* By what programs, threads and files are found while they are made. */
struct pf_finder {
	struct map64 program, thread, file; /* by pid; by program and tid; by program and file */
};

/* Room for one more in an array. */
int pf_make_room(void *array, u32 *cap, u32 n, size_t size);
/* The program of a task, made when there is none.  NULL: memory is out. */
struct pf_program *pf_program_of(struct pf_draw *a, struct pf_finder *f, u32 task, u32 tid);
/* A list of spans is counted first, gets its room, and is filled then. */
int pf_spans_room(struct pf_spans *s);
void pf_add_span(struct pf_draw *a, struct pf_spans *s, u64 begin_ns, u64 lat_ns, u64 amount, u32 item);
void pf_sort_spans(struct pf_spans *s);

/* perfetto_faults.c: the faults of all programs. */
int pf_faults_prepare(struct pf_draw *a, struct pf_finder *f);
int pf_faults_count(struct pf_draw *a);
void pf_faults_start(struct pf_draw *a, struct pf_fault_counts *c);
void pf_faults_free(struct pf_program *p);
/* "/data/weights"; with --redact without it. */
void pf_file_name(struct pf_writer *w, struct buf *out, const struct pf_draw *a, const struct pf_mapped *f);

/* perfetto_calls.c: what is said of a slice. */
void pf_call_describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s);
void pf_request_describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s);
void pf_fault_describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s);
u64 pf_call_class(const struct pf_draw *a, const struct pf_span *s);
u64 pf_request_class(const struct pf_draw *a, const struct pf_span *s);
u64 pf_fault_class(const struct pf_draw *a, const struct pf_span *s);
/* The arrow to a command, in the event that is begun. */
void pf_cause_arrow(struct pf_writer *w, const struct pf_draw *a, u32 cmd);
/*
 * "fio[211]", in a container "fio[211,ns=7]"; "fio"; "fio 212": without blanks in
 * the name, and with --redact without it.
 */
void pf_program_name(struct pf_writer *w, struct buf *out, const struct pf_draw *a, const struct pf_program *p);
void pf_word(struct pf_writer *w, struct buf *out, const struct pf_draw *a, enum pf_secret kind, u32 string);
void pf_thread_name(struct pf_writer *w, struct buf *out, const struct pf_draw *a, const struct pf_thread *t);

#endif
