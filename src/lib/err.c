// SPDX-License-Identifier: Apache-2.0
#include "lib/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int verbosity;
static const char *name = "kvio";

void err_set_name(const char *n)
{
	name = n;
}

static void say(const char *word, const char *reason, const char *fmt, va_list ap)
{
	char line[2048];
	size_t i;

	vsnprintf(line, sizeof(line), fmt, ap);
	/* Names from captures and command lines end up here: no terminal escapes. */
	for (i = 0; line[i]; i++)
		if ((unsigned char)line[i] < 0x20 && line[i] != '\n' && line[i] != '\t')
			line[i] = '?';
	fprintf(stderr, "%s: %s%s%s%s\n", name, word, line, reason ? ": " : "", reason ? reason : "");
}

int err(int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", ret < -1 ? strerror(-ret) : NULL, fmt, ap);
	va_end(ap);
	return ret;
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", NULL, fmt, ap);
	va_end(ap);
}

void note(const char *fmt, ...)
{
	va_list ap;

	if (verbosity < 0)
		return;
	va_start(ap, fmt);
	say("", NULL, fmt, ap);
	va_end(ap);
}

void die_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", NULL, fmt, ap);
	va_end(ap);
	fprintf(stderr, "Try '%s --help'.\n", name);
	exit(EXIT_USAGE);
}

void bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: BUG at %s:%d: ", name, file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
