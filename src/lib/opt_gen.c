// SPDX-License-Identifier: Apache-2.0
/* The man page and shell completion, made from the option tables. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/opt_common.h"

/* Text for roff: backslashes and dashes escaped, no line that starts a request. */
static void roff(FILE *f, const char *s)
{
	bool start = true;

	for (; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			fputs("\\&", f);
		if (*s == '\\')
			fputs("\\e", f);
		else if (*s == '-')
			fputs("\\-", f);
		else
			fputc(*s, f);
		start = *s == '\n';
	}
}

static void man_options(FILE *f, const struct opt *o)
{
	for (; o->type != OPT_T_END; o++) {
		if (o->hidden)
			continue;
		if (o->type == OPT_T_GROUP) {
			fprintf(f, ".SS ");
			roff(f, o->help);
			fputc('\n', f);
			continue;
		}
		fprintf(f, ".TP\n.B ");
		if (o->short_name)
			fprintf(f, "\\-%c, ", o->short_name);
		fprintf(f, "\\-\\-");
		roff(f, o->name);
		if (o->metavar) {
			fputs(" \\fI", f);
			roff(f, o->metavar);
			fputs("\\fR", f);
		}
		fputc('\n', f);
		roff(f, o->help);
		fputc('\n', f);
	}
}

/* "COMMAND\n    what it does" pairs; a line that starts with blanks explains. */
static void man_examples(FILE *f, const char *text)
{
	while (*text) {
		int n = (int)strcspn(text, "\n");
		bool explains = *text == ' ';
		char line[512];

		snprintf(line, sizeof(line), "%.*s", n, text);
		fputs(explains ? "" : ".TP\n.B ", f);
		roff(f, line + strspn(line, " "));
		fputc('\n', f);
		text += n;
		text += *text == '\n';
	}
}

/* Paragraphs with empty lines between; one that begins with a blank is printed as it stands. */
static void man_paragraphs(FILE *f, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t n = end ? (size_t)(end - text) : strlen(text);
		char *one = strndup(text, n);

		if (!one)
			return;
		fputs(*one == ' ' ? ".PP\n.nf\n" : "", f);
		roff(f, one);
		fputs(*one == ' ' ? "\n.fi\n" : "\n", f);
		free(one);
		text += n;
		if (!end)
			break;
		text += 2;
		fputs(*text == ' ' ? "" : ".PP\n", f);
	}
}

/* Sections, with two empty lines between: a title, then its paragraphs. */
static void man_notes(FILE *f, const char *text)
{
	while (*text) {
		int n = (int)strcspn(text, "\n");
		const char *next = strstr(text, "\n\n\n");
		char *body;

		fprintf(f, ".SH %.*s\n", n, text);
		text += n + 1;
		body = next ? strndup(text, (size_t)(next - text)) : strdup(text);
		if (body)
			man_paragraphs(f, body);
		free(body);
		if (!next)
			break;
		text = next + 3;
	}
}

void opt_print_man(FILE *f, const struct cmd *cmd, const char *version)
{
	const char *at = cmd->usage;
	size_t i;

	fprintf(f, ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH KVIO\\-");
	for (i = 0; cmd->name[i]; i++)
		fputc(toupper((unsigned char)cmd->name[i]), f);
	fprintf(f, " 1 \"\" \"kvio ");
	roff(f, version);
	fprintf(f, "\" \"kvio manual\"\n.SH NAME\nkvio\\-%s \\- ", cmd->name);
	roff(f, cmd->summary);
	fprintf(f, "\n.SH SYNOPSIS\n.nf\n");
	do {
		int n = (int)strcspn(at, "\n");
		char line[256];

		snprintf(line, sizeof(line), "%.*s", n, at);
		fprintf(f, "\\fBkvio %s\\fR ", cmd->name);
		roff(f, line);
		fputc('\n', f);
		at += n;
	} while (*at++ == '\n');
	fprintf(f, ".fi\n");
	if (cmd->description) {
		fprintf(f, ".SH DESCRIPTION\n");
		man_paragraphs(f, cmd->description);
	}
	fprintf(f, ".SH OPTIONS\n");
	man_options(f, cmd->opts);
	man_options(f, opt_common);
	fprintf(f, ".SH EXIT STATUS\n0 done; 1 failed, or the result is a mismatch; 2 wrong command line; "
		   "3 done, but the data is incomplete.\n");
	if (cmd->notes)
		man_notes(f, cmd->notes);
	fprintf(f, ".SH EXAMPLES\n");
	man_examples(f, cmd->examples);
	fprintf(f, ".SH SEE ALSO\n.BR kvio (1)\n");
}

typedef void (*opt_fn)(FILE *f, const struct cmd *cmd, const struct opt *o);

static void each_option(FILE *f, const struct cmd *cmd, opt_fn fn)
{
	const struct opt *tables[] = { cmd->opts, opt_common };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct opt *o;

		for (o = tables[i]; o->type != OPT_T_END; o++)
			if (o->type != OPT_T_GROUP && !o->hidden)
				fn(f, cmd, o);
	}
}

/* Help text between single quotes of any of the three shells. */
static void quoted(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", f);
		else if (*s == '[' || *s == ']' || *s == ':')
			fprintf(f, "\\%c", *s);
		else
			fputc(*s, f);
	}
}

