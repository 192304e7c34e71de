/*
 * part_merge - merge the parts of phases.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"

enum {
	LISTS = 256,         /* examined by a step */
	LEVEL_EVENTS = 4096, /* of level 0, fewer; of each further one 8 times
				as many */
	LEVELS = 8,
};
#define SEARCH_NS (200 * INT64_C(1000000))

void
part_merge_clear(struct part_merge *merge)
{
	part_cursor_clear(&merge->cursor);
	compacted_row_writer_free(&merge->columns);
	free(merge->item);
	free(merge->row);
	arena_clear(&merge->arena);
	buffer_clear(&merge->value);
}

/* ---- what to merge ---- */

static unsigned
level_of(const struct part_info *part)
{
	uint64_t most = LEVEL_EVENTS;
	unsigned level = 0;

	while (level + 1 < LEVELS && part->events >= most) {
		most *= 8;
		level++;
	}
	return level;
}

static void
choose_level(struct part_merge *merge, const struct part_list *list,
    uint32_t count, unsigned level)
{
	merge->count = 0;
	for (uint32_t i = 0; i < count && merge->count < PART_MERGE_PARTS_MAX;
	     i++)
		if (level == LEVELS || level_of(&list->at[i]) == level)
			merge->part[merge->count++] = list->at[i];
}

/* Does the phase have parts to merge?  `force`: if it has more than one; then
 * nobody writes meanwhile. */
static bool
choose(struct part_merge *merge, const struct part_list *list, bool force)
{
	uint32_t parts[LEVELS] = { 0 };
	uint32_t count = force ? list->count : part_list_settled(list);
	unsigned level = LEVELS;

	for (uint32_t i = 0; i < count; i++)
		parts[level_of(&list->at[i])]++;
	for (unsigned i = LEVELS; i-- > 0;)
		if (parts[i] >= PART_MERGE_PARTS)
			level = i;
	if (level == LEVELS && list->making == 0 &&
	    (!force || list->count == 0 ||
		(list->count == 1 && list->at[0].columns)))
		return false;
	choose_level(merge, list, count, level);
	merge->made = (struct part_info){
		.least_ns = INT64_MAX, .most_ns = INT64_MIN, .columns = true
	};
	merge->begun = false;
	return true;
}

static int
search(struct writer *writer, bool force, struct err *err)
{
	struct part_merge *merge = &writer->merge;
	struct part_list list = { .at = NULL };
	struct db_cursor *cursor;
	struct db_txn *txn;
	uint32_t lists = 0;

	if (db_begin(writer->db, false, &txn, err) != 0)
		return -1;
	cursor = db_cursor_open(txn, TABLES_PHASES);
	while (!merge->busy && lists++ < LISTS && merge->searching) {
		merge->searching =
		    part_list_find(cursor, &merge->partition, &merge->phase);
		merge->busy =
		    merge->searching &&
		    part_list_get(&list, txn, merge->partition, merge->phase) &&
		    choose(merge, &list, force);
		if (!merge->busy && ++merge->phase == 0)
			merge->partition++;
	}
	db_cursor_close(&cursor);
	db_abort(&txn);
	part_list_clear(&list);
	return 0;
}

/* ---- rows ---- */

static bool
is_written(const struct part_merge *merge, const struct part_cursor *cursor,
    const struct phase_entry *entry)
{
	return merge->made.rows > 0 && cursor->key_hash == merge->key_hash &&
	       cursor->scope == merge->scope &&
	       phase_compare(entry, &merge->last) <= 0;
}

static void
take(struct part_merge *merge, const struct phase_entry *entry)
{
	struct part_cursor *cursor = &merge->cursor;
	struct part_row_item *item;

	MEMORY_GROW(merge->item, merge->item_room, merge->items);
	item = &merge->item[merge->items];
	*item = (struct part_row_item){ cursor->key_hash, cursor->scope,
		cursor->key, *entry };
	item->entry.id.body = arena_text(&merge->arena, entry->id.body);
	if (merge->items > 0 && item[-1].key_hash == cursor->key_hash)
		item->key = item[-1].key;
	else
		item->key = arena_text(&merge->arena, cursor->key);
	merge->items++;
}

