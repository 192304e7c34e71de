/*
 * verify - check every row of the tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/admin/verify_private.h"
#include "aggregator/marks/marks.h"
#include "aggregator/tables/stream_row.h"
#include "proto/base/memory.h"
#include "proto/hash/crc32c.h"

void
verify_report(struct check *check, const char *format, ...)
{
	char sentence[512];
	va_list args;

	check->wrong++;
	if (check->report == NULL)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	check->report(check->arg, sentence);
}

static void
check_marks(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_MARKS);
	uint64_t last = marks_last_change(check->txn);
	bool is_kept = marks_are_kept(check->txn);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	struct mark mark;

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!marks_decode(key, value, &mark))
			verify_report(check, "marks: malformed row");
		else if (mark.change == 0 || mark.change > last)
			verify_report(check,
			    "marks: change %llu, but the last one is %llu",
			    (unsigned long long)mark.change,
			    (unsigned long long)last);
		else if (!is_kept)
			verify_report(check,
			    "marks: a row, but the store has no archive");
	}
	db_cursor_close(&cursor);
}

static void
check_streams(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_STREAMS);
	struct text key, value, name, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	struct session_id session;
	struct stream_row row;
	uint32_t partition;

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!stream_row_get_key(key, &partition, &session) ||
		    !stream_row_decode(value, &row))
			verify_report(check, "streams: malformed row");
		else if (!dictionary_text(check->txn, 0, partition, &name))
			verify_report(check,
			    "streams: partition %u has no name", partition);
	}
	db_cursor_close(&cursor);
}

/* Are the nodes of the row nodes? */
static bool
are_nodes(struct check *check, uint32_t partition, uint32_t block, uint64_t has)
{
	for (uint32_t i = 0; i < LATEST_NODES; i++) {
		uint32_t node = block * LATEST_NODES + i, number = node;

		if ((has >> i & 1) != 0 &&
		    (!dictionary_next_node(check->txn, partition, &number) ||
			number != node))
			return false;
	}
	return true;
}

/* What is kept of the last record of each node. */
static void
check_latest(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_NAMES);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	uint32_t partition, block;
	struct latest_row row;

	for (; more; more = db_next(cursor, &key, &value)) {
		if (latest_get_key(key, &partition, &block) &&
		    (!latest_decode(&row, value) ||
			!are_nodes(check, partition, block, row.has)))
			verify_report(check,
			    "names: malformed row of the last records of nodes "
			    "from %u on of partition %u",
			    block * LATEST_NODES, partition);
	}
	db_cursor_close(&cursor);
}

void
verify_latest_record(struct check *check, uint32_t partition, uint8_t kind,
    uint32_t node, const struct row_block_item *record)
{
	struct latest_row *row = &check->latest.row;
	struct latest heard = LATEST_NONE;
	uint32_t block = node / LATEST_NODES;

	if (kind != RECORD_EVENT && kind != RECORD_SAMPLE &&
	    kind != RECORD_SPAN)
		return;
	if (check->latest.partition != partition ||
	    check->latest.block != block) {
		check->latest.partition = partition;
		check->latest.block = block;
		latest_read(check->txn, partition, block, row);
	}
	heard.receive_ns = record->receive_ns;
	heard.time_ns = record->time_ns;
	if (kind == RECORD_SAMPLE)
		heard.sample_ns = record->time_ns;
	/* Only the first of them is reported. */
	if (latest_take(&row->at[node % LATEST_NODES], &heard))
		verify_report(check,
		    "names: node %u of partition %u has a record later than "
		    "its last one",
		    node, partition);
}

/* ---- phases and statistics ---- */

/* Is a row of the list's part, or of one that a merge makes? */
static bool
is_listed(const struct part_list *list, uint32_t part)
{
	bool found = part == list->making && part != 0;

	for (uint32_t i = 0; i < list->count; i++)
		found = found || list->at[i].number == part;
	return found;
}

/* The rows of a phase come behind its list. */
static void
check_phases(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_PHASES);
	struct text key, value, all = { NULL, 0 };
	struct part_list list = { .partition = 0 };
	struct part_row_key at;
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		if (key.bytes == PART_LIST_KEY_BYTES) {
			part_list_get(&list, check->txn,
			    varint_get_u32_be(key.at),
			    varint_get_u32_be(key.at + 4));
			continue;
		}
		if (!part_row_get_key(key, &at) ||
		    !part_row_open(&check->indexer_write.newest, value) ||
		    !part_row_complete(&check->indexer_write.newest))
			verify_report(check, "phases: malformed row");
		else if (at.partition != list.partition ||
			 at.phase != list.phase || !is_listed(&list, at.part))
			verify_report(check,
			    "phases: a row of part %u of phase %u of partition "
			    "%u, which is not listed",
			    at.part, at.phase, at.partition);
	}
	db_cursor_close(&cursor);
	part_list_clear(&list);
}

static void
check_stats(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_STATS);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		struct varint_reader u = varint_reader_of(value);

		duration_stats_reset(check->kept);
		duration_stats_decode(check->kept, &u);
		if (key.bytes != 8 || u.bad || u.at != u.end) {
			verify_report(check, "stats: malformed row");
			continue;
		}
		indexer_write_sum_phase(&check->indexer_write, check->txn,
		    varint_get_u32_be(key.at), varint_get_u32_be(key.at + 4),
		    check->indexer_write.stats);
		if (!duration_stats_equal(
			check->kept, check->indexer_write.stats))
			verify_report(check,
			    "stats: the statistics of phase %u of partition %u "
			    "differ from the sum of its events",
			    varint_get_u32_be(key.at + 4),
			    varint_get_u32_be(key.at));
	}
	db_cursor_close(&cursor);
}

