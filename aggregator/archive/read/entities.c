/*
 * entities - rows of entities, made of those of the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

struct entities {
	struct names *names;
	struct made *range;
	uint32_t partition;
	struct buffer key, value;
};

static uint32_t
no_number(void *context, struct text name)
{
	(void)context;
	(void)name;
	return 0;
}

static int
take(void *arg, struct fetch *row, struct err *err)
{
	static const struct archive_numbers numbers = { no_number, NULL };
	struct entities *to = arg;
	struct archive_row of = { .seq = 0 };
	unsigned char front[8];

	varint_put_u32_be(front, to->partition);
	varint_put_u32_be(front + 4, names_number(to->names, fetch_text(row)));
	to->key.bytes = to->value.bytes = 0;
	buffer_put(&to->key, front, sizeof(front));
	buffer_put_text(&to->key, fetch_text(row));
	varint_put(&to->value, names_number(to->names, fetch_text(row)));
	varint_put(&to->value, names_session(to->names, fetch_text(row)));
	varint_put(&to->value, fetch_uint(row));
	varint_put(&to->value, fetch_uint(row));
	varint_put(&to->value, varint_zigzag(fetch_int(row)));
	if (to->key.bytes > DB_KEY_BYTES_MAX || !fetch_attributes(row, &of) ||
	    !archive_attributes(&of, &numbers, &to->value))
		return err_set(
		    err, "archive: an entity has more than an entity can have");
	made_put(to->range, buffer_text(&to->key), buffer_text(&to->value));
	return 0;
}

/* All of the partition. */
int
read_entities(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	static const struct native_column columns[] = {
		{ "kind", NATIVE_STRING },
		{ "id", NATIVE_STRING },
		{ "node", NATIVE_STRING },
		{ "session", NATIVE_STRING },
		{ "seq", NATIVE_UINT64 },
		{ "idx", NATIVE_UINT32 },
		{ "recv", NATIVE_INT64 },
		{ "keys", NATIVE_STRING_ARRAY },
		{ "types", NATIVE_STRING },
		{ "vals", NATIVE_STRING_ARRAY },
	};
	struct entities entities = { .range = range };
	int rc;
	struct read_partition *of =
	    archive_read_whole(read, key, 0, range, &rc, err);
	char *sql;

	if (of == NULL)
		return rc;
	entities.names = of->names;
	entities.partition = varint_get_u32_be(key.at);
	sql = memory_format("SELECT kind, id, node, session, seq, idx, recv, "
			    "keys, types, vals FROM %s.entities FINAL WHERE "
			    "part = %llu",
	    clickhouse_database(read->fetch.client),
	    (unsigned long long)of->part);
	rc = fetch_home(&read->fetch, SCHEMA_ENTITIES, of->part, columns,
	    sizeof(columns) / sizeof(columns[0]), sql, take, &entities, err);
	free(sql);
	if (rc == 0)
		made_sort(range);
	buffer_clear(&entities.key);
	buffer_clear(&entities.value);
	return rc;
}
