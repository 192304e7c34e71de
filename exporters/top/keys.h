/*
 * top_keys - the keys of a terminal.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_KEYS_H
#define EXPORTERS_TOP_KEYS_H

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

#endif
