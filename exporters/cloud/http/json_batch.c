/*
 * json_batch - many items in one request.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/http/json_batch.h"

#include <stdlib.h>

#include "proto/base/memory.h"

static void
append(struct json_batch *lot, struct text piece)
{
	if (lot->bytes + piece.bytes > lot->room) {
		lot->room = 2 * (lot->bytes + piece.bytes);
		lot->body = memory_resize(lot->body, lot->room);
	}
	memcpy(lot->body + lot->bytes, piece.at, piece.bytes);
	lot->bytes += piece.bytes;
}

bool
json_batch_add(struct json_batch *lot, struct text item)
{
	if (lot->items > 0 &&
	    (lot->items >= lot->items_max ||
		lot->bytes + 1 + item.bytes + lot->ends.bytes > lot->bytes_max))
		return false;
	append(lot, lot->items++ == 0 ? lot->begins : text_of(","));
	append(lot, item);
	return true;
}

struct text
json_batch_body(struct json_batch *lot)
{
	size_t bytes = lot->bytes;
	struct text all;

	append(lot, lot->ends);
	all = (struct text){ lot->body, (uint32_t)lot->bytes };
	lot->bytes = bytes;
	return all;
}

void
json_batch_begin(struct json_batch *lot)
{
	lot->bytes = 0;
	lot->items = 0;
}

void
json_batch_clear(struct json_batch *lot)
{
	free(lot->body);
	lot->body = NULL;
	lot->room = 0;
	json_batch_begin(lot);
}
