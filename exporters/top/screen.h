/*
 * top_screen - the terminal.
 *
 * It is restored by screen_close, and when the process dies by a signal of its
 * own faults.  Nothing but this file uses curses.  While it is open, standard
 * error leads nowhere if it is the same terminal.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_SCREEN_H
#define EXPORTERS_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

/* Printable keys are themselves. */
enum top_key {
	TOP_KEY_NONE = 0,
	TOP_KEY_ENTER = 0x110000, /* beyond all characters */
	TOP_KEY_ESCAPE,
	TOP_KEY_ERASE,
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_FIRST,
	TOP_KEY_LAST,
	TOP_KEY_HELP,
};

enum screen_look {
	SCREEN_PLAIN,
	SCREEN_GOOD,
	SCREEN_WARNING,
	SCREEN_BAD,
	SCREEN_TITLE,
	SCREEN_STRONG,
	SCREEN_CHOSEN = 1 << 4, /* with one of the others */
};

/* Standard input and output are a terminal. */
bool screen_is_possible(void);
int screen_open(struct err *err);
void screen_close(void);

/* Can it show characters beyond ASCII? */
bool screen_is_ascii(void);
/* Take over the size that the terminal has now. */
void screen_resize(void);
void screen_size(unsigned *rows, unsigned *width);

void screen_erase(void);
/* Printable text, whose width the caller knows, at a place on the screen. */
void screen_put(unsigned row, unsigned at, const char *text, unsigned look);
void screen_show(void);

/* Ask the terminal to put this printable text on the clipboard (OSC 52); one
 * that cannot ignores it. */
void screen_copy(const char *text);

/* The next key (enum top_key) that was pressed, or TOP_KEY_NONE. */
uint32_t screen_key(void);

#endif
