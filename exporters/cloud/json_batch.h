/*
 * json_batch - collect items for one request: a JSON text with a list that
 * grows to the maximum size of a request, a line for each item.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_JSON_BATCH_H
#define EXPORTERS_CLOUD_JSON_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"

struct json_batch {
	/* Set by the caller; the texts must outlive the batch. */
	struct text begins, ends; /* text before and after the items */
	uint32_t items_max;
	size_t bytes_max; /* maximum bytes of the whole text */

	uint32_t items;
	struct buffer body;
};

/* Add an item.  False: there is no room, send the batch first; a single item
 * always fits. */
bool json_batch_add(struct json_batch *batch, struct text item);
/* The whole text; a view, valid until the next call. */
struct text json_batch_body(struct json_batch *batch);
/* Remove all items; the memory is reused. */
void json_batch_begin(struct json_batch *batch);
void json_batch_clear(struct json_batch *batch);

#endif
