/*
 * top_screen - the terminal.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/screen.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <ncurses.h>
#include <term.h>

enum { RESTORE_BYTES = 512, ESCAPE_MS = 25 };

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { FAULTS = sizeof(faults) / sizeof(*faults) };

static struct {
	SCREEN *screen;
	bool ascii, coloured;
	int error_fd; /* standard error, as it was; -1: it is untouched */
	/* What a handler of signals needs. */
	struct termios saved;
	char restore[RESTORE_BYTES];
	size_t restore_bytes;
	volatile sig_atomic_t is_open;
	struct sigaction before[FAULTS];
} terminal = { .error_fd = -1 };

bool
screen_is_possible(void)
{
	return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

/* ---- restoring ---- */

static int
keep_byte(int byte)
{
	if (terminal.restore_bytes < RESTORE_BYTES)
		terminal.restore[terminal.restore_bytes++] = (char)byte;
	return byte;
}

static void
keep_capability(const char *name)
{
	char copy[8];
	const char *text;

	snprintf(copy, sizeof(copy), "%s", name);
	text = tigetstr(copy);
	if (text != NULL && text != (const char *)-1)
		tputs(text, 1, keep_byte);
}

/* The end of the program is undone by default afterwards: the fault happens
 * again, or the signal is sent again.  Only functions that a handler may
 * call. */
static void
on_fault(int signo)
{
	if (terminal.is_open) {
		const char *at = terminal.restore;
		size_t left = terminal.restore_bytes;

		terminal.is_open = 0;
		while (left > 0) {
			ssize_t n = write(STDOUT_FILENO, at, left);

			if (n <= 0)
				break;
			at += n;
			left -= (size_t)n;
		}
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal.saved);
		if (terminal.error_fd >= 0)
			dup2(terminal.error_fd, STDERR_FILENO);
	}
	for (int i = 0; i < FAULTS; i++)
		if (faults[i] == signo)
			sigaction(signo, &terminal.before[i], NULL);
	raise(signo);
}

static void
catch_faults(void)
{
	struct sigaction action = { .sa_handler = on_fault };

	sigemptyset(&action.sa_mask);
	for (int i = 0; i < FAULTS; i++)
		sigaction(faults[i], &action, &terminal.before[i]);
}

static void
release_faults(void)
{
	for (int i = 0; i < FAULTS; i++)
		sigaction(faults[i], &terminal.before[i], NULL);
}

/* Messages would be written across the screen. */
static void
divert_errors(void)
{
	int nowhere;

	if (isatty(STDERR_FILENO) != 1)
		return;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere < 0)
		return;
	terminal.error_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(nowhere, STDERR_FILENO);
	close(nowhere);
}

/* ---- life ---- */

static void
choose_colours(void)
{
	const char *without = getenv("NO_COLOR");

	terminal.coloured = false;
	if ((without != NULL && without[0] != '\0') || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(SCREEN_GOOD, COLOR_GREEN, -1);
	init_pair(SCREEN_WARNING, COLOR_YELLOW, -1);
	init_pair(SCREEN_BAD, COLOR_RED, -1);
	terminal.coloured = true;
}

/* newterm would leave its memory behind when it fails. */
static bool
can_show(const char *type)
{
	char move[] = "cup";
	bool can;
	int found;

	if (type == NULL || setupterm(type, STDOUT_FILENO, &found) != OK)
		return false;
	can = tigetstr(move) != NULL;
	del_curterm(cur_term);
	return can;
}

int
screen_open(struct err *err)
{
	const char *type = getenv("TERM");

	/* Nothing but the encoding: numbers are written as before. */
	setlocale(LC_CTYPE, "");
	terminal.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	tcgetattr(STDIN_FILENO, &terminal.saved);
	terminal.screen = can_show(type) ? newterm(type, stdout, stdin) : NULL;
	if (terminal.screen == NULL)
		return err_set(err,
		    "the terminal '%.40s' cannot show a screen: use --once, or "
		    "set TERM",
		    type == NULL ? "" : type);
	keep_capability("sgr0");
	keep_capability("rmkx");
	keep_capability("rmcup");
	keep_capability("cnorm");
	terminal.is_open = 1;
	catch_faults();
	divert_errors();
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	intrflush(stdscr, FALSE);
	choose_colours();
	return 0;
}

void
screen_close(void)
{
	if (!terminal.is_open)
		return;
	endwin();
	tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.saved);
	terminal.is_open = 0;
	release_faults();
	if (terminal.error_fd >= 0) {
		dup2(terminal.error_fd, STDERR_FILENO);
		close(terminal.error_fd);
		terminal.error_fd = -1;
	}
	delscreen(terminal.screen);
	terminal.screen = NULL;
}

