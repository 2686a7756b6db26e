// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "capture/calls.h"
#include "capture/nvme_names.h"
#include "capture/uring_names.h"
#include "lib/buf.h"
#include "lib/str.h"

static int no_such_device(const struct session *s, const char *word, char *why, size_t n_why)
{
	struct buf b = {};
	size_t i;

	for (i = 0; i < s->n_ns; i++)
		buf_printf(&b, " %s", s->ns[i].generic[0] ? s->ns[i].generic : s->ns[i].name);
	buf_byte(&b, '\0');
	snprintf(why, n_why, "no NVMe namespace '%s'; here are:%s", word, s->n_ns && !b.failed ? b.p : " none");
	buf_free(&b);
	return -ENODEV;
}

/* The disk names behind the words: of a multipath head its paths, which the driver sees. */
static int resolve_devices(const struct session *s, const char ***names, size_t *n, char *why, size_t n_why)
{
	size_t i, cap = 0;
	u32 j;

	for (i = 0; i < s->o.n_devices; i++) {
		const struct nvme_ns *ns = nvme_find(s->ns, s->n_ns, s->o.devices[i], NULL);
		const char **grown;

		if (!ns)
			return no_such_device(s, s->o.devices[i], why, n_why);
		cap += 1 + ns->n_paths;
		grown = realloc(*names, cap * sizeof(**names));
		if (!grown)
			return -ENOMEM;
		*names = grown;
		(*names)[(*n)++] = ns->name;
		for (j = 0; j < ns->n_paths; j++)
			(*names)[(*n)++] = ns->path[j];
	}
	return 0;
}

/* One word may name operations of several tracers. */
static bool take_op(const struct session *s, const char *word, struct trace_options *t)
{
	bool known = false;
	u16 call = call_find(word, strlen(word));
	u8 request;
	u64 v;

	if (s->o.witnesses & TRACE_NVME && (!nvme_op_find(word, &v) || (!str_u64(word, &v) && v <= 255))) {
		t->nvme.opcode[v / 64] |= 1ull << v % 64;
		known = true;
	}
	if (s->o.witnesses & TRACE_SYSCALL && call != CALL_NONE) {
		t->calls |= 1ull << call;
		known = true;
	}
	if (s->o.witnesses & TRACE_URING && uring_op_find(word, &request)) {
		t->requests[request / 64] |= 1ull << request % 64;
		known = true;
	}
	return known;
}

static int resolve_ops(const struct session *s, struct trace_options *t, char *why, size_t n_why)
{
	size_t i;

	t->by_op = s->o.n_ops;
	for (i = 0; i < s->o.n_ops; i++) {
		if (take_op(s, s->o.ops[i], t))
			continue;
		snprintf(why, n_why,
			 "'%s' is no operation of what is recorded: give a name (read, write, flush, dsm, pread64...) "
			 "or an NVMe opcode from 0 to 255",
			 s->o.ops[i]);
		return -EINVAL;
	}
	return 0;
}

/* Patterns are of whole paths: what begins elsewhere begins here. */
static int resolve_paths(const char *const *words, size_t n, char ***paths, char *why, size_t n_why)
{
	char real[PATH_MAX];
	size_t i;

	*paths = calloc(n + 1, sizeof(**paths));
	if (!*paths)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const char *word = words[i];

		if (!*word) {
			snprintf(why, n_why, "an empty path names no file");
			return -EINVAL;
		}
		/* Links are followed, as the kernel does; a glob stays as it is. */
		if (!strpbrk(word, "*?[") && realpath(word, real))
			(*paths)[i] = strdup(real);
		else if (*word == '/' || *word == '*' || !getcwd(real, sizeof(real)))
			(*paths)[i] = strdup(word);
		else if (asprintf(&(*paths)[i], "%s/%s", real, word) < 0)
			(*paths)[i] = NULL;
		if (!(*paths)[i])
			return -ENOMEM;
	}
	return 0;
}

static void free_paths(char **paths)
{
	size_t i;

	for (i = 0; paths && paths[i]; i++)
		free(paths[i]);
	free(paths);
}

/* A cgroup is known by the inode of its directory in the unified hierarchy. */
static int resolve_cgroup(const char *word, u64 *id, u32 *level, char *why, size_t n_why)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char path[PATH_MAX], real[PATH_MAX];
	struct stat st;
	const char *p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounts); i++) {
		size_t n = strlen(mounts[i]);
		bool absolute = !strncmp(word, mounts[i], n);
		struct statfs fs;

		snprintf(path, sizeof(path), "%s%s%s", absolute ? "" : mounts[i], absolute || *word == '/' ? "" : "/",
			 word);
		if (statfs(path, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC || !realpath(path, real) || stat(real, &st) ||
		    !S_ISDIR(st.st_mode))
			continue;
		*id = st.st_ino;
		*level = 0;
		for (p = real + n; *p; p++)
			*level += *p == '/' && p[1];
		return 0;
	}
	snprintf(why, n_why, "no cgroup '%s' in the unified hierarchy (/sys/fs/cgroup): see /proc/PID/cgroup", word);
	return -EINVAL;
}

