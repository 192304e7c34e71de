/*
 * reader - opening a store, and making pages of its records.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/reader.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/query/page/page.h"
#include "aggregator/query/phases/phase_nodes.h"
#include "aggregator/query/phases/phases.h"
#include "aggregator/query/records/follow.h"
#include "aggregator/query/records/records.h"
#include "aggregator/query/runs/runs.h"
#include "aggregator/query/series/series.h"
#include "aggregator/query/status.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* ---- opening ---- */

static struct reader *
new_reader(void)
{
	struct reader *reader = memory_zero(1, sizeof(*reader));

	reader->stats = memory_alloc(sizeof(*reader->stats));
	duration_stats_init(reader->stats);
	reader->phase_nodes = memory_zero(1, sizeof(*reader->phase_nodes));
	reader->phase_nodes->stats = reader->stats;
	reader->packed = packed_new();
	reader->examined_max = PAGE_EXAMINED_MAX;
	return reader;
}

int
reader_open(struct reader **out, const char *store, struct err *err)
{
	struct db_options options = { .read_only = true };
	struct journal_options journal = { .read_only = true };
	struct reader *reader = new_reader();

	*out = NULL;
	if (tables_open(&reader->tables, store, &options, err) != 0 ||
	    journal_open(&reader->journal, store, &journal, err) != 0) {
		reader_close(&reader);
		return -1;
	}
	reader->store = memory_string(store);
	*out = reader;
	return 0;
}

int
reader_open_shared(struct reader **out, struct db *tables,
    struct journal *journal, struct err *err)
{
	struct reader *reader = new_reader();

	(void)err;
	reader->tables = tables;
	reader->journal = journal;
	reader->shared = true;
	*out = reader;
	return 0;
}

struct reader *
reader_open_made(
    struct db *tables, const struct reader_origin *origin, void *arg)
{
	struct reader *reader = new_reader();

	reader->tables = tables;
	reader->shared = true;
	reader->origin = origin;
	reader->origin_arg = arg;
	return reader;
}

int
reader_open_beside(
    struct reader **out, const struct reader *first, struct err *err)
{
	if (first->origin != NULL)
		return first->origin->beside(first->origin_arg, out, err);
	/* What a read-only handle has touched belongs to one thread. */
	if (!first->shared)
		return reader_open(out, first->store, err);
	if (reader_open_shared(out, first->tables, first->journal, err) != 0)
		return -1;
	(*out)->lacks = first->lacks;
	return 0;
}

void
reader_close(struct reader **reader)
{
	struct reader *old = *reader;

	if (old == NULL)
		return;
	journal_walk_close(&old->walk);
	if (!old->shared) {
		db_close(&old->tables);
		journal_close(&old->journal);
	}
	lookup_clear(&old->lookup);
	model_set_clear(&old->models);
	part_cursor_clear(&old->parts);
	phase_items_clear(&old->items);
	phase_nodes_clear(old->phase_nodes);
	free(old->phase_nodes);
	packed_free(&old->packed);
	buffer_clear(&old->pairs);
	buffer_clear(&old->text);
	wire_room_clear(&old->room);
	merge_clear(&old->merge);
	compacted_cursor_cache_clear(&old->compacted);
	series_free(&old->series);
	free(old->columns);
	free(old->stats);
	if (old->origin != NULL)
		old->origin->close(old->origin_arg);
	free(old->store);
	free(old);
	*reader = NULL;
}

/* ---- pages ---- */

static bool
select_kind(struct page *page, enum record_kind kind)
{
	if (kind == RECORD_ENTITY)
		return query_entities(page);
	if (kind == RECORD_PHASE)
		return query_phases(page) && query_steps(page);
	if (kind == RECORD_RUN)
		return query_runs(page);
	return query_records(page, kind);
}

static void
select_all(struct page *page)
{
	uint32_t kind = page->cursor.kind ? page->cursor.kind : RECORD_EVENT;

	for (; kind < RECORD_KINDS; kind++) {
		if ((page->query->kinds & (1u << kind)) == 0)
			continue;
		if (page->cursor.kind != kind) {
			memset(&page->cursor, 0, sizeof(page->cursor));
			/* This page may be full before the first record. */
			page->cursor.kind = (uint8_t)kind;
			page->cursor.hour = INT32_MIN;
			page->cursor.id.time_ns = INT64_MIN;
		}
		if (!select_kind(page, (enum record_kind)kind))
			return;
	}
}

/* Retention moves the first time to the beginning of an hour: there may be
 * rollups before it, or records in an archive. */
static bool
is_first(int64_t from_ns, int64_t first_ns)
{
	return from_ns <= first_ns && key_hour(from_ns) == key_hour(first_ns) &&
	       first_ns % KEY_HOUR_NS != 0;
}

static void
use_series(struct page *page)
{
	struct reader *reader = page->reader;
	struct partition_counts counts;

	tables_get_counts(page->txn, page->partition, &counts);
	page->begins_first = is_first(page->query->from_ns, counts.oldest_ns);
	page->ends_last = page->query->to_ns > counts.last_ns;

	if (reader->series == NULL)
		reader->series = series_new();
	page->series = reader->series;
	series_begin(page->series, page);
}

static void
answer_select(struct page *page)
{
	const struct wire_query *query = page->query;
	struct wire_query fitted;
	bool buckets = series_asked(query, &fitted);

	page->query = &fitted;
	if (buckets)
		use_series(page);
	select_all(page);
	page->query = query;
}