/* Read the events of a transaction; true: these are the last ones. */
static bool
read_some(struct part_merge *merge)
{
	struct part_cursor *cursor = &merge->cursor;
	uint32_t most =
	    merge->step_events > 0 ? merge->step_events : PART_MERGE_EVENTS;
	const struct phase_entry *entry;

	merge->items = 0;
	arena_reset(&merge->arena);
	if (merge->made.rows == 0)
		part_cursor_seek(cursor, 0, 0, INT64_MIN);
	else
		part_cursor_seek(cursor, merge->key_hash, merge->scope,
		    merge->last.id.time_ns);
	while (part_cursor_state(cursor)) {
		heartbeat_beat();
		while ((entry = part_cursor_entry(cursor)) != NULL) {
			if (is_written(merge, cursor, entry))
				continue;
			if (merge->items >= most ||
			    merge->arena.used >= PART_MERGE_BYTES)
				return false;
			take(merge, entry);
		}
	}
	return true;
}

static void
plan_row(struct part_merge *merge, uint32_t from, uint32_t count)
{
	const struct part_row_item *last = &merge->item[from + count - 1];
	struct part_merge_row *row;

	row = MEMORY_ADD(merge->row, merge->row_room, merge->rows);
	row->key = (struct part_row_key){ merge->partition, merge->phase, 0,
		last->key_hash, last->scope, last->entry.id.time_ns,
		!last->entry.is_end, merge->made.rows };
	row->at = merge->value.bytes;
	if (merge->columns == NULL)
		merge->columns = compacted_row_writer_new();
	part_row_put_columns(
	    &merge->value, merge->columns, merge->item + from, count);
	row->bytes = (uint32_t)(merge->value.bytes - row->at);
	merge->made.rows++;
	merge->made.events += count;
	merge->made.bytes += row->bytes;
	merge->key_hash = last->key_hash;
	merge->scope = last->scope;
	merge->last = last->entry;
	merge->last.id.body = (struct text){ NULL, 0 };
	for (uint32_t i = from; i < from + count; i++)
		part_info_note(&merge->made, merge->item[i].entry.id.time_ns);
}

/* How many of the items from `from` on fit a row. */
static uint32_t
fit(const struct part_merge *merge, uint32_t from)
{
	size_t bytes = 0;
	uint32_t count = 0;

	while (from + count < merge->items && count < PART_ROW_COLUMNS &&
	       (count == 0 || bytes < PART_ROW_COLUMNS_BYTES))
		bytes += merge->item[from + count++].entry.id.body.bytes;
	return count;
}

/* Rows that are not full are written at the end only: the next transaction
 * reads their events again. */
static void
plan_rows(struct part_merge *merge)
{
	uint32_t from = 0, count;

	while ((count = fit(merge, from)) > 0 &&
	       (merge->through || from == 0 || from + count < merge->items)) {
		plan_row(merge, from, count);
		from += count;
	}
}

static void
put_rows(const struct part_merge *merge, struct db_txn *txn)
{
	unsigned char key[PART_ROW_KEY_BYTES];

	for (uint32_t i = 0; i < merge->rows; i++) {
		const struct part_merge_row *row = &merge->row[i];
		struct part_row_key of = row->key;

		of.part = merge->made.number;
		db_put(txn, TABLES_PHASES, part_row_put_key(key, &of),
		    (struct text){
			(const char *)merge->value.at + row->at, row->bytes });
	}
}

/* ---- the list ---- */

/* Put the new part into the place of the others. */
static void
replace(struct part_merge *merge, struct part_list *list, struct db_txn *txn)
{
	struct part_info *at;
	uint32_t i;

	for (i = 0; i < merge->count; i++)
		part_list_delete(list, txn, merge->part[i].number);
	list->making = 0;
	if (merge->made.events == 0)
		return;
	part_list_add(list);
	for (i = list->count - 1; i > 0; i--) {
		if (list->at[i - 1].number < merge->made.number)
			break;
		list->at[i] = list->at[i - 1];
	}
	at = &list->at[i];
	*at = merge->made;
}

/* Forget what a merge has written that was interrupted, and give the new part
 * its number. */
