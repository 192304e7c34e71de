/*
 * json_reader - finds its way in a JSON text in memory, a value at a time.
 *
 * Every byte that is passed is checked, nothing is built.  What is read is
 * what Python's json module reads: RFC 8259, and NaN, Infinity and -Infinity
 * as bare words.  The first thing that does not fit is remembered, and from
 * then on there is nothing more: look once, afterwards.
 *
 * A strict reader takes RFC 8259 and no more, and refuses what has two
 * meanings: a member that comes twice, half of a surrogate pair, a NUL in a
 * text, bytes that are not UTF-8.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_JSON_READER_H
#define PROTO_FORMAT_JSON_READER_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/record/record.h"

enum { JSON_READER_DEPTH_MAX = 63 };

/* The keys of the objects that a strict reader is in.  Zeroed before their
 * first use; any number of texts may be read with them, one after another. */
struct json_keys {
	struct text *at; /* decoded */
	uint32_t count, room;
	uint32_t begin[JSON_READER_DEPTH_MAX + 1]; /* of those at each depth */
	struct arena decoded;
};

struct json_reader {
	const char *begin, *at, *end;
	struct json_keys *keys; /* of a strict reader */
	unsigned depth;
	uint64_t filled; /* bit d: something stands at depth d */
	bool bad;
	struct err err; /* why */
};

/* `text` must be UTF-8. */
void json_reader_init(struct json_reader *scan, struct text text);

/* Strict.  What was decoded with `keys` before is gone. */
void json_reader_init_strict(
    struct json_reader *scan, struct text text, struct json_keys *keys);
void json_keys_clear(struct json_keys *keys);
/* What is between quotes, which a strict reader has taken: the same view when
 * there are no escapes, else valid until the next text. */
struct text json_keys_decode(struct json_keys *keys, struct text quoted);

/* The first byte of the next value ('{', '[', '"', a digit ...), without
 * taking it; 0 at the end and when it is bad. */
char json_reader_peek(struct json_reader *scan);

/* Enter an object or a list; then each member's key (as it is between its
 * quotes) or item stands before its value, which must be taken.  False at the
 * end of it, which is then left behind. */
bool json_reader_enter(struct json_reader *scan, char bracket);
bool json_reader_member(struct json_reader *scan, struct text *key);
bool json_reader_item(struct json_reader *scan);

/* Take the next value: as it stands in the text. */
struct text json_reader_take(struct json_reader *scan);
/* Nothing but blanks may follow. */
bool json_reader_finish(struct json_reader *scan);

/* A number that was taken: VALUE_INT when its digits are a whole number that
 * fits, else VALUE_FLOAT, the nearest, which may be infinite.  NaN, Infinity
 * and -Infinity are numbers, too. */
void json_reader_number(struct text number, struct value *value);
/* Has it neither fraction nor exponent? */
bool json_reader_is_whole(struct text number);

/* What is between quotes as text; never longer.  False: half of a surrogate
 * pair, which is no character. */
bool json_reader_decode(char *to, struct text quoted, uint32_t *bytes);
/* Is a key this word, however it is written? */
bool json_reader_is(struct text key, const char *word);

#endif
