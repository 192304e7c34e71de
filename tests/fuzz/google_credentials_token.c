/*
 * google_credentials_token - any answer of the token service is a token that
 * fits in a header and ends, or none.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/google_credentials.h"

#include <assert.h>

#include "proto/os/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text answer = { (const char *)data, (uint32_t)size };
	struct google_token token = { "before", 1 };
	struct err err = { 0 };

	if (google_token_read(&token, answer, 0, &err) != 0) {
		assert(token.text[0] == '\0' && err.text[0] != '\0');
		return 0;
	}
	assert(token.text[0] != '\0' && strpbrk(token.text, " \r\n") == NULL);
	assert(token.until_ns <= GOOGLE_TOKEN_SECONDS_MAX * NS_PER_SECOND);
	return 0;
}
