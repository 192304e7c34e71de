/*
 * kv - any message ends, and every pair lies inside it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/kv.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text message = { (const char *)data, (uint32_t)size };
	struct text rest = message;
	struct kv_pair pair;
	char *room = malloc(size + 1);
	uint32_t pairs = 0;

	while (kv_next(&rest, &pair)) {
		assert(pair.value.bytes <= size && ++pairs <= size);
		assert(pair.value.bytes == 0 ||
		       (pair.value.at >= message.at &&
			   pair.value.at + pair.value.bytes <=
			       message.at + message.bytes));
		assert(kv_unescape(&pair, room).bytes <= pair.value.bytes);
	}
	assert(rest.bytes == 0);
	free(room);
	return 0;
}
