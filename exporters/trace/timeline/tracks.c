/*
 * tracks - the processes and threads of a timeline.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/trace/timeline/tracks_order.h"
#include "proto/base/memory.h"

enum { KEY_BYTES = 2 * (NAME_BYTES_MAX + 1) + 8 };

/* ---- building ---- */

static struct text
key_of(char to[static KEY_BYTES], struct text a, struct text b)
{
	if (a.bytes > NAME_BYTES_MAX)
		a.bytes = NAME_BYTES_MAX;
	if (b.bytes > NAME_BYTES_MAX)
		b.bytes = NAME_BYTES_MAX;
	if (a.bytes > 0)
		memcpy(to, a.at, a.bytes);
	to[a.bytes] = '\0';
	if (b.bytes > 0)
		memcpy(to + a.bytes + 1, b.at, b.bytes);
	return (struct text){ to, a.bytes + 1 + b.bytes };
}

void
tracks_init(struct tracks *tracks)
{
	memset(tracks, 0, sizeof(*tracks));
	string_table_init(&tracks->texts);
	string_table_init(&tracks->process_keys);
	string_table_init(&tracks->row_keys);
	string_table_init(&tracks->track_keys);
	tracks->last = UINT32_MAX;
}

void
tracks_clear(struct tracks *tracks)
{
	for (uint32_t i = 0; i < tracks->row_keys.count; i++) {
		lanes_clear(&tracks->rows[i].lanes);
		free(tracks->rows[i].tids);
	}
	free(tracks->rows);
	free(tracks->processes);
	free(tracks->tracks);
	string_table_clear(&tracks->texts);
	string_table_clear(&tracks->process_keys);
	string_table_clear(&tracks->row_keys);
	string_table_clear(&tracks->track_keys);
}

/* ---- entities ---- */

static struct text
text_property(
    struct tracks *tracks, const struct record *record, const char *key)
{
	struct text text;

	if (!record_find_text(record, key, &text) ||
	    text_check_name(text) != TEXT_OK)
		return (struct text){ NULL, 0 };
	return string_table_text(&tracks->texts, text);
}

static void
take_track(struct tracks *tracks, const struct record *record)
{
	struct text node = text_property(tracks, record, "node");
	struct text track = text_property(tracks, record, "track");
	uint32_t before = tracks->track_keys.count, number;
	char key[KEY_BYTES];
	struct value sort;
	bool has_sort;

	if (node.bytes == 0 || track.bytes == 0 || before == TRACKS_MAX)
		return;
	number =
	    string_table_add(&tracks->track_keys, key_of(key, node, track));
	tracks->tracks = memory_grow(tracks->tracks, &tracks->track_room,
	    number, sizeof(*tracks->tracks));
	has_sort = record_find_attribute(record, text_of("sort"), &sort) &&
		   sort.type == VALUE_INT;
	tracks->tracks[number] = (struct tracks_track){
		.name = text_property(tracks, record, "name"),
		.process = text_property(tracks, record, "process"),
		.sort = has_sort ? sort.is.i : 0,
	};
}

int
tracks_read(struct tracks *tracks, struct source *source, struct text partition,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	query.name = text_of("track:*");
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		take_track(tracks, &record);
	return rc;
}

/* ---- processes and rows ---- */

static uint32_t
find_process(struct tracks *tracks, struct text node, struct text group)
{
	char bytes[KEY_BYTES];
	struct text key = key_of(bytes, node, group);
	uint32_t number;

	if (string_table_find(&tracks->process_keys, key, &number))
		return number;
	if (tracks->process_keys.count == TRACKS_MAX)
		return UINT32_MAX;
	number = string_table_add(&tracks->process_keys, key);
	tracks->processes = memory_grow(tracks->processes,
	    &tracks->process_room, number, sizeof(*tracks->processes));
	tracks->processes[number] =
	    (struct tracks_process){ .id = ++tracks->last_id,
		    .node = string_table_text(&tracks->texts, node),
		    .group = string_table_text(&tracks->texts, group) };
	return number;
}

