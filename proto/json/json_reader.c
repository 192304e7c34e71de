/*
 * json_reader - read a JSON text in memory, one value at a time.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/text.h"

static inline const char *
json_skip_digits(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}
static inline int
json_hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
static inline bool
json_is_high_half(uint32_t unit)
{
	return unit >= 0xD800 && unit < 0xDC00;
}
static inline bool
json_is_low_half(uint32_t unit)
{
	return unit >= 0xDC00 && unit < 0xE000;
}

static uint32_t
hex_unit(const char *at)
{
	uint32_t unit = 0;

	for (int i = 0; i < 4; i++)
		unit = unit << 4 | (uint32_t)json_hex_value(at[i]);
	return unit;
}

/* After "\u"; returns the number of bytes, 0: an unpaired surrogate. */
static uint32_t
get_character(const char *at, const char *end, uint32_t *c)
{
	*c = hex_unit(at);
	if (!json_is_high_half(*c) && !json_is_low_half(*c))
		return 4;
	if (json_is_high_half(*c) && end - at >= 10 && at[4] == '\\' &&
	    at[5] == 'u') {
		uint32_t low = hex_unit(at + 6);

		if (json_is_low_half(low)) {
			*c = 0x10000 + ((*c - 0xD800) << 10) + (low - 0xDC00);
			return 10;
		}
	}
	return 0;
}

bool
json_reader_decode(char *to, struct text quoted, uint32_t *bytes)
{
	static const char escapes[] = "bfnrt\"\\/", plain[] = "\b\f\n\r\t\"\\/";
	const char *at = quoted.at, *end = quoted.at + quoted.bytes;
	uint32_t done = 0;

	while (at < end) {
		uint32_t c, used;

		if (*at != '\\') {
			to[done++] = *at++;
			continue;
		}
		at++;
		if (*at != 'u') {
			to[done++] = plain[strchr(escapes, *at) - escapes];
			at++;
			continue;
		}
		used = get_character(++at, end, &c);
		if (used == 0)
			return false;
		done += text_put_character(to + done, c);
		at += used;
	}
	*bytes = done;
	return true;
}

struct text
json_keys_decode(struct json_keys *keys, struct text quoted)
{
	struct text text = quoted;
	char *to;

	if (quoted.bytes == 0 || memchr(quoted.at, '\\', quoted.bytes) == NULL)
		return quoted;
	to = arena_room(&keys->decoded, quoted.bytes);
	json_reader_decode(to, quoted, &text.bytes);
	arena_keep(&keys->decoded, text.bytes);
	text.at = to;
	return text;
}

bool
json_reader_is(struct text key, const char *word)
{
	char plain[192]; /* a word of 32 letters, each escaped */
	uint32_t bytes;

	if (memchr(key.at, '\\', key.bytes) == NULL)
		return text_equal(key, text_of(word));
	return key.bytes <= sizeof(plain) &&
	       json_reader_decode(plain, key, &bytes) &&
	       text_equal((struct text){ plain, bytes }, text_of(word));
}

/* The digits of a number without its sign: `value` times ten to the `power`,
 * exact unless digits were left out. */
struct digits {
	uint64_t value;
	int64_t power;
	bool is_exact;
};

static struct digits
take_digits(const char *at, const char *end)
{
	struct digits d = { .is_exact = true };
	bool negative = false, in_fraction = false;
	int64_t power = 0;

	for (; at < end && *at != 'e' && *at != 'E'; at++) {
		if (*at == '.') {
			in_fraction = true;
			continue;
		}
		if (__builtin_mul_overflow(d.value, 10, &d.value) ||
		    __builtin_add_overflow(
			d.value, (uint64_t)(*at - '0'), &d.value)) {
			d.is_exact = false;
			return d;
		}
		d.power -= in_fraction;
	}
	if (at == end)
		return d;
	at++;
	if (*at == '-' || *at == '+')
		negative = *at++ == '-';
	for (; at < end && power < 100000; at++)
		power = 10 * power + (*at - '0');
	d.power += negative ? -power : power;
	return d;
}

