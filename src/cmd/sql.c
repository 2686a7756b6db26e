// SPDX-License-Identifier: Apache-2.0
#include <editline/readline.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/err.h"
#include "lib/zio.h"
#include "model/arm.h"
#include "model/measure.h"
#include "out/sql.h"

static const char *opt_label = "capture", *opt_query_file, *opt_export;
static struct opt_list opt_arms;
static u64 opt_lba;
static bool opt_json, opt_csv;

static const struct opt opts[] = {
	OPT_GROUP("Input"),
	OPT_STR('f', "file", &opt_query_file, "FILE", "read the query from FILE (- is standard input)"),
	OPT_STR(0, "label", &opt_label, "TEXT", "name of the capture that the operands make (default capture)"),
	OPT_LIST(0, "arm", &opt_arms, "LABEL=FILE[,FILE...]",
		 "one capture of several (repeatable); column arm tells them apart; " ARM_QUOTING),
	OPT_SIZE(0, "lba-bytes", &opt_lba, "SIZE",
		 "LBA size, when the capture does not know it (default: what it says)"),
	OPT_GROUP("Output"),
	OPT_FLAG(0, "json", &opt_json, "print JSON: columns and rows of each statement"),
	OPT_FLAG(0, "csv", &opt_csv, "print comma-separated values with a head"),
	OPT_STR(0, "export", &opt_export, "FILE", "copy all tables into a new SQLite file"),
	OPT_END,
};

struct input {
	struct arm *arm;
	struct perfetto_arm *drawn;
	u32 n;
	struct pftrace trace;
	bool is_trace;
	char spool[32]; /* what standard input was copied to */
};

static volatile sig_atomic_t stop;

static void on_interrupt(int sig)
{
	(void)sig;
	stop = 1;
}

/* ---- input ---- */

/* A last operand with blanks that is no file is the query. */
static bool is_query(const char *s)
{
	return strpbrk(s, " \t\n(;*") && access(s, F_OK);
}

/* A file must not take more memory than the machine can do without. */
static u64 memory_limit(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && bytes > 0 ? (u64)pages / 2 * (u64)bytes : 0;
}

