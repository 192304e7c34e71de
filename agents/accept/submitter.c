/*
 * submitter - records the user who submitted, as reported by the kernel.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/submitter.h"

#include <stdlib.h>
#include <unistd.h>

#include "proto/base/memory.h"

struct submitter {
	unsigned char body[WIRE_PUT_BYTES_MAX];
	unsigned char pairs[WIRE_PUT_BYTES_MAX];
};

void
submitter_new(struct submitter **submitter)
{
	*submitter = memory_alloc(sizeof(**submitter));
}

void
submitter_free(struct submitter **submitter)
{
	free(*submitter);
	*submitter = NULL;
}

static bool
put_pairs(struct submitter *submitter, uid_t uid, struct record *record)
{
	const struct value value = { .type = VALUE_INT, .is.i = (int64_t)uid };
	struct text rest = record->pairs;
	struct record_attribute attribute;
	struct wire_writer w;
	uint32_t count = 1;
	bool fits;

	wire_writer_init(&w, submitter->pairs, sizeof(submitter->pairs));
	fits = wire_put_attribute(&w, text_of(RECORD_SUBMITTER_KEY), &value);
	while (record_next_attribute(&rest, &attribute)) {
		if (text_equal(attribute.key, text_of(RECORD_SUBMITTER_KEY)))
			continue;
		fits = fits &&
		       wire_put_attribute(&w, attribute.key, &attribute.value);
		count++;
	}
	record->attributes = count;
	record->pairs =
	    (struct text){ (const char *)submitter->pairs, (uint32_t)w.bytes };
	return fits && count <= RECORD_ATTRIBUTES_MAX;
}

/* What a user says that he lost is his word, an event, and no gap: readers
 * take a gap for the agent's own. */
static bool
put_loss(struct submitter *submitter, uid_t uid, struct record *record)
{
	const struct {
		const char *key;
		struct value value;
	} pairs[] = {
		{ RECORD_SUBMITTER_KEY, { VALUE_INT, .is.i = (int64_t)uid } },
		{ "class", { VALUE_TEXT, .is.text = record->source } },
		{ "reason", { VALUE_TEXT, .is.text = record->name } },
		{ "count", { VALUE_UINT, .is.u = record->count } },
		{ "from_ns", { VALUE_INT, .is.i = record->time_ns } },
	};
	uint32_t count = sizeof(pairs) / sizeof(*pairs);
	struct record event = {
		.kind = RECORD_EVENT,
		.node = record->node,
		.has_time = true,
		.time_ns = record->end_ns,
		.source = text_of("poolscope"),
		.name = text_of("lost"),
		.attributes = count,
	};
	struct wire_writer w;
	bool fits = true;

	wire_writer_init(&w, submitter->pairs, sizeof(submitter->pairs));
	for (uint32_t i = 0; i < count; i++)
		fits = fits && wire_put_attribute(
				   &w, text_of(pairs[i].key), &pairs[i].value);
	event.pairs =
	    (struct text){ (const char *)submitter->pairs, (uint32_t)w.bytes };
	*record = event;
	return fits;
}

bool
submitter_put(struct submitter *submitter, uid_t uid,
    const struct wire_header *header, struct text *plain)
{
	struct text node = header->node;
	struct wire_cursor cursor;
	struct wire_writer w;
	struct record record;
	bool fits = true;

	if (uid == geteuid())
		return true;
	wire_writer_init(&w, submitter->body, sizeof(submitter->body));
	wire_cursor_init(&cursor, header, *plain);
	while (fits && wire_next(&cursor, &record)) {
		if (!text_equal(record.node, node))
			fits = wire_put_context(&w, record.node);
		node = record.node;
		if (record.kind == RECORD_EVENT || record.kind == RECORD_SPAN ||
		    record.kind == RECORD_ENTITY)
			fits = fits && put_pairs(submitter, uid, &record);
		else if (record.kind == RECORD_GAP && uid != 0)
			fits = fits && put_loss(submitter, uid, &record);
		fits = fits && wire_put_record(&w, &record);
	}
	/* The frame of the submission had this much room for its body. */
	if (!fits || w.bytes > WIRE_PUT_BYTES_MAX - WIRE_FIXED_BYTES -
				   WIRE_HEADER_BYTES_MAX)
		return false;
	*plain =
	    (struct text){ (const char *)submitter->body, (uint32_t)w.bytes };
	return true;
}