/* ---- the small tables ---- */

/* What the ids of runs and their numbers have in common, both ways: rows that
 * are packed are not sought one by one. */
struct run_names {
	uint64_t numbers, texts;
};

static uint64_t
hash_of(uint32_t partition, uint32_t number, struct text id)
{
	const uint32_t words[] = { partition, number };
	uint32_t low = crc32c(0, words, sizeof(words));

	low = crc32c(low, id.at, id.bytes);
	return (uint64_t)crc32c(~low, id.at, id.bytes) << 32 | low;
}

static void
check_name(struct check *check, uint32_t partition, uint32_t number,
    struct text name, bool is_run)
{
	struct text text;
	bool found =
	    is_run ? dictionary_run_text(check->indexer_write.packed,
			 check->txn, partition, number, &text)
		   : dictionary_text(check->txn, partition, number, &text);

	if (!found || !text_equal(text, name))
		verify_report(check,
		    "names: number %u of partition %u has another name", number,
		    partition);
}

/* One row; `sums`: NULL: check the ids of runs, too. */
static void
take_name(struct check *check, struct text key, struct text value,
    struct run_names *sums)
{
	uint32_t partition, number;
	struct text name;
	bool is_run;

	if (key.bytes < 5 || (key.at[0] != 't' && key.at[0] != 'r'))
		return;
	is_run = dictionary_is_run(key, value, &number);
	partition = varint_get_u32_be(key.at + 1);
	name = (struct text){ key.at + 5, key.bytes - 5 };
	if (sums != NULL && is_run && key.at[0] == 'r')
		sums->texts += hash_of(partition, number, value);
	else if (sums != NULL && is_run)
		sums->numbers += hash_of(partition, number, name);
	else if (key.at[0] == 't')
		check_name(check, partition, number, name, is_run);
}

static void
walk_names(struct check *check, struct run_names *sums)
{
	struct packed_cursor *cursor =
	    packed_cursor_open(check->txn, tables_run_names);
	struct text key, value, all = { NULL, 0 };
	bool more = packed_seek(cursor, all, &key, &value);

	for (; more; more = packed_next(cursor, &key, &value))
		take_name(check, key, value, sums);
	packed_cursor_close(&cursor);
}

static void
check_names(struct check *check)
{
	struct run_names sums = { 0, 0 };
	int64_t wrong;

	walk_names(check, &sums);
	if (sums.numbers == sums.texts)
		return;
	wrong = check->wrong;
	walk_names(check, NULL);
	if (check->wrong == wrong)
		verify_report(check, "names: some ids of runs have no number");
}

static void
check_entities(struct check *check)
{
	struct packed_cursor *cursor =
	    packed_cursor_open(check->txn, tables_entities);
	struct text key, value, all = { NULL, 0 };
	bool more = packed_seek(cursor, all, &key, &value);
	struct row_block_attribute attribute;
	int i;

	for (; more; more = packed_next(cursor, &key, &value)) {
		struct varint_reader u = varint_reader_of(value);
		struct text rest;
		uint32_t count;

		for (i = 0; i < 5; i++)
			varint_get(&u);
		rest = varint_get_bytes(&u, varint_left(&u));
		count = row_block_attribute_count(&rest);
		while (count > 0 && row_block_next_attribute(&rest, &attribute))
			count--;
		if (u.bad || count != 0 || rest.bytes != 0)
			verify_report(check, "entities: malformed row");
	}
	packed_cursor_close(&cursor);
}

static void
report_block(void *arg, const char *sentence)
{
	verify_report(arg, "blocks: %s", sentence);
}

static void
check_blocks(struct check *check)
{
	struct packed *packed = check->indexer_write.packed;

	packed_verify(packed, check->txn, tables_runs, report_block, check);
	packed_verify(
	    packed, check->txn, tables_run_times, report_block, check);
	packed_verify(packed, check->txn, tables_entities, report_block, check);
	packed_verify(
	    packed, check->txn, tables_run_names, report_block, check);
}

int64_t
verify_tables(struct db *tables,
    void (*report)(void *arg, const char *sentence), void *arg, struct err *err)
{
	struct check check = { .report = report, .arg = arg };
	struct db_status status;

	check.wrong = db_verify_pages(tables, report, arg, err);
	if (check.wrong < 0 || db_begin(tables, false, &check.txn, err) != 0)
		return -1;
	indexer_write_init(&check.indexer_write);
	check.kept = memory_alloc(sizeof(*check.kept));
	duration_stats_init(check.kept);
	check_names(&check);
	check_latest(&check);
	verify_records(&check);
	verify_rollups(&check);
	check_blocks(&check);
	check_entities(&check);
	check_phases(&check);
	/* Those of phases that are derived again are not right until then. */
	if (tables_fact(check.txn, FACT_REBUILD) == 0)
		check_stats(&check);
	verify_runs(&check);
	check_marks(&check);
	check_streams(&check);
	free(check.kept);
	indexer_write_clear(&check.indexer_write);
	if (db_failed(check.txn)) {
		db_commit(&check.txn, err);
		return -1;
	}
	db_abort(&check.txn);
	if (db_status(tables, &status, err) != 0)
		return -1;
	if (status.damaged_rows > 0)
		verify_report(&check, "%llu rows have a wrong checksum",
		    (unsigned long long)status.damaged_rows);
	return check.wrong;
}
