// SPDX-License-Identifier: Apache-2.0
/* The files that pages are made of.  The assembler reads them from the root of the tree. */
#include "out/html_work.h"

#ifndef DYGRAPHS
#define DYGRAPHS "/usr/share/javascript/dygraphs"
#endif

/* Ended by NUL, so that a file can be read as text. */
#define EMBED(name, path) \
	__asm__(".pushsection .rodata\n.global " #name "\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.popsection\n")

EMBED(html_page, "data/report.html");
EMBED(html_style, "data/report.css");
EMBED(html_tools, "data/report.js");
EMBED(html_lines, "data/report-lines.js");
EMBED(html_bars, "data/report-bars.js");
EMBED(html_calls, "data/report-calls.js");
EMBED(html_script, "data/report-page.js");
EMBED(html_dygraphs, DYGRAPHS "/dygraph.min.js");
EMBED(html_dygraphs_style, DYGRAPHS "/dygraph.min.css");
