/*
 * tracks - the processes and threads of a timeline.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/tracks.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

/* Close intervals that have ended; return the end of the innermost open one. */
static int64_t
close_ended(struct lanes_lane *lane, int64_t now_ns)
{
	while (lane->depth > 0 && lane->ends[lane->depth - 1] <= now_ns)
		lane->depth--;
	return lane->depth > 0 ? lane->ends[lane->depth - 1] : INT64_MAX;
}

static void
open_in(struct lanes_lane *lane, int64_t end_ns)
{
	*MEMORY_ADD(lane->ends, lane->room, lane->depth) = end_ns;
}

static struct lanes_lane *
add_lane(struct lanes *lanes)
{
	/* The capacity doubles at each power of two. */
	if ((lanes->count & (lanes->count - 1)) == 0) {
		uint32_t room = lanes->count > 0 ? 2 * lanes->count : 1;

		lanes->at =
		    memory_resize_array(lanes->at, room, sizeof(*lanes->at));
	}
	lanes->at[lanes->count] = (struct lanes_lane){ .latest_ns = INT64_MIN };
	return &lanes->at[lanes->count++];
}

bool
lanes_place(
    struct lanes *lanes, int64_t begin_ns, int64_t end_ns, uint32_t *lane)
{
	struct lanes_lane *best = NULL;
	int64_t best_end = 0;

	assert(begin_ns <= end_ns);
	for (uint32_t i = 0; i < lanes->count; i++) {
		struct lanes_lane *one = &lanes->at[i];
		int64_t end;

		if (one->latest_ns > begin_ns)
			continue;
		end = close_ended(one, begin_ns);
		if (end < end_ns || one->depth == LANES_DEPTH_MAX ||
		    (best != NULL && end >= best_end))
			continue;
		best = one;
		best_end = end;
	}
	if (best == NULL) {
		if (lanes->count == LANES_LANES_MAX)
			return false;
		best = add_lane(lanes);
	}
	open_in(best, end_ns);
	best->latest_ns = begin_ns;
	*lane = (uint32_t)(best - lanes->at);
	return true;
}

void
lanes_clear(struct lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		free(lanes->at[i].ends);
	free(lanes->at);
	memset(lanes, 0, sizeof(*lanes));
}

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
	MEMORY_GROW(tracks->tracks, tracks->track_room, number);
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
	MEMORY_GROW(tracks->processes, tracks->process_room, number);
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
	MEMORY_GROW(tracks->rows, tracks->row_room, number);
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
		*MEMORY_ADD(tracks_row->tids, tracks_row->tid_room,
		    tracks_row->threads) = ++tracks->last_id;
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

enum { PROCESS_NAME_BYTES = 2 * NAME_BYTES_MAX + 8 };

/* ---- processes ---- */

struct sorted_process {
	const struct tracks_process *process;
	uint32_t rank; /* position of its node */
	uint32_t number;
};

static int
by_node(const void *left, const void *right)
{
	const struct sorted_process *a = left, *b = right;
	int order;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	order = text_compare_natural(a->process->node, b->process->node);
	if (order != 0)
		return order;
	return text_compare_natural(a->process->group, b->process->group);
}

static struct sorted_process *
sort_processes(const struct tracks *tracks, const struct string_table *first)
{
	uint32_t count = tracks->process_keys.count;
	struct sorted_process *sorted = memory_zero(count + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < count; i++) {
		sorted[i].process = &tracks->processes[i];
		sorted[i].number = i;
		if (sorted[i].process->node.bytes > 0 &&
		    (first == NULL ||
			!string_table_find(
			    first, tracks->processes[i].node, &sorted[i].rank)))
			sorted[i].rank = UINT32_MAX;
	}
	qsort(sorted, count, sizeof(*sorted), by_node);
	return sorted;
}

/* NODE, or NODE: GROUP.  What is of no node is of the pool. */
static struct text
name_process(
    char to[static PROCESS_NAME_BYTES], const struct tracks_process *process)
{
	int n;

	if (process->node.bytes == 0)
		return text_of("pool");
	if (process->group.bytes == 0 ||
	    text_equal(process->group, process->node))
		return process->node;
	n = snprintf(to, PROCESS_NAME_BYTES, "%.*s: %.*s",
	    (int)process->node.bytes, process->node.at,
	    (int)process->group.bytes, process->group.at);
	return (struct text){ to, (uint32_t)n };
}

