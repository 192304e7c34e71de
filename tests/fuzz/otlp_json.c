/*
 * otlp_json - any text is a request of OTLP in JSON or not; one that is
 * accepted is a protocol buffer that is accepted, too, and becomes records that
 * can be sent.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fuzz/otlp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct buffer binary;
	struct text json = { (const char *)data, (uint32_t)size };
	struct err err = { 0 };

	for (int i = 0; i < OTLP_KINDS; i++) {
		binary.bytes = 0;
		if (otlp_read_json(
			&binary, otlp_kinds[i].message, json, &err) != 0) {
			MUST(err.text[0] != '\0');
			continue;
		}
		MUST(otlp_check(otlp_kinds[i].message, buffer_text(&binary),
			 &err) == 0);
		otlp_map_all(&otlp_kinds[i], buffer_text(&binary));
	}
	return 0;
}
