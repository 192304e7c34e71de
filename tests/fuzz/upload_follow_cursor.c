/*
 * upload_follow_cursor - whatever the file of a follower holds is a cursor or
 * none.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/records.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct upload_cursor cursor;
	struct err err = { 0 };

	if (size > UPLOAD_CURSOR_BYTES_MAX)
		return 0;
	if (upload_cursor_parse(&cursor,
		(struct text){ (const char *)data, (uint32_t)size }, &err) == 0)
		assert(strlen(cursor.selection) <= UPLOAD_SELECTION_BYTES - 1);
	else
		assert(err.text[0] != '\0');
	return 0;
}
