// SPDX-License-Identifier: Apache-2.0
#include "lib/progress.h"

#include <unistd.h>

#include "lib/clock.h"
#include "lib/human.h"

#define EVERY_NS 200000000ull

char *progress_text(char *out, size_t n, u64 done, u64 total, const char *unit, u64 elapsed_ns)
{
	char left[32];

	if (!done || done > total)
		snprintf(out, n, "%llu of %llu %s", ULL(done), ULL(total), unit);
	else
		snprintf(out, n, "%llu of %llu %s, %s left", ULL(done), ULL(total), unit,
			 human_ns(left, sizeof(left),
				  (u64)((double)elapsed_ns / (double)done * (double)(total - done))));
	return out;
}

void progress_start(struct progress *p, FILE *f, bool quiet, u64 total, const char *unit)
{
	*p = (struct progress){ .f = !quiet && isatty(fileno(f)) ? f : NULL, .unit = unit, .total = total };
	p->start_ns = clock_ns(CLOCK_MONOTONIC);
	p->next_ns = p->start_ns + EVERY_NS;
}

void progress_update(struct progress *p, u64 done)
{
	char text[160];
	u64 now;

	if (!p->f || (now = clock_ns(CLOCK_MONOTONIC)) < p->next_ns)
		return;
	p->next_ns = now + EVERY_NS;
	fprintf(p->f, "\r\033[K%s", progress_text(text, sizeof(text), done, p->total, p->unit, now - p->start_ns));
	fflush(p->f);
}

void progress_end(struct progress *p)
{
	if (p->f)
		fputs("\r\033[K", p->f);
	p->f = NULL;
}
