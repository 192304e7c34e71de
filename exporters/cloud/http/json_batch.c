/*
 * json_batch - collect items for one request.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/http/json_batch.h"

bool
json_batch_add(struct json_batch *lot, struct text item)
{
	if (lot->items > 0 &&
	    (lot->items >= lot->items_max ||
		lot->body.bytes + 1 + item.bytes + lot->ends.bytes >
		    lot->bytes_max))
		return false;
	buffer_put_text(
	    &lot->body, lot->items++ == 0 ? lot->begins : text_of(","));
	buffer_put_text(&lot->body, item);
	return true;
}

struct text
json_batch_body(struct json_batch *lot)
{
	size_t bytes = lot->body.bytes;
	struct text all;

	buffer_put_text(&lot->body, lot->ends);
	all = buffer_text(&lot->body);
	lot->body.bytes = bytes;
	return all;
}

void
json_batch_begin(struct json_batch *lot)
{
	lot->body.bytes = 0;
	lot->items = 0;
}

void
json_batch_clear(struct json_batch *lot)
{
	buffer_clear(&lot->body);
	json_batch_begin(lot);
}
