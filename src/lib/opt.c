// SPDX-License-Identifier: Apache-2.0
/* Parsing and --help.  The man page and completion are in opt_gen.c. */
#include "lib/opt.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/opt_common.h"
#include "lib/str.h"

static bool no_color, want_help, quiet;
static bool verbose;
static bool older_name;

const struct opt opt_common[] = {
	OPT_GROUP("Common options"),
	OPT_FLAG('q', "quiet", &quiet, "no notes on stderr, only warnings and errors"),
	OPT_FLAG('v', "verbose", &verbose, "say more"),
	OPT_FLAG(0, "no-color", &no_color, "no colour, also when NO_COLOR is set"),
	OPT_FLAG('h', "help", &want_help, "show this help"),
	OPT_END,
};

void opt_set_older(void)
{
	older_name = true;
}

bool opt_is_older(void)
{
	return older_name;
}

bool opt_color(FILE *f)
{
	return !no_color && !getenv("NO_COLOR") && isatty(fileno(f));
}

static const struct opt *find_in(const struct opt *o, const char *name, size_t n, char short_name)
{
	for (; o->type != OPT_T_END; o++) {
		if (o->type == OPT_T_GROUP)
			continue;
		if (short_name ? o->short_name == short_name : strlen(o->name) == n && !memcmp(o->name, name, n))
			return o;
	}
	return NULL;
}

static const struct opt *find(const struct cmd *cmd, const char *name, size_t n, char short_name)
{
	const struct opt *o = older_name && cmd->older ? find_in(cmd->older, name, n, short_name) : NULL;

	o = o ? o : find_in(cmd->opts, name, n, short_name);
	return o ? o : find_in(opt_common, name, n, short_name);
}

static void __attribute__((noreturn)) die_unknown(const struct cmd *cmd, const char *name, size_t n)
{
	const struct opt *tables[] = { cmd->opts, opt_common };
	const char *words[128], *near;
	char word[64];
	size_t n_words = 0, i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct opt *o;

		for (o = tables[i]; o->type != OPT_T_END && n_words < ARRAY_SIZE(words); o++)
			if (o->type != OPT_T_GROUP && !o->hidden)
				words[n_words++] = o->name;
	}
	snprintf(word, sizeof(word), "%.*s", (int)n, name);
	near = str_nearest(word, words, n_words);
	if (near)
		die_usage("unknown option '--%s', did you mean '--%s'?", word, near);
	die_usage("unknown option '--%s'", word);
}

static bool is_choice(const char *choices, const char *value)
{
	size_t n = strlen(value);
	const char *at = choices;

	while (at) {
		size_t len = strcspn(at, "|");

		if (n == len && !memcmp(at, value, n))
			return true;
		at = at[len] ? at + len + 1 : NULL;
	}
	return false;
}

static void list_add(struct opt_list *l, const char *item)
{
	const char **p = realloc(l->item, (l->n + 1) * sizeof(*p));

	if (!p)
		die_usage("out of memory");
	l->item = p;
	l->item[l->n++] = item;
}

static void set(const struct opt *o, const char *spelled, const char *value)
{
	int ret = 0;

	switch (o->type) {
	case OPT_T_FLAG:
		*(bool *)o->value = true;
		return;
	case OPT_T_STR:
		*(const char **)o->value = value;
		return;
	case OPT_T_CHOICE:
		if (!is_choice(o->metavar, value))
			die_usage("%s: '%s' is not one of %s", spelled, value, o->metavar);
		*(const char **)o->value = value;
		return;
	case OPT_T_LIST:
		list_add(o->value, value);
		return;
	case OPT_T_U64:
		ret = str_u64(value, o->value);
		break;
	case OPT_T_SIZE:
		ret = str_size(value, o->value);
		break;
	case OPT_T_DURATION:
		ret = str_ns(value, o->value);
		break;
	default:
		bug("option --%s has no type", o->name);
	}
	if (ret == -ERANGE)
		die_usage("%s: '%s' is too large", spelled, value);
	if (ret)
		die_usage("%s: '%s' is not %s", spelled, value,
			  o->type == OPT_T_U64	  ? "a whole number"
			  : o->type == OPT_T_SIZE ? "a size (such as 4096, 4k, 1GiB)"
						  : "a duration (such as 10s, 5ms, 200us)");
}

/* Handles argv[i] (and its argument); returns how many words it took. */
static int parse_long(const struct cmd *cmd, int argc, char **argv, int i)
{
	const char *name = argv[i] + 2;
	size_t n = strcspn(name, "=");
	const struct opt *o = find(cmd, name, n, 0);
	char spelled[80];

	if (!o)
		die_unknown(cmd, name, n);
	snprintf(spelled, sizeof(spelled), "--%s", o->name);
	if (o->type == OPT_T_FLAG) {
		if (name[n])
			die_usage("%s takes no argument", spelled);
		set(o, spelled, NULL);
		return 1;
	}
	if (name[n]) {
		set(o, spelled, name + n + 1);
		return 1;
	}
	if (i + 1 >= argc)
		die_usage("%s needs an argument", spelled);
	set(o, spelled, argv[i + 1]);
	return 2;
}

