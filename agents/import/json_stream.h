/*
 * json_stream - finds its way in one large JSON text, a value at a time.
 *
 * Only brackets, quotes, commas and colons are looked at here; what is in a
 * value is for who parses it.  The first thing that does not fit is
 * remembered, and from then on nothing is read: ask once, afterwards.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_JSON_STREAM_H
#define AGENTS_IMPORT_JSON_STREAM_H

#include "agents/import/file.h"

enum import_scan_fault {
	IMPORT_SCAN_OK,
	IMPORT_SCAN_BROKEN, /* this is not JSON */
	IMPORT_SCAN_FAILED, /* the file could not be read */
};

struct import_scan {
	struct import_file *file;
	enum import_scan_fault fault;
	struct err err; /* what it is */
};

/* The next byte that is no blank, without taking it; -1 after a fault, and
 * the end of the file is one. */
int import_scan_peek(struct import_scan *scan);
/* Take that byte, which must be this one. */
void import_scan_expect(struct import_scan *scan, char wanted);

/* Take the value that begins here.  A view, valid until the file is read on;
 * `at` is NULL when it is longer than IMPORT_LINE_BYTES_MAX. */
struct text import_scan_value(struct import_scan *scan);
/* Take it, whatever its length. */
void import_scan_skip(struct import_scan *scan);

/* In a text in memory that is known to be good JSON: what is behind the first
 * bracket of a list or an object, and the next value (or key) taken off the
 * front of that, empty at the end. */
struct text import_scan_inside(struct text container);
struct text import_scan_take(struct text *rest);

/* Does anything but blanks follow? */
bool import_scan_more(struct import_scan *scan);
/* Take all that follows.  -1: it could not be read. */
int import_scan_drain(struct import_scan *scan);

#endif