int64_t
tracks_process(struct tracks *tracks, struct text node)
{
	uint32_t number = find_process(tracks, node, (struct text){ NULL, 0 });

	return number == UINT32_MAX ? -1 : tracks->processes[number].id;
}

static bool
is_last(const struct tracks *tracks, struct text node,
    enum tracks_section section, struct text track)
{
	const struct tracks_row *last;

	if (tracks->last == UINT32_MAX)
		return false;
	last = &tracks->rows[tracks->last];
	return last->section == section && text_equal(last->track, track) &&
	       text_equal(last->node, node);
}

/* False: the limit of processes is reached. */
static bool
add_row(struct tracks *tracks, struct text row_key, struct text node,
    enum tracks_section section, struct text track)
{
	struct tracks_track described = { .sort = 0 };
	char key[KEY_BYTES];
	uint32_t number, process;

	if (section == TRACKS_SPANS && string_table_find(&tracks->track_keys,
					   key_of(key, node, track), &number))
		described = tracks->tracks[number];
	process = find_process(tracks, node, described.process);
	if (process == UINT32_MAX)
		return false;
	number = string_table_add(&tracks->row_keys, row_key);
	tracks->rows = memory_grow(
	    tracks->rows, &tracks->row_room, number, sizeof(*tracks->rows));
	tracks->rows[number] = (struct tracks_row){ .process = process,
		.section = section,
		.node = string_table_text(&tracks->texts, node),
		.track = string_table_text(&tracks->texts, track),
		.sort = described.sort,
		.begin_ns = INT64_MAX };
	tracks->rows[number].name = described.name.bytes > 0
					? described.name
					: tracks->rows[number].track;
	tracks->last = number;
	return true;
}

uint32_t
tracks_find(struct tracks *tracks, struct text node,
    enum tracks_section section, struct text track)
{
	char bytes[KEY_BYTES];
	struct text key;
	uint32_t number;

	if (is_last(tracks, node, section, track))
		return tracks->last;
	key = key_of(bytes, node, track);
	bytes[key.bytes++] = (char)section;
	if (string_table_find(&tracks->row_keys, key, &number))
		tracks->last = number;
	else if (tracks->row_keys.count == TRACKS_MAX ||
		 !add_row(tracks, key, node, section, track))
		return UINT32_MAX;
	return tracks->last;
}

struct text
tracks_node(const struct tracks *tracks, uint32_t row)
{
	return tracks->rows[row].node;
}

void
tracks_begin(struct tracks *tracks, uint32_t row, int64_t begin_ns)
{
	if (begin_ns < tracks->rows[row].begin_ns)
		tracks->rows[row].begin_ns = begin_ns;
}

/* ---- threads ---- */

static int64_t
thread_of(struct tracks *tracks, struct tracks_row *tracks_row, uint32_t lane)
{
	while (tracks_row->threads <= lane) {
		tracks_row->tids =
		    memory_grow(tracks_row->tids, &tracks_row->tid_room,
			tracks_row->threads, sizeof(*tracks_row->tids));
		tracks_row->tids[tracks_row->threads++] = ++tracks->last_id;
	}
	return tracks_row->tids[lane];
}

bool
tracks_place(struct tracks *tracks, uint32_t number, int64_t begin_ns,
    int64_t end_ns, int64_t *pid, int64_t *tid)
{
	struct tracks_row *tracks_row = &tracks->rows[number];
	uint32_t lane;

	if (!lanes_place(&tracks_row->lanes, begin_ns, end_ns, &lane)) {
		tracks->crowded++;
		return false;
	}
	*pid = tracks->processes[tracks_row->process].id;
	*tid = thread_of(tracks, tracks_row, lane);
	return true;
}

void
tracks_point(struct tracks *tracks, uint32_t number, int64_t *pid, int64_t *tid)
{
	struct tracks_row *tracks_row = &tracks->rows[number];

	*pid = tracks->processes[tracks_row->process].id;
	*tid = thread_of(tracks, tracks_row, 0);
}
