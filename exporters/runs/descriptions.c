/*
 * runs_descriptions - what entities say of test runs.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/descriptions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"

enum {
	DESCRIPTIONS_BYTES_MAX = 256 << 20,
	SHOWN_BYTES = RUNS_PROPERTY_BYTES_MAX + sizeof("..."),
};

void
runs_descriptions_init(struct runs_descriptions *descriptions,
    struct source *source, struct text partition)
{
	*descriptions = (struct runs_descriptions){ .source = source,
		.partition = partition,
		.key[RUNS_QUEUE] = text_of("queue"),
		.key[RUNS_CONFIGURATION] = text_of("configuration") };
	string_table_init(&descriptions->ids);
	string_table_init(&descriptions->texts);
}

void
runs_descriptions_clear(struct runs_descriptions *descriptions)
{
	string_table_clear(&descriptions->ids);
	string_table_clear(&descriptions->texts);
	free(descriptions->numbers);
}

/* Of a long text the begin, up to the begin of a character. */
static struct text
cut(char to[static SHOWN_BYTES], struct text text)
{
	uint32_t bytes = RUNS_PROPERTY_BYTES_MAX;

	if (text.bytes <= bytes)
		return text;
	while (bytes > 0 && ((unsigned char)text.at[bytes] & 0xc0) == 0x80)
		bytes--;
	snprintf(to, SHOWN_BYTES, "%.*s...", (int)bytes, text.at);
	return text_of(to);
}

/* A text, or a whole number; of anything else there is none. */
static struct text
text_of_value(char to[static SHOWN_BYTES], const struct value *value)
{
	if (value->type == VALUE_TEXT)
		return cut(to, value->is.text);
	*to = '\0';
	if (value->type == VALUE_INT)
		snprintf(to, SHOWN_BYTES, "%" PRId64, value->is.i);
	return text_of(to);
}

static int
take(struct runs_descriptions *descriptions, const struct record *record,
    struct err *err)
{
	uint32_t id = string_table_add(&descriptions->ids, record->name);
	char room[SHOWN_BYTES];
	struct value value;

	MEMORY_GROW(descriptions->numbers, descriptions->room, id);
	descriptions->bytes +=
	    sizeof(*descriptions->numbers) + record->name.bytes;
	for (int i = 0; i < RUNS_PROPERTIES; i++) {
		uint32_t *number = &descriptions->numbers[id][i];
		uint32_t before = descriptions->texts.count;
		struct text text = { NULL, 0 };

		*number = 0;
		if (descriptions->key[i].bytes > 0 &&
		    record_find_attribute(record, descriptions->key[i], &value))
			text = text_of_value(room, &value);
		if (text.bytes == 0)
			continue;
		*number = 1 + string_table_add(&descriptions->texts, text);
		if (*number > before)
			descriptions->bytes += text.bytes;
	}
	if (descriptions->bytes > DESCRIPTIONS_BYTES_MAX)
		return err_set(err,
		    "what is known of the runs is more than %d MiB; choose "
		    "some with --run, or with --newest up to %d",
		    DESCRIPTIONS_BYTES_MAX >> 20, RUNS_FEW);
	return 0;
}

int
runs_descriptions_read(
    struct runs_descriptions *descriptions, struct text id, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	char pattern[2 * NAME_BYTES_MAX + 2];
	struct record record;
	int rc;

	if (descriptions->kind.bytes == 0 || descriptions->has_all)
		return 0;
	descriptions->has_all = id.bytes == 0;
	snprintf(pattern, sizeof(pattern), "%.*s:%.*s",
	    (int)descriptions->kind.bytes, descriptions->kind.at,
	    id.bytes > 0 ? (int)id.bytes : 1, id.bytes > 0 ? id.at : "*");
	query.name = text_of(pattern);
	if (source_select(descriptions->source, SOURCE_RECORDS,
		descriptions->partition, &query, err) != 0)
		return -1;
	/* The id may be a pattern, too. */
	while ((rc = source_next(descriptions->source, &record, err)) > 0)
		if ((id.bytes == 0 || text_equal(record.name, id)) &&
		    take(descriptions, &record, err) != 0)
			return -1;
	return rc;
}

struct runs_description
runs_descriptions_find(
    const struct runs_descriptions *descriptions, struct text id)
{
	struct runs_description found = { .of = { { NULL, 0 } } };
	uint32_t number;

	if (!string_table_find(&descriptions->ids, id, &number))
		return found;
	for (int i = 0; i < RUNS_PROPERTIES; i++)
		if (descriptions->numbers[number][i] > 0)
			found.of[i] =
			    descriptions->texts
				.names[descriptions->numbers[number][i] - 1];
	return found;
}