static int parse_short(const struct cmd *cmd, int argc, char **argv, int i)
{
	const char *s;
	char spelled[3] = "-";

	for (s = argv[i] + 1; *s; s++) {
		const struct opt *o = find(cmd, NULL, 0, *s);

		if (!o)
			die_usage("unknown option '-%c'", isprint((unsigned char)*s) ? *s : '?');
		spelled[1] = *s;
		if (o->type == OPT_T_FLAG) {
			set(o, spelled, NULL);
			if (o->value == &verbose)
				verbosity++;
			continue;
		}
		if (s[1]) {
			set(o, spelled, s + 1);
			return 1;
		}
		if (i + 1 >= argc)
			die_usage("%s needs an argument", spelled);
		set(o, spelled, argv[i + 1]);
		return 2;
	}
	return 1;
}

void opt_parse(const struct cmd *cmd, int *argc, char **argv, char ***rest)
{
	static char *nothing[] = { NULL };
	int i = 1, n = 1;

	if (rest)
		*rest = nothing;
	while (i < *argc) {
		if (!strcmp(argv[i], "--")) {
			if (rest) {
				*rest = argv + i + 1;
				break;
			}
			for (i++; i < *argc; i++)
				argv[n++] = argv[i];
			break;
		}
		if (argv[i][0] == '-' && argv[i][1] == '-')
			i += parse_long(cmd, *argc, argv, i);
		else if (argv[i][0] == '-' && argv[i][1])
			i += parse_short(cmd, *argc, argv, i);
		else
			argv[n++] = argv[i++];
	}
	*argc = n;
	if (want_help) {
		opt_print_help(stdout, cmd);
		exit(fflush(stdout) ? EXIT_FAILED : EXIT_OK);
	}
	if (verbose && verbosity < 1)
		verbosity = 1;
	if (quiet)
		verbosity = -1;
}

/* Text in lines of at most 78 columns, each behind `indent` blanks; the first starts at column `at_col`. */
static void print_wrapped(FILE *f, const char *text, int indent, int at_col)
{
	const char *at = text;
	int width = 78 - indent;

	while (*at) {
		int line = (int)strcspn(at, "\n"), take = line;

		if (take > width) {
			for (take = width; take > 0 && at[take] != ' '; take--)
				;
			if (!take)
				take = width;
		}
		fprintf(f, "%*s%.*s\n", take ? indent - at_col : 0, "", take, at);
		at_col = 0;
		at += take;
		if (*at == ' ' || *at == '\n')
			at++;
	}
}

void opt_spell(char *out, size_t n, const struct opt *o)
{
	snprintf(out, n, "%s%c%s--%s%s%s", o->short_name ? "-" : "", o->short_name ? o->short_name : ' ',
		 o->short_name ? ", " : "   ", o->name, o->metavar ? " " : "", o->metavar ? o->metavar : "");
}

static void print_options(FILE *f, const struct opt *o)
{
	bool titled = false;

	for (; o->type != OPT_T_END; o++) {
		char spelled[128];

		if (o->hidden)
			continue;
		if (o->type == OPT_T_GROUP || !titled) {
			fprintf(f, "\n%s:\n", o->type == OPT_T_GROUP ? o->help : "Options");
			titled = true;
			if (o->type == OPT_T_GROUP)
				continue;
		}
		opt_spell(spelled, sizeof(spelled), o);
		if (strlen(spelled) <= 24) {
			fprintf(f, "  %-25s", spelled);
			print_wrapped(f, o->help, 28, 27);
		} else {
			fprintf(f, "  %s\n", spelled);
			print_wrapped(f, o->help, 28, 0);
		}
	}
}

void opt_print_help(FILE *f, const struct cmd *cmd)
{
	const char *at = cmd->usage;
	bool first = true;

	fprintf(f, "kvio %s: %s\n\n", cmd->name, cmd->summary);
	do {
		int n = (int)strcspn(at, "\n");

		fprintf(f, "%s kvio %s%s%.*s\n", first ? "Usage:" : "      ", cmd->name, n ? " " : "", n, at);
		first = false;
		at += n;
	} while (*at++ == '\n');
	if (cmd->description) {
		fputc('\n', f);
		print_wrapped(f, cmd->description, 0, 0);
	}
	if (older_name && cmd->older)
		print_options(f, cmd->older);
	print_options(f, cmd->opts);
	print_options(f, opt_common);
	fprintf(f, "\nExamples:\n");
	print_wrapped(f, cmd->examples, 2, 0);
}