bool
screen_is_ascii(void)
{
	return terminal.ascii;
}

void
screen_resize(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
	    size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
}

void
screen_size(unsigned *rows, unsigned *width)
{
	int y, x;

	getmaxyx(stdscr, y, x);
	*rows = y > 0 ? (unsigned)y : 1;
	*width = x > 0 ? (unsigned)x : 1;
}

/* ---- drawing ---- */

void
screen_erase(void)
{
	erase();
}

static attr_t
attributes_of(unsigned look)
{
	unsigned kind = look & ~(unsigned)SCREEN_CHOSEN;
	attr_t chosen = (look & SCREEN_CHOSEN) != 0 ? A_REVERSE : A_NORMAL;

	if (kind == SCREEN_TITLE)
		return A_REVERSE;
	if (kind == SCREEN_STRONG)
		return A_BOLD | chosen;
	if (kind == SCREEN_BAD && !terminal.coloured)
		return A_BOLD | chosen;
	if (kind == SCREEN_PLAIN || !terminal.coloured)
		return chosen;
	return (attr_t)COLOR_PAIR((int)kind) | chosen;
}

void
screen_put(unsigned row, unsigned at, const char *text, unsigned look)
{
	attrset((int)attributes_of(look));
	mvaddstr((int)row, (int)at, text);
	attrset(A_NORMAL);
}

void
screen_show(void)
{
	refresh();
}

/* ---- the clipboard ---- */

static void
put_base64(FILE *file, const char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *at = (const unsigned char *)text;
	size_t left = strlen(text);

	for (; left > 0; at += 3, left -= left > 3 ? 3 : left) {
		unsigned one = at[0], two = left > 1 ? at[1] : 0,
			 three = left > 2 ? at[2] : 0;

		fputc(digits[one >> 2], file);
		fputc(digits[(one & 3) << 4 | two >> 4], file);
		fputc(left > 1 ? digits[(two & 15) << 2 | three >> 6] : '=',
		    file);
		fputc(left > 2 ? digits[three & 63] : '=', file);
	}
}

void
screen_copy(const char *text)
{
	const char *type = getenv("TERM");

	/* The console prints what it does not know. */
	if (type != NULL && strcmp(type, "linux") == 0)
		return;
	fputs("\033]52;c;", stdout);
	put_base64(stdout, text);
	fputs("\a", stdout);
	fflush(stdout);
}

/* ---- keys ---- */

static uint32_t
named_key(wint_t key)
{
	static const struct {
		wint_t from;
		enum top_key to;
	} keys[] = { { KEY_UP, TOP_KEY_UP }, { KEY_DOWN, TOP_KEY_DOWN },
		{ KEY_LEFT, TOP_KEY_LEFT }, { KEY_RIGHT, TOP_KEY_RIGHT },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP },
		{ KEY_NPAGE, TOP_KEY_PAGE_DOWN }, { KEY_HOME, TOP_KEY_FIRST },
		{ KEY_END, TOP_KEY_LAST }, { KEY_ENTER, TOP_KEY_ENTER },
		{ KEY_BACKSPACE, TOP_KEY_ERASE }, { KEY_F(1), TOP_KEY_HELP } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].from == key)
			return keys[i].to;
	return TOP_KEY_NONE;
}

uint32_t
screen_key(void)
{
	wint_t key;

	for (;;) {
		int got = get_wch(&key);

		if (got == ERR)
			return TOP_KEY_NONE;
		if (got == KEY_CODE_YES) {
			uint32_t named = named_key(key);

			if (named != TOP_KEY_NONE)
				return named;
			continue;
		}
		switch (key) {
		case '\r':
		case '\n': return TOP_KEY_ENTER;
		case 0x1B: return TOP_KEY_ESCAPE;
		case 0x7F:
		case '\b': return TOP_KEY_ERASE;
		case 0x0C: clearok(stdscr, TRUE); continue; /* ctrl-L */
		default:
			if (key != 0)
				return (uint32_t)key;
		}
	}
}