/* Correctly rounded, from the text: a number, NaN or Infinity. */
static double
read_double(struct text number)
{
	char few[64], *copy = few;
	double value;

	if (number.bytes >= sizeof(few)) {
		copy = memory_text(number);
	} else {
		memcpy(few, number.at, number.bytes);
		few[number.bytes] = '\0';
	}
	value = strtod(copy, NULL);
	if (copy != few)
		free(copy);
	return value;
}

/* If both the digits and the power of ten are exact doubles, one operation
 * rounds once and gives the nearest double.  False: they are not. */
static bool
combine(const struct digits *d, double *value)
{
	static const double tens[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
		1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
		1e19, 1e20, 1e21, 1e22 };

	if (!d->is_exact || d->value > UINT64_C(1) << 53 || d->power > 22 ||
	    d->power < -22)
		return false;
	*value = d->power < 0 ? (double)d->value / tens[-d->power]
			      : (double)d->value * tens[d->power];
	return true;
}

bool
json_reader_is_whole(struct text number)
{
	uint32_t from = number.bytes > 0 && *number.at == '-';

	return number.bytes > from &&
	       json_skip_digits(number.at + from, number.at + number.bytes) ==
		   number.at + number.bytes;
}

void
json_reader_number(struct text number, struct value *value)
{
	bool negative = *number.at == '-', is_word;
	struct digits d = { .is_exact = false };

	is_word = number.at[negative] == 'N' || number.at[negative] == 'I';
	if (!is_word)
		d = take_digits(number.at + negative, number.at + number.bytes);
	if (d.is_exact && d.value <= (uint64_t)INT64_MAX + negative &&
	    json_reader_is_whole(number)) {
		*value = (struct value){ VALUE_INT,
			.is.i = (int64_t)(negative ? -d.value : d.value) };
		return;
	}
	*value = (struct value){ .type = VALUE_FLOAT };
	if (combine(&d, &value->is.f))
		value->is.f = negative ? -value->is.f : value->is.f;
	else
		value->is.f = read_double(number);
}

/* More keys are sorted to find duplicates. */
enum { FEW_KEYS = 16 };

void
json_reader_init(struct json_reader *reader, struct text text)
{
	*reader = (struct json_reader){
		.begin = text.at,
		.at = text.at,
		.end = text.bytes > 0 ? text.at + text.bytes : text.at,
	};
}

void
json_reader_init_strict(
    struct json_reader *reader, struct text text, struct json_keys *keys)
{
	json_reader_init(reader, text);
	reader->keys = keys;
	keys->count = 0;
	arena_reset(&keys->decoded);
}

void
json_keys_clear(struct json_keys *keys)
{
	free(keys->at);
	arena_clear(&keys->decoded);
	*keys = (struct json_keys){ .at = NULL };
}

/* ---- errors ------------------------------------------------------------- */

static bool
fail(struct json_reader *reader, const char *why)
{
	uint32_t line = 1, column = 1;

	if (reader->bad)
		return false;
	for (const char *c = reader->begin; c < reader->at; c++) {
		column++;
		if (*c == '\n') {
			line++;
			column = 1;
		}
	}
	reader->bad = true;
	if (reader->keys != NULL && line == 1)
		err_set(&reader->err, "not JSON: %s at column %u", why, column);
	else
		err_set(&reader->err, "not JSON: %s at line %u, column %u", why,
		    line, column);
	reader->at = reader->end;
	return false;
}

static bool
fail_at(struct json_reader *reader, const char *at, const char *why)
{
	reader->at = at;
	return fail(reader, at == reader->end ? "unexpected end" : why);
}

/* ---- whitespace, words, numbers, strings -------------------------------- */

static void
skip_blanks(struct json_reader *reader)
{
	while (reader->at < reader->end &&
	       (*reader->at == ' ' || *reader->at == '\n' ||
		   *reader->at == '\t' || *reader->at == '\r'))
		reader->at++;
}

char
json_reader_peek(struct json_reader *reader)
{
	skip_blanks(reader);
	return reader->at < reader->end ? *reader->at : '\0';
}

