/*
 * otlp - any bytes are a request of OTLP or not; one that is accepted becomes
 * records that can be sent.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fuzz/otlp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text request = { (const char *)data, (uint32_t)size };
	struct err err = { 0 };

	for (int i = 0; i < OTLP_KINDS; i++)
		if (otlp_check(otlp_kinds[i].message, request, &err) == 0)
			otlp_map_all(&otlp_kinds[i], request);
		else
			MUST(err.text[0] != '\0');
	return 0;
}
