/*
 * time - times, durations, sizes and numbers: taken or refused with a
 * sentence, and what is taken is in range.  A first line may be a time zone.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>

#include "proto/base/number.h"
#include "proto/os/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = { (const char *)data, (uint32_t)size };
	struct err err = { 0 };
	char text[CLOCK_TEXT_BYTES];
	uint64_t count;
	double number;
	int64_t ns, back;
	char zone[64];
	struct text line;

	if (memchr(data, '\n', size) != NULL && text_next_line(&t, &line) &&
	    line.bytes < sizeof(zone)) {
		snprintf(zone, sizeof(zone), "%.*s", (int)line.bytes, line.at);
		if (clock_set_zone(zone, &err) != 0)
			assert(err.text[0] != '\0');
	}
	err.text[0] = '\0';
	if (clock_parse_time(t, NS_PER_SECOND, &ns, &err) == 0) {
		assert(ns >= TIME_MIN_NS && ns <= TIME_MAX_NS);
		clock_text(text, ns, 9);
		/* The year 2200 is the end, and not in it. */
		if (ns < TIME_MAX_NS)
			assert(clock_parse_time(
				   text_of(text), 0, &back, &err) == 0 &&
			       back == ns);
	} else {
		assert(err.text[0] != '\0');
	}
	if (clock_parse_seconds(t, &ns, &err) == 0)
		assert(ns >= TIME_MIN_NS && ns <= TIME_MAX_NS);
	clock_parse_duration(t, &ns, &err);
	number_parse_double(t, &number, &err);
	number_parse_u64(t, &count, &err);
	number_parse_bytes(t, &count, &err);
	clock_set_zone("UTC", NULL);
	return 0;
}