static bool
skip_word(struct json_reader *reader, const char *word)
{
	size_t bytes = strlen(word);

	if ((size_t)(reader->end - reader->at) < bytes ||
	    memcmp(reader->at, word, bytes) != 0)
		return false;
	reader->at += bytes;
	return true;
}

static bool
skip_number(struct json_reader *reader)
{
	const char *at = reader->at, *end = reader->end, *digits;

	if (*at == '-')
		at++;
	digits = at;
	at = json_skip_digits(at, end);
	if (at == digits || (*digits == '0' && at > digits + 1))
		return fail_at(
		    reader, at == digits ? at : digits + 1, "malformed number");
	if (at < end && *at == '.') {
		digits = ++at;
		at = json_skip_digits(at, end);
		if (at == digits)
			return fail_at(reader, at, "expected a digit");
	}
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		if (at < end && (*at == '+' || *at == '-'))
			at++;
		digits = at;
		at = json_skip_digits(at, end);
		if (at == digits)
			return fail_at(reader, at, "expected a digit");
	}
	reader->at = at;
	return true;
}

/* At the digits after "\u". */
static bool
get_unit(struct json_reader *reader, uint32_t *unit)
{
	*unit = 0;
	for (int i = 0; i < 4; i++, reader->at++) {
		int digit =
		    reader->at < reader->end ? json_hex_value(*reader->at) : -1;

		if (digit < 0)
			return fail_at(
			    reader, reader->at, "expected a hexadecimal digit");
		*unit = *unit << 4 | (uint32_t)digit;
	}
	return true;
}

/* After "\u". */
static bool
skip_unit(struct json_reader *reader)
{
	const char *from = reader->at - 2;
	uint32_t unit, low;

	if (!get_unit(reader, &unit))
		return false;
	if (reader->keys == NULL)
		return true;
	if (unit == 0)
		return fail_at(reader, from, "NUL in a string");
	if (json_is_high_half(unit) && skip_word(reader, "\\u")) {
		if (!get_unit(reader, &low))
			return false;
		if (json_is_low_half(low))
			return true;
	}
	return json_is_high_half(unit) || json_is_low_half(unit)
		   ? fail_at(reader, from, "unpaired surrogate")
		   : true;
}

/* After the backslash. */
static bool
skip_escape(struct json_reader *reader)
{
	char c = reader->at < reader->end ? *reader->at : '\0';

	if (c == '\0' || strchr("\"\\/bfnrtu", c) == NULL)
		return fail_at(reader, reader->at, "unknown escape sequence");
	reader->at++;
	return c != 'u' || skip_unit(reader);
}

/* At the quote.  `quoted` is the text between the quotes. */
static bool
skip_text(struct json_reader *reader, struct text *quoted)
{
	const char *from = ++reader->at;

	while (reader->at < reader->end) {
		unsigned char c = (unsigned char)*reader->at;

		if (c == '"') {
			*quoted = (struct text){ from,
				(uint32_t)(reader->at - from) };
			if (reader->keys != NULL && !text_is_utf8(*quoted))
				return fail_at(
				    reader, from, "string is not UTF-8");
			reader->at++;
			return true;
		}
		if (c < 0x20)
			return fail(reader, "control character in a string");
		reader->at++;
		if (c == '\\' && !skip_escape(reader))
			return false;
	}
	return fail_at(reader, reader->at, "");
}

/* ---- containers --------------------------------------------------------- */

bool
json_reader_enter(struct json_reader *reader, char bracket)
{
	if (json_reader_peek(reader) != bracket)
		return fail_at(reader, reader->at,
		    bracket == '{' ? "expected '{'" : "expected '['");
	if (reader->depth == JSON_READER_DEPTH_MAX)
		return fail(reader, "nested deeper than 63 levels");
	reader->at++;
	reader->depth++;
	reader->filled &= ~(UINT64_C(1) << reader->depth);
	if (reader->keys != NULL)
		reader->keys->begin[reader->depth] = reader->keys->count;
	return true;
}

static bool
fail_twice(struct json_reader *reader, struct text key)
{
	char why[128], shown[64];

	snprintf(why, sizeof(why), "duplicate member '%s'",
	    text_quote(shown, sizeof(shown), key));
	return fail(reader, why);
}

