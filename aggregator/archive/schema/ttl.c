/*
 * ttl - the TTL of a table: what the servers delete by themselves.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/schema/ttl.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The end of what is quoted or in parentheses at `at`; else of one character.
 */
static size_t
skip(struct text sql, size_t at)
{
	char quote = sql.at[at];
	unsigned depth = quote == '(';

	if (quote == '\'' || quote == '`' || quote == '"') {
		for (at++; at < sql.bytes && sql.at[at] != quote; at++)
			at += sql.at[at] == '\\';
		return at < sql.bytes ? at + 1 : sql.bytes;
	}
	for (at++; depth > 0 && at < sql.bytes;) {
		depth += sql.at[at] == '(';
		depth -= sql.at[at] == ')';
		at = sql.at[at] == '(' ? at + 1 : skip(sql, at);
	}
	return at;
}

/* Where a word begins outside of quotes and parentheses; else the end. */
static size_t
find(struct text sql, const char *word)
{
	size_t bytes = strlen(word), at = 0;

	while (at < sql.bytes && (sql.bytes - at < bytes ||
				     memcmp(sql.at + at, word, bytes) != 0))
		at = skip(sql, at);
	return at;
}

static bool
has(struct text sql, const char *word)
{
	return find(sql, word) < sql.bytes;
}

static bool
is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Is it made of `hour`, `ts`, literals and functions? */
static bool
is_by_time(struct text sql)
{
	bool is_time = false;

	for (size_t at = 0; at < sql.bytes;) {
		struct text word = { sql.at + at, 0 };

		if (sql.at[at] == '`' || sql.at[at] == '"')
			return false;
		if (!is_in_word(sql.at[at])) {
			at = sql.at[at] == '\'' ? skip(sql, at) : at + 1;
			continue;
		}
		while (at < sql.bytes && is_in_word(sql.at[at]))
			at++;
		word.bytes = (size_t)(sql.at + at - word.at);
		if (text_equal(word, text_of("hour")) ||
		    text_equal(word, text_of("ts")))
			is_time = true;
		else if (!isdigit((unsigned char)word.at[0]) &&
			 (at == sql.bytes || sql.at[at] != '('))
			return false;
	}
	return is_time;
}

static enum ttl
read_one(struct text one, struct buffer *deleted)
{
	static const char end[] = ") <= now() + 3600", word[] = " DELETE";
	size_t at = find(one, word);

	if (has(one, " TO VOLUME ") || has(one, " TO DISK ") ||
	    has(one, " RECOMPRESS "))
		return TTL_NONE;
	/* Behind the word: of which rows. */
	if (at < one.bytes) {
		size_t behind = at + sizeof(word) - 1;
		struct text rest = { one.at + behind, one.bytes - behind };

		if (text_trim(rest).bytes > 0)
			return TTL_OTHER;
	}
	one.bytes = at;
	if (!is_by_time(one))
		return TTL_OTHER;
	if (deleted != NULL) {
		if (deleted->bytes > 0)
			buffer_put(deleted, " OR ", 4);
		buffer_put(deleted, "(", 1);
		buffer_put(deleted, one.at, one.bytes);
		buffer_put(deleted, end, sizeof(end) - 1);
	}
	return TTL_BY_TIME;
}

enum ttl
ttl_read(struct text engine, struct buffer *deleted)
{
	static const char front[] = " TTL ";
	size_t at = find(engine, front), before = 0;
	enum ttl ttl = TTL_NONE;
	struct text rest;

	if (at == engine.bytes)
		return TTL_NONE;
	at += sizeof(front) - 1;
	rest = (struct text){ engine.at + at, engine.bytes - at };
	rest.bytes = find(rest, " SETTINGS ");
	if (deleted != NULL)
		before = deleted->bytes;
	while (rest.bytes > 0) {
		struct text one = { rest.at, find(rest, ",") };
		enum ttl of = read_one(one, deleted);

		if (of > ttl)
			ttl = of;
		at = one.bytes < rest.bytes ? one.bytes + 1 : rest.bytes;
		rest = (struct text){ rest.at + at, rest.bytes - at };
	}
	/* Of a list that has more than times nothing counts. */
	if (ttl == TTL_OTHER && deleted != NULL)
		deleted->bytes = before;
	return ttl;
}
