/*
 * tracks - where a timeline draws.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/trace/timeline/tracks_order.h"
#include "proto/base/array.h"

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
rows_init(struct rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	intern_init(&rows->texts);
	intern_init(&rows->process_keys);
	intern_init(&rows->row_keys);
	intern_init(&rows->track_keys);
	rows->last = UINT32_MAX;
}

void
rows_clear(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->row_keys.count; i++) {
		nest_clear(&rows->rows[i].nest);
		free(rows->rows[i].tids);
	}
	free(rows->rows);
	free(rows->processes);
	free(rows->tracks);
	intern_clear(&rows->texts);
	intern_clear(&rows->process_keys);
	intern_clear(&rows->row_keys);
	intern_clear(&rows->track_keys);
}

/* ---- what entities say ---- */

static struct text
text_property(struct rows *rows, const struct record *record, const char *key)
{
	struct value value;

	if (!record_find_attribute(record, text_of(key), &value) ||
	    value.type != VALUE_TEXT ||
	    text_check_name(value.is.text) != TEXT_OK)
		return (struct text){ NULL, 0 };
	return intern_text(&rows->texts, value.is.text);
}

static void
take_track(struct rows *rows, const struct record *record)
{
	struct text node = text_property(rows, record, "node");
	struct text track = text_property(rows, record, "track");
	uint32_t before = rows->track_keys.count, number;
	char key[KEY_BYTES];
	struct value sort;
	bool has_sort;

	if (node.bytes == 0 || track.bytes == 0 || before == ROWS_MAX)
		return;
	number = intern_add(&rows->track_keys, key_of(key, node, track));
	rows->tracks = grow(
	    rows->tracks, &rows->track_room, number, sizeof(*rows->tracks));
	has_sort = record_find_attribute(record, text_of("sort"), &sort) &&
		   sort.type == VALUE_INT;
	rows->tracks[number] = (struct row_track){
		.name = text_property(rows, record, "name"),
		.process = text_property(rows, record, "process"),
		.sort = has_sort ? sort.is.i : 0,
	};
}

int
rows_read(struct rows *rows, struct source *source, struct text partition,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	query.name = text_of("track:*");
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		take_track(rows, &record);
	return rc;
}

/* ---- processes and rows ---- */

static uint32_t
find_process(struct rows *rows, struct text node, struct text group)
{
	char bytes[KEY_BYTES];
	struct text key = key_of(bytes, node, group);
	uint32_t number;

	if (intern_find(&rows->process_keys, key, &number))
		return number;
	if (rows->process_keys.count == ROWS_MAX)
		return UINT32_MAX;
	number = intern_add(&rows->process_keys, key);
	rows->processes = grow(rows->processes, &rows->process_room, number,
	    sizeof(*rows->processes));
	rows->processes[number] = (struct row_process){ .id = ++rows->last_id,
		.node = intern_text(&rows->texts, node),
		.group = intern_text(&rows->texts, group) };
	return number;
}

int64_t
rows_process(struct rows *rows, struct text node)
{
	uint32_t number = find_process(rows, node, (struct text){ NULL, 0 });

	return number == UINT32_MAX ? -1 : rows->processes[number].id;
}

static bool
is_last(const struct rows *rows, struct text node, enum row_section section,
    struct text track)
{
	const struct row *last;

	if (rows->last == UINT32_MAX)
		return false;
	last = &rows->rows[rows->last];
	return last->section == section && text_equal(last->track, track) &&
	       text_equal(last->node, node);
}

/* False: there is no room for its process. */
static bool
add_row(struct rows *rows, struct text row_key, struct text node,
    enum row_section section, struct text track)
{
	struct row_track said = { .sort = 0 };
	char key[KEY_BYTES];
	uint32_t number, process;

	if (section == ROW_SPANS &&
	    intern_find(&rows->track_keys, key_of(key, node, track), &number))
		said = rows->tracks[number];
	process = find_process(rows, node, said.process);
	if (process == UINT32_MAX)
		return false;
	number = intern_add(&rows->row_keys, row_key);
	rows->rows =
	    grow(rows->rows, &rows->row_room, number, sizeof(*rows->rows));
	rows->rows[number] = (struct row){ .process = process,
		.section = section,
		.node = intern_text(&rows->texts, node),
		.track = intern_text(&rows->texts, track),
		.sort = said.sort,
		.begin_ns = INT64_MAX };
	rows->rows[number].name =
	    said.name.bytes > 0 ? said.name : rows->rows[number].track;
	rows->last = number;
	return true;
}

uint32_t
rows_find(struct rows *rows, struct text node, enum row_section section,
    struct text track)
{
	char bytes[KEY_BYTES];
	struct text key;
	uint32_t number;

	if (is_last(rows, node, section, track))
		return rows->last;
	key = key_of(bytes, node, track);
	bytes[key.bytes++] = (char)section;
	if (intern_find(&rows->row_keys, key, &number))
		rows->last = number;
	else if (rows->row_keys.count == ROWS_MAX ||
		 !add_row(rows, key, node, section, track))
		return UINT32_MAX;
	return rows->last;
}

struct text
rows_node(const struct rows *rows, uint32_t row)
{
	return rows->rows[row].node;
}

void
rows_begin(struct rows *rows, uint32_t row, int64_t begin_ns)
{
	if (begin_ns < rows->rows[row].begin_ns)
		rows->rows[row].begin_ns = begin_ns;
}

/* ---- threads ---- */

static int64_t
thread_of(struct rows *rows, struct row *row, uint32_t lane)
{
	while (row->threads <= lane) {
		row->tids = grow(row->tids, &row->tid_room, row->threads,
		    sizeof(*row->tids));
		row->tids[row->threads++] = ++rows->last_id;
	}
	return row->tids[lane];
}

bool
rows_place(struct rows *rows, uint32_t number, int64_t begin_ns, int64_t end_ns,
    int64_t *pid, int64_t *tid)
{
	struct row *row = &rows->rows[number];
	uint32_t lane;

	if (!nest_place(&row->nest, begin_ns, end_ns, &lane)) {
		rows->crowded++;
		return false;
	}
	*pid = rows->processes[row->process].id;
	*tid = thread_of(rows, row, lane);
	return true;
}

void
rows_point(struct rows *rows, uint32_t number, int64_t *pid, int64_t *tid)
{
	struct row *row = &rows->rows[number];

	*pid = rows->processes[row->process].id;
	*tid = thread_of(rows, row, 0);
}