static void bash_opt(FILE *f, const struct cmd *cmd, const struct opt *o)
{
	(void)cmd;
	fprintf(f, " --%s", o->name);
}

static void bash_choice(FILE *f, const struct cmd *cmd, const struct opt *o)
{
	const char *s;

	if (o->type != OPT_T_CHOICE)
		return;
	fprintf(f, "	%s:--%s) words='", cmd->name, o->name);
	for (s = o->metavar; *s; s++)
		fputc(*s == '|' ? ' ' : *s, f);
	fprintf(f, "' ;;\n");
}

static void print_words(FILE *f, const struct cmd *cmd)
{
	const char *const *w;

	for (w = cmd->words; w && *w; w++)
		fprintf(f, " %s", *w);
}

static void print_bash(FILE *f, const struct cmd *const *cmds, size_t n)
{
	size_t i;

	fprintf(f, "# bash completion for kvio\n_kvio()\n{\n"
		   "	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
		   "	if [ \"$COMP_CWORD\" -eq 1 ]; then\n		words='");
	for (i = 0; i < n; i++)
		fprintf(f, "%s%s", i ? " " : "", cmds[i]->name);
	fprintf(f, "'\n		COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n		return\n	fi\n"
		   "	case ${COMP_WORDS[1]}:$prev in\n");
	for (i = 0; i < n; i++)
		each_option(f, cmds[i], bash_choice);
	fprintf(f, "	*) case ${COMP_WORDS[1]} in\n");
	for (i = 0; i < n; i++) {
		fprintf(f, "	%s) words='", cmds[i]->name);
		print_words(f, cmds[i]);
		each_option(f, cmds[i], bash_opt);
		fprintf(f, "' ;;\n");
	}
	fprintf(f, "	esac ;;\n	esac\n	COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		   "	[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$cur\"))\n}\n"
		   "complete -o filenames -F _kvio kvio\n");
}

static void zsh_opt(FILE *f, const struct cmd *cmd, const struct opt *o)
{
	const char *s;

	(void)cmd;
	fprintf(f, "		'--%s[", o->name);
	quoted(f, o->help);
	fputc(']', f);
	if (o->type == OPT_T_CHOICE) {
		fprintf(f, ":choice:(");
		for (s = o->metavar; *s; s++)
			fputc(*s == '|' ? ' ' : *s, f);
		fputc(')', f);
	} else if (o->metavar) {
		fprintf(f, ":%s:_files", o->metavar);
	}
	fprintf(f, "' \\\n");
}

static void print_zsh(FILE *f, const struct cmd *const *cmds, size_t n)
{
	size_t i;

	fprintf(f, "#compdef kvio\n_kvio() {\n	local -a commands\n	commands=(\n");
	for (i = 0; i < n; i++) {
		fprintf(f, "	'%s:", cmds[i]->name);
		quoted(f, cmds[i]->summary);
		fprintf(f, "'\n");
	}
	fprintf(f,
		"	)\n	if (( CURRENT == 2 )); then\n		_describe command commands\n		return\n	fi\n"
		"	case $words[2] in\n");
	for (i = 0; i < n; i++) {
		fprintf(f, "	%s)\n		_arguments \\\n", cmds[i]->name);
		each_option(f, cmds[i], zsh_opt);
		if (cmds[i]->words) {
			fprintf(f, "		'*:operand:(");
			print_words(f, cmds[i]);
			fprintf(f, ")' ;;\n");
		} else {
			fprintf(f, "		'*:file:_files' ;;\n");
		}
	}
	fprintf(f, "	esac\n}\ncompdef _kvio kvio\n");
}

static void fish_opt(FILE *f, const struct cmd *cmd, const struct opt *o)
{
	const char *s;

	fprintf(f, "complete -c kvio -n '__fish_seen_subcommand_from %s' -l %s", cmd->name, o->name);
	if (o->short_name)
		fprintf(f, " -s %c", o->short_name);
	if (o->type == OPT_T_CHOICE) {
		fprintf(f, " -x -a '");
		for (s = o->metavar; *s; s++)
			fputc(*s == '|' ? ' ' : *s, f);
		fputc('\'', f);
	} else if (o->metavar) {
		fprintf(f, " -r");
	}
	fprintf(f, " -d '");
	quoted(f, o->help);
	fprintf(f, "'\n");
}

static void print_fish(FILE *f, const struct cmd *const *cmds, size_t n)
{
	size_t i;

	fprintf(f, "# fish completion for kvio\n");
	for (i = 0; i < n; i++) {
		fprintf(f, "complete -c kvio -n __fish_use_subcommand -f -a %s -d '", cmds[i]->name);
		quoted(f, cmds[i]->summary);
		fprintf(f, "'\n");
		if (cmds[i]->words) {
			fprintf(f, "complete -c kvio -n '__fish_seen_subcommand_from %s' -f -a '", cmds[i]->name);
			print_words(f, cmds[i]);
			fprintf(f, "'\n");
		}
		each_option(f, cmds[i], fish_opt);
	}
}

int opt_print_completion(FILE *f, const char *shell, const struct cmd *const *cmds, size_t n)
{
	if (!strcmp(shell, "bash"))
		print_bash(f, cmds, n);
	else if (!strcmp(shell, "zsh"))
		print_zsh(f, cmds, n);
	else if (!strcmp(shell, "fish"))
		print_fish(f, cmds, n);
	else
		return -EINVAL;
	return 0;
}
