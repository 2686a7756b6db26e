/* SPDX-License-Identifier: Apache-2.0 */
/* The live view on a terminal, or as plain text or JSON where there is none. */
#ifndef KVIO_SCREEN_H
#define KVIO_SCREEN_H

#include "lib/buf.h"

/*
 * Takes the terminal: an alternate screen that leaves no trace, keys one by
 * one and unseen.  False, and nothing is changed, when standard input or
 * output is no terminal.
 */
bool screen_open(void);
void screen_close(void);
/* Lines of the terminal; 24 when it does not tell. */
u32 screen_lines(void);
/* True when q was pressed, or the terminal is gone.  Only after screen_open(). */
bool screen_quits(void);
/* Draws the text from the top of the screen; plain output when `screen` is false. */
void screen_show(const struct buf *text, bool screen);

#endif
