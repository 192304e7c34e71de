/*
 * datastore_answer - any answer to a commit is one, or a sentence.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/targets/datastore.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text answer = { (const char *)data, (uint32_t)size };
	struct err err = { 0 };

	if (datastore_answer_read(answer, 1, &err) != 0)
		assert(err.text[0] != '\0');
	err.text[0] = '\0';
	if (datastore_error_read(answer, &err))
		assert(err.text[0] != '\0');
	for (const char *c = err.text; *c != '\0'; c++)
		assert((unsigned char)*c >= ' ' && *c != 0x7F);
	return 0;
}
