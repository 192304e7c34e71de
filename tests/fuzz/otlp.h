/*
 * otlp - what holds for any request of OTLP that is accepted: its records can
 * be sent, and its groups defined.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_OTLP_H
#define TESTS_FUZZ_OTLP_H

#include "agents/receiver/otlp/map.h"
#include "proto/wire/wire.h"
#include "tests/fuzz/must.h"

struct otlp_kind_of {
	const struct otlp_message *message;
	int (*map)(struct otlp_map *map, struct text request);
};

static const struct otlp_kind_of otlp_kinds[] = {
	{ &otlp_traces, otlp_map_traces },
	{ &otlp_metrics, otlp_map_metrics },
	{ &otlp_logs, otlp_map_logs },
};
enum { OTLP_KINDS = sizeof(otlp_kinds) / sizeof(*otlp_kinds) };

static int
otlp_on_record(void *arg, const struct compose *compose)
{
	static unsigned char body[WIRE_PUT_BYTES_MAX];
	struct wire_header header = { .type = WIRE_PUT, .records = 1 };
	struct wire_room room = { 0 };
	struct wire_writer w;
	struct text plain;
	struct err err;

	MUST(record_check(&compose->record, &err) == 0);
	wire_writer_init(&w, body, sizeof(body));
	MUST(wire_put_record(&w, &compose->record));
	header.body_bytes = (uint32_t)w.bytes;
	MUST(wire_body(&header,
		 (struct text){ (const char *)body, (uint32_t)w.bytes }, &room,
		 &plain) == WIRE_OK);
	wire_room_clear(&room);
	++*(uint64_t *)arg;
	return 0;
}

static int
otlp_on_group(void *arg, const struct dynamic_group *group)
{
	struct err err;

	MUST(record_check(&group->definition, &err) == 0);
	MUST(record_check(&group->sample, &err) == 0);
	*(uint64_t *)arg += group->numbers;
	return 0;
}

/* Map a request that was accepted: what is taken comes, and only that. */
static inline void
otlp_map_all(const struct otlp_kind_of *kind, struct text request)
{
	static const unsigned char hash[RECORD_ID_BYTES];
	static struct otlp_map map;
	uint64_t seen = 0;

	if (map.deltas == NULL)
		otlp_deltas_new(&map.deltas);
	map.calls =
	    (struct otlp_map_calls){ &seen, otlp_on_record, otlp_on_group };
	otlp_map_begin(&map, hash);
	MUST(kind->map(&map, request) == 0);
	MUST(seen == map.taken);
	MUST((map.refused > 0) == (map.why.text[0] != '\0'));
	MUST(text_is_utf8(text_of(map.why.text)));
}

#endif
