/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up sysfs, proc and dev for tests, after cmocka.h. */
#ifndef KVIO_TEST_TREE_H
#define KVIO_TEST_TREE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/types.h"

/* Writes the text to the file of that path, whose directories are made. */
static void PRINTF(2, 3) put(const char *text, const char *fmt, ...)
{
	char path[512], *slash;
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(!mkdir(path, 0700) || errno == EEXIST);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

#endif
