// SPDX-License-Identifier: Apache-2.0
#include "trace/probe.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#include "trace/preflight.h"

struct probe {
	struct btf *vmlinux;
	struct btf *module[2]; /* NULL where the driver is built in */
};

int probe_open(struct probe **out)
{
	static const char *const modules[] = { "nvme_core", "nvme" };
	struct probe *p = calloc(1, sizeof(*p));
	size_t i;
	int ret;

	if (!p)
		return -ENOMEM;
	p->vmlinux = btf__load_vmlinux_btf();
	ret = libbpf_get_error(p->vmlinux);
	if (ret) {
		free(p);
		return ret == -ESRCH || ret == -ENOENT ? -ENOENT : ret;
	}
	for (i = 0; i < ARRAY_SIZE(modules); i++) {
		p->module[i] = btf__load_module_btf(modules[i], p->vmlinux);
		if (libbpf_get_error(p->module[i]))
			p->module[i] = NULL;
	}
	*out = p;
	return 0;
}

void probe_close(struct probe *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < ARRAY_SIZE(p->module); i++)
		btf__free(p->module[i]);
	btf__free(p->vmlinux);
	free(p);
}

static bool builtin(const struct probe *p, const char *name, u32 kind)
{
	return btf__find_by_name_kind(p->vmlinux, name, kind) > 0;
}

static bool has(const struct probe *p, const char *name, u32 kind)
{
	size_t i;

	if (builtin(p, name, kind))
		return true;
	for (i = 0; i < ARRAY_SIZE(p->module); i++)
		if (p->module[i] && btf__find_by_name_kind(p->module[i], name, kind) > 0)
			return true;
	return false;
}

bool probe_has_func(const struct probe *p, const char *name)
{
	return has(p, name, BTF_KIND_FUNC);
}

bool probe_has_builtin_func(const struct probe *p, const char *name)
{
	return builtin(p, name, BTF_KIND_FUNC);
}

bool probe_takes_function(const struct probe *p, const char *name)
{
	s32 id = btf__find_by_name_kind(p->vmlinux, name, BTF_KIND_FUNC);

	return id > 0 && !preflight_function((u32)id);
}

/* The type that the kernel's BTF has for a tracepoint. */
struct tracepoint_type {
	char name[96];
};

static struct tracepoint_type type_of(const char *tracepoint)
{
	struct tracepoint_type t;

	snprintf(t.name, sizeof(t.name), "btf_trace_%s", tracepoint);
	return t;
}

bool probe_has_tracepoint(const struct probe *p, const char *name)
{
	return has(p, type_of(name).name, BTF_KIND_TYPEDEF);
}

bool probe_has_builtin_tracepoint(const struct probe *p, const char *name)
{
	return builtin(p, type_of(name).name, BTF_KIND_TYPEDEF);
}

static bool capable(cap_value_t c)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t v = CAP_CLEAR;

	if (caps)
		cap_get_flag(caps, c, CAP_EFFECTIVE, &v);
	cap_free(caps);
	return v == CAP_SET;
}

bool probe_privileged(void)
{
	return capable(CAP_SYS_ADMIN) || (capable(CAP_BPF) && capable(CAP_PERFMON));
}

/* The mode in force: "none", "integrity", "confidentiality", "" when not readable. */
static void lockdown_mode(char *out, size_t n)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";
	char *from, *to;

	out[0] = '\0';
	if (!f)
		return;
	if (fgets(line, sizeof(line), f) && (from = strchr(line, '[')) && (to = strchr(from, ']')))
		snprintf(out, n, "%.*s", (int)(to - from - 1), from + 1);
	fclose(f);
}

void probe_explain(int ret, const char *log, char *out, size_t n)
{
	char mode[32];

	lockdown_mode(mode, sizeof(mode));
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		snprintf(
			out, n,
			"this kernel has no BTF (/sys/kernel/btf/vmlinux): it needs CONFIG_DEBUG_INFO_BTF=y, built with pahole");
	else if ((ret == -EPERM || ret == -EACCES) && !probe_privileged())
		snprintf(out, n, "tracing needs root (or CAP_BPF and CAP_PERFMON): run it with sudo");
	else if ((ret == -EPERM || ret == -EACCES || ret == -EINVAL) && !strcmp(mode, "confidentiality"))
		snprintf(
			out, n,
			"kernel lockdown is in confidentiality mode, which forbids what the tracer needs before Linux 6.2 (or with the NVMe driver as a module): boot with lockdown=integrity");
	else if (ret == -EPERM || strstr(log, "unknown func bpf_probe_read_kernel"))
		snprintf(
			out, n,
			"the kernel refuses BPF programs that read kernel memory (a locked-down or sandboxed kernel); 'kvio doctor' shows what is allowed");
	else if (ret == -ENOMEM)
		snprintf(out, n, "not enough memory for the maps: give a smaller --ring, or raise 'ulimit -l'");
	else
		snprintf(out, n, "the kernel did not take the program (%s); -v shows its log", strerror(-ret));
}
