/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this kernel would take our tracers, found out without attaching anything. */
#ifndef KVIO_PREFLIGHT_H
#define KVIO_PREFLIGHT_H

#include "lib/types.h"

#define PREFLIGHT_NOT_TRIED 1

struct preflight {
	int btf;   /* 0, or -errno of reading the kernel's types */
	u32 types; /* how many there are */
	/* Which types have both NVMe tracepoints: "vmlinux", "nvme_core" (a module), NULL = none. */
	const char *hooks;
	bool module_types;	 /* the module's types could be read */
	bool page_cache;	 /* what the page fault tracer cannot do without */
	bool syscalls, io_uring; /* the tracepoints of those tracers are there */
	bool plain_loads;	 /* the NVMe tracer reads without helpers: bpf_rdonly_cast, and the driver built in */
	/* 0, -errno, or PREFLIGHT_NOT_TRIED: loading a program on a typed tracepoint; one that reads kernel memory. */
	int load_tracepoint;
	int load_read_kernel;
};

/*
 * Reads the types in the file `vmlinux`, and those of the NVMe module in
 * `nvme_core` when they are not in the first; `live` says that these are the
 * running kernel's, so that programs can be tried.  Nothing of it stays
 * loaded.  Silences libbpf's own messages.
 */
void preflight_run(const char *vmlinux, const char *nvme_core, bool live, struct preflight *out);

/* Whether the kernel takes a program that reads its memory by a helper: 0 or -errno. */
int preflight_read_kernel(void);
/* Whether it takes a program at the entry of a function of its own: 0 or -errno. */
int preflight_function(u32 btf_id);

#endif
