/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words a command speaks with.  Libraries return -errno and stay silent;
 * the command says one line: what, where, why, what to do.
 */
#ifndef KVIO_ERR_H
#define KVIO_ERR_H

#include "lib/types.h"

/* What kvio's exit status means, for every command. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,     /* failed, or the result is a mismatch */
	EXIT_USAGE = 2,	     /* the command line is wrong */
	EXIT_INCOMPLETE = 3, /* done, but the data has losses or was cut */
};

/* Sets the name that opens every line, e.g. "kvio record".  Not copied. */
void err_set_name(const char *name);

/* -1 quiet (notes are dropped), 0 normal, 1 and up verbose. */
extern int verbosity;

/*
 * Prints "NAME: MESSAGE: reason of -ret" (no reason when ret is 0 or -1) to
 * stderr and returns ret, so that a caller can `return err(ret, ...)`.
 */
int err(int ret, const char *fmt, ...) PRINTF(2, 3);

/* As err() for what does not stop the work.  Returns nothing, exits never. */
void warn(const char *fmt, ...) PRINTF(1, 2);

/* A status line on stderr, dropped by -q.  Not an error. */
void note(const char *fmt, ...) PRINTF(1, 2);

/* A wrong command line: the message, where help is, exit status 2. */
void die_usage(const char *fmt, ...) PRINTF(1, 2) __attribute__((noreturn));

/* A state that the code rules out: says so with its place, and aborts. */
#define bug(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
void bug_at(const char *file, int line, const char *fmt, ...) PRINTF(3, 4) __attribute__((noreturn));

#endif
