/*
 * clickhouse_exception - what a ClickHouse server says went wrong.
 * SPDX-License-Identifier: MIT
 */
#include "proto/clickhouse/exception.h"

enum { END_BYTES = 4096 };

static const char mark[] = "DB::Exception: ";

static bool
begins_with(struct text t, const char *word)
{
	size_t bytes = strlen(word);

	return t.bytes >= bytes && memcmp(t.at, word, bytes) == 0;
}

unsigned
clickhouse_exception_code(struct text body)
{
	unsigned code = 0;
	uint32_t i = 6;

	if (!begins_with(body, "Code: "))
		return 0;
	for (; i < body.bytes && body.at[i] >= '0' && body.at[i] <= '9'; i++) {
		code = code * 10 + (unsigned)(body.at[i] - '0');
		if (code > CLICKHOUSE_CODE_MAX)
			return 0;
	}
	return i < body.bytes && (body.at[i] == ',' || body.at[i] == '.') ? code
									  : 0;
}

/* Where the words of an exception begin; 0: nowhere. */
static uint32_t
find_mark(struct text t)
{
	const char *at =
	    t.bytes > 0 ? memmem(t.at, t.bytes, mark, sizeof(mark) - 1) : NULL;

	return at == NULL ? 0
			  : (uint32_t)(at - t.at) + (uint32_t)sizeof(mark) - 1;
}

struct text
clickhouse_exception_at_end(struct text body)
{
	uint32_t from = body.bytes > END_BYTES ? body.bytes - END_BYTES : 0;

	for (uint32_t i = from; i < body.bytes; i++) {
		struct text rest = { body.at + i, body.bytes - i };

		if (i > 0 && body.at[i - 1] != '\n')
			continue;
		if (clickhouse_exception_code(rest) != 0 &&
		    find_mark(rest) != 0)
			return rest;
	}
	return (struct text){ NULL, 0 };
}

struct text
clickhouse_exception_words(struct text body)
{
	static const char what[] = ", e.what() = ";
	uint32_t from = find_mark(body);
	struct text words = body, line;
	const char *end;

	if (from > 0)
		words = (struct text){ body.at + from, body.bytes - from };
	words = text_trim(words);
	if (!text_next_line(&words, &line))
		return words;
	end = line.bytes > 0
		  ? memmem(line.at, line.bytes, what, sizeof(what) - 1)
		  : NULL;
	if (end != NULL)
		line.bytes = (uint32_t)(end - line.at);
	return line;
}
