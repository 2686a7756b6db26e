// SPDX-License-Identifier: Apache-2.0
#include "session/screen.h"

#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios saved;

bool screen_open(void)
{
	struct termios raw;

	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &saved))
		return false;
	raw = saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs("\033[?1049h\033[?25l", stdout);
	return true;
}

void screen_close(void)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

u32 screen_lines(void)
{
	struct winsize w;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_row ? 24 : w.ws_row;
}

bool screen_quits(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char c = 0;

	return poll(&p, 1, 0) > 0 && (read(STDIN_FILENO, &c, 1) <= 0 || c == 'q' || c == 'Q');
}

void screen_show(const struct buf *text, bool screen)
{
	size_t i;

	if (!screen) {
		fwrite(text->p, 1, text->n, stdout);
	} else {
		fputs("\033[H", stdout);
		for (i = 0; i < text->n; i++) {
			/* What stood there before may have been longer. */
			if (text->p[i] == '\n')
				fputs("\033[K", stdout);
			fputc(text->p[i], stdout);
		}
		fputs("\033[J\nq quits\033[K", stdout);
	}
	fflush(stdout);
}
