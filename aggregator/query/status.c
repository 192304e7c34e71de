/*
 * status - what is in the store, as entities of kind "status".
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/status.h"

#include <stdio.h>

#include "aggregator/query/page/answer.h"
#include "proto/counter/counter.h"

#define STORE_ID     "store"
#define ROOM_ID      "store:room"
#define PARTITION_ID "partition:" /* and its name */

enum { NEARLY_FULL_SHARE = 10 }; /* of what the store has */

static void
put_int(struct answer *answer, enum counter_number counter, uint64_t number)
{
	answer_put_int(answer, counters[counter].name, number);
}

static const char *
kind_name(unsigned kind, char room[static 32], const char *prefix)
{
	snprintf(
	    room, 32, "%s%s", prefix, record_kind_name((enum record_kind)kind));
	return room;
}

static void
put_records(struct answer *answer, const struct partition_counts *counts)
{
	char name[32];
	unsigned kind;

	for (kind = RECORD_EVENT; kind < RECORD_KINDS; kind++) {
		if (kind != RECORD_PHASE)
			answer_put_int(answer,
			    kind_name(kind, name, "records_"),
			    counts->records[kind] + counts->archived[kind]);
	}
	answer_put_int(answer, "rejected_bytes", counts->rejected_bytes);
	answer_put_int(answer, "rejected_cut", counts->rejected_cut);
}

/* The first and the last entry number in the journal; 0 and 0 when it is
 * empty. */
static void
journal_ends(struct reader *reader, uint64_t *first, uint64_t *last)
{
	struct db_cursor *cursor;
	struct text key, all = { NULL, 0 };
	struct db_txn *txn;

	*first = *last = 0;
	if (reader->journal == NULL)
		return;
	if (db_begin(journal_db(reader->journal), false, &txn, NULL) != 0)
		return;
	cursor = db_cursor_open(txn, JOURNAL_ENTRIES);
	if (db_seek_key(cursor, all, &key) && key.bytes == 8)
		*first = varint_get_u64_be(key.at);
	if (db_last_key(cursor, &key) && key.bytes == 8)
		*last = varint_get_u64_be(key.at);
	db_cursor_close(&cursor);
	db_abort(&txn);
}

static void
put_tables(struct answer *answer, const struct db_status *status)
{
	char name[32];
	int i;

	put_int(answer, COUNTER_STORE_tables_bytes, status->used_bytes);
	put_int(answer, COUNTER_STORE_tables_file_bytes, status->file_bytes);
	put_int(answer, COUNTER_STORE_map_bytes, status->map_bytes);
	for (i = 0; i < TABLES_COUNT; i++) {
		if (i == TABLES_SORT)
			continue;
		snprintf(name, sizeof(name), "rows_%s", tables_names[i]);
		answer_put_int(answer, name, status->rows[i]);
		snprintf(name, sizeof(name), "bytes_%s", tables_names[i]);
		answer_put_int(answer, name, status->bytes[i]);
	}
}

/* How much the store may grow, and whether that is less than a tenth of what it
 * has.  Pages that are free in its files are room, too. */
static bool
append_room(struct page *page, const struct db_status *tables,
    const struct db_status *journal)
{
	uint64_t used = tables->used_bytes + journal->used_bytes, room;
	uint64_t map = tables->map_bytes > tables->used_bytes
			   ? tables->map_bytes - tables->used_bytes
			   : 0;
	struct answer answer;
	bool is_map, is_near;

	if (__builtin_add_overflow(tables->disk_bytes,
		tables->free_bytes + journal->free_bytes, &room))
		room = INT64_MAX;
	is_map = map < room;
	if (is_map) {
		room = map;
		used = tables->used_bytes;
	}
	is_near = room < used / NEARLY_FULL_SHARE;
	answer_start(&answer, text_of("status"), text_of(ROOM_ID));
	put_int(&answer, COUNTER_ROOM_room_bytes, room);
	answer_put_bool(
	    &answer, counters[COUNTER_ROOM_nearly_full].name, is_near);
	if (is_near)
		answer_put_word(&answer,
		    counters[COUNTER_ROOM_nearly_full_problem].name,
		    text_of(is_map ? "the tables come near a limit: --map-bytes"
				   : "make room on its disk, or keep less: "
				     "--retain"));
	return answer_append(page, &answer);
}

