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

struct seen {
	uint64_t numbers, bad;
};

static int
on_group(void *arg, const struct dynamic_group *group)
{
	static unsigned char body[256 << 10];
	struct seen *seen = arg;
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
	struct seen seen = { 0 };
	const struct sample_page_calls calls = { &seen, on_group, on_bad };
	struct text rest = { (const char *)data, (uint32_t)size }, text;
	struct statsd_series *series;
	struct sample_page *page;
	uint32_t numbers;

	statsd_series_new(&series);
	while (text_next_line(&rest, &text)) {
		static struct statsd_line line;
		enum statsd_fault fault = statsd_line_parse(&line, text);

		if (fault == STATSD_OK)
			look_at(&line, text);
		if (fault == STATSD_OK && line.type != STATSD_EVENT &&
		    line.type != STATSD_CHECK)
			fault = statsd_series_add(series, &line, 7);
		MUST(fault == STATSD_OK ||
		     (statsd_fault_word(fault)[0] != '\0' &&
			 statsd_fault_sentence(fault)[0] != '\0'));
	}
	for (int i = 0; i < 2; i++) {
		seen = (struct seen){ 0 };
		sample_page_new(&page);
		numbers = statsd_series_put(series, page, 7, 7);
		MUST(sample_page_groups(page, text_of("statsd"), 5, &calls) ==
		     0);
		MUST(seen.numbers + seen.bad == numbers);
		sample_page_free(&page);
		statsd_series_next_period(series, 7);
	}
	statsd_series_free(&series);
	return 0;
}
