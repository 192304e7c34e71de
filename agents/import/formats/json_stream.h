/*
 * json_stream - finds its way in one large JSON text, a value at a time.
 *
 * Only brackets, quotes, commas and colons are looked at here; what is in a
 * value is for who parses it.  The first thing that does not fit is
 * remembered, and from then on nothing is read: ask once, afterwards.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_JSON_STREAM_H
#define AGENTS_IMPORT_FORMATS_JSON_STREAM_H

#include "agents/import/file.h"

enum json_stream_fault {
	JSON_STREAM_OK,
	JSON_STREAM_BROKEN, /* this is not JSON */
	JSON_STREAM_FAILED, /* the file could not be read */
};

struct json_stream {
	struct import_file *file;
	enum json_stream_fault fault;
	struct err err; /* what it is */
};

/* The next byte that is no blank, without taking it; -1 after a fault, and
 * the end of the file is one. */
int json_stream_peek(struct json_stream *scan);
/* Take that byte, which must be this one. */
void json_stream_expect(struct json_stream *scan, char wanted);

/* Take the value that begins here.  A view, valid until the file is read on;
 * `at` is NULL when it is longer than IMPORT_LINE_BYTES_MAX. */
struct text json_stream_value(struct json_stream *scan);
/* Take it, whatever its length. */
void json_stream_skip(struct json_stream *scan);

/* Does anything but blanks follow? */
bool json_stream_more(struct json_stream *scan);
/* Take all that follows.  -1: it could not be read. */
int json_stream_drain(struct json_stream *scan);

#endif
