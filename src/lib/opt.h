/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of options a command.  It parses the command line and is the only
 * source of --help, the man page and shell completion, so they cannot differ.
 */
#ifndef KVIO_OPT_H
#define KVIO_OPT_H

#include <stdio.h>

#include "lib/types.h"

enum opt_type {
	OPT_T_END,
	OPT_T_GROUP,	/* a heading in --help */
	OPT_T_FLAG,	/* bool: set to true */
	OPT_T_STR,	/* const char *: points into argv */
	OPT_T_U64,	/* u64: decimal or 0x hex */
	OPT_T_SIZE,	/* u64 bytes: 4096, 4k, 1GiB */
	OPT_T_DURATION, /* u64 ns: 10s, 5ms; a bare number is seconds */
	OPT_T_LIST,	/* struct opt_list: repeatable */
	OPT_T_CHOICE,	/* const char *: one of metavar's words "a|b|c" */
};

struct opt {
	enum opt_type type;
	char short_name;  /* 0 = none */
	bool hidden;	  /* an older spelling: parsed, not advertised */
	const char *name; /* without the dashes */
	void *value;
	const char *metavar; /* what --help shows as the argument */
	const char *help;
};

struct opt_list {
	const char **item;
	size_t n;
};

/* clang-format off */
#define OPT_END { .type = OPT_T_END }
#define OPT_GROUP(title) { .type = OPT_T_GROUP, .help = (title) }
#define OPT_FLAG(s, l, v, h) { OPT_T_FLAG, s, false, l, v, NULL, h }
#define OPT_STR(s, l, v, m, h) { OPT_T_STR, s, false, l, v, m, h }
#define OPT_U64(s, l, v, m, h) { OPT_T_U64, s, false, l, v, m, h }
#define OPT_SIZE(s, l, v, m, h) { OPT_T_SIZE, s, false, l, v, m, h }
#define OPT_DURATION(s, l, v, m, h) { OPT_T_DURATION, s, false, l, v, m, h }
#define OPT_LIST(s, l, v, m, h) { OPT_T_LIST, s, false, l, v, m, h }
#define OPT_CHOICE(s, l, v, m, h) { OPT_T_CHOICE, s, false, l, v, m, h }
/* An older spelling of another option: same type and value. */
#define OPT_OLD(t, l, v) { t, 0, true, l, v, NULL, NULL }
/* clang-format on */

/* A command as the table in kvio.c, --help, the man page and completion see it. */
struct cmd {
	const char *name;
	const char *summary;	 /* one line, no full stop */
	const char *usage;	 /* what follows "kvio NAME", one form a line */
	const char *description; /* paragraphs for --help and the man page, or NULL */
	/*
	 * More sections of the man page, or NULL: a title, its paragraphs behind an
	 * empty line each, two empty lines before the next title.  A paragraph that
	 * begins with a blank is printed as it stands.
	 */
	const char *notes;
	const char *examples;	  /* lines "COMMAND\n    what it does" */
	const char *const *words; /* operands that completion offers, NULL-ended, or NULL */
	const struct opt *opts;
	const struct opt *older; /* options that mean something else under an older name of the command, or NULL */
	/* argv[0] is the name; returns the exit status (enum exit_code). */
	int (*run)(int argc, char **argv);
};

/*
 * Parses argv[1..] against the table and the common options (-h -v -q
 * --no-color).  Operands are moved to the front, options may stand between
 * them; "--" ends the options.  *argc and argv are left with the operands
 * only; what follows "--" is returned (NULL-ended) when `rest` is not NULL,
 * else it counts as operands.  --help prints and exits 0; a wrong option
 * exits 2 with the nearest one suggested.
 */
void opt_parse(const struct cmd *cmd, int *argc, char **argv, char ***rest);

/* The program was called by an older name: cmd.older stands before cmd.opts. */
void opt_set_older(void);
bool opt_is_older(void);

/* False when --no-color was given, NO_COLOR is set or the stream is no terminal. */
bool opt_color(FILE *f);

void opt_print_help(FILE *f, const struct cmd *cmd);
/* The command's man page (section 1) in roff. */
void opt_print_man(FILE *f, const struct cmd *cmd, const char *version);
/* A completion script of `shell` ("bash", "zsh", "fish") for all commands. */
int opt_print_completion(FILE *f, const char *shell, const struct cmd *const *cmds, size_t n);

#endif
