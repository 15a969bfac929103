// SPDX-License-Identifier: GPL-2.0-or-later
/* screen.c - switches the terminal to a full screen, and reads keys (screen.h). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/screen.h"

#define ENTER "\033[?1049h\033[?25l\033[?7l"	/* another screen, no cursor, no wrapping */
#define LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"

enum { MAX_MESSAGES = 64 << 10, ESCAPE_MS = 25 };

/* There is one terminal. */
static struct {
	volatile sig_atomic_t on;
	pid_t pid;
	int fd;				/* the terminal, to write to */
	int streams[3];			/* what they were */
	int messages;			/* what stderr is meanwhile */
	struct termios before, raw;
	volatile sig_atomic_t stale;
} screen = { .fd = -1 };

/* Signals that end a process: the terminal is restored first. */
static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTERM,
	SIGSYS, SIGXCPU };

bool screen_possible(void)
{
	const char *name = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && name && *name && strcmp(name, "dumb");
}

/* Call only async-signal-safe functions here. */
static void screen_restore(void)
{
	ssize_t ignored;

	if (!screen.on || getpid() != screen.pid)	/* not for a child that did not exec yet */
		return;
	screen.on = false;
	ignored = write(screen.fd, LEAVE, sizeof(LEAVE) - 1);
	(void)ignored;
	tcsetattr(screen.fd, TCSANOW, &screen.before);
}

static void die(int sig)
{
	screen_restore();
	raise(sig);	/* SA_RESETHAND: that is the end */
}

static void resized(int sig)
{
	screen.stale = true;
}

static void handle_signals(void)
{
	struct sigaction on_death = { .sa_handler = die, .sa_flags = SA_RESETHAND | SA_NODEFER };
	struct sigaction on_size = { .sa_handler = resized }, old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(deadly); i++)
		if (!sigaction(deadly[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(deadly[i], &on_death, NULL);
	sigaction(SIGWINCH, &on_size, NULL);
}

static void forget_signals(void)
{
	struct sigaction old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(deadly); i++)
		if (!sigaction(deadly[i], NULL, &old) && old.sa_handler == die)
			signal(deadly[i], SIG_DFL);
	signal(SIGWINCH, SIG_DFL);
}

static void screen_enter(void)
{
	tcsetattr(screen.fd, TCSANOW, &screen.raw);
	screen.on = true;
	io_write_all(screen.fd, ENTER, sizeof(ENTER) - 1);
	screen.stale = true;
}

static void replace_streams(int null)
{
	int i;

	for (i = 0; i < 3; i++) {
		screen.streams[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
		dup2(i == STDERR_FILENO ? screen.messages : null, i);
	}
}

int screen_open(struct err *e)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	screen.pid = getpid();
	screen.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	screen.messages = memfd_create("messages", MFD_CLOEXEC);
	if (null < 0 || screen.fd < 0 || screen.messages < 0 || tcgetattr(screen.fd, &screen.before))
		return err_errno(e, "the terminal");
	fcntl(screen.messages, F_SETFL, O_APPEND);
	screen.raw = screen.before;
	screen.raw.c_iflag &= ~(IXON | ICRNL | INLCR);
	screen.raw.c_lflag &= ~(ICANON | ECHO | ISIG | IEXTEN);
	screen.raw.c_cc[VMIN] = 0;
	screen.raw.c_cc[VTIME] = 0;
	handle_signals();
	replace_streams(null);
	close(null);
	screen_enter();
	return 0;
}

/* Print the messages of the time meanwhile. */
static void show_messages(void)
{
	char piece[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(screen.messages, piece, sizeof(piece), at)) > 0) {
		io_write_all(STDERR_FILENO, piece, n);
		at += n;
	}
}

void screen_close(void)
{
	int i;

	if (screen.fd < 0)
		return;
	screen_restore();
	forget_signals();
	for (i = 0; i < 3; i++) {
		dup2(screen.streams[i], i);
		close(screen.streams[i]);
	}
	show_messages();
	close(screen.messages);
	close(screen.fd);
	screen.fd = -1;
}

int screen_fd(void)
{
	return screen.streams[STDIN_FILENO];
}

int screen_terminal(void)
{
	return screen.fd;
}

void screen_size(int *rows, int *columns)
{
	struct winsize size;
	bool known = !ioctl(screen.fd, TIOCGWINSZ, &size);

	*rows = known && size.ws_row ? size.ws_row : 24;
	*columns = known && size.ws_col ? size.ws_col : 80;
}

bool screen_is_stale(void)
{
	bool was = screen.stale;

	screen.stale = false;
	return was;
}

/* Truncate messages at a limit: they are not read while the screen is shown. */
static void bound_messages(void)
{
	if (lseek(screen.messages, 0, SEEK_END) > MAX_MESSAGES && ftruncate(screen.messages, 0))
		return;
}

void screen_draw(const struct buf *text)
{
	const char *at = text->data ? text->data : "", *end;
	struct buf b = BUF_INIT;

	bound_messages();
	buf_str(&b, "\033[H");
	for (; (end = strchr(at, '\n')); at = end + 1) {
		buf_add(&b, at, end - at);
		buf_str(&b, "\033[K");
		if (end[1])		/* none after the last line, which would scroll */
			buf_str(&b, "\r\n");
	}
	buf_str(&b, "\033[J");
	io_write_all(screen.fd, b.data, b.len);
	buf_release(&b);
}

static void suspend(void)
{
	screen_restore();
	raise(SIGSTOP);
	screen_enter();
}

static int read_char(int wait_ms)
{
	struct pollfd fd = { screen_fd(), POLLIN, 0 };
	unsigned char c;

	if (poll(&fd, 1, wait_ms) <= 0)
		return KEY_NONE;
	return read(fd.fd, &c, 1) == 1 ? c : KEY_END;
}

/* Return the key of an escape sequence, or KEY_ESCAPE for Escape alone. */
static int escape_key(void)
{
	static const int numbered[] = {
		KEY_HOME, KEY_NONE, KEY_NONE, KEY_BOTTOM, KEY_PAGE_UP, KEY_PAGE_DOWN,
	};
	int c = read_char(ESCAPE_MS), last;

	if (c != '[' && c != 'O')
		return KEY_ESCAPE;
	c = read_char(ESCAPE_MS);
	for (last = c; last >= 0 && last < '@';)
		last = read_char(ESCAPE_MS);
	switch (last) {
	case 'A': return KEY_UP;
	case 'B': return KEY_DOWN;
	case 'C': return KEY_RIGHT;
	case 'D': return KEY_LEFT;
	case 'F': return KEY_BOTTOM;
	case 'H': return KEY_HOME;
	case '~': return c >= '1' && c <= '6' ? numbered[c - '1'] : KEY_NONE;
	}
	return KEY_NONE;
}

int screen_key(void)
{
	int c = read_char(0);

	switch (c) {
	case 3:
	case 4: return KEY_INTERRUPT;
	case 8:
	case 127: return KEY_BACKSPACE;
	case '\r':
	case '\n': return KEY_ENTER;
	case 26:
		suspend();
		return screen_key();
	case 27: return escape_key();
	}
	return c;
}
