/*
 * json_memory - JSON that is written into memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_JSON_MEMORY_H
#define EXPORTERS_JSON_MEMORY_H

#include <stddef.h>

#include "exporters/json.h"

struct json_memory {
	struct json to;
	char *text; /* once it ended; the caller's to free */
	size_t bytes;
};

void json_memory_begin(struct json_memory *json, unsigned style);
/* A view of `text`, behind which stands a NUL. */
struct text json_memory_end(struct json_memory *json);

#endif