static void
begin(struct part_merge *merge, struct part_list *list, struct db_txn *txn)
{
	if (list->making != 0)
		part_list_delete(list, txn, list->making);
	list->making = merge->made.number = ++list->last;
	merge->begun = true;
}

/* Are all parts there, as they were?  Retention may have deleted some, or
 * somebody the partition; and when the newest part is deleted, the one before
 * may grow. */
static bool
has_all(const struct part_merge *merge, const struct part_list *list)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < list->count && next < merge->count; i++)
		next += list->at[i].number == merge->part[next].number &&
			list->at[i].events == merge->part[next].events;
	return next == merge->count;
}

/* ---- a transaction ---- */

static void
plan_merge(struct part_merge *merge, struct db_txn *txn)
{
	merge->rows = 0;
	merge->value.bytes = 0;
	merge->is_planned = true;
	merge->is_readable = part_cursor_open_some(&merge->cursor, txn,
	    merge->partition, merge->phase, merge->part, merge->count);
	if (merge->is_readable) {
		merge->through = read_some(merge);
		plan_rows(merge);
	}
	part_cursor_close(&merge->cursor);
}

/* Returns whether the merge goes on. */
static bool
put_merge(struct part_merge *merge, struct db_txn *txn)
{
	struct part_list list = { .at = NULL };
	bool goes_on = false;

	bool is_there =
	    part_list_get(&list, txn, merge->partition, merge->phase);

	if (is_there && !merge->begun)
		begin(merge, &list, txn);
	is_there = is_there && list.making == merge->made.number;
	if (is_there && merge->is_readable && has_all(merge, &list)) {
		goes_on = !merge->through;
		put_rows(merge, txn);
		if (!goes_on)
			replace(merge, &list, txn);
	} else if (is_there) {
		part_list_delete(&list, txn, list.making);
		list.making = 0;
	}
	if (is_there)
		part_list_put(&list, txn);
	part_list_clear(&list);
	return goes_on;
}

static void
begin_search(struct part_merge *merge)
{
	merge->searching = true;
	merge->partition = merge->phase = 0;
}

bool
part_merge_is_due(struct writer *writer)
{
	struct part_merge *merge = &writer->merge;
	int64_t now_ns = clock_monotonic_ns();

	if (merge->busy || merge->searching)
		return true;
	if (now_ns < merge->next_ns)
		return false;
	merge->next_ns = now_ns + SEARCH_NS;
	begin_search(merge);
	return true;
}

int
part_merge_plan(struct writer *writer, bool force, struct err *err)
{
	struct db_txn *txn;

	if (!writer->merge.busy)
		return search(writer, force, err);
	if (db_begin(writer->db, false, &txn, err) != 0)
		return -1;
	plan_merge(&writer->merge, txn);
	db_abort(&txn);
	return 0;
}

enum db_result
part_merge_put(struct writer *writer, struct err *err)
{
	struct part_merge *merge = &writer->merge;
	enum db_result result;
	struct db_txn *txn;
	bool goes_on;

	if (!merge->is_planned)
		return DB_OK;
	merge->is_planned = false;
	if (db_begin(writer->db, true, &txn, err) != 0)
		return DB_BROKEN;
	goes_on = put_merge(merge, txn);
	result = db_commit(&txn, err);
	/* What was not committed is done again, from the beginning. */
	merge->busy = goes_on && result == DB_OK;
	return result;
}

enum db_result
part_merge_step(struct writer *writer, bool *more, struct err *err)
{
	*more = part_merge_is_due(writer);
	if (*more && part_merge_plan(writer, false, err) != 0)
		return DB_BROKEN;
	return part_merge_put(writer, err);
}

enum db_result
part_merge_all(struct writer *writer, struct err *err)
{
	struct part_merge *merge = &writer->merge;
	enum db_result result = DB_OK;

	merge->busy = merge->is_planned = false;
	begin_search(merge);
	while (result == DB_OK && (merge->busy || merge->searching)) {
		if (part_merge_plan(writer, true, err) != 0)
			return DB_BROKEN;
		result = part_merge_put(writer, err);
	}
	return result;
}
