/*
 * statsd - any datagram ends, every line is taken or refused for a reason, and
 * what the lines add up to can be defined and sent.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/series.h"

#include "proto/metric/definition.h"
#include "proto/wire/wire.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum statsd_put
on_group(void *arg, const struct dynamic_group *group)
{
	static unsigned char body[256 << 10];
	struct definition definition;
	struct wire_header header = { .type = WIRE_PUT, .records = 2 };
	struct wire_room room = { 0 };
	struct wire_writer w;
	struct text plain;

	MUST(definition_of(&group->definition, &definition));
	wire_writer_init(&w, body, sizeof(body));
	MUST(wire_put_record(&w, &group->definition));
	MUST(wire_put_record(&w, &group->sample));
	MUST(w.bytes + 4096 < WIRE_PUT_BYTES_MAX);
	header.body_bytes = (uint32_t)w.bytes;
	MUST(wire_body(&header,
		 (struct text){ (const char *)body, (uint32_t)w.bytes }, &room,
		 &plain) == WIRE_OK);
	wire_room_clear(&room);
	*(uint64_t *)arg += group->numbers;
	return STATSD_PUT;
}

/* Each part of the line lies in it. */
static void
look_at(const struct statsd_line *line, struct text text)
{
	MUST(line->rate > 0 && line->rate <= 1);
	MUST(line->labels <= DYNAMIC_LABELS_MAX);
	for (uint32_t i = 1; i < line->labels; i++)
		MUST(text_compare(line->label[i - 1].key, line->label[i].key) <
		     0);
	MUST(line->name.at >= text.at &&
	     line->name.at + line->name.bytes <= text.at + text.bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text rest = { (const char *)data, (uint32_t)size }, text;
	struct statsd_series *series;
	uint64_t numbers, taken = 0;

	statsd_series_new(&series);
	while (text_next_line(&rest, &text)) {
		static struct statsd_line line;
		enum statsd_fault fault = statsd_line_parse(&line, text);

		if (fault == STATSD_OK)
			look_at(&line, text);
		if (fault == STATSD_OK && line.type != STATSD_EVENT &&
		    line.type != STATSD_CHECK)
			fault = statsd_series_add(series, &line, 0);
		taken += fault == STATSD_OK && line.type < STATSD_EVENT;
		MUST(fault == STATSD_OK ||
		     (statsd_fault_word(fault)[0] != '\0' &&
			 statsd_fault_sentence(fault)[0] != '\0'));
	}
	for (int i = 0; i < 3; i++) {
		numbers = 0;
		MUST(statsd_series_put(series, 5, i * STATSD_SILENT_NS, 7,
			 on_group, &numbers) == 0);
		/* Values with a time are put once. */
		MUST(i > 0 || (numbers > 0) == (taken > 0));
		MUST(i < 2 || numbers == 0);
		statsd_series_next_period(series, i * STATSD_SILENT_NS);
	}
	statsd_series_free(&series);
	return 0;
}
