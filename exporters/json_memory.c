/*
 * json_memory - JSON that is written into memory.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/json_memory.h"

#include <stdlib.h>

void
json_memory_begin(struct json_memory *json, unsigned style)
{
	FILE *file;

	json->text = NULL;
	file = open_memstream(&json->text, &json->bytes);
	if (file == NULL)
		abort(); /* out of memory */
	json_init(&json->to, file, style);
}

struct text
json_memory_end(struct json_memory *json)
{
	fclose(json->to.file);
	return (struct text){ json->text, (uint32_t)json->bytes };
}