/* Add a key of the innermost object. */
static bool
add_key(struct json_reader *reader, struct text quoted)
{
	struct json_keys *keys = reader->keys;
	struct text key = json_keys_decode(keys, quoted);
	uint32_t begin = keys->begin[reader->depth];

	for (uint32_t i = begin;
	     i < keys->count && keys->count - begin <= FEW_KEYS; i++)
		if (text_equal(keys->at[i], key))
			return fail_twice(reader, key);
	*MEMORY_ADD(keys->at, keys->room, keys->count) = key;
	return true;
}

static int
compare_keys(const void *a, const void *b)
{
	return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* The object ends.  If it has too many keys to compare each pair, look for
 * duplicates in a sorted copy; the keys themselves keep their order. */
static void
end_keys(struct json_reader *reader)
{
	struct json_keys *keys = reader->keys;
	uint32_t begin = keys->begin[reader->depth];
	uint32_t count = keys->count - begin;
	struct text *sorted;

	keys->count = begin;
	if (count <= FEW_KEYS)
		return;
	sorted = memory_copy(keys->at + begin, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_keys);
	for (uint32_t i = 1; i < count && !reader->bad; i++)
		if (text_equal(sorted[i - 1], sorted[i]))
			fail_twice(reader, sorted[i]);
	free(sorted);
}

/* After the last member, or before the next one? */
static bool
next(struct json_reader *reader, char end)
{
	char c = json_reader_peek(reader);
	uint64_t bit = UINT64_C(1) << reader->depth;
	bool first = (reader->filled & bit) == 0;

	if (reader->bad)
		return false;
	if (c == end) {
		if (reader->keys != NULL && end == '}')
			end_keys(reader);
		if (reader->bad)
			return false;
		reader->at++;
		reader->depth--;
		return false;
	}
	reader->filled |= bit;
	if (first)
		return true;
	if (c != ',')
		return fail_at(reader, reader->at, "expected ',' or the end");
	reader->at++;
	return true;
}

bool
json_reader_member(struct json_reader *reader, struct text *key)
{
	if (!next(reader, '}'))
		return false;
	if (json_reader_peek(reader) != '"')
		return fail_at(reader, reader->at, "expected a quoted name");
	if (!skip_text(reader, key) ||
	    (reader->keys != NULL && !add_key(reader, *key)))
		return false;
	if (json_reader_peek(reader) != ':')
		return fail_at(reader, reader->at, "expected ':'");
	reader->at++;
	return true;
}

bool
json_reader_item(struct json_reader *reader)
{
	return next(reader, ']');
}

static void
skip_container(struct json_reader *reader, char bracket)
{
	struct text key;

	if (!json_reader_enter(reader, bracket))
		return;
	while (bracket == '{' ? json_reader_member(reader, &key)
			      : json_reader_item(reader))
		json_reader_take(reader);
}

struct text
json_reader_take(struct json_reader *reader)
{
	char c = json_reader_peek(reader);
	const char *from = reader->at;
	struct text quoted;

	if (c == '{' || c == '[')
		skip_container(reader, c);
	else if (c == '"')
		skip_text(reader, &quoted);
	else if (c == 't' || c == 'f' || c == 'n' || c == 'N' || c == 'I' ||
		 (c == '-' && reader->end - from > 1 && from[1] == 'I')) {
		if (!skip_word(reader, "true") && !skip_word(reader, "false") &&
		    !skip_word(reader, "null") &&
		    (reader->keys != NULL ||
			(!skip_word(reader, "NaN") &&
			    !skip_word(reader, "Infinity") &&
			    !skip_word(reader, "-Infinity"))))
			fail(reader, "unknown word");
	} else if (c == '-' || (c >= '0' && c <= '9'))
		skip_number(reader);
	else
		fail_at(reader, reader->at, "expected a value");
	if (reader->bad)
		return (struct text){ NULL, 0 };
	return (struct text){ from, (uint32_t)(reader->at - from) };
}

bool
json_reader_finish(struct json_reader *reader)
{
	if (json_reader_peek(reader) != '\0' || reader->at < reader->end)
		fail(reader, "more than one value");
	return !reader->bad;
}
