/*
 * table_page - print rows of an event table as lines of JSON.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure/table_page.h"

#include <jansson.h>

static int
write_row(const json_t *row, FILE *file)
{
	static const char *const names[] = { "PartitionKey", "RowKey", "Event",
		"NodeId", "Message" };
	json_t *line = json_object();
	int rc;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		json_t *value = json_object_get(row, names[i]);

		if (value != NULL && !json_is_null(value))
			json_object_set(line, names[i], value);
	}
	rc = json_dumpf(line, file, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(line);
	return rc == 0 && putc('\n', file) != EOF ? 0 : -1;
}

int
table_page_write(struct text page, FILE *file, uint64_t *rows, struct err *err)
{
	json_t *json = json_loadb(page.at, page.bytes, 0, NULL);
	const json_t *list = json_object_get(json, "value");
	const json_t *row;
	size_t i;
	int rc = 0;

	if (!json_is_array(list))
		rc = err_set(err, "the answer is not a page of rows");
	json_array_foreach(list, i, row)
	{
		if (rc == 0 && !json_is_object(row))
			rc =
			    err_set(err, "the answer contains a malformed row");
		if (rc == 0 && write_row(row, file) != 0)
			rc = err_set(err, "cannot write the rows");
		*rows += rc == 0;
	}
	json_decref(json);
	return rc;
}

size_t
table_quote(char *to, size_t room, struct text text)
{
	size_t used = 0;

	for (uint32_t i = 0; i < text.bytes; i++) {
		if (used + 3 > room)
			return 0;
		if (text.at[i] == '\'')
			to[used++] = '\'';
		to[used++] = text.at[i];
	}
	if (room > 0)
		to[used] = '\0';
	return used;
}
