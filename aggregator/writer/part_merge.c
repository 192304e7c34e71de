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
choose_level(
    struct part_merge *merge, const struct part_list *list, unsigned level)
{
	merge->count = 0;
	for (uint32_t i = 0;
	     i < list->count && merge->count < PART_MERGE_PARTS_MAX; i++)
		if (level == LEVELS || level_of(&list->at[i]) == level)
			merge->number[merge->count++] = list->at[i].number;
}

/* Does the phase have parts to merge?  `force`: if it has more than one. */
static bool
choose(struct part_merge *merge, const struct part_list *list, bool force)
{
	uint32_t parts[LEVELS] = { 0 };
	unsigned level = LEVELS;

	for (uint32_t i = 0; i < list->count; i++)
		parts[level_of(&list->at[i])]++;
	for (unsigned i = LEVELS; i-- > 0;)
		if (parts[i] >= PART_MERGE_PARTS)
			level = i;
	if (level == LEVELS && list->making == 0 &&
	    (!force || list->count == 0 ||
		(list->count == 1 && list->at[0].columns)))
		return false;
	choose_level(merge, list, level);
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

	merge->item = memory_grow(
	    merge->item, &merge->item_room, merge->items, sizeof(*merge->item));
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
put_row(
    struct part_merge *merge, struct db_txn *txn, uint32_t from, uint32_t count)
{
	const struct part_row_item *last = &merge->item[from + count - 1];
	const struct part_row_key of = { merge->partition, merge->phase,
		merge->made.number, last->key_hash, last->scope,
		last->entry.id.time_ns, !last->entry.is_end, merge->made.rows };
	unsigned char key[PART_ROW_KEY_BYTES];

	merge->value.bytes = 0;
	if (merge->columns == NULL)
		merge->columns = compacted_row_writer_new();
	part_row_put_columns(
	    &merge->value, merge->columns, merge->item + from, count);
	db_put(txn, TABLES_PHASES, part_row_put_key(key, &of),
	    buffer_text(&merge->value));
	merge->made.rows++;
	merge->made.events += count;
	merge->made.bytes += merge->value.bytes;
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
put_rows(struct part_merge *merge, struct db_txn *txn, bool through)
{
	uint32_t from = 0, count;

	while ((count = fit(merge, from)) > 0 &&
	       (through || from == 0 || from + count < merge->items)) {
		put_row(merge, txn, from, count);
		from += count;
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
		part_list_delete(list, txn, merge->number[i]);
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

/* One transaction; `*done`: there is nothing left to do. */
static void
merge_some(struct part_merge *merge, struct db_txn *read, struct db_txn *txn,
    bool *done)
{
	struct part_list list = { .at = NULL };
	bool is_there =
	    part_list_get(&list, txn, merge->partition, merge->phase);

	if (is_there && !merge->begun)
		begin(merge, &list, txn);
	/* Retention may have deleted parts, or somebody the partition. */
	*done = !is_there || list.making != merge->made.number ||
		!part_cursor_open_some(&merge->cursor, read, merge->partition,
		    merge->phase, merge->number, merge->count);
	if (!*done) {
		*done = read_some(merge);
		put_rows(merge, txn, *done);
		if (*done)
			replace(merge, &list, txn);
	} else if (is_there && list.making == merge->made.number) {
		part_list_delete(&list, txn, list.making);
		list.making = 0;
	}
	part_cursor_close(&merge->cursor);
	if (is_there)
		part_list_put(&list, txn);
	part_list_clear(&list);
}

static enum db_result
do_merge(struct writer *writer, struct err *err)
{
	struct part_merge *merge = &writer->merge;
	struct db_txn *read, *txn;
	enum db_result result;
	bool done;

	if (db_begin(writer->db, false, &read, err) != 0)
		return DB_BROKEN;
	if (db_begin(writer->db, true, &txn, err) != 0) {
		db_abort(&read);
		return DB_BROKEN;
	}
	merge_some(merge, read, txn, &done);
	db_abort(&read);
	result = db_commit(&txn, err);
	/* What was not committed is done again, from the beginning. */
	if (done || result != DB_OK)
		merge->busy = false;
	return result;
}

enum db_result
part_merge_step(struct writer *writer, bool *more, struct err *err)
{
	struct part_merge *merge = &writer->merge;
	int64_t now_ns = clock_monotonic_ns();

	*more = true;
	if (merge->busy)
		return do_merge(writer, err);
	if (merge->searching)
		return search(writer, false, err) == 0 ? DB_OK : DB_BROKEN;
	*more = false;
	if (now_ns < merge->next_ns)
		return DB_OK;
	merge->next_ns = now_ns + SEARCH_NS;
	merge->searching = true;
	merge->partition = merge->phase = 0;
	return search(writer, false, err) == 0 ? DB_OK : DB_BROKEN;
}

enum db_result
part_merge_all(struct writer *writer, struct err *err)
{
	struct part_merge *merge = &writer->merge;
	enum db_result result = DB_OK;

	merge->busy = false;
	merge->searching = true;
	merge->partition = merge->phase = 0;
	while (result == DB_OK && (merge->busy || merge->searching)) {
		if (merge->busy)
			result = do_merge(writer, err);
		else if (search(writer, true, err) != 0)
			result = DB_BROKEN;
	}
	return result;
}
