/*
 * json_find - values inside a JSON text, by the names of members.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_find.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/json/json_reader.h"

struct text
json_find_root(struct text from)
{
	struct json_keys keys = { .at = NULL };
	struct json_reader reader;
	struct text root;

	json_reader_init_strict(&reader, from, &keys);
	json_reader_peek(&reader);
	root = json_reader_take(&reader);
	if (!json_reader_finish(&reader) || root.at[0] != '{')
		root = (struct text){ NULL, 0 };
	json_keys_clear(&keys);
	return root;
}

struct text
json_find(struct text object, const char *name)
{
	struct json_reader reader;
	struct text key;

	json_reader_init(&reader, object);
	if (json_reader_enter(&reader, '{'))
		while (json_reader_member(&reader, &key)) {
			struct text value = json_reader_take(&reader);

			if (json_reader_is(key, name))
				return value;
		}
	return (struct text){ NULL, 0 };
}

bool
json_find_item(struct text *list, struct text *item)
{
	struct json_reader reader;
	char first;

	json_reader_init(&reader, *list);
	first = json_reader_peek(&reader);
	/* At its beginning, or behind an item. */
	if (first != '[' && first != ',')
		return false;
	reader.at++;
	if (json_reader_peek(&reader) == ']')
		return false;
	*item = json_reader_take(&reader);
	list->bytes -= (uint32_t)(reader.at - list->at);
	list->at = reader.at;
	return !reader.bad;
}

/* What is between the quotes; false: it is not a string. */
static bool
unquote(struct text *value)
{
	if (value->bytes < 2 || value->at[0] != '"')
		return false;
	*value = (struct text){ value->at + 1, value->bytes - 2 };
	return true;
}

bool
json_find_string_into(char *to, struct text value)
{
	uint32_t bytes;

	if (!unquote(&value) || !json_reader_decode(to, value, &bytes))
		return false;
	to[bytes] = '\0';
	return true;
}

char *
json_find_string(struct text value)
{
	char *to = memory_alloc(value.bytes + 1);

	if (json_find_string_into(to, value))
		return to;
	free(to);
	return NULL;
}

bool
json_find_is(struct text value, const char *wanted)
{
	return unquote(&value) && json_reader_is(value, wanted);
}