int
query_lag(struct reader *reader, uint64_t *batches, struct err *err)
{
	uint64_t indexed, first, last;
	struct db_txn *txn;

	if (db_begin(reader->tables, false, &txn, err) != 0)
		return -1;
	indexed = tables_fact(txn, FACT_INDEXED);
	db_abort(&txn);
	journal_ends(reader, &first, &last);
	*batches = last > indexed ? last - indexed : 0;
	return 0;
}

/* May the reader see the partition? */
static bool
sees(const struct page *page, uint32_t partition, struct text *name)
{
	return dictionary_text(page->txn, 0, partition, name) &&
	       (page->reader->limit.bytes == 0 ||
		   text_match_partition(page->reader->limit, *name));
}

/* Sum up what the reader may see; returns the number of partitions. */
static uint32_t
sum_up(struct page *page, struct partition_counts *all)
{
	uint32_t last = dictionary_last(page->txn, 0), count = 0, i;
	struct partition_counts one;
	struct text name;
	int kind;

	*all = (struct partition_counts){ .nodes = 0 };
	for (i = 1; i <= last; i++) {
		if (!sees(page, i, &name))
			continue;
		count++;
		tables_get_counts(page->txn, i, &one);
		all->nodes += one.nodes;
		for (kind = 0; kind < RECORD_KINDS; kind++)
			all->records[kind] += one.records[kind];
		all->rejected_bytes += one.rejected_bytes;
		all->rejected_cut += one.rejected_cut;
	}
	return count;
}

/* What a reader of some partitions gets: nothing that others add to. */
static bool
append_limited(struct page *page)
{
	struct partition_counts all;
	struct answer answer;

	answer_start(&answer, text_of("status"), text_of(STORE_ID));
	answer_put_bool(&answer, counters[COUNTER_STORE_limited].name, true);
	put_int(&answer, COUNTER_STORE_partitions, sum_up(page, &all));
	put_int(&answer, COUNTER_STORE_nodes, all.nodes);
	put_records(&answer, &all);
	put_int(&answer, COUNTER_STORE_rebuilding,
	    tables_fact(page->txn, FACT_REBUILD) != 0);
	return answer_append(page, &answer);
}

static bool
append_store(struct page *page, struct err *err, int *rc)
{
	struct reader *reader = page->reader;
	uint64_t indexed = tables_fact(page->txn, FACT_INDEXED), first, last;
	struct db_status tables, journal = { .map_bytes = 0 };
	struct partition_counts all;
	struct answer answer;

	*rc = db_status(reader->tables, &tables, err);
	if (*rc == 0 && reader->journal != NULL)
		*rc = db_status(journal_db(reader->journal), &journal, err);
	if (*rc != 0)
		return false;
	journal_ends(reader, &first, &last);
	answer_start(&answer, text_of("status"), text_of(STORE_ID));
	put_int(&answer, COUNTER_STORE_partitions, sum_up(page, &all));
	put_int(&answer, COUNTER_STORE_nodes, all.nodes);
	put_records(&answer, &all);
	put_int(&answer, COUNTER_STORE_journal_first, first);
	put_int(&answer, COUNTER_STORE_journal_next, last + 1);
	put_int(&answer, COUNTER_STORE_received, last);
	put_int(&answer, COUNTER_STORE_indexed, indexed);
	put_int(&answer, COUNTER_STORE_indexing_lag,
	    last > indexed ? last - indexed : 0);
	put_int(&answer, COUNTER_STORE_journal_bytes, journal.used_bytes);
	put_int(&answer, COUNTER_STORE_journal_file_bytes, journal.file_bytes);
	put_int(&answer, COUNTER_STORE_sessions, journal.rows[JOURNAL_STREAMS]);
	put_int(&answer, COUNTER_STORE_generation,
	    reader->journal == NULL
		? 0
		: journal_generation(reader->journal) & INT64_MAX);
	put_int(&answer, COUNTER_STORE_rebuilding,
	    tables_fact(page->txn, FACT_REBUILD) != 0);
	put_int(
	    &answer, COUNTER_STORE_damaged, tables.damaged + journal.damaged);
	put_tables(&answer, &tables);
	return (!page_wants_text(page, text_of(STORE_ID)) ||
		   answer_append(page, &answer)) &&
	       (!page_wants_text(page, text_of(ROOM_ID)) ||
		   append_room(page, &tables, &journal));
}