static void
answer_from_partition(struct page *page, const struct wire_header *header)
{
	bool by_node = (header->flags & WIRE_FLAG_BY_NODE) != 0;

	page->partition = dictionary_find(page->txn, 0, header->partition);
	if (page->partition == 0)
		return;
	lookup_use(&page->reader->lookup, page->txn, page->partition);
	if (header->type == WIRE_SELECT)
		answer_select(page);
	else if (page->query->kinds & (1u << RECORD_CONTEXT))
		query_nodes(page);
	else if (page->query->kinds & (1u << RECORD_RUN))
		query_run_groups(page);
	else
		query_phase_stats(page, by_node);
}

int
reader_answer(struct reader *reader, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last,
    struct err *err)
{
	struct wire_query asked = *query;
	struct page page = { .reader = reader,
		.query = &asked,
		.w = w,
		.unpaired = (header->flags & WIRE_FLAG_UNPAIRED) != 0,
		.newest = (header->flags & WIRE_FLAG_NEWEST) != 0,
		.open = (header->flags & WIRE_FLAG_OPEN) != 0 };
	int rc = 0;

	/* The end is exclusive, except that it is the greatest time. */
	if (asked.to_ns >= TIME_MAX_NS)
		asked.to_ns = TIME_MAX_NS + 1;
	if (reader->origin != NULL &&
	    reader->origin->begin(reader->origin_arg, header, &asked, err) != 0)
		return -1;
	reader->damage = (struct db_damage){ 0 };
	reader->met_absent = false;
	if (header->type == WIRE_FOLLOW && reader->journal == NULL)
		return err_set(
		    err, "archive: it has no journal, and cannot be followed");
	if (header->type == WIRE_FOLLOW)
		return query_follow(&page, header->partition, last, err);
	if (page_begin(&page, err) != 0)
		return -1;
	if (header->type == WIRE_STATS && query->cursor.bytes == 0)
		phase_nodes_forget(reader->phase_nodes);
	if (header->type == WIRE_STATUS)
		query_status(&page, &rc, err);
	else
		answer_from_partition(&page, header);
	if (page_end(&page, last, err) != 0)
		return -1;
	/* The next page asks for it; but one that begins at the same place, to
	 * find that nothing is left of its hour, would come here again. */
	if (w->records > 0 || (page.examined > 0 && page_has_moved(&page)))
		reader->met_absent = false;
	return rc;
}

void
reader_of_retained(struct reader *reader)
{
	reader->lacks = ABSENT_DELETED;
}

const struct absent_need *
reader_absent(const struct reader *reader)
{
	return reader->met_absent ? &reader->absent : NULL;
}

struct wire_query
reader_ask_archive(const struct reader *reader, const struct wire_query *query)
{
	int64_t end_ns = (int64_t)reader->absent.end * KEY_HOUR_NS;
	struct wire_query asked = *query;

	asked.kinds = 1u << reader->absent.first.kind;
	if (asked.to_ns > end_ns)
		asked.to_ns = end_ns;
	if (!page_cursor_is_of(query->cursor, reader->absent.first.kind))
		asked.cursor = (struct text){ NULL, 0 };
	return asked;
}

void
reader_go_on(const struct reader *reader, const struct wire_writer *before,
    const struct wire_writer *page)
{
	unsigned char cursor[WIRE_CURSOR_BYTES_MAX];
	struct wire_writer w = *before;

	if (page->bytes > before->bytes)
		wire_put_page_cursor(
		    &w, page_cursor_at(cursor, reader->absent.first.kind,
			    reader->absent.end));
}

void
reader_limit(struct reader *reader, struct text pattern)
{
	reader->limit = text_equal(pattern, text_of("*"))
			    ? (struct text){ NULL, 0 }
			    : pattern;
}

bool
reader_sees_all(const struct reader *reader)
{
	return reader->limit.bytes == 0;
}

void
reader_forget(struct reader *reader)
{
	phase_nodes_forget(reader->phase_nodes);
}

void
reader_put_damage(const struct reader *reader, struct wire_header *page,
    unsigned char ids[static WIRE_DAMAGED_MAX * WIRE_DAMAGED_BYTES])
{
	const struct db_damage *damage = &reader->damage;

	_Static_assert((int)DB_DAMAGE_IDS <= (int)WIRE_DAMAGED_MAX,
	    "the ids fit in a header");
	for (uint32_t i = 0; i < damage->ids; i++)
		varint_put_u64_be(
		    ids + (size_t)i * WIRE_DAMAGED_BYTES, damage->id[i]);
	page->damaged = (struct text){ (const char *)ids,
		damage->ids * WIRE_DAMAGED_BYTES };
	page->damaged_more = damage->more;
}

int
reader_lag(struct reader *reader, uint64_t *batches, struct err *err)
{
	return query_lag(reader, batches, err);
}

int
reader_complete_ns(struct reader *reader, int64_t *ns, struct err *err)
{
	struct journal_entry entry;
	struct db_txn *txn;
	uint64_t indexed;

	if (db_begin(reader->tables, false, &txn, err) != 0)
		return -1;
	indexed = tables_fact(txn, FACT_INDEXED);
	db_abort(&txn);
	*ns = clock_wall_ns();
	if (reader->journal == NULL)
		return 0;
	if (reader->walk == NULL &&
	    journal_walk_open(reader->journal, &reader->walk, err) != 0)
		return -1;
	if (journal_walk_seek(reader->walk, indexed + 1, err) != 0)
		return -1;
	*ns = journal_walk_next(reader->walk, &entry) > 0 ? entry.receive_ns
							  : clock_wall_ns();
	journal_walk_park(reader->walk);
	return 0;
}

uint64_t
reader_generation(const struct reader *reader)
{
	return reader->journal != NULL ? journal_generation(reader->journal)
				       : 0;
}
