/*
 * json_batch - collect items for one request.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/json_batch.h"

#include <string.h>

bool
json_batch_add(struct json_batch *batch, struct text item)
{
	static const char between[] = ",\n";

	if (batch->items > 0 && (batch->items >= batch->items_max ||
				    batch->body.bytes + strlen(between) +
					    item.bytes + batch->ends.bytes >
					batch->bytes_max))
		return false;
	buffer_put_text(&batch->body,
	    batch->items++ == 0 ? batch->begins : text_of(between));
	buffer_put_text(&batch->body, item);
	return true;
}

struct text
json_batch_body(struct json_batch *batch)
{
	size_t bytes = batch->body.bytes;
	struct text all;

	buffer_put_text(&batch->body, batch->ends);
	all = buffer_text(&batch->body);
	batch->body.bytes = bytes;
	return all;
}

void
json_batch_begin(struct json_batch *batch)
{
	batch->body.bytes = 0;
	batch->items = 0;
}

void
json_batch_clear(struct json_batch *batch)
{
	buffer_clear(&batch->body);
	json_batch_begin(batch);
}