/* ---- rows ---- */

struct sorted_row {
	const struct tracks_row *row;
	int64_t begin_ns; /* first begin of its track on any node */
	uint32_t process; /* position of its process */
};

static int
by_position(const void *left, const void *right)
{
	const struct sorted_row *a = left, *b = right;
	int order;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->row->section != b->row->section)
		return a->row->section < b->row->section ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->row->sort != b->row->sort)
		return a->row->sort < b->row->sort ? -1 : 1;
	order = text_compare_natural(a->row->name, b->row->name);
	if (order != 0)
		return order;
	return text_compare(a->row->track, b->row->track);
}

/* A phase has the same position in every node, for comparison: phases are
 * sorted by their first begin on any node. */
static void
set_begins(const struct tracks *tracks, struct sorted_row *sorted)
{
	uint32_t count = tracks->row_keys.count, number;
	int64_t *begins = memory_zero(tracks->texts.count + 1, sizeof(*begins));

	for (uint32_t i = 0; i < tracks->texts.count; i++)
		begins[i] = INT64_MAX;
	for (uint32_t i = 0; i < count; i++)
		if (tracks->rows[i].section <= TRACKS_PHASES &&
		    string_table_find(
			&tracks->texts, tracks->rows[i].track, &number) &&
		    tracks->rows[i].begin_ns < begins[number])
			begins[number] = tracks->rows[i].begin_ns;
	for (uint32_t i = 0; i < count; i++) {
		const struct tracks_row *tracks_row = sorted[i].row;

		sorted[i].begin_ns = 0;
		if (tracks_row->section <= TRACKS_PHASES &&
		    string_table_find(
			&tracks->texts, tracks_row->track, &number))
			sorted[i].begin_ns = begins[number];
	}
	free(begins);
}

static struct sorted_row *
sort_rows(const struct tracks *tracks, const uint32_t *positions)
{
	uint32_t count = tracks->row_keys.count;
	struct sorted_row *sorted = memory_zero(count + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = (struct sorted_row){ &tracks->rows[i], 0,
			positions[tracks->rows[i].process] };
	set_begins(tracks, sorted);
	qsort(sorted, count, sizeof(*sorted), by_position);
	return sorted;
}

static void
describe_threads(const struct tracks *tracks,
    const struct tracks_row *tracks_row, int64_t *position,
    const struct tracks_names *names)
{
	int64_t pid = tracks->processes[tracks_row->process].id;
	char text[TRACKS_NAME_BYTES];

	for (uint32_t i = 0; i < tracks_row->threads; i++) {
		struct text name = tracks_row->name;

		if (i > 0) {
			int n =
			    snprintf(text, sizeof(text), "%.*s (%" PRIu32 ")",
				(int)name.bytes, name.at, i + 1);

			name = (struct text){ text, (uint32_t)n };
		}
		names->on_thread(
		    names->arg, pid, tracks_row->tids[i], name, ++*position);
	}
}

void
tracks_describe(const struct tracks *tracks, const struct string_table *first,
    const struct tracks_names *names)
{
	uint32_t count = tracks->process_keys.count, row = 0;
	struct sorted_process *processes = sort_processes(tracks, first);
	uint32_t *positions = memory_zero(count + 1, sizeof(*positions));
	struct sorted_row *sorted;

	for (uint32_t i = 0; i < count; i++)
		positions[processes[i].number] = i;
	sorted = sort_rows(tracks, positions);
	for (uint32_t i = 0; i < count; i++) {
		char text[PROCESS_NAME_BYTES];
		int64_t position = 0;

		names->on_process(names->arg, processes[i].process->node,
		    processes[i].process->id,
		    name_process(text, processes[i].process), (int64_t)i + 1);
		for (; row < tracks->row_keys.count && sorted[row].process == i;
		     row++)
			describe_threads(
			    tracks, sorted[row].row, &position, names);
	}
	free(sorted);
	free(positions);
	free(processes);
}
