/*
 * open_phases - the phase that each node is in.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/open_phases.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/phases/read.h"
#include "proto/base/memory.h"

/* A key may have 32 KiB; more of it than this is not shown. */
enum { KEY_SHOWN_MAX = 128, LABELS_MORE = 100 };

static struct text
keep_label(struct open_phases *phases, const struct record *record)
{
	char label[NAME_BYTES_MAX + 1 + KEY_SHOWN_MAX];
	uint32_t bytes = record->name.bytes, more = record->key.bytes;

	if (more > KEY_SHOWN_MAX)
		more = KEY_SHOWN_MAX;
	/* Not within a character. */
	while (more > 0 && more < record->key.bytes &&
	       ((unsigned char)record->key.at[more] & 0xC0) == 0x80)
		more--;
	memcpy(label, record->name.at, bytes);
	if (more > 0) {
		label[bytes++] = ' ';
		memcpy(label + bytes, record->key.at, more);
		bytes += more;
	}
	return string_table_text(
	    &phases->labels, (struct text){ label, bytes });
}

/* Of phases that others of the same node have replaced: a node that died in a
 * phase a hundred times has a hundred that never ended. */
static void
forget_labels(struct open_phases *phases)
{
	struct string_table labels;

	string_table_init(&labels);
	for (uint32_t i = 0; i < phases->nodes.count; i++)
		phases->at[i].label =
		    string_table_text(&labels, phases->at[i].label);
	string_table_clear(&phases->labels);
	phases->labels = labels;
}

static void
take(struct open_phases *phases, const struct phases_names *names,
    const struct record *record)
{
	char id[2 * NAME_BYTES_MAX + 1];
	uint32_t before = phases->nodes.count, number;
	struct open_phase *at;

	if (!record->has_time || record->has_end || record->node.bytes == 0 ||
	    record->name.bytes > NAME_BYTES_MAX ||
	    string_table_find(
		&names->ignored, record_whole_name(id, record), &number))
		return;
	number = string_table_add(&phases->nodes, record->node);
	phases->at =
	    memory_grow(phases->at, &phases->room, number, sizeof(*at));
	at = &phases->at[number];
	if (number < before && at->begin_ns > record->time_ns)
		return;
	*at =
	    (struct open_phase){ keep_label(phases, record), record->time_ns };
	if (phases->labels.count > 2 * phases->nodes.count + LABELS_MORE)
		forget_labels(phases);
}

static int
read_names_and_phases(struct open_phases *phases, struct phases_names *names,
    struct source *source, struct text partition, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	struct record record;
	int rc;

	if (phases_names_read(names, source, partition, err) != 0)
		return -1;
	if (source_select(source, SOURCE_OPEN, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_PHASE)
			take(phases, names, &record);
	return rc;
}

int
open_phases_read(struct open_phases *phases, struct source *source,
    struct text partition, struct err *err)
{
	enum clock_choice choice = source_clock(source)->choice;
	struct phases_names names;
	int rc;

	open_phases_init(phases);
	source_clock(source)->choice = CLOCK_RAW;
	rc = read_names_and_phases(phases, &names, source, partition, err);
	source_clock(source)->choice = choice;
	phases_names_clear(&names);
	return rc;
}

void
open_phases_init(struct open_phases *phases)
{
	*phases = (struct open_phases){ .room = 0 };
	string_table_init(&phases->nodes);
	string_table_init(&phases->labels);
}

void
open_phases_clear(struct open_phases *phases)
{
	free(phases->at);
	string_table_clear(&phases->nodes);
	string_table_clear(&phases->labels);
	*phases = (struct open_phases){ .room = 0 };
}

const struct open_phase *
open_phases_find(const struct open_phases *phases, struct text node)
{
	uint32_t number;

	return phases->at != NULL &&
		       string_table_find(&phases->nodes, node, &number)
		   ? &phases->at[number]
		   : NULL;
}
