/* SPDX-License-Identifier: Apache-2.0 */
/* What this kernel offers to a tracer, read from its BTF, and why it refuses. */
#ifndef KVIO_PROBE_H
#define KVIO_PROBE_H

#include "lib/types.h"

struct probe;

/* Reads the BTF of the kernel and of the NVMe modules.  0 or -errno (-ENOENT: no BTF). */
int probe_open(struct probe **out);
void probe_close(struct probe *p);
/* The same, but only in the kernel itself, not in a module. */
bool probe_has_builtin_func(const struct probe *p, const char *name);
bool probe_has_builtin_tracepoint(const struct probe *p, const char *name);
/* A function that fentry could attach to / a tracepoint that tp_btf could. */
bool probe_has_func(const struct probe *p, const char *name);
bool probe_has_tracepoint(const struct probe *p, const char *name);
/* The same of a function in the kernel itself, and whether this kernel lets a program do that. */
bool probe_takes_function(const struct probe *p, const char *name);

/* CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON. */
bool probe_privileged(void);

/* One signal of a tracer: the hook that serves it, or why none does. */
struct facility {
	const char *name; /* "commands", "entry", "cq_overflow", ... */
	const char *hook; /* the hook in use, or the one that is missing */
	bool on;
	char why[80]; /* when off */
};

/*
 * One line that says why loading a tracer failed with `ret` and what to do:
 * no BTF, missing privileges, lockdown, no driver.  `log` is libbpf's log (may
 * be empty).  Always fills `out`.
 */
void probe_explain(int ret, const char *log, char *out, size_t n);

#endif