/* What only Identify tells (MDTS, metadata); without the right to open the node it stays unknown. */
static void identify_all(struct session *s)
{
	size_t i;

	for (i = 0; i < s->n_ns; i++) {
		struct nvme_ns *ns = &s->ns[i];
		char node[NVME_NAME + 8];
		FILE *f;

		snprintf(node, sizeof(node), "/dev/%s", ns->generic[0] ? ns->generic : ns->name);
		f = fopen(node, "re");
		if (!f)
			continue;
		nvme_identify(fileno(f), ns);
		fclose(f);
	}
}

u32 session_inflight_max(const struct session *s)
{
	u64 sum = 1024;
	size_t i;

	for (i = 0; i < s->n_ns; i++)
		sum += (u64)MAX(s->ns[i].nr_requests, 1024u) * MAX(s->ns[i].hw_queues, 1u) * MAX(s->ns[i].n_paths, 1u);
	return (u32)MIN(sum, 1u << 20);
}

int session_open(struct session *s, const struct session_options *o, trace_fn fn, void *arg, char *why, size_t n_why)
{
	struct trace_options t = {
		.witnesses = o->witnesses,
		.follow = o->follow || o->children,
		.comm = o->comm,
		.ring_bytes = o->ring_bytes,
		.nvme.passthrough_only = o->passthrough_only,
		.nvme.entry_probe = !o->no_entry,
		.cq_overflow = !o->no_cq_overflow,
		.nvme.kv = o->kv,
		.min_bytes = o->min_bytes,
		.max_bytes = o->max_bytes,
		.mmap.stream = o->stream,
		.mmap.exact_pages = o->exact_pages,
	};
	const char **disks = NULL;
	int ret;

	s->o = *o;
	snprintf(why, n_why, "out of memory");
	ret = nvme_list("/sys", &s->ns, &s->n_ns);
	if (ret && ret != -ENOENT) {
		snprintf(why, n_why, "cannot list the NVMe devices: %s", strerror(-ret));
		return ret;
	}
	ret = session_pids(s, why, n_why);
	if (!ret)
		ret = resolve_devices(s, &disks, &t.nvme.n_disks, why, n_why);
	if (!ret)
		ret = resolve_ops(s, &t, why, n_why);
	if (!ret)
		ret = resolve_paths(o->paths, o->n_paths, &s->paths, why, n_why);
	if (!ret)
		ret = resolve_paths(o->map_files, o->n_map_files, &s->map_files, why, n_why);
	if (!ret && o->cgroup)
		ret = resolve_cgroup(o->cgroup, &t.cgroup, &t.cgroup_level, why, n_why);
	if (!ret) {
		identify_all(s);
		t.pids = s->pids;
		t.n_pids = s->n_named;
		t.paths = (const char *const *)s->paths;
		t.n_paths = o->n_paths;
		t.nvme.disks = disks;
		t.nvme.inflight_max = session_inflight_max(s);
		ret = trace_open(&s->trace, &t, fn, arg, why, n_why);
	}
	free(disks);
	return ret;
}

void session_close(struct session *s)
{
	trace_close(s->trace);
	nvme_list_free(s->ns, s->n_ns);
	free_paths(s->paths);
	free_paths(s->map_files);
	free(s->pids);
	s->paths = s->map_files = NULL;
	s->pids = NULL;
	s->n_pids = s->n_named = 0;
	s->trace = NULL;
	s->ns = NULL;
	s->n_ns = 0;
}

bool session_has_char_device(const struct session *s)
{
	size_t i;

	for (i = 0; i < s->n_ns; i++)
		if (s->ns[i].generic[0])
			return true;
	return false;
}

static const struct nvme_ns *ns_of_disk(const struct session *s, const char *disk, bool *path)
{
	size_t i;
	u32 j;

	for (i = 0; i < s->n_ns; i++) {
		*path = false;
		if (!strcmp(s->ns[i].name, disk))
			return &s->ns[i];
		*path = true;
		for (j = 0; j < s->ns[i].n_paths; j++)
			if (!strcmp(s->ns[i].path[j], disk))
				return &s->ns[i];
	}
	return NULL;
}

static void complete_disk(void *arg, struct known_disk *d)
{
	const struct session *s = arg;
	char name[sizeof(d->ev.name) + 1] = "";
	const struct nvme_ns *ns;
	bool path;

	memcpy(name, d->ev.name, sizeof(d->ev.name));
	ns = ns_of_disk(s, name, &path);
	if (!ns)
		return;
	d->rdev = ns->rdev;
	d->multipath = path;
	if (!d->ev.lba_bytes)
		d->ev.lba_bytes = ns->lba_bytes;
	if (s->o.lba_bytes && ns->lba_bytes && s->o.lba_bytes != ns->lba_bytes && s->lba_conflict)
		s->lba_conflict(name, ns->lba_bytes);
}

static bool find_task(void *arg, u32 tid, struct ev_task *e)
{
	const struct session *s = arg;

	return trace_find_task(s->trace, tid, e);
}

void session_names(struct session *s, struct names *names)
{
	names->find_task = find_task;
	names->complete_disk = complete_disk;
	names->arg = s;
}
