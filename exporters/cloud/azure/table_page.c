/*
 * table_page - print rows of an event table as lines of JSON.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure/table_page.h"

#include "proto/json/json_fields.h"
#include "proto/json/json_find.h"
#include "proto/json/json_relayout.h"

static int
write_row(struct json_relayout *relayout, struct text row, FILE *file)
{
	static const char *const names[] = { "PartitionKey", "RowKey", "Event",
		"NodeId", "Message" };
	struct json line;
	bool good = row.at[0] == '{';

	json_init(&line, file, JSON_COMPACT | JSON_STRICT);
	json_begin_object(&line);
	for (size_t i = 0; good && i < sizeof(names) / sizeof(*names); i++) {
		struct text value = json_find(row, names[i]);

		if (value.bytes == 0 || json_fields_is_null(value))
			continue;
		json_name(&line, names[i]);
		good = json_relayout_into(relayout, &line, value);
	}
	if (!good)
		return -1;
	json_end_object(&line);
	putc('\n', file);
	return 0;
}

int
table_page_write(struct text page, FILE *file, uint64_t *rows, struct err *err)
{
	struct text list = json_find(json_find_root(page), "value"), row;
	struct json_relayout relayout;
	int rc = 0;

	if (!json_fields_is_list(list))
		return err_set(err, "the answer is not a page of rows");
	json_relayout_init(&relayout);
	while (rc == 0 && json_find_item(&list, &row)) {
		if (write_row(&relayout, row, file) != 0)
			rc =
			    err_set(err, "the answer contains a malformed row");
		else if (ferror(file))
			rc = err_set(err, "cannot write the rows");
		*rows += rc == 0;
	}
	json_relayout_clear(&relayout);
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
