/*
 * prometheus - any page ends, every line counts once, and what is taken from
 * it can be defined and sent.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/prometheus.h"

#include "proto/metric/definition.h"
#include "proto/metric/sample_page.h"
#include "proto/wire/wire.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t numbers, bad;
};

static int
on_group(void *arg, const struct dynamic_group *group)
{
	static unsigned char body[256 << 10];
	struct seen *seen = arg;
	struct definition definition, none = { .names = { "", 0 } };
	struct wire_header header = { .type = WIRE_PUT, .records = 2 };
	struct wire_room room = { 0 };
	struct wire_writer w;
	struct text plain;
	struct err err;

	MUST(definition_of(&group->definition, &definition));
	MUST(definition_compare(group->definition.name, &none, &definition,
		 DEFINITION_BY_USER, &err) == DEFINITION_GROWN);
	wire_writer_init(&w, body, sizeof(body));
	MUST(wire_put_record(&w, &group->definition));
	MUST(w.bytes + 4096 < WIRE_PUT_BYTES_MAX);
	MUST(wire_put_record(&w, &group->sample));
	header.body_bytes = (uint32_t)w.bytes;
	MUST(wire_body(&header,
		 (struct text){ (const char *)body, (uint32_t)w.bytes }, &room,
		 &plain) == WIRE_OK);
	wire_room_clear(&room);
	seen->numbers += group->numbers;
	return 0;
}

static void
on_bad(void *arg, uint64_t line, const struct err *err)
{
	struct seen *seen = arg;

	MUST(line > 0 && err->text[0] != '\0');
	seen->bad++;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct prometheus reader;
	struct sample_page_calls calls = { .on_group = on_group,
		.on_bad = on_bad };
	struct prometheus_sample sample;
	struct sample_page *page;
	struct seen seen = { 0 };
	struct err err = { 0 };
	uint64_t line = 0, taken = 0;
	int rc;

	calls.arg = &seen;
	sample_page_new(&page);
	prometheus_begin(
	    &reader, (struct text){ (const char *)data, (uint32_t)size });
	while ((rc = prometheus_next(&reader, &sample, &err)) != 0) {
		MUST(reader.line > line);
		line = reader.line;
		taken += rc > 0 && sample_page_add(page, &sample.number,
				       sample.label, sample.labels,
				       sample.has_time ? sample.time_ns : 0,
				       line, &err) == 0;
	}
	MUST(reader.rest.bytes == 0);
	MUST(sample_page_groups(page, text_of("prom"), 0, &calls) == 0);
	MUST(seen.numbers + seen.bad == taken);
	sample_page_free(&page);
	return 0;
}