/* Copies standard input to a file in memory: what it is must be seen before it is read. */
static int spool(struct input *in)
{
	char chunk[65536];
	ssize_t n;
	int fd = memfd_create("stdin", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	while ((n = read(STDIN_FILENO, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || write(fd, chunk, (size_t)n) != n)
			return -errno;
	}
	snprintf(in->spool, sizeof(in->spool), "/proc/self/fd/%d", fd);
	return 0;
}

static int look(const char *path, bool *trace)
{
	const u8 *head;
	struct zin *z;
	ssize_t n;
	int ret = zin_open(&z, path);

	if (ret)
		return ret;
	n = zin_peek(z, 64, &head);
	*trace = n > 0 && pftrace_sniff(head, (size_t)n);
	zin_close(z);
	return n < 0 ? (int)n : 0;
}

static int load_trace(struct input *in, const char *path)
{
	int ret = pftrace_init(&in->trace, memory_limit());

	if (!ret)
		ret = pftrace_load(&in->trace, path);
	if (ret == -EBADMSG)
		return err(-1, "%s: this is no trace", path);
	if (ret == -EFBIG)
		return err(-1, "%s: the trace needs more than half of the memory; cut it first", path);
	return ret ? err(ret, "cannot read %s", path) : 0;
}

static int load_arms(struct input *in, const char *const *file, size_t n)
{
	u32 first = n > 0, i, k;
	const char *failed;
	int ret = 0;

	in->n = first + (u32)opt_arms.n;
	in->arm = calloc(in->n + 1ul, sizeof(*in->arm));
	in->drawn = calloc(in->n + 1ul, sizeof(*in->drawn));
	if (!in->arm || !in->drawn)
		bug("out of memory");
	if (first)
		ret = arm_init(&in->arm[0], opt_label, file, n, false);
	for (i = first; i < in->n && !ret; i++) {
		ret = arm_parse(&in->arm[i], opt_arms.item[i - first]);
		if (ret == -EINVAL || (!ret && !in->arm[i].n_files))
			die_usage("--arm '%s' is not LABEL=FILE[,FILE...]", opt_arms.item[i - first]);
	}
	if (ret)
		bug("out of memory");
	for (i = 0; i < in->n; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(in->arm[i].label, in->arm[k].label))
				die_usage("two captures have the label '%s'", in->arm[i].label);
	for (i = 0; i < in->n; i++) {
		struct arm *a = &in->arm[i];

		ret = arm_load(a, (u32)opt_lba, &failed);
		if (ret == -EBADMSG && failed)
			return err(-1, "%s: this is no trace and no capture: neither .pftrace, .kvt nor JSON lines",
				   failed);
		if (ret)
			return failed ? err(ret, "cannot read %s", failed)
				      : err(ret, "cannot load the capture '%s'", a->label);
		in->drawn[i] = (struct perfetto_arm){ &a->m, a->label, a->sem_name, a->dev_name };
	}
	return 0;
}

static int load(struct input *in, char **operand, size_t n)
{
	const char **file = calloc(n + 1, sizeof(*file));
	size_t i;
	int ret = 0;

	if (!file)
		bug("out of memory");
	for (i = 0; i < n && !ret; i++) {
		bool trace = false;

		file[i] = operand[i];
		if (!strcmp(file[i], "-")) {
			if (*in->spool)
				die_usage("standard input can be read once only");
			ret = spool(in);
			file[i] = in->spool;
		}
		if (!ret)
			ret = look(file[i], &trace);
		if (ret)
			err(ret, "cannot read %s", operand[i]);
		in->is_trace |= trace;
	}
	if (!ret && in->is_trace && (n > 1 || opt_arms.n))
		die_usage("a trace is queried alone: leave out the other files");
	if (!ret)
		ret = in->is_trace ? load_trace(in, file[0]) : load_arms(in, file, n);
	free(file);
	return ret;
}

static void input_free(struct input *in)
{
	u32 i;

	for (i = 0; in->arm && i < in->n; i++)
		arm_free(&in->arm[i]);
	free(in->arm);
	free(in->drawn);
	if (in->is_trace)
		pftrace_free(&in->trace);
}

/* When there would be too many slices, the writer draws one for several things. */
static bool has_groups(const struct pftrace *t)
{
	u32 key = pftrace_key(t, "debug.n"), i;

	for (i = 0; key != NONE && i < t->arg.n; i++)
		if (PF_KEY(t->arg.key[i]) == key && t->arg.value[i] > 1)
			return true;
	return false;
}

/* A trace says so on its own tracks when its capture was incomplete. */
static bool trace_is_incomplete(const struct pftrace *t)
{
	u32 lossy = strpool_find(&t->strings, "LOSSY", 5), incomplete = strpool_find(&t->strings, "INCOMPLETE", 10), i;

	if (t->count.cut || t->count.malformed || t->count.no_state)
		return true;
	for (i = 0; (lossy || incomplete) && i < t->slice.n; i++)
		if (t->slice.name[i] && (t->slice.name[i] == lossy || t->slice.name[i] == incomplete))
			return true;
	return false;
}

static bool is_incomplete(const struct input *in)
{
	struct health h;
	u32 i;

	if (in->is_trace) {
		if (in->trace.count.defect)
			warn("%s", in->trace.count.defect);
		if (has_groups(&in->trace)) {
			warn("some slices stand for several commands or objects: those are not in cmd and op");
			return true;
		}
		return trace_is_incomplete(&in->trace);
	}
	for (i = 0; i < in->n; i++) {
		health_take(&h, &in->arm[i].m);
		if (h.lossy || h.incomplete ||
		    (!in->arm[i].m.cmd.n && !in->arm[i].m.op.n && !in->arm[i].m.call.n && !in->arm[i].m.uring.n &&
		     !in->arm[i].m.fault.n && !in->arm[i].m.cache.n))
			return true;
	}
	return false;
}

/* ---- queries ---- */

static int write_out(void *arg, const char *p, size_t n)
{
	return fwrite(p, 1, n, arg) == n ? 0 : -EIO;
}

static int query(struct sql *s, const char *text)
{
	enum sql_format format = opt_json ? SQL_JSON : opt_csv ? SQL_CSV : SQL_TABLE;
	struct sigaction act = { .sa_handler = on_interrupt }, old;
	int ret;

	stop = 0;
	sigaction(SIGINT, &act, &old);
	ret = sql_run(s, text, format, write_out, stdout);
	sigaction(SIGINT, &old, NULL);
	if (fflush(stdout) || ferror(stdout))
		ret = ret ? ret : -EIO;
	if (ret == -EINVAL)
		return err(-1, "%s", sql_error(s));
	if (ret == -EINTR)
		return err(-1, "the query was interrupted");
	/* A write error is said once, at the end. */
	return ret && ret != -EIO ? err(ret, "cannot run the query") : ret;
}

static int read_text(struct buf *b, const char *path)
{
	char chunk[65536];
	struct zin *z;
	ssize_t n;
	int ret = zin_open(&z, path);

	if (ret)
		return ret;
	while ((n = zin_read(z, chunk, sizeof(chunk))) > 0)
		buf_add(b, chunk, (size_t)n);
	zin_close(z);
	if (b->n && memchr(b->p, '\0', b->n))
		return -EBADMSG;
	buf_byte(b, '\0');
	return n < 0 ? (int)n : b->failed ? -ENOMEM : 0;
}

static int query_file(struct sql *s, const char *path)
{
	struct buf text = {};
	int ret = read_text(&text, path);

	if (ret == -EBADMSG)
		err(-1, "%s: this is no text", path);
	else if (ret)
		err(ret, "cannot read %s", path);
	else
		ret = query(s, text.p);
	buf_free(&text);
	return ret;
}

/* ---- the prompt ---- */

#define HELP                                       \
	".tables           names of the tables\n"  \
	".schema [TABLE]   their columns\n"        \
	".quit             end (as does Ctrl-D)\n" \
	"Anything else is SQL and ends with a ;\n"

static bool dot_command(const char *line)
{
	struct buf b = {};
	char word[64] = "", name[64] = "";

	sscanf(line, " %63s %63s", word, name);
	if (!strcmp(word, ".quit") || !strcmp(word, ".exit"))
		return false;
	if (!strcmp(word, ".tables"))
		sql_tables(&b);
	else if (!strcmp(word, ".schema")) {
		if (sql_schema(&b, *name ? name : NULL))
			buf_lit(&b, "there is no such table\n");
	} else
		buf_lit(&b, HELP);
	fwrite(b.p, 1, b.n, stdout);
	buf_free(&b);
	return true;
}

static void prompt(struct sql *s)
{
	struct buf text = {};
	char *line = NULL;

	note("SQL, each statement ended by ';'; .help tells more");
	while (!text.failed && (line = readline(text.n ? "   ...> " : "kvio> "))) {
		if (*line)
			add_history(line);
		if (!text.n && *line == '.') {
			bool go_on = dot_command(line);

			free(line);
			if (!go_on)
				break;
			continue;
		}
		buf_add(&text, line, strlen(line));
		buf_add(&text, "\n", sizeof("\n"));
		free(line);
		if (text.failed)
			break;
		if (sql_complete(text.p)) {
			/* A mistake is said and is no reason to end. */
			query(s, text.p);
			buf_reset(&text);
		} else {
			text.n--;
		}
	}
	if (!line)
		fputc('\n', stdout);
	clear_history();
	buf_free(&text);
}

static int work(struct sql *s, const char *text)
{
	int ret = 0;

	if (opt_export) {
		ret = sql_export(s, opt_export);
		if (ret == -EINVAL)
			return err(-1, "cannot write %s: %s", opt_export, sql_error(s));
		if (ret)
			return err(ret, "cannot write %s", opt_export);
	}
	if (text)
		return query(s, text);
	if (opt_query_file)
		return query_file(s, opt_query_file);
	if (opt_export)
		return 0;
	if (!isatty(STDIN_FILENO))
		return query_file(s, "-");
	prompt(s);
	return 0;
}

static int run(int argc, char **argv)
{
	struct input in = {};
	const char *text = NULL;
	struct sql *s = NULL;
	int status = EXIT_FAILED, ret;

	opt_parse(&cmd_sql, &argc, argv, NULL);
	if (opt_json && opt_csv)
		die_usage("--json and --csv exclude each other");
	if (opt_lba > UINT32_MAX)
		die_usage("--lba-bytes %llu is no LBA size", (unsigned long long)opt_lba);
	if (argc > 1 && !opt_query_file && is_query(argv[argc - 1]))
		text = argv[--argc];
	if (argc < 2 && !opt_arms.n)
		die_usage("name a capture or a trace to query");
	if (load(&in, argv + 1, (size_t)argc - 1))
		goto out;
	ret = sql_open(&s, in.drawn, in.n, in.is_trace ? &in.trace : NULL, memory_limit());
	if (ret) {
		err(ret, "cannot open the data");
		goto out;
	}
	sql_set_stop(s, &stop);
	if (!work(s, text))
		status = EXIT_OK;
	if (status == EXIT_OK && is_incomplete(&in)) {
		warn("the data is incomplete: see the tables loss and stats");
		status = EXIT_INCOMPLETE;
	}
out:
	sql_close(s);
	input_free(&in);
	free(opt_arms.item);
	return status;
}

const struct cmd cmd_sql = {
	.name = "sql",
	.summary = "ask captures and Perfetto traces in SQL",
	.usage = "CAPTURE [SEMANTIC...] [QUERY]\n"
		 "TRACE.pftrace [QUERY]\n"
		 "--arm LABEL=FILE[,FILE...] [--arm ...] [QUERY]",
	.description =
		"The tables of Perfetto's trace_processor (slice, process_track, counter, flow, args, ...; "
		"function extract_arg) give the same answers for a capture and for the trace drawn of it.  "
		"Beside them are plain tables: cmd (a row a command), syscall, uring (io_uring requests), fault, cache "
		"(files: page faults, page cache), block (devices), op (objects), span (serving), and what belongs to "
		"them: device, task, extent, mapped_file, dsm_range, marker, loss, meta; and percentile(value, "
		"percent).  docs/sql-cookbook.md has queries to start from.\n"
		"\n"
		"QUERY is the last operand, when it has blanks and is no file; -f reads it from a file, and "
		"without either it is read from standard input, with a prompt on a terminal.  The data can "
		"only be read: statements that write, attach or load are refused.\n"
		"\n"
		"The status is 3 when the data is incomplete: events were lost while recording, or the "
		"input is cut or damaged.",
	.examples = "kvio sql run.kvt \"select op, percentile(lat_ns, 99) from cmd group by op\"\n"
		    "    latency by operation\n"
		    "kvio sql run.pftrace --csv -f objects.sql\n"
		    "    a query from a file over a trace\n"
		    "kvio sql run.kvt sem.jsonl --export run.sqlite\n"
		    "    a file for other tools",
	.opts = opts,
	.run = run,
};
