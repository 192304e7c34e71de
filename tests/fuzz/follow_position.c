/*
 * follow_position - any bytes as the file of a follower's position; what is
 * understood says the same when it is written.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/follow_position.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct follow_position a, b;
	struct err err;
	char text[64];
	int bytes;

	if (size > 4096 ||
	    follow_position_parse(&a,
		(struct text){ (const char *)data, (uint32_t)size }, &err) != 0)
		return 0;
	bytes = snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 "\n",
	    a.generation, a.entry);
	if (follow_position_parse(
		&b, (struct text){ text, (uint32_t)bytes }, &err) != 0 ||
	    a.generation != b.generation || a.entry != b.entry)
		abort();
	return 0;
}
