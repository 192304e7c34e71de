/*
 * json_reader - read a JSON text in memory, one value at a time.
 *
 * Every byte is checked, and no tree is built.  The reader accepts what
 * Python's json module accepts: RFC 8259, and NaN, Infinity and -Infinity as
 * bare words. The first error is sticky: from then on there are no more
 * values, so it is enough to check once at the end.
 *
 * A strict reader accepts only RFC 8259 and refuses ambiguous input: duplicate
 * members, unpaired surrogates, NUL in a string, bytes that are not UTF-8.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_JSON_JSON_READER_H
#define PROTO_JSON_JSON_READER_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/record/record.h"

enum { JSON_READER_DEPTH_MAX = 63 };

/* The keys of the objects that enclose a strict reader's position.  Must be
 * zeroed before the first use; may be reused for any number of texts in
 * sequence. */
struct json_keys {
	struct text *at; /* decoded */
	uint32_t count, room;
	/* For each depth the number of the first key there. */
	uint32_t begin[JSON_READER_DEPTH_MAX + 1];
	struct arena decoded;
};

struct json_reader {
	const char *begin, *at, *end;
	struct json_keys *keys; /* NULL: the reader is not strict */
	unsigned depth;
	uint64_t filled; /* bit d: the container at depth d is not empty */
	bool bad;
	struct err err; /* reason */
};

/* `text` must be UTF-8. */
void json_reader_init(struct json_reader *reader, struct text text);

/* A strict reader.  Invalidates what was decoded with `keys` before. */
void json_reader_init_strict(
    struct json_reader *reader, struct text text, struct json_keys *keys);
void json_keys_clear(struct json_keys *keys);
/* Decode the text between quotes, which a strict reader has accepted.  Returns
 * the same view if it has no escapes, else one that is valid until `keys` is
 * used for the next text. */
struct text json_keys_decode(struct json_keys *keys, struct text quoted);

/* The first byte of the next value ('{', '[', '"', a digit ...), which is not
 * consumed; 0 at the end and after an error. */
char json_reader_peek(struct json_reader *reader);

/* Enter an object or a list; false: the next value is not one.  Then call
 * json_reader_member, which returns the key as it is between the quotes, or
 * json_reader_item, and take the value, until they return false: the container
 * is then consumed. */
bool json_reader_enter(struct json_reader *reader, char bracket);
bool json_reader_member(struct json_reader *reader, struct text *key);
bool json_reader_item(struct json_reader *reader);

/* Take the next value, as its text. */
struct text json_reader_take(struct json_reader *reader);
/* Only whitespace may follow. */
bool json_reader_finish(struct json_reader *reader);

/* Convert a number that was taken: VALUE_INT if it is an integer that fits,
 * else the nearest VALUE_FLOAT, which may be infinite.  NaN, Infinity and
 * -Infinity are numbers, too. */
void json_reader_number(struct text number, struct value *value);
/* Has it neither a fraction nor an exponent? */
bool json_reader_is_whole(struct text number);

/* Decode the text between quotes; the result is never longer.  False: an
 * unpaired surrogate, which is not a character. */
bool json_reader_decode(char *to, struct text quoted, uint32_t *bytes);
/* Does a key, once decoded, equal this word? */
bool json_reader_is(struct text key, const char *word);

#endif