static bool
append_partition(struct page *page, uint32_t partition, struct text name)
{
	struct partition_counts counts;
	struct text id = text_of(PARTITION_ID);
	char room[16 + NAME_BYTES_MAX];
	struct answer answer;

	/* An id has the maximum length of a name: truncate at the start of a
	 * character. */
	memcpy(room, id.at, id.bytes);
	memcpy(room + id.bytes, name.at, name.bytes);
	id = (struct text){ room, id.bytes + name.bytes };
	while (id.bytes > NAME_BYTES_MAX || !text_is_utf8(id))
		id.bytes--;

	tables_get_counts(page->txn, partition, &counts);
	answer_start(&answer, text_of("status"), id);
	answer_put_word(&answer, "partition", name);
	answer_put_int(&answer, "nodes", counts.nodes);
	answer_put_int(&answer, "last_entry", counts.last_entry);
	put_records(&answer, &counts);
	if (counts.oldest_ns <= counts.last_ns) {
		answer_put_int(&answer, "first_ns", (uint64_t)counts.oldest_ns);
		answer_put_int(&answer, "last_ns", (uint64_t)counts.last_ns);
	}
	return answer_append(page, &answer);
}

/* The range of partitions that the name of the query may select: one, if it
 * names it, so that nothing else is read. */
static void
partition_range(const struct page *page, uint32_t *first, uint32_t *last)
{
	struct text name = page->query->name, prefix = text_of(PARTITION_ID);

	*first = 1;
	*last = dictionary_last(page->txn, 0);
	if (name.bytes == 0 || text_is_pattern(name))
		return;
	*first = *last = 0;
	if (name.bytes > prefix.bytes &&
	    memcmp(name.at, prefix.at, prefix.bytes) == 0)
		*first = *last = dictionary_find(page->txn, 0,
		    (struct text){
			name.at + prefix.bytes, name.bytes - prefix.bytes });
}

/* The cursor is the number of the next partition; for a reader that may not see
 * all it counts those that it may, so that it does not depend on others. */
static bool
append_partitions(struct page *page)
{
	bool counts = page->reader->limit.bytes > 0;
	uint32_t first, last, seen = 0, i;
	struct text name;

	partition_range(page, &first, &last);
	if (!counts && first < page->cursor.number)
		first = (uint32_t)page->cursor.number;
	for (i = first; i <= last; i++) {
		if (counts &&
		    (!sees(page, i, &name) || ++seen < page->cursor.number))
			continue;
		if (sees(page, i, &name) &&
		    page_wants_pair(page, text_of("partition"), name) &&
		    !append_partition(page, i, name))
			return false;
		page->cursor.number = (counts ? seen : i) + 1;
	}
	return true;
}

bool
query_status(struct page *page, int *rc, struct err *err)
{
	bool good = true;

	*rc = 0;
	if (page->cursor.number == 0 &&
	    (page_wants_text(page, text_of(STORE_ID)) ||
		page_wants_text(page, text_of(ROOM_ID))))
		good = page->reader->limit.bytes > 0
			   ? append_limited(page)
			   : append_store(page, err, rc);
	if (good && page->cursor.number == 0)
		page->cursor.number = 1;
	return good && append_partitions(page);
}
