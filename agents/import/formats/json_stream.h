/*
 * json_stream - reads a large JSON text, one value at a time.
 *
 * It reads only brackets, quotes, commas and colons; the caller parses the
 * values.  It remembers the first fault and reads nothing after it, so that
 * the caller can check for a fault once at the end.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_JSON_STREAM_H
#define AGENTS_IMPORT_FORMATS_JSON_STREAM_H

#include "agents/import/file.h"

enum json_stream_fault {
	JSON_STREAM_OK,
	JSON_STREAM_BROKEN, /* the text is not JSON */
	JSON_STREAM_FAILED, /* the file cannot be read */
};

struct json_stream {
	struct import_file *file;
	enum json_stream_fault fault;
	struct err err; /* description of the fault */
};

/* The next byte that is not a blank, without consuming it; -1 after a fault.
 * The end of the file is a fault. */
int json_stream_peek(struct json_stream *scan);
/* Consume the next byte, which must be this one. */
void json_stream_expect(struct json_stream *scan, char wanted);

/* Consume the value that begins here.  A view, valid until the next read; `at`
 * is NULL if it is longer than IMPORT_LINE_BYTES_MAX. */
struct text json_stream_value(struct json_stream *scan);
/* Consume the value, of any length. */
void json_stream_skip(struct json_stream *scan);

/* Does anything but blanks follow? */
bool json_stream_more(struct json_stream *scan);
/* Consume the rest of the file.  -1: it cannot be read. */
int json_stream_drain(struct json_stream *scan);

#endif
