/*
 * json_batch - many items in one request: a JSON text with a list in it that
 * grows to what a service takes at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_JSON_BATCH_H
#define EXPORTERS_CLOUD_HTTP_JSON_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"

struct json_batch {
	/* For the caller to set; the texts live as long. */
	struct text begins, ends; /* what stands before and behind the items */
	uint32_t items_max;
	size_t bytes_max; /* of all of it */

	uint32_t items;
	struct buffer body;
};

/* Add an item.  False: there is no room, send it first; one alone always has
 * room. */
bool json_batch_add(struct json_batch *lot, struct text item);
/* All of it; a view, valid until the next call. */
struct text json_batch_body(struct json_batch *lot);
/* No items any more; the memory is kept. */
void json_batch_begin(struct json_batch *lot);
void json_batch_clear(struct json_batch *lot);

#endif
